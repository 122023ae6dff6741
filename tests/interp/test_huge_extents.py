"""Arrays without elements whose other extents are huge: the same on all targets, and at once."""

from __future__ import annotations

from typing import Any

import pytest

from sacpy.interp.limits import Limits, Watchdog
from sacpy.interp.world import World
from sacpy.lang.diagnostics import SacError
from sacpy.workspace import Workspace

MOST = 2**31 - 1
TEXT = """use Array: all;
int[.] array(int n) { return shape(genarray([n, 0], 1)); }
int[.] behind(int n) { return shape(genarray([0, n], 1)); }
int[*] whole(int n) { return genarray([n, 0], 1); }
int[*] reshaped(int n) { return reshape([n, 0], iota(0)); }
int[.] computed(int n) { return shape({ [i, j] -> i + j | [i, j] < [n, 0] }); }
int[.] stepped(int n) {
  return shape(with { ([0, 0] <= [i, j] < [n, 0] step [2, 3] width [1, 2]) : i; } : genarray([n, 0], 0));
}
int folded(int n) { return with { ([0, 0] <= [i, j] < [n, 0]) : i; } : fold(+, 7); }
int vector(int n) { return with { ([0, 0] <= iv < [n, 0]) : iv[0]; } : fold(+, 7); }
int inner(int n) { return with { ([0, 0, 3] <= [i, j, k] < [n, 2, 3]) : i; } : fold(+, 7); }
int[.] added(int n) { return shape(genarray([n, 0], 1) + 1); }
int sums(int n) { return sum(genarray([n, 0], 1)); }
int[.] turned(int n) { return shape(transpose(genarray([n, 0], 1))); }
int[.] changed(int n) { a = genarray([n, 0], 1); return shape(with { ([0, 0] <= [i, j] < [n, 0]) : 2; } : modarray(a));
  }
int[.] joined(int n) { return shape(genarray([n, 0], 1) ++ genarray([n, 0], 1)); }
int[*] beyond(int n) { return genarray([n, n, 0], 1); }
"""
WANTED = {
    "array": [MOST, 0], "behind": [0, MOST], "computed": [MOST, 0], "stepped": [MOST, 0], "folded": 7, "vector": 7,
    "inner": 7, "added": [MOST, 0], "sums": 0, "turned": [0, MOST], "changed": [MOST, 0],
    "joined": "E0607", "beyond": "E0703",
}  # fmt: skip


@pytest.mark.parametrize("target", ["interp", "cpu", "emulator"])
def test_arrays_without_elements_have_any_extents(target: str) -> None:
    workspace = Workspace(target=target, eager=True, limits=Limits(seconds=60.0))
    program, _ = workspace.load_text(TEXT)
    evaluator = workspace.evaluator(program, World.captured())

    def called(name: str) -> Any:
        key = program.key(program.main.own(name)[0], ())
        try:
            (found,) = workspace.guard(Watchdog(), lambda: evaluator.call(key, (MOST,)))
        except SacError as error:
            return error.diagnostics[0].code
        return found.tolist() if hasattr(found, "tolist") else found

    assert {name: called(name) for name in WANTED} == WANTED
    for name in ("whole", "reshaped"):
        (found,) = evaluator.call(program.key(program.main.own(name)[0], ()), (MOST,))
        assert found.shape == (MOST, 0), name

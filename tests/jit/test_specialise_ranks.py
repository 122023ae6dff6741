"""Values whose rank a condition decides on: what comes after them is made for each rank that may come."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sacpy.interp.evaluator import Evaluator
from sacpy.interp.world import World
from sacpy.jit.cache import Cache
from sacpy.jit.run.engine import Engine
from sacpy.workspace import Workspace

SOURCE = """use Array: all;
int[*] pick(int[.] v, int k) { if (k > 3) { r = v[0]; } else { r = take([k], v); } return r + 1; }
int[*] flat(bool yes, int[*] a) { if (yes) { r = reshape([prod(shape(a))], a); } else { r = a; } return r; }
int[*] lift(int[*] a, int n) { if (n == 0) { r = a; } else { r = n == 1 ? [a] : [[a, a]]; } return r; }
int total(int[*] a) { return sum(a * a) + dim(a); }

int inside(int[.] v, int k) { p = pick(v, k); q = dim(p) == 0 ? 7 : 0; return sum(p) + q; }
int rounds(int[.] v, int n) { s = 0; for (i = 0; i < n; i++) { p = pick(v, i); s = s * 3 + sum(p) + dim(p); } return s;
  }
int late(int[.,.] a, bool yes) { b = flat(yes, a); c = flat(!yes, b); s = 0;
  for (i = 0; i < 5; i++) { s = s * 2 + total(b) - total(c); } return s; }
int nested(int[.] v, int n) { a = lift(v, n); if (n > 1) { b = lift(a, n - 1); } else { b = a;
  } return total(b) * 10 + dim(b); }
int[.] cells(int[.] v) { return { [i] -> sum(pick(v, i % 6)) | [i] < shape(v) }; }
int folded(int[.] v) { return with { ([0] <= [i] < shape(v)) : inside(v, i % 6); } : fold(+, 0); }
int[*] open(int[.] v, int k) { return pick(v, k); }
int[*] changes(int[.] v, int n) { for (i = 0; i < n; i++) { v = pick(v, 3 - i % 3); } return v; }
"""
V = np.arange(9, dtype=np.int32)
CALLS: list[tuple[str, tuple[Any, ...], bool]] = [
    *(("inside", (V, k), True) for k in (0, 2, 3, 4)),
    ("rounds", (V, 8), True), ("rounds", (V, 0), True), ("late", (V.reshape(3, 3), True), True),
    ("late", (V.reshape(3, 3), False), True),
    *(("nested", (V[:4].copy(), n), True) for n in (0, 1, 2, 3)),
    ("cells", (V,), True), ("folded", (V,), True), ("open", (V, 2), False), ("open", (V, 5), False),
    ("changes", (V, 2), False),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args", "compiled"), CALLS, ids=lambda x: str(x) if isinstance(x, str) else None)
def test_results_are_the_interpreters(name: str, args: tuple[Any, ...], compiled: bool) -> None:
    program, _ = Workspace().load_text(SOURCE)
    key = program.key(program.main.own(name)[0], ())
    engine = Engine("cpu", eager=True, cache=Cache(None), defects=True, verify=True, opt_level=0)
    (found,) = Evaluator(program, World.captured(), engine=engine).call(key, args)
    (expected,) = Evaluator(program, World.captured()).call(key, args)
    assert np.array_equal(found, expected) and np.shape(found) == np.shape(expected)
    site = next(s for s in engine.sites if s.key == key)
    assert bool(site.versions) is compiled
    if not compiled:
        assert any("rank" in r.reason for r in site.refused.values())


def test_many_ranks_are_not_compiled_for_all_their_combinations() -> None:
    steps = " ".join(f"v = lift(v, k % {n});" for n in range(2, 40))
    steps = f"w = [v]; {steps.replace('v = lift(v', 'w = lift(w')}".replace("w = [v]; w = lift(w", "w = lift(v", 1)
    program, _ = Workspace().load_text(SOURCE + f"int many(int[.] v, int k) {{ {steps} return dim(w); }}")
    key = program.key(program.main.own("many")[0], ())
    engine = Engine("cpu", eager=True, cache=Cache(None), defects=True)
    Evaluator(program, World.captured(), engine=engine).call(key, (V[:2].copy(), 0))
    assert not next(s for s in engine.sites if s.key == key).versions

"""Every pragma in every situation: obeyed, which `explain` tells, or refused, with a code; never dropped. Results are
those of the interpreter, on the emulator that checks every access."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sacpy.lang.diagnostics import SacError
from sacpy.session import Session
from tests.jit.test_pragmas_obeyed import session

INTS = np.arange(40, dtype=np.int32) % 7
MATRIX = (np.arange(40 * 48).reshape(40, 48) % 11).astype(np.int32)
REALS = np.linspace(0, 1, 40)
ROW = "with {{ ([0] <= [j] < [48]) : a[i,j]; }} : fold(+, 0)".replace("{{", "{").replace("}}", "}")
PRAGMAS = {
    "gpukernel": "gpukernel GridBlock(1, SplitLast(32, ShiftLB(Gen)))",
    "shared": "gpumem shared(a)",
    "global": "gpumem global",
    "halving": "gpufold halving",
    "shuffle": "gpufold shuffle",
    "strided": "gpufold strided(4)",
}
MAPPED = {"gpukernel": "the pragma says so", "shared": "bytes of shared memory: a by tiles of"}
BY = {word: f"the pragma says so: {PRAGMAS[word].partition(' ')[2]}" for word in ("halving", "shuffle", "strided")}
NO_TILES, NO_GPU, NO_FOLD = {"shared": "E0819"}, "E0812", dict.fromkeys(BY, "E0820")
EVERYWHERE = {"gpukernel", "shared", *BY}
Situation = tuple[str, Any, dict[str, str]]
SITUATIONS: dict[str, Situation] = {
    "a map": ("int[.] f(int[.] a) { return with { HERE ([0] <= [i] < [40]) : a[i] * 2; } : genarray([40], 0); }", INTS,
              MAPPED | NO_FOLD),
    "a stencil": ("int[.] f(int[.] a) { return with { HERE ([1] <= [i] < [39]) : a[i - 1] + a[i + 1]; } : "
                  "modarray(a); }", INTS, MAPPED | NO_FOLD),
    "a fold": ("int f(int[.] a) { return with { HERE ([0] <= [i] < [40]) : a[i]; } : fold(+, 0); }", INTS,
               MAPPED | NO_TILES | BY),
    "an extreme of reals": ("double f(double[.] a) { return with { HERE ([0] <= [i] < [40]) : a[i]; } : fold(max, "
                            "-1d); }", REALS, MAPPED | NO_TILES | BY),
    "rows": ("int[.] f(int[.,.] a) { return with { HERE ([0] <= [i] < [40]) : ROW; } : genarray([40], 0); }", MATRIX,
             MAPPED | BY),
    "short rows": ("int[.] f(int[.,.] a) { return with { HERE ([0] <= [i] < [40]) : with { ([0] <= [j] < [5]) : "
                   "a[i,j]; } : fold(+, 0); } : genarray([40], 0); }", MATRIX, MAPPED | BY),
    "rows by a function": ("int[.] f(int[.,.] a) { return with { HERE ([0] <= [i] < [40]) : sum(a[i]); } : "
                           "genarray([40], 0); }", MATRIX, MAPPED | BY),
    "rows by a loop": ("int[.] f(int[.,.] a) { return with { HERE ([0] <= [i] < [40]) { s = 0; for (j = 0; j < 48; "
                       "j++) { s = (s * 3 + a[i,j]) % 100; } } : s; } : genarray([40], 0); }", MATRIX,
                       MAPPED | NO_FOLD),
    "a fold of rows": ("int f(int[.,.] a) { return with { HERE ([0] <= [i] < [40]) : ROW; } : fold(max, 0); }", MATRIX,
                       MAPPED | NO_TILES | BY),
    "bounds by data": ("int[.] f(int[.] a) { return with { HERE ([0] <= [i] < [39]) : with { ([min(a[i], a[i + 1])] "
                       "<= [j] < [max(a[i], a[i + 1]) + 8]) : a[j]; } : fold(+, 0); } : genarray([39], 0); }", INTS,
                       MAPPED | NO_FOLD),
    "foldfix": ("int f(int[.] a) { return with { HERE ([0] <= [i] < [40]) : a[i]; } : foldfix(max, 0, 6); }", INTS,
                dict.fromkeys(EVERYWHERE, NO_GPU)),
    "a fold of arrays": ("int[.] f(int[.,.] a) { return with { HERE ([0] <= [i] < [40]) : a[i]; } : fold(+, "
                         "genarray([48], 0)); }", MATRIX, dict.fromkeys(EVERYWHERE, NO_GPU) | NO_TILES),
    "propagate": ("int[.], int f(int[.] a) { s = 0; r, t = with { HERE ([0] <= [i] < [40]) { s = s + a[i]; } : (s, s); "
                  "} : (genarray([40], 0), propagate(s)); return (r, t); }", INTS, dict.fromkeys(EVERYWHERE, NO_GPU)),
    "two results": ("int[.], int f(int[.] a) { r, t = with { HERE ([0] <= [i] < [40]) : (a[i], a[i]); } : "
                    "(genarray([40], 0), fold(+, 0)); return (r, t); }", INTS, MAPPED | BY),
    "cells of rank 1": ("int[.,.] f(int[.] a) { return with { HERE ([0] <= [i] < [40]) : [a[i], i, 1]; } : "
                        "genarray([40], [0, 0, 0]); }", INTS, MAPPED | NO_FOLD),
    "a part of the cells": ("int[.] f(int[.] a) { return with { HERE ([3] <= [i] < [9]) : a[i]; } : genarray([40], 7); "
                            "}", INTS, MAPPED | NO_FOLD),
    "gaps": ("int[.] f(int[.] a) { return with { HERE ([3] <= [i] < [39] step [3] width [2]) : a[i]; } : "
             "genarray([40], 7); }", INTS, MAPPED | NO_FOLD | {"gpukernel": "E0808"}),
    "an index by data": ("int[.] f(int[.] a) { return with { HERE ([0] <= [i] < [40]) : a[a[i] * 5]; } : "
                         "genarray([40], 7); }", INTS, MAPPED | NO_FOLD),
}  # fmt: skip
SOME = {
    ("a map", "halving"), ("short rows", "strided"), ("rows by a loop", "shuffle"), ("two results", "halving"),
    ("propagate", "shared"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "word"),
    [
        pytest.param(name, word, marks=[pytest.mark.long] * ((name, word) not in SOME))
        for name in SITUATIONS
        for word in PRAGMAS
    ],
)
def test_a_pragma_is_obeyed_or_refused(name: str, word: str) -> None:
    text, a, expected = SITUATIONS[name]
    source = "use Array: all;\n" + text.replace("ROW", ROW).replace("HERE", f"\n#pragma {PRAGMAS[word]}\n")
    there = session(True)
    wanted = expected.get(word, "")
    if wanted.startswith("E0"):
        with pytest.raises(SacError) as caught:
            there.define(source).f(a)
        assert [d.code for d in caught.value.diagnostics][:1] == [wanted]
        return
    found = there.define(source).f(a)
    right = Session(target="interp").define(source).f(a)
    for one, other in zip(*((r if isinstance(r, tuple) else (r,)) for r in (found, right)), strict=True):
        assert np.array_equal(one, other)
    told = str(there.explain())
    assert wanted in told
    if word == "global":
        assert "by tiles of" not in told

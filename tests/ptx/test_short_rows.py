"""Cells of few elements that go through shared memory: on the interpreter of PTX and on the emulator, against the
interpreter of SaC."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sacpy.jit.kernels import short_rows
from tests.ptx.comparing import RANDOM, compared, few_blocks, ints, reals

UNIT = (
    "{t}[n,3] f({t}[n,3] a) {{ return with {{ ([0] <= [i] < [n]) {{ s = a[i,0] * a[i,0] + a[i,1] * a[i,1] + a[i,2] * "
    "a[i,2]; }} : [a[i,0] - s, a[i,1] + s, a[i,2] * s]; }} : genarray([n], [{z}, {z}, {z}]); }}"
)
SHORT: dict[str, tuple[str, tuple[Any, ...]]] = {
    "points": (UNIT.format(t="float", z="0f"), (reals(1600, 3),)),
    "points of doubles, whole blocks": (UNIT.format(t="double", z="0.0"), (reals(1536, 3, t=np.float64),)),
    "points of bytes": (UNIT.format(t="ubyte", z="0ub"), (RANDOM.integers(0, 255, (900, 3)).astype(np.uint8),)),
    "what lies further on, and what is beside": (
        "int[.,.], int[.] f(int[n,3] a, int[n] w) { x, y = with { ([0] <= [i] < [n - 5]) : ([a[i + 3,2], a[i,0] + w[i],"
        " a[i,1]], a[i,1] * i); } : (genarray([n - 5], [1, 2, 3]), genarray([n - 5], 7)); return (x, y); }",
        (ints(905, 3), ints(905)),
    ),
    "five made of three": (
        "int[n,5] f(int[n,3] a) { return with { ([0] <= [i] < [n]) { x = a[i,0]; y = a[i,2]; } : [x, y, x * y, i, y - "
        "x]; } : genarray([n], [0, 0, 0, 0, 0]); }",
        (ints(1100, 3),),
    ),
    "rows of points": (
        "float[m,n,3] f(float[m,n,3] a) { return with { ([0,0] <= [i,j] < [m,n]) : [a[i,j,1], a[i,j,2], a[i,j,0] * "
        "2f]; } : genarray([m,n], [0f, 0f, 0f]); }",
        (reals(3, 380, 3),),
    ),
    "eight made of six, an even number": (
        "float[n,8] f(float[n,6] a) { return with { ([0] <= [i] < [n]) { x = a[i,0]; y = a[i,5]; z = a[i,2] + "
        "a[i,3]; w = a[i,1] * a[i,4]; } : [x, y, z, w, x * y, tof(i), y - x, z]; } : genarray([n], [0f, 0f, "
        "0f, 0f, 0f, 0f, 0f, 0f]); }",
        (reals(1100, 6),),
    ),
    "four doubles in place": (
        "double[n,4] f(double[n,4] a) { b = with { ([0] <= [i] < [n]) : [a[i,3], a[i,0], a[i,1], a[i,2]]; } : "
        "genarray([n], [0.0, 0.0, 0.0, 0.0]); return with { ([0] <= [i] < [n]) : [b[i,2] + 1.0, b[i,0], b[i,1], "
        "b[i,3]]; } : modarray(b); }",
        (reals(1300, 4, t=np.float64),),
    ),
    "matrices of 3 x 2": (
        "double[n,3,2] f(double[n,3,2] a) { return with { ([0] <= [i] < [n]) : [[a[i,2,1], a[i,0,0]], [a[i,1,0], "
        "a[i,1,1]], [a[i,0,1] * 2.0, a[i,2,0]]]; } : genarray([n], [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]); }",
        (reals(900, 3, 2, t=np.float64),),
    ),
    "points in place": (
        "float[n,3] f(float[n,3] a) { b = with { ([0] <= [i] < [n]) : [a[i,1], a[i,2], a[i,0]]; } : genarray([n], [0f, "
        "0f, 0f]); return with { ([0] <= [i] < [n]) : [b[i,2] + 1f, b[i,0], b[i,1]]; } : modarray(b); }",
        (reals(950, 3),),
    ),
}


@pytest.mark.parametrize("name", SHORT)
def test_cells_of_few_elements_are_brought_element_by_element(name: str) -> None:
    compared(*SHORT[name], "short_rows", "nvptx", emulator=name in ("points", "matrices of 3 x 2"))


@pytest.mark.long
@pytest.mark.parametrize("name", SHORT)
def test_cells_of_few_elements_by_libnvvm_and_on_the_emulator(name: str) -> None:
    compared(*SHORT[name], "short_rows", "libnvvm", emulator=True)


def test_cells_whose_code_may_fail_or_that_are_few_stay_with_their_threads() -> None:
    checked = (
        "int[n,3] f(int[n,3] a, int[m] v) { return with { ([0] <= [i] < [n]) : [v[a[i,0]], a[i,1], a[i,2]]; } : "
        "genarray([n], [0, 0, 0]); }"
    )
    compared(checked, (np.abs(ints(900, 3)), ints(51)), "sac_kernel_partition", "nvptx", emulator=False)
    compared(UNIT.format(t="int", z="0"), (ints(100, 3),), "sac_kernel_partition", "nvptx", emulator=False)


def test_blocks_that_do_the_work_of_several_wait_before_they_compute_again(monkeypatch: pytest.MonkeyPatch) -> None:
    few_blocks(monkeypatch, short_rows)
    made = (
        "int[n,3] f(int[n] v) { return with { ([0] <= [i] < [n]) : [v[i], i, v[i] * i]; } : genarray([n], [0, 0, 0]); }"
    )
    for source, args in ((made, (ints(3000),)), (UNIT.format(t="float", z="0f"), (reals(3000, 3),))):
        compared(source, args, "short_rows", "nvptx", emulator=False)

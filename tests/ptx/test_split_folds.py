"""Folds that are cut into chunks: products of few cells and long sums, against plain products, on the interpreter of
PTX and on the emulator that checks every access."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.ptx.comparing import HEAD, ints, reals
from tests.ptx.driver import PtxCuda
from tests.ptx.sessions import emulated, session
from tests.ptx.test_tiled_kernels import product

SINGLE = product("float", "a[i,l] * b[l,j]", "0f")
CUT: dict[str, tuple[str, Any, Any, Any]] = {
    "floats, of no whole strips": (SINGLE, reals(40, 1003), reals(1003, 35), np.matmul),
    "ints": (product("int", "a[i,l] * b[l,j]", "0"), ints(64, 640), ints(640, 64), np.matmul),
    "doubles that lie across": (
        product("double", "a[l,i] * b[j,l]", "0.0", a="k,m", b="n,k"),
        reals(777, 32, t=np.float64),
        reals(48, 777, t=np.float64),
        lambda a, b: a.T @ b.T,
    ),
    "from a number on, and on with it": (
        "int[m,n] f(int[m,k] a, int[k,n] b) { return with { ([0,0] <= [i,j] < [m,n]) { x = i - j; s = with { ([5] <= "
        "[l] < [k - 1]) : a[i,l + 1] * b[l,j] + x; } : fold(+, 100); } : s * 2 + i; } : genarray([m,n], 0); }",
        ints(37, 900),
        ints(900, 50),
        lambda a, b: (
            2 * (100 + a[:, 6:] @ b[5:-1] + (a.shape[1] - 6) * np.subtract.outer(np.arange(37), np.arange(50)))
            + np.arange(37)[:, None]
        ),
    ),
    "the longest way": (
        product("int", "a[i,l] + b[l,j]", "-1000", "max"),
        ints(33, 600),
        ints(600, 40),
        lambda a, b: (a[:, :, None] + b[None]).max(1),
    ),
}


def blocks(gpu: PtxCuda) -> list[str]:
    return [p.entry.name for p in gpu.programs.values()]


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", CUT)
def test_chunks_together_are_the_whole(name: str) -> None:
    source, a, b, wanted = CUT[name]
    gpu = PtxCuda("sm_90", "libnvvm" if a.dtype == np.float64 else "nvptx", processors=16)
    own = session(gpu, verify=True)
    found = np.asarray(own.compile(HEAD + source).f(a, b))
    assert gpu.findings.lines() == []
    assert len(blocks(gpu)) == 2 and "blocks for each box of cells" in str(own.explain())
    assert np.allclose(found, wanted(a, b), rtol=0, atol=1e-3 if a.dtype == np.float32 else 1e-10)
    if name == "from a number on, and on with it":
        assert np.array_equal(emulated(16).compile(HEAD + source).f(a, b), wanted(a, b))


def test_sums_are_the_same_in_each_run() -> None:
    _, a, b, _ = CUT["floats, of no whole strips"]
    runs = [np.asarray(session(PtxCuda("sm_90", processors=16)).compile(HEAD + SINGLE).f(a, b)) for _ in range(2)]
    assert np.array_equal(*runs)


@pytest.mark.parametrize(
    ("source", "m", "k", "processors", "strict"),
    [
        (SINGLE, 40, 1003, 1, False),  # enough blocks
        (SINGLE, 40, 200, 16, False),  # short sums
        (SINGLE, 40, 1003, 16, True),  # in order
        (product("float", "a[i,l] * b[l,j]", "0f").replace("fold(+", "fold(max"), 40, 1003, 16, False),  # NaN
    ],
)
def test_other_folds_are_not_cut(source: str, m: int, k: int, processors: int, strict: bool) -> None:
    gpu = PtxCuda("sm_90", strict=strict, races=False, processors=processors, most_blocks=1)
    own = session(gpu)
    own.compile(HEAD + source).f(reals(m, k), reals(k, m))
    assert "blocks for each box of cells" not in str(own.explain())


@pytest.mark.parametrize("length", [999, 1023])
def test_threads_beyond_the_end_of_a_row_fold_nothing(length: int) -> None:
    a = ints(5, length)
    gpu = PtxCuda("sm_90", "nvptx")
    rows = (
        "int[m] f(int[m,n] a) { return with {\n#pragma gpufold interleaved\n([0] <= [i] < [m]) : with { ([0] <= [j] < "
        "[n]) : a[i,j]; } : fold(+, 0); } : genarray([m], 0); }"
    )
    own = session(gpu)
    found = np.asarray(own.compile(HEAD + rows).f(a))
    assert gpu.findings.lines() == [] and "256 threads for each of 5 cells" in str(own.explain())
    assert np.array_equal(found, a.sum(1))

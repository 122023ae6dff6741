"""Kernels in which threads have several cells each: on the interpreter of PTX, by both front ends, and on the emulator
that checks every access, against the interpreter of SaC."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sacpy.jit.kernels import product_tiles
from sacpy.session import Session
from tests.ptx.checking import outcome
from tests.ptx.comparing import HEAD, RANDOM, compared, few_blocks, ints, reals
from tests.ptx.driver import PtxCuda
from tests.ptx.lending import Lent
from tests.ptx.sessions import session


def product(base: str, term: str, zero: str, fold: str = "+", a: str = "m,k", b: str = "k,n") -> str:
    return (
        f"{base}[m,n] f({base}[{a}] a, {base}[{b}] b) {{ return with {{ ([0,0] <= [i,j] < [m,n]) : "
        f"with {{ ([0] <= [l] < [k]) : {term}; }} : fold({fold}, {zero}); }} : genarray([m,n], {zero}); }}"
    )


SINGLE = product("float", "a[i,l] * b[l,j]", "0f")
odd = reals(70, 21)
odd[3, 4], odd[5, 5], odd[6] = np.nan, np.inf, -0.0
REGISTER: dict[str, tuple[str, tuple[Any, ...]]] = {
    "whole tiles": (SINGLE, (reals(64, 32), reals(32, 64))),
    "what is left of every axis": (SINGLE, (odd, reals(21, 67))),
    "doubles, 2 cells a thread": (
        product("double", "a[i,l] * b[l,j]", "0.0"),
        (reals(30, 33, t=np.float64), reals(33, 31, t=np.float64)),
    ),
    "8 x 8 cells a thread": (SINGLE, (reals(125, 21), reals(21, 116))),
    "8 x 4 cells a thread, doubles": (
        product("double", "a[i,l] * b[l,j]", "0.0"),
        (reals(125, 34, t=np.float64), reals(34, 61, t=np.float64)),
    ),
    "4 x 8 cells a thread": (product("int", "a[i,l] * b[l,j]", "0"), (ints(62, 48), ints(48, 124))),
    "rows of whole accesses, but of no whole tiles": (SINGLE, (reals(68, 36), reals(36, 76))),
    "from the ninth index on": (
        "float[m,n] f(float[m,k] a, float[k,n] b) { return with { ([0,0] <= [i,j] < [m,n]) : with { ([8] <= [l] < [k])"
        " : a[i,l] * b[l,j]; } : fold(+, 1f); } : genarray([m,n], 0f); }",
        (reals(64, 48), reals(48, 64)),
    ),
    "bytes and bools": (
        "bool[m,n], ubyte[m,n] f(bool[m,k] a, bool[k,n] b, ubyte[m,k] c, ubyte[k,n] d) { x, y = with { ([0,0] <= [i,j]"
        " < [m,n]) { p, q = with { ([0] <= [l] < [k]) : (a[i,l] & b[l,j], c[i,l] * d[l,j]); } : (fold(|, false), "
        "fold(+, 0ub)); } : (p, q); } : (genarray([m,n], false), genarray([m,n], 0ub)); return (x, y); }",
        tuple(
            [RANDOM.integers(0, 9, shape) < 2 for shape in ((64, 48), (48, 80))]
            + [RANDOM.integers(0, 255, shape).astype(np.uint8) for shape in ((64, 48), (48, 80))]
        ),
    ),
    "a check behind the fold": (
        "int[m,n] f(int[m,k] a, int[k,n] b, int[.] v) { return with { ([0,0] <= [i,j] < [m,n]) { s = with { ([0] <= "
        "[l] < [k]) : a[i,l] * b[l,j]; } : fold(+, 0); } : v[s & 7] + s; } : genarray([m,n], 0); }",
        (ints(64, 32), ints(32, 64), ints(8)),
    ),
    "an operand that lies across": (product("float", "a[i,l] * b[j,l]", "0f", b="n,k"), (reals(66, 19), reals(70, 19))),
    "both across": (product("int", "a[l,i] * b[j,l]", "0", a="k,m", b="n,k"), (ints(18, 64), ints(65, 18))),
    "the longest way": (product("int", "a[i,l] + b[l,j]", "-1000", "max"), (ints(64, 17), ints(17, 66))),
    "with what is around": (
        "float[m,n] f(float[m,k] a, float[k,n] b) { return with { ([2,1] <= [i,j] < [m,n - 1]) { x = tof(i + j); "
        "s = with { ([1] <= [l] < [k - 1]) : (a[i,l + 1] - b[l,j]) * (x + a[i,l - 1]); } : fold(+, 0f); } : s / 2f + "
        "x; } : genarray([m,n], 7f); }",
        (reals(70, 24), reals(24, 70)),
    ),
    "several products at once": (
        "float[o,m,n] f(float[o,m,k] a, float[o,k,n] b) { return with { ([0,0,0] <= [h,i,j] < [o,m,n]) : with { "
        "([0] <= [l] < [k]) : a[h,i,l] * b[h,l,j]; } : fold(+, 0f); } : genarray([o,m,n], 0f); }",
        (reals(2, 65, 18), reals(2, 18, 64)),
    ),
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", REGISTER)
def test_folds_of_several_cells_a_thread_are_the_interpreter_s(name: str) -> None:
    source, args = REGISTER[name]
    compared(source, args, "register_tiled", "nvptx", emulator=name in ("what is left of every axis", "both across"))


@pytest.mark.long
@pytest.mark.parametrize("name", REGISTER)
def test_folds_of_several_cells_a_thread_by_libnvvm_and_on_the_emulator(name: str) -> None:
    for strict in (False, True):
        compared(*REGISTER[name], "register_tiled", "libnvvm", emulator=True, strict=strict)


def test_a_check_that_fails_behind_a_fold_is_told() -> None:
    source, (a, b, v) = REGISTER["a check behind the fold"]
    compared(source, (a, b, v[:5]), "register_tiled", "nvptx", emulator=False)


def test_products_read_and_write_16_bytes_at_a_time_where_rows_and_arrays_begin_at_multiples_of_that() -> None:
    for n, wide in ((76, True), (75, False)):
        gpu = PtxCuda("sm_90", processors=1, strict=True)
        module = session(gpu).compile(HEAD + SINGLE)
        a, b = reals(64, 40), reals(40, n)
        wanted = outcome(Session(target="interp", strict_fp=True).compile(HEAD + SINGLE), "f", (a, b))
        for offset in (0, 4):
            assert np.array_equal(np.asarray(module.f(Lent(gpu, a, 0), Lent(gpu, b, offset))), wanted)
        texts = [code.decode() for code in gpu.programs]
        assert [("st.global.v4" in t, "ld.global.nc.v4" in t) for t in texts] == [(wide, True), (False, False)]
        assert gpu.findings.lines() == []


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("rows", "columns", "base", "processors", "cells"),
    [
        (256, 256, "float", 4, "8 x 8"),
        (256, 256, "float", 8, "8 x 4"),
        (64, 256, "float", 2, "4 x 8"),
        (256, 256, "double", 4, "8 x 4"),
        (256, 256, "int", 4, "8 x 4"),
        (256, 256, "float", 64, "2 x 2"),
    ],
)
def test_threads_have_as_many_cells_as_let_the_processors_be_done_first(
    rows: int, columns: int, base: str, processors: int, cells: str
) -> None:
    zero, t = {"float": ("0f", np.float32), "double": ("0.0", np.float64), "int": ("0", np.int32)}[base]
    gpu = PtxCuda("sm_90", "nvptx", processors=processors, races=False, most_blocks=1)
    own = session(gpu)
    own.compile(HEAD + product(base, "a[i,l] * b[l,j]", zero)).f(np.ones((rows, 16), t), np.ones((16, columns), t))
    assert f"{cells} cells a thread" in own.explain("f")


def test_a_fold_that_reads_beside_its_tiles_has_a_cell_for_each_thread() -> None:
    source = product("float", "(l < 5 ? a[i,l] : b[l,j]) * b[l,j]", "0f")
    compared(source, (reals(64, 20), reals(20, 64)), "_tiled", "nvptx", emulator=False)


def test_blocks_that_do_the_work_of_several_wait_before_they_load_again(monkeypatch: pytest.MonkeyPatch) -> None:
    few_blocks(monkeypatch, product_tiles)
    compared(SINGLE, (reals(100, 19), reals(19, 290)), "register_tiled", "nvptx", emulator=False)


ACROSS = "{t}[n,m] f({t}[m,n] a) {{ return {{ [j,i] -> a[i,j] | [j,i] < [n,m] }}; }}"
bytes_ = RANDOM.integers(0, 255, (40, 70)).astype(np.uint8)
TURNED: dict[str, tuple[str, tuple[Any, ...]]] = {
    "a transposition": (ACROSS.format(t="float"), (reals(70, 45),)),
    "one square": (ACROSS.format(t="double"), (reals(32, 32, t=np.float64),)),
    "bytes": (ACROSS.format(t="ubyte"), (bytes_,)),
    "bools": (ACROSS.format(t="bool"), (bytes_ > 99,)),
    "along both ways": (
        "float[n,n] f(float[n,n] a) { return { [i,j] -> a[i,j] + a[j,i] | [i,j] < [n,n] }; }",
        (reals(47, 47),),
    ),
    "axes in reverse": (
        "int[l,n,m] f(int[m,n,l] a) { return { [i,j,k] -> a[k,j,i] * 2 + j | [i,j,k] < [l,n,m] }; }",
        (ints(33, 3, 40),),
    ),
    "the last two axes": (
        "int[o,n,m] f(int[o,m,n] a) { return { [h,i,j] -> a[h,j,i] | [h,i,j] < [o,n,m] }; }",
        (ints(3, 33, 40),),
    ),
    "around the index": (
        "float[.,.] f(float[m,n] a) { return { [j,i] -> a[i,j + 2] * a[i + 2,j] + a[i + 1,j + 1] "
        "| [j,i] < [n - 2,m - 2] }; }",
        (reals(71, 50),),
    ),
    "where it is there": (
        "int[n,m] f(int[m,n] a, int[n] w) { return { [j,i] -> (w[j] > 0 ? a[i,j] : i - j) | [j,i] < [n,m] }; }",
        (ints(50, 41), ints(41)),
    ),
    "two results of two arrays": (
        "int[n,m], float[n,m] f(int[m,n] a, float[m,n] b) { return with { ([0,0] <= [j,i] < [n,m]) { x = a[i,j]; } : "
        "(x + i, b[i,j] + tof(x)); } : (genarray([n,m], 0), genarray([n,m], 0f)); }",
        (ints(40, 35), reals(40, 35)),
    ),
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", TURNED)
def test_what_is_read_across_is_turned_in_shared_memory(name: str) -> None:
    compared(*TURNED[name], "turned", "nvptx", emulator=name in ("around the index", "where it is there"))


@pytest.mark.long
@pytest.mark.parametrize("name", TURNED)
def test_what_is_read_across_by_libnvvm_and_on_the_emulator(name: str) -> None:
    compared(*TURNED[name], "turned", "libnvvm", emulator=True)


def test_small_and_gapped_spaces_are_not_turned() -> None:
    steps = (
        "int[n,m] f(int[m,n] a) { return with { ([0,0] <= [j,i] < [n,m] step [2,1]) : a[i,j]; } : genarray([n,m], 0); }"
    )
    compared(ACROSS.format(t="int"), (ints(31, 40),), "sac_kernel_partition", "nvptx", emulator=False)
    compared(steps, (ints(40, 40),), "sac_kernel_pieces", "nvptx", emulator=False)


OWN = "{t}[n] f({t}[n] a, {t}[n] b) {{ return {{ [i] -> a[i] * b[i] + a[i] | [i] < [n] }}; }}"
WIDE: dict[str, tuple[str, tuple[Any, ...]]] = {
    "singles": (OWN.format(t="float"), (reals(4099), reals(4099))),
    "doubles, whole blocks": (OWN.format(t="double"), (reals(2048, t=np.float64), reals(2048, t=np.float64))),
    "bytes": (OWN.format(t="ubyte"), (bytes_.reshape(-1).repeat(3), bytes_.reshape(-1).repeat(3))),
    "bools": (
        "bool[n] f(float[n] a, int[n] b) { return { [i] -> a[i] > 0f && b[i] < i | [i] < [n] }; }",
        (reals(5000), ints(5000)),
    ),
    "beside the index": (
        "int[.] f(int[n] a) { return with { ([0] <= [i] < [n - 5]) : a[i] + a[i + 5] * i; } : genarray([n - 5], 0); }",
        (ints(4201),),
    ),
    "rows": ("float[m,n] f(float[m,n] a) { return { iv -> a[iv] * 2f + 1f | iv < [m,n] }; }", (reals(95, 127),)),
    "rank 3": (
        "int[l,m,n] f(int[l,m,n] a) { return { [i,j,k] -> a[i,j,k] * j + k - i | [i,j,k] < [l,m,n] }; }",
        (ints(2, 95, 127),),
    ),
    "a stencil's inner part": (
        "float[.,.] f(float[m,n] a) { return { [i,j] -> a[i,j + 1] + a[i + 2,j + 1] + a[i + 1,j] + a[i + 1,j + 2] "
        "| [i,j] < [m - 2,n - 2] }; }",
        (reals(97, 129),),
    ),
    "a check in each cell": (
        "int[m] f(int[n] v, int[m] w) { return { [i] -> v[w[i]] | [i] < [m] }; }",
        (ints(100), RANDOM.integers(0, 100, 5000).astype(np.int32)),
    ),
    "a check that fails": (
        "int[m] f(int[n] v, int[m] w) { return { [i] -> v[w[i]] | [i] < [m] }; }",
        (ints(100), np.where(np.arange(5000) == 4711, 100, 7).astype(np.int32)),
    ),
}


@pytest.mark.parametrize("name", WIDE)
def test_maps_of_several_cells_a_thread_are_the_interpreter_s(name: str) -> None:
    compared(*WIDE[name], "_wide", "nvptx", emulator=name in ("rows", "bytes"))


@pytest.mark.long
@pytest.mark.parametrize("name", WIDE)
def test_maps_of_several_cells_a_thread_by_libnvvm_and_on_the_emulator(name: str) -> None:
    compared(*WIDE[name], "_wide", "libnvvm", emulator=True)


def test_arrays_side_by_side_are_read_at_once_where_they_begin_at_multiples_of_16_bytes() -> None:
    gpu = PtxCuda("sm_90", processors=1, strict=True)
    module = session(gpu).compile(HEAD + OWN.format(t="float"))
    a = reals(4001)
    for offset in (0, 4, 8):
        lent = [Lent(gpu, a, offset), Lent(gpu, a, 0)]
        assert np.array_equal(np.asarray(module.f(*lent)), a * a + a)
    kinds = ["ld.global.nc.v4" in code.decode() for code in gpu.programs]
    assert sorted(kinds) == [False, True]
    assert gpu.findings.lines() == []


PIECES: dict[str, tuple[str, tuple[Any, ...]]] = {
    "relaxation": (
        "float[m,n] f(float[m,n] a) { return with { ([1,1] <= iv < [m - 1,n - 1]) : (a[iv - [1,0]] + a[iv + [1,0]] + "
        "a[iv - [0,1]] + a[iv + [0,1]]) / 4f; } : modarray(a); }",
        (reals(95, 127),),
    ),
    "three parts": (
        "int[m,n] f(int[m,n] a) { return with { ([0,5] <= [i,j] < [m,n - 3]) : a[i,j] * 2; ([4,0] <= [i,j] < [m - 9,n"
        "]) : a[i,j] - j; ([m - 1,0] <= [i,j] < [m,2]) : i; } : genarray([m,n], -7); }",
        (ints(96, 128),),
    ),
    "a part of a vector": (
        "int[n] f(int[n] a) { return with { ([3] <= [i] < [n - 2]) : a[i - 3] + a[i + 2] * i; } : modarray(a); }",
        (ints(4201),),
    ),
    "a part of rank 3": (
        "int[l,m,n] f(int[l,m,n] a) { return with { ([1,2,3] <= [i,j,k] < [l,m - 1,n]) : a[i - 1,j + 1,k - 3] + k; } "
        ": modarray(a); }",
        (ints(3, 95, 127),),
    ),
}


@pytest.mark.parametrize("name", PIECES)
def test_parts_of_arrays_by_threads_with_several_cells_are_the_interpreter_s(name: str) -> None:
    compared(*PIECES[name], "sac_kernel_pieces", "nvptx", emulator=name in ("three parts", "a part of a vector"))


@pytest.mark.long
@pytest.mark.parametrize("name", PIECES)
def test_parts_of_arrays_by_libnvvm_and_on_the_emulator(name: str) -> None:
    compared(*PIECES[name], "sac_kernel_pieces", "libnvvm", emulator=True)


TOTAL = "{t} f({t}[n] v) {{ return with {{ ([0] <= [i] < [n]) : v[i] * 3; }} : fold({o}, {z}); }}"
KEEPING = (
    "int later(int a, int b) { return (b == 0 ? a : b); } int f(int[n] v) { return with { ([0] <= [i] < [n]) : "
    "(v[i] > 45 ? i : 0); } : fold(later, 0); }"
)
FOLDED: dict[str, tuple[str, tuple[Any, ...], str]] = {
    **{f"a sum of {n}": (TOTAL.format(t="int", o="+", z="7"), (ints(n),), "sac_kernel_fold") for n in (9, 4099)},
    "a sum by many blocks": (TOTAL.format(t="int", o="+", z="0"), (ints(150_003),), "sac_kernel_fold"),
    "a sum from the third on": (
        "int f(int[n] v) { return with { ([3] <= [i] < [n - 1]) : v[i] * i; } : fold(+, 1); }",
        (ints(5002),),
        "sac_kernel_fold",
    ),
    "what comes last": (KEEPING, (ints(7001),), "sac_kernel_fold"),
    "three at once": (
        "int, int, long f(int[n] v) { a, b, c = with { ([0] <= [i] < [n]) : (v[i], v[i], tol(v[i]) * 5l); } : (fold(+, "
        "0), fold(max, -99), fold(+, 3l)); return (a, b, c); }",
        (ints(6001),),
        "sac_kernel_fold",
    ),
    "a sum of each row": (
        "int[m] f(int[m,n] a) { return with { ([0] <= [i] < [m]) : with { ([0] <= [j] < [n]) : a[i,j]; } : fold(+, 0); "
        "} : genarray([m], 0); }",
        (ints(7, 900),),
        "rows",
    ),
    "a sum of each column": (
        "int[n] f(int[m,n] a) { return with { ([0] <= [j] < [n]) : with { ([0] <= [i] < [m]) : a[i,j]; } : fold(+, 0); "
        "} : genarray([n], 0); }",
        (ints(900, 37),),
        "rows",
    ),
}


@pytest.mark.parametrize("name", FOLDED)
def test_folds_are_the_interpreter_s(name: str) -> None:
    source, args, word = FOLDED[name]
    checked = name in ("a sum of 4099", "what comes last", "a sum of each column")
    compared(source, args, word, "nvptx", emulator=checked, strict=False)


@pytest.mark.long
@pytest.mark.parametrize("name", FOLDED)
def test_folds_by_libnvvm_and_on_the_emulator(name: str) -> None:
    source, args, word = FOLDED[name]
    compared(source, args, word, "libnvvm", emulator=True, strict=False)


GROUPED = (
    "int[m] f(int[m,n] a) { return with { ([0] <= [i] < [m]) : 2 * with { ([0] <= [j] < [n]) : a[i,j] * (j + 1); } "
    ": fold(+, 0) + i; } : genarray([m], 0); }",
    "double[m] f(double[m,n] a) { return with { ([0] <= [i] < [m]) : with { ([0] <= [j] < [n]) : a[i,j]; } "
    ": fold(max, -1e300); } : genarray([m], 0.0); }",
)


@pytest.mark.parametrize(
    ("cells", "length", "front"),
    [
        pytest.param(
            cells, length, front, marks=[pytest.mark.long] * ((length, front) not in ((33, "nvptx"), (17, "libnvvm")))
        )
        for cells, length in ((300, 17), (41, 300), (131, 33))
        for front in ("libnvvm", "nvptx")
    ],
)
def test_rows_that_keep_a_device_busy_have_some_threads_of_a_warp_each(cells: int, length: int, front: str) -> None:
    for source, a in zip(GROUPED, (ints(cells, length), reals(cells, length, t=np.float64))):
        a[cells - 1, length - 1] = 77
        compared(source, (a,), "rows", front, emulator=front == "nvptx" and length == 33)

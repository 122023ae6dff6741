"""Kernels over triangles: with-loops whose bounds depend on positions are laid out by position, and give what the
interpreter gives; threads are idle at the ends of rows only, and no root is taken."""

from __future__ import annotations

import numpy as np
import pytest

import sacpy
from sacpy.jit.ir.kernel import Kernel
from sacpy.jit.ir.kernel_printer import print_kernel
from sacpy.jit.kernels import Launch
from sacpy.withloop.devices import DEVICES
from sacpy.withloop.spaces import IndexSpace
from sacpy.withloop.strategies import choose
from tests.jit.test_kernels_programs import ONE, run

TYPES = {
    "lower": "[i<n, i+1]", "upper": "[i<n, n-i]", "strict": "[i<n, i]", "strict upper": "[i<n, n-i-1]",
    "trapezoid": "[i<n, i+m]", "steep": "[i<n, 3*i+2]", "falling": "[i<n, m+2*(n-i)]",
}  # fmt: skip


def bound(extents: str) -> str:
    """The type's extents as a bound."""
    return extents.replace("i<n", "n")


def text(extents: str, body: str, pragma: str = "") -> str:
    """A program with a function f that makes such an array and gives its elements."""
    shape = bound(extents)
    return (
        f"int[.] f(int n, int m) {{ t = with {{ {pragma}\n ([0,0] <= [i,j] < {shape}) : {body}; }} : "
        f"genarray({shape}); return (int[.]) t; }}"
    )


def launched(program: str, *sizes: int, **changes: object) -> list[Launch]:
    """The launches of f, which gives what the graph says."""
    return [x for x in run(program, *sizes, **changes).launches if x.mapping is not None]


@pytest.mark.parametrize("extents", TYPES.values(), ids=TYPES)
def test_each_position_is_computed_once(extents: str) -> None:
    for n in (0, 1, 2, 7, 10):
        for x in launched(text(extents, "1000 * i + j + m"), n, 3):
            assert x.mapping is not None and x.mapping.space.growth
            assert "FoldTriangle" in str(x.mapping.chain)
            assert "row" not in _operations(x.kernel)


def _operations(kernel: Kernel) -> set[str]:
    return {line.split(" = ")[1].split()[0] for line in print_kernel(kernel).splitlines() if " = " in line}


@pytest.mark.parametrize("device", ["sm_80", "sm_90"])
def test_no_more_than_a_warp_a_row_is_idle(device: str) -> None:
    limits = DEVICES[device]
    for n in (2, 3, 33, 300, 301, 1030, 4097, 46000):
        for space in (IndexSpace.rows((n, 1), 1), IndexSpace.rows((n, n), -1), IndexSpace.rows((n, 0), 1)):
            choice = choose("auto", space, limits)
            assert choice.chain.map(space, limits).idle < 32 * n, (str(choice.chain), n)


@pytest.mark.parametrize(
    "chain",
    [
        "GridBlock(1, FoldTriangle(Gen))",
        "GridBlock(1, SplitLast(4, FoldTriangle(ShiftLB(Gen))))",
        "GridBlock(1, SplitLast(8, FoldLast2(Gen)))",
        "GridBlock(1, SplitLast(8, FoldLast2(FoldTriangle(Gen))))",
        "GridBlock(1, Permute([1, 0], FoldTriangle(Gen)))",
    ],
)
@pytest.mark.parametrize("body", ["100 * i + j", "7", pytest.param("j", marks=pytest.mark.long)])
def test_a_mapping_by_pragma(chain: str, body: str) -> None:
    for extents, n in ((TYPES["lower"], 9), (TYPES["upper"], 8), (TYPES["strict"], 7)):
        (x,) = launched(text(extents, body, f"#pragma gpukernel {chain}"), n, 0)
        assert x.mapping is not None and str(x.mapping.chain) == chain and x.mapping.space.growth


@pytest.mark.parametrize("strategy", ["jing", "foldall"])
def test_strategies_that_know_no_triangles_fold_them_into_one_axis(strategy: str) -> None:
    (x,) = launched(text(TYPES["upper"], "100 * i + j"), 40, 0, strategy=strategy)
    assert x.mapping is not None and "FoldLast2(Gen)" in str(x.mapping.chain)


def test_a_fold_by_pragma() -> None:
    program = (
        "int f(int n) { return with { #pragma gpukernel GridBlock(1, SplitLast(32, FoldTriangle(Gen)))\n "
        "([0,0] <= [i,j] < [n, i+1]) : i * j; } : fold(+, 0); }"
    )
    for n in (0, 1, 6, 35):
        run(program, n)


def test_several_triangles_at_once_and_inside_of_others() -> None:
    run("int[.] f(int n) { t = { [i,j,k] -> 100 * i + 10 * j + k | [i,j,k] < [n, i+1, j+1] }; return (int[.]) t; }", 6)
    run("int[.] f(int n) { t = { [b,i,j] -> 100 * b + 10 * i + j | [b,i,j] < [3, n, i+1] }; return (int[.]) t; }", 6)
    run(
        "int[.] f(int n) { t = { [i,j] -> i + j | [i,j] < [n, i+1] }; u = { [i,j] -> t[i,j] * t[i,0] | [i,j] < "
        "[n, i+1] }; return (int[.]) u; }",
        9,
    )


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("bound", "spaces"),
    [
        ("m, n, i+1", [((4, 41, 1), 1)]),
        ("m, 2, n, n-i", [((4, 2, 41, 41), -1)]),
        ("n, i+1, 3", [((41, 3), 3)]),
        ("n, min(n, i+m) - max(0, i-2)", [((2, 4), 1), ((35, 6), 0), ((4, 6), -1)]),
        ("n, max(0, i-m)", [((36, 1), 1)]),
    ],
)
def test_blocks_of_triangles_and_stretches_of_bands_are_spaces(
    bound: str, spaces: list[tuple[tuple[int, ...], int]]
) -> None:
    """No position is idle but what fills the last warp of each row, and rows are found without a root."""
    letters = "bcij" if "2, n" in bound else "bij" if bound.startswith("m") else "ijk"[: 2 + (bound[-1] == "3")]
    names = ",".join(letters)
    value = " + ".join(f"{10**k} * {x}" for k, x in enumerate(names.split(",")))
    program = f"int[.] f(int n, int m) {{ t = {{ [{names}] -> {value} | [{names}] < [{bound}] }}; return (int[.]) t; }}"
    for n in (0, 7):
        launched(program, n, 4)
    found = launched(program, 41, 4, merge=False)
    wanted = [s for shape, growth in spaces if (s := IndexSpace.rows(shape, growth)).size]
    assert [x.mapping.space for x in found if x.mapping is not None] == wanted
    for x in found:
        assert x.mapping is not None
        rows = x.mapping.space.size // max(1, x.mapping.space.corner[-1]) + len(x.mapping.space.extents)
        assert x.mapping.idle < 32 * max(rows, 8)
        assert bound[-1] == "3" or not {"row", "column"} & _operations(x.kernel)


def test_a_mapping_by_pragma_has_an_axis_for_blocks() -> None:
    chain = "GridBlock(1, SplitLast(8, Permute([1, 0, 2], FoldTriangle(Gen))))"
    program = (
        f"int[.] f(int n, int m) {{ t = with {{ #pragma gpukernel {chain}\n ([0,0,0] <= [b,i,j] < [m, n, i+1]) : b; }} "
        ": genarray([m, n, i+1]); return (int[.]) t; }"
    )
    (x,) = launched(program, 9, 3)
    assert x.mapping is not None and str(x.mapping.chain) == chain and x.mapping.space == IndexSpace.rows((3, 9, 1), 1)


# ---------------------------------------------------------------- folds of different lengths

FOLDS = {
    "lower": "sum({ [j] -> v[i * 20 + j] * (j + 1) | [j] < [i + 1] })",
    "upper": "with { ([i] <= [j] < [n]) : v[20 * i + j]; } : fold(+, 0)",
    "bands": "with { ([max(0, i - 3)] <= [j] < [min(n, i + 5)]) : v[20 * i + j]; } : fold(+, 0)",
    "ends before it begins": "with { ([i] <= [j] < [12 - i]) : v[20 * i + j]; } : fold(max, -1)",
    "a quarter": "with { ([0] <= [j] < [i / 4 * 3]) : v[20 * i + j]; } : fold(+, 7)",
    "in order": "with { ([0] <= [j] < [i + 1]) : v[20 * i + j]; } : fold(after, 1)",
}
AFTER = "int after(int a, int b) { return b % 2 == 1 ? b : a; } "  # associative, and not commutative
HOW = {
    "warps": {"row_length": 2},
    "blocks": {"row_length": 2, "fold_threads": 16},
    "chunks": {"row_length": 1, "fold_threads": 2},
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("how", [pytest.param(HOW[n], id=n, marks=[pytest.mark.long] * (n == "blocks")) for n in HOW])
@pytest.mark.parametrize("fold", FOLDS.values(), ids=FOLDS)
def test_threads_share_folds_of_different_lengths(fold: str, how: dict[str, int]) -> None:
    values = (np.arange(400) * 7919 % 101).astype(np.int32)
    program = AFTER + f"int[.] f(int[.] v, int n) {{ return {{ [i] -> {fold} | [i] < [n] }}; }}"
    for n in (1, 2, 20):
        found = run(program, values, n, **how)
        assert n < 20 or "12 - i" in fold or any(x.purpose == "rows" for x in found.launches), found.launches


def test_chunks_of_a_fold_that_is_shorter_than_there_are_chunks() -> None:
    fold = "with { ([i] <= [j] < [n]) : v[j]; } : fold(+, 0)"
    program = f"int[n] f(int[n] v) {{ return {{ [i] -> {fold} | [i] < [n] }}; }}"
    found = run(program, np.arange(120, dtype=np.int32), row_length=1, fold_threads=2)
    assert [x.purpose for x in found.plans[-1].launches] == ["rows", "joined"]


def test_what_fails_in_front_of_a_fold_fails() -> None:
    program = "int[.] f(int[.] v, int k) { return { [i] -> sum(take([i + k], v)) | [i] < [30] }; }"
    values = np.arange(40, dtype=np.int32)
    for k in (0, 10, 11, 40):
        run(program, values, k, row_length=2)


def test_the_longest_folds_begin_first() -> None:
    values = np.arange(5050, dtype=np.int32)
    lower = "int[n] f(int[.] v, int[n] x) { a = (int[i<n, i+1]) v; return { [i] -> sum(a[i] * take([i+1], x)) }; }"
    found = run(lower, values, np.arange(100, dtype=np.int32), row_length=4, device=ONE)
    (x,) = found.launches
    assert x.purpose == "rows" and "100 at most" in x.reasons[0]
    assert x.kernel.params[2].name == "blocks"


def test_on_the_emulator() -> None:
    session = sacpy.Session(target="emulator")
    module = session.compile(
        """
        use Array: all;
        double[i<n, n-i] f(int n) { return { [i,j] -> tod(1000 * i + j) | [i,j] < [n, n-i] }; }
        """
    )
    found = module.f(90)
    assert np.array_equal(found.data, [1000 * i + j for i in range(90) for j in range(90 - i)])
    assert "FoldTriangle" in session.explain()

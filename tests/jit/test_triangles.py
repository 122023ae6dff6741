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
from tests.jit.test_kernels_programs import run

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
@pytest.mark.parametrize("body", ["100 * i + j", "7", "j"])
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

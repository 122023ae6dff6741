# ruff: noqa: F821 - names of extents are no names of Python
# mypy: disable-error-code="name-defined, misc, valid-type, attr-defined"
"""Functions of elements mapped over arrays, with their neighbours, and operators that reduce arrays."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sacpy
from sacpy import Double, Int
from sacpy.capture.elemental import Elemental, Reduction

A = np.arange(12.0).reshape(3, 4) ** 1.5
MODES = {"clamp": "edge", "wrap": "wrap", "reflect": "reflect", "constant": "constant"}


def laplace(u: float, k: float) -> float:
    return u + k * (u.at(-1, 0) + u.at(1, 0) + u.at(0, -2) + u.at(0, 1) - 4.0 * u)


def expected(u: Any, k: float, mode: str, constant: float) -> Any:
    more = {"constant_values": constant} if mode == "constant" else {}
    p = np.pad(u, 2, mode=MODES[mode], **more)
    n, m = u.shape
    part = lambda i, j: p[2 + i : 2 + i + n, 2 + j : 2 + j + m]  # noqa: E731
    return u + k * (part(-1, 0) + part(1, 0) + part(0, -2) + part(0, 1) - 4.0 * u)


COMPILED = [pytest.param(mode, "cpu", marks=[] if mode == "wrap" else pytest.mark.long) for mode in MODES]


@pytest.mark.parametrize(("mode", "target"), [*((mode, "interp") for mode in MODES), *COMPILED])
def test_neighbours(mode: str, target: str) -> None:
    mapped = Elemental(laplace, None, target, mode, 2.5)
    np.testing.assert_allclose(mapped(A, 0.1), expected(A, 0.1, mode, 2.5), rtol=1e-13)


@sacpy.elemental(target="interp")
def hypotenuse(x: float, y: float = 1.0) -> float:
    if x > y:
        return math.sqrt(x * x + y * y)
    return y


@sacpy.elemental(target="interp", boundary="wrap")
def alive(cell: int) -> int:
    near = sum(cell.at(i, j) for i in range(-1, 2) for j in range(-1, 2)) - cell
    return 1 if near == 3 or (near == 2 and cell == 1) else 0


@sacpy.function(target="interp")
def inside(a: Double["n", "m"], life: Int["k", "l"]) -> tuple[Double["n", "m"], Int["k", "l"], float]:
    return hypotenuse(a, 2.0) + hypotenuse(a[:1], a[1:2])[0], alive(alive(life)), hypotenuse(3.0, 2.0)


def test_mapped_over_what_is_given() -> None:
    one = np.vectorize(hypotenuse.python)
    assert hypotenuse(3.0) == math.sqrt(10.0)
    np.testing.assert_array_equal(hypotenuse(A[0]), one(A[0], 1.0))
    np.testing.assert_array_equal(hypotenuse(A, y=A + 1), one(A, A + 1))
    np.testing.assert_array_equal(hypotenuse(2.0, A), one(2.0, A))
    assert hypotenuse(np.zeros((0, 3))).shape == (0, 3)
    with pytest.raises(sacpy.SacError, match="pattern"):
        hypotenuse(A, A.T)


def test_within_a_captured_function() -> None:
    board = np.random.default_rng(3).integers(0, 2, (5, 6))
    mapped, later, number = inside(A, board)
    one = np.vectorize(hypotenuse.python)
    np.testing.assert_allclose(mapped, one(A, 2.0) + one(A[0], A[1]))
    for _ in range(2):
        near = sum(np.roll(board, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - board
        board = ((near == 3) | ((near == 2) & (board == 1))).astype(int)
    np.testing.assert_array_equal(later, board)
    assert number == math.sqrt(13.0)


@sacpy.reduction(neutral=-math.inf, commutative=True, target="interp")
def largest(a: float, b: float) -> float:
    return a if a > b else b


@sacpy.reduction(neutral=0, target="interp")
def last_but_zero(a: int, b: int) -> int:
    return a if b == 0 else b


@sacpy.function(target="interp")
def reduced(a: Double["n", "m"], k: Int["l"]) -> tuple[float, float, int, int, float]:
    return largest(a), largest(x * x - 4.0 for x in a[0]), last_but_zero(k), last_but_zero(3, 0), largest(a[:0])


def test_reductions() -> None:
    k = np.array([4, 0, 7, 0, 0])
    assert largest(A) == A.max() and largest(np.zeros(0)) == -math.inf and largest(2.0, 3.0) == 3.0
    assert last_but_zero(k) == 7
    assert reduced(A, k) == (A.max(), (A[0] ** 2 - 4).max(), 7, 3, -math.inf)


def test_an_ordered_reduction_keeps_its_order_when_it_is_compiled() -> None:
    k = np.arange(200_000) % 3
    k[-1] = 0
    assert Reduction(last_but_zero.python, 0, None, "cpu")(k) == 2


def wrong(function: Callable[..., Any], *args: Any) -> str:
    with pytest.raises(sacpy.SacError) as caught:
        sacpy.elemental(target="interp")(function)(*args)
    return caught.value.diagnostics[0].code


def test_what_is_no_function_of_elements() -> None:
    def of_arrays(a: Double["n"]) -> float:
        return a[0]

    def of_no_result(a: float) -> Double["n"]:
        return a

    def of_numbers(u: float) -> float:
        return u.at(1)

    def that_sets(u: float) -> float:
        u = u.at(1) + 1.0
        return u * 2.0

    assert wrong(of_arrays) == "E0902"
    assert wrong(of_no_result) == "E0902"
    assert wrong(of_numbers, 1.0) == "E0903"
    assert wrong(of_numbers, A) == "E0907"
    assert wrong(that_sets) == "E0901"
    with pytest.raises(ValueError, match="boundary"):
        sacpy.elemental(boundary="none")(laplace)


@sacpy.generalised(target="interp")
def distance(a: Double["n"], b: Double["n"], k: float = 1.0) -> float:
    return k * np.sqrt(np.sum((a - b) ** 2))


@sacpy.generalised(target="interp")
def shares(a: Int["n"]) -> Double["n"]:
    return a / np.sum(a)


def test_functions_of_cells_are_mapped_over_the_axes_in_front() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(4, 5, 3)), rng.normal(size=(5, 3))
    apart = np.sqrt(((a - b) ** 2).sum(-1))
    assert distance(a[1, 2], b[2]) == pytest.approx(apart[1, 2])
    np.testing.assert_allclose(distance(a, b), apart)
    np.testing.assert_allclose(distance(b[3], a), np.sqrt(((a - b[3]) ** 2).sum(-1)))
    np.testing.assert_allclose(distance(a, b, np.arange(5.0)), apart * np.arange(5.0))
    np.testing.assert_allclose(distance(a, b, k=np.arange(20.0).reshape(4, 5)), apart * np.arange(20.0).reshape(4, 5))
    assert distance(np.zeros((0, 2, 3)), np.zeros(3)).shape == (0, 2)
    assert distance(np.zeros((2, 0)), np.zeros(0)).tolist() == [0.0, 0.0]
    deep = np.arange(1, 65).reshape(2, 2, 2, 2, 2, 2)
    np.testing.assert_allclose(shares(deep), deep / deep.sum(-1, keepdims=True))
    assert shares(np.ones((0, 3), int)).shape == (0, 3) and "distance" in distance.sac


def test_cells_that_do_not_go_together() -> None:
    for args, code in (
        ((np.ones((4, 5, 3)), np.ones((4, 3))), "E0615"),
        ((np.ones((4, 5, 3)), np.ones((5, 2))), "E0615"),
        ((1.0, np.ones(3)), "E0907"),
    ):
        with pytest.raises(sacpy.SacError) as caught:
            distance(*args)
        assert caught.value.diagnostics[0].code == code

    def of_any(a: Double[...]) -> float:
        return np.sum(a)

    def of_two(a: Double["n"]) -> tuple[float, float]:
        return a[0], a[1]

    for function, message in ((of_any, "a cell has a number of axes"), (of_two, "the result of a cell is one number")):
        with pytest.raises(sacpy.SacError, match=message):
            sacpy.generalised(function)

"""Loops that add to elements of an array are cut into pieces, on printed graphs, and give the same."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest

from sacpy.jit.ir.graph_printer import print_unit
from sacpy.jit.ir.graph_verify import verify
from sacpy.jit.options import Options
from sacpy.jit.passes import optimise, placed, scatter
from tests.jit.graph_evaluator import CheckFailed, evaluate
from tests.jit.graph_text import unit

LOOP = """
function f(int n, int[n] x, int m, int[m] g, int from, int to)
    int[m] h = for i from from to to step 1 with int[m] p := g
        int k = load x[i]
        bool t = lt k, m
        check t : the index lies in the array
        int a = load p[k]
        int v = {value}
        int b = {combined}
        int[m] q = update p[{at}] with b
        next q
    return m, h
"""


def loop(value: str = "mul k, 3", combined: str = "add a, v", at: str = "k") -> str:
    return LOOP.format(value=value, combined=combined, at=at)


@pytest.mark.parametrize(
    "combined", ["max v, a", "min a, v", "add v, a", "sub a, v", "bitxor a, v", "bitand a, v", "bitor a, v"]
)
@pytest.mark.parametrize(("start", "end"), [(0, 500), (3, 500), (7, 8), (9, 9), (11, 2), (-3, 0), (-7, -2), (0, 1)])
def test_pieces_give_the_same(combined: str, start: int, end: int) -> None:
    text = loop(combined=combined)
    rng = np.random.default_rng(abs(start))
    x, g = rng.integers(0, 5, 500).astype(np.int32), rng.integers(-(2**31), 2**31, 5).astype(np.int32)
    if start < 0:
        end = start
    with patch.object(scatter, "ROUNDS", 10), patch.object(scatter, "PER_ELEMENT", 1):
        cut = scatter.run(unit(text))
    verify(cut)
    assert "parts" in print_unit(cut)
    (_, expected), (_, found) = (evaluate(u, [x, g.copy(), start, end]) for u in (unit(text), cut))
    assert np.array_equal(found, expected)


REALS = """
function f(int n, int[n] x, double[n] v, int m, double[m] g, int from, int to)
    double[m] h = for i from from to to step 1 with double[m] p := g
        int k = load x[i]
        bool t = lt k, m
        check t : the index lies in the array
        double a = load p[k]
        double w = load v[i]
{combined}
        double[m] q = update p[k] with b
        next q
    return m, h
"""
ADDED = "        double b = add a, w"
EXTREME = """        bool nan = neq a, a
        bool one = {test}
        bool first = or one, nan
        double b = select first, a, w"""


@pytest.mark.parametrize("test", ["ge a, w", "le w, a", "le a, w", "ge w, a"])
def test_pieces_give_the_same_extremes_of_reals_to_the_sign_of_zero(test: str) -> None:
    before = unit(REALS.format(combined=EXTREME.format(test=test)))
    rng = np.random.default_rng(5)
    x = rng.integers(0, 9, 500).astype(np.int32)
    v = rng.choice([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf], 500)
    v[rng.random(500) < 0.002] = np.nan
    g = np.array([0.0, -0.0, np.nan, -np.inf, np.inf, 0.0, -0.0, 0.5, -5.0])
    with patch.object(scatter, "ROUNDS", 10), patch.object(scatter, "PER_ELEMENT", 1):
        cut = scatter.run(before)
    verify(cut)
    assert "parts" in print_unit(cut)
    (_, expected), (_, found) = (evaluate(u, [x, v, g.copy(), 0, 500]) for u in (before, cut))
    assert np.array_equal(found, expected, equal_nan=True) and np.array_equal(np.signbit(found), np.signbit(expected))


def test_sums_of_reals_are_regrouped_unless_floating_point_is_strict() -> None:
    text = unit(REALS.format(combined=ADDED))
    assert "parts" not in print_unit(scatter.run(text))
    assert "parts" not in print_unit(optimise(text, Options(strict_fp=True), host=True))
    assert "parts" in print_unit(optimise(text, Options(), host=True))
    x, v = np.arange(500, dtype=np.int32) % 7, np.arange(500.0)
    with patch.object(scatter, "ROUNDS", 10), patch.object(scatter, "PER_ELEMENT", 1):
        cut = scatter.run_reals(text)
    g = np.array([-0.0] * 8)
    (_, expected), (_, found) = (evaluate(u, [x, v, g.copy(), 0, 500]) for u in (text, cut))
    assert np.array_equal(found, expected) and np.array_equal(np.signbit(found), np.signbit(expected))


SEVERAL = """
function f(int n, int[n] x, int m, int[m,3] g, int[m] c)
    int[m,3] h, int[m] d = for i from 0 to n step 1 with int[m,3] p := g, int[m] r := c
        int k = load x[i]
        bool t = lt k, m
        check t : the index lies in the array
        int j = bitand i, 1
        int a = load p[k,j]
        int b = max a, i
        int[m,3] q = update p[k,j] with b
        int e = load r[k]
        int o = add e, 1
        int[m] s = update r[k] with o
        next q, s
    return m, h, m, d
"""


def test_several_arrays_of_any_rank_are_filled_by_one_loop_over_pieces() -> None:
    with patch.object(scatter, "ROUNDS", 10), patch.object(scatter, "PER_ELEMENT", 1):
        cut = scatter.run(unit(SEVERAL))
    verify(cut)
    assert print_unit(cut).count("genarray int cell") == 2
    x = np.random.default_rng(3).integers(0, 4, 500).astype(np.int32)
    g, c = np.full((4, 3), 17, np.int32), np.arange(4, dtype=np.int32)
    expected, found = (evaluate(u, [x, g.copy(), c.copy()]) for u in (unit(SEVERAL), cut))
    assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


def test_checks_still_fail() -> None:
    x = np.zeros(100, np.int32)
    x[60] = 7
    with patch.object(scatter, "ROUNDS", 10), patch.object(scatter, "PER_ELEMENT", 1):
        cut = scatter.run(unit(loop()))
    with pytest.raises(CheckFailed):
        evaluate(cut, [x, np.zeros(3, np.int32), 0, 100])


@pytest.mark.parametrize(
    "text",
    [
        loop(combined="sub v, a"),
        loop(combined="add a, a"),
        loop(value="mul a, 3"),
        loop(value="load p[0]"),
        loop(at="v"),
        loop()
        .replace("int[", "double[")
        .replace("double[n] x", "int[n] x")
        .replace("int a =", "double a =")
        .replace("int v = mul k, 3", "double v = tod k")
        .replace("int b", "double b"),
    ],
)
def test_what_is_no_such_sum_stays(text: str) -> None:
    assert "parts" not in print_unit(scatter.run(unit(text)))


def test_on_a_gpu_a_few_pieces_would_be_a_few_threads() -> None:
    assert "parts" in print_unit(optimise(unit(loop()), host=True))
    assert "parts" not in print_unit(optimise(unit(loop()), host=False))
    assert "parts" in print_unit(placed(optimise(unit(loop()), host=False), Options()))

"""Loops that add to elements of an array are cut into pieces, on printed graphs, and give the same."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest

from sacpy.jit.ir.graph_printer import print_unit
from sacpy.jit.ir.graph_verify import verify
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


@pytest.mark.parametrize("combined", ["add v, a", "bitxor a, v", "bitand a, v", "bitor a, v"])
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
        loop(combined="mul a, v"),
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
    assert "parts" in print_unit(placed(optimise(unit(loop()), host=False)))

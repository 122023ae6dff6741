"""Loops whose rounds write to rows of their own: which ones these are, and that spreading them over threads changes
nothing."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest

from sacpy.jit.analysis import depends
from sacpy.jit.analysis.ints import Ints
from sacpy.jit.host.lowering import lower
from sacpy.jit.host.native import Context
from sacpy.jit.ir.graph import For, Let, statements
from sacpy.jit.options import Options
from sacpy.jit.schedule import threads
from tests.jit.graph_evaluator import evaluate
from tests.jit.graph_text import unit as parsed
from tests.jit.native_tools import compiled, same

LU = """
function f(int n, double[n,n] a)
    double[n,n] r = for k from 0 to n step 1 with double[n,n] b := a
        int t = add! k, 1
        double[n,n] c = for i from t to n step 1 with double[n,n] d := b
            double p = load d[k,k]
            double q = load d[i,k]
            double f = div q, p
            double[n,n] e = update d[i,k] with f
            double[n,n] g = for j from t to n step 1 with double[n,n] h := e
                double x = load h[k,j]
                double y = mul f, x
                double z = load h[i,j]
                double w = sub z, y
                double[n,n] u = update h[i,j] with w
                next u
            next g
        next c
    return n, r
"""

LOOP = """
function f(int n, double[n] x, int[n] at)
    double[n] r = for i from {lower} to n step 1 with double[n] b := x
        {body}
        next u
    return n, r
"""

BRANCH = """
function f(int n, double[n] x)
    double[n] r = for i from 0 to n step 1 with double[n] b := x
        double v = load b[i]
        bool t = lt v, 0.0
        double[n] u = if t
            double m = neg v
            double[n] w = update b[i] with m
            give w
        else
            give b
        next u
    return n, r
"""


def independent(text: str) -> list[bool]:
    """Of each counting loop, outer ones first, whether its rounds are independent."""
    function = parsed(text).root
    ints = Ints(function)
    loops = [s.rhs for s in statements(function.body) if isinstance(s, Let) and isinstance(s.rhs, For)]
    return [depends.independent(r, ints) for r in loops]


def test_the_rounds_of_an_elimination_step_are_independent_the_steps_are_not() -> None:
    assert independent(LU) == [False, True, True]


@pytest.mark.parametrize(
    ("lower", "body", "expected"),
    [
        ("0", "double v = load b[i]\n        double w = mul v, 2.0\n        double[n] u = update b[i] with w", True),
        ("1", "double v = load b[0]\n        double[n] u = update b[i] with v", True),
        ("0", "double v = load b[0]\n        double[n] u = update b[i] with v", False),
        ("1", "int j = add! i, -1\n        double v = load b[j]\n        double[n] u = update b[i] with v", False),
        ("0", "int j = load at[i]\n        double[n] u = update b[j] with 1.0", False),
        ("0", "int j = load at[i]\n        double v = load b[j]\n        double[n] u = update b[i] with v", False),
        ("0", "double[n] w = update b[i] with 1.0\n        double[n] u = update w[0] with 2.0", False),
        (
            "0",
            "double[n] w = update b[i] with 1.0\n        double v = load b[i]\n"
            "        double[n] u = update w[i] with v",
            False,
        ),
        ("0", "double[n] u = x", False),
        (
            "0",
            "int t = mul! i, 2\n        int s = add! t, 1\n        double v = load b[s]\n"
            "        double[n] w = update b[t] with v\n        double[n] u = update w[s] with 1.0",
            True,
        ),
        (
            "0",
            "int t = mul! i, 2\n        int s = add! t, 2\n        double v = load b[s]\n"
            "        double[n] u = update b[t] with v",
            False,
        ),
    ],
)
def test_what_makes_rounds_independent(lower: str, body: str, expected: bool) -> None:
    assert independent(LOOP.format(lower=lower, body=body)) == [expected]


@pytest.mark.sample(2)
@pytest.mark.parametrize("n", [0, 1, 2, 37, 53])
def test_results_are_those_of_rounds_in_order(n: int) -> None:
    given = np.random.default_rng(n).standard_normal((n, n)) + n * np.eye(n)
    unit = parsed(LU)
    with patch.object(threads, "WORTH", 60.0), patch.object(threads, "PER_CHUNK", 30.0):
        assert "sacpy_spread" in lower(unit, Options(strict_fp=True))
        found = [compiled(unit, context=Context(threads)).call((given,))[1] for threads in (1, 2, 3)]
    (_, expected) = evaluate(unit, [given.copy()])
    assert all(same(one, expected) for one in found)


def test_branches_may_leave_an_array_alone() -> None:
    assert independent(BRANCH) == [True]
    given = np.random.default_rng(1).standard_normal(1000)
    with patch.object(threads, "WORTH", 60.0), patch.object(threads, "PER_CHUNK", 30.0):
        (_, found) = compiled(parsed(BRANCH), context=Context(2)).call((given,))
    assert same(found, np.abs(given))


BLOCKS = """
function f(int n, int d, int q, int[n,n] x)
    int e = min q, d
    int[n,n] r = for k from 0 to e step 1 with int[n,n] a := x
        int top = mul! k, 8
        int o = sub! d, k
        int left = mul! o, 8
        int[n,n] b = for i from 1 to 9 step 1 with int[n,n] v := a
            int g = add! top, i
            int g.1 = add! g, {above}
            int[n,n] c = for j from 1 to 9 step 1 with int[n,n] w := v
                int h = add! left, j
                int h.1 = add! h, {before}
                int y = load w[g.1,h]
                int z = load w[g,h.1]
                int x.1 = load w[g.1,h.1]
                int m = max y, z
                int p = add m, x.1
                int[n,n] t = update w[g,h] with p
                next t
            next c
        int[n,n] s = b
        next s
    return n, r
"""


@pytest.mark.parametrize(
    ("above", "before", "expected"),
    [(-1, -1, True), (-8, -8, True), (1, 1, True), (-1, 1, False), (1, -1, False), (-9, 8, False)],
)
def test_blocks_along_an_antidiagonal(above: int, before: int, expected: bool) -> None:
    """Each reads of those above, below, at its left or right, which are not on the antidiagonal, or of others on it."""
    assert independent(BLOCKS.format(above=above, before=before))[0] == expected


def test_blocks_along_an_antidiagonal_run_at_once() -> None:
    text = BLOCKS.format(above=-1, before=-1)
    given = np.random.default_rng(1).integers(-99, 99, (49, 49)).astype(np.int32)
    with patch.object(threads, "WORTH", 60.0), patch.object(threads, "PER_CHUNK", 30.0):
        assert "sacpy_spread" in lower(parsed(text), Options())
        found = [compiled(parsed(text), context=Context(threads)).call((5, 6, given))[1] for threads in (1, 2, 3)]
    (_, expected) = evaluate(parsed(text), [5, 6, given.copy()])
    assert all(same(one, expected) for one in found)


STRIPS = """
function f(int n, double[n] x)
    int half = div n, 4
    double[n] r = for i from 0 to half step 1 with double[n] b := x
        int t = mul! i, 4
        double s = with
            fold from 0.0 by (double acc), (double val)
                double sum = add acc, val
                give sum
            part [0] <= [k] < [4]
                int at = add! t, k
                double y = load b[at]
                yield y
        double[n] u = for j from 0 to 4 step 1 with double[n] c := b
            int at.1 = add! t, j
            double z = load c[at.1]
            double q = div z, s
            double[n] v = update c[at.1] with q
            next v
        next u
    return n, r
"""


def test_rounds_that_keep_to_strips_run_at_once() -> None:
    assert independent(STRIPS) == [True, True]
    given = np.random.default_rng(1).random(1001)
    with patch.object(threads, "WORTH", 60.0), patch.object(threads, "PER_CHUNK", 30.0):
        assert "sacpy_spread" in lower(parsed(STRIPS), Options(strict_fp=True))
        found = [compiled(parsed(STRIPS), context=Context(threads)).call((given,))[1] for threads in (1, 2, 3)]
    (_, expected) = evaluate(parsed(STRIPS), [given.copy()])
    assert all(same(one, expected) for one in found)

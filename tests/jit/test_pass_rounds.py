"""Folds of arrays as loops, on printed graphs: what becomes one, and what they compute."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy.jit.ir.graph import Genarray, Let, Modarray, WithLoop, statements
from sacpy.jit.ir.graph_verify import verify
from sacpy.jit.options import Options
from sacpy.jit.passes import array_folds, optimise
from tests.jit.graph_evaluator import evaluate
from tests.jit.pass_tools import assert_keeps_meaning, check, unchanged
from tests.jit.specialise_tools import Subject, shapes_of

ROWS = """
function f(int n, int m, double[n,m] v, double[m] z)
    double[m] s = with
        fold from z by (double[m] a), (double[m] b)
            double[m] t = with [m]
                genarray double default 0.0
                part [0] <= [c] < [m]
                    double x = load a[c]
                    double y = load b[c]
                    double q = mul x, y
                    yield q
            give t
        part [1] <= [j] < [n]{grid}
            double[m] r = view v[j]
            yield r
    return m, s
"""


def test_a_fold_of_rows_carries_its_accumulator() -> None:
    check(
        array_folds.run,
        ROWS.format(grid=""),
        """
        function f(int n, int m, double[n,m] v, double[m] z)
            double[m] s = for j from 1 to n step 1 with double[m] a := z
                double[m] r = view v[j]
                double[m] b = r
                double[m] t = with [m]
                    genarray double default 0.0
                    part [0] <= [c] < [m]
                        double x = load a[c]
                        double y = load b[c]
                        double q = mul x, y
                        yield q
                next t
            return m, s
        """,
    )


def test_a_fold_with_a_step_and_one_of_scalars_stay() -> None:
    unchanged(array_folds.run, ROWS.format(grid=" step [2] width [1]"))
    unchanged(
        array_folds.run,
        """
        function f(int n, double[n] v)
            double s = with
                fold from 0.0 by (double a), (double b)
                    double t = add a, b
                    give t
                part [0] <= [j] < [n]
                    double r = load v[j]
                    yield r
            return s
        """,
    )


PROGRAMS = {
    "a product of rows": (
        "double[.] f(double[n] w, double[n,m] v) { return with { ([0] <= [j] < [n]) : w[j] - v[j]; } : fold(*, "
        "genarray([m], 1.0)); }",
        "wv",
    ),
    "rows of two axes": (
        "double[.] f(double[n,m,k] v) { return with { ([0,0] <= [i,j] < [n,m]) : tod(i - j) * v[i,j]; } : fold(+, "
        "genarray([k], 1.0)); }",
        "c",
    ),
    "an order that matters": (
        "double[.] g(double[n] a, double[n] b) { return a - 2.0 * b; } double[.] f(double[n,m] v) { return with { "
        "([0] <= [j] < [n]) : v[j]; } : fold(g, genarray([m], 0.0)); }",
        "v",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("n", [0, 1, 5])
def test_what_a_round_adds_is_computed_where_it_is_added(name: str, n: int) -> None:
    text, kinds = PROGRAMS[name]
    rng = np.random.default_rng(n)
    args = tuple(rng.integers(-9, 9, {"w": (n,), "v": (n, 6), "c": (n, 3, 7)}[k]).astype("f8") for k in kinds)
    subject = Subject(text)
    unit = optimise(
        subject.unit(*(tuple(None for _ in s) for s in shapes_of(args, fixed=-1))), Options(verify=True), host=True
    )
    verify(unit)
    makers = [
        o
        for s in statements(unit.root.body)
        if isinstance(s, Let) and isinstance(s.rhs, WithLoop)
        for o in s.rhs.operators
        if isinstance(o, Genarray | Modarray)
    ]
    assert len(makers) == 1  # the result: no array is made of what a round adds, or of what the fold begins with
    (found,), expected = evaluate(unit, args), subject.interpreted(*args)
    assert np.array_equal(found, expected[0] if isinstance(expected, tuple) else expected)


def test_random_graphs_keep_their_meaning() -> None:
    assert assert_keeps_meaning(array_folds.run, range(60)) > 60

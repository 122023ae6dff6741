"""Cells that are one array or another, as conditions say, become elements that are, on printed graphs; the results are
the same."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy.jit.passes import flatten
from tests.jit.graph_text import unit
from tests.jit.native_tools import agree_on
from tests.jit.pass_tools import check, unchanged

CHOSEN = """
function f(int n, int m, double[n,m] a, double[m] v, int k)
    double[n,m] o = with [n] disjoint complete
        genarray double cell [m] default 0.0
        part [0] <= [i] < [n]
            {before}
            bool c = eq i, k
            double[m] r = if c
                {then}
            else
                double t = load a[i,0]
                bool d = lt t, 0.5
                double[m] s = if d
                    double[m] q = view a[k]
                    give q
                else
                    double[m] w = with [m] disjoint complete
                        genarray double default 0.0
                        part [{lower}] <= [j] < [m]
                            double x = load a[i,j]
                            double y = {operation} x
                            yield y
                    give w
                give s
            yield r
    return n, m, o
"""
FINE = {"before": "bool b = lt k, i", "then": "give v", "lower": "0", "operation": "neg"}
FLAT = """
function f(int n, int m, double[n,m] a, double[m] v, int k)
    double[n,m] o = with [n,m] disjoint complete
        genarray double default 0.0
        part [0,0] <= [i,at] < [n,m]
            bool b = lt k, i
            bool c = eq i, k
            double r.1 = if c
                double v.1 = load v[at]
                give v.1
            else
                double t = load a[i,0]
                bool d = lt t, 0.5
                double s.1 = if d
                    double[m] q = view a[k]
                    double q.1 = load q[at]
                    give q.1
                else
                    double x.1 = load a[i,at]
                    double y.1 = neg x.1
                    give y.1
                give s.1
            yield r.1
    return n, m, o
"""


def chosen(**changed: str) -> str:
    return CHOSEN.format(**(FINE | changed))


def test_a_conditional_cell_is_made_of_conditional_elements() -> None:
    check(flatten.run, chosen(), FLAT)


@pytest.mark.parametrize(
    "changed",
    [
        {"operation": "exp"},  # vectors would compute it for all
        {"lower": "1"},
        {"then": "double[m] z = with [m]\n                    genarray double default 0.0\n"
                 "                    part [1] <= [l] < [m]\n                        yield 2.5\n"
                 "                give z"},
        {"before": "double h = load v[0]\n            double g = exp h"},
        # where there is no element, nobody would see that the check fails
        {"then": "bool e = lt 0, m\n                check e : it is there\n                give v"},
        # nor is a loop run for each element
        {"then": "double[m] z = for l from 0 to n step 1 with double[m] p := v\n"
                 "                    double[m] u = update p[l] with 2.5\n                    next u\n"
                 "                give z"},
    ],
)  # fmt: skip
def test_what_would_be_done_too_often_or_not_at_all_stays(changed: dict[str, str]) -> None:
    unchanged(flatten.run, chosen(**changed))


def test_where_every_cell_is_there_it_is_copied_as_a_whole() -> None:
    unchanged(flatten.run, """
        function f(int n, int m, double[n,m] a, double[m] v, int k)
            double[n,m] o = with [n] disjoint complete
                genarray double cell [m] default 0.0
                part [0] <= [i] < [n]
                    bool c = eq i, k
                    double[m] r = if c
                        give v
                    else
                        double[m] q = view a[i]
                        give q
                    yield r
            return n, m, o
        """)  # fmt: skip


@pytest.mark.parametrize(("n", "m"), [(0, 3), (3, 1), (5, 40), (33, 7)])
def test_the_results_are_the_same(n: int, m: int) -> None:
    random = np.random.default_rng(n)
    a, v = random.random((n, m)), random.random(m)
    agree_on(flatten.run(unit(chosen())), [(a, v, k) for k in range(n)])


def test_values_of_a_fold_are_no_cells() -> None:
    unchanged(flatten.run, """
        function f(int n, double[n] a)
            double s, int c = with
                fold from 0.0, 0 by (double s1, int c1), (double s2, int c2)
                    double s3 = add s1, s2
                    int c3 = add c1, c2
                    give s3, c3
                part [0] <= [i] < [n]
                    double x = load a[i]
                    bool p = lt 0.5, x
                    double y, int k = if p
                        double z = exp x
                        give z, 1
                    else
                        give 0.0, 0
                    yield y, k
            return s, c
        """)  # fmt: skip

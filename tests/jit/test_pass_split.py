"""Interior and border, on printed graphs."""

from __future__ import annotations

import re

from sacpy.jit.graph import Unit
from sacpy.jit.passes import dead_code, ranges, split
from tests.jit.pass_tools import after, unchanged


def run(unit: Unit) -> Unit:
    return dead_code.run(ranges.run(split.run(ranges.run(unit))))


TORUS = """
function f(int n, int m, double[n,m] u)
    double[n,m] r = with [n,m] disjoint
        genarray double default 0.0
        part [0,0] <= [i,j] < [n,m]
            int a = sub j, 1
            int b = aplmod a, m
            int c = add j, 1
            int d = aplmod c, m
            double x = load u[i,b]
            double y = load u[i,d]
            double z = add x, y
            yield z
    return n, m, r
"""


def bodies(text: str) -> dict[str, str]:
    """The bodies of partitions by their heads."""
    parts = re.split(r"^ *(part .*)$", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def test_the_interior_is_free_of_the_border() -> None:
    found = bodies(after(run, TORUS))
    assert len(found) == 3
    interior = [body for body in found.values() if "select" not in body and "load u[i,a]" in body]
    assert len(interior) == 1
    assert "aplmod" not in "".join(found.values())


def test_a_conditional_cuts_where_it_changes() -> None:
    text = """
    function f(int n, int k, double[n] u, double[n] v)
        double[n] r = with [n]
            genarray double default 0.0
            part [0] <= [i] < [n]
                bool c = lt i, k
                double x = if c
                    double y = load u[i]
                    give y
                else
                    int p = sub i, k
                    double z = load v[p]
                    give z
                yield x
        return n, r
    """
    found = after(run, text)
    assert len(bodies(found)) == 2
    assert "if " not in found
    assert "int cut = min n, k" in found or "int cut = min k, n" in found


def test_a_condition_on_two_indices_or_on_data_does_not_cut() -> None:
    unchanged(
        run,
        """
        function f(int n, double[n,n] u)
            double[n,n] r = with [n,n]
                genarray double default 0.0
                part [0,0] <= [i,j] < [n,n]
                    bool c = lt i, j
                    double x = if c
                        double y = load u[i,j]
                        give y
                    else
                        give 0.0
                    yield x
            return n, n, r
        """,
    )


def test_a_fold_is_not_cut_since_every_partition_counts_its_neutral() -> None:
    unchanged(
        run,
        """
        function f(int n, int k, double[n] u)
            double r = with
                fold from 0.0 by (double acc), (double val)
                    double s = add acc, val
                    give s
                part [0] <= [i] < [n]
                    bool c = lt i, k
                    double x = if c
                        double y = load u[i]
                        give y
                    else
                        give 0.0
                    yield x
            return r
        """,
    )


def test_what_is_narrow_already_is_not_cut_again() -> None:
    once = after(run, TORUS)
    unchanged(lambda unit: dead_code.run(ranges.run(split.run(unit))), once)

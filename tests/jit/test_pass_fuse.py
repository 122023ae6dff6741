"""Fusing, on printed graphs."""

from __future__ import annotations

import pytest

from sacpy.jit.passes.fuse import run
from tests.jit.pass_tools import check, unchanged


def test_an_array_and_a_fold_over_it_are_computed_in_one_loop() -> None:
    check(
        run,
        """
        function f(int n, double[n] u)
            double[n] a = with [n] disjoint
                genarray double default 0.0
                part [0] <= [i] < [n]
                    double x = load u[i]
                    double y = exp x
                    yield y
            double t = load u[0]
            double s = with disjoint
                fold from 0.0 by (double acc), (double val)
                    double r = add acc, val
                    give r
                part [0] <= [j] < [n]
                    double z = load a[j]
                    double w = mul z, t
                    yield w
            return n, a, s
        """,
        """
        function f(int n, double[n] u)
            double t = load u[0]
            double[n] a, double s = with [n] disjoint
                genarray double default 0.0
                fold from 0.0 by (double acc), (double val)
                    double r = add acc, val
                    give r
                part [0] <= [i] < [n]
                    double x = load u[i]
                    double y = exp x
                    double z = y
                    double w = mul z, t
                    yield y, w
            return n, a, s
        """,
    )


PAIR = """
function f(int n, int m, double[n] u, double[n] v)
    double[n] a = with [n]
        genarray double default 0.0
        part [0] <= [i] < [n]
            double x = load u[i]
            double y = neg x
            yield y
    {between}
    double[{extent}] b = with [{extent}]
        genarray double default 0.0
        part [0] <= [j] < [{extent}]
            {body}
            yield z
    return n, a, {extent}, b
"""


@pytest.mark.parametrize(
    ("extent", "between", "body"),
    [
        ("n", "bool c = lt n, m", "double z = load v[j]"),  # nothing shared
        ("m", "bool c = lt n, m", "double z = load u[0]"),  # another index space
        ("n", "bool c = lt n, m", "double z = load a[0]"),  # another element of the first
        ("n", "double t = load a[0]", "double w = load u[j]\n            double z = add w, t"),  # needed in between
        ("n", "double[n] t = update v[0] with 1.0", "double z = load u[j]"),  # something is overwritten in between
    ],
)
def test_with_loops_stay_apart(extent: str, between: str, body: str) -> None:
    unchanged(run, PAIR.format(extent=extent, between=between, body=body))

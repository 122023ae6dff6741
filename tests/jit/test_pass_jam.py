"""Sums along a short axis in one loop, on printed graphs."""

from __future__ import annotations

import pytest

from sacpy.jit.passes.jam import run
from tests.jit.pass_tools import after, assert_keeps_meaning, check, unchanged

SUMS = """
function f(int n, int m, double[n,{extent}] u, double[m,{extent}] v, double[m] x)
    double[m] w = with [m]
        genarray double default 0.0
        part [0] <= [k] < [m]
            double a = load x[k]
            double b = {work} a
            double c = mul b, a
            yield c
    double[n,{extent}] r = with [n,{extent}]
        modarray u
        part [1,{lower}] <= [i,c.1] < [n,{extent}]
            double d = load u[i,c.1]
            double o = load x[0]
            double s = with
                fold from d by (double acc), (double val)
                    double e = add acc, val
                    give e
                part [0] <= [j] < [{upper}]
                    double g = load w[j]
                    double h = load v[j,c.1]
                    double l = mul g, h
                    yield l
            double q = mul s, o
            yield q
    return n, r{more}
"""
PLAIN = {"extent": "2", "work": "exp", "lower": "0", "upper": "m", "more": ""}


def test_sums_along_a_short_axis_are_made_in_one_loop() -> None:
    check(
        run,
        SUMS.format(**PLAIN),
        """
        function f(int n, int m, double[n,2] u, double[m,2] v, double[m] x)
            double[m] w = with [m]
                genarray double default 0.0
                part [0] <= [k] < [m]
                    double a = load x[k]
                    double b = exp a
                    double c = mul b, a
                    yield c
            double[n,2] r = with [n]
                modarray u
                part [1] <= [i] < [n]
                    double d.1 = load u[i,0]
                    double d.2 = load u[i,1]
                    double o = load x[0]
                    double s.1, double s.2 = with
                        fold from d.1 by (double acc.1), (double val.1)
                            double e.1 = add acc.1, val.1
                            give e.1
                        fold from d.2 by (double acc.2), (double val.2)
                            double e.2 = add acc.2, val.2
                            give e.2
                        part [0] <= [j] < [m]
                            double g = load w[j]
                            double h.1 = load v[j,0]
                            double h.2 = load v[j,1]
                            double l.1 = mul g, h.1
                            double l.2 = mul g, h.2
                            yield l.1, l.2
                    double q.1 = mul s.1, o
                    double q.2 = mul s.2, o
                    double[2] row = array double[2] of q.1, q.2
                    yield row
            return n, r
        """,
    )


def test_elements_of_one_cell_are_one_piece_of_work() -> None:
    """Each element varies with the axis, the work for their cell does not."""
    text = """
    function f(int n, int m, double[m] x)
        double[n,m,2] p = with [n,m]
            genarray double cell [2] default 0.0
            part [0,0] <= [i,j] < [n,m]
                double a = load x[j]
                double b = {work} a
                double c = mul b, a
                double[2] d = array double[2] of b, c
                yield d
        double[n,2] r = with [n,2]
            genarray double default 0.0
            part [0,0] <= [k,e] < [n,2]
                double s = with
                    fold from 0.0 by (double acc), (double val)
                        double t = add acc, val
                        give t
                    part [0] <= [l] < [m]
                        double y = load p[{of},e]
                        yield y
                yield s
        return n, r
    """
    found = after(run, text.format(work="exp", of="k,l"))
    assert "load p[k,l,0]" in found and "load p[k,l,1]" in found
    unchanged(run, text.format(work="exp", of="e,l"))


def test_what_varies_with_the_axis_may_be_dear() -> None:
    unchanged(
        run,
        SUMS.format(**PLAIN).replace("double g = load w[j]", "double g = load x[j]").replace("mul g, h", "pow g, h"),
    )


@pytest.mark.parametrize(
    ("part", "text"),
    [
        pytest.param("work", "neg", id="the work is little"),
        pytest.param("extent", "5", id="the axis is long"),
        pytest.param("lower", "1", id="not all of the axis is set"),
        pytest.param("upper", "c.1", id="the sums have different bounds"),
        pytest.param("more", ", m, w", id="the array is needed anyway"),
    ],
)
def test_others_stay(part: str, text: str) -> None:
    unchanged(run, SUMS.format(**{**PLAIN, part: text}))


def test_it_keeps_the_meaning() -> None:
    assert assert_keeps_meaning(run, range(40)) > 20

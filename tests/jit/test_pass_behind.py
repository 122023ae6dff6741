"""Maps behind scans are computed where the results are written, on printed graphs: which are, and which stay."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from sacpy.jit.analysis.scans import scan_of
from sacpy.jit.ir.graph import For, Let, WithLoop, statements
from sacpy.jit.options import Options
from sacpy.jit.passes import optimise, stepping
from tests.jit.native_tools import compiled
from tests.jit.pass_tools import assert_keeps_meaning, check, unchanged
from tests.jit.specialise_tools import Subject

TEXT = """
function f(int n, double[n] v)
    double[n] s, double t = for i from {lower} to n step 1 with double[n] a := v, double p := 0.0
        double x = load v[i]
        double q = add p, x
        double[n] u = update a[i] with q
        next u, q
    {to}[n] w = with [n] disjoint complete
        genarray {to} default {zero}
        part [0] <= [j] < [n]
{body}
            yield y
    return n, w, t{more}
"""
SQUARE = """            double z = load s[j]
            double o = load v[{at}]
            double y = mul z, o"""


def text(body: str, *, to: str = "double", zero: str = "0.0", lower: str = "0", more: str = "") -> str:
    return TEXT.format(body=body, to=to, zero=zero, lower=lower, more=more)


def test_a_map_is_computed_where_the_scan_writes() -> None:
    check(
        stepping.run_around,
        text(SQUARE.format(at="j")),
        """
        function f(int n, double[n] v)
            double[n] w, double t = for i from 0 to n step 1 with double[n] a := v, double p := 0.0
                double x = load v[i]
                double q = add p, x
                double z.1 = q
                double o.1 = load a[i]
                double y.1 = mul z.1, o.1
                double[n] u.1 = update a[i] with y.1
                next u.1, q
            return n, w, t
        """,
    )


def test_results_of_another_type_have_an_array_of_their_own() -> None:
    check(
        stepping.run_around,
        text("            double z = load s[j]\n            int y = toi z", to="int", zero="0"),
        """
        function f(int n, double[n] v)
            int[n] start = with [n] disjoint
                genarray int default 0
            int[n] w, double t = for i from 0 to n step 1 with int[n] held := start, double p := 0.0
                double x = load v[i]
                double q = add p, x
                double z.1 = q
                int y.1 = toi z.1
                int[n] u.1 = update held[i] with y.1
                next u.1, q
            return n, w, t
        """,
    )


@pytest.mark.parametrize(
    "case",
    [
        text(SQUARE.format(at="j"), lower="1"),
        text(SQUARE.format(at="j"), more=", n, s"),
        text(SQUARE.format(at="j").replace("mul z, o", "mul z, t")),
        text(SQUARE.format(at="j").replace("load s[j]", "load s[0]")),
        text(SQUARE.format(at="j")).replace("add p, x", "div p, x"),
    ],
)
def test_what_stays(case: str) -> None:
    unchanged(stepping.run_around, case)


def test_random_units_mean_what_they_meant() -> None:
    assert assert_keeps_meaning(stepping.run_around, range(40)) > 10


@pytest.mark.parametrize(
    ("body", "wanted", "left"),
    [
        ("return sqrt(cumsum(v)) + v;", lambda v: np.sqrt(np.cumsum(v)) + v, 0),
        ("return 2.0 * cumsum(tod(v > 2.0));", lambda v: 2.0 * np.cumsum(v > 2.0), 0),
        ("return cumsum_reverse(2.0 * v);", lambda v: np.cumsum(2.0 * v[::-1])[::-1], 0),
        (
            "s = cumsum_reverse(v); return { [i] -> s[i] * v[n - 1 - i] | [i] < [n] };",
            lambda v: np.cumsum(v[::-1])[::-1] * v[::-1],
            1,
        ),
    ],
)
def test_maps_before_and_behind_are_in_the_scan(
    body: str, wanted: Callable[[np.ndarray], np.ndarray], left: int
) -> None:
    subject = Subject(f"use Scan: all; double[.] f(double[n] v) {{ {body} }}")
    unit = optimise(subject.unit((None,)), Options(verify=True), host=True)
    lets = [s for s in statements(unit.root.body) if isinstance(s, Let)]
    loops = [scan_of(s.rhs, {}, strict=False) for s in lets if isinstance(s.rhs, For)]
    assert len(loops) == 1 and loops[0] is not None
    assert sum(len(s.rhs.partitions) for s in lets if isinstance(s.rhs, WithLoop)) == left
    for v in (np.arange(7.0), np.zeros(0)):
        (found,) = compiled(unit, Options()).call((v,))
        np.testing.assert_array_equal(found, wanted(v))

"""Loops that add up arrays become sums for each element, on printed graphs, and give the same."""

from __future__ import annotations

import re

import numpy as np
import pytest

from sacpy.jit.analysis.contractions import contraction
from sacpy.jit.ir.graph import Let, WithLoop
from sacpy.jit.passes import interchange
from tests.jit.graph_evaluator import evaluate
from tests.jit.graph_text import unit
from tests.jit.pass_tools import after, assert_keeps_meaning, check, unchanged

ADDED = """
function f(int n, int m, int l, int u, double[n] x, double[n,m] v)
    double[m] zeros = with [m] disjoint
        genarray double default 0.5
    double[m] r = for j from l to u step 1 with double[m] a := zeros
        double w = load x[j]
        double[m] t = with [m] disjoint complete
            genarray double default 0.0
            part [0] <= [c] < [m]
                double y = load v[j,c]
                double p = mul w, y
                double b = load a[c]
                double z = add b, p
                yield z
        next t
    return m, r
"""


def test_a_loop_around_becomes_a_sum_inside() -> None:
    check(
        interchange.run,
        ADDED,
        """
        function f(int n, int m, int l, int u, double[n] x, double[n,m] v)
            double[m] zeros = with [m] disjoint
                genarray double default 0.5
            double[m] r = with [m] disjoint complete
                genarray double default 0.5
                part [0] <= [c] < [m]
                    double s.1 = with disjoint
                        fold from 0.5 by (double acc.1), (double val.1)
                            double t.2 = add acc.1, val.1
                            give t.2
                        part [l] <= [j.1] < [u]
                            double w.1 = load x[j.1]
                            double y.1 = load v[j.1,c]
                            double p.1 = mul w.1, y.1
                            yield p.1
                    yield s.1
            return m, r
        """,
    )


def test_sums_may_begin_with_the_elements_of_an_array() -> None:
    text = after(
        interchange.run,
        ADDED.replace("double[m] a := zeros", "double[m] a := g").replace(
            "double[n,m] v)", "double[n,m] v, double[m] g)"
        ),
    )
    assert re.search(r"double (x\S*) = load g\[c\]\n.*\n +fold from \1 by", text)
    assert "for" not in text.split()


@pytest.mark.parametrize(
    "text",
    [
        ADDED,
        ADDED.replace("add b, p", "add p, b"),
        ADDED.replace("            genarray double default 0.0", "            modarray a"),
        ADDED.replace("double", "int").replace("0.5", "5").replace("0.0", "0"),
        ADDED.replace("load x[j]", "load x[j]\n        double q = div w, 3.0").replace("mul w, y", "mul q, y"),
        ADDED.replace(":= zeros", ":= g").replace(
            "    double[m] r = for",
            """    double[m] g = with [m] disjoint complete
        genarray double default 0.0
        part [0] <= [h] < [m]
            int hh = mul h, h
            double o = tod hh
            yield o
    double[m] r = for""",
        ),
    ],
)
def test_it_gives_the_same(text: str) -> None:
    dtype = "i4" if "int[m] r" in text else "f8"
    rng = np.random.default_rng(1)
    u, sums = unit(text), interchange.run(unit(text))
    assert "fold" in after(interchange.run, text)
    # it pays
    assert [
        c.packed
        for c in map(
            contraction,
            [
                p
                for s in sums.root.body.statements
                if isinstance(s, Let) and isinstance(s.rhs, WithLoop)
                for p in s.rhs.partitions
            ],
        )
        if c
    ] == [False]
    for n, m, first, last in ((5, 4, 0, 5), (5, 4, 2, 3), (5, 1, 3, 3), (5, 3, 4, 1), (0, 3, 0, 0), (3, 0, 0, 3)):
        x, v = (3e8 * rng.standard_normal(n)).astype(dtype), (3e8 * rng.standard_normal((n, m))).astype(dtype)
        expected, found = (evaluate(g, [first, last, x, v])[-1] for g in (u, sums))
        assert np.array_equal(found, expected)


@pytest.mark.parametrize(
    "change",
    [
        ("add b, p", "sub b, p"),
        ("mul w, y", "div w, y"),
        ("double w = load x[j]", "double w0 = load x[j]\n        double w = exp w0"),
        ("load v[j,c]", "load v[c,j]"),
        ("load v[j,c]", "load v[l,c]"),
        ("load a[c]", "load a[j]"),
        ("add b, p", "add b, b"),
        ("mul w, y", "mul b, y"),
        ("disjoint complete", "disjoint"),
        ("[0] <= [c]", "[1] <= [c]"),
        ("step 1", "step 2"),
        ("        double w = load x[j]\n", "        double w = load a[l]\n"),
        (
            "part [0] <= [c] < [m]\n                double y",
            "part [0] <= [c] < [m] step [2] width [1]\n                double y",
        ),
    ],
)
def test_what_is_no_such_sum_or_does_not_pay_stays(change: tuple[str, str]) -> None:
    assert change[0] in ADDED
    text = ADDED.replace(*change)
    if change[1].startswith("mul b"):
        text = text.replace("                double b = load a[c]\n", "").replace(
            "                double y =", "                double b = load a[c]\n                double y ="
        )
    unchanged(interchange.run, text)


def test_indices_that_are_computed_in_a_round_are_no_terms() -> None:
    text = ADDED.replace("double", "int").replace("0.5", "5").replace("0.0", "0")
    unchanged(
        interchange.run,
        text.replace(
            "                int y = load v[j,c]\n",
            "                int far = mul c, 2\n                int y = load v[j,far]\n"
            "                int near = load v[j,c]\n",
        ).replace("mul w, y", "mul near, y"),
    )


def test_random_units_keep_their_meaning() -> None:
    assert assert_keeps_meaning(interchange.run, range(40)) > 20

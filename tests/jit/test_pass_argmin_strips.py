"""Loops that keep the chosen one of what they see: which pass over stretches, and that nothing changes by it."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy.jit.passes import argmin_strips
from tests.jit.graph_text import unit
from tests.jit.native_tools import agree_on
from tests.jit.pass_tools import after, check, unchanged

LEAST = """
function f(int n, double[n] u, double x)
    double v, int p = for k from 1 to n step 1 with double a := x, int b := 0
        double z = load u[k]
        bool c = lt z, a
        double d = select c, z, a
        int e = select c, k, b
        next d, e
    return v, p
"""

FOLD = """
function f(int n, double[n] u, double x)
    double v, int p = with disjoint
        fold from x, -1 by (double a, int b), (double z, int k)
            bool l = lt a, z
            bool q = eq a, z
            bool o = lt b, k
            bool t = and q, o
            bool c = or l, t
            double d = select c, z, a
            int e = select c, k, b
            give d, e
        part [0] <= [i] < [n]
            double y = load u[i]
            double w = mul y, y
            yield w, i
    return v, p
"""

KEPT = (
    LEAST.replace("lt z, a", "le a, z")
    .replace("select c, z, a", "select c, a, z")
    .replace("select c, k, b", "select c, b, k")
)


def test_a_stretch_is_compared_before_it_is_gone_through() -> None:
    check(
        argmin_strips.run,
        LEAST,
        """
        function f(int n, double[n] u, double x)
            double v, int p = for start from 1 to n step 128 with double a.1 := x, int b.1 := 0
                int left = sub! n, start
                int length = min left, 128
                int end = add! start, length
                bool later = lt 1, start
                bool whole = eq length, 128
                bool looked = and later, whole
                bool any.2 = if looked
                    bool any = for j from 0 to 128 step 1 with bool before := false
                        int k.1 = add! start, j
                        double z.1 = load u[k.1]
                        bool c.1 = lt z.1, a.1
                        bool chosen = c.1
                        bool any.1 = or before, chosen
                        next any.1
                    give any
                else
                    give true
                double a.3, int b.3 = if any.2
                    double d.2, int e.2 = for k.2 from start to end step 1 few with double a.2 := a.1, int b.2 := b.1
                        double z.2 = load u[k.2]
                        bool c.2 = lt z.2, a.2
                        double d.1 = select c.2, z.2, a.2
                        int e.1 = select c.2, k.2, b.2
                        next d.1, e.1
                    give d.2, e.2
                else
                    give a.1, b.1
                next a.3, b.3
            return v, p
        """,
    )


RNG = np.random.default_rng(3)
LENGTHS = (0, 1, 2, 127, 128, 129, 130, 257, 700, 1000)


def vectors() -> list[np.ndarray]:
    """Vectors with ties, zeros of both signs, NaNs, and ones of which every element is the best so far."""
    found = [np.round(RNG.uniform(-9, 9, n)) for n in LENGTHS]
    found += [
        np.where(RNG.uniform(size=600) < 0.3, np.nan, RNG.uniform(-1, 1, 600)),
        np.where(RNG.uniform(size=400) < 0.5, 0.0, -0.0),
        np.full(400, np.nan),
    ]
    return [
        *found,
        np.arange(400.0),
        -np.arange(400.0),
        np.r_[np.zeros(300), -1.0, np.zeros(150)],
        np.r_[np.zeros(384), np.inf, -np.inf],
    ]


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "text", [LEAST, FOLD, KEPT, LEAST.replace("lt z, a", "le z, a"), LEAST.replace("lt z, a", "eq z, a")]
)
def test_the_results_are_the_same(text: str) -> None:
    """Natively and evaluated, as it was and changed: four results, of which each is compared with another."""
    before, changed = unit(text), unit(after(argmin_strips.run, text))
    assert changed != before
    args = [(u, start) for u in vectors() for start in (np.inf, 0.0, -0.0, np.nan, -5.0)]
    natively = agree_on(changed, args)
    assert repr(natively) == repr(agree_on(before, args))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(LEAST.replace("int e = select c, k, b", "int e = add b, 1"), id="something else changes"),
        pytest.param(
            LEAST.replace("int e = select c, k, b", "bool s = lt k, b\n        int e = select s, k, b"),
            id="two choices",
        ),
        pytest.param(LEAST.replace("int e = select c, k, b", "int e = select c, b, k"), id="old and new at once"),
        pytest.param(LEAST.replace("lt z, a", "lt z, x"), id="what was chosen before does not matter"),
        pytest.param(LEAST.replace("from 1 to n", "from 1 to 200"), id="few rounds"),
        pytest.param(LEAST.replace("from 1 to n", "from -1 to n"), id="a counter that may be negative"),
        pytest.param(
            LEAST.replace(
                "double z = load u[k]", "bool t = lt k, n\n        check t : low\n        double z = load u[k]"
            ),
            id="a check",
        ),
        pytest.param(FOLD.replace("[i] < [n]", "[i] < [n] step [2] width [1]"), id="a step"),
    ],
)
def test_what_stays(text: str) -> None:
    unchanged(argmin_strips.run, text)

"""The first and the last rounds of loops in order, on printed graphs."""

from __future__ import annotations

import re

import numpy as np
import pytest

from sacpy.jit.ir.graph import Unit
from sacpy.jit.passes import dead_code, peel, ranges
from tests.jit.graph_text import unit as parsed
from tests.jit.native_tools import agree_on
from tests.jit.pass_tools import after, outcome

RNG = np.random.default_rng(5)


def on_host(unit: Unit) -> Unit:
    return dead_code.run(ranges.run(peel.run(ranges.run(unit))))


SWEEP = """
function f(int n, double[n] u, int first, int end)
    int low = max first, 0
    int high = min end, n
    bool some = le 1, n
    check some : there is one
    double[n] r = for j from low to high step {step} with double[n] a := u
        int up = add j, 1
        int k = mod up, n
        int down = sub j, 1
        int l = aplmod down, n
        double x = load a[k]
        double y = load a[l]
        double z = add x, y
        double w = mul z, 0.5
        double[n] b = update a[j] with w
        next b
    return n, r
"""


@pytest.mark.sample(2)
@pytest.mark.parametrize("step", [1, 2, 3, 8, 9])
def test_a_sweep_does_not_wrap_in_between(step: int) -> None:
    """Where elements are computed anew in place, one after the other, the first and the last have loops of their
    own."""
    text = SWEEP.format(step=step)
    u = parsed(text)
    found = re.split(
        r"^ *(?=double\[n\] \S+ = for)",
        after(on_host, text.replace("max first, 0", "max 0, 0").replace("min end, n", "min n, n")),
        flags=re.M,
    )[1:]
    assert len(found) == (3 if step <= 8 else 1)
    assert (any("select" not in loop for loop in found[1:2])) == (step <= 8)
    many = [
        [RNG.standard_normal(n), first, end]
        for n in (1, 2, 3, 5, 20)
        for first in (-1, 0, 1, n - 1, 2**31 - 1)
        for end in (0, 2, n - 1, n, -(2**31))
    ]
    for args in many:
        assert outcome(on_host(u), args) == outcome(u, args)
    agree_on(on_host(u), many)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("load a[l]", "load a[j]"),  # not in order: left to others
        ("max first, 0", "max first, -5"),
    ],
)
def test_other_loops_stay_whole(old: str, new: str) -> None:
    text = (
        SWEEP.format(step=1).replace("load a[k]", "load a[j]" if old == "load a[l]" else "load a[k]").replace(old, new)
    )
    assert after(on_host, text).count("= for") == 1


NESTED = """
function f(int n, int m, double[n,m] u, bool t)
    double[n,m] r = for i from 0 to n step 1 with double[n,m] a := u
        bool below = lt 0, i
        int i1 = add i, -1
        bool first = le 0, i1
        double[n,m] s = for j from 0 to m step 1 with double[n,m] b := a
            bool behind = lt 0, j
            int j1 = add j, -1
            bool low = le 0, j1
            double x = if below
                check first : not negative
                double x1 = if behind
                    check low : not negative
                    double x2 = load b[i1,j1]
                    give x2
                else
                    give 1.0
                give x1
            else
                double x3 = if t
                    give 2.0
                else
                    give 3.0
                give x3
            double y = load b[i,j]
            double z = mul y, 0.5
            double w = add z, x
            double[n,m] c = update b[i,j] with w
            next c
        next s
    return n, m, r
"""


def test_loops_in_loops_are_peeled_where_conditions_in_conditions_tell_first_rounds() -> None:
    loops = re.split(r"^(?= *double\[n,m\] \S+ = for)", after(on_host, NESTED), flags=re.M)[1:]
    inner = [text for text in loops if "update" in text]
    assert (len(loops), len(inner)) == (6, 4)  # of i = 0 and of those behind it, j = 0 and those behind it
    assert not any("= if" in text or "check" in text for text in loops)
    u = parsed(NESTED)
    many = [[RNG.standard_normal((n, m)), t] for n in (0, 1, 2, 5) for m in (0, 1, 2, 4) for t in (False, True)]
    for args in many:
        assert outcome(on_host(u), args) == outcome(u, args)
    agree_on(on_host(u), many)

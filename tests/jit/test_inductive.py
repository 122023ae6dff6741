"""What holds in all rounds of loops by induction: checks that follow from it go, others stay."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy.jit.passes.ranges import run
from tests.jit.graph_text import unit
from tests.jit.pass_tools import after, outcome

SEARCH = """
function f(int n, double[n] x, double v, int a)
    int l, int h = loop int lo := {low}, int hi := {high}
        while
            bool c = {condition}
            test c
        round
            int s = add lo, hi
            int mid = div s, {divisor}
            bool k1 = le 0, mid
            check k1 : low
            bool k2 = lt mid, n
            check k2 : high
            double e = load x[mid]
            bool t = lt e, v
            int up = add mid, {past}
            int lo2 = select t, up, lo
            int hi2 = select t, hi, mid
            next lo2, hi2
    bool b1 = le l, n
    check b1 : behind
    return l, h
"""
PLAIN = {"low": "0", "high": "n", "condition": "lt lo, hi", "divisor": "2", "past": "1"}


def searched(**changed: str) -> str:
    return after(run, SEARCH.format(**{**PLAIN, **changed}))


def test_a_binary_search_has_no_checks() -> None:
    found = searched()
    assert "check" not in found and "add! lo, hi" in found


CHANGES = [
    pytest.param({"low": "-1"}, {"low", "high"}, id="it may begin below"),
    pytest.param({"low": "a"}, {"low", "high", "behind"}, id="it may begin anywhere"),
    pytest.param({"high": "a"}, {"low", "high", "behind"}, id="it may end anywhere"),
    pytest.param({"condition": "le lo, hi"}, {"high"}, id="it may be the end itself"),
    pytest.param({"divisor": "1"}, {"low", "high", "behind"}, id="what is looked at may be the sum"),
    pytest.param({"past": "2"}, {"behind"}, id="it may go past the end"),
    pytest.param({"past": "-1"}, {"low", "high"}, id="it may go below"),
]


@pytest.mark.parametrize(("changed", "kept"), CHANGES)
def test_checks_that_do_not_follow_stay(changed: dict[str, str], kept: set[str]) -> None:
    found = searched(**changed)
    assert {word for word in ("low", "high", "behind") if f": {word}" in found} == kept


@pytest.mark.parametrize("changed", [{}, {"low": "a"}, {"high": "a"}, {"past": "2"}])
def test_a_search_gives_what_it_gave(changed: dict[str, str]) -> None:
    before = unit(SEARCH.format(**{**PLAIN, **changed}))
    now = run(before)
    for n in range(5):
        for v in (-1.0, 0.5, 2.5, 9.0):
            for a in (-2, 0, 1, 7):
                args = (np.arange(n) * 1.0, v, a)
                assert outcome(now, args) == outcome(before, args)

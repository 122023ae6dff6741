"""What is loaded under a condition, and there without it, is loaded without it, on printed graphs."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy.jit.passes import speculation
from tests.jit.graph_text import unit
from tests.jit.native_tools import agree_on
from tests.jit.pass_tools import after, check, unchanged

EITHER = """
function f(int n, int k, bool[n,n] a, bool[n] b)
    bool[n,n] c = with [n,n] disjoint complete
        genarray bool default false
        part [0,0] <= [i,j] < [n,n]
            {index}
            bool p = load a[i,j]
            bool r = if p
                give p
            else
                bool x = load {first}
                bool y = load b[j]
                bool q = and x, y
                give q
            {behind}
            yield r
    return n, n, c
"""
INDEX, BEHIND = "bool even = eq k, 2", "bool odd = neq k, 2"


def either(first: str = "a[j,i]", index: str = INDEX, behind: str = BEHIND) -> str:
    return EITHER.format(first=first, index=index, behind=behind)


def test_elements_that_are_there_are_loaded_without_a_condition() -> None:
    check(
        speculation.run,
        either(),
        """
        function f(int n, int k, bool[n,n] a, bool[n] b)
            bool[n,n] c = with [n,n] disjoint complete
                genarray bool default false
                part [0,0] <= [i,j] < [n,n]
                    bool even = eq k, 2
                    bool p = load a[i,j]
                    bool x = load a[j,i]
                    bool y = load b[j]
                    bool q = and x, y
                    bool r = or p, q
                    bool odd = neq k, 2
                    yield r
            return n, n, c
        """,
    )


@pytest.mark.parametrize(
    ("first", "index"),
    [
        ("a[i,k]", INDEX),  # k may be anything
        ("a[l,i]", "int l = sub! i, 1"),  # there is none before the first
        ("a[l,i]", "int l = add! i, 1"),
    ],
)
def test_what_may_not_be_there_is_asked_for(first: str, index: str) -> None:
    assert "bool r = if p" in after(speculation.run, either(first, index))


def test_behind_a_check_it_is_known_to_be_there() -> None:
    checked = """bool low = le 0, k
            check low : it is there
            bool high = lt k, n
            check high : it is there"""
    assert "if p" not in after(speculation.run, either("a[i,k]", checked))


def test_where_no_vectors_run_what_is_not_needed_is_not_loaded() -> None:
    loop = """bool odd = for m from 0 to k step 1 with bool o := r
                bool o1 = not o
                next o1"""
    unchanged(speculation.run, either(behind=loop))
    other = """bool[n] e = with [n] disjoint complete
        genarray bool default false
        part [0] <= [l] < [n]
            bool s = load b[l]
            bool t = if s
                bool u = load a[l,l]
                give u
            else
                give s
            yield t
    return n, n, c, n, e"""
    both = after(speculation.run, either(behind=loop).replace("return n, n, c", other))
    assert "bool r = if p" in both and "if s" not in both


def test_dear_operations_are_not_done_for_nothing() -> None:
    text = """
        function f(int n, double[n] a, double[n] b)
            double[n] c = with [n] disjoint complete
                genarray double default 0.0
                part [0] <= [i] < [n]
                    double x = load a[i]
                    bool p = lt 0.5, x
                    double r = if p
                        double y = load b[i]
                        double z = {dear} y
                        give z
                    else
                        give x
                    yield r
            return n, c
        """
    unchanged(speculation.run, text.format(dear="exp"))
    assert "select p, z, x" in after(speculation.run, text.format(dear="neg"))


@pytest.mark.parametrize("n", [0, 1, 5, 33, 100])
def test_the_results_are_the_same(n: int) -> None:
    random = np.random.default_rng(n)
    a, b = random.random((n, n)) < 0.5, random.random(n) < 0.5
    agree_on(speculation.run(unit(either())), [(0, a, b)])

"""Memory that a loop sets from end to end is not filled before; any other is."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy.jit.analysis.filled import set_whole
from tests.jit.graph_text import unit as parsed
from tests.jit.native_tools import agree_on

LOOP = """
function f(int n, double[n] x)
    int last = add! n, -1
    double[n] a = with [n] disjoint
        genarray double default 7.0
{before}    double[n] b = for i from {bounds} with double[n] p := a
        double v = load {of}[i]
        double w = mul v, 2.0
        double[n] u = update p[{at}] with w
        next u
    return n, b{more}
"""


def of(bounds: str = "0 to n step 1", at: str = "i", of: str = "x", before: str = "", more: str = "") -> str:
    return LOOP.format(bounds=bounds, at=at, of=of, before=before, more=more)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        (of(), True),
        (of("last to -1 step -1"), True),
        (of("1 to n step 1"), False),
        (of("0 to last step 1"), False),
        (of("0 to n step 2"), False),
        (of("last to 0 step -1"), False),
        (of(at="last"), False),
        (of(of="p"), False),
        (of(of="a"), False),
        (of(more=", n, a"), False),
    ],
)
def test_what_is_set_whole(text: str, whole: bool) -> None:
    unit = parsed(text)
    assert set_whole(unit.functions[0].body) == (frozenset("a") if whole else frozenset())
    agree_on(unit, [(np.linspace(1.0, 2.0, n),) for n in ((0, 1, 5, 70) if whole else (1, 5, 70))])


def test_rows_are_set_whole_too() -> None:
    unit = parsed("""
function f(int n, int m, double[n,m] y, double[m] x)
    double[n,m] a = with [n,m] disjoint
        genarray double default 7.0
    double[n,m] b = for i from 0 to n step 1 with double[n,m] p := a
        double[n,m] u = update p[i] with x
        next u
    return n, m, b
""")
    assert set_whole(unit.functions[0].body) == {"a"}
    agree_on(unit, [(np.zeros((3, 4)), np.arange(4.0)), (np.zeros((0, 4)), np.arange(4.0))])


def test_names_are_those_of_a_function() -> None:
    """Another function's array of the same name is filled."""
    unit = parsed(
        LOOP.format(before="", bounds="0 to n step 1", at="i", of="x", more="").replace(
            "return n, b", "int m, double[m] c = call g(n, b)\n    return m, c"
        )
        + """
function g(int n, double[n] x)
    double[n] a = with [n] disjoint
        genarray double default 7.0
    double[n] b = for i from 1 to n step 2 with double[n] p := a
        double v = load x[i]
        double[n] u = update p[i] with v
        next u
    return n, b
"""
    )
    agree_on(unit, [(np.linspace(1.0, 2.0, n),) for n in (1, 6, 70)])

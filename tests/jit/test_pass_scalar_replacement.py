"""What a round stores and the next one loads: which loops hand it on, and that nothing changes by it."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy.jit.passes import scalar_replacement
from tests.jit.graph_text import unit
from tests.jit.native_tools import agree_on
from tests.jit.pass_tools import after, check, outcome, unchanged

ROW = """
function f(int n, int[n,n] x, int[n,n] s, int r, int m)
    int[n,n] b = for j from 1 to m step 1 with int[n,n] a := x
        int j.1 = add! j, -1
        int y = load a[r,j.1]
        int w = load s[r,j]
        int z = max y, w
        int q = add z, -3
        int[n,n] u = update a[r,j] with q
        next u
    return n, b
"""
ONE = """
function f(int n, int[n] x, int[n] s, int r)
    int[n] b = for i from {lower} to n step {step} with int[n] a := x
{body}
        next {last}
    return n, b
"""


def body(*lines: str, lower: str = "1", step: str = "1", last: str = "u") -> str:
    return ONE.format(lower=lower, step=step, last=last, body="\n".join(f"        {line}" for line in lines))


def test_the_first_round_loads_where_there_is_one() -> None:
    check(
        scalar_replacement.run,
        ROW,
        """
        function f(int n, int[n,n] x, int[n,n] s, int r, int m)
            bool some = lt 1, m
            int y.2 = if some
                int j.2 = add! 1, -1
                int y.1 = load x[r,j.2]
                give y.1
            else
                give 0
            int[n,n] b, int y.3 = for j from 1 to m step 1 with int[n,n] a := x, int y := y.2
                int j.1 = add! j, -1
                int w = load s[r,j]
                int z = max y, w
                int q = add z, -3
                int[n,n] u = update a[r,j] with q
                next u, q
            return n, b
        """,
    )


@pytest.mark.parametrize("n", [1, 2, 3, 33])
def test_the_results_are_the_same(n: int) -> None:
    rng = np.random.default_rng(n)
    x, s = (rng.integers(-9, 9, (n, n)).astype(np.int32) for _ in range(2))
    x[-1, -1] = np.iinfo(np.int32).min
    before, changed = unit(ROW), unit(after(scalar_replacement.run, ROW))
    many = [[x, s, n - 1, m] for m in {0, 1, n}]
    for args in many:
        assert outcome(changed, args) == outcome(before, args)
    agree_on(changed, many)


HANDED_ON = {
    "two at a time": body(
        "int t = mul! i, 2", "int p = add! t, -2", "int v = load a[p]", "int[n] u = update a[t] with v"
    ),
    "one and the same": body("int v = load a[r]", "int w = max v, i", "int[n] u = update a[r] with w"),
    "under another name": body(
        "int p = add! i, -1", "int v = load a[p]", "int[n] u = update a[i] with v", "int[n] w = u", last="w"
    ),
}
LEFT = {
    "of two rounds before": body("int p = add! i, -2", "int v = load a[p]", "int[n] u = update a[i] with v"),
    "of the round that comes": body("int p = add! i, 1", "int v = load a[p]", "int[n] u = update a[i] with v"),
    "where data say": body("int p = load s[i]", "int v = load a[p]", "int[n] u = update a[p] with v"),
    "changed elsewhere too": body(
        "int p = add! i, -1", "int v = load a[p]", "int[n] t = update a[r] with 5", "int[n] u = update t[i] with v"
    ),
    "behind a check": body(
        "bool c = lt i, r",
        "check c : it may be loaded",
        "int p = add! i, -1",
        "int v = load a[p]",
        "int[n] u = update a[i] with v",
    ),
    "in a branch": body(
        "int p = add! i, -1",
        "bool c = lt i, r",
        "int v = if c",
        "    int y = load a[p]",
        "    give y",
        "else",
        "    give 0",
        "int[n] u = update a[i] with v",
    ),
    "changed in a branch": body(
        "int p = add! i, -1",
        "int v = load a[p]",
        "bool c = lt i, r",
        "int[n] u = if c",
        "    int[n] t = update a[i] with v",
        "    give t",
        "else",
        "    give a",
    ),
    "backwards": body("int p = add! i, -1", "int v = load a[p]", "int[n] u = update a[i] with v", step="-1"),
    "a scan": body(
        "int p = add! i, -1",
        "int v = load a[p]",
        "int w = load s[i]",
        "int q = add v, w",
        "int[n] u = update a[i] with q",
    ),
}


@pytest.mark.parametrize("name", HANDED_ON)
def test_what_is_handed_on(name: str) -> None:
    text = HANDED_ON[name]
    made = after(scalar_replacement.run, text)
    assert " := x, int v := " in made
    n = 7
    args = [np.arange(n, dtype=np.int32)[::-1].copy(), np.zeros(n, np.int32), 2]
    if name != "two at a time":  # whose indices leave the array
        assert outcome(unit(made), args) == outcome(unit(text), args)


@pytest.mark.parametrize("name", LEFT)
def test_what_is_left_alone(name: str) -> None:
    unchanged(scalar_replacement.run, LEFT[name])

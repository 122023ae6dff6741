"""Checks on loaded indices, made for many rounds before these run: which loops they are, and that nothing gets past
them."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest

from sacpy.jit.failures import CheckFailed
from sacpy.jit.ir.graph import For, Let, statements
from sacpy.jit.schedule import checks_ahead
from sacpy.jit.schedule.checks_ahead import checked_ahead
from tests.jit.graph_text import unit as parsed
from tests.jit.native_tools import agree_on, compiled

LOOP = """
function f(int n, int[n] x, double[n] v, int m, double[m] g, int first, int end)
    double[m] r = for i from first to end step {step} with double[m] h := g
        int k = load x[i]
        bool t = le 0, k
        check t : the index is not negative
        bool u = lt k, m
        check u : the index lies in the array
        {more}double a = load h[k]
        double b = load v[i]
        double c = add a, b
        double[m] q = update h[k] with c
        next q
    return m, r
"""
RNG = np.random.default_rng(2)


def loop(step: int = 1, more: str = "") -> str:
    return LOOP.format(step=step, more=more)


def found(text: str) -> checks_ahead.CheckedAhead | None:
    (r,) = [s.rhs for s in statements(parsed(text).root.body) if isinstance(s, Let) and isinstance(s.rhs, For)]
    return checked_ahead(r)


def test_what_is_checked_ahead() -> None:
    v = found(loop())
    assert v is not None
    assert len(v.ahead.statements) == 3 and len(v.within) == 1 and not v.conditions
    assert not any(type(s).__name__ == "Check" for s in v.rounds.body.statements)


@pytest.mark.parametrize(
    ("more", "conditions"),
    [
        ("int d = mul k, 2\n        bool w = lt d, 90\n        check w : it is small\n        ", 1),
        ("bool w = lt first, k\n        check w : it is above\n        ", 1),
        ("bool w = le i, 5000\n        check w : it is early\n        ", 1),
    ],
)
def test_other_conditions_are_made_ahead_too(more: str, conditions: int) -> None:
    v = found(loop(more=more))
    assert v is not None and len(v.within) == 1 and len(v.conditions) == conditions


@pytest.mark.parametrize(
    "more",
    [
        # x[k] may only be read once k has been checked
        "int y = load x[k]\n        bool w = lt y, m\n        check w : it lies behind a check\n        ",
        "double z = load h[k]\n        bool w = lt z, 9.0\n        check w : it depends on a round before\n        ",
    ],
)
def test_what_depends_on_a_check_or_on_rounds_before_is_not(more: str) -> None:
    assert found(loop(more=more)) is None


@pytest.mark.parametrize("step", [1, 3, -1, -2, 700])
@pytest.mark.parametrize("stretch", [4, 1024])
def test_rounds_give_the_same(step: int, stretch: int) -> None:
    ranges = [(n, *((0, n) if step > 0 else (n - 1, -1))) for n in (0, 1, 2, 5, 1023, 1024, 1025, 2500)]
    ranges += [(9, 5, 5), (9, 7, 3) if step > 0 else (9, 3, 7)]
    many = [
        [RNG.integers(0, 7, n).astype("i4"), RNG.standard_normal(n), RNG.standard_normal(7), first, end]
        for n, first, end in ranges
    ]
    with patch.object(checks_ahead, "STRETCH", stretch):
        agree_on(parsed(loop(step)), many)


@pytest.mark.parametrize("step", [1, 2, -1])
@pytest.mark.parametrize("bad", [-1, 7, 2**31 - 1, -(2**31)])
def test_no_bad_index_gets_past(step: int, bad: int) -> None:
    f = compiled(parsed(loop(step)))
    n = 2101
    first, end = (0, n) if step > 0 else (n - 1, -1)
    visited = range(first, end, step)
    for at in (visited[0], visited[-1], visited[len(visited) // 2], visited[1023], visited[1024]):
        x = np.zeros(n, "i4")
        x[at] = bad
        with pytest.raises(CheckFailed):
            f.call((x, np.ones(n), np.zeros(7), first, end))
    if step == 2:  # what no round reads does not matter
        x = np.zeros(n, "i4")
        x[1::2] = bad
        f.call((x, np.ones(n), np.zeros(7), first, end))


def test_without_elements_all_rounds_fail_and_none_does_not() -> None:
    f = compiled(parsed(loop()))
    with pytest.raises(CheckFailed):
        f.call((np.zeros(3, "i4"), np.ones(3), np.zeros(0), 0, 3))
    assert f.call((np.zeros(3, "i4"), np.ones(3), np.zeros(0), 2, 2))[-1].shape == (0,)

"""Partitions that divide their last index are computed several indices at a time: the same values, from any lower to
any upper bound."""

from __future__ import annotations

import re

import numpy as np
import pytest

from sacpy.jit.analysis.indices import Facts
from sacpy.jit.host.lowering import lower
from sacpy.jit.ir.graph import Let, Partition, Unit, WithLoop, statements
from sacpy.jit.schedule.loops import IntoArray
from sacpy.jit.schedule.residues import residues
from tests.jit.graph_text import unit as parsed
from tests.jit.native_tools import STRICT, agree_on

RNG = np.random.default_rng(7)

SPREAD = """
function f(int n, double[n] a, int m, int first, int end)
    double[m] r = with [m] disjoint
        genarray double default 0.5
        part [first] <= [i] < [end]
            {body}
    return m, r
"""
QUOTIENTS = """int up = add! i, {offset}
            int k = div i, {divisor}
            int l = div up, {divisor}
            int t = {remainder} up, {divisor}
            double x = load a[k]
            double y = load a[l]
            double w = tod t
            double z = mul y, w
            double v = sub x, z
            yield v"""
BOUNDS = [
    (0, 0),
    (0, 1),
    (0, 2),
    (1, 2),
    (1, 1),
    (3, 2),
    (0, 40),
    (1, 40),
    (2, 41),
    (3, 42),
    (5, 43),
    (6, 7),
    (7, 9),
    (39, 43),
]


def found(u: Unit) -> int | None:
    """How many indices are taken together."""
    function = u.root
    (w,) = (s.rhs for s in statements(function.body) if isinstance(s, Let) and isinstance(s.rhs, WithLoop))
    (p,) = w.partitions
    assert isinstance(p, Partition)
    r = residues(p, [IntoArray("double", False)], Facts.of(function).made)
    return None if r is None else r.divisor


@pytest.mark.parametrize("divisor", [2, 3, 4, 5])
@pytest.mark.parametrize("offset", [0, 1, 2, 7])
@pytest.mark.parametrize("remainder", ["mod", "aplmod"])
def test_indices_are_taken_together_from_any_bound_to_any(divisor: int, offset: int, remainder: str) -> None:
    u = parsed(SPREAD.format(body=QUOTIENTS.format(divisor=divisor, offset=offset, remainder=remainder)))
    assert found(u) == (divisor if divisor <= 4 else None)
    agree_on(u, [[RNG.standard_normal(60), 43, first, end] for first, end in BOUNDS])


def test_nothing_is_left_to_divide_where_indices_are_taken_together() -> None:
    u = parsed(
        SPREAD.replace("[first]", "[0]")
        .replace("[end]", "[m]")
        .format(body=QUOTIENTS.format(divisor=2, offset=1, remainder="mod"))
    )
    text = lower(u, STRICT)
    stores = [len(re.findall(r"store double", loop)) for loop in re.split(r"^test\d+", text, flags=re.M)]
    assert 2 in stores and max(stores) == 2
    twice = next(loop for loop, count in zip(re.split(r"^test\d+", text, flags=re.M), stores) if count == 2)
    assert "div" not in twice and "rem" not in twice


@pytest.mark.parametrize("divisor", [2, 3, 4])
@pytest.mark.parametrize("first", [0, 1, 5])
@pytest.mark.parametrize("offset", [0, 1, 7])
def test_one_index_of_each_round_where_a_partition_steps_by_the_number(divisor: int, first: int, offset: int) -> None:
    text = SPREAD.replace("[first]", f"[{first}]").replace("< [end]", f"< [end] step [{divisor}] width [1]")
    u = parsed(text.format(body=QUOTIENTS.format(divisor=divisor, offset=offset, remainder="mod")))
    assert found(u) == divisor
    assert "sdiv i32" not in lower(u, STRICT)
    agree_on(u, [[RNG.standard_normal(60), 43, 0, end] for end in (0, 1, first, first + 1, first + divisor, 42, 43)])


def test_a_step_by_another_number_or_from_anywhere_is_taken_index_by_index() -> None:
    body = QUOTIENTS.format(divisor=2, offset=1, remainder="mod")
    for first, step in (("0", 4), ("first", 2)):
        text = SPREAD.replace("[first]", f"[{first}]").replace("< [end]", f"< [end] step [{step}] width [1]")
        assert found(parsed(text.format(body=body))) is None


@pytest.mark.parametrize(
    "body",
    [
        "int k = div i, 2\n            double y = tod k\n            yield y",  # no index
        # may be negative
        "int h = sub! i, 1\n            int k = div h, 2\n            double y = load a[k]\n            yield y",
        "int k = div i, 2\n            int l = div i, 3\n            int s = add! k, l\n"
        "            double y = load a[s]\n            yield y",
        "int k = div i, n\n            double y = load a[k]\n            yield y",
        "int k = div i, 2\n            bool c = lt k, n\n            check c : it is in range\n"
        "            double y = load a[k]\n            yield y",
    ],
)
def test_others_are_taken_one_by_one(body: str) -> None:
    u = parsed(SPREAD.format(body=body))
    assert found(u) is None
    agree_on(u, [[RNG.standard_normal(60), 43, first, end] for first, end in BOUNDS if first > 0])


def test_rows_of_a_coarser_grid() -> None:
    u = parsed(
        """
        function f(int n, int m, double[n,m] a, int h, int v)
            int hh = mul! 2, h
            int vv = mul! 2, v
            double[hh,vv] r = with [hh,vv] disjoint complete
                genarray double default 0.0
                part [0,0] <= [i,j] < [hh,vv]
                    int p = div i, 2
                    int q = div j, 2
                    int one = add! j, 1
                    int s = div one, 2
                    double x = load a[p,q]
                    double y = load a[p,s]
                    double z = add x, y
                    yield z
            return hh, vv, r
        """
    )
    agree_on(
        u,
        [
            [RNG.standard_normal((n, m)).astype("f8"), n - 1, m - 1]
            for n, m in ((1, 1), (1, 5), (2, 2), (4, 3), (5, 40))
        ],
    )


def test_a_condition_on_the_remainder_is_decided_where_indices_are_taken_together() -> None:
    """Every second element is one of the array, the others are the mean of two."""
    u = parsed(
        SPREAD.format(
            body="""int k = div i, 2
            int t = mod i, 2
            bool even = eq t, 0
            int l = add! k, 1
            double v = if even
                double x = load a[k]
                give x
            else
                double y = load a[k]
                double z = load a[l]
                double w = add y, z
                double h = mul w, 0.5
                give h
            yield v"""
        )
    )
    assert found(u) == 2
    agree_on(u, [[RNG.standard_normal(60), 43, first, end] for first, end in BOUNDS])

"""Cells of one colour, on printed graphs: only those that change are computed, and nothing else changes."""

from __future__ import annotations

import re

import numpy as np
import pytest

from sacpy.jit.ir.graph import Unit
from sacpy.jit.passes import dead_code, optimise, parity_partitions
from sacpy.jit.passes.parity_partitions import run
from tests.jit.graph_text import unit as parsed
from tests.jit.native_tools import agree_on
from tests.jit.pass_tools import after, assert_keeps_meaning, outcome

RNG = np.random.default_rng(11)

CHESS = """
function f(int n, int m, double[n,m] u)
    int h = sub n, 1
    int v = sub m, 1
    double[n,m] r = with [n,m]
        {operator}
        part [1,1] <= [i,j] < [h,v]
            int s = add i, j
            int away = add s, {offset}
            int t = {remainder} away, 2
            bool c = {compare} t, {rest}
            double x = if c
                {first}
            else
                {second}
            yield x
        {copy}
    return n, m, r
"""
NEW = """int b = sub j, 1
                double y = load u[i,b]
                double z = mul y, 2.0
                give z"""
OLD = """double w = load u[i,j]
                give w"""
COPY = """part [0,0] <= [k,l] < [n,m]
            double o = load u[k,l]
            yield o"""


def chess(
    offset: int = 0,
    remainder: str = "mod",
    compare: str = "eq",
    rest: int = 0,
    swapped: bool = False,
    copy: bool = False,
) -> str:
    first, second = (OLD, NEW) if swapped else (NEW, OLD)
    operator = "genarray double default 0.0" if copy else "modarray u"
    return CHESS.format(
        offset=offset,
        remainder=remainder,
        compare=compare,
        rest=rest,
        first=first,
        second=second,
        operator=operator,
        copy=COPY if copy else "",
    )


def lowers(text: str) -> list[str]:
    """The lower bounds of the partitions that step."""
    return re.findall(r"part (\[\d+,\d+\]) <= \S+ < \[h,v\] step \[2,2\] width \[1,1\]", text)


def same(u: Unit) -> None:
    for shape in ((0, 0), (1, 1), (2, 3), (3, 3), (4, 3), (3, 4), (6, 7)):
        args = [RNG.standard_normal(shape)]
        assert outcome(run(u), args) == outcome(u, args)
    agree_on(
        optimise(u, host=True), [[RNG.standard_normal(shape)] for shape in ((0, 0), (1, 1), (3, 3), (4, 5), (9, 40))]
    )


@pytest.mark.parametrize("remainder", ["mod", "aplmod"])
@pytest.mark.parametrize(
    ("compare", "rest", "swapped"),
    [("eq", 0, False), ("eq", 1, False), ("neq", 0, False), ("neq", 1, False), ("eq", 0, True), ("neq", 1, True)],
)
@pytest.mark.parametrize("offset", [0, -1, -2])
def test_partitions_step_over_the_cells_that_change(
    remainder: str, compare: str, rest: int, swapped: bool, offset: int
) -> None:
    text = chess(offset, remainder, compare, rest, swapped)
    changing = (rest + (compare == "neq") + swapped + offset) % 2
    assert lowers(after(run, text)) == (["[1,2]", "[2,1]"] if changing else ["[1,1]", "[2,2]"])
    same(parsed(text))


@pytest.mark.parametrize(("remainder", "rest", "steps"), [("mod", 1, False), ("mod", 0, True), ("aplmod", 1, True)])
def test_the_remainder_of_what_may_be_negative_is_minus_one(remainder: str, rest: int, steps: bool) -> None:
    text = chess(-5, remainder, "eq", rest)
    assert bool(lowers(after(run, text))) is steps
    same(parsed(text))


def test_a_copy_of_what_stays_becomes_a_modarray() -> None:
    text = chess(copy=True)
    assert "modarray u" in after(lambda u: dead_code.run(optimise(u, host=True)), text)
    assert "modarray" not in after(optimise, text)
    same(parsed(text))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("double w = load u[i,j]", "double w = load u[j,i]"),  # another cell
        # where nothing changes, too
        ("bool c =", "bool low = le n, 5\n            check low : few rows\n            bool c ="),
        ("aplmod away, 2", "aplmod away, 3"),
        ("add i, j", "mul i, j"),
        ("[1,1] <=", "[n,1] <="),  # not known where it begins
    ],
)
def test_others_stay(old: str, new: str) -> None:
    assert "step" not in after(run, chess(remainder="aplmod").replace(old, new))


ROUNDS = """
function f(int n, double[n] u, int first, int end, int k)
    int h = sub n, 1
    int low = max first, 1
    int high = min end, h
    int k1 = min k, 9
    int k2 = max k1, {least}
    double[n] r = for j from {lower} to {upper} step 1 with double[n] a := u
        int s = add k2, j
        int t = {remainder} s, 2
        bool c = eq t, {rest}
        double[n] b = if c
            int p = sub j, 1
            double y = load a[p]
            double z = add y, 1.5
            double[n] d = update a[j] with z
            give d
        else
            give a
        next b
    return n, r
"""


@pytest.mark.parametrize(
    ("remainder", "rest", "steps"), [("mod", 0, True), ("mod", 1, False), ("aplmod", 0, True), ("aplmod", 1, True)]
)
def test_loops_take_only_the_rounds_that_do_something(remainder: str, rest: int, steps: bool) -> None:
    text = ROUNDS.format(least=-9, lower="low", upper="high", remainder=remainder, rest=rest)
    u = parsed(text)
    assert ("step 2" in after(run, text)) is steps
    many = [
        [RNG.standard_normal(9), first, end, k]
        for first in (0, 1, 4, 9, 2**31 - 1)
        for end in (0, 1, 4, 9, -(2**31))
        for k in (0, 1, -7, 2**31 - 1, -(2**31))
    ]
    for args in many:
        assert outcome(run(u), args) == outcome(u, args)
    agree_on(optimise(u, host=True), many)


def test_a_loop_without_rounds_gets_none() -> None:
    """Its lower bound plus one may wrap."""
    text = ROUNDS.format(least=0, lower="first", upper="high", remainder="aplmod", rest=0)
    u = parsed(text)
    args = [RNG.standard_normal(9), 2**31 - 1, 3, 0]
    assert "step 2" in after(run, text)
    assert outcome(run(u), args) == outcome(u, args) is not None


def test_nothing_without_remainders() -> None:
    u = parsed(chess().replace("mod away, 2", "div away, 2"))
    assert run(u) is u


def test_random_units_keep_their_meaning() -> None:
    assert assert_keeps_meaning(parity_partitions.run, range(40)) > 40


BORDERED = """
function f(int n, double[n,n] u, double[n,n] o)
    int h = sub n, 1
    int one = min 1, n
    int last = max h, one
    double[n,n] r = with [n,n] disjoint complete
        genarray double default 0.0
        part [0,0] <= [a,b] < [one,n]
            double top = load {border}[0,b]
            yield top
        part [last,0] <= [a2,b2] < [n,n]
            double bottom = load u[a2,b2]
            yield bottom
        part [one,0] <= [a3,b3] < [last,one]
            double left = load u[a3,0]
            yield left
        part [one,last] <= [a4,b4] < [last,n]
            double right = load u[a4,b4]
            yield right
        part [one,one] <= [i,j] < [last,last]
            int s = add i, j
            int t = mod s, 2
            bool c = eq t, 0
            double x = if c
                int b5 = sub j, 1
                double y = load u[i,b5]
                give y
            else
                double w = load u[i,j]
                give w
            yield x
    return n, r
"""


def test_what_surrounds_the_board_is_a_copy_as_well() -> None:
    text = after(run, BORDERED.format(border="u"))
    assert "modarray u" in text and re.findall(r"part (\S+) <= \S+ < (\S+) step", text) == [
        ("[1,1]", "[last,last]"),
        ("[2,2]", "[last,last]"),
    ]
    u = parsed(BORDERED.format(border="u"))
    for n in (0, 1, 2, 3, 4, 7, 8):
        args = [RNG.standard_normal((n, n)), RNG.standard_normal((n, n))]
        assert outcome(run(u), args) == outcome(u, args)
    agree_on(
        optimise(u, host=True),
        [[RNG.standard_normal((n, n)), RNG.standard_normal((n, n))] for n in (0, 1, 2, 3, 9, 40)],
    )


def test_a_border_from_elsewhere_stays() -> None:
    text = after(run, BORDERED.format(border="o"))
    assert "load o[0,b]" in text and re.findall(r"part (\S+) <= \S+ < (\S+) step", text) == [
        ("[1,1]", "[last,last]"),
        ("[2,2]", "[last,last]"),
    ]
    u = parsed(BORDERED.format(border="o"))
    for n in (0, 1, 2, 3, 4, 7):
        args = [RNG.standard_normal((n, n)), RNG.standard_normal((n, n))]
        assert outcome(run(u), args) == outcome(u, args)

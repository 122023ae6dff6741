"""Which with-loops may write into the memory of an array that they read: what the bodies read must not have changed."""

from __future__ import annotations

import pytest

from sacpy.jit.analysis.depends import ALWAYS, Conditions, may_share
from sacpy.jit.analysis.ints import Ints
from sacpy.jit.ir.graph import Function, Let, WithLoop
from tests.jit.graph_text import unit

TEXT = """
function f(int n, int k, int l, double[n,n] u)
    int m = add! n, -1
    int next = add! k, 1
    double[n,n] w = with [n,n] {disjoint}
        modarray u
        part {part}
            int up = add! i, -1
            int upper = add! i, -2
            int down = add! i, 1
            int left = add! j, -1
            int other = add! j, -2
            int right = add! j, 1
            double x = load u[{index}]
            yield x
        {more}
    return n, n, w
"""
INNER = "[1,1] <= [i,j] < [m,m]"
RED = "[1,1] <= [i,j] < [m,m] step [2,2] width [1,1]"
REST = "part [2,2] <= [i.1,j.1] < [m,m] step [2,2] width [1,1]\n            yield 0.0"
WIDE = "[1,1] <= [i,j] < [m,m] step [5,5] width [2,2]"


def shared(function: Function) -> Conditions | None:
    """What must hold so that the outer with-loop of a function takes the memory of `u`."""
    w = next(s.rhs for s in function.body.statements if isinstance(s, Let) and isinstance(s.rhs, WithLoop))
    u = next(p for p in function.params if p.name == "u")
    return may_share(w, u, Ints(function))


def verdict(part: str, index: str, more: str = "", disjoint: str = "disjoint") -> bool:
    function = unit(TEXT.format(part=part, index=index, more=more, disjoint=disjoint)).root
    return shared(function) == ALWAYS


@pytest.mark.parametrize(
    ("part", "index"),
    [
        (INNER, "i,j"),
        (INNER, "0,j"),  # above the box
        (INNER, "i,m"),  # to the right of it
        (RED, "up,j"),
        (RED, "i,right"),
        (RED, "down,other"),
        (WIDE, "upper,j"),
        ("[next,next] <= [i,j] < [n,n]", "k,j"),  # the row of the pivot
        ("[next,next] <= [i,j] < [n,n]", "i,k"),
        ("[next,k] <= [i,j] < [n,next]", "i,k"),  # the cell itself, as there is one column
    ],
)
def test_what_does_not_change_may_be_read(part: str, index: str) -> None:
    assert verdict(part, index)


@pytest.mark.parametrize(
    ("part", "index"),
    [
        (INNER, "up,j"),
        (INNER, "j,i"),
        (INNER, "k,j"),
        (RED, "upper,j"),
        (RED, "i,other"),
        (RED, "k,j"),
        (WIDE, "down,j"),  # of the first row of a pair, the second
        (WIDE, "up,j"),  # of the second, the first
        ("[k,k] <= [i,j] < [n,n]", "k,j"),
        ("[next,k] <= [i,j] < [n,n]", "i,k"),
        ("[1,1] <= [i,j] < [m,m] step [k,k] width [1,1]", "up,j"),
    ],
)
def test_what_changes_may_not(part: str, index: str) -> None:
    assert not verdict(part, index)


def test_every_partition_counts() -> None:
    assert verdict(RED, "up,j", REST)
    assert not verdict(RED, "up,left", REST)  # those are the cells of the other partition
    assert not verdict(RED, "i,j", REST, disjoint="")  # the other may have set them


BLOCKS = """
function f(int n, int h, int b, int k0, double[n,n] u)
    int end = add! h, h
    int half = mul! h, 2
    int next = add! k0, b
    int last = min end, n
    double[n,n] w = with [n,n] disjoint
        modarray u
        part {part}
            int above = sub! i, h
            int twice = mul! i, 2
            double s = with
                fold from 0.0 by (double acc), (double val)
                    double t = add acc, val
                    give t
                part [0] <= [k] < [b]
                    int column = add! k0, k
                    int triangle = sub! i, k
                    int pair = mul! k, 2
                    int odd = add! pair, 1
                    double x = load u[{index}]
                    yield x
            yield s
    return n, n, w
"""


@pytest.mark.parametrize(
    ("part", "index", "expected"),
    [
        ("[h,0] <= [i,j] < [end,n]", "above,j", True),  # the rows of the half before
        ("[h,0] <= [i,j] < [half,n]", "above,j", True),
        ("[h,0] <= [i,j] < [last,n]", "above,j", True),
        ("[h,0] <= [i,j] < [n,n]", "above,j", False),
        ("[next,next] <= [i,j] < [n,n]", "i,column", True),  # what the panel before a block says
        ("[next,next] <= [i,j] < [n,n]", "column,j", True),
        ("[k0,k0] <= [i,j] < [n,n]", "i,column", False),
        ("[0,b] <= [i,j] < [n,n]", "i,k", True),
        ("[0,0] <= [i,j] < [n,n] step [1,2] width [1,1]", "i,odd", True),
        ("[0,0] <= [i,j] < [n,n] step [1,2] width [1,1]", "i,pair", False),
        ("[0,1] <= [i,j] < [n,n] step [1,4] width [1,2]", "i,pair", False),
        ("[0,0] <= [i,j] < [b,n]", "triangle,j", False),
    ],
)
def test_what_loops_inside_read_is_bounded_by_their_bounds(part: str, index: str, expected: bool) -> None:
    function = unit(BLOCKS.format(part=part, index=index)).root
    assert (shared(function) == ALWAYS) == expected


WRAPPING = """
function f(int n, int m, double[n,m] u)
    int first = min 2, m
    int last = sub! m, 1
    int end = max last, first
    int minus = neg! end
    int away = aplmod minus, 2
    int begin = add! end, away
    int start = min begin, m
    double[n,m] w = with [n,m] disjoint
        modarray u
        part {part}
            int up = add! i, -1
            bool under = lt i, 1
            int other = add! up, n
            int above = select under, other, up
            int right = add! j, 1
            int back = sub! right, m
            int next = add! right, 1
            double x = load u[{index}]
            yield x
        {more}
    return n, m, w
"""
LAST = "[0,start] <= [i,j] < [n,m] step [2,16] width [1,1]"  # the last column, if it is an even one
BETWEEN = "part [0,first] <= [i.1,j.1] < [n,end] step [2,2] width [1,1]\n            yield 0.0"
ODD = "part [1,1] <= [i.1,j.1] < [n,m] step [2,2] width [1,1]\n            yield 0.0"


@pytest.mark.parametrize(
    ("part", "index", "more", "needed"),
    [
        ("[0,0] <= [i,j] < [n,m] step [2,2] width [1,1]", "above,j", "", {("n", 2)}),
        ("[0,0] <= [i,j] < [n,m] step [2,2] width [1,1]", "above,j", ODD, {("n", 2)}),
        ("[0,0] <= [i,j] < [n,m] step [2,2] width [1,1]", "above,back", "", {("n", 2)}),  # one axis is enough
        ("[0,0] <= [i,j] < [n,m] step [2,2] width [1,1]", "above,right", "", set()),
        ("[0,1] <= [i,j] < [n,m] step [3,3] width [1,1]", "i,back", "", set()),  # the first column at most
        ("[0,1] <= [i,j] < [n,m] step [3,3] width [2,2]", "i,back", "", set()),
        ("[0,0] <= [i,j] < [n,m] step [3,3] width [1,1]", "i,back", "", {("m", 3)}),
        ("[0,0] <= [i,j] < [n,m] step [3,3] width [2,2]", "i,back", "", None),
        ("[0,0] <= [i,j] < [n,m] step [2,2] width [1,1]", "i,next", "", None),
        (LAST, "i,right", BETWEEN, set()),
        (LAST, "i,back", BETWEEN, {("m", 2)}),
        (LAST, "i,back", ODD, {("m", 2)}),
        (LAST, "i,0", BETWEEN, {("first", 0), ("start", 0)}),  # where these are above 0
    ],
)
def test_where_indices_wrap_around_extents_decide(
    part: str, index: str, more: str, needed: set[tuple[str, int]] | None
) -> None:
    function = unit(WRAPPING.format(part=part, index=index, more=more)).root
    found = shared(function)
    assert (None if found is None else {(t[0].terms[0][0].name, t[0].modulus) for t in found}) == needed

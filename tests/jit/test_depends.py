"""Which with-loops may write into the memory of an array that they read: what the bodies read must not have changed."""

from __future__ import annotations

import pytest

from sacpy.jit.analysis.depends import ALWAYS, Conditions, may_share
from sacpy.jit.analysis.ints import Ints
from sacpy.jit.ir.graph import For, Function, Let, WithLoop
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


NUMBERS = """
function f(int k, double[8,6] u)
    double[8,6] w = with [{frame}] disjoint
        modarray u
        part {part}
            double[4,12] r = reshape u to [4,12]
            double[6] row = view u[{row}]
            int t = add! {i}, 1
            double x = load {load}
            {give}
    return w
"""
FULL = "yield x"


@pytest.mark.parametrize(
    ("part", "load", "expected"),
    [
        ("[0,0] <= [i,j] < [8,6] step [2,1] width [1,1]", "r[2,7]", True),  # an odd row, as its second half is
        ("[0,0] <= [i,j] < [8,6] step [2,1] width [1,1]", "r[2,5]", False),
        ("[0,0] <= [i,j] < [8,6] step [1,2] width [1,1]", "r[3,3]", True),  # an odd column
        ("[0,0] <= [i,j] < [8,6] step [1,2] width [1,1]", "r[3,4]", False),
        ("[0,0] <= [i,j] < [4,6]", "r[2,j]", True),  # behind the first half
        ("[0,0] <= [i,j] < [5,6]", "r[2,j]", False),
        ("[0,0] <= [i,j] < [4,6]", "row[j]", True),
        ("[0,0] <= [i,j] < [6,6]", "row[j]", False),
        ("[3,0] <= [i,j] < [8,6]", "row[0]", False),
    ],
)
def test_parts_and_other_extents_are_the_same_memory(part: str, load: str, expected: bool) -> None:
    function = unit(NUMBERS.format(frame="8,6", part=part, load=load, give=FULL, row="5", i="i")).root
    assert (shared(function) == ALWAYS) == expected


CELLS = """
function f(int n, int m, int d, double[n,m] u)
    int before = sub! d, 1
    int next = add! d, 1
    double[n,m] w = with [n] disjoint
        modarray u
        part {part}
            int up = sub! i, 1
            double[m] row = view u[{row}]
            double[m] v = with [m] disjoint complete
                genarray double default 0.0
                part [0] <= [j] < [m]
                    double x = load {load}
                    yield x
            yield {result}
    return n, m, w
"""


@pytest.mark.parametrize(
    ("part", "row", "load", "result", "expected"),
    [
        ("[d] <= [i] < [next]", "before", "row[j]", "v", True),
        ("[d] <= [i] < [next]", "up", "u[up,j]", "v", True),
        ("[d] <= [i] < [next]", "up", "u[i,j]", "v", False),  # its own cell, which is built bit by bit
        ("[d] <= [i] < [n]", "before", "u[before,j]", "v", True),
        ("[d] <= [i] < [n]", "up", "u[0,j]", "v", False),
        ("[1] <= [i] < [n]", "0", "u[0,j]", "row", True),
        ("[1] <= [i] < [n]", "up", "u[0,j]", "row", False),
        ("[1] <= [i] < [n] step [2] width [1]", "up", "row[j]", "v", True),
    ],
)
def test_cells_that_are_arrays_read_others_only(part: str, row: str, load: str, result: str, expected: bool) -> None:
    function = unit(CELLS.format(part=part, row=row, load=load, result=result)).root
    assert (shared(function) == ALWAYS) == expected


AROUND = """
function f(int n, int k0, int b, double[n,n] u)
    int end = add! k0, b
    int last = min end, n
    double[n,n] r = for k from k0 to last step 1 with double[n,n] v := u
        int next = add! k, 1
        int far = max next, last
        double[n,n] w = with [n,n] disjoint
            modarray v
            part {part}
                double x = load v[{index}]
                yield x
        next w
    return n, r
"""


@pytest.mark.parametrize(
    ("part", "index", "expected"),
    [
        ("[next,last] <= [i,j] < [last,n]", "i,k", True),  # k ends below `last`
        ("[far,0] <= [i,j] < [n,n]", "k,j", True),
        ("[0,0] <= [i,j] < [k,n]", "k,j", True),
        ("[0,0] <= [i,j] < [last,n]", "k,j", False),
        ("[0,0] <= [i,j] < [k0,n]", "k,j", True),
        ("[0,end] <= [i,j] < [n,n]", "i,k", True),
    ],
)
def test_what_loops_around_say_of_their_indices_counts(part: str, index: str, expected: bool) -> None:
    function = unit(AROUND.format(part=part, index=index)).root
    (loop,) = [s.rhs for s in function.body.statements if isinstance(s, Let) and isinstance(s.rhs, For)]
    (w,) = [s.rhs for s in loop.body.statements if isinstance(s, Let) and isinstance(s.rhs, WithLoop)]
    assert (may_share(w, loop.params[0], Ints(function)) == ALWAYS) == expected

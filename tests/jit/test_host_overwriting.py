"""Which with-loops may write into the memory of an array that they read: what the bodies read must not have changed."""

from __future__ import annotations

import pytest

from sacpy.jit.graph import Let, WithLoop
from sacpy.jit.host.analysis import Facts
from sacpy.jit.host.overwriting import may_overwrite
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


def verdict(part: str, index: str, more: str = "", disjoint: str = "disjoint") -> bool:
    function = unit(TEXT.format(part=part, index=index, more=more, disjoint=disjoint)).root
    (w,) = [s.rhs for s in function.body.statements if isinstance(s, Let) and isinstance(s.rhs, WithLoop)]
    return may_overwrite(w, "u", 2, Facts.of(function).made)


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

"""Disjoint partitions and flattening, on printed graphs."""

from __future__ import annotations

import pytest

from sacpy.jit.passes import disjoint, flatten
from tests.jit.pass_tools import after, check, unchanged

OVERLAP = """
function f(int n, int k, double[n] v)
    int m = sub n, 1
    double[n] a = with [n]
        genarray double default 0.0
        part [1] <= [i] < [m]{grid}
            yield 1.0
        part [0] <= [j] < [n]
            double y = load v[j]
            yield y
    return n, a
"""


def test_the_later_partition_loses_what_the_earlier_covers() -> None:
    check(
        disjoint.run,
        OVERLAP.format(grid=""),
        """
        function f(int n, int k, double[n] v)
            int m = add! n, -1
            int cut = max m, 1
            int cut.1 = min n, 1
            int cut.4 = min n, cut
            double[n] a = with [n] disjoint complete
                genarray double default 0.0
                part [1] <= [i] < [m]
                    yield 1.0
                part [0] <= [j] < [cut.1]
                    double y = load v[j]
                    yield y
                part [cut] <= [j.1] < [n]
                    double y.1 = load v[j.1]
                    yield y.1
            return n, a
        """,
    )


def test_a_partition_with_a_step_is_left_to_overlap() -> None:
    text = after(
        disjoint.run,
        OVERLAP.format(grid=" step [2] width [1]").replace("yield y", "double z = add y, 1.0\n            yield z"),
    )
    assert "with [n] complete" in text


def test_what_copies_an_array_behind_partitions_with_a_step_makes_a_modarray() -> None:
    check(
        disjoint.run,
        OVERLAP.format(grid=" step [2] width [1]"),
        """
        function f(int n, int k, double[n] v)
            int m = add! n, -1
            double[n] a = with [n] disjoint
                modarray v
                part [1] <= [i] < [m] step [2] width [1]
                    yield 1.0
            return n, a
        """,
    )


CHEQUERED = """
function f(int n, double[n,n] v)
    double[n,n] a = with [n,n]
        modarray v
        part {first} <= [i,j] < {upper} step {step} width {width}
            yield 1.0
        part {second} <= [k,l] < {upper} step {step} width {width}
            yield 2.0
    return n, n, a
"""


@pytest.mark.parametrize(
    ("first", "second", "upper", "step", "width", "words"),
    [
        ("[1,1]", "[2,2]", "[n,n]", "[2,2]", "[1,1]", " disjoint"),
        ("[1,2]", "[2,1]", "[n,n]", "[2,2]", "[1,1]", " disjoint"),
        ("[1,1]", "[3,3]", "[n,n]", "[2,2]", "[1,1]", ""),
        ("[0,0]", "[2,1]", "[n,n]", "[4,4]", "[2,2]", " disjoint"),
        ("[0,0]", "[3,1]", "[n,n]", "[4,4]", "[2,2]", ""),
        ("[0,0]", "[1,0]", "[n,n]", "[2,1]", "[1,1]", " disjoint complete"),
        ("[0,0]", "[1,0]", "[n,n]", "[3,1]", "[2,1]", " complete"),
        ("[0,0]", "[2,0]", "[n,n]", "[3,1]", "[2,1]", " complete"),
        ("[0,0]", "[1,1]", "[n,n]", "[2,1]", "[1,1]", " disjoint"),
    ],
)
def test_partitions_that_take_turns_are_disjoint_and_may_be_complete(
    first: str, second: str, upper: str, step: str, width: str, words: str
) -> None:
    text = after(disjoint.run, CHEQUERED.format(first=first, second=second, upper=upper, step=step, width=width))
    assert f"with [n,n]{words}\n" in text


def test_partitions_that_lie_side_by_side_are_disjoint_as_they_are() -> None:
    text = after(
        disjoint.run,
        """
        function f(int n, int k)
            bool ok = le 0, k
            check ok : low
            bool high = le k, n
            check high : high
            double[n,n] a = with [n,n]
                genarray double default 0.0
                part [0,0] <= [i,j] < [k,n]
                    yield 1.0
                part [k,0] <= [p,q] < [n,n]
                    yield 2.0
            return n, n, a
        """,
    )
    assert "with [n,n] disjoint complete\n" in text
    assert text.count("part") == 2


def test_folds_overlap_as_they_like() -> None:
    unchanged(
        disjoint.run,
        """
        function f(int n)
            int s = with
                fold from 0 by (int acc), (int val)
                    int r = add acc, val
                    give r
                part [0] <= [i] < [n]
                    yield i
                part [0] <= [j] < [n]
                    yield j
            return s
        """,
    )


NESTED = """
function f(int n, int m, double[n] u)
    double[n,m] a = with [n]
        genarray double cell [m] default 0.0
        part [0] <= [i] < [n]
            double x = {work} i
            double[m] row = with [m]
                genarray double default 1.0
                part [{lower}] <= [j] < [m]
                    double z = tod j
                    double y = add x, z
                    yield y
            yield row
    return n, m, a
"""


def test_cells_that_are_with_loops_become_axes() -> None:
    check(
        flatten.run,
        NESTED.format(work="tod", lower="0"),
        """
        function f(int n, int m, double[n] u)
            double[n,m] a = with [n,m]
                genarray double default 0.0
                part [0,0] <= [i,j] < [n,m]
                    double x = tod i
                    double z = tod j
                    double y = add x, z
                    yield y
            return n, m, a
        """,
    )


def test_a_cell_that_is_not_covered_or_that_takes_work_stays_a_cell() -> None:
    unchanged(flatten.run, NESTED.format(work="tod", lower="1"))
    unchanged(
        flatten.run,
        NESTED.format(work="tod", lower="0").replace(
            "double x = tod i", "double w = tod i\n            double x = sin w"
        ),
    )


def test_bounds_of_the_outer_loop_come_first() -> None:
    text = after(
        flatten.run,
        NESTED.format(work="tod", lower="0").replace(
            "part [0] <= [i] < [n]", "part [2] <= [i] < [n] step [3] width [2]"
        ),
    )
    assert "part [2,0] <= [i,j] < [n,m] step [3,1] width [2,1]" in text


SIDE_BY_SIDE = """
function f(int n, int m)
    int[n,m] a = with [n,m] disjoint
        genarray int default 0
        part [0,{middle}] <= [i,j] < [n,m]
            yield 1
        part [0,0] <= [k,l] < [{end},2]
            yield 2
    return n, m, a
"""


def test_boxes_side_by_side_cover_the_frame() -> None:
    assert "disjoint complete" in after(disjoint.run, SIDE_BY_SIDE.format(middle="2", end="n"))


def test_boxes_with_a_gap_do_not() -> None:
    assert "complete" not in after(disjoint.run, SIDE_BY_SIDE.format(middle="3", end="n"))
    assert "complete" not in after(disjoint.run, SIDE_BY_SIDE.format(middle="2", end="1"))

"""Partitions that cover the same rows, or rows that lie between one another: one loop around them all.

In: partitions of one with-loop that are disjoint, and where their values go. Out: nests in which an axis over which
several run from the same lower to the same upper bound has one loop. An interior and its borders are so
computed row by row, each row by one thread, instead of one after the other through the whole array.

Partitions that step along an axis by the same number, up to the same bound, take turns: the even rows and the odd ones.
Along their last axis they are meshed: an index of each in a round, so that all of a cache line is written at once.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.analysis.costs import cost
from sacpy.jit.analysis.straight import is_straight
from sacpy.jit.ir.graph import Const, Partition, integer
from sacpy.jit.schedule.loops import Context, Goal, IntoArray, Loop, Part, Rows, has_checks
from sacpy.jit.schedule.nests import nest_of, tiles_on

# the cost of a cell from which on a partition of a matrix has loops of its own: what a loop keeps in registers from row
# to row is pushed out by the others. With more axes rows are short, and it counts for more that what cells at both ends
# read is in the cache (relaxation of 160 x 160 x 160 by 27 points: 0.9 of the time)
DEAR = 64.0
SHARED = "these partitions run over the same rows"
TURNS = "the rows of these partitions lie between one another"
MESHED = "the indices of these partitions lie between one another: all of a cache line at once"


def grouped(partitions: Sequence[Partition], goals: Sequence[Goal], axis: int = 0) -> list[list[Partition]]:
    """The partitions, those together that run over an axis, which is not their last, in the same range without gaps, or
    take turns there, by their first rows."""
    found: dict[object, list[Partition]] = {}
    for number, p in enumerate(partitions):
        shared: object = number
        if axis < p.rank - 1 and (p.step is None or _goes_by_one(p, axis)) and not _is_alone(p, goals, axis):
            shared = (p.lower[axis], p.upper[axis], p.step is None)
        elif axis < p.rank - 1 and p.step is not None and takes_turns(p, axis):
            shared = (p.step[axis], p.upper[axis], "turns")
        found.setdefault(shared, []).append(p)
    return [
        turn
        for group in found.values()
        for turn in (_turns(group, axis) if len(group) > 1 and takes_turns(group[0], axis) else [group])
    ]


def _is_alone(p: Partition, goals: Sequence[Goal], axis: int) -> bool:
    """Whether a partition has an axis to itself."""
    return (p.rank == 2 and cost(p.body) >= DEAR) or tiles_on(p, goals, axis)


def _turns(group: Sequence[Partition], axis: int) -> list[list[Partition]]:
    """Those that take turns, by their first rows. Where these lie further apart than one turn, a row would have two
    threads."""
    turns: list[list[Partition]] = []
    for p in sorted(group, key=lambda p: _first(p, axis)):
        assert p.step is not None
        step = p.step[axis]
        assert isinstance(step, Const)
        if turns and _first(p, axis) - _first(turns[-1][0], axis) < step.value:
            turns[-1].append(p)
        else:
            turns.append([p])
    return turns


def takes_turns(p: Partition, axis: int) -> bool:
    """Whether a partition has single rows along an axis, a fixed number apart, from a fixed one."""
    if (
        p.step is None
        or not isinstance(p.step[axis], Const)
        or not isinstance(p.lower[axis], Const)
        or p.step[axis] == integer(1)
    ):
        return False
    return p.width is None or p.width[axis] == integer(1)


def _first(p: Partition, axis: int) -> int:
    """The first row of one that takes turns."""
    lower = p.lower[axis]
    assert isinstance(lower, Const)
    return int(lower.value)


def rows_of(group: Sequence[Partition], goals: tuple[Goal, ...], context: Context, axis: int = 0) -> Part:
    """The nests of partitions that share the loop over an axis, those of the axes before being somebody else's; of one
    alone, its nest."""
    first = group[0]
    if len(group) == 1:
        return nest_of(first, goals, context, first=axis)
    polls = axis == 0
    if axis == first.rank - 1:
        nests = tuple(nest_of(p, goals, context, first=axis) for p in group)
        return Rows(Loop(axis, "mesh", len(group), MESHED), tuple(group), nests, tuple(_first(p, axis) for p in group))
    if takes_turns(first, axis):
        loop = Loop(axis, "serial", 0, TURNS, polls=polls)
        parts: list[Part] = [nest_of(p, goals, context, first=axis + 1) for p in group]
        return Rows(loop, tuple(group), tuple(parts), tuple(_first(p, axis) for p in group))
    inside = axis + 1 == first.rank - 1
    inner_groups = _meshes(group, goals) if inside else grouped(group, goals, axis + 1)
    parts = [rows_of(inner, goals, context, axis + 1) for inner in inner_groups]
    return Rows(Loop(axis, "serial", 1, SHARED, polls=polls), tuple(group), tuple(parts))


def _goes_by_one(p: Partition, axis: int) -> bool:
    """Whether a partition has all rows of an axis, but steps along its last one."""
    assert p.step is not None
    return p.step[axis] == integer(1) and takes_turns(p, p.rank - 1)


def _meshes(group: Sequence[Partition], goals: Sequence[Goal]) -> list[list[Partition]]:
    """Partitions by their last axis: those together whose indices lie between one another, if cells are scalars that
    are computed without loops or checks."""
    found: dict[object, list[Partition]] = {}
    plain = all(isinstance(x, IntoArray) and not x.cells for x in goals)
    for number, p in enumerate(group):
        key: object = number
        if plain and takes_turns(p, p.rank - 1) and is_straight(p.body) and not has_checks(p.body):
            assert p.step is not None
            key = (p.step[-1], "mesh")
        found.setdefault(key, []).append(p)
    return [turn for some in found.values() for turn in (_turns(some, some[0].rank - 1) if len(some) > 1 else [some])]

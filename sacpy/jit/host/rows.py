"""Partitions that cover the same rows: one loop around them all.

In: partitions of one with-loop that are disjoint, and the sinks that take their values. Out: nests in which an axis over which several run from the same lower to the same upper bound has one loop. An interior and its borders are so computed row by row, each row by one thread, instead of one after the other through the whole array.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.graph import Atom, Partition
from sacpy.jit.host.functions import Lowering
from sacpy.jit.host.loops import count_loop
from sacpy.jit.host.nests import Nest
from sacpy.jit.host.sinks import Sink


def grouped(partitions: Sequence[Partition], axis: int = 0) -> list[list[Partition]]:
    """The partitions, those together that run over an axis, which is not their last, in the same range without gaps."""
    found: dict[object, list[Partition]] = {}
    for number, p in enumerate(partitions):
        shared: tuple[Atom, Atom] | int = number
        if axis < p.rank - 1 and p.step is None:
            shared = (p.lower[axis], p.upper[axis])
        found.setdefault(shared, []).append(p)
    return list(found.values())


def write_rows(lowering: Lowering, group: Sequence[Partition], sinks: Sequence[Sink], lower: str = "", upper: str = "", outer: tuple[str, ...] = ()) -> None:
    """The nests of partitions that share the axis after `outer`. `lower`, `upper`: the range of the first axis, where it is not theirs."""
    first, axis = group[0], len(outer)
    if len(group) == 1:
        Nest(lowering, first, sinks, lower, upper).axis(outer)
        return

    def body(i: str) -> None:
        if axis == 0:
            lowering.poll()
        for p in group:
            Nest(lowering, p, sinks).bind(axis, i)
        for inner in grouped(group, axis + 1):
            write_rows(lowering, inner, sinks, outer=(*outer, i))

    count_loop(lowering, (axis == 0 and lower) or lowering.wide(first.lower[axis]), (axis == 0 and upper) or lowering.wide(first.upper[axis]), "1", body)

"""Partitions that cover the same rows, or rows that lie between one another: one loop around them all.

In: partitions of one with-loop that are disjoint, and the sinks that take their values. Out: nests in which an axis
over which several run from the same lower to the same upper bound has one loop. An interior and its borders are so
computed row by row, each row by one thread, instead of one after the other through the whole array.

Partitions that step along an axis by the same number, up to the same bound, take turns: the even rows and the odd ones.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.analysis.costs import cost
from sacpy.jit.host.loops import count_loop
from sacpy.jit.host.nests import Nest, write_inner
from sacpy.jit.host.sinks import Sink
from sacpy.jit.host.writer import Writer
from sacpy.jit.ir.graph import Const, Partition, integer

# the cost of a cell from which on a partition has loops of its own: finding the row in the cache saves little of that,
# and what a loop keeps in registers from row to row is pushed out by the others
DEAR = 64.0


def grouped(partitions: Sequence[Partition], axis: int = 0) -> list[list[Partition]]:
    """The partitions, those together that run over an axis, which is not their last, in the same range without gaps, or
    take turns there, by their first rows."""
    found: dict[object, list[Partition]] = {}
    for number, p in enumerate(partitions):
        shared: object = number
        if cost(p.body) < DEAR and axis < p.rank - 1 and p.step is None:
            shared = (p.lower[axis], p.upper[axis])
        elif axis < p.rank - 1 and p.step is not None and takes_turns(p, axis):
            shared = (p.step[axis], p.upper[axis], "turns")
        found.setdefault(shared, []).append(p)
    return [
        turn
        for group in found.values()
        for turn in (_turns(group, axis) if len(group) > 1 and takes_turns(group[0], axis) else [group])
    ]


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


def write_rows(
    lowering: Writer,
    group: Sequence[Partition],
    sinks: Sequence[Sink],
    lower: str = "",
    upper: str = "",
    outer: tuple[str, ...] = (),
) -> None:
    """The nests of partitions that share the axis after `outer`. `lower`, `upper`: the range of the first axis, where
    it is not theirs."""
    first, axis = group[0], len(outer)
    if len(group) == 1 and outer:
        write_inner(lowering, first, sinks, outer)
        return
    begin, end = (
        (axis == 0 and lower) or lowering.wide(first.lower[axis]),
        (axis == 0 and upper) or lowering.wide(first.upper[axis]),
    )
    if first.step is not None:
        _write_turns(lowering, group, sinks, begin, end, outer)
        return

    def body(i: str) -> None:
        if axis == 0:
            lowering.poll()
        for p in group:
            Nest(lowering, p, sinks).bind(axis, i)
        for inner in grouped(group, axis + 1):
            write_rows(lowering, inner, sinks, outer=(*outer, i))

    count_loop(lowering, begin, end, "1", body)


def _write_turns(
    lowering: Writer, group: Sequence[Partition], sinks: Sequence[Sink], lower: str, upper: str, outer: tuple[str, ...]
) -> None:
    """A loop over the first partition's rows, each followed by those of the others. `upper` may lie before their common
    bound."""
    code, axis, first = lowering.code, len(outer), group[0]
    assert first.step is not None
    bound = lowering.wide(first.upper[axis])

    def body(i: str) -> None:
        if axis == 0:
            lowering.poll()
        for p in group:
            row = code.sum(i, str(_first(p, axis) - _first(first, axis)))
            on, done = code.label("row"), code.label("rows")
            code.branch(code.op(f"icmp slt i64 {row}, {bound}"), on, done)
            code.place(on)
            Nest(lowering, p, sinks).bind(axis, row)
            write_inner(lowering, p, sinks, (*outer, row))
            code.place(done)

    count_loop(lowering, lower, upper, lowering.wide(first.step[axis]), body)

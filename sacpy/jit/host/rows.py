"""The loop over an axis that several partitions share (`schedule/rows`): their nests inside."""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.host.loops import count_loop
from sacpy.jit.host.nests import bind_index, write_part
from sacpy.jit.host.sinks import Sink
from sacpy.jit.host.writer import Writer
from sacpy.jit.schedule.loops import Rows


def write_rows(
    lowering: Writer, rows: Rows, sinks: Sequence[Sink], lower: str, upper: str, outer: tuple[str, ...]
) -> None:
    """The loop over the axis after `outer`. `lower`, `upper`: the range of the first axis, where it is not theirs."""
    first, axis = rows.partitions[0], rows.loop.axis
    begin, end = (
        (axis == 0 and lower) or lowering.wide(first.lower[axis]),
        (axis == 0 and upper) or lowering.wide(first.upper[axis]),
    )
    if rows.turns:
        _write_turns(lowering, rows, sinks, begin, end, outer)
        return

    def body(i: str) -> None:
        if rows.loop.polls:
            lowering.poll()
        for p in rows.partitions:
            bind_index(lowering, p, axis, i)
        for part in rows.parts:
            write_part(lowering, part, sinks, outer=(*outer, i))

    count_loop(lowering, begin, end, "1", body)


def _write_turns(
    lowering: Writer, rows: Rows, sinks: Sequence[Sink], lower: str, upper: str, outer: tuple[str, ...]
) -> None:
    """A loop over the first partition's rows, each followed by those of the others. `upper` may lie before their common
    bound."""
    code, axis, first = lowering.code, rows.loop.axis, rows.partitions[0]
    assert first.step is not None
    bound = lowering.wide(first.upper[axis])

    def body(i: str) -> None:
        if rows.loop.polls:
            lowering.poll()
        for p, part, turn in zip(rows.partitions, rows.parts, rows.turns):
            row = code.sum(i, str(turn - rows.turns[0]))
            on, done = code.label("row"), code.label("rows")
            code.branch(code.op(f"icmp slt i64 {row}, {bound}"), on, done)
            code.place(on)
            bind_index(lowering, p, axis, row)
            write_part(lowering, part, sinks, outer=(*outer, row))
            code.place(done)

    count_loop(lowering, lower, upper, lowering.wide(first.step[axis]), body)

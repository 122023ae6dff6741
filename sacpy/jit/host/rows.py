"""The loop over an axis that several partitions share (`schedule/rows`): their nests inside."""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.host.folds import scalar_note
from sacpy.jit.host.last_axes import bind_quotients
from sacpy.jit.host.loops import count_loop
from sacpy.jit.host.nests import Nest, bind_index, write_part
from sacpy.jit.host.sinks import Sink
from sacpy.jit.host.writer import Writer
from sacpy.jit.schedule.loops import LoopNest, Rows


def write_rows(
    lowering: Writer, rows: Rows, sinks: Sequence[Sink], lower: str, upper: str, outer: tuple[str, ...]
) -> None:
    """The loop over the axis after `outer`. `lower`, `upper`: the range of the first axis, where it is not theirs."""
    if rows.loop.tag == "mesh":
        _write_mesh(lowering, rows, sinks, outer)
        return
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


def _write_mesh(low: Writer, rows: Rows, sinks: Sequence[Sink], outer: tuple[str, ...]) -> None:
    """The loop over the last axis: an index of each partition in a round, as long as all have one; then what is left of
    each."""
    code, axis = low.code, rows.loop.axis
    code.module.declare("llvm.smin", "declare i64 @llvm.smin.i64(i64, i64)")
    step = low.wide(rows.partitions[0].step[axis])  # type: ignore[index]
    together, uppers = "", []
    for p, first in zip(rows.partitions, rows.turns):
        uppers.append(low.wide(p.upper[axis]))
        count = code.op(f"sdiv i64 {code.sum(code.difference(uppers[-1], str(first)), str(int(step) - 1))}, {step}")
        together = code.op(f"call i64 @llvm.smin.i64(i64 {together}, i64 {count})") if together else count
    together = code.largest(together, "0")

    def round_(k: str) -> None:
        for part, first in zip(rows.parts, rows.turns):
            assert isinstance(part, LoopNest)
            nest, i = Nest(low, part, sinks), code.sum(code.product(k, step), str(first))
            nest.bind(axis, i)
            if part.residues is None:
                nest.body((*outer, i), part.body)
                continue
            bind_quotients(low, part.residues, code.sum(k, str(first // part.residues.divisor)), first % int(step))
            nest.body((*outer, i), part.residues.rest)

    count_loop(low, "0", together, "1", round_)
    for part, first, upper in zip(rows.parts, rows.turns, uppers):
        assert isinstance(part, LoopNest)
        nest = Nest(low, part, sinks)

        def single(i: str, nest: Nest = nest, part: LoopNest = part) -> None:
            nest.bind(axis, i)
            nest.body((*outer, i), part.body)

        begin = code.sum(code.product(together, step), str(first))
        count_loop(low, begin, upper, step, single, scalar_note(code.module))

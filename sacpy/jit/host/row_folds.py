"""Sums along rows, some rows at a time.

In: what the rows are (`schedule/row_folds`), and where their values go. Out: a loop over groups of rows, in which the
sums of a group run side by side as far as its shortest row goes, then each to its end; rows that are short, and those
that fill no group, one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from sacpy.jit.host.folds import lanes_note
from sacpy.jit.host.loops import count_loop
from sacpy.jit.host.memory import Scalar
from sacpy.jit.host.sinks import FoldSink, Sink
from sacpy.jit.host.writer import Writer
from sacpy.jit.schedule.row_folds import LANES, RowFolds

if TYPE_CHECKING:
    from sacpy.jit.ir.graph import Partition

LONG = 1024  # terms of a row from which on several are summed together: what they share no longer stays in the cache


def grouped_rows(
    low: Writer,
    folds: RowFolds,
    sinks: Sequence[Sink],
    size: int,
    outer: tuple[str, ...],
    lower: str,
    upper: str,
    one: Callable[[str], None],
) -> None:
    """The loop over rows in groups of `size`. `one` writes what is done for a single row."""
    code = low.code
    count = code.difference(upper, lower)
    whole = code.difference(count, code.op(f"srem i64 {count}, {size}"))
    middle = code.sum(lower, code.op(f"select i1 {code.op(f'icmp sgt i64 {count}, 0')}, i64 {whole}, i64 0"))
    count_loop(low, lower, middle, str(size), lambda i: _Group(low, folds, sinks, size, outer, i).write(one))
    count_loop(low, middle, upper, "1", one)


class _Group:
    """The rows from one on."""

    def __init__(
        self, low: Writer, folds: RowFolds, sinks: Sequence[Sink], size: int, outer: tuple[str, ...], first: str
    ) -> None:
        self.low, self.cell, self.sinks, self.outer, self.first = low, folds.cell, sinks, outer, first
        self.sums = [FoldSink(low, folds.goal) for _ in range(size)]
        self.rows = [low.code.sum(first, str(r)) for r in range(size)]

    @property
    def partition(self) -> Partition:
        return self.cell.partition

    def write(self, one: Callable[[str], None]) -> None:
        low, code = self.low, self.low.code
        low.poll()
        q = self.cell.inner
        known, uppers = [], []
        for row in self.rows:
            before = dict(low.env)
            self.bind(self.partition.index[-1].name, row)
            for s in self.cell.before:
                low.statement(s, set(), {})
            known.append({name: v for name, v in low.env.items() if before.get(name) is not v})
            uppers.append(low.wide(q.upper[0]))
        lower, least = low.wide(q.lower[0]), uppers[0]
        for other in uppers[1:]:
            least = code.op(f"select i1 {code.op(f'icmp slt i64 {other}, {least}')}, i64 {other}, i64 {least}")
        count = code.difference(least, lower)
        together, single, done = code.label("together"), code.label("single"), code.label("rows")
        code.branch(code.op(f"icmp sge i64 {count}, {LONG}"), together, single)
        code.place(together)
        base = self.sums[0].operator.accumulators[0].base
        middle = code.sum(lower, code.op(f"and i64 {count}, {-LANES[base]}"))
        for own, total in zip(known, self.sums):
            low.env.update(own)
            total.start()
        low.within += 1

        def round_(k: str) -> None:
            for own, total in zip(known, self.sums):
                low.env.update(own)
                self.term(k, total)

        count_loop(low, lower, middle, "1", round_, lanes_note(code.module, LANES[base], 1))
        for own, total, row, upper in zip(known, self.sums, self.rows, uppers):
            low.env.update(own)
            left = partial(self.term, total=total)
            count_loop(low, middle, upper, "1", left, lanes_note(code.module, LANES[base], 1))
            total.slots.get(self.cell.targets)
            for sink, value in zip(self.sinks, low.block(self.cell.after)):
                sink.put((*self.outer, row), [value])
        low.within -= 1
        code.jump(done)
        code.place(single)
        count_loop(low, self.first, code.sum(self.first, str(len(self.rows))), "1", one)
        code.jump(done)
        code.place(done)

    def term(self, k: str, total: FoldSink) -> None:
        """Adds a term to a row's sum."""
        self.bind(self.cell.inner.index[0].name, k)
        total.put((), self.low.block(self.cell.inner.body))

    def bind(self, name: str, i: str) -> None:
        self.low.env[name] = Scalar(self.low.code.op(f"trunc i64 {i} to i32"), "int", i)

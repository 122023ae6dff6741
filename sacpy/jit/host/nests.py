"""The loops of a nest, as its schedule says.

In: a `LoopNest`, and the sinks that take its values. Out: its loops with the body inside. Where a check that fails is
to be noted it leaves after the innermost loop, so that LLVM can vectorise that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain

from sacpy.jit.analysis.straight import is_guarded, is_straight_cell
from sacpy.jit.host import layout
from sacpy.jit.host.folds import cells_note, independent_note, lanes_note, scalar_note
from sacpy.jit.host.loops import count_loop, short_or_long, stretches
from sacpy.jit.host.memory import Array, Value, release
from sacpy.jit.host.sinks import ArraySink, FoldSink, PropagateSink, Sink, array_sinks, membership
from sacpy.jit.host.writer import Writer
from sacpy.jit.ir import graph as g
from sacpy.jit.schedule.loops import Loop, LoopNest, Part
from sacpy.jit.schedule.nests import REST
from sacpy.nodes import Record, field


class Nest(Record):
    """The loops of one partition, and what becomes of its values. `lower`, `upper`: the range of the first axis (that
    of number `ranged`), where it is not the partition's."""

    lowering: Writer
    nest: LoopNest
    sinks: Sequence[Sink]
    lower: str = ""
    upper: str = ""
    leave: str = ""
    ranged: int = 0
    partition: g.Partition = field(init=False)
    done: int = field(init=False, default=0)  # axes in front of which what stands there is written
    empty: str = field(init=False, default="")  # where an index space that is empty leaves to

    def __post_init__(self) -> None:
        self.partition = self.nest.partition

    def run(self, outer: tuple[str, ...] = ()) -> None:
        """Writes the loops. `outer`: indices along the first axes, which are bound, where their loops are somebody
        else's."""
        code = self.lowering.code
        self.leave = code.label("leave") if self.nest.leaves else ""
        self.axis(outer)
        if self.leave:
            code.place(self.leave)

    def axis(self, outer: tuple[str, ...]) -> None:
        """The loops of the next axis, or the body."""
        k, p, low, nest = len(outer), self.partition, self.lowering, self.nest
        if k == p.rank:
            self.body(outer, nest.body)
            return
        first = not self.done
        if nest.before:
            self.ahead(k)
        lower = self.lower if k == self.ranged and self.lower else low.wide(p.lower[k])
        upper = self.upper if k == self.ranged and self.upper else low.wide(p.upper[k])
        noted = nest.noted and k == p.rank - 1
        loops = nest.over(k)
        inner = self.noted_body(outer) if noted else self.plain_body(outer, polls=loops[-1].polls)
        self.loop(loops, outer, lower, upper, "1" if p.step is None else low.wide(p.step[k]), inner)
        if noted:
            self.after_noted()
        if self.empty and first:
            low.code.place(self.empty)

    def loop(
        self,
        loops: Sequence[Loop],
        outer: tuple[str, ...],
        lower: str,
        upper: str,
        step: str,
        inner: Callable[[str], None],
    ) -> None:
        """The loops of one axis over a range, the first of them around the others."""
        low, nest, (head, *rest) = self.lowering, self.nest, loops

        def others(begin: str, end: str) -> None:
            self.loop(rest, outer, begin, end, step, inner)

        match head.tag:
            case "stretch":
                stretches(low, head.size, lower, upper, step, others)
            case "long":
                short_or_long(low, head.size, lower, upper, step, others)
            case "rows":
                from sacpy.jit.host.grown_rows import row_loops

                assert nest.grown is not None
                row_loops(low, nest.grown, lower, upper, others)
            case "together":
                from sacpy.jit.host.row_folds import grouped_rows

                assert nest.folds is not None
                grouped_rows(low, nest.folds, self.sinks, head.size, outer, lower, upper, inner)
            case "strip" if nest.products:
                self.strips_of_rows(head.size, lower, upper, rest, outer, inner)
            case "strip":
                from sacpy.jit.host.last_axes import blend_loop

                sink = self.sinks[0]
                assert isinstance(sink, ArraySink)
                blend_loop(low, self.partition, sink, head.size, outer, lower, upper, inner)
            case "residues":
                from sacpy.jit.host.last_axes import residue_loops

                assert nest.residues is not None

                def several(i: str) -> None:
                    self.bind(len(outer), i)
                    self.body((*outer, i), nest.residues.rest)  # type: ignore[union-attr]

                residue_loops(low, nest.residues, lower, upper, inner, several)
            case "starts":
                width = low.wide(self.partition.width[head.axis])  # type: ignore[index]
                count_loop(low, lower, upper, step, lambda i: others(i, self.block_end(i, width, upper)))
            case "lanes" if head.rest:
                self.lanes_loops(head, lower, upper, inner)
            case "lanes":
                with self.group(head) as group:
                    note = lanes_note(low.code.module, head.size, head.vectors, group)
                    count_loop(low, lower, upper, step, inner, note)
            case "single":
                count_loop(low, lower, upper, step, inner, scalar_note(low.code.module))
            case "cells":
                count_loop(low, lower, upper, step, inner, cells_note(low.code.module))
            case "serial":
                with self.group(head) as group:
                    note = independent_note(low.code.module, group)
                    count_loop(low, lower, upper, "1" if head.size else step, inner, note)
            case _:
                raise AssertionError(head)

    @contextmanager
    def group(self, loop: Loop) -> Iterator[str]:
        """What the loads and stores of a loop belong to where it may write over what it reads; else nothing. LLVM would
        ask at run time whether that is so, and then make no vectors; it is told that no round needs what another one
        writes. (It would take that as leave to load what conditions guard, too.)"""
        code = self.lowering.code
        outside, code.group = code.group, code.module.node("!{}", distinct=True) if self.writes_over(loop) else ""
        yield code.group
        code.group = outside

    def writes_over(self, loop: Loop) -> bool:
        """Whether a loop may write over what it reads, and has nothing but loads, operations, stores, sums inside."""
        return (
            loop is self.nest.loops[-1]
            and any(isinstance(s, ArraySink) and s.result.over for s in self.sinks)
            and all(isinstance(s, ArraySink) or (isinstance(s, FoldSink) and s.reduction) for s in self.sinks)
            and is_straight_cell(self.nest.body, in_place=True)
            and not is_guarded(self.nest.body)
        )

    def ahead(self, k: int) -> None:
        """Writes what stands in front of axis k, and of those before it where their loops are somebody else's; all of
        it only if no axis behind the first is empty."""
        low, p = self.lowering, self.partition
        if not self.done:
            some = "true"
            for axis in range(1, p.rank):
                lower, upper = (
                    (self.lower, self.upper)
                    if axis == self.ranged and self.lower
                    else (low.wide(p.lower[axis]), low.wide(p.upper[axis]))
                )
                some = low.code.op(f"and i1 {some}, {low.code.op(f'icmp slt i64 {lower}, {upper}')}")
            on, self.empty = low.code.label("some"), low.code.label("empty")
            low.code.branch(some, on, self.empty)
            low.code.place(on)
        for s in chain(*self.nest.before[self.done : k + 1]):
            low.statement(s, set(), {})
        self.done = k + 1

    def strips_of_rows(
        self,
        size: int,
        lower: str,
        upper: str,
        rest: Sequence[Loop],
        outer: tuple[str, ...],
        inner: Callable[[str], None],
    ) -> None:
        """The loop of the last axis where products of its rows come first."""
        from sacpy.jit.host.row_blocks import RowBlock

        low, code = self.lowering, self.lowering.code
        count = code.difference(upper, lower)
        rows = code.op(f"select i1 {code.op(f'icmp slt i64 {count}, {size}')}, i64 {count}, i64 {size}")
        rows = code.op(f"select i1 {code.op(f'icmp sgt i64 {rows}, 0')}, i64 {rows}, i64 0")
        apart = tuple(s.result.scope for s in self.sinks if isinstance(s, ArraySink) and s.result.scope)
        blocks = [RowBlock(low, product, rows, apart) for product in self.nest.products]

        def strip(first: str) -> None:
            end = self.block_end(first, str(size), upper)
            for b, few in zip(blocks, self.nest.few):
                b.fill(first, end, lambda sink, few=few: Nest(low, few, [sink]).run())  # type: ignore[misc]

            def row(i: str) -> None:
                for b in blocks:
                    b.bind(i, first)
                inner(i)

            self.loop(rest, outer, first, end, "1", row)

        count_loop(low, lower, upper, str(size), strip)
        for b in blocks:
            release(code, b.memory)

    def lanes_loops(self, loop: Loop, lower: str, upper: str, inner: Callable[[str], None]) -> None:
        """An innermost loop of a fold on reals: rounds that fill all lanes, then what is left, which would else be done
        one by one, and is all there is of a short row."""
        code = self.lowering.code
        count = upper if lower == "0" else code.difference(upper, lower)
        whole = code.op(f"and i64 {count}, {-loop.size * loop.vectors}")
        some = code.op(f"select i1 {code.op(f'icmp sgt i64 {whole}, 0')}, i64 {whole}, i64 0")
        middle = code.sum(lower, some)
        for first, last, width, vectors in ((lower, middle, loop.size, loop.vectors), (middle, upper, REST, 1)):
            with self.group(loop) as group:
                note = lanes_note(code.module, width, vectors, group)
                count_loop(self.lowering, first, last, "1", inner, note)

    def block_end(self, start: str, width: str, upper: str) -> str:
        """Where a block of `width` indices ends."""
        code = self.lowering.code
        end = code.sum(start, width)
        return code.op(f"select i1 {code.op(f'icmp slt i64 {end}, {upper}')}, i64 {end}, i64 {upper}")

    def plain_body(self, outer: tuple[str, ...], *, polls: bool) -> Callable[[str], None]:
        def body(i: str) -> None:
            if polls:
                self.lowering.poll()
            self.bind(len(outer), i)
            self.axis((*outer, i))

        return body

    def bind(self, k: int, i: str) -> None:
        """Sets an index component."""
        bind_index(self.lowering, self.partition, k, i)

    # ---- a failing check in a loop that is to be vectorised is noted, and leaves after the loop

    bad: str = ""
    skip: str = ""

    def noted_body(self, outer: tuple[str, ...]) -> Callable[[str], None]:
        low, k = self.lowering, len(outer)
        self.bad = low.code.slot("i8")
        low.code.store("i8", "0", self.bad)
        failed = low.code.slot("i8")

        def body(i: str) -> None:
            code, self.skip = low.code, low.code.label("failing")
            code.store("i8", "0", failed)
            low.on_failure = self.skip
            self.bind(k, i)
            self.axis((*outer, i))
            low.on_failure = None
            done = code.label("next")
            code.jump(done)
            code.place(self.skip)
            code.store("i8", "1", failed)
            code.place(done)
            code.store("i8", code.op(f"or i8 {code.load('i8', self.bad)}, {code.load('i8', failed)}"), self.bad)

        return body

    def after_noted(self) -> None:
        low = self.lowering
        fine = low.code.op(f"icmp eq i8 {low.code.load('i8', self.bad)}, 0")
        low.unless(fine, layout.CHECK_FAILED, low.unit.site_of_loop(self.nest.body))

    # ---- the body

    def body(self, index: tuple[str, ...], block: g.Block) -> None:
        """One index: the partition's body, its values handed to the sinks."""
        low = self.lowering
        out = low.code.label("covered") if self.nest.earlier else ""
        for other in self.nest.earlier:
            on = low.code.label("free")
            low.code.branch(membership(low, other, index), out, on)
            low.code.place(on)
        places: list[Array | None] = []
        for sink in self.sinks:
            if isinstance(sink, PropagateSink):
                sink.bind()
            places += [sink.place(index)] + [None] * (sink.count - 1)
        into = {a.name: place for a, place in zip(block.results, places) if place is not None and isinstance(a, g.Var)}
        low.within += 1
        values = low.block(block, (), into)
        low.within -= 1
        at = 0
        for sink in self.sinks:
            mine = [
                self.settled(v, place) for v, place in zip(values[at : at + sink.count], places[at : at + sink.count])
            ]
            sink.put(index, mine)
            at += sink.count
        if out:
            low.code.place(out)
        if self.leave:
            self.leave_if_stopped()

    def settled(self, value: Value, place: Array | None) -> Value:
        """A value, where it is to be."""
        return self.lowering.built(value, place) if place is not None and isinstance(value, Array) else value

    def leave_if_stopped(self) -> None:
        code, all_stopped = self.lowering.code, "true"
        for sink in self.sinks:
            assert isinstance(sink, FoldSink)
            all_stopped = code.op(f"and i1 {all_stopped}, {code.load('i1', sink.stopped)}")
        on = code.label("on")
        code.branch(all_stopped, self.leave, on)
        code.place(on)


def bind_index(low: Writer, p: g.Partition, k: int, i: str) -> None:
    """Sets component k of a partition's index."""
    low.bind_scalar(p.index[k], low.code.op(f"trunc i64 {i} to i32"), i)


def write_part(
    low: Writer, part: Part, sinks: Sequence[Sink], lower: str = "", upper: str = "", outer: tuple[str, ...] = ()
) -> None:
    """Writes the loops of partitions that run together. `lower`, `upper`: the range of the first axis, where it is not
    theirs; `outer`: the indices along those whose loops are somebody else's, and bound."""
    if not isinstance(part, LoopNest):
        from sacpy.jit.host.rows import write_rows

        write_rows(low, part, sinks, lower, upper, outer)
    elif part.tiles is not None:
        from sacpy.jit.host.tiling import Tiling

        Tiling(low, part.tiles, array_sinks(sinks), lower, upper).run(outer)
    else:
        Nest(low, part, sinks, lower, upper).run(outer)

"""The loop nest of one partition.

In: a partition, and the sinks that take its values. Out: loops in row-major order, the last axis innermost, with the
body inside. A check that fails in an innermost loop without inner loops is noted and leaves after the loop, so that
LLVM can vectorise it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import chain

from sacpy.jit.analysis.folds import Reduction
from sacpy.jit.analysis.straight import cells, is_straight
from sacpy.jit.host import layout
from sacpy.jit.host.dense_blend import blend_loop, can_blend
from sacpy.jit.host.folds import REST, identity, lanes, lanes_note, scalar_note
from sacpy.jit.host.hoisting import hoisted
from sacpy.jit.host.loops import STRETCH, count_loop, short_or_long, stretches
from sacpy.jit.host.memory import Array, Value, release
from sacpy.jit.host.residues import residue_loops, residues
from sacpy.jit.host.row_products import ROWS, RowBlock, RowProduct, row_products, without
from sacpy.jit.host.sinks import ArraySink, FoldSink, PropagateSink, Sink, membership
from sacpy.jit.host.tiling import Tiling, array_sinks, tiled
from sacpy.jit.host.writer import Writer
from sacpy.jit.ir import graph as g
from sacpy.nodes import Record, field, replace

SMALL = 12  # statements of a body that may stand there twice, for short rows and for long ones


class Nest(Record):
    """The loops of one partition, and what becomes of its values. `lower`, `upper`: the range of the first axis (that
    of number `ranged`), where it is not the partition's. `earlier`: partitions whose indices are left out."""

    lowering: Writer
    partition: g.Partition
    sinks: Sequence[Sink]
    lower: str = ""
    upper: str = ""
    earlier: Sequence[g.Partition] = ()
    leave: str = ""
    ranged: int = 0
    before: tuple[tuple[g.Stmt, ...], ...] = field(init=False)  # what stands in front of each axis
    products: tuple[RowProduct, ...] = field(init=False, default=())  # rows that are computed a block at a time
    done: int = field(init=False, default=0)  # axes in front of which that is written
    empty: str = field(init=False, default="")  # where an index space that is empty leaves to

    def __post_init__(self) -> None:
        found = hoisted(
            self.partition, (v for s in self.sinks if isinstance(s, PropagateSink) for v in s.operator.params)
        )
        self.before, self.partition = found.before, found.partition
        if not self.earlier and all(isinstance(s, ArraySink) and not s.earlier for s in self.sinks):
            self.products = row_products(self.partition)
            self.partition = without(self.partition, self.products)

    def run(self) -> None:
        """Writes the loops."""
        code = self.lowering.code
        stops = [s.stopped for s in self.sinks if isinstance(s, FoldSink)]
        self.leave = code.label("leave") if stops and all(stops) and len(stops) == len(self.sinks) else ""
        self.axis(())
        if self.leave:
            code.place(self.leave)

    @property
    def straight(self) -> bool:
        """Whether LLVM can vectorise the innermost loop: cells made of scalars are built where they are to be."""
        in_place = all(isinstance(s, ArraySink) and not s.earlier for s in self.sinks)
        return is_straight(self.partition.body, cells(self.partition.body) if in_place else ())

    def axis(self, outer: tuple[str, ...]) -> None:
        """The loop of the next axis, or the body."""
        k, p, low = len(outer), self.partition, self.lowering
        if k == p.rank:
            self.body(outer)
            return
        first = not self.done
        if self.before:
            self.ahead(k)
        lower = self.lower if k == self.ranged and self.lower else low.wide(p.lower[k])
        upper = self.upper if k == self.ranged and self.upper else low.wide(p.upper[k])
        guarded = (
            k == p.rank - 1
            and not self.products
            and low.on_failure is None
            and low.unit.site_of_loop(p.body) > 0
            and self.straight
            and all(isinstance(s, ArraySink) or _is_plain(s) for s in self.sinks)
        )
        inner = self.guarded_body(outer) if guarded else self.plain_body(outer, k)
        step = "1" if p.step is None else low.wide(p.step[k])

        def loops(begin: str, end: str) -> None:
            self.loops(outer, begin, end, step, inner, guarded)

        inside = k > 0 or low.within > 0  # of loops that look themselves
        if k < p.rank - 1 or not self.may_be_long() or (inside and self.runs_along()):
            loops(lower, upper)
        elif inside and self.straight and len(p.body.statements) <= SMALL:
            short_or_long(low, lower, upper, step, loops)
        else:
            stretches(low, lower, upper, step, loops)
        if guarded:
            self.after_guarded()
        if self.empty and first:
            low.code.place(self.empty)

    def may_be_long(self) -> bool:
        """Whether a row may go on for long where nobody looks at the stop flag: one that makes no array has as many
        points as an int can say."""
        if any(isinstance(s, ArraySink) for s in self.sinks):
            return False
        lower, upper = self.partition.lower[-1], self.partition.upper[-1]
        return not (isinstance(lower, g.Const) and isinstance(upper, g.Const) and upper.value - lower.value <= STRETCH)

    def runs_along(self) -> bool:
        """Whether a row is that of an array, all of whose elements are loaded: it has room in memory, so it is no
        longer than some tenths of a second, and mostly short."""
        p = self.partition
        whole = p.lower[-1] == g.Const("int", 0) and p.step is None
        loads = (s.rhs for s in p.body.statements if isinstance(s, g.Let) and isinstance(s.rhs, g.Load))
        return whole and any(
            r.index[-1] == p.index[-1] and g.extents_of(r.array)[-1] == p.upper[-1] for r in loads if r.index
        )

    def loops(
        self, outer: tuple[str, ...], lower: str, upper: str, step: str, inner: Callable[[str], None], guarded: bool
    ) -> None:
        """The loops of one axis over a range."""
        k, p, low = len(outer), self.partition, self.lowering
        width = "1" if p.width is None else low.wide(p.width[k])
        # there are none where the body is there for what it waits for alone
        sink = self.sinks[0] if self.sinks else None
        if k == p.rank - 1 and self.products:
            self.blocks_of_rows(outer, lower, upper)
        elif k == p.rank - 1 and not self.earlier and can_blend(p, self.sinks) and isinstance(sink, ArraySink):
            blend_loop(low, p, sink, outer, lower, upper, inner)
        elif k == p.rank - 1 and not self.earlier and (found := residues(p, self.sinks, low.facts.made)) is not None:
            residue_loops(
                low, found, lower, upper, inner, Nest(low, replace(p, body=found.rest), self.sinks).plain_body(outer, k)
            )
        elif width == "1":
            reduction = self.regrouped() if k == p.rank - 1 and p.step is None and not guarded else None
            if reduction is not None and not self.one_by_one(reduction):
                self.lanes_loops(reduction, lower, upper, inner)
            else:
                count_loop(low, lower, upper, step, inner, self.note() if k == p.rank - 1 else "")
        elif width == step:
            count_loop(low, lower, upper, "1", inner)
        else:
            count_loop(
                low,
                lower,
                upper,
                step,
                lambda start: count_loop(low, start, self.block_end(start, width, upper), "1", inner),
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
        for s in chain(*self.before[self.done : k + 1]):
            low.statement(s, set(), {})
        self.done = k + 1

    def blocks_of_rows(self, outer: tuple[str, ...], lower: str, upper: str) -> None:
        """The loop of the last axis where products of its rows come first."""
        low, code = self.lowering, self.lowering.code
        count = code.difference(upper, lower)
        rows = code.op(f"select i1 {code.op(f'icmp slt i64 {count}, {ROWS}')}, i64 {count}, i64 {ROWS}")
        rows = code.op(f"select i1 {code.op(f'icmp sgt i64 {rows}, 0')}, i64 {rows}, i64 0")
        apart = tuple(s.result.scope for s in self.sinks if isinstance(s, ArraySink) and s.result.scope)
        blocks = [RowBlock(low, product, rows, apart) for product in self.products]
        inner = self.plain_body(outer, len(outer))

        def block(first: str) -> None:
            end = self.block_end(first, str(ROWS), upper)
            for b in blocks:
                b.fill(first, end, lambda p, sink: Nest(low, p, [sink]).run())

            def row(i: str) -> None:
                for b in blocks:
                    b.bind(i, first)
                inner(i)

            count_loop(low, first, end, "1", row)

        count_loop(low, lower, upper, str(ROWS), block)
        for b in blocks:
            release(code, b.memory)

    def lanes_loops(self, reduction: Reduction, lower: str, upper: str, inner: Callable[[str], None]) -> None:
        """An innermost loop of a fold on reals: rounds that fill all lanes, then what is left, which would else be done
        one by one, and is all there is of a short row."""
        code, (width, vectors) = self.lowering.code, lanes(reduction)
        count = upper if lower == "0" else code.difference(upper, lower)
        whole = code.op(f"and i64 {count}, {-width * vectors}")
        some = code.op(f"select i1 {code.op(f'icmp sgt i64 {whole}, 0')}, i64 {whole}, i64 0")
        middle = code.sum(lower, some)
        count_loop(self.lowering, lower, middle, "1", inner, lanes_note(code.module, width, vectors))
        count_loop(self.lowering, middle, upper, "1", inner, lanes_note(code.module, REST, 1))

    def note(self) -> str:
        """The metadata of the innermost loop: none where LLVM cannot obey it, and would say so on standard error; none
        either where a fold is to be computed in order, since LLVM takes it as leave to regroup them all."""
        reduction = self.regrouped()
        if reduction is None:
            return ""
        module = self.lowering.code.module
        return scalar_note(module) if self.one_by_one(reduction) else lanes_note(module, *lanes(reduction))

    def regrouped(self) -> Reduction | None:
        """The fold on reals that the innermost loop computes in another order, if LLVM can be told which."""
        p = self.partition
        if self.earlier or self.leave or not self.straight or self.lowering.unit.site_of_loop(p.body) > 0:
            return None
        if not all(
            isinstance(s, ArraySink) or (_is_plain(s) and isinstance(s, FoldSink) and s.reduction is not None)
            for s in self.sinks
        ):
            return None
        if p.step is not None and not isinstance(p.step[-1], g.Const):
            return None
        # for others any lanes do
        return next(
            (
                s.reduction
                for s in self.sinks
                if isinstance(s, FoldSink) and s.reduction is not None and not s.reduction.exact
            ),
            None,
        )

    def one_by_one(self, reduction: Reduction) -> bool:
        """Whether LLVM would fail to make vectors of such a fold, or make them in vain."""
        if self.adds_nothing() or is_short(self.partition, lanes(reduction)[0]):
            return True
        # LLVM makes conditions of extremes with infinity, which it then cannot vectorise
        return any(
            s.reduction.extremes for s in self.sinks if isinstance(s, FoldSink) and s.reduction is not None
        ) and _names_infinity(self.partition.body)

    def adds_nothing(self) -> bool:
        """Whether a fold has only values that change nothing, or are NaN, so that LLVM finds no sum to vectorise."""
        at = 0
        for sink in self.sinks:
            values = self.partition.body.results[at : at + sink.count]
            at += sink.count
            if isinstance(sink, FoldSink) and sink.reduction is not None and sink.reduction.real:
                for k, value in enumerate(values):
                    if isinstance(value, g.Const) and (
                        value.value != value.value or self.lowering.text(value) == identity(sink.reduction, k)
                    ):
                        return True
        return False

    def block_end(self, start: str, width: str, upper: str) -> str:
        """Where a block of `width` indices ends."""
        code = self.lowering.code
        end = code.sum(start, width)
        return code.op(f"select i1 {code.op(f'icmp slt i64 {end}, {upper}')}, i64 {end}, i64 {upper}")

    def plain_body(self, outer: tuple[str, ...], k: int) -> Callable[[str], None]:
        def body(i: str) -> None:
            if k == 0 and not (self.partition.rank == 1 and self.straight):
                self.lowering.poll()
            self.bind(k, i)
            self.axis((*outer, i))

        return body

    def bind(self, k: int, i: str) -> None:
        """Sets an index component."""
        self.lowering.bind_scalar(self.partition.index[k], self.lowering.code.op(f"trunc i64 {i} to i32"), i)

    # ---- a failing check in a loop that is to be vectorised is noted, and leaves after the loop

    bad: str = ""
    skip: str = ""

    def guarded_body(self, outer: tuple[str, ...]) -> Callable[[str], None]:
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

    def after_guarded(self) -> None:
        low = self.lowering
        fine = low.code.op(f"icmp eq i8 {low.code.load('i8', self.bad)}, 0")
        low.unless(fine, layout.CHECK_FAILED, low.unit.site_of_loop(self.partition.body))

    # ---- the body

    def body(self, index: tuple[str, ...]) -> None:
        """One index: the partition's body, its values handed to the sinks."""
        low, p = self.lowering, self.partition
        out = low.code.label("covered") if self.earlier else ""
        for other in self.earlier:
            on = low.code.label("free")
            low.code.branch(membership(low, other, index), out, on)
            low.code.place(on)
        places: list[Array | None] = []
        for sink in self.sinks:
            if isinstance(sink, PropagateSink):
                sink.bind()
            places += [sink.place(index)] + [None] * (sink.count - 1)
        into = {a.name: place for a, place in zip(p.body.results, places) if place is not None and isinstance(a, g.Var)}
        low.within += 1
        values = low.block(p.body, (), into)
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


def is_short(p: g.Partition, lanes: int) -> bool:
    """Whether a partition's rows are known to fill half of the lanes at most: then adding these up takes longer than it
    saves."""
    lower, upper = p.lower[-1], p.upper[-1]
    return isinstance(lower, g.Const) and isinstance(upper, g.Const) and upper.value - lower.value <= lanes // 2


def _names_infinity(body: g.Block) -> bool:
    """Whether an infinite constant occurs in a body."""
    operations = [s.rhs for s in g.statements(body) if isinstance(s, g.Let) and isinstance(s.rhs, g.Op)]
    return any(
        isinstance(a, g.Const) and isinstance(a.value, float) and math.isinf(a.value)
        for a in (*body.results, *(a for op in operations for a in op.args))
    )


def _is_plain(sink: Sink) -> bool:
    """Whether a fold only combines scalars, without loops."""
    return (
        isinstance(sink, FoldSink)
        and not sink.stopped
        and is_straight(sink.operator.combine)
        and not any(isinstance(v.type, g.ArrayType) for v in sink.operator.values)
    )


def write_inner(lowering: Writer, p: g.Partition, sinks: Sequence[Sink], outer: tuple[str, ...]) -> None:
    """Writes a partition's loops inside of those over its first axes, whose indices are `outer`, and bound: tiles of
    columns, which need the last axis only, too."""
    found, arrays = tiled(p, sinks), array_sinks(sinks)
    if found is not None and not found.packed and arrays:
        Tiling(lowering, found, arrays).run(outer)
    else:
        Nest(lowering, p, sinks).axis(outer)


def write_nest(
    lowering: Writer,
    p: g.Partition,
    sinks: Sequence[Sink],
    lower: str = "",
    upper: str = "",
    earlier: Sequence[g.Partition] = (),
) -> None:
    """Writes a partition's loops: in tiles where that pays. `earlier`: partitions whose indices are left out."""
    found, arrays = tiled(p, sinks), array_sinks(sinks)
    if found is not None and not earlier and arrays:
        Tiling(lowering, found, arrays, lower, upper).run()
    else:
        Nest(lowering, p, sinks, lower, upper, earlier).run()

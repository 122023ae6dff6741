"""Partitions whose outermost axis is dealt to threads in chunks (`chunks`); where its rows are few and long, blocks of
them (`blocks`).

In: partitions that run together, as their schedule says, and where their values go. Out: the code of both ways, spread
and not.

A fold leaves one partial result per chunk, and these are combined in order.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.analysis.folds import Reduction
from sacpy.jit.host import layout
from sacpy.jit.host.blocks import Blocks, cut, write_blocks
from sacpy.jit.host.chunks import Chunked
from sacpy.jit.host.folds import identity, scalar_note
from sacpy.jit.host.loops import count_loop
from sacpy.jit.host.memory import Scalar
from sacpy.jit.host.nests import write_part
from sacpy.jit.host.sinks import ArraySink, FoldSink, Sink
from sacpy.jit.host.work import Cost, Work, written
from sacpy.jit.host.writer import Writer
from sacpy.jit.ir.graph import Atom, Block, Partition, Var
from sacpy.jit.ir.rewrite import free_in_order
from sacpy.jit.llvm.legal import LLVM_TYPES, Code
from sacpy.jit.schedule.loops import Group, LoopNest, Threads, loops_before, nests
from sacpy.jit.schedule.threads import WORTH


def spread(lowering: Writer, group: Group, threads: Threads, sinks: Sequence[Sink]) -> None:
    """Writes partitions that run together as a function of its own, and the code that runs it."""
    Spreading(lowering, group, threads, sinks).run()


class Spreading(Chunked):
    """Partitions being spread. `p`: the only one, or the first."""

    def __init__(self, outer: Writer, group: Group, threads: Threads, sinks: Sequence[Sink]) -> None:
        super().__init__(outer)
        self.group, self.threads, self.p, self.sinks = group, threads, group.partitions[0], sinks
        self.partials: list[tuple[FoldSink, list[str]]] = []
        self.ends: tuple[str, str] | None = None  # the work for the first index and for the last, where it changes
        self.blocks = cut(outer, self.p, self.row(Cost(outer), 2)) if threads.cut else None

    def run(self) -> None:
        """Writes the chunk's function, then the call; in front of them the loop of a short row, if that has one."""
        code, outer = self.outer.code, self.outer
        lower, upper = outer.wide(self.p.lower[0]), outer.wide(self.p.upper[0])
        if self.group.short is None:
            self.spread(lower, upper)
            return
        row = self.row(Cost(outer))
        assert isinstance(row, float)  # without loops inside it is known
        most = int(WORTH / row)  # never dealt out
        short, long, done = code.label("short"), code.label("long"), code.label("both")
        code.branch(code.op(f"icmp sle i64 {code.difference(upper, lower)}, {most}"), short, long)
        code.place(short)
        write_part(outer, self.group.short, self.sinks)
        code.jump(done)
        code.place(long)
        self.spread(lower, upper)
        code.jump(done)
        code.place(done)

    def spread(self, lower: str, upper: str) -> None:
        """Writes the chunk's function, then the call."""
        code = self.outer.code
        chunk = self.chunk(lower, upper)
        if self.blocks is not None:
            rows = code.largest(code.difference(upper, lower), "0")
            lower, upper = "0", code.product(rows, self.blocks.in_row)
        for sink in self.sinks:
            if isinstance(sink, FoldSink):
                self.partials.append((sink, [code.slot(f"[{layout.MOST_CHUNKS} x {t}]") for t in self.types(sink)]))
        self.write_chunk(lower, upper, chunk)
        self.call(lower, upper, chunk)
        for sink, memories in self.partials:
            self.collect(sink, memories, lower, upper, chunk)

    def types(self, sink: FoldSink) -> list[str]:
        return [LLVM_TYPES[v.base] for v in sink.operator.accumulators]

    # ---- sizes

    def chunk(self, lower: str, upper: str) -> str:
        """The number of indices of a chunk, at least 1."""
        code, low, cost = self.outer.code, self.outer, Cost(self.outer)
        count = code.difference(upper, lower)
        if self.threads.even:
            from sacpy.jit.analysis.uneven import lengths

            along = lengths(self.p)
            ends = Cost(low, along, cost.count(lower)), Cost(low, along, cost.count(code.difference(upper, "1")))
            first, last = (written(self.row(end)) for end in ends)
            self.ends = first, last
            both = cost.plus(first, last)
            guessed = any(end.guessed for end in ends)
            return self.grain(cost.times(cost.times(both, 0.5), cost.count(count)), count, "1", guessed)
        work = cost.times(self.row(cost), cost.count(count))
        threads = self.threads
        if self.blocks is not None:
            return self.grain(work, code.product(count, self.blocks.in_row), "1", cost.guessed)
        if not threads.least:
            step = "1" if self.p.step is None else low.wide(self.p.step[0])
            return self.grain(work, count, str(threads.multiple) if step == "1" else step, cost.guessed)
        least = str(threads.least)
        if threads.most:
            least = code.largest(code.quotient(count, str(threads.most)), least)
        return self.rounded(code.largest(self.grain(work, count, "1", cost.guessed), least), str(threads.multiple))

    def row(self, cost: Cost, axes: int = 1) -> Work:
        """The work for an index of the outermost axis, or of so many of the outer ones."""
        row: Work = 0.0
        for nest in nests(self.group.part):
            p = nest.partition
            part = cost.body(p.body)
            for axis in range(p.rank - 1, axes - 1, -1):
                part = cost.times(part, cost.range(p.lower[axis], p.upper[axis], 1))
                if loops_before(nest.before, axis):
                    part = cost.plus(part, cost.block(Block(nest.before[axis])))
            row = cost.plus(row, part)
        return row

    # ---- the function

    def write_chunk(self, lower: str, upper: str, chunk: str) -> None:
        self.capture(self.used())
        inner, code = self.inner, self.code
        sinks: list[Sink] = []
        for sink in self.sinks:
            if isinstance(sink, ArraySink):
                sinks.append(ArraySink(inner, self.captured_array(sink.result), sink.rank))
            elif isinstance(sink, FoldSink):
                sinks.append(self.inner_fold(sink, lower))
        if self.blocks is not None:
            assert isinstance(self.group.part, LoopNest)
            write_blocks(inner, self.group.part, sinks, self.inner_blocks(self.blocks), "%lower", "%upper")
        else:
            ends = [self.evenly(end, lower, upper) for end in ("%lower", "%upper")]
            write_part(inner, self.group.part, sinks, ends[0], ends[1])
        if self.partials:
            distance = code.difference("%lower", self.captured("i64", lower))
            place = code.quotient(distance, self.captured("i64", chunk))
            for (sink, memories), mine in zip(self.partials, [s for s in sinks if isinstance(s, FoldSink)]):
                for type_, memory, slot in zip(self.types(sink), memories, mine.slots.slots):
                    code.store(type_, code.load(type_, slot), code.offset(type_, self.captured("ptr", memory), place))
        self.finish()

    def evenly(self, index: str, lower: str, upper: str) -> str:
        """Where a chunk really ends, whose index this is if all rows had the same work."""
        if self.ends is None:
            return index
        code = self.code
        code.module.declare("sacpy_evenly", "declare i64 @sacpy_evenly(i64, i64, i64, double, double, i64)")
        bounds = ", ".join(f"i64 {t}" for t in (index, *(self.captured("i64", t) for t in (lower, upper))))
        works = ", ".join(f"double {self.captured('double', t)}" for t in self.ends)
        return code.op(f"call i64 @sacpy_evenly({bounds}, {works}, i64 {self.threads.multiple})")

    def inner_blocks(self, blocks: Blocks) -> Blocks:
        """The blocks as the chunk's function knows them. A first row that is a number is handed in, so that what is
        done alike from different rows on is one function; but for 0, where most begin."""
        first = self.handed("i64", blocks.lower[0]) if blocks.lower[0] != "0" else "0"
        bounds = [self.captured("i64", t) for t in (blocks.lower[1], *blocks.upper, blocks.in_row, blocks.length)]
        return Blocks((first, bounds[0]), (bounds[1], bounds[2]), bounds[3], bounds[4])

    def used(self) -> list[str]:
        """What the partitions use, but for what they set themselves, which code for the same partitions that was
        written before may have set too."""
        atoms: list[Atom] = [
            a
            for p in (*self.group.partitions, *self.earlier())
            for a in (*p.lower, *p.upper, *(p.step or ()), *(p.width or ()))
        ]
        names = [
            name
            for p in self.group.partitions
            for name in free_in_order(p.body)
            if all(name != i.name for i in p.index)
        ]
        for sink in self.sinks:
            if isinstance(sink, FoldSink):
                o = sink.operator
                atoms += o.neutrals
                names += [
                    name
                    for name in free_in_order(o.combine)
                    if all(name != v.name for v in (*o.accumulators, *o.values))
                ]
        return [*(a.name for a in atoms if isinstance(a, Var)), *names]

    def earlier(self) -> tuple[Partition, ...]:
        """Partitions whose indices are left out."""
        return self.group.part.earlier if isinstance(self.group.part, LoopNest) else ()

    def inner_fold(self, sink: FoldSink, lower: str) -> FoldSink:
        """A fold over one chunk: the first starts from the neutral elements, the others from the identities, or from
        their first values."""
        inner, code = self.inner, self.code
        fold = FoldSink(inner, sink.goal)
        first = code.op(f"icmp eq i64 %lower, {self.captured('i64', lower)}")
        fold.start()
        if isinstance(fold.reduction, Reduction):
            for k, (type_, slot) in enumerate(zip(self.types(sink), fold.slots.slots)):
                start = code.op(
                    f"select i1 {first}, {type_} {code.load(type_, slot)}, {type_} {identity(fold.reduction, k)}"
                )
                code.store(type_, start, slot)
        else:
            fold.fresh = code.slot("i1")
            code.store("i1", code.op(f"xor i1 {first}, true"), fold.fresh)
        return fold

    # ---- partial results

    def collect(self, sink: FoldSink, memories: list[str], lower: str, upper: str, chunk: str) -> None:
        """Combines the chunks' results in order. Without any, the fold stays at the neutral elements."""
        code, types, slots = self.outer.code, self.types(sink), sink.slots.slots
        count = code.difference(upper, lower)
        if sink.reduction is None:
            join(self.outer, sink, types, memories, count, chunk)
            return
        name, result = joining(self.outer, sink, types), "{" + ", ".join(types) + "}"
        args = [f"{t} {code.load(t, slot)}" for t, slot in zip(types, slots)] + [f"ptr {m}" for m in memories]
        made = code.op(f"call {result} {name}({', '.join(args)}, i64 {count}, i64 {chunk})")
        for k, (type_, slot) in enumerate(zip(types, slots)):
            code.store(type_, code.op(f"extractvalue {result} {made}, {k}"), slot)


def join(low: Writer, sink: FoldSink, types: Sequence[str], memories: Sequence[str], count: str, chunk: str) -> None:
    """Code that combines the results of chunks of so many rounds of `count`, in order."""
    code = low.code
    some, done = code.label("some"), code.label("none")
    code.branch(code.op(f"icmp sgt i64 {count}, 0"), some, done)
    code.place(some)
    for type_, memory, slot in zip(types, memories, sink.slots.slots):
        code.store(type_, code.load(type_, memory), slot)
    chunks = code.quotient(code.difference(code.sum(count, chunk), "1"), chunk)

    def one(k: str) -> None:
        loaded = [code.load(t, code.offset(t, m, k)) for t, m in zip(types, memories)]
        sink.join([Scalar(text, v.base) for text, v in zip(loaded, sink.operator.values)])

    count_loop(low, "1", chunks, "1", one, scalar_note(code.module))
    code.place(done)


def joining(outer: Writer, sink: FoldSink, types: Sequence[str]) -> str:
    """The name of a function that does so for a fold that is one operation: of folds with the same one there is one."""
    starts, memories = ([f"%{stem}{k}" for k in range(len(types))] for stem in ("start", "partials"))
    params = [*zip(types, starts), *(("ptr", m) for m in memories), ("i64", "%count"), ("i64", "%chunk")]
    name, result = outer.code.module.fresh("join"), "{" + ", ".join(types) + "}"
    code = Code(outer.code.module, name, result, params, tail="noinline")
    low = outer.fork(code)
    fold = FoldSink(low, sink.goal)
    for type_, start, slot in zip(types, starts, fold.slots.slots):
        code.store(type_, start, slot)
    join(low, fold, types, memories, "%count", "%chunk")
    made = "poison"
    for k, (type_, slot) in enumerate(zip(types, fold.slots.slots)):
        made = code.op(f"insertvalue {result} {made}, {type_} {code.load(type_, slot)}, {k}")
    code.end(f"ret {result} {made}")
    return code.module.share(name, code.text())

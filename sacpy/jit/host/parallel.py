"""Partitions whose outermost axis is dealt to threads in chunks.

The nest becomes a function of its own, `i32 @chunk(ptr frame, ptr env, i64 lower, i64 upper)`; what it uses from around is passed in memory. Little work is done by one direct call; else the runtime deals chunks. Their size, and whether there are any, depends on the program and the extents only.
A fold leaves one partial result per chunk, and these are combined in order.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.graph import ArrayType, Const, Partition, Var
from sacpy.jit.host.analysis import is_straight
from sacpy.jit.host.cost import Cost, number
from sacpy.jit.host.folds import Reduction
from sacpy.jit.host.functions import Lowering
from sacpy.jit.host.legal import LLVM_TYPES, Code
from sacpy.jit.host.loops import count_loop
from sacpy.jit.host.memory import BORROWED, Array, Scalar
from sacpy.jit.host.rows import write_rows
from sacpy.jit.host.sinks import ArraySink, FoldSink, Sink
from sacpy.jit.host.tiling import tiled, write_nest
from sacpy.jit.host.writer import Slots
from sacpy.jit.rewrite import free

WORTH = 40000.0  # work (see `cost`) from which a loop is cut into chunks: some ten microseconds
PER_CHUNK = 20000.0
MOST_CHUNKS = 256
TILED_CHUNKS = 12  # tiles load a whole matrix per chunk: rather a few large ones
TILED_ROWS = 48
ROWS_OF_TILES = 8
ALIGNED = 64  # chunks of a one-dimensional space are a multiple of this many indices


def can_spread(lowering: Lowering, p: Partition, sinks: Sequence[Sink]) -> bool:
    """Whether a partition's iterations may run in any order, in several threads at once: only arrays, and folds of scalars that may be regrouped."""
    return lowering.parallel and p.rank > 0 and not _is_tiny(p) and all(isinstance(s, ArraySink) or (isinstance(s, FoldSink) and _may_regroup(s)) for s in sinks)


def _is_tiny(p: Partition) -> bool:
    """Whether constants alone say that there is little to do."""
    if not is_straight(p.body) or not all(isinstance(a, Const) for a in (*p.lower, *p.upper)):
        return False
    count = 1
    for lower, upper in zip(p.lower, p.upper):
        assert isinstance(lower, Const) and isinstance(upper, Const)
        count *= max(0, int(upper.value) - int(lower.value))
    return count * (len(p.body.statements) + 1) < WORTH / 16


def _may_regroup(sink: FoldSink) -> bool:
    if sink.stopped or any(isinstance(v.type, ArrayType) for v in sink.operator.accumulators):
        return False
    return sink.reduction is not None or not sink.lowering.unit.style.strict


def spread(lowering: Lowering, group: Sequence[Partition], sinks: Sequence[Sink], earlier: Sequence[Partition] = ()) -> None:
    """Writes a partition, or several that share the range of their first axis (`rows`), as a function of its own and the code that runs it. `earlier`: partitions whose indices are left out."""
    Spreading(lowering, group, sinks, earlier).run()


class Environment:
    """What a chunk uses from around it: a block of memory, 8 bytes a word, written outside and read inside."""

    def __init__(self) -> None:
        self.words: list[tuple[str, str]] = []
        self.known: dict[tuple[str, str], int] = {}

    def word(self, type_: str, text: str) -> int:
        """The place of a value."""
        key = (type_, text)
        if key not in self.known:
            self.known[key] = len(self.words)
            self.words.append(key)
        return self.known[key]


class Spreading:
    """Partitions being spread. `p`: the only one, or the first."""

    def __init__(self, outer: Lowering, group: Sequence[Partition], sinks: Sequence[Sink], earlier: Sequence[Partition]) -> None:
        self.outer, self.group, self.p, self.sinks, self.earlier = outer, group, group[0], sinks, earlier
        self.env = Environment()
        self.name = outer.code.module.fresh("chunk")
        self.code = Code(outer.code.module, self.name, "i32", [("ptr", "%frame"), ("ptr", "noalias %env"), ("i64", "%lower"), ("i64", "%upper")], tail="noinline")
        self.inner = Lowering(outer.unit, self.code, outer.facts)
        self.inner.results = "i32"
        self.inner.parallel = False
        self.partials: list[tuple[FoldSink, list[str]]] = []

    def run(self) -> None:
        """Writes the chunk's function, then the call."""
        code, outer = self.outer.code, self.outer
        lower, upper = outer.wide(self.p.lower[0]), outer.wide(self.p.upper[0])
        chunk = self.chunk(lower, upper)
        for sink in self.sinks:
            if isinstance(sink, FoldSink):
                self.partials.append((sink, [code.slot(f"[{MOST_CHUNKS} x {t}]") for t in self.types(sink)]))
        self.write_chunk(lower, chunk)
        memory = code.slot(f"[{max(1, len(self.env.words))} x i64]")
        for at, (type_, text) in enumerate(self.env.words):
            code.store(type_, text, code.offset("i64", memory, str(at)))
        code.module.declare("sacpy_parallel", "declare i32 @sacpy_parallel(ptr, ptr, ptr, i64, i64, i64)")
        one, many, done = code.label("direct"), code.label("spread"), code.label("done")
        status = code.slot("i32")
        count = code.op(f"sub nsw i64 {upper}, {lower}")
        code.branch(code.op(f"icmp sge i64 {chunk}, {count}"), one, many)
        code.place(one)
        code.store("i32", code.op(f"call i32 {self.name}(ptr %frame, ptr {memory}, i64 {lower}, i64 {upper})"), status)
        code.jump(done)
        code.place(many)
        code.store("i32", code.op(f"call i32 @sacpy_parallel(ptr %frame, ptr {self.name}, ptr {memory}, i64 {lower}, i64 {upper}, i64 {chunk})"), status)
        code.place(done)
        outer.pass_on(code.load("i32", status))
        for sink, memories in self.partials:
            self.collect(sink, memories, lower, upper, chunk)

    def types(self, sink: FoldSink) -> list[str]:
        return [LLVM_TYPES[v.base] for v in sink.operator.accumulators]

    # ---- sizes

    def chunk(self, lower: str, upper: str) -> str:
        """The number of indices of a chunk, at least 1."""
        code, low, cost = self.outer.code, self.outer, Cost(self.outer)
        count = code.op(f"sub nsw i64 {upper}, {lower}")
        row = "0.0"
        for p in self.group:
            part = cost.body(p.body)
            for a, b in zip(p.lower[1:], p.upper[1:]):
                part = cost.times(part, cost.range(a, b, 1))
            row = code.op(f"fadd double {row}, {part}") if len(self.group) > 1 else part
        work = cost.times(row, code.op(f"sitofp i64 {count} to double"))
        wanted = code.op(f"fdiv double {work}, {number(PER_CHUNK)}")
        above = code.op(f"fcmp ogt double {wanted}, {number(float(MOST_CHUNKS))}")
        bounded = code.op(f"select i1 {above}, double {number(float(MOST_CHUNKS))}, double {wanted}")
        worth = code.op(f"fcmp ogt double {work}, {number(WORTH)}")
        chunks = code.op(f"fptosi double {code.op(f'select i1 {worth}, double {bounded}, double 1.0')} to i64")
        size = code.op(f"sdiv i64 {code.op(f'add i64 {count}, {chunks}')}, {chunks}")
        step = "1" if self.p.step is None else low.wide(self.p.step[0])
        if self.p.rank == 1 and step == "1":
            step = str(ALIGNED)
        if len(self.group) == 1 and self.p.step is None and self.p.rank > 1 and tiled(self.p, self.sinks):
            size = code.op(f"call i64 @llvm.smax.i64(i64 {size}, i64 {code.op(f'sdiv i64 {count}, {TILED_CHUNKS}')})")
            size = code.op(f"call i64 @llvm.smax.i64(i64 {size}, i64 {TILED_ROWS})")
            code.module.declare("llvm.smax", "declare i64 @llvm.smax.i64(i64, i64)")
            step = str(ROWS_OF_TILES)
        rounds = code.op(f"sdiv i64 {code.op(f'sub i64 {code.sum(size, step)}, 1')}, {step}")
        size = code.product(rounds, step)
        positive = code.op(f"icmp sgt i64 {size}, 0")
        return code.op(f"select i1 {positive}, i64 {size}, i64 {step}")

    # ---- the function

    def write_chunk(self, lower: str, chunk: str) -> None:
        self.capture()
        inner, code = self.inner, self.code
        sinks: list[Sink] = []
        for sink in self.sinks:
            if isinstance(sink, ArraySink):
                sinks.append(ArraySink(inner, self.captured_array(sink.result), sink.rank))
            elif isinstance(sink, FoldSink):
                sinks.append(self.inner_fold(sink, lower))
        if len(self.group) > 1:
            write_rows(inner, self.group, sinks, "%lower", "%upper")
        else:
            write_nest(inner, self.p, sinks, "%lower", "%upper", self.earlier)
        if self.partials:
            distance = code.op(f"sub nsw i64 %lower, {self.captured('i64', lower)}")
            place = code.op(f"sdiv i64 {distance}, {self.captured('i64', chunk)}")
            for (sink, memories), mine in zip(self.partials, [s for s in sinks if isinstance(s, FoldSink)]):
                for type_, memory, slot in zip(self.types(sink), memories, mine.slots.slots):
                    code.store(type_, code.load(type_, slot), code.offset(type_, self.captured("ptr", memory), place))
        code.end("ret i32 0")
        inner.finish_failures()
        code.finish()

    def capture(self) -> None:
        """Reads what the partition uses, at the start of the function."""
        names: set[str] = set().union(*(free(p.body) for p in self.group))
        for sink in self.sinks:
            if isinstance(sink, FoldSink):
                names |= free(sink.operator.combine) | {a.name for a in sink.operator.neutrals if isinstance(a, Var)}
        bounds = [a for p in (*self.group, *self.earlier) for a in (*p.lower, *p.upper, *(p.step or ()), *(p.width or ()))]
        names |= {a.name for a in bounds if isinstance(a, Var)}
        for name in sorted(names & self.outer.env.keys()):
            value = self.outer.env[name]
            if isinstance(value, Array):
                self.inner.env[name] = self.captured_array(value)
            else:
                wide = None if value.wide is None else self.captured("i64", value.wide)
                text = self.captured(LLVM_TYPES[value.base], value.text)
                self.inner.env[name] = Scalar(text, value.base, wide)

    def captured(self, type_: str, text: str) -> str:
        """A value from outside, inside."""
        if not text.startswith("%"):
            return text
        return self.code.load(type_, self.code.offset("i64", "%env", str(self.env.word(type_, text))))

    def captured_array(self, value: Array) -> Array:
        """An array from outside: borrowed."""
        data = self.captured("ptr", value.data)
        return Array(data, BORROWED, value.element, tuple(self.captured("i64", e) for e in value.extents), scope=value.scope, apart=value.apart)

    def inner_fold(self, sink: FoldSink, lower: str) -> FoldSink:
        """A fold over one chunk: the first starts from the neutral elements, the others from the identities, or from their first values."""
        inner, code = self.inner, self.code
        fold = FoldSink(inner, sink.operator, Slots(inner, sink.operator.accumulators))
        first = code.op(f"icmp eq i64 %lower, {self.captured('i64', lower)}")
        fold.start()
        if isinstance(fold.reduction, Reduction):
            for k, (type_, slot) in enumerate(zip(self.types(sink), fold.slots.slots)):
                start = code.op(f"select i1 {first}, {type_} {code.load(type_, slot)}, {type_} {fold.reduction.identity(k)}")
                code.store(type_, start, slot)
        else:
            fold.fresh = code.slot("i1")
            code.store("i1", code.op(f"xor i1 {first}, true"), fold.fresh)
        return fold

    # ---- partial results

    def collect(self, sink: FoldSink, memories: list[str], lower: str, upper: str, chunk: str) -> None:
        """Combines the chunks' results in order. Without any, the fold stays at the neutral elements."""
        code = self.outer.code
        types = self.types(sink)
        some, done = code.label("some"), code.label("none")
        count = code.op(f"sub nsw i64 {upper}, {lower}")
        code.branch(code.op(f"icmp sgt i64 {count}, 0"), some, done)
        code.place(some)
        for type_, memory, slot in zip(types, memories, sink.slots.slots):
            code.store(type_, code.load(type_, memory), slot)
        chunks = code.op(f"sdiv i64 {code.op(f'sub nsw i64 {code.sum(count, chunk)}, 1')}, {chunk}")

        def join(k: str) -> None:
            values = [Scalar(code.load(t, code.offset(t, m, k)), v.base) for t, m, v in zip(types, memories, sink.operator.values)]
            sink.combine(values)

        count_loop(self.outer, "1", chunks, "1", join)
        code.place(done)

"""The code of scans (`analysis/scans`): as vectors, and on several threads.

In: a scan. Out: its loops. They run over positions: the indices, or of a scan that runs down their negatives.

Blocks of elements are computed into a buffer, which LLVM vectorises like any loop. Then as many of them as make a
vector of 64 bytes are scanned in registers, in steps of one, two, four elements, ..., and the result so far is combined
with each. So what one vector waits for from the one before is one operation. Elements of two components (see there) are
two buffers, and two vectors; flags are as wide as what they are for. Extremes of a block without NaN are found by one
instruction.

Long vectors are cut into chunks. Threads first compute what the values of each chunk combine to; from that comes what
each begins with; then they scan them. A single thread scans one after the other, which gives the same: chunks and lanes
depend on the program and the extents only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sacpy.jit.analysis.scans import Scan
from sacpy.jit.host import layout
from sacpy.jit.host.chunks import Chunked
from sacpy.jit.host.loops import count_loop
from sacpy.jit.host.memory import BORROWED, Array, Scalar, copy_elements, element_address
from sacpy.jit.host.monoids import Monoid
from sacpy.jit.host.work import Cost
from sacpy.jit.host.writer import Writer
from sacpy.jit.ir.graph import Op, Var
from sacpy.jit.ir.rewrite import free_in_order, inner_binders
from sacpy.jit.llvm.legal import LLVM_TYPES, memory_type, size_of
from sacpy.jit.llvm.scalars import emit
from sacpy.lang.types import REAL

BLOCK = 512  # values in the buffer: a multiple of the lanes of every type
ALIGNED = 64  # chunks are a multiple of so many elements, whole cache lines of them
SHARE = 0.25  # of the work counts where it is decided whether to spread it: threads compute all values twice


def write_scan(low: Writer, scan: Scan, targets: Sequence[Var], dying: set[str], into: dict[str, Array]) -> None:
    """Writes a scan and binds the loop's targets."""
    Scanning(low, scan).run(targets, dying, into)


class Scanning:
    """One scan. `source`: the vector as it was; `result`: as it becomes, perhaps in the same memory."""

    def __init__(self, low: Writer, scan: Scan) -> None:
        self.low, self.scan, self.code = low, scan, low.code
        self.type = LLVM_TYPES[scan.base]

    def run(self, targets: Sequence[Var], dying: set[str], into: dict[str, Array]) -> None:
        low, code, r = self.low, self.code, self.scan.loop
        lower, upper = low.wide(r.lower), low.wide(r.upper)
        if r.step < 0:
            lower, upper = code.difference("0", lower), code.difference("0", upper)
        upper = code.op(f"call i64 @llvm.smax.i64(i64 {lower}, i64 {upper})")
        code.module.declare("llvm.smax", "declare i64 @llvm.smax.i64(i64, i64)")
        at = r.params.index(self.scan.array)
        place = into.get(targets[at].name)
        if place is None:
            movable = dying - low.unit.uses.of(r.body)
            taken = low.take(r.initial[at], movable)
            assert isinstance(taken, Array)
            dying &= movable | low.unit.uses.of(r.body)
            source = Array(taken.data, BORROWED, taken.element, taken.extents)
            result = low.reused(taken)
        else:
            initial = low.array(r.initial[at])
            source, result = Array(initial.data, BORROWED, initial.element, initial.extents), low.as_built(place)
        self.copy_around(source, result, lower, upper)
        total = code.slot(self.type)
        self.start(total, source, lower, upper)
        if low.parallel:
            Spread(low, self.scan, source, result, total).run(lower, upper)
        else:
            piece = Piece(low, self.scan, source, result)
            left = piece.run(lower, upper, code.load(self.type, total), polls=True)
            code.store(self.type, piece.monoid.applied(code, code.load(self.type, total), left), total)
        last = Scalar(code.load(self.type, total), self.scan.base)
        low.bind(targets, [result if p == self.scan.array else last for p in r.params])

    def copy_around(self, source: Array, result: Array, lower: str, upper: str) -> None:
        """New memory gets the elements that the scan does not set: all, if there is no round, wherever the bounds are
        then."""
        code = self.code
        if self.scan.loop.step < 0:
            lower, upper = code.difference("1", upper), code.difference("1", lower)
        lower, upper = (self.inside(bound, source.extents[0]) for bound in (lower, upper))
        copy, done = code.label("copy"), code.label("copied")
        code.branch(code.op(f"icmp eq ptr {source.data}, {result.data}"), done, copy)
        code.place(copy)
        copy_elements(code, source.element, result.data, source.data, lower)
        rest = code.difference(source.extents[0], upper)
        copy_elements(
            code, source.element, element_address(code, result, upper), element_address(code, source, upper), rest
        )
        code.place(done)

    def inside(self, bound: str, extent: str) -> str:
        """A bound moved between 0 and the extent."""
        code = self.code
        code.module.declare("llvm.smin", "declare i64 @llvm.smin.i64(i64, i64)")
        return code.op(
            f"call i64 @llvm.smax.i64(i64 {code.op(f'call i64 @llvm.smin.i64(i64 {bound}, i64 {extent})')}, i64 0)"
        )

    def start(self, total: str, source: Array, lower: str, upper: str) -> None:
        """Sets what the first round finds: what is carried, or the element before the first, if there is a round."""
        code, r = self.code, self.scan.loop
        if self.scan.accumulator is not None:
            code.store(self.type, self.low.text(r.initial[r.params.index(self.scan.accumulator)]), total)
            return
        some, none = code.label("some"), code.label("none")
        code.store(self.type, Monoid(self.scan).identities[-1], total)
        code.branch(code.op(f"icmp slt i64 {lower}, {upper}"), some, none)
        code.place(some)
        code.store(self.type, self.low.load_flat(source, code.difference(lower, "1")), total)
        code.place(none)


class Piece:
    """The loops over a range of the elements."""

    def __init__(self, low: Writer, scan: Scan, source: Array, result: Array | None) -> None:
        self.low, self.scan, self.source, self.result, self.code = low, scan, source, result, low.code
        self.monoid = Monoid(scan)
        self.lanes = self.monoid.lanes
        # where results lie before what is written is computed of them
        self.raw: Array | None = None
        if result is not None and scan.post.statements:
            self.raw = Array(low.code.slot(f"[{BLOCK} x {memory_type(scan.base)}]"), BORROWED, scan.base, (str(BLOCK),))
        self.extremes = scan.base in REAL and scan.code in ("min", "max")
        self.totals = [low.code.slot(t) for t in self.monoid.types()]

    def run(self, lower: str, upper: str, before: str, *, polls: bool = False) -> list[str]:
        """Scans the elements from `lower` to below `upper` behind the result `before`, and stores the results, if there
        is somewhere to; gives what the elements alone combine to."""
        low, code = self.low, self.code
        self.set(self.monoid.identities)
        buffers = [
            Array(code.slot(f"[{BLOCK} x {memory_type(b)}]"), BORROWED, b, (str(BLOCK),)) for b in self.monoid.bases
        ]

        def block(first: str) -> None:
            if polls:
                low.poll()
            far = code.sum(first, str(BLOCK))
            end = code.op(f"select i1 {code.op(f'icmp slt i64 {far}, {upper}')}, i64 {far}, i64 {upper}")

            def element(p: str) -> None:
                at = code.difference(p, first)
                for buffer, value in zip(buffers, self.element(p)):
                    low.store(buffer, at, value)

            count_loop(low, first, end, "1", element)
            count = code.difference(end, first)
            whole = code.op(f"and i64 {count}, {-self.lanes}")

            def vectors(numbers: bool) -> None:
                count_loop(
                    low,
                    "0",
                    whole,
                    str(self.lanes),
                    lambda k: self.several(buffers, k, first, before, numbers),
                )

            if self.extremes:
                self.either(self.has_nan(buffers[-1], count), lambda: vectors(False), lambda: vectors(True))
            else:
                vectors(False)
            count_loop(low, whole, count, "1", lambda k: self.single(buffers, k, first, before))
            if self.raw is not None:
                count_loop(low, first, end, "1", lambda p: self.finish(p, code.difference(p, first)))

        count_loop(low, lower, upper, str(BLOCK), block)
        return self.get()

    def get(self) -> list[str]:
        """What the elements combine to so far."""
        return [self.code.load(t, slot) for t, slot in zip(self.monoid.types(), self.totals)]

    def set(self, values: Sequence[str]) -> None:
        """Notes that."""
        for t, slot, value in zip(self.monoid.types(), self.totals, values):
            self.code.store(t, value, slot)

    def index(self, p: str) -> str:
        """The index at a position."""
        return p if self.scan.loop.step > 0 else self.code.difference("0", p)

    def element(self, p: str) -> list[str]:
        """The element at a position."""
        low, scan = self.low, self.scan
        low.env[scan.array.name] = self.source
        i = self.index(p)
        low.bind_scalar(scan.loop.index, self.code.op(f"trunc i64 {i} to i32"), i)
        found = [v.text for v in low.block(scan.values) if isinstance(v, Scalar)]
        if scan.negative:
            found[-1] = emit(self.code, Op("neg", scan.values.results), found, low.unit.style)
        if scan.form == "reset":
            found[0] = self.code.op(f"sext i1 {found[0]} to {self.monoid.types()[0]}")
        return found

    def has_nan(self, buffer: Array, count: str) -> str:
        """Whether there is NaN among the elements of a block: an i1."""
        code, type_, slot = self.code, LLVM_TYPES[buffer.element], self.code.slot("i1")
        code.store("i1", "false", slot)

        def look(k: str) -> None:
            x = self.low.load_flat(buffer, k)
            found = code.op(f"fcmp uno {type_} {x}, {x}")
            code.store("i1", code.op(f"or i1 {code.load('i1', slot)}, {found}"), slot)

        count_loop(self.low, "0", count, "1", look)
        return code.load("i1", slot)

    def either(self, test: str, then: Callable[[], None], otherwise: Callable[[], None]) -> None:
        """One of two pieces of code."""
        code = self.code
        yes, no, done = code.label("yes"), code.label("no"), code.label("done")
        code.branch(test, yes, no)
        code.place(yes)
        then()
        code.jump(done)
        code.place(no)
        otherwise()
        code.jump(done)
        code.place(done)

    def several(self, buffers: Sequence[Array], k: str, first: str, before: str, numbers: bool) -> None:
        """A vector of elements: number k and those after it of the block from position `first` on. Where no flag is
        set, a scan that begins anew is one without flags."""
        code, monoid = self.code, Monoid(self.scan, numbers=numbers)
        types = monoid.types(self.lanes)
        v = [self.vector(buffer, k, t) for buffer, t in zip(buffers, types)]
        if monoid.form != "reset":
            self.scanned(monoid, v, k, first, before)
            return
        name, scalar = f"@llvm.vector.reduce.or.v{self.lanes}{monoid.types()[0]}", monoid.types()[0]
        code.module.declare(name, f"declare {scalar} {name}({types[0]})")
        test = code.op(f"icmp ne {scalar} {code.op(f'call {scalar} {name}({types[0]} {v[0]})')}, 0")
        plain = Monoid(self.scan, form="plain", numbers=numbers)
        self.either(
            test,
            lambda: self.scanned(monoid, v, k, first, before),
            lambda: self.scanned(plain, v[1:], k, first, before),
        )

    def scanned(self, monoid: Monoid, v: Sequence[str], k: str, first: str, before: str) -> None:
        """Scans a vector, and stores the results."""
        code, lanes, count = self.code, self.lanes, len(v)
        types = monoid.types(lanes)
        *flags, old = self.get()
        if self.result is None:
            last = self.halved(monoid, v)
        else:
            v, distance = list(v), 1
            while distance < lanes:
                v = monoid.combined(code, self.shifted(monoid, v, distance), v, lanes)
                distance *= 2
            started = self.monoid.applied(code, before, [*flags, old])
            start = [self.splat(s, t) for s, t in zip(monoid.started(started), types)]
            out = self.shifted(monoid, v, 1) if self.scan.exclusive else v
            self.write(monoid.combined(code, start, out, lanes)[-1], types[-1], k, first)
            last = [code.op(f"extractelement {t} {x}, i64 {lanes - 1}") for t, x in zip(types, v)]
        self.set([*flags, old][: len(self.totals) - count] + monoid.combined(code, [*flags, old][-count:], last))

    def write(self, out: str, type_: str, k: str, first: str) -> None:
        """Stores a vector of results, number k of its block first."""
        code, lanes = self.code, self.lanes
        to, i = self.raw or self.result, k if self.raw is not None else self.index(code.sum(first, k))
        if self.raw is None and self.scan.loop.step < 0:
            i = code.difference(i, str(lanes - 1))
            mask = ", ".join(f"i32 {lane}" for lane in range(lanes - 1, -1, -1))
            out = code.op(f"shufflevector {type_} {out}, {type_} poison, <{lanes} x i32> <{mask}>")
        assert to is not None
        code.do(f"store {type_} {out}, ptr {element_address(code, to, i)}, align {size_of(self.scan.base)}")

    def finish(self, p: str, k: str) -> None:
        """Stores what is computed of result k of a block, at position p."""
        low, scan = self.low, self.scan
        assert self.raw is not None and self.result is not None
        low.env[scan.array.name] = self.source
        i = self.index(p)
        low.bind_scalar(scan.loop.index, self.code.op(f"trunc i64 {i} to i32"), i)
        low.env[scan.seen.name] = Scalar(low.load_flat(self.raw, k), scan.base)
        (value,) = low.block(scan.post)
        assert isinstance(value, Scalar)
        low.store(self.result, i, value.text)

    def halved(self, monoid: Monoid, v: Sequence[str]) -> list[str]:
        """What a vector of elements combines to: pairs of neighbours, pairs of these, and so on, which is how the last
        lane of a scanned vector comes about."""
        code, lanes = self.code, self.lanes
        found = list(v)
        while lanes > 1:
            types = monoid.types(lanes)
            lanes //= 2
            left, right = (self.every_second(found, types, lanes, first) for first in (0, 1))
            found = monoid.combined(code, left, right, lanes)
        return found

    def every_second(self, v: Sequence[str], types: Sequence[str], lanes: int, first: int) -> list[str]:
        """Half of the lanes of vectors."""
        if lanes == 1:
            return [self.code.op(f"extractelement {t} {x}, i64 {first}") for t, x in zip(types, v)]
        mask = ", ".join(f"i32 {2 * k + first}" for k in range(lanes))
        return [self.code.op(f"shufflevector {t} {x}, {t} poison, <{lanes} x i32> <{mask}>") for t, x in zip(types, v)]

    def vector(self, buffer: Array, k: str, type_: str) -> str:
        """A vector out of a buffer."""
        size = size_of(buffer.element)
        return self.code.op(f"load {type_}, ptr {element_address(self.code, buffer, k)}, align {size}")

    def single(self, buffers: Sequence[Array], k: str, first: str, before: str) -> None:
        """One element."""
        code, monoid = self.code, self.monoid
        old = self.get()
        new = monoid.combined(code, old, [self.low.load_flat(buffer, k) for buffer in buffers])
        to = self.raw or self.result
        if to is not None:
            out = monoid.applied(code, before, old if self.scan.exclusive else new)
            self.low.store(to, k if self.raw is not None else self.index(code.sum(first, k)), out)
        self.set(new)

    def shifted(self, monoid: Monoid, v: Sequence[str], distance: int) -> list[str]:
        """Vectors moved up by some lanes, identities below."""
        lanes = [k if k < distance else self.lanes + k - distance for k in range(self.lanes)]
        mask = ", ".join(f"i32 {k}" for k in lanes)
        return [
            self.code.op(f"shufflevector {t} {self.splat(one, t)}, {t} {x}, <{self.lanes} x i32> <{mask}>")
            for one, t, x in zip(monoid.identities, monoid.types(self.lanes), v)
        ]

    def splat(self, text: str, vector: str) -> str:
        """A vector of one value."""
        scalar = vector.rpartition(" ")[2].removesuffix(">")
        one = self.code.op(f"insertelement {vector} poison, {scalar} {text}, i64 0")
        return self.code.op(f"shufflevector {vector} {one}, {vector} poison, <{self.lanes} x i32> zeroinitializer")


class Spread:
    """A scan cut into chunks, which threads work on."""

    def __init__(self, low: Writer, scan: Scan, source: Array, result: Array, total: str) -> None:
        self.low, self.scan, self.source, self.result, self.total, self.code = (
            low,
            scan,
            source,
            result,
            total,
            low.code,
        )
        self.type = LLVM_TYPES[scan.base]
        self.monoid = Monoid(scan)
        self.totals = [low.code.slot(f"[{layout.MOST_CHUNKS} x {t}]") for t in self.monoid.types()]
        self.starts = low.code.slot(f"[{layout.MOST_CHUNKS} x {self.type}]")

    def run(self, lower: str, upper: str) -> None:
        low, code = self.low, self.code
        count = code.difference(upper, lower)
        scanning, adding = Chunked(low), Chunked(low)
        cost = Cost(low)
        work = cost.times(cost.times(cost.body(self.scan.loop.body), SHARE), cost.count(count))
        chunk = scanning.grain(work, count, str(ALIGNED))
        chunks = code.quotient(code.difference(code.sum(count, chunk), "1"), chunk)
        self.write(scanning, lower, chunk, stores=True)
        self.write(adding, lower, chunk, stores=False)
        together, alone, done = code.label("together"), code.label("alone"), code.label("scanned")
        code.branch(self.helped(chunks), together, alone)
        code.place(together)
        adding.call(lower, upper, chunk)
        count_loop(low, "0", chunks, "1", lambda k: self.add(k))
        scanning.call(lower, upper, chunk)
        code.jump(done)
        code.place(alone)

        def one(k: str) -> None:
            low.poll()
            first = code.sum(lower, code.product(k, chunk))
            far = code.sum(first, chunk)
            end = code.op(f"select i1 {code.op(f'icmp slt i64 {far}, {upper}')}, i64 {far}, i64 {upper}")
            code.store(self.type, code.load(self.type, self.total), code.offset(self.type, self.starts, k))
            scanning.call(first, end, chunk)
            self.add(k)

        count_loop(low, "0", chunks, "1", one)
        code.place(done)

    def helped(self, chunks: str) -> str:
        """Whether there are several chunks and threads: an i1."""
        code = self.code
        control = code.load("ptr", "%frame")
        threads = code.load("i64", code.offset("i64", control, str(layout.CONTROL_THREADS)))
        nested = code.load("i64", code.offset("i64", "%frame", str(layout.FRAME_NESTED)))
        found = code.op(f"icmp sgt i64 {chunks}, 1")
        for test in (f"icmp sgt i64 {threads}, 1", f"icmp eq i64 {nested}, 0"):
            found = code.op(f"and i1 {found}, {code.op(test)}")
        return found

    def add(self, k: str) -> None:
        """Goes on from chunk k to the next: where it starts, and where the one after it will."""
        code = self.code
        start = code.load(self.type, self.total)
        code.store(self.type, start, code.offset(self.type, self.starts, k))
        total = [code.load(t, code.offset(t, at, k)) for t, at in zip(self.monoid.types(), self.totals)]
        code.store(self.type, self.monoid.applied(code, start, total), self.total)

    def write(self, chunked: Chunked, lower: str, chunk: str, *, stores: bool) -> None:
        """The function of a chunk: notes what it combines to, and perhaps stores the results."""
        inner, code = chunked.inner, chunked.code
        inside = {v.name for v in inner_binders(self.scan.loop)}
        blocks = (self.scan.values, self.scan.post) if stores else (self.scan.values,)
        own = {*inside, self.scan.seen.name}
        chunked.capture(name for block in blocks for name in free_in_order(block) if name not in own)
        source = chunked.captured_array(self.source)
        result = chunked.captured_array(self.result) if stores else None
        distance = code.difference("%lower", chunked.captured("i64", lower))
        k = code.quotient(distance, chunked.captured("i64", chunk))
        start = code.load(self.type, code.offset(self.type, chunked.captured("ptr", self.starts), k)) if stores else ""
        total = Piece(inner, self.scan, source, result).run("%lower", "%upper", start)
        for t, at, value in zip(self.monoid.types(), self.totals, total):
            code.store(t, value, code.offset(t, chunked.captured("ptr", at), k))
        chunked.finish()

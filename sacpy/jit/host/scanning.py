"""The code of scans (`analysis/scans`): as vectors, and on several threads.

In: a scan. Out: its loops.

Blocks of values are computed into a buffer, which LLVM vectorises like any loop. Then as many of them as make a vector
of 64 bytes are scanned in registers, in steps of one, two, four elements, ..., and the result so far is combined with
each. So what one vector waits for from the one before is one operation.

Long vectors are cut into chunks. Threads first compute what the values of each chunk combine to; from that comes what
each begins with; then they scan them. A single thread scans one after the other, which gives the same: chunks and lanes
depend on the program and the extents only.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.analysis.folds import Reduction
from sacpy.jit.analysis.scans import Scan
from sacpy.jit.host import layout
from sacpy.jit.host.chunks import Chunked
from sacpy.jit.host.folds import identity
from sacpy.jit.host.loops import count_loop
from sacpy.jit.host.memory import BORROWED, Array, Scalar, copy_elements, element_address
from sacpy.jit.host.work import Cost
from sacpy.jit.host.writer import Writer
from sacpy.jit.ir.graph import Op, Var
from sacpy.jit.ir.rewrite import free_in_order, inner_binders
from sacpy.jit.llvm.legal import LLVM_TYPES, Code, size_of
from sacpy.jit.llvm.scalars import emit
from sacpy.lang.types import REAL, SIGNED

BLOCK = 512  # values in the buffer: a multiple of the lanes of every type
VECTOR = 64  # bytes
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
        lower = low.wide(r.lower)
        upper = code.op(f"call i64 @llvm.smax.i64(i64 {lower}, i64 {low.wide(r.upper)})")
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
            code.store(self.type, piece.combine(code.load(self.type, total), left), total)
        last = Scalar(code.load(self.type, total), self.scan.base)
        low.bind(targets, [result if p == self.scan.array else last for p in r.params])

    def copy_around(self, source: Array, result: Array, lower: str, upper: str) -> None:
        """New memory gets the elements that the scan does not set: all, if there is no round, wherever the bounds are
        then."""
        code = self.code
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
        code.store(self.type, identity(reduction(self.scan), 0), total)
        code.branch(code.op(f"icmp slt i64 {lower}, {upper}"), some, none)
        code.place(some)
        code.store(self.type, self.low.load_flat(source, code.difference(lower, "1")), total)
        code.place(none)


class Piece:
    """The loops over a range of the elements."""

    def __init__(self, low: Writer, scan: Scan, source: Array, result: Array | None) -> None:
        self.low, self.scan, self.source, self.result, self.code = low, scan, source, result, low.code
        self.type = LLVM_TYPES[scan.base]
        self.lanes = VECTOR // size_of(scan.base)
        self.vector = f"<{self.lanes} x {self.type}>"
        self.identity = identity(reduction(scan), 0)

    def run(self, lower: str, upper: str, before: str, *, polls: bool = False) -> str:
        """Scans the values from `lower` to below `upper` behind `before`, and stores the results, if there is somewhere
        to; gives what the values alone combine to."""
        low, code = self.low, self.code
        total = code.slot(self.type)
        code.store(self.type, self.identity, total)
        buffer = Array(code.slot(f"[{BLOCK} x {self.type}]"), BORROWED, self.scan.base, (str(BLOCK),))

        def block(first: str) -> None:
            if polls:
                low.poll()
            far = code.sum(first, str(BLOCK))
            end = code.op(f"select i1 {code.op(f'icmp slt i64 {far}, {upper}')}, i64 {far}, i64 {upper}")
            count_loop(low, first, end, "1", lambda i: low.store(buffer, code.difference(i, first), self.value(i)))
            count = code.difference(end, first)
            whole = code.op(f"and i64 {count}, {-self.lanes}")
            count_loop(
                low, "0", whole, str(self.lanes), lambda k: self.several(buffer, k, code.sum(first, k), before, total)
            )
            count_loop(low, whole, count, "1", lambda k: self.single(buffer, k, code.sum(first, k), before, total))

        count_loop(low, lower, upper, str(BLOCK), block)
        return code.load(self.type, total)

    def value(self, i: str) -> str:
        """The value of an index."""
        low, scan = self.low, self.scan
        low.env[scan.array.name] = self.source
        low.bind_scalar(scan.loop.index, self.code.op(f"trunc i64 {i} to i32"), i)
        (value,) = low.block(scan.values)
        assert isinstance(value, Scalar)
        return (
            emit(self.code, Op("neg", scan.values.results), [value.text], low.unit.style)
            if scan.negative
            else value.text
        )

    def several(self, buffer: Array, k: str, i: str, before: str, total: str) -> None:
        """A vector of values: element i and those after it."""
        code, vector = self.code, self.vector
        v = code.op(f"load {vector}, ptr {element_address(code, buffer, k)}, align 8")
        distance = 1
        while distance < self.lanes:
            v = self.combine(self.shifted(v, distance), v, vector)
            distance *= 2
        old = code.load(self.type, total)
        if self.result is not None:
            start = self.splat(self.combine(before, old))
            out = self.combine(start, self.shifted(v, 1) if self.scan.exclusive else v, vector)
            code.do(
                f"store {vector} {out}, ptr {element_address(code, self.result, i)}, align {size_of(self.scan.base)}"
            )
        last = code.op(f"extractelement {vector} {v}, i64 {self.lanes - 1}")
        code.store(self.type, self.combine(old, last), total)

    def single(self, buffer: Array, k: str, i: str, before: str, total: str) -> None:
        """One value."""
        code = self.code
        old = code.load(self.type, total)
        new = self.combine(old, self.low.load_flat(buffer, k))
        if self.result is not None:
            self.low.store(self.result, i, self.combine(before, old if self.scan.exclusive else new))
        code.store(self.type, new, total)

    def shifted(self, v: str, distance: int) -> str:
        """A vector moved up by some lanes, identities below."""
        lanes = [k if k < distance else self.lanes + k - distance for k in range(self.lanes)]
        mask = ", ".join(f"i32 {k}" for k in lanes)
        return self.code.op(
            f"shufflevector {self.vector} {self.splat(self.identity)}, {self.vector} {v}, <{self.lanes} x i32> <{mask}>"
        )

    def splat(self, text: str) -> str:
        """A vector of one value."""
        one = self.code.op(f"insertelement {self.vector} poison, {self.type} {text}, i64 0")
        return self.code.op(
            f"shufflevector {self.vector} {one}, {self.vector} poison, <{self.lanes} x i32> zeroinitializer"
        )

    def combine(self, a: str, b: str, type_: str = "") -> str:
        """The operation on scalars, or on vectors of `type_`."""
        return combined(self.code, self.scan.code, self.scan.base, type_ or self.type, a, b)


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
        self.totals = low.code.slot(f"[{layout.MOST_CHUNKS} x {self.type}]")
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
        total = code.load(self.type, code.offset(self.type, self.totals, k))
        code.store(self.type, combined(code, self.scan.code, self.scan.base, self.type, start, total), self.total)

    def write(self, chunked: Chunked, lower: str, chunk: str, *, stores: bool) -> None:
        """The function of a chunk: notes what it combines to, and perhaps stores the results."""
        inner, code = chunked.inner, chunked.code
        inside = {v.name for v in inner_binders(self.scan.loop)}
        chunked.capture(name for name in free_in_order(self.scan.values) if name not in inside)
        source = chunked.captured_array(self.source)
        result = chunked.captured_array(self.result) if stores else None
        distance = code.difference("%lower", chunked.captured("i64", lower))
        k = code.quotient(distance, chunked.captured("i64", chunk))
        start = code.load(self.type, code.offset(self.type, chunked.captured("ptr", self.starts), k)) if stores else ""
        total = Piece(inner, self.scan, source, result).run("%lower", "%upper", start)
        code.store(self.type, total, code.offset(self.type, chunked.captured("ptr", self.totals), k))
        chunked.finish()


def reduction(scan: Scan) -> Reduction:
    """The operation as that of a fold."""
    return Reduction((scan.code,), (scan.base,))


def combined(code: Code, operation: str, base: str, type_: str, a: str, b: str) -> str:
    """An operation on two scalars or vectors."""
    if base in REAL:
        return code.op(f"f{operation} {type_} {a}, {b}")
    if operation in ("min", "max"):
        relation = ("s" if base in SIGNED else "u") + ("lt" if operation == "min" else "gt")
        test = code.op(f"icmp {relation} {type_} {a}, {b}")
        tests = f"<{type_[1:].partition(' ')[0]} x i1>" if type_.startswith("<") else "i1"
        return code.op(f"select {tests} {test}, {type_} {a}, {type_} {b}")
    return code.op(f"{operation.removeprefix('bit')} {type_} {a}, {b}")

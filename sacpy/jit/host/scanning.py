"""The code of scans (`analysis/scans`): as vectors, and on several threads.

In: a scan. Out: its loops. They run over positions: the indices, or of a scan that runs down their negatives.

Blocks of elements are computed into a buffer, which LLVM vectorises like any loop; what is in memory already is read
there. Then a few vectors of 32 bytes at a time are scanned in registers, in steps of one, two, four elements, ..., and
what these combine to is scanned in the same way, behind the result so far. So what one group of vectors waits for from
the one before is one operation. Elements of two components (see there) are two buffers, and two vectors; where no flag
is set in a group, it is scanned as if there were none. Extremes of a block without NaN are found by one instruction.

On several threads they are scanned in chunks (`scan_chunks`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sacpy.jit.analysis.scans import Chain, Scan
from sacpy.jit.host.loops import count_loop
from sacpy.jit.host.memory import BORROWED, Array, Scalar, copy_elements, element_address
from sacpy.jit.host.monoids import Monoid
from sacpy.jit.host.scan_vectors import GROUP, Lanes
from sacpy.jit.host.writer import Writer
from sacpy.jit.ir.graph import For, Let, Load, Op, Var
from sacpy.jit.llvm.legal import LLVM_TYPES, Code, memory_type, size_of
from sacpy.jit.llvm.scalars import emit
from sacpy.lang.types import REAL
from sacpy.nodes import Node, replace

BLOCK = 512  # values in the buffer: a multiple of the lanes of every type


def write_scan(
    low: Writer, scan: Scan | Chain, targets: Sequence[Var], dying: set[str], into: dict[str, Array]
) -> None:
    """Writes a scan and binds the loop's targets."""
    if isinstance(scan, Scan):
        Scanning(low, scan).run(targets, dying, into)
    else:
        from sacpy.jit.host.scan_chains import Chaining

        Chaining(low, scan).run(targets, dying, into)


def changed(
    low: Writer, r: For, at: int, targets: Sequence[Var], dying: set[str], into: dict[str, Array]
) -> tuple[Array, Array]:
    """A vector that a loop changes, as it was and as it becomes, perhaps in the same memory."""
    place = into.get(targets[at].name)
    if place is not None:
        initial = low.array(r.initial[at])
        return Array(initial.data, BORROWED, initial.element, initial.extents), low.as_built(place)
    movable = dying - low.unit.uses.of(r.body)
    taken = low.take(r.initial[at], movable)
    assert isinstance(taken, Array)
    dying &= movable | low.unit.uses.of(r.body)
    return Array(taken.data, BORROWED, taken.element, taken.extents), low.reused(taken)


def copy_around(low: Writer, r: For, source: Array, result: Array, lower: str, upper: str) -> None:
    """New memory gets the elements that the rounds at positions from `lower` to `upper` do not set: all, if there is no
    round, wherever the bounds are then."""
    code = low.code
    if r.step < 0:
        lower, upper = code.difference("1", upper), code.difference("1", lower)
    lower, upper = (_inside(low, bound, source.extents[0]) for bound in (lower, upper))
    copy, done = code.label("copy"), code.label("copied")
    code.branch(code.op(f"icmp eq ptr {source.data}, {result.data}"), done, copy)
    code.place(copy)
    copy_elements(code, source.element, result.data, source.data, lower)
    rest = code.difference(source.extents[0], upper)
    there, here = element_address(code, result, upper), element_address(code, source, upper)
    copy_elements(code, source.element, there, here, rest)
    code.place(done)


def _inside(low: Writer, bound: str, extent: str) -> str:
    """A bound moved between 0 and the extent."""
    low.code.module.declare("llvm.smin", "declare i64 @llvm.smin.i64(i64, i64)")
    return low.code.largest(low.code.op(f"call i64 @llvm.smin.i64(i64 {bound}, i64 {extent})"), "0")


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
        source, result = changed(low, r, r.params.index(self.scan.array), targets, dying, into)
        copy_around(low, r, source, result, lower, upper)
        total = code.slot(self.type)
        self.start(total, source, lower, upper)
        if low.parallel:
            from sacpy.jit.host.scan_chunks import Vectors, spread

            spread(low, Vectors(low, self.scan, source, result, total), lower, upper)
        else:
            piece = Piece(low, self.scan, source, result)
            left = piece.run(lower, upper, code.load(self.type, total), polls=True)
            code.store(self.type, piece.monoid.applied(code, code.load(self.type, total), left), total)
        last = Scalar(code.load(self.type, total), self.scan.base)
        low.bind(targets, [result if p == self.scan.array else last for p in r.params])

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


class Elements(Node):
    """One component of the elements of a block, by their numbers in it: in a buffer, or in the array that they are in
    anyway. `down`: the index of the first one there, if indices descend."""

    array: Array
    down: str = ""

    def place(self, code: Code, k: str, count: int = 1) -> str:
        """Where the first of so many elements from number k on lies in the array: where that goes down, the last."""
        if not self.down:
            return k
        return code.difference(code.difference(self.down, k), str(count - 1))


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
        loaded = self.loaded()
        own = [
            None if array is not None else Array(code.slot(f"[{BLOCK} x {memory_type(b)}]"), BORROWED, b, (str(BLOCK),))
            for array, b in zip(loaded, self.monoid.bases)
        ]

        def block(first: str) -> None:
            if polls:
                low.poll()
            far = code.sum(first, str(BLOCK))
            end = code.op(f"select i1 {code.op(f'icmp slt i64 {far}, {upper}')}, i64 {far}, i64 {upper}")

            def element(p: str) -> None:
                at = code.difference(p, first)
                for buffer, value in zip(own, self.element(p)):
                    if buffer is not None:
                        low.store(buffer, at, value)

            if any(own):
                count_loop(low, first, end, "1", element)
            buffers = [self.elements(buffer, array, first) for buffer, array in zip(own, loaded)]
            count = code.difference(end, first)
            several = self.lanes * GROUP
            whole = code.op(f"and i64 {count}, {-several}")

            def vectors(numbers: bool) -> None:
                count_loop(low, "0", whole, str(several), lambda k: self.several(buffers, k, first, before, numbers))

            if self.extremes:
                self.either(self.has_nan(buffers[-1], count), lambda: vectors(False), lambda: vectors(True))
            else:
                vectors(False)
            count_loop(low, whole, count, "1", lambda k: self.single(buffers, k, first, before))
            if self.raw is not None:
                count_loop(low, first, end, "1", lambda p: self.finish(p, code.difference(p, first)))

        count_loop(low, lower, upper, str(BLOCK), block)
        return self.get()

    def elements(self, buffer: Array | None, array: Array | None, first: str) -> Elements:
        """Those of the block from position `first` on: in a buffer of their own, or else in an array."""
        if buffer is not None:
            return Elements(buffer)
        assert array is not None
        if self.scan.loop.step < 0:
            return Elements(array, self.index(first))
        return Elements(replace(array, data=element_address(self.code, array, first)))

    def loaded(self) -> list[Array | None]:
        """For each component of elements the array of which it is the element at the index, if it is that and no more:
        it is read there."""
        scan, known = self.scan, self.low.env
        lets = {s.targets[0].name: s.rhs for s in scan.values.statements if isinstance(s, Let)}
        found: list[Array | None] = []
        for k, result in enumerate(scan.values.results):
            load = lets.get(result.name) if isinstance(result, Var) else None
            if (
                not isinstance(load, Load)
                or load.index != (scan.loop.index,)
                or (scan.negative and k == len(scan.values.results) - 1)
            ):
                found.append(None)
                continue
            array = self.source if load.array == scan.array else known[load.array.name]
            assert isinstance(array, Array)
            found.append(array)
        return found

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

    def has_nan(self, buffer: Elements, count: str) -> str:
        """Whether there is NaN among the elements of a block: an i1."""
        code, type_, slot = self.code, LLVM_TYPES[buffer.array.element], self.code.slot("i1")
        code.store("i1", "false", slot)

        def look(k: str) -> None:
            x = self.low.load_flat(buffer.array, buffer.place(code, k))
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

    def several(self, buffers: Sequence[Elements], k: str, first: str, before: str, numbers: bool) -> None:
        """A few vectors of elements: number k and those after it of the block from position `first` on. Where no flag
        is set, a scan that begins anew is one without flags."""
        code, monoid = self.code, Monoid(self.scan, numbers=numbers)
        types = monoid.types(self.lanes)
        places = [code.sum(k, str(g * self.lanes)) for g in range(GROUP)]

        def scanned(monoid: Monoid) -> None:
            taken = list(zip(buffers, types))[-len(monoid.bases) :]
            v = [[self.vector(buffer, at, t) for buffer, t in taken] for at in places]
            self.scanned(monoid, v, places, first, before)

        if monoid.form != "reset":
            scanned(monoid)
            return
        test = self.any_flag(buffers[0], places[0])
        plain = Monoid(self.scan, form="plain", numbers=numbers)
        self.either(
            test,
            lambda: scanned(monoid),
            lambda: scanned(plain),
        )

    def scanned(
        self, monoid: Monoid, v: Sequence[Sequence[str]], places: Sequence[str], first: str, before: str
    ) -> None:
        """Scans vectors, and stores the results. Each vector is scanned by itself, then what they combine to, as a
        vector too; so from one of these groups to the next one there is but one operation to wait for."""
        code, lanes, count = self.code, self.lanes, len(v[0])
        types, few, by = monoid.types(lanes), monoid.types(GROUP), Lanes(code, monoid)
        old = self.get()
        so_far, kept = old[len(old) - count :], old[: len(old) - count]
        if self.result is None:
            self.set([*kept, *monoid.combined(code, so_far, by.halved(v))])
            return
        inside = [by.prefixes(x, lanes) for x in v]
        ends = by.prefixes(by.ends(inside), GROUP)
        start = self.monoid.applied(code, before, old)
        starts = by.begun(start, by.shifted(ends, 1, GROUP), GROUP)
        for g, x in enumerate(inside):
            out = by.shifted(x, 1, lanes) if self.scan.exclusive else x
            mask = f"<{lanes} x i32> <{', '.join([f'i32 {g}'] * lanes)}>"
            one = code.op(f"shufflevector {few[-1]} {starts}, {few[-1]} poison, {mask}")
            begun = [*(by.splat(c, t, lanes) for c, t in zip(monoid.identities[:-1], types)), one]
            self.write(monoid.combined(code, begun, out, lanes)[-1], types[-1], places[g], first)
        last = [code.op(f"extractelement {t} {x}, i64 {GROUP - 1}") for t, x in zip(few, ends)]
        self.set([*kept, *monoid.combined(code, so_far, last)])

    def write(self, out: str, type_: str, k: str, first: str) -> None:
        """Stores a vector of results, number k of its block first."""
        code, lanes = self.code, self.lanes
        to, i = self.raw or self.result, k if self.raw is not None else self.index(code.sum(first, k))
        if self.raw is None and self.scan.loop.step < 0:
            i = code.difference(i, str(lanes - 1))
            out = self.turned(out, type_)
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

    def vector(self, buffer: Elements, k: str, type_: str) -> str:
        """A vector out of a buffer; flags out of an array of them."""
        code, lanes, base = self.code, self.lanes, buffer.array.element
        found = type_ if base != "bool" else f"<{lanes} x i8>"
        address = element_address(code, buffer.array, buffer.place(code, k, lanes))
        v = code.op(f"load {found}, ptr {address}, align {size_of(base)}")
        if buffer.down:
            v = self.turned(v, found)
        if base != "bool":
            return v
        return code.op(f"sext <{lanes} x i1> {code.op(f'icmp ne {found} {v}, zeroinitializer')} to {type_}")

    def turned(self, v: str, type_: str) -> str:
        """A vector with its last lane first."""
        mask = ", ".join(f"i32 {lane}" for lane in range(self.lanes - 1, -1, -1))
        return self.code.op(f"shufflevector {type_} {v}, {type_} poison, <{self.lanes} x i32> <{mask}>")

    def any_flag(self, buffer: Elements, k: str) -> str:
        """Whether a flag of a group is set, which begins at number k of a buffer: an i1."""
        code, size = self.code, size_of(buffer.array.element)
        bits = f"i{8 * size * self.lanes * GROUP}"
        address = element_address(code, buffer.array, buffer.place(code, k, self.lanes * GROUP))
        return code.op(f"icmp ne {bits} {code.op(f'load {bits}, ptr {address}, align {size}')}, 0")

    def single(self, buffers: Sequence[Elements], k: str, first: str, before: str) -> None:
        """One element."""
        code, monoid = self.code, self.monoid
        old = self.get()
        element = [self.low.load_flat(b.array, b.place(code, k)) for b in buffers]
        if buffers[0].array.element == "bool":
            element[0] = code.op(f"sext i1 {element[0]} to {monoid.types()[0]}")
        new = monoid.combined(code, old, element)
        to = self.raw or self.result
        if to is not None:
            out = monoid.applied(code, before, old if self.scan.exclusive else new)
            self.low.store(to, k if self.raw is not None else self.index(code.sum(first, k)), out)
        self.set(new)

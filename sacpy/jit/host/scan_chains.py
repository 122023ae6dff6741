"""The code of scans by any associative function (`analysis/scans`, `Chain`).

In: such a scan. Out: its loop, or that of a chunk for threads (`scan_chunks`).

Within a block of some hundred elements there are a few stretches, whose elements are combined one after the other, from
the neutral ones on, into a buffer. The stretches take turns, since a round waits for the one before. Then each result
is what was there before the stretch, combined with that, in a loop whose rounds need nothing of one another. So
brackets stand where they stand whichever thread has a chunk, and results of reals do not depend on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sacpy.jit.analysis.scans import Chain
from sacpy.jit.host.chunks import Chunked
from sacpy.jit.host.loops import count_loop
from sacpy.jit.host.memory import BORROWED, Array, Scalar
from sacpy.jit.host.scan_chunks import Chunk, spread
from sacpy.jit.host.scanning import changed, copy_around
from sacpy.jit.host.writer import Writer
from sacpy.jit.ir.graph import Let, Load, Var
from sacpy.jit.ir.rewrite import inner_binders, uses
from sacpy.jit.llvm.legal import LLVM_TYPES, constant, memory_type, size_of

BLOCK = 512  # rounds whose results lie in a buffer
STATEMENTS = 256  # of the rounds that stand side by side
Slots = list[tuple[str, str]]  # types and addresses


class Chaining(Chunk):
    """One scan. `results`: its vectors."""

    def __init__(self, low: Writer, chain: Chain) -> None:
        self.low, self.chain, self.loop = low, chain, chain.loop
        self.blocks, self.results = (chain.values, chain.post), list[Array]()
        self.own = {v.name for v in inner_binders(chain.loop)}
        self.own |= {a.name for a in chain.values.results if isinstance(a, Var)}
        self.size = max([1, *(size_of(a.base) for a in chain.arrays)])
        self.slots = [(LLVM_TYPES[a.base], low.code.slot(LLVM_TYPES[a.base])) for a in chain.accumulators]

    def run(self, targets: Sequence[Var], dying: set[str], into: dict[str, Array]) -> None:
        """Writes the loop and binds its targets."""
        low, code, r = self.low, self.low.code, self.loop
        lower, upper = low.wide(r.lower), low.wide(r.upper)
        upper = code.largest(lower, upper)
        for array in self.chain.arrays:
            source, result = changed(low, r, r.params.index(array), targets, dying, into)
            copy_around(low, r, source, result, lower, upper)
            self.results.append(result)
        self.set(self.slots, [low.text(r.initial[r.params.index(a)]) for a in self.chain.accumulators])
        results = dict(zip((a.name for a in self.chain.arrays), self.results))
        if low.parallel:
            spread(low, self, lower, upper)
        else:
            starts = self.get(self.slots)
            self.set(self.slots, self.applied(starts, self.piece(lower, upper, starts, polls=True)))
        self.low = low
        last = {a.name: Scalar(text, a.base) for text, a in zip(self.get(self.slots), self.chain.accumulators)}
        low.bind(targets, [results.get(p.name) or last[p.name] for p in r.params])

    def inside(self, chunked: Chunked) -> None:
        self.low = chunked.inner
        self.results = [chunked.captured_array(a) for a in self.results]

    def piece(self, first: str, end: str, starts: Sequence[str] | None, *, polls: bool = False) -> list[str]:
        low, code, lanes = self.low, self.low.code, self.lanes()
        totals = self.fresh()
        room = BLOCK + lanes
        buffers = [
            Array(code.slot(f"[{room} x {memory_type(a.base)}]"), BORROWED, a.base, (str(room),))
            for a in (self.chain.accumulators if starts is not None else ())
        ]

        def rounds(lower: str) -> None:
            if polls:
                low.poll()
            far = code.sum(lower, str(BLOCK))
            stop = code.op(f"select i1 {code.op(f'icmp slt i64 {far}, {end}')}, i64 {far}, i64 {end}")
            if lanes == 1:
                self.one_by_one(lower, stop, totals, buffers, starts)
                return
            whole, part, done = code.label("whole"), code.label("part"), code.label("rounds")
            code.branch(code.op(f"icmp eq i64 {stop}, {far}"), whole, part)
            code.place(whole)
            self.side_by_side(lower, totals, buffers, starts)
            code.jump(done)
            code.place(part)
            self.one_by_one(lower, stop, totals, buffers, starts)
            code.jump(done)
            code.place(done)

        count_loop(low, first, end, str(BLOCK), rounds)
        return self.get(totals)

    def lanes(self) -> int:
        """How many stretches of a block run side by side: each waits for its own rounds only."""
        size = len(self.chain.values.statements)
        return next((n for n in (8, 4) if n * size <= STATEMENTS), 1)

    def fresh(self) -> Slots:
        """Slots with the neutral elements."""
        code = self.low.code
        slots = [(LLVM_TYPES[a.base], code.slot(LLVM_TYPES[a.base])) for a in self.chain.accumulators]
        self.set(slots, self.neutrals())
        return slots

    def neutrals(self) -> list[str]:
        return [constant(c.base, c.value) for c in self.chain.function.neutrals]

    def get(self, slots: Slots) -> list[str]:
        return [self.low.code.load(t, slot) for t, slot in slots]

    def set(self, slots: Slots, values: Sequence[str]) -> None:
        for (t, slot), value in zip(slots, values):
            self.low.code.store(t, value, slot)

    def round(self, i: str, slots: Slots) -> list[str]:
        """One round, behind what the slots have; gives what they have then."""
        low, code, chain = self.low, self.low.code, self.chain
        low.bind_scalar(chain.loop.index, code.op(f"trunc i64 {i} to i32"), i)
        self.name(chain.accumulators, self.get(slots))
        after = [v.text for v in low.block(chain.values) if isinstance(v, Scalar)]
        self.set(slots, after)
        return after

    def keep(self, buffers: Sequence[Array], at: str, values: Sequence[str]) -> None:
        for buffer, value in zip(buffers, values):
            self.low.store(buffer, at, value)

    def one_by_one(
        self, lower: str, stop: str, totals: Slots, buffers: Sequence[Array], starts: Sequence[str] | None
    ) -> None:
        """Rounds that wait for one another."""
        low, code = self.low, self.low.code
        self.keep(buffers, "0", self.get(totals))

        def element(i: str) -> None:
            self.keep(buffers, code.sum(code.difference(i, lower), "1"), self.round(i, totals))

        count_loop(low, lower, stop, "1", element)
        if starts is not None:
            count_loop(low, lower, stop, "1", lambda i: self.store(i, code.difference(i, lower), starts, buffers))

    def side_by_side(self, lower: str, totals: Slots, buffers: Sequence[Array], starts: Sequence[str] | None) -> None:
        """The rounds of a whole block: stretches of it, each from the neutral elements on, and then each behind what
        those before it combine to."""
        low, code, lanes = self.low, self.low.code, self.lanes()
        length = BLOCK // lanes
        own = [self.fresh() for _ in range(lanes)]
        begins = [code.sum(lower, str(lane * length)) for lane in range(lanes)]
        places = [str(lane * (length + 1)) for lane in range(lanes)]
        for place in places:
            self.keep(buffers, place, self.neutrals())
        loaded = self.in_turn()

        def elements(k: str) -> None:
            here = code.sum(lower, code.product(k, str(lanes)))
            self.fetch(loaded, code.sum(here, str(BLOCK)), 0)
            self.fetch(() if starts is None else self.results, here, 1)
            for slots, begin, place in zip(own, begins, places):
                after = self.round(code.sum(begin, k), slots)
                self.keep(buffers, code.sum(code.sum(place, k), "1"), after)

        count_loop(low, "0", str(length), "1", elements)
        if starts is None:
            for slots in own:
                self.set(totals, self.applied(self.get(totals), self.get(slots)))
            return

        def stretch(lane: str) -> None:
            begin, place = code.sum(lower, code.product(lane, str(length))), code.product(lane, str(length + 1))
            before = self.applied(starts, self.get(totals))
            count_loop(
                low, "0", str(length), "1",
                lambda k: self.store(code.sum(begin, k), code.sum(place, k), before, buffers),
            )  # fmt: skip
            last = [low.load_flat(b, code.sum(place, str(length))) for b in buffers]
            self.set(totals, self.applied(self.get(totals), last))

        count_loop(low, "0", str(lanes), "1", stretch)

    def fetch(self, arrays: Iterable[Array], i: str, write: int) -> None:
        """Asks for the cache lines of elements that are wanted soon: the processor does not foresee where stretches go
        on."""
        code = self.low.code
        code.module.declare("llvm.prefetch", "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
        for array in arrays:
            at = code.op(f"getelementptr {memory_type(array.element)}, ptr {array.data}, i64 {i}")  # perhaps behind it
            code.do(f"call void @llvm.prefetch.p0(ptr {at}, i32 {write}, i32 3, i32 1)")

    def in_turn(self) -> list[Array]:
        """The arrays of which rounds load the element at the index."""
        loads = [s.rhs for s in self.chain.values.statements if isinstance(s, Let) and isinstance(s.rhs, Load)]
        names = dict.fromkeys(load.array.name for load in loads if load.index == (self.loop.index,))
        return [a for name in names if isinstance(a := self.low.env[name], Array)]

    def store(self, i: str, at: str, starts: Sequence[str], buffers: Sequence[Array]) -> None:
        """Stores the results of a round, of which buffers have at number `at` what the accumulators are before it, and
        then after it, behind `starts`."""
        low, chain = self.low, self.chain
        low.bind_scalar(chain.loop.index, low.code.op(f"trunc i64 {i} to i32"), i)
        count, own = uses(chain.post), {a.name for a in chain.accumulators}
        if any(count[name] for name in own):
            self.name(chain.accumulators, self.applied(starts, [low.load_flat(b, at) for b in buffers]))
        behind = [a for a in chain.values.results if isinstance(a, Var) and a.name not in own]
        if any(count[a.name] for a in behind):
            behind_it = [low.load_flat(b, low.code.sum(at, "1")) for b in buffers]
            for a, text in zip(chain.values.results, self.applied(starts, behind_it)):
                if a in behind:
                    self.name([a], [text])
        for result, value in zip(self.results, low.block(chain.post)):
            assert isinstance(value, Scalar)
            low.store(result, i, value.text)

    def name(self, variables: Sequence[Var], texts: Sequence[str]) -> None:
        """Sets variables for what is written next."""
        for v, text in zip(variables, texts):
            self.low.env[v.name] = Scalar(text, v.base)

    def applied(self, starts: Sequence[str], element: Sequence[str]) -> list[str]:
        function = self.chain.function
        self.name(function.left, starts)
        self.name(function.right, element)
        return [v.text for v in self.low.block(function.block) if isinstance(v, Scalar)]

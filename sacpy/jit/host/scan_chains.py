"""The code of scans by any associative function (`analysis/scans`, `Chain`).

In: such a scan. Out: its loop, or that of a chunk for threads (`scan_chunks`).

Within a chunk elements are combined one after the other, beginning with the neutral ones, some hundred of them into a
buffer; then each result is what was there before the chunk, combined with that, in a loop whose rounds need nothing of
one another. So brackets stand where they stand whichever thread has a chunk, and results of
reals do not depend on it.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.analysis.scans import Chain
from sacpy.jit.host.chunks import Chunked
from sacpy.jit.host.loops import count_loop
from sacpy.jit.host.memory import BORROWED, Array, Scalar
from sacpy.jit.host.scan_chunks import Chunk, spread
from sacpy.jit.host.scanning import changed, copy_around
from sacpy.jit.host.writer import Writer
from sacpy.jit.ir.graph import Var
from sacpy.jit.ir.rewrite import inner_binders, uses
from sacpy.jit.llvm.legal import LLVM_TYPES, constant, memory_type, size_of

BLOCK = 512  # rounds whose results lie in a buffer


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
        for (t, slot), a in zip(self.slots, self.chain.accumulators):
            code.store(t, low.text(r.initial[r.params.index(a)]), slot)
        results = dict(zip((a.name for a in self.chain.arrays), self.results))
        if low.parallel:
            spread(low, self, lower, upper)
        else:
            starts = [code.load(t, slot) for t, slot in self.slots]
            for (t, slot), value in zip(self.slots, self.applied(starts, self.piece(lower, upper, starts, polls=True))):
                code.store(t, value, slot)
        self.low = low
        last = {a.name: Scalar(code.load(t, slot), a.base) for (t, slot), a in zip(self.slots, self.chain.accumulators)}
        low.bind(targets, [results.get(p.name) or last[p.name] for p in r.params])

    def inside(self, chunked: Chunked) -> None:
        self.low = chunked.inner
        self.results = [chunked.captured_array(a) for a in self.results]

    def piece(self, first: str, end: str, starts: Sequence[str] | None, *, polls: bool = False) -> list[str]:
        low, code, chain = self.low, self.low.code, self.chain
        totals = [(LLVM_TYPES[a.base], code.slot(LLVM_TYPES[a.base])) for a in chain.accumulators]
        buffers = [
            Array(code.slot(f"[{BLOCK + 1} x {memory_type(a.base)}]"), BORROWED, a.base, (str(BLOCK + 1),))
            for a in (chain.accumulators if starts is not None else ())
        ]
        for (t, slot), c in zip(totals, chain.function.neutrals):
            code.store(t, constant(c.base, c.value), slot)

        def get() -> list[str]:
            return [code.load(t, slot) for t, slot in totals]

        def keep(at: str) -> None:
            for buffer, value in zip(buffers, get()):
                low.store(buffer, at, value)

        def element(i: str, lower: str) -> None:
            low.bind_scalar(chain.loop.index, code.op(f"trunc i64 {i} to i32"), i)
            self.name(chain.accumulators, get())
            after = [v.text for v in low.block(chain.values) if isinstance(v, Scalar)]
            for (t, slot), value in zip(totals, after):
                code.store(t, value, slot)
            if starts is not None:
                keep(code.sum(code.difference(i, lower), "1"))

        def rounds(lower: str) -> None:
            if polls:
                low.poll()
            far = code.sum(lower, str(BLOCK))
            stop = code.op(f"select i1 {code.op(f'icmp slt i64 {far}, {end}')}, i64 {far}, i64 {end}")
            if starts is not None:
                keep("0")
            count_loop(low, lower, stop, "1", lambda i: element(i, lower))
            if starts is not None:
                count_loop(low, lower, stop, "1", lambda i: self.store(i, lower, starts, buffers))

        count_loop(low, first, end, str(BLOCK), rounds)
        return get()

    def store(self, i: str, lower: str, starts: Sequence[str], buffers: Sequence[Array]) -> None:
        """Stores the results of a round: what is made of what the accumulators are before it and after it."""
        low, chain = self.low, self.chain
        low.bind_scalar(chain.loop.index, low.code.op(f"trunc i64 {i} to i32"), i)
        at = low.code.difference(i, lower)
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

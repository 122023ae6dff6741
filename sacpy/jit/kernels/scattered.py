"""Reductions by index that are exact in any order, by atomic operations.

In: a with-loop that combines elements (`by_index`), sums, extremes and bitwise operations of integers of 32 and 64
bits. Out: a launch for each array that copies it, and one that combines. Threads take indices in strides. Where the
arrays are small each block has its own in shared memory, starting from what combines with anything to that, and
combines them with the results at its end; else all combine with the results at once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from sacpy.jit.analysis.scatters import Scatter
from sacpy.jit.ir import graph as g
from sacpy.jit.ir import kernel as k
from sacpy.jit.kernels.builder import Builder, IrArithmetic
from sacpy.jit.kernels.by_index import ByIndex
from sacpy.jit.kernels.launches import Buffer, Launch
from sacpy.jit.kernels.numbers import Numbers, array_sizes, in_line, scratch_of, space_of
from sacpy.jit.kernels.source import Built, parameter_block
from sacpy.jit.kernels.thread import Finish
from sacpy.jit.kernels.values import Value
from sacpy.jit.llvm.legal import size_of
from sacpy.withloop import chains
from sacpy.withloop.division import magic

EACH = 16  # indices of a thread before a block more is launched
SHARED = 16384  # bytes of the arrays of a block: several blocks of a processor have room for theirs
WAVES = 2  # how often the device is filled with blocks at most


def is_atomic(found: Sequence[Scatter]) -> bool:
    """Whether all that is combined may be so by atomic operations."""
    return all(h.step.code in k.ATOMIC_CODES and h.param.base in k.ATOMIC_BASES for h in found)


class Scattered(ByIndex):
    """One with-loop."""

    def plan(
        self, numbers: Numbers, parameters: Mapping[str, int], taken: frozenset[str]
    ) -> tuple[list[Buffer], list[Launch]]:
        """Temporaries and launches. `taken`: as for `Cells`."""
        return [], [*self.copies(numbers, taken), *self._combine(numbers)]

    def _combine(self, numbers: Numbers) -> list[Launch]:
        """The launch that goes over the indices; none where there are none."""
        space = space_of(self.partition, numbers).normalised()
        mapping = in_line(space)
        total = math.prod(mapping.placement.grid) if mapping.threads else 0
        if not total:
            return []
        device, threads = self.options.device, self.options.fold_threads
        most = device.processors * (device.threads_per_processor // threads) * WAVES
        blocks = max(1, min(-(-total // (threads * EACH)), most))
        extents = self.extents(numbers)
        size = sum(math.prod(e) * size_of(h.param.base) for e, h in zip(extents, self.arrays))
        own = extents if 0 < size <= SHARED else None
        bits = mapping.bits([*array_sizes(self.source, numbers), total + blocks * threads * 2])
        key = ("combine", mapping.key, own, bits)
        built = self.kernels.get(key)
        if built is None:
            built = self.kernels[key] = self._kernel(mapping, own, bits)
        m = magic(blocks * threads, bits)
        words = [*mapping.words(bits), total, blocks * threads, m.multiplier, m.shift]
        where = f"{size} bytes of shared memory for each block" if own else "in global memory"
        return [
            Launch(
                built.kernel,
                (1, 1, blocks),
                (1, 1, threads),
                built.arguments((blocks,), words),
                "partition",
                0,
                mapping,
                (f"{total} indices by {blocks} x {threads} threads, combined by atomic operations, {where}",),
                scratch_of(built, numbers),
            )
        ]

    def _kernel(self, mapping: chains.Mapping, own: tuple[tuple[int, ...], ...] | None, bits: int) -> Built:
        """Goes over the indices. `own`: the extents of the arrays that each block has for itself."""
        thread = self.source.thread("into", bits)
        b, threads = thread.b, self.options.fold_threads
        words = parameter_block(b, mapping)
        total, step, multiplier, shift = (b.slot(s) for s in ("total", "stride", "stride_multiplier", "stride_shift"))
        blocks = b.number("blocks")
        block, t = b.names.var("block", b.word), b.names.var("thread", b.word)
        results = [b.result(v.name, v.base, g.extents_of(v)) for v in self.source.targets]
        for v in results:
            b.once[v.name] = False
        shared = [b.shared("own", h.param.base, e) for h, e in zip(self.arrays, own or ())]
        arrays = shared or results
        b.open()
        mine = b.op("add", b.op("mul", block, b.word_const(threads), exact=True), t, exact=True)
        room = b.op(
            "sub", b.op("add", total, b.op("sub", step, b.word_const(1), exact=True), exact=True), mine, exact=True
        )
        count = b.let("count", b.word, k.Divide(room, step, multiplier, shift))

        def one(i: g.Var, _: list[g.Atom]) -> list[g.Atom]:
            place = b.op("add", mine, b.op("mul", i, step, exact=True), exact=True)
            index, guard = mapping.recover(IrArithmetic(b, words), (place,), ())
            thread.bind(self.partition.index, list(map(b.as_int, index)))

            def combine() -> None:
                thread.block(self.body, self._combined(b, arrays))

            b.when(guard, combine)
            return []

        b.seq_for(b.word_const(0), count, [], one)
        body: tuple[k.BlockStmt, ...] = (k.ForAll((t,), (b.word_const(threads),), b.close()),)
        if own is not None:
            first = [self._begin(b, h, a, e) for h, a, e in zip(self.arrays, shared, own)]
            last = [self._end(b, h, a, r, e) for h, a, r, e in zip(self.arrays, shared, results, own)]
            body = (*first, k.Barrier(), *body, k.Barrier(), *last)
        return Built(b.kernel((block,), (blocks,), (b.word_const(threads),), body), tuple(v.name for v in b.shape))

    def _combined(self, b: Builder, arrays: Sequence[g.Var]) -> Finish:
        """What is done with the indices and values that a body gives."""

        def finish(values: list[Value]) -> None:
            at = 0
            for h in self.found:
                *index, value = values[at : at + len(h.index) + 1]
                at += len(h.index) + 1
                *at_index, new = (a for a in (*index, value) if isinstance(a, g.Var | g.Const))
                new = b.op("neg", new) if h.step.negative else new
                b.add(k.Atomic(h.step.code, arrays[h.number], tuple(at_index), new))

        return finish

    def _begin(self, b: Builder, h: Scatter, own: g.Var, extents: tuple[int, ...]) -> k.ForAll:
        """Fills an array of the block."""
        index = tuple(b.names.var("j", b.word) for _ in extents)
        b.open()
        b.store(own, index, h.neutral)
        return k.ForAll(index, tuple(map(b.word_const, extents)), b.close())

    def _end(self, b: Builder, h: Scatter, own: g.Var, result: g.Var, extents: tuple[int, ...]) -> k.ForAll:
        """Combines what a block has with a result, where there is something."""
        index = tuple(b.names.var("j", b.word) for _ in extents)
        b.open()
        value = b.load(own, *index)
        b.when(b.op("neq", value, h.neutral), lambda: b.add(k.Atomic(h.step.code, result, index, value)))
        return k.ForAll(index, tuple(map(b.word_const, extents)), b.close())

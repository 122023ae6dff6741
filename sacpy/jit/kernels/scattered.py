"""Reductions by index: with-loops that combine elements of arrays with values wherever the data say.

In: a with-loop whose operators are `into`, along one axis. Out: a launch for each array that copies it, and one that
combines. Threads take indices in strides. Where the arrays are small each block has its own in shared memory, starting
from what combines with anything to that, and combines them with the results at its end; else all combine with the
results at once. They do so by atomic operations, so only what is exact in any order runs here: sums, extremes and
bitwise operations of integers of 32 and 64 bits.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence

from sacpy.jit.analysis.scatters import Scatter, scatters
from sacpy.jit.ir import graph as g
from sacpy.jit.ir import kernel as k
from sacpy.jit.kernels.builder import Builder, IrArithmetic
from sacpy.jit.kernels.launches import Buffer, KernelOptions, Launch, Refused
from sacpy.jit.kernels.numbers import Numbers, array_sizes, in_line, scratch_of, space_of
from sacpy.jit.kernels.source import Built, Source, known_block, mapped, number_of, parameter_block
from sacpy.jit.kernels.thread import Finish
from sacpy.jit.kernels.values import Memory, Value
from sacpy.jit.llvm.legal import size_of
from sacpy.lang.core import HANDED_ON
from sacpy.withloop import chains
from sacpy.withloop.division import magic
from sacpy.withloop.spaces import IndexSpace
from sacpy.withloop.strategies import choose

EACH = 16  # indices of a thread before a block more is launched
SHARED = 16384  # bytes of the arrays of a block: several blocks of a processor have room for theirs
WAVES = 2  # how often the device is filled with blocks at most
_INEXACT = "combines what is not exact in any order, or too small for an atomic operation, one after the other"


class Scattered:
    """One with-loop. Kernels are remembered by the form of their mapping."""

    def __init__(self, source: Source, options: KernelOptions) -> None:
        self.source, self.options = source, options
        w = source.with_loop
        words = {o.word for o in w.operators if isinstance(o, g.Propagate)}
        if words != {"into"}:
            word = min(words - {"into"})
            raise Refused(f"{word} {HANDED_ON[word]}")
        if len(w.operators) < 1 or len(w.partitions) != 1 or w.partitions[0].rank != 1 or w.partitions[0].step:
            raise Refused(f"into {HANDED_ON['into']}")
        (self.partition,) = w.partitions
        p, operators = self.partition, [o for o in w.operators if isinstance(o, g.Propagate)]
        params = tuple(v for o in operators for v in o.params)
        initial = tuple(a for o in operators for a in o.initial)
        self.found = scatters(g.For(p.index[0], p.lower[0], p.upper[0], 1, params, initial, p.body), reals=False)
        if not self.found:
            raise Refused(f"into {HANDED_ON['into']}")
        if not all(h.step.code in k.ATOMIC_CODES and h.param.base in k.ATOMIC_BASES for h in self.found):
            raise Refused(f"into {_INEXACT}")
        self.kernels: dict[Hashable, Built] = {}
        gone = {h.step.old.name for h in self.found} | {h.updated.name for h in self.found}
        gone |= {t.name for h in self.found for s in h.step.lets for t in s.targets}
        body = p.body.statements
        kept = tuple(s for s in body if not isinstance(s, g.Let) or all(t.name not in gone for t in s.targets))
        self.body = g.Block(kept, tuple(a for h in self.found for a in (*h.index, h.step.value)))
        thread = source.thread("trial", 32)  # translated once, so that what cannot run is known before it is to run
        thread.bind(p.index, list(p.index))
        thread.block(self.body)
        self.scratch = thread.b.scratch_extents()

    def inputs(self) -> set[str]:
        """The ints that plans depend on, extents of arrays left out."""
        return {a.name for a in (*self.partition.lower, *self.partition.upper) if isinstance(a, g.Var)} | self.scratch

    def plan(
        self, numbers: Numbers, parameters: Mapping[str, int], taken: frozenset[str]
    ) -> tuple[list[Buffer], list[Launch]]:
        """Temporaries and launches. `taken`: as for `Cells`; nothing is, since the results are copies."""
        launches = [launch for h, t in zip(self.found, self.source.targets) for launch in self._copy(h, t, numbers)]
        return [], [*launches, *self._combine(numbers)]

    # ---- launches

    def _copy(self, h: Scatter, target: g.Var, numbers: Numbers) -> list[Launch]:
        """The launch that gives a result the elements that it starts with; none where there are none."""
        space = IndexSpace.of([0] * len(h.extents), [number_of(e, numbers) for e in h.extents])
        choice = choose(self.options.strategy, space, self.options.device)
        mapping = choice.chain.map(space, self.options.device)
        if not mapping.threads:
            return []
        bits, block = mapping.bits(array_sizes(self.source, numbers)), known_block(mapping)
        key = ("copy", target.name, mapping.key, block, bits)
        built = self.kernels.get(key)
        if built is None:
            built = self.kernels[key] = self._copy_kernel(h, target, mapping, block, bits)
        placement = mapping.placement
        shape = (*placement.launched, *(() if block is not None else placement.block))
        arguments = built.arguments(shape, mapping.words(bits))
        return [Launch(built.kernel, mapping.grid, mapping.block, arguments, "copy", None, mapping, choice.reasons)]

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
        extents = tuple(tuple(number_of(e, numbers) for e in h.extents) for h in self.found)
        size = sum(math.prod(e) * size_of(h.param.base) for e, h in zip(extents, self.found))
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

    # ---- kernels

    def _copy_kernel(
        self, h: Scatter, target: g.Var, mapping: chains.Mapping, block: tuple[int, ...] | None, bits: int
    ) -> Built:
        thread = self.source.thread("copy", bits)
        array = thread.b.result(target.name, target.base, g.extents_of(target))

        def one(index: tuple[g.Atom, ...], _: Sequence[g.Var]) -> None:
            thread.arrays.assign(Memory(array, index), thread.arrays.load(thread.array(h.given), index))

        return mapped(thread, mapping, block, (), one)

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
        shared = [b.shared("own", h.param.base, e) for h, e in zip(self.found, own or ())]
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
            first = [self._begin(b, h, a, e) for h, a, e in zip(self.found, shared, own)]
            last = [self._end(b, h, a, r, e) for h, a, r, e in zip(self.found, shared, results, own)]
            body = (*first, k.Barrier(), *body, k.Barrier(), *last)
        return Built(b.kernel((block,), (blocks,), (b.word_const(threads),), body), tuple(v.name for v in b.shape))

    def _combined(self, b: Builder, arrays: Sequence[g.Var]) -> Finish:
        """What is done with the indices and values that a body gives."""

        def finish(values: list[Value]) -> None:
            at = 0
            for h, array in zip(self.found, arrays):
                *index, value = values[at : at + len(h.index) + 1]
                at += len(h.index) + 1
                *at_index, new = (a for a in (*index, value) if isinstance(a, g.Var | g.Const))
                new = b.op("neg", new) if h.step.negative else new
                b.add(k.Atomic(h.step.code, array, tuple(at_index), new))

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

"""Folds over whole index spaces.

In: a with-loop whose operators are all folds; at run time the numbers that its bounds have. Out: for each partition a
launch: every thread folds part of the indices, every block puts together what its threads have, and the block that is
done last what all blocks have (in a second launch, where a mapping says what blocks are). The shape of a launch, and so
the result to the last bit, depends on the bounds and the device only. A mapping of the programmer's, or of a strategy,
says which thread has which index, one each. Without one, threads take indices in strides, so that neighbours read
neighbouring elements; where order counts, each takes a run of its own.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping

from sacpy.jit.analysis.shared_planner import ALIGNMENT, BYTES
from sacpy.jit.ir import graph as g
from sacpy.jit.ir import kernel as k
from sacpy.jit.kernels import triangles, wide
from sacpy.jit.kernels.builder import IrArithmetic
from sacpy.jit.kernels.fold_ends import Ends
from sacpy.jit.kernels.launches import Buffer, KernelOptions, Launch
from sacpy.jit.kernels.nested import Nested, nested
from sacpy.jit.kernels.numbers import (
    Numbers,
    array_sizes,
    chain_of,
    fold_of,
    in_line,
    pragmas_of,
    scratch_of,
    space_of,
)
from sacpy.jit.kernels.reduction import Reduction
from sacpy.jit.kernels.shares import blocks_of
from sacpy.jit.kernels.source import Built, Frame, Source, parameter_block
from sacpy.jit.kernels.thread import Thread
from sacpy.withloop import chains
from sacpy.withloop.combinators import FoldTriangle, Permute
from sacpy.withloop.division import magic
from sacpy.withloop.errors import MappingError
from sacpy.withloop.order import in_order
from sacpy.withloop.spaces import IndexSpace
from sacpy.withloop.strategies import STRATEGIES, Refusal

_OTHER_ORDER = (
    "this mapping changes the order of the indices, and the function of the fold is not known to be commutative"
)
_SAY_SO = (
    "leave {} out; or, if the function gives the same in any order of its operands, say so with `#pragma "
    "commutative` before the first partition"
)


class Folds:
    """One with-loop. Kernels are remembered by the form of their mapping."""

    def __init__(self, source: Source, options: KernelOptions) -> None:
        self.source = source
        self.options = options
        w = source.with_loop
        self.folds = tuple(o for o in w.operators if isinstance(o, g.Fold))
        self.pragmas = pragmas_of(w)
        self.nested = [nested(source, n, own, options) for n, own in enumerate(self.pragmas)]
        self.kernels: dict[Hashable, Built] = {}
        self.scratch: set[str] = set()
        self.runs: list[bool] = []  # whether the threads of a partition have indices beside one another
        for n, p in enumerate(w.partitions):  # translated once, so that what cannot run is known before it is to run
            thread = source.thread("trial", 32)
            reduction = self._reduction(thread, n)
            thread.bind(p.index, list(p.index))
            reduction.take(reduction.initial, None, lambda thread=thread, p=p: thread.block(p.body))  # type: ignore[misc]
            self.scratch |= thread.b.scratch_extents()
            self.runs.append(reduction.runs)
        trial = self._reduction(source.thread("trial", 32))
        self.ordered, self.bytes, self.bases, self.threads = (
            trial.ordered,
            trial.bytes,
            trial.kept,
            trial.threads(options),
        )
        self.ends = Ends(source, self.threads)

    def _reduction(self, thread: Thread, number: int | None = None) -> Reduction:
        """What a thread has, and how it is put together, for a partition if it has a pragma about that."""
        w = self.source.with_loop
        checks = thread.checked(*(p.body for p in w.partitions), *(f.combine for f in self.folds))
        return Reduction(thread, self.folds, checks, None if number is None else fold_of(self.pragmas[number]))

    def inputs(self) -> set[str]:
        """The ints that plans depend on, extents of arrays left out."""
        partitions = self.source.with_loop.partitions
        atoms = triangles.sizes(partitions)
        atoms += [a for p in partitions for a in (*p.lower, *p.upper, *(p.step or ()), *(p.width or ()))]
        within = (n.inputs for n in self.nested if n is not None)
        return {a.name for a in atoms if isinstance(a, g.Var)}.union(self.scratch, *within)

    # ---- plans

    def plan(
        self, numbers: Numbers, parameters: Mapping[str, int], taken: frozenset[str]
    ) -> tuple[list[Buffer], list[Launch]]:
        """Temporaries and launches. No result of a fold is ever `taken`."""
        temporaries: list[Buffer] = []
        launches: list[Launch] = []
        for number, p in enumerate(self.source.with_loop.partitions):
            more, own = self._partition(number, p, numbers, parameters)
            temporaries += more
            launches += own
        return temporaries, launches or [self._neutral()]

    def _partition(
        self, number: int, p: g.Partition, numbers: Numbers, parameters: Mapping[str, int]
    ) -> tuple[list[Buffer], list[Launch]]:
        space = space_of(p, numbers).normalised()
        asked, reasons = self._asked(number, space, parameters, numbers)
        temporaries: list[Buffer] = []
        launches: list[Launch] = []
        if asked is None:
            within = self.nested[number]
            values = within and within.launches(number, space, numbers, self.options, self.kernels)
            if values:
                temporaries, launches = values
            blocks, launch = self._own(number, p, within if values else None, space, reasons, numbers)
        else:
            blocks, launch = self._mapped(number, p, asked, reasons, numbers)
        launches = [*launches, launch]
        if blocks > 1:
            names = self.ends.partials(self._reduction(self.source.thread("trial", 32)), number)
            temporaries = [*temporaries, *(Buffer(name, base, (blocks,)) for name, base in names)]
        if blocks > 1 and asked is not None:
            launches.append(self._last(number, blocks))
        return temporaries, launches

    def _asked(
        self, number: int, space: IndexSpace, parameters: Mapping[str, int], numbers: Numbers
    ) -> tuple[chains.Mapping | None, tuple[str, ...]]:
        """The mapping that the pragma asks for, or the strategy; None where the fold is laid out here. `MappingError`
        where that of the pragma does not fit the space, the device, or the order of operands."""
        device = self.options.device
        chain = chain_of(self.pragmas[number])
        if chain is not None:
            chosen = {q.name: parameters[q.name] for q in chain.parameters if q.name in parameters}
            positions = triangles.positions(self.source.with_loop.partitions[number], space, numbers)
            mapping = chain.bind(**chosen).map(space if positions is None else positions, device)
            problem = self._problem(number, mapping)
            if problem is not None:
                raise problem
            return mapping if mapping.threads else None, ("the pragma says so",)
        own = "the indices in their own order"
        if self.options.strategy == "auto":
            return None, (own,)
        choice = STRATEGIES[self.options.strategy](space, device)
        if isinstance(choice, Refusal):
            return None, (f"{choice.reason}, so auto chose", own)
        mapping = choice.chain.map(space, device)
        problem = self._problem(number, mapping)
        if problem is not None:
            return None, (f"{self.options.strategy} does not fit: {problem.message}, so auto chose", own)
        return mapping if mapping.threads else None, choice.reasons

    def _problem(self, number: int, mapping: chains.Mapping) -> MappingError | None:
        """What keeps a fold from being laid out so."""
        way = fold_of(self.pragmas[number])
        if way is not None and way.each:
            return way.refused("with a mapping, each thread has one index", "leave one of the two pragmas out")
        if way is not None and way.way == "shuffle" and math.prod(mapping.placement.block) % k.WARP:
            return way.refused("the blocks of this mapping have no whole warps", "take a block of 32 threads or more")
        if self.ordered and not in_order(mapping):
            moving = next((s for s in mapping.chain.steps if isinstance(s, Permute | FoldTriangle)), Permute(()))
            span = moving.span or mapping.chain.grid_block.span
            return MappingError("E0818", _OTHER_ORDER, _SAY_SO.format(moving.name), span=span)
        threads, device = math.prod(mapping.placement.block), self.options.device
        needed = threads * self.bytes + ALIGNMENT * len(self.bases)
        if needed > device.shared_per_block:
            message = (
                f"the {threads} threads of a block accumulate {self.bytes} bytes each, and {device.name} has "
                f"{device.shared_per_block} bytes of shared memory for a block"
            )
            help = "make the block smaller with SplitLast"
            return MappingError("E0811", message, help, span=mapping.chain.grid_block.span)
        return None

    def _mapped(
        self, number: int, p: g.Partition, mapping: chains.Mapping, reasons: tuple[str, ...], numbers: Numbers
    ) -> tuple[int, Launch]:
        """The launch in which each thread has an index, and how many blocks it has."""
        placement = mapping.placement
        threads, blocks = math.prod(placement.block), math.prod(placement.launched)
        bits = mapping.bits([*array_sizes(self.source, numbers), mapping.space.size, mapping.threads])
        key = (number, "mapped", mapping.key, placement.block, bits, blocks == 1)
        built = self.kernels.get(key)
        if built is None:
            built = self.kernels[key] = self._mapped_kernel(number, p, mapping, bits, blocks == 1)
        reasons = (
            *reasons,
            *((placement.note,) if placement.note else ()),
            f"an index for each thread, {blocks} x {threads} of them",
        )
        arguments = built.arguments((*placement.launched, blocks), [*mapping.words(bits), mapping.space.size])
        return blocks, Launch(
            built.kernel,
            mapping.grid,
            mapping.block,
            arguments,
            "fold" if blocks == 1 else "partials",
            number,
            mapping,
            reasons,
            scratch_of(built, numbers),
        )

    def _own(
        self,
        number: int,
        p: g.Partition,
        within: Nested | None,
        space: IndexSpace,
        reasons: tuple[str, ...],
        numbers: Numbers,
    ) -> tuple[int, Launch]:
        """The launch in which each thread has several indices, a block for so many that the device is filled, and how
        many blocks it has. `within`: the values are computed before."""
        p = within.partition if within else p
        threads, way = self.threads, fold_of(self.pragmas[number])
        mapping = in_line(space)
        total = math.prod(mapping.placement.grid)
        runs = self.runs[number]
        group = 1 if way is not None and (way.each or way.pairs) else self._group(p, mapping)
        blocks = blocks_of(total, threads, self.options.device, way)
        each = -(-total // (blocks * threads))
        bits = mapping.bits([*array_sizes(self.source, numbers), total + blocks * threads * 2 + each])
        last = blocks == 1
        key = (number, mapping.key, bits, last, group, within is None)
        built = self.kernels.get(key)
        if built is None:
            built = self.kernels[key] = self._kernel(number, p, within, mapping, bits, last, group)
        m = magic(blocks * threads, bits)
        words = [*mapping.words(bits), total, *((each,) if runs else (blocks * threads, m.multiplier, m.shift))]
        words += [] if last else [-(-blocks // threads)]
        reasons = (
            *reasons,
            *((f"the pragma says so: {way.words}",) if way is not None else ()),
            f"{total} indices by {blocks} x {threads} threads, {'a run of' if runs else 'up to'} {each} each",
            *(() if last else ("the block that is done last puts together what all have",)),
        )
        arguments = built.arguments((blocks,), words)
        return blocks, Launch(
            built.kernel,
            (1, 1, blocks),
            (1, 1, threads),
            arguments,
            "fold",
            number,
            mapping,
            reasons,
            scratch_of(built, numbers),
        )

    def _group(self, p: g.Partition, mapping: chains.Mapping) -> int:
        """How many neighbouring indices a thread takes at a time: where elements lie side by side, as many as the
        widest access takes."""
        plain = p.rank == 1 and not mapping.stages and wide.suits(p) and wide.side_by_side(p)
        return max(1, ALIGNMENT // max(BYTES[base] for base in self.bases)) if plain and not self.ordered else 1

    # ---- kernels

    def _kernel(
        self,
        number: int,
        p: g.Partition,
        within: Nested | None,
        mapping: chains.Mapping,
        bits: int,
        last: bool,
        group: int,
    ) -> Built:
        """What threads and blocks do with the indices. `last`: there is one block, which gives the results; `group`: so
        many neighbouring indices a thread takes at a time, if their order does not count (a power of two)."""
        thread = self.source.thread(f"fold{number}", bits)
        b, threads = thread.b, self.threads
        if within:
            within.declare(b)
        reduction = self._reduction(thread, number)
        words = parameter_block(b, mapping)
        total = b.slot("total")
        run = b.slot("each") if reduction.runs else None
        stride = [b.slot(name) for name in ("stride", "stride_multiplier", "stride_shift")] if run is None else []
        share = None if last else b.slot("share")
        blocks = b.number("blocks")
        block, t = b.names.var("block", b.word), b.names.var("thread", b.word)
        shared = reduction.allocate(threads)
        b.open()
        mine = b.op("add", b.op("mul", block, b.word_const(threads), exact=True), t, exact=True)

        def one(place: g.Atom, carried: list[g.Atom]) -> list[g.Atom]:
            index, guard = mapping.recover(IrArithmetic(b, words), (place,) if mapping.placement.grid else (), ())
            thread.bind(p.index, list(map(b.as_int, index)))
            return reduction.take(carried, guard, lambda: thread.block(p.body))

        if run is not None:
            start = b.op("mul", mine, run, exact=True)
            found = b.seq_for(start, b.op("min", b.op("add", start, run, exact=True), total), reduction.initial, one)
        else:
            step, multiplier, shift = stride
            size = b.word_const(group)
            groups = b.op("shr", total, b.word_const(group.bit_length() - 1)) if group > 1 else total
            room = b.op(
                "sub", b.op("add", groups, b.op("sub", step, b.word_const(1), exact=True), exact=True), mine, exact=True
            )
            count = b.let("count", b.word, k.Divide(room, step, multiplier, shift))

            def several(i: g.Var, carried: list[g.Atom]) -> list[g.Atom]:
                at = b.op("add", mine, b.op("mul", i, step, exact=True), exact=True)
                first = b.op("mul", at, size, exact=True) if group > 1 else at
                for n in range(group):
                    carried = one(b.op("add", first, b.word_const(n), exact=True) if n else first, carried)
                return carried

            found = b.seq_for(b.word_const(0), count, reduction.initial, several)
            if group > 1:  # what is left is less than a group
                whole = b.op("mul", groups, size, exact=True)
                place = b.op("add", whole, mine, exact=True)
                before = found
                found = reduction.choose(b.op("lt", place, total), lambda: one(place, before), lambda: before)
        reduction.leave(shared, t, found)
        gather = k.ForAll((t,), (b.word_const(threads),), b.close())
        phases = reduction.tree(shared, threads)
        if share is None:
            end = [self.ends.results(thread, reduction, shared, number, total)]
        else:
            end = [self.ends.leave(thread, reduction, shared, number, lambda: block, blocks)]
            names = self.ends.partials(reduction, number)
            parts = [b.results[name] for name, _ in names]
            rest = self.ends.rest(thread, reduction, shared, number, parts, blocks, share)
            end.append(k.LastBlock(b.shared("is_last", "int", (1,)), tuple(rest)))
        return Built(
            b.kernel((block,), (blocks,), (b.word_const(threads),), (gather, *phases, *end), aligned=group > 1),
            tuple(v.name for v in b.shape),
        )

    def _mapped_kernel(self, number: int, p: g.Partition, mapping: chains.Mapping, bits: int, last: bool) -> Built:
        """What threads and blocks do with an index each, those of a block counted as those of the grid are, x last."""
        thread = self.source.thread(f"fold{number}", bits)
        b, extents = thread.b, mapping.placement.block
        reduction = self._reduction(thread, number)
        frame = Frame(b, mapping, extents)
        total, blocks = b.slot("total"), b.number("blocks")
        shared = reduction.allocate(math.prod(extents))
        b.open()
        counters, index, guard = frame.index()
        thread.bind(p.index, triangles.index_of(p, mapping, thread, index))
        found = reduction.take(reduction.initial, guard, lambda: thread.block(p.body))
        reduction.leave(shared, thread.arrays.ravel(counters, frame.size), found)
        gather = k.ForAll(counters, frame.size, b.close())
        phases = reduction.tree(shared, math.prod(extents))
        end = (
            self.ends.results(thread, reduction, shared, number, total)
            if last
            else self.ends.leave(
                thread, reduction, shared, number, lambda: thread.arrays.ravel(frame.place, frame.launched), blocks
            )
        )
        return frame.kernel((gather, *phases, end))

    def _last(self, number: int, blocks: int) -> Launch:
        """The launch that puts together what blocks have."""
        threads = self.threads
        built = self.kernels.get(("last", number))
        if built is None:
            built = self.kernels["last", number] = self._last_kernel(number)
        return Launch(
            built.kernel,
            (1, 1, 1),
            (1, 1, threads),
            built.arguments((blocks,), (-(-blocks // threads),)),
            "total",
            number,
            None,
            (f"one block puts together what {blocks} have",),
        )

    def _last_kernel(self, number: int) -> Built:
        thread = self.source.thread(f"total{number}", 32)
        b, threads = thread.b, self.threads
        reduction = self._reduction(thread, number)
        count, run = b.number("count"), b.slot("each")
        parts = []
        for name, base in self.ends.partials(reduction, number):
            b.arrays[name] = g.Var(name, g.ArrayType(base, (count,)))
            parts.append(b.arrays[name])
        shared = reduction.allocate(threads)
        body = self.ends.rest(thread, reduction, shared, number, parts, count, run)
        return Built(
            b.kernel((b.names.var("block", g.INT),), (g.integer(1),), (g.integer(threads),), body),
            tuple(v.name for v in b.shape),
        )

    def _neutral(self) -> Launch:
        """The launch of a with-loop without partitions."""
        built = self.kernels.get("neutral")
        if built is None:
            thread = self.source.thread("neutral", 32)
            b = thread.b
            b.open()
            for t, neutral in zip(self.source.targets, (n for f in self.folds for n in f.neutrals)):
                b.store(b.result(t.name, t.base, (g.integer(1),)), (g.integer(0),), thread.atom(neutral))
            built = self.kernels["neutral"] = Built(b.kernel((), (), (), (k.ForAll((), (), b.close()),)), ())
        return Launch(built.kernel, (1, 1, 1), (1, 1, 1), built.arguments((), ()), "total")

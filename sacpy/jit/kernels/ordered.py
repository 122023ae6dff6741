"""Reductions by index that keep their order: sums of reals, products, extremes of reals, small integers.

In: a with-loop that combines elements (`by_index`). Out: launches. The indices are cut into pieces of equal length, in
their order. A thread goes through each, and combines with elements of arrays of its own, which start from what combines
with anything to that; then those of neighbouring pieces are put together, in levels, and in the end with what the
arrays were before. So operands keep their order, and are grouped by the extents alone.

    pieces      part[j, c] = what piece c combines at j         a thread for each c
    levels      part'[j, d] = part[j, d * R] .. part[j, d * R + R - 1]
    joined      result[j] = given[j], part'[j, 0], ..

The pieces of one element lie side by side: threads that set theirs at the same time write neighbouring elements, and so
do those that read a level. (After Podlozhnyuk: Histogram calculation in CUDA, 2007.) How many pieces there are follows
from what the arrays take; where that leaves threads with too long a piece, the with-loop stays on the host.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from sacpy.jit.analysis.combine import function_of
from sacpy.jit.analysis.scatters import Scatter
from sacpy.jit.ir import graph as g
from sacpy.jit.ir import kernel as k
from sacpy.jit.kernels.builder import IrArithmetic
from sacpy.jit.kernels.by_index import ByIndex
from sacpy.jit.kernels.launches import Buffer, Launch, Refused
from sacpy.jit.kernels.numbers import Numbers, array_sizes, in_line, scratch_of, space_of
from sacpy.jit.kernels.source import Built, known_block, mapped, parameter_block
from sacpy.jit.kernels.thread import Finish, Thread
from sacpy.jit.kernels.values import Value
from sacpy.withloop import chains
from sacpy.withloop.spaces import IndexSpace
from sacpy.withloop.strategies import choose

LEAST = 16  # indices of a piece, at least
LONGEST = 4096  # and at most, where the arrays are too large for more pieces
MOST = 1 << 14  # pieces: threads that keep a device busy
SHARE = 8  # elements of all pieces for each index: as long as it takes to set and read these, and no longer
ROOM = 1 << 25  # elements of all pieces
R = 32  # pieces that a thread puts together
BLOCK = 128  # threads


class Ordered(ByIndex):
    """One with-loop."""

    def plan(
        self, numbers: Numbers, parameters: Mapping[str, int], taken: frozenset[str]
    ) -> tuple[list[Buffer], list[Launch]]:
        """Temporaries and launches. `taken`: as for `Cells`. `Refused` where the arrays are too large."""
        space = space_of(self.partition, numbers).normalised()
        mapping = in_line(space)
        total = math.prod(mapping.placement.grid) if mapping.threads else 0
        extents = self.extents(numbers)
        cells = sum(map(math.prod, extents))
        if not total or not cells:
            return [], self.copies(numbers, taken)
        pieces, length = cut(total, cells)
        temporaries = [self._buffer(n, 0, (*e, pieces)) for n, e in enumerate(extents)]
        launches = [self._pieces(mapping, numbers, total, pieces, length, cells)]
        level = 0
        while pieces > R:
            groups = -(-pieces // R)
            for n, e in enumerate(extents):
                temporaries.append(self._buffer(n, level + 1, (*e, groups)))
                launches += self._joined(n, level, (*e, groups), pieces, numbers)
            pieces, level = groups, level + 1
        for n, e in enumerate(extents):
            launches += self._joined(n, level, e, pieces, numbers)
        return temporaries, launches

    def _buffer(self, number: int, level: int, extents: tuple[int, ...]) -> Buffer:
        return Buffer(self._name(number, level), self.arrays[number].param.base, extents)

    def _name(self, number: int, level: int) -> str:
        return f"{self.source.targets[number].name}.pieces{level}"

    # ---- pieces

    def _pieces(
        self, mapping: chains.Mapping, numbers: Numbers, total: int, pieces: int, length: int, cells: int
    ) -> Launch:
        """The launch that goes over the indices."""
        bits = mapping.bits([*array_sizes(self.source, numbers), total + length, cells * pieces])
        key = ("pieces", mapping.key, bits)
        built = self.kernels.get(key)
        if built is None:
            built = self.kernels[key] = self._pieces_kernel(mapping, bits)
        blocks = -(-pieces // BLOCK)
        return Launch(
            built.kernel,
            (1, 1, blocks),
            (1, 1, BLOCK),
            built.arguments((blocks, pieces), [*mapping.words(bits), total, length]),
            "partition",
            0,
            mapping,
            (f"{total} indices in {pieces} pieces of {length}, a thread each, put together in their order",),
            scratch_of(built, numbers),
        )

    def _pieces_kernel(self, mapping: chains.Mapping, bits: int) -> Built:
        thread = self.source.thread("pieces", bits)
        b = thread.b
        words = parameter_block(b, mapping)
        total, length = b.slot("total"), b.slot("length")
        blocks, pieces = b.number("blocks"), b.number("pieces")
        parts = [b.result(self._name(n, 0), h.param.base, (*h.extents, pieces)) for n, h in enumerate(self.arrays)]
        for v in parts:
            b.once[v.name] = False
        block, t = b.names.var("block", b.word), b.names.var("thread", b.word)
        b.open()
        piece = b.op("add", b.op("mul", block, b.word_const(BLOCK), exact=True), t, exact=True)
        b.when(b.op("lt", piece, pieces), lambda: self._piece(thread, mapping, words, (piece, total, length), parts))
        body = (k.ForAll((t,), (b.word_const(BLOCK),), b.close()),)
        return Built(b.kernel((block,), (blocks,), (b.word_const(BLOCK),), body), tuple(v.name for v in b.shape))

    def _piece(
        self,
        thread: Thread,
        mapping: chains.Mapping,
        words: list[g.Var],
        numbers: tuple[g.Atom, g.Atom, g.Atom],
        parts: Sequence[g.Var],
    ) -> None:
        """Fills the arrays of a piece. `numbers`: which one, how many indices there are, and how many in a piece."""
        b = thread.b
        piece, total, length = numbers
        own = b.as_int(piece)
        for h, part in zip(self.arrays, parts):
            thread.arrays.each(
                thread.atoms(h.extents),
                lambda j, h=h, part=part: b.store(part, (*j, own), h.neutral),  # type: ignore[misc]
            )
        first = b.op("mul", piece, length, exact=True)
        count = b.op("min", length, b.op("sub", total, first, exact=True))

        def one(i: g.Var, _: list[g.Atom]) -> list[g.Atom]:
            place = b.op("add", first, i, exact=True)
            index, guard = mapping.recover(IrArithmetic(b, words), (place,), ())
            thread.bind(self.partition.index, list(map(b.as_int, index)))
            b.when(guard, lambda: (thread.block(self.body, self._combined(thread, parts, own)), None)[1])
            return []

        b.seq_for(b.word_const(0), count, [], one)

    def _combined(self, thread: Thread, parts: Sequence[g.Var], own: g.Atom) -> Finish:
        """What is done with the indices and values that a body gives."""
        b = thread.b

        def finish(values: list[Value]) -> None:
            at = 0
            for h in self.found:
                part = parts[h.number]
                *index, value = (a for a in values[at : at + len(h.index) + 1] if isinstance(a, g.Var | g.Const))
                at += len(h.index) + 1
                value = b.op("neg", value) if h.step.negative else value
                place = (*index, own)
                b.store(part, place, _step(thread, h, b.load(part, *place), value))

        return finish

    # ---- levels

    def _joined(self, number: int, level: int, extents: tuple[int, ...], count: int, numbers: Numbers) -> list[Launch]:
        """The launch that puts the arrays of pieces together: of `R` each, or, for extents of the result's rank, all
        with the elements that there were before."""
        h = self.arrays[number]
        last = len(extents) == len(h.extents)
        space = IndexSpace.of([0] * len(extents), extents)
        choice = choose(self.options.strategy, space, self.options.device)
        mapping = choice.chain.map(space, self.options.device)
        bits = mapping.bits([*array_sizes(self.source, numbers), math.prod(extents) * (count if last else R)])
        block = known_block(mapping)
        key = ("joined", number, level, last, mapping.key, block, bits)
        built = self.kernels.get(key)
        if built is None:
            build = self._last_kernel if last else self._level_kernel
            built = self.kernels[key] = build(number, level, mapping, block, bits)
        placement = mapping.placement
        shape = (count, *(() if last else (extents[-1],)), *placement.launched)
        shape = (*shape, *(() if block is not None else placement.block))
        arguments = built.arguments(shape, mapping.words(bits))
        what = f"all {count} arrays of pieces" if last else f"arrays of {R} of {count} pieces each"
        reasons = (f"puts {what} together", *choice.reasons)
        return [Launch(built.kernel, mapping.grid, mapping.block, arguments, "joined", 0, mapping, reasons)]

    def _read(self, thread: Thread, number: int, level: int) -> tuple[g.Var, g.Atom]:
        """The arrays of a level, and how many pieces they are of."""
        b, h = thread.b, self.arrays[number]
        count = b.number("pieces")
        for e in thread.atoms(h.extents):
            assert isinstance(e, g.Const) or e.name in b.scalars
        name = self._name(number, level)
        v = b.arrays[name] = g.Var(name, g.ArrayType(h.param.base, (*h.extents, count)))
        return v, count

    def _level_kernel(
        self, number: int, level: int, mapping: chains.Mapping, block: tuple[int, ...] | None, bits: int
    ) -> Built:
        thread = self.source.thread("level", bits)
        b, h = thread.b, self.arrays[number]
        part, count = self._read(thread, number, level)
        groups = b.number("groups")
        made = b.result(self._name(number, level + 1), h.param.base, (*h.extents, groups))

        def one(index: tuple[g.Atom, ...], _: Sequence[g.Var]) -> None:
            *j, group = index
            first = b.op("mul", group, g.integer(R), exact=True)
            end = b.op("min", b.op("add", first, g.integer(R), exact=True), b.as_int(count))
            start = b.load(part, *j, first)
            first = b.op("add", first, g.integer(1), exact=True)
            found = b.seq_for(first, end, [start], _joining(thread, h, part, j))
            b.store(made, index, found[0])

        return mapped(thread, mapping, block, (), one)

    def _last_kernel(
        self, number: int, level: int, mapping: chains.Mapping, block: tuple[int, ...] | None, bits: int
    ) -> Built:
        thread = self.source.thread("joined", bits)
        b, h, target = thread.b, self.arrays[number], self.source.targets[number]
        part, count = self._read(thread, number, level)
        result = b.result(target.name, target.base, g.extents_of(target))

        def one(index: tuple[g.Atom, ...], _: Sequence[g.Var]) -> None:
            start = thread.arrays.load(thread.array(h.given), index)
            found = b.seq_for(g.integer(0), b.as_int(count), [start], _joining(thread, h, part, index))
            b.store(result, index, found[0])

        return mapped(thread, mapping, block, (), one)


def cut(total: int, cells: int) -> tuple[int, int]:
    """How many pieces `total` indices are cut into that have arrays of `cells` elements each, and how long they are.
    `Refused` where too few."""
    wanted = min(-(-total // LEAST), MOST)
    pieces = max(1, min(wanted, SHARE * total // cells, ROOM // cells))
    length = -(-total // pieces)
    if pieces < wanted and length > LONGEST:
        raise Refused(
            f"into combines {total} values one after the other, as its arrays of {cells} elements leave room for "
            f"{pieces} {'piece' if pieces == 1 else 'pieces'} at most"
        )
    return -(-total // length), length


def _joining(
    thread: Thread, h: Scatter, part: g.Var, j: Sequence[g.Atom]
) -> Callable[[g.Var, list[g.Atom]], list[g.Atom]]:
    """A round that combines what is carried with what a piece has."""

    def one(i: g.Var, carried: list[g.Atom]) -> list[g.Atom]:
        return [_step(thread, h, carried[0], thread.b.load(part, *j, i))]

    return one


def _step(thread: Thread, h: Scatter, old: g.Atom, value: g.Atom) -> g.Atom:
    """Two elements combined, the first one first."""
    b = thread.b
    a, x = (b.names.var(stem, g.ScalarType(h.param.base)) for stem in ("a", "x"))
    thread.bind((a, x), (old, value))
    for s in function_of(h.step, a, x):
        assert isinstance(s.rhs, g.Op)
        thread.bind(s.targets, (thread.simple(s.targets[0], s.rhs),))
    return thread.atom(h.step.new)

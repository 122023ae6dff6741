"""A stage of a block's program: with-loops that make arrays, computed by all threads of the block together.

In: a with-loop over known indices, what of the block's arrays is read again after it. Out: a phase. Pieces of equal
size go together, so that a network's comparison, which writes two elements, is one thread's. A stage whose threads read
nothing that another of them writes takes the place of an array that it reads, if that is not needed any more: of a
modarray only what is replaced is written then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from sacpy.jit.analysis.reached import Numbers, settled
from sacpy.jit.ir import graph as g
from sacpy.jit.ir import kernel as k
from sacpy.jit.kernels.block_places import Deal, counted, deals, flat, index_of, numbers_of
from sacpy.jit.kernels.crossing import Touched, apart
from sacpy.jit.kernels.values import Memory, Value
from sacpy.jit.passes.mappings import forced
from sacpy.nodes import replace
from sacpy.withloop.block_words import Force, GpuEach, GpuThreads
from sacpy.withloop.errors import MappingError
from sacpy.withloop.pragmas import Pragma, effective
from sacpy.withloop.spaces import IndexSpace
from sacpy.withloop.splitting import Piece, split

if TYPE_CHECKING:
    from sacpy.jit.kernels.block_program import BlockProgram, Item

Finish = Callable[[list[Value]], None]


def staged(
    program: BlockProgram, targets: Sequence[g.Var], w: g.WithLoop, living: set[str], items: Sequence[Item]
) -> None:
    """Adds the phase of a stage. `living`: the names that are used after it; `items`: what stands before it and is
    needed in it. `MappingError` where it cannot be."""
    _Stage(program, targets, w, living, items).add()


def _settled(p: g.Partition, space: IndexSpace) -> g.Partition:
    """A partition without the checks that hold at all of its indices."""
    if not space.size:
        return p
    return replace(p, body=settled(p.body, dict(zip((v.name for v in p.index), numbers_of(space))), space.size))


def _reads_first(deal: Deal) -> bool:
    """Whether nothing is read of a unit, or anew, once it has written."""
    return deal.each == 1 or (deal.even if deal.together else len(deal.pieces) == 1)


class _Stage:
    def __init__(
        self, program: BlockProgram, targets: Sequence[g.Var], w: g.WithLoop, living: set[str], items: Sequence[Item]
    ) -> None:
        self.p, self.b, self.thread = program, program.b, program.thread
        self.targets, self.w, self.living, self.items = targets, w, living, items
        self.most = program.asked.threads
        self.extents = [program.numbers(g.extents_of(t), "an extent of a stage") for t in targets]
        spaces = []
        for p in w.partitions:
            bounds = (program.numbers(x, "a bound of a stage") for x in (p.lower, p.upper))
            steps = (None if x is None else program.numbers(x, "a step of a stage") for x in (p.step, p.width))
            spaces.append(IndexSpace.of(*bounds, *steps))
        parts = split(program.numbers(w.frame or (), "an extent of a stage"), spaces)
        if parts.first_match:
            raise program.asked.refused(
                "the partitions of a stage make too many pieces", "take fewer, or ask in the cell which it is"
            )
        self.w = replace(w, partitions=tuple(map(_settled, w.partitions, spaces)))
        self.words = self._words()
        self.pieces = parts.pieces
        self._deal(self.pieces)

    def _words(self) -> list[list[GpuThreads | GpuEach]]:
        """What pragmas say of each partition."""
        shared = [p.text for p in self.w.pragmas]
        found = []
        for q in self.w.partitions:
            own: list[Pragma] = effective(shared, (p.text for p in q.pragmas if p not in self.w.pragmas))
            for meaning in own:
                if not isinstance(meaning, GpuThreads | GpuEach | Force):
                    raise self.p.on_stage(
                        self.w,
                        MappingError(
                            "E0821",
                            "this with-loop is a stage of a block's program, and threads make its cells one by one",
                            "leave the pragma out; `gputhreads` and `gpueach` say how threads share a stage",
                            word="gpu",
                        ),
                    )
            found.append([meaning for meaning in own if isinstance(meaning, GpuThreads | GpuEach)])
        return found

    def _deal(self, pieces: Sequence[Piece]) -> None:
        """Deals pieces among the threads. `units`: for each deal who has what: all that a unit reads it reads before it
        writes. The rest of its number by the threads of the block is its thread."""
        try:
            self.deals = deals(pieces, self.words, self.most)
        except MappingError as error:
            raise self.p.on_stage(self.w, error) from None
        stride = self.most * max((deal.size for deal in self.deals), default=1)
        self.units: list[Numbers] = []
        for number, deal in enumerate(self.deals):
            at = np.arange(deal.size)
            turn = 0 if deal.together else at // deal.threads * self.most
            self.units.append(at % deal.threads + turn + number * stride)
        self.reads = [
            t for deal, who in zip(self.deals, self.units) for piece in deal.pieces for t in self._read(piece, who)
        ]

    def _read(self, piece: Piece, units: Numbers) -> list[Touched]:
        if piece.partition is not None:
            p = self.w.partitions[piece.partition]
            return self.p.reads(
                p.body, dict(zip((v.name for v in p.index), numbers_of(piece.space))), units, self.items
            )
        index = tuple(g.Var(f".{n}", g.INT) for n in range(piece.space.rank))
        lets: list[g.Stmt] = []
        for n, o in enumerate(self.w.operators):
            if isinstance(o, g.Modarray):
                rest = g.extents_of(o.array)[len(index) :]
                v = g.Var(f".v{n}", g.ArrayType(o.array.base, rest) if rest else g.ScalarType(o.array.base))
                lets.append(g.Let((v,), g.View(o.array, index) if rest else g.Load(o.array, index)))
        given = tuple(o.default for o in self.w.operators if isinstance(o, g.Genarray))
        code = g.Block(tuple(lets), given)
        return self.p.reads(code, dict(zip((v.name for v in index), numbers_of(piece.space))), units, self.items)

    # ---- where

    def _writes(self, home: g.Var, extents: tuple[int, ...], who: Sequence[Numbers], defaults: bool) -> list[Touched]:
        """What goes into an array of the block."""
        return [
            Touched(home.name, units, flat(numbers_of(piece.space), extents, deal.size))
            for deal, units in zip(self.deals, who)
            for piece in deal.pieces
            if defaults or piece.partition is not None
        ]

    def _in_place(self) -> g.Var | None:
        """The array of the block whose place the first result may take."""
        first, extents = self.w.operators[0], self.extents[0]
        if 0 in extents or not all(map(_reads_first, self.deals)):
            return None
        kept = {home.name for name, home in self.p.homes.items() if name in self.living}
        for name, home in self.p.homes.items():
            own = isinstance(first, g.Modarray) and first.array.name == name
            if home.name in kept or home.base != self.targets[0].base or (isinstance(first, g.Modarray) and not own):
                continue
            mine = [t for t in self.reads if t.array == home.name]
            if self.p.numbers(g.extents_of(home), "an extent") != extents or not (mine or own):
                continue
            if apart(math.prod(extents), mine, self._writes(home, extents, self.units, not own)):
                return home
        return None

    def _homes(self, source: g.Var | None) -> list[Memory | g.Var]:
        """Where the results lie: in the kernel's result, or in arrays of the block."""
        found: list[Memory | g.Var] = []
        for n, t in enumerate(self.targets):
            direct = [at for at, a in enumerate(self.p.wanted) if isinstance(a, g.Var) and a.name == t.name]
            if source is not None and n == 0:
                found.append(source)
            elif direct and self.thread.uses[t.name] == 1 and not forced(self.w):
                found.append(Memory(self.p.results[direct[0]]))
                self.p.written.add(t.name)
            else:
                extents = [max(1, e) for e in self.extents[n]]
                v = self.b.shared("stage", t.base, extents)
                self.p.crossing.sizes[v.name] = math.prod(extents)
                found.append(v)
        return found

    # ---- code

    def add(self) -> None:
        """Adds the phase, and says where the results are."""
        source = self._in_place()
        if source is not None and isinstance(self.w.operators[0], g.Modarray) and len(self.w.operators) == 1:
            self._deal([q for q in self.pieces if q.partition is not None])
        homes = self._homes(source)
        who = [units % self.most for units in self.units]
        writes = [
            t
            for home, extents in zip(homes, self.extents)
            if isinstance(home, g.Var)
            for t in self._writes(home, extents, who, True)
        ]
        reads = [Touched(t.array, t.threads % self.most, t.cells) for t in self.reads]
        if self.deals:
            self.p.phase([self._code(deal, homes) for deal in self.deals], reads, writes, self._said(source, homes))
        self.p.homes.update((t.name, home) for t, home in zip(self.targets, homes) if isinstance(home, g.Var))

    def _said(self, source: g.Var | None, homes: Sequence[Memory | g.Var]) -> str:
        threads = max(min(d.threads, self.most) for d in self.deals)
        elements = sum(d.size * len(d.pieces) for d in self.deals)
        where = ", in place" if source is not None else "" if isinstance(homes[0], g.Var) else ", into the result"
        return f"{counted(elements, 'element')} by {counted(threads, 'thread')}{where}"

    def _code(self, deal: Deal, homes: Sequence[Memory | g.Var]) -> k.ForAll:
        """The code of the threads that have some pieces."""
        b = self.b
        t = b.names.var("thread", b.word)

        def turn(place: g.Var, _: list[g.Atom]) -> list[g.Atom]:
            self._one(deal, homes, place)
            return []

        def work() -> None:
            if not deal.together:
                b.seq_for(t, b.word_const(deal.size), (), turn, deal.threads)
            elif deal.each == len(deal.pieces) == 1:
                self._one(deal, homes, t)
            else:
                self._together(deal, homes, t)

        b.open()
        self.p.start(self.items, work)
        return k.ForAll((t,), (b.word_const(deal.threads),), b.close())

    def _one(self, deal: Deal, homes: Sequence[Memory | g.Var], place: g.Atom) -> None:
        """The elements at a place, each stored once it is known."""
        for piece in deal.pieces:
            index = index_of(self.b, piece.space, place)
            if piece.partition is None:
                self._store(homes, index, self._defaults(index))
                continue
            p = self.w.partitions[piece.partition]
            self.thread.bind(p.index, list(index))
            self.thread.block(p.body, lambda values, index=index: self._store(homes, index, values))  # type: ignore[misc]

    def _together(self, deal: Deal, homes: Sequence[Memory | g.Var], t: g.Var) -> None:
        """All elements of a thread, then their stores."""
        b = self.b
        waiting: list[tuple[list[g.Atom], list[Value], g.Atom | None]] = []
        for n in range(deal.each):
            place: g.Atom = b.op("add", t, b.word_const(n * deal.threads), exact=True) if n else t
            guard = None
            if n == deal.each - 1 and not deal.even:
                guard = b.op("lt", place, b.word_const(deal.size))
                place = b.op("min", place, b.word_const(deal.size - 1))
            for piece in deal.pieces:
                index = index_of(b, piece.space, place)
                if piece.partition is None:
                    waiting.append((index, self._defaults(index), guard))
                    continue
                p = self.w.partitions[piece.partition]
                self.thread.bind(p.index, list(index))
                values, ok = self.thread.block(p.body)
                waiting.append((index, values, b.both(guard, ok)))
        for index, values, guard in waiting:
            b.when(guard, lambda index=index, values=values: self._store(homes, index, values))  # type: ignore[misc]

    def _defaults(self, index: list[g.Atom]) -> list[Value]:
        """What a cell has that no partition has."""
        found: list[Value] = []
        for o in self.w.operators:
            if isinstance(o, g.Modarray):
                array = self.thread.array(o.array)
                whole = len(index) == len(array.extents)
                found.append(
                    self.thread.arrays.load(array, index) if whole else self.thread.arrays.view(array, tuple(index))
                )
            else:
                assert isinstance(o, g.Genarray)
                found.append(self.thread.value(o.default))
        return found

    def _store(self, homes: Sequence[Memory | g.Var], index: Sequence[g.Atom], values: Sequence[Value]) -> None:
        for home, v in zip(homes, values, strict=True):
            place = (*self.p.cell, *index) if isinstance(home, Memory) else tuple(index)
            self.thread.arrays.assign(Memory(home.var if isinstance(home, Memory) else home, place), v)

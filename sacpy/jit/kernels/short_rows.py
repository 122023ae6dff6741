"""Cells that are a few elements each: points of three coordinates, colours, small matrices.

    for each [i]: v[i, 0..2]  to  w[i, 0..2]

Neighbouring threads have neighbouring cells, whose elements lie as far apart as a cell has elements, so that each
access of a warp asks for all the memory of its cells. In: a partition, a mapping. Out: a kernel in which blocks bring
the cells of arrays to shared memory, and those of results from there to memory, element by element: neighbouring
threads have neighbouring elements. There cells have an odd number of elements, those of an even number one more: so
threads find theirs in different banks. Cells no larger than the widest access are read and written by threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from sacpy.jit.analysis.affine import Entry, Footprint, entries_of, footprints_of
from sacpy.jit.analysis.shared_planner import BYTES
from sacpy.jit.analysis.straight import cells, is_straight
from sacpy.jit.ir import graph as g
from sacpy.jit.ir import kernel as k
from sacpy.jit.kernels import maps
from sacpy.jit.kernels.builder import Builder
from sacpy.jit.kernels.several import counters, either, unravelled
from sacpy.jit.kernels.source import Built, Frame, Source
from sacpy.jit.kernels.values import Memory
from sacpy.jit.kernels.wide import MOST_STATEMENTS, MOST_WASTE, THREADS
from sacpy.nodes import Node
from sacpy.withloop import chains
from sacpy.withloop.combinators import ShiftLB, SplitLast
from sacpy.withloop.devices import DeviceLimits
from sacpy.withloop.placement import GridBlock
from sacpy.withloop.spaces import IndexSpace

MOST = 9  # elements of a cell
EACH = (4, 2, 1)  # cells of a thread, the most first: as many as leave all multiprocessors a block
COMPANY = 2  # blocks of a multiprocessor: by itself, ptxas keeps to fewer registers than divisions need, and spills
Move = Callable[[Sequence[g.Atom], Sequence[g.Atom], Sequence[g.Atom]], None]


class ShortRows(Node):
    """The cells to bring: of arrays that are read, and of results by their places; `block`: how many a block has."""

    purpose = "short_rows"
    form = ()
    read: tuple[Footprint, ...]
    written: tuple[tuple[int, g.Var], ...]
    rank: int
    block: int

    def extents(self, v: g.Var) -> tuple[int, ...]:
        """Of the cells of a block. Those of an even number of elements are an element longer, so that threads find
        theirs in different banks."""
        *rows, last = _cell(v, self.rank)
        return (self.block, *rows, last + 1 - math.prod((*rows, last)) % 2)

    @property
    def size(self) -> int:
        """Bytes of shared memory."""
        own = [v for (_, v), f in zip(self.written, self.replaced) if f is None]
        return sum(BYTES[v.base] * math.prod(self.extents(v)) for v in (*(f.array for f in self.read), *own))

    @property
    def replaced(self) -> list[Footprint | None]:
        """For each result the array in whose place its cells are made, if there is one alike: a thread reads its own
        cells before it writes one."""
        free = list(self.read)
        found: list[Footprint | None] = []
        for _, v in self.written:
            shape = v.base, self.extents(v)
            like = next((f for f in free if (f.array.base, self.extents(f.array)) == shape), None)
            found.append(like)
            free = [f for f in free if f is not like]
        return found

    def words(self, p: g.Partition) -> str:
        """What is brought, in words."""
        named = {v.name: name for name, v in p.staged}
        arrays = [named.get(f.array.name, f.array.name) for f in self.read]
        found = [f"cells of {', '.join(arrays)}"] if arrays else []
        return " and ".join([*found, *(["those of the result"] if self.written else [])]) + ", element by element"

    def kernel(self, source: Source, number: int, mapping: chains.Mapping, bits: int) -> Built:
        """Brings cells, computes, brings the results."""
        thread = source.thread(f"short_rows{number}", bits)
        b, p = thread.b, source.with_loop.partitions[number]
        arrays = maps.results(thread, source)
        b.resident = COMPANY
        frame = Frame(b, mapping, (self.block,))
        tiles = {f.array.name: b.shared("tile", f.array.base, self.extents(f.array)) for f in self.read}
        made = {
            n: b.shared("made", v.base, self.extents(v)) if f is None else tiles[f.array.name]
            for (n, v), f in zip(self.written, self.replaced)
        }
        for f in self.read:
            b.parameter(f.array.name)

        def bring(f: Footprint) -> k.ForAll:
            tile = tiles[f.array.name]
            return _moved(
                b,
                frame,
                _cell(f.array, self.rank),
                lambda place, index, cell: b.store(tile, place, b.load(f.array, *index, *cell)),
            )

        def bring_back(n: int) -> k.ForAll:
            return _moved(
                b,
                frame,
                _cell(arrays[n], self.rank),
                lambda place, index, cell: b.store(arrays[n], (*index, *cell), b.load(made[n], *place)),
            )

        loads: list[k.BlockStmt] = [*map(bring, self.read)]
        b.open()
        threads = counters(b, frame)
        places = entries_of(p.index, (p.body,), source.free)

        def cell(at: g.Atom, index: tuple[g.Atom, ...]) -> None:
            for f in self.read:
                for place in f.places:
                    rest = [g.integer(e.low) for e in places[place][self.rank :]]
                    thread.tiles[place] = b.load(tiles[f.array.name], at, *rest)
            maps.compute(thread, p, index, arrays, {n: Memory(v, (at,)) for n, v in made.items()})

        _each(b, frame, threads[0], range(0, self.block, mapping.placement.threads[0]), cell)
        compute = k.ForAll(threads, frame.threads, b.close())
        before = [k.Barrier()] if loads else []
        # a block that goes on: the barrier behind its loads comes before anything is written that others still read,
        # as each thread loads to where it has read
        after = [k.Barrier()] if any(mapping.placement.strided) and not loads else []
        return frame.kernel((*loads, *before, compute, k.Barrier(), *map(bring_back, made), *after))


def _moved(b: Builder, frame: Frame, cell: Sequence[int], move: Move) -> k.ForAll:
    """All threads together move the elements of a block's cells. As there are so many times as many threads as a cell
    has elements, each keeps its place in a cell, and goes down by so many cells. `move`: code for one, by its place in
    the tile, the index of its cell, and its place in that."""
    b.open()
    threads = counters(b, frame)
    count, many, block = math.prod(cell), frame.mapping.placement.threads[0], frame.mapping.placement.block[0]
    within = unravelled(b, b.op("mod", threads[0], b.word_const(count)), cell)
    first = b.op("div", threads[0], b.word_const(count))
    starts = range(0, block, many // count)
    _each(b, frame, first, starts, lambda place, index: move((place, *within), index, within))
    return k.ForAll(threads, frame.threads, b.close())


def _each(
    b: Builder,
    frame: Frame,
    first: g.Atom,
    starts: range,
    code: Callable[[g.Atom, tuple[g.Atom, ...]], None],
) -> None:
    """Code for each of the places from `first` on, with the index of each. Where a block has all of its cells, nothing
    is asked; in others one place comes after the other, as they are few."""

    def every() -> None:
        for n in starts:
            place = b.op("add", first, b.word_const(n), exact=True) if n else first
            code(place, frame.at_position([place])[0])

    def some() -> None:
        def one(n: g.Var, _: list[g.Atom]) -> list[g.Atom]:
            place = b.op("add", first, n, exact=True)
            index, inside = frame.at_position([place])
            b.when(inside, lambda: code(place, index))
            return []

        b.seq_for(b.word_const(0), b.word_const(starts.stop), [], one, starts.step)

    either(b, frame.at_position([b.word_const(starts.stop - 1)])[1], every, some)


def chain_for(source: Source, number: int, space: IndexSpace, device: DeviceLimits) -> chains.Chain | None:
    """A mapping with as many threads in a block as suit the cells; None where there are none such, or few."""
    p = source.with_loop.partitions[number]
    count = next((math.prod(_cell(t, p.rank)) for t in source.targets if _short(t, p.rank)), None)
    if count is None or space.rank > 3 or not space.dense or not all(space.extents):
        return None
    threads = device.warp * count
    threads *= max(1, THREADS // threads)
    for each in EACH:
        block, row = threads * each, space.extents[-1]
        if space.size >= device.processors * block and -(-row // block) * block <= MOST_WASTE * row:
            start = (ShiftLB(),) if any(space.lower) else ()
            return chains.Chain((*start, SplitLast(block)), GridBlock(1, stride=True, each=(each,)))
    return None


def short_rows(source: Source, number: int, mapping: chains.Mapping, limit: int) -> ShortRows | None:
    """What blocks bring; None where cells are no few elements, or their code is more than arithmetic. `limit`: bytes of
    shared memory."""
    p, placement = source.with_loop.partitions[number], mapping.placement
    written = tuple((n, t) for n, t in enumerate(source.targets) if _short(t, p.rank))
    if not written or len(placement.block) != 1 or len(p.body.statements) > MOST_STATEMENTS:
        return None
    if not is_straight(p.body, cells(p.body)):
        return None
    if source.thread("trial", 32).checked(p.body):
        return None

    def suits(v: g.Var) -> bool:
        return placement.threads[0] % math.prod(_cell(v, p.rank)) == 0

    places = entries_of(p.index, (p.body,), source.free)
    prints = footprints_of(p.index, (p.body,), source.free)
    read = tuple(f for f in prints if _own(f, p.rank, places) and suits(f.array))
    found = ShortRows(read, written, p.rank, placement.block[0])
    return found if all(suits(v) for _, v in written) and found.size <= limit else None


def _cell(v: g.Var, rank: int) -> tuple[int, ...]:
    """The extents of a cell that are known; nothing where one is not."""
    extents = g.extents_of(v)[rank:]
    return (
        tuple(int(e.value) for e in extents if isinstance(e, g.Const))
        if all(isinstance(e, g.Const) for e in extents)
        else ()
    )


def _short(v: g.Var, rank: int) -> bool:
    cell = _cell(v, rank)
    count = math.prod(cell)
    even = math.prod(cell[:-1]) % 2 == 1 and count * BYTES[v.base] > k.ALIGNMENT
    return 1 < count <= MOST and (count % 2 == 1 or even)


def _own(f: Footprint, rank: int, places: Mapping[tuple[str, tuple[g.Atom, ...]], Sequence[Entry]]) -> bool:
    """Whether an index reads most of one short row, its own."""
    leading = [(e.axis, e.low, e.high) for e in f.entries[:rank]]
    known = all(e.axis is None and e.low == e.high for place in f.places for e in places[place][rank:])
    return (
        leading == [(axis, 0, 0) for axis in range(rank)]
        and known
        and _short(f.array, rank)
        and 2 * len(f.places) > math.prod(_cell(f.array, rank))
    )

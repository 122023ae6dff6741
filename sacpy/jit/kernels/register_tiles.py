"""Tiles of cells in registers: folds inside cells of which each thread has a rectangle.

In: a contraction (`product_tiles`) whose fold does nothing but arithmetic on elements of tiles, and a mapping under
which a thread has several neighbouring positions along each axis of the block. Out: a kernel in which an element that a
thread reads from shared memory serves a row or a column of its cells. Of r x s cells, a step along the folded axis
takes r + s reads and r * s combinations.

Tiles lie with the folded axis first and the axis that moves with the cells last, so that what a thread reads lies side
by side. They are loaded whole: an index beyond the last cell reads what the last cell's does, and its results are not
stored. So whole strips have constant bounds and no branches; what is left of the folded axis has a strip of its own.
Each cell folds in the order of the indices. There are two tiles of each array: while threads fold one, what goes into
the other one is on its way (`strip_loads`), and a strip takes one barrier.

    fetch and put the first strip; barrier
    for strip in the whole ones
        fetch the next one (behind the last one, that again: compilers move what is done under a condition)
        forall threads: fold this strip
        put the next one into the other tile; barrier
    what is left: fetch, put; barrier; fold; barrier
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Hashable, Sequence

from sacpy.jit.analysis.affine import Footprint, Place, entries_of
from sacpy.jit.analysis.shared_planner import BYTES
from sacpy.jit.ir import graph as g
from sacpy.jit.ir import kernel as k
from sacpy.jit.kernels import maps
from sacpy.jit.kernels.contraction import Contraction, combined, is_arithmetic
from sacpy.jit.kernels.numbers import Numbers
from sacpy.jit.kernels.source import Built, Frame, Source, number_of
from sacpy.jit.kernels.strip_loads import WIDE, RegisterTile, StripLoad
from sacpy.jit.kernels.values import Value
from sacpy.nodes import Node, replace
from sacpy.withloop import chains

STRIPS = (8, 16)  # indices of the folded axis that are loaded at a time: at least, and at most
BUFFERS = 2  # tiles of each array
MUCH = 128  # bytes of registers for cells, from which on threads are kept to what lets blocks have company
TOGETHER = 2  # blocks of a multiprocessor, then
_CODE = 2048


class RegisterTiles(Node):
    """What to load, for a contraction; `strip`: how many indices of the folded axis at a time; `each`: how many cells a
    thread has along either axis of the block; `beside`: of as many neighbouring cells as the widest access takes all
    are there, or none."""

    purpose = "register_tiled"
    body: Contraction
    tiles: tuple[RegisterTile, ...]
    strip: int
    each: tuple[int, ...]
    beside: bool

    def group(self, axis: int) -> int:
        """How many neighbouring cells a thread has along an axis of the block before those of other threads come: as
        many as the widest access takes."""
        at = range(len(self.each))[axis]
        sizes = [BYTES[t.array.base] for t in self.tiles if t.moving == at]
        return min(self.each[at], max(1, WIDE // max(sizes, default=WIDE)))

    @property
    def form(self) -> Hashable:
        """How many neighbours are loaded in one access, array by array; whether cells are written so."""
        return *(t.together for t in self.tiles), self.beside

    @property
    def size(self) -> int:
        """Bytes of shared memory."""
        return sum(BUFFERS * BYTES[t.array.base] * math.prod(t.lying) for t in self.tiles)

    def words(self, p: g.Partition) -> str:
        """What is loaded, in words."""
        named = {v.name: name for name, v in p.staged}
        tiles = ", ".join(
            f"{named.get(t.array.name, t.array.name)} by tiles of {' x '.join(map(str, t.extents))}"
            f"{f' ({t.together} elements an access)' if t.together > 1 else ''}"
            for t in self.tiles
        )
        return (
            f"{tiles}, along the folded axis {self.strip} at a time, the next ones on their way meanwhile; "
            f"{' x '.join(map(str, self.each))} cells a thread"
        )

    def kernel(self, source: Source, number: int, mapping: chains.Mapping, bits: int) -> Built:
        """Loads the tiles of a strip, folds it, and goes on to the next."""
        return Writer(source, number, self.body, mapping, self, bits).kernel()


Make = Callable[[Contraction, tuple[RegisterTile, ...], int, tuple[int, ...]], RegisterTiles]


def register_tiles(
    source: Source,
    c: Contraction,
    axes: Sequence[int | None],
    mapping: chains.Mapping,
    numbers: Numbers,
    limit: int,
    make: Make | None = None,
) -> RegisterTiles | None:
    """The tiles, if cells fold something and all that they read is in such: each array follows the folded axis and one
    axis of the block, step by step. `axes`: for each axis of the cells that of the block, as of `block_axes`; `limit`:
    bytes of shared memory; `make`: makes such tiles of a contraction, arrays, the length of strips, and cells a
    thread."""
    if c.length(numbers) < 1:
        return None  # kernels count on it that bounds are in order
    found: list[RegisterTile] = []
    strip = _strip(c, mapping)
    for f in c.prints:
        tile = _tile(f, c, strip, axes, mapping, numbers)
        if tile is None:
            return None
        found.append(tile)
    inside = {place for f in c.prints for place in f.places}
    read = {
        (s.rhs.array.name, s.rhs.index)
        for s in c.inner.body.statements
        if isinstance(s, g.Let) and isinstance(s.rhs, g.Load)
    }
    spread = entries_of((*c.partition.index, c.inner.index[0]), (c.inner.body,), source.free)
    exact = all(e.low == e.high for place in read & inside for e in spread[place])
    tiles = (make or _plain_tiles)(c, tuple(found), strip, mapping.placement.each)
    whole = is_arithmetic(c.after.statements) and not any(mapping.space.lower)
    if whole and axes[-1] == len(mapping.placement.block) - 1:
        ends = [number_of(g.extents_of(t)[c.partition.rank - 1], numbers) for t in source.targets]
        if not any(n % tiles.group(-1) for n in (mapping.space.upper[-1], *ends)):
            tiles = replace(tiles, beside=True)
    return tiles if read <= inside and exact and tiles.size <= limit else None


def _plain_tiles(c: Contraction, tiles: tuple[RegisterTile, ...], strip: int, each: tuple[int, ...]) -> RegisterTiles:
    return RegisterTiles(c, tiles, strip, each, False)


def _strip(c: Contraction, mapping: chains.Mapping) -> int:
    """How many indices of the folded axis make strips of which each thread loads something in wide accesses."""
    wide = max((WIDE // BYTES[f.array.base] for f in c.prints), default=1)
    fewest, most = STRIPS
    return min(most, max(fewest, math.prod(mapping.placement.threads) * wide // min(mapping.placement.block)))


def _tile(
    f: Footprint,
    c: Contraction,
    strip: int,
    axes: Sequence[int | None],
    mapping: chains.Mapping,
    numbers: Numbers,
) -> RegisterTile | None:
    rank = c.partition.rank
    moving = [n for n, e in enumerate(f.entries) if e.axis is not None and e.axis < rank and axes[e.axis] is not None]
    folded = [n for n, e in enumerate(f.entries) if e.axis == rank]
    if len(moving) != 1 or len(folded) != 1:
        return None
    others = [n for n in range(len(f.entries)) if n not in (*moving, *folded)]
    order = (*folded, *others, *moving)
    along = axes[f.entries[moving[0]].axis or 0]
    assert along is not None
    block = mapping.placement.block

    def width(n: int) -> int:
        e = f.entries[n]
        return (strip if n in folded else block[along] if n in moving else 1) + e.high - e.low

    extents = tuple(map(width, order))
    together = WIDE // BYTES[f.array.base]
    e, last = f.entries[-1], len(order) - 1
    starts = [number_of(g.extents_of(f.array)[last], numbers), extents[order.index(last)], e.low]
    low = c.inner.lower[0]
    if e.axis == rank:
        starts.append(int(low.value) if isinstance(low, g.Const) else 1)
    even = e.axis is not None and not any(mapping.space.lower) and not any(n % together for n in starts)
    return RegisterTile(f.array, f.entries, order, extents, along, together if even else 1)


class Writer:
    """Writes such a kernel. Who has other threads fold a strip says which cells they have, and how."""

    def __init__(
        self, source: Source, number: int, c: Contraction, mapping: chains.Mapping, found: RegisterTiles, bits: int
    ) -> None:
        self.c, self.found = c, found
        self.thread = source.thread(f"{found.purpose}{number}", bits)
        self.b = self.thread.b
        self.results = maps.results(self.thread, source)
        self.frame = Frame(self.b, mapping, mapping.placement.block)
        self.each = mapping.placement.each
        self.cells = list(itertools.product(*map(range, self.each)))
        for t in found.tiles:
            self.b.parameter(t.array.name)
        self.lower, self.upper = self.thread.atom(c.inner.lower[0]), self.thread.atom(c.inner.upper[0])
        self.neutrals = [n for o in c.folds for n in o.neutrals]
        self.own = [self.b.array(n.base, (g.integer(len(self.cells)),)) for n in self.neutrals]
        self.tiles = [self.b.shared("tile", t.array.base, (BUFFERS, *t.lying)) for t in found.tiles]
        folded, size = c.partition.rank, mapping.placement.threads
        if sum(BYTES[a.base] for a in self.own) * len(self.cells) >= MUCH:
            self.b.resident = TOGETHER
        self.loads = [StripLoad(self.b, t, tile, size, folded) for t, tile in zip(found.tiles, self.tiles)]
        for t in found.tiles:
            self.b.multiple(g.extents_of(t.array)[-1], t.together)
        for v in self.results if found.beside else ():
            self.b.multiple(g.extents_of(v)[-1], found.group(-1))
        self.accesses = entries_of((*c.partition.index, c.inner.index[0]), (c.inner.body,), source.free)
        named = {(t.array.name, tuple(e.axis for e in t.entries)): t for t in found.tiles}
        self.placed: dict[Place, RegisterTile] = {}
        for place, entries in self.accesses.items():
            tile = named.get((place[0], tuple(e.axis for e in entries)))
            if tile is not None:
                self.placed[place] = tile

    def kernel(self) -> Built:
        cut = self._cut()
        names, size = self.b.names, g.integer(self.found.strip)
        length, rest, whole, end = (names.var(n, g.INT) for n in ("length", "rest", "whole", "end"))
        strip = names.var("strip", g.INT)
        last, further, limited, ahead, following = (
            names.var(n, g.INT) for n in ("last", "further", "limited", "ahead", "next")
        )
        some, left = names.var("some", g.BOOL), names.var("left", g.BOOL)
        done, number, this, other = (names.var(n, g.INT) for n in ("done", "number", "this", "other"))
        zero = g.integer(0)
        strips = (
            k.Uniform(strip, g.Op("add", (self.lower, done))),
            k.Uniform(number, g.Op("div", (done, size))),
            k.Uniform(this, g.Op("bitand", (number, g.integer(BUFFERS - 1)))),
            k.Uniform(other, g.Op("sub", (g.integer(BUFFERS - 1), this))),
            k.Uniform(further, g.Op("add", (done, size))),
            k.Uniform(limited, g.Op("min", (further, last))),
            # which changes nothing, but tells where rows are aligned
            k.Uniform(ahead, g.Op("bitand", (limited, g.integer(-self.found.strip)))),
            k.Uniform(following, g.Op("add", (self.lower, ahead))),
            *self._fetch(following, True),
            *self.fold(strip, size, this),
            *self._put(other),
            k.Barrier(),
        )
        left_over = (*self._fetch(end, False), *self._put(zero, rest), k.Barrier())
        ends = (*left_over, *self.fold(end, rest, zero), k.Barrier())
        return self.frame.kernel(
            (
                *cut,
                self._start(),
                k.Uniform(length, g.Op("sub", (self.upper, self.lower))),
                k.Uniform(rest, g.Op("bitand", (length, g.integer(self.found.strip - 1)))),
                k.Uniform(whole, g.Op("bitand", (length, g.integer(-self.found.strip)))),
                k.Uniform(end, g.Op("add", (self.lower, whole))),
                k.Uniform(last, g.Op("sub", (whole, size))),
                k.Uniform(some, g.Op("lt", (zero, whole))),
                k.Uniform(left, g.Op("lt", (zero, rest))),
                k.BlockIf(some, (*self._fetch(self.lower, True), *self._put(zero), k.Barrier())),
                k.BlockFor(done, zero, whole, size, strips),
                k.BlockIf(left, ends),
                self._end(),
            )
        )

    def _cut(self) -> tuple[k.BlockStmt, ...]:
        """The bounds of the part that a block folds, where that is not all."""
        if self.c.run is None:
            return ()
        run, number = self.thread.atom(self.c.run), self.frame.at[0]
        steps: list[k.BlockStmt] = []

        def op(code: str, *args: g.Atom) -> g.Var:
            v = self.b.names.var(code, g.INT)
            steps.append(k.Uniform(v, g.Op(code, args)))
            return v

        lower = op("add", self.lower, op("mul", number if number.base == "int" else op("toi", number), run))
        self.b.multiple(run, STRIPS[-1])
        self.lower, self.upper = lower, op("add", lower, op("min", op("sub", self.upper, lower), run))
        return tuple(steps)

    def _fetch(self, strip: g.Atom, whole: bool) -> tuple[k.BlockStmt, ...]:
        return tuple(load.fetch(strip, self.frame.corner, whole) for load in self.loads)

    def _put(self, buffer: g.Atom, many: g.Atom | None = None) -> tuple[k.BlockStmt, ...]:
        """The tiles in reverse: ptxas then finds registers for all. `many`: how many indices are there (None: all)."""
        return tuple(self.put(load, buffer, many) for load in reversed(self.loads))

    def put(self, load: StripLoad, buffer: g.Atom, many: g.Atom | None) -> k.ForAll:
        """One tile of a strip is written."""
        return load.put(buffer)

    def threads(self) -> tuple[g.Var, ...]:
        return tuple(self.b.names.var("thread", self.b.word) for _ in self.each)

    def _arranged(self, threads: Sequence[g.Atom]) -> Sequence[g.Atom]:
        """Which thread of the block each one stands for: those of a warp have a box of `_WARP` threads, in which each
        square of four stands side by side. Shared memory serves half a warp at a time where, of wide accesses, each
        thread's is that of its neighbour or of the one after that."""
        b, (down, along) = self.b, threads

        def bits(*parts: tuple[g.Atom, int, int]) -> g.Atom:
            """A number of bits of others: each with the number of its bit, and of the one that it becomes."""
            found: list[g.Atom] = []
            for a, bit, to in parts:
                one = b.op("bitand", a, b.word_const(1 << bit))
                code, by = ("shl", to - bit) if to > bit else ("shr", bit - to)
                found.append(b.op(code, one, b.word_const(by)) if by else one)
            return functools.reduce(lambda x, y: b.op("bitor", x, y), found)

        if tuple(self.frame.mapping.placement.threads) != (16, 16):
            return threads
        return (
            bits((along, 1, 0), (down, 0, 1), (down, 2, 2), (down, 3, 3)),
            bits((along, 0, 0), (along, 2, 1), (along, 3, 2), (down, 1, 3)),
        )

    def positions(self, threads: Sequence[g.Atom]) -> list[list[g.Atom]]:
        """Along each axis of the block, the positions that a thread has: as many neighbours as the widest access takes,
        and the same again beyond those of all threads, so that neighbouring threads read from neighbouring banks."""
        b = self.b
        found = []
        extents = self.frame.mapping.placement.threads
        for axis, (t, many, extent) in enumerate(zip(self._arranged(threads), self.each, extents)):
            group = self.found.group(axis)
            first = b.op("mul", t, b.word_const(group), exact=True)
            places = [n // group * group * extent + n % group for n in range(many)]
            found.append([b.op("add", first, b.word_const(n), exact=True) if n else first for n in places])
        return found

    def _start(self) -> k.ForAll:
        b = self.b
        b.open()
        threads = self.threads()
        for array, n in zip(self.own, self.neutrals):
            for cell in range(len(self.cells)):
                b.store(array, (g.integer(cell),), self.thread.atom(n))
        return k.ForAll(threads, self.frame.threads, b.close())

    def fold(self, strip: g.Var, many: g.Atom, buffer: g.Atom) -> tuple[k.BlockStmt, ...]:
        """Each thread folds `many` indices from `strip` on into its cells, whose elements are in a buffer of the tiles;
        several indices in a round, where it is known that all are there."""
        b, thread = self.b, self.thread
        b.open()
        threads = self.threads()
        positions = self.positions(threads)
        index = {
            cell: self.frame.at_position([along[n] for along, n in zip(positions, cell)])[0] for cell in self.cells
        }
        count = len(self.cells)
        rounds = self._rounds() if isinstance(many, g.Const) else 1

        def one(at: g.Atom, carried: list[g.Atom]) -> list[g.Atom]:
            read = {
                place: [self.read(place, t, buffer, at, position) for position in positions[t.moving]]
                for place, t in self.placed.items()
            }
            folded = b.op("add", strip, at, exact=True)
            updates: list[list[g.Atom]] = []
            for number, cell in enumerate(self.cells):
                thread.tiles = {place: read[place][cell[t.moving]] for place, t in self.placed.items()}
                thread.bind(self.c.partition.index, list(index[cell]))
                thread.block(g.Block(self.c.before), later=self.c.later)
                thread.bind(self.c.inner.index, [folded])
                values, _ = thread.block(self.c.inner.body, later=self.c.later)
                updates.append(combined(thread, self.c, carried[number::count], values))
            thread.tiles = {}
            return [updates[cell][n] for n in range(len(self.own)) for cell in range(count)]

        def several(at: g.Var, carried: list[g.Atom]) -> list[g.Atom]:
            for n in range(rounds):
                carried = one(b.op("add", at, g.integer(n), exact=True) if n else at, carried)
            return carried

        initial = [b.load(array, g.integer(cell)) for array in self.own for cell in range(count)]
        last = b.seq_for(g.integer(0), many, initial, several, rounds)
        for n, array in enumerate(self.own):
            for cell in range(count):
                b.store(array, (g.integer(cell),), last[n * count + cell])
        return (k.ForAll(threads, self.frame.threads, b.close()),)

    def _rounds(self) -> int:
        """How many indices of a whole strip are written out: so many that the loop over them costs little."""
        each = len(self.c.inner.body.statements) + sum(len(o.combine.statements) for o in self.c.folds)
        rounds = self.found.strip
        while rounds > 1 and rounds * len(self.cells) * each > _CODE:
            rounds //= 2
        return rounds

    def read(self, place: Place, t: RegisterTile, buffer: g.Atom, at: g.Atom, position: g.Atom) -> g.Atom:
        """The element of an access in a buffer of its tile. `at`: how far in the strip; `position`: in the block, along
        the axis that the tile follows."""
        b = self.b
        tile = self.tiles[self.found.tiles.index(t)]
        index = [buffer]
        for n in t.order:
            e, f = self.accesses[place][n], t.entries[n]
            base: g.Atom = g.integer(0)
            if e.axis == self.c.partition.rank:
                base = at
            elif n == t.order[-1]:
                base = position
            off = e.low - f.low
            index.append(b.op("add", base, g.Const(base.base, off), exact=True) if off else base)
        return b.load(tile, *index)

    def _end(self) -> k.ForAll:
        """Each thread writes its cells; those that are there together one after the other, when all are known."""
        b = self.b
        b.open()
        threads = self.threads()
        positions = self.positions(threads)
        several = self.found.group(-1) if self.found.beside else 1
        for first in range(0, len(self.cells), several):
            cells = range(first, first + several)
            places = [
                self.frame.at_position([along[n] for along, n in zip(positions, self.cells[cell])]) for cell in cells
            ]

            def store(cells: range = cells, indices: Sequence[tuple[g.Atom, ...]] = [i for i, _ in places]) -> None:
                if not self.found.beside:
                    self._cell(cells[0], indices[0], lambda values: self._write(indices[0], values))
                    return
                found: list[list[Value]] = []
                for cell, index in zip(cells, indices):
                    self._cell(cell, index, found.append)
                for index, values in zip(indices, found, strict=True):
                    self._write(index, values)

            b.when(places[0][1], store)
        return k.ForAll(threads, self.frame.threads, b.close())

    def _cell(self, number: int, index: Sequence[g.Atom], finish: Callable[[list[Value]], None]) -> None:
        """What a cell becomes, given what it has folded."""
        thread = self.thread
        thread.bind(self.c.partition.index, list(index))
        thread.block(g.Block(self.c.before), later=self.c.later)
        thread.bind(self.c.targets, [self.b.load(a, g.integer(number)) for a in self.own])
        thread.block(self.c.after, finish)

    def _write(self, index: Sequence[g.Atom], values: Sequence[Value]) -> None:
        for array, v in zip(self.results, values, strict=True):
            assert isinstance(v, g.Var | g.Const)
            self.b.store(array, index, v)

"""Tiles of cells in registers: folds inside cells of which each thread has a rectangle.

In: a contraction (`product_tiles`) whose fold does nothing but arithmetic on elements of tiles, and a mapping under
which a thread has several neighbouring positions along each axis of the block. Out: a kernel in which an element that a
thread reads from shared memory serves a row or a column of its cells. Of r x s cells, a step along the folded axis
takes r + s reads and r * s combinations.

Tiles lie with the folded axis first and the axis that moves with the cells last, so that what a thread reads lies side
by side. They are loaded whole: an index beyond the last cell reads what the last cell's does, and its results are not
stored. So whole strips have constant bounds and no branches; what is left of the folded axis has a strip of its own.
Each cell folds in the order of the indices.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from sacpy.jit.analysis.affine import Entry, Footprint, Place, entries_of
from sacpy.jit.analysis.shared_planner import BYTES
from sacpy.jit.ir import graph as g
from sacpy.jit.ir import kernel as k
from sacpy.jit.kernels import maps
from sacpy.jit.kernels.contraction import Contraction, combined
from sacpy.jit.kernels.source import Built, Frame, Source
from sacpy.jit.kernels.values import Value
from sacpy.nodes import Node
from sacpy.withloop import chains
from sacpy.withloop.placement import Placement

STRIP = 16  # indices of the folded axis that are loaded at a time
_CODE = 1024  # statements that are written out for a strip at most: all of it where that is enough
WIDE = 16  # bytes of the widest access


class RegisterTile(Node):
    """An array to load in strips: `order`: its axes as they lie in the tile; `extents`: the tile's, in that order;
    `moving`: the axis of the block that it follows; `entries`: as of the footprint."""

    array: g.Var
    entries: tuple[Entry, ...]
    order: tuple[int, ...]
    extents: tuple[int, ...]
    moving: int

    @property
    def lying(self) -> tuple[int, ...]:
        """The extents in memory. Where what is neighbours in the array is not in the tile, rows are longer by the
        widest access: what neighbouring threads write then comes to different banks."""
        turned = self.order[-1] != len(self.order) - 1
        more = WIDE // BYTES[self.array.base] if turned else 0
        return (*self.extents[:-1], self.extents[-1] + more)


class RegisterTiles(Node):
    """What to load, for a contraction; `each`: how many cells a thread has along either axis of the block."""

    purpose = "register_tiled"
    body: Contraction
    tiles: tuple[RegisterTile, ...]
    each: tuple[int, ...]

    @property
    def size(self) -> int:
        """Bytes of shared memory."""
        return sum(BYTES[t.array.base] * math.prod(t.lying) for t in self.tiles)

    def words(self, p: g.Partition) -> str:
        """What is loaded, in words."""
        named = {v.name: name for name, v in p.staged}
        tiles = ", ".join(
            f"{named.get(t.array.name, t.array.name)} by tiles of {' x '.join(map(str, t.extents))}" for t in self.tiles
        )
        return f"{tiles}, along the folded axis {STRIP} at a time; {' x '.join(map(str, self.each))} cells a thread"

    def kernel(self, source: Source, number: int, mapping: chains.Mapping, bits: int) -> Built:
        """Loads the tiles of a strip, folds it, and goes on to the next."""
        return _Writer(source, number, self.body, mapping, self, bits).kernel()


def suits(c: Contraction) -> bool:
    """Whether a contraction's fold does nothing but arithmetic on elements of arrays, and nothing before it reads any:
    then its code may run for cells that are not there."""
    before = all(isinstance(s, g.Let) and isinstance(s.rhs, g.Op | g.Var | g.Const) for s in c.before)
    body = all(
        isinstance(s, g.Let) and isinstance(s.rhs, g.Op | g.Load | g.Var | g.Const) for s in c.inner.body.statements
    )
    combine = all(
        isinstance(s, g.Let) and isinstance(s.rhs, g.Op | g.Var | g.Const)
        for o in c.folds
        for s in o.combine.statements
    )
    return before and body and combine


def register_tiles(
    source: Source, c: Contraction, axes: Sequence[int | None], placement: Placement, limit: int
) -> RegisterTiles | None:
    """The tiles, if all that the fold reads is in such: each array follows the folded axis and one axis of the block,
    step by step. `axes`: for each axis of the cells that of the block, as of `block_axes`; `limit`: bytes of shared
    memory."""
    found: list[RegisterTile] = []
    for f in c.prints:
        tile = _tile(f, c.partition.rank, axes, placement.block)
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
    tiles = RegisterTiles(c, tuple(found), placement.each)
    return tiles if read <= inside and exact and tiles.size <= limit else None


def _tile(f: Footprint, rank: int, axes: Sequence[int | None], block: Sequence[int]) -> RegisterTile | None:
    moving = [n for n, e in enumerate(f.entries) if e.axis is not None and e.axis < rank and axes[e.axis] is not None]
    folded = [n for n, e in enumerate(f.entries) if e.axis == rank]
    if len(moving) != 1 or len(folded) != 1:
        return None
    others = [n for n in range(len(f.entries)) if n not in (*moving, *folded)]
    order = (*folded, *others, *moving)
    along = axes[f.entries[moving[0]].axis or 0]
    assert along is not None

    def width(n: int) -> int:
        e = f.entries[n]
        return (STRIP if n in folded else block[along] if n in moving else 1) + e.high - e.low

    return RegisterTile(f.array, f.entries, order, tuple(map(width, order)), along)


class _Writer:
    def __init__(
        self, source: Source, number: int, c: Contraction, mapping: chains.Mapping, found: RegisterTiles, bits: int
    ) -> None:
        self.c, self.found = c, found
        self.thread = source.thread(f"register_tiled{number}", bits)
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
        self.tiles = [self.b.shared("tile", t.array.base, t.lying) for t in found.tiles]
        self.accesses = entries_of((*c.partition.index, c.inner.index[0]), (c.inner.body,), source.free)
        named = {(t.array.name, tuple(e.axis for e in t.entries)): t for t in found.tiles}
        self.placed: dict[Place, RegisterTile] = {}
        for place, entries in self.accesses.items():
            tile = named.get((place[0], tuple(e.axis for e in entries)))
            if tile is not None:
                self.placed[place] = tile

    def kernel(self) -> Built:
        names = self.b.names
        length, rest, whole, end, stop = (names.var(n, g.INT) for n in ("length", "rest", "whole", "end", "stop"))
        strip, last = names.var("strip", g.INT), names.var("strip", g.INT)
        between = names.var("length", g.INT)
        strips, left = self._strip(strip, g.integer(STRIP)), self._strip(last, rest)
        return self.frame.kernel(
            (
                self._start(),
                k.Uniform(between, g.Op("sub", (self.upper, self.lower))),
                k.Uniform(length, g.Op("max", (between, g.integer(0)))),
                k.Uniform(rest, g.Op("bitand", (length, g.integer(STRIP - 1)))),
                k.Uniform(whole, g.Op("sub", (length, rest))),
                k.Uniform(end, g.Op("add", (self.lower, whole))),
                k.Uniform(stop, g.Op("add", (self.lower, length))),
                k.BlockFor(strip, self.lower, end, g.integer(STRIP), strips),
                k.BlockFor(last, end, stop, g.integer(STRIP), left),
                self._end(),
            )
        )

    def _strip(self, strip: g.Var, many: g.Atom) -> tuple[k.BlockStmt, ...]:
        """Loads a strip of `many` indices from `strip` on, and folds it."""
        whole = isinstance(many, g.Const)
        loads = [self._load(t, tile, strip, whole) for t, tile in zip(self.found.tiles, self.tiles)]
        return (*loads, k.Barrier(), self._fold(strip, many), k.Barrier())

    def _load(self, t: RegisterTile, tile: g.Var, strip: g.Var, whole: bool) -> k.ForAll:
        """All threads together load a tile. Neighbours read neighbouring elements. `whole`: the strip is, so that what
        is read along the folded axis is there. Where threads make whole rows of a tile, each keeps its column, and goes
        down by so many rows."""
        b = self.b
        total, threads = math.prod(t.extents), math.prod(self.frame.mapping.placement.threads)
        extents = dict(zip(t.order, t.extents))
        slow = [n for n in range(len(t.order) - 1) if extents[n] > 1]
        rows = len(slow) == 1 and total % threads == 0 and threads % extents[len(t.order) - 1] == 0
        b.open()
        number = b.names.var("u", b.word)
        rest: g.Atom = number
        places: dict[int, g.Atom] = {}
        for n in reversed(range(1, len(t.order))):
            if extents[n] == 1 or (rows and n in slow):
                places[n] = g.Const(b.word.base, 0) if extents[n] == 1 else rest
                continue
            places[n], rest = self._divided(rest, extents[n])
        places[0] = g.Const(b.word.base, 0) if extents[0] == 1 else rest
        corner = self.frame.corner()
        exact = b.bits == 32  # then no extent is near the largest int, as other axes have several elements
        fixed: dict[int, g.Atom] = {}
        for down in range(0, total, threads) if rows else (0,):
            index: list[g.Atom] = []
            at = dict(places)
            for n, e in enumerate(t.entries):
                moved = down // extents[len(t.order) - 1] if n in slow else 0
                if moved:
                    at[n] = b.op("add", places[n], g.Const(places[n].base, moved), exact=True)
                if moved or n not in fixed:
                    base = g.integer(0) if e.axis is None else strip if e.axis == len(corner) else corner[e.axis]
                    first = b.op("add", base, g.integer(e.low)) if e.low else base
                    i = b.op("add", first, b.as_int(at[n]), exact=exact)
                    if not (whole and e.axis == len(corner)):
                        i = b.op("min", i, b.op("sub", g.extents_of(t.array)[n], g.integer(1)))
                    if not moved:
                        fixed[n] = i
                index.append(i if moved else fixed[n])
            b.store(tile, [at[n] for n in t.order], b.load(t.array, *index))
        return k.ForAll((number,), (b.word_const(threads if rows else total),), b.close())

    def _divided(self, number: g.Atom, by: int) -> tuple[g.Atom, g.Atom]:
        """What is left, and the quotient, of a number that is not negative."""
        b = self.b
        if by & (by - 1):
            return b.op("mod", number, b.word_const(by)), b.op("div", number, b.word_const(by))
        return b.op("bitand", number, b.word_const(by - 1)), b.op("shr", number, b.word_const(by.bit_length() - 1))

    def _threads(self) -> tuple[g.Var, ...]:
        return tuple(self.b.names.var("thread", self.b.word) for _ in self.each)

    def _positions(self, threads: Sequence[g.Atom]) -> list[list[g.Atom]]:
        """Along each axis of the block, the positions that a thread has: as many neighbours as the widest access takes,
        and the same again beyond those of all threads, so that neighbouring threads read from neighbouring banks."""
        b = self.b
        found = []
        for axis, (t, many, extent) in enumerate(zip(threads, self.each, self.frame.mapping.placement.threads)):
            sizes = [BYTES[tile.array.base] for tile in self.found.tiles if tile.moving == axis]
            group = min(many, max(1, WIDE // max(sizes, default=WIDE)))
            first = b.op("mul", t, b.word_const(group), exact=True)
            places = [n // group * group * extent + n % group for n in range(many)]
            found.append([b.op("add", first, b.word_const(n), exact=True) if n else first for n in places])
        return found

    def _start(self) -> k.ForAll:
        b = self.b
        b.open()
        threads = self._threads()
        for array, n in zip(self.own, self.neutrals):
            for cell in range(len(self.cells)):
                b.store(array, (g.integer(cell),), self.thread.atom(n))
        return k.ForAll(threads, self.frame.threads, b.close())

    def _fold(self, strip: g.Var, many: g.Atom) -> k.ForAll:
        """Each thread folds the strip into its cells; several indices in a round, where it is known that all are
        there."""
        b, thread = self.b, self.thread
        b.open()
        threads = self._threads()
        positions = self._positions(threads)
        index = {
            cell: self.frame.at_position([along[n] for along, n in zip(positions, cell)])[0] for cell in self.cells
        }
        count = len(self.cells)
        rounds = self._rounds() if isinstance(many, g.Const) else 1

        def one(at: g.Atom, carried: list[g.Atom]) -> list[g.Atom]:
            read = {
                place: [self._read(place, t, at, position) for position in positions[t.moving]]
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
        return k.ForAll(threads, self.frame.threads, b.close())

    def _rounds(self) -> int:
        """How many indices of a whole strip are written out: so many that the loop over them costs little."""
        each = len(self.c.inner.body.statements) + sum(len(o.combine.statements) for o in self.c.folds)
        rounds = STRIP
        while rounds > 1 and rounds * len(self.cells) * each > _CODE:
            rounds //= 2
        return rounds

    def _read(self, place: Place, t: RegisterTile, at: g.Atom, position: g.Atom) -> g.Atom:
        """The element of an access in its tile. `at`: how far in the strip; `position`: in the block, along the axis
        that the tile follows."""
        b = self.b
        tile = self.tiles[self.found.tiles.index(t)]
        index: list[g.Atom] = []
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
        b, thread = self.b, self.thread
        b.open()
        threads = self._threads()
        positions = self._positions(threads)
        for number, cell in enumerate(self.cells):
            index, guard = self.frame.at_position([along[n] for along, n in zip(positions, cell)])

            def store(number: int = number, index: tuple[g.Atom, ...] = index) -> None:
                thread.bind(self.c.partition.index, list(index))
                thread.block(g.Block(self.c.before), later=self.c.later)
                thread.bind(self.c.targets, [b.load(a, g.integer(number)) for a in self.own])

                def finish(values: list[Value]) -> None:
                    for array, v in zip(self.results, values, strict=True):
                        assert isinstance(v, g.Var | g.Const)
                        b.store(array, index, v)

                thread.block(self.c.after, finish)

            b.when(guard, store)
        return k.ForAll(threads, self.frame.threads, b.close())

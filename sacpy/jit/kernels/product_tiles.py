"""Tiles of what a fold inside a cell reads: matrix products, and all that look like them.

    for each [i, j]: fold over k of a[i, k] * b[k, j]

In: a partition whose cells come from one fold, and a mapping under which a block has a box of cells. Out: a kernel in
which each block goes along the folded axis in strips: all threads together load the tiles of a and b that the block
needs for the next strip into shared memory, and then each goes on with the fold of its cell from there. Each thread
folds in the same order as it would without tiles. Or the reason why that is not done.

    private own                                   what a cell has so far
    forall threads: own := neutral
    for strip in lower to upper step STRIP
        forall tile a: load a; forall tile b: load b
        barrier
        forall threads: for k in strip: own := combine(own, ..)
        barrier
    forall threads: write the cell
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from sacpy.jit.analysis.affine import Entry, Footprint, block_axes
from sacpy.jit.analysis.shared_planner import BYTES
from sacpy.jit.ir import graph as g
from sacpy.jit.ir import kernel as k
from sacpy.jit.kernels import maps, register_tiles
from sacpy.jit.kernels.builder import Builder
from sacpy.jit.kernels.contraction import Contraction, combined, suits
from sacpy.jit.kernels.numbers import Numbers
from sacpy.jit.kernels.register_tiles import RegisterTiles
from sacpy.jit.kernels.source import Built, Frame, Source
from sacpy.jit.kernels.staging import NO_BOX, REUSE, asked_for, copy_tile, tiles_in_words, too_large
from sacpy.jit.kernels.thread import Thread, Tile
from sacpy.jit.kernels.values import Value
from sacpy.lang.types import REAL
from sacpy.nodes import Node
from sacpy.withloop import chains
from sacpy.withloop.combinators import Permute, ShiftLB, SplitLast
from sacpy.withloop.placement import GridBlock
from sacpy.withloop.pragmas import GpuMem
from sacpy.withloop.spaces import IndexSpace

STRIP = 32  # indices of the folded axis that are loaded at a time
SIDE = 16  # of the square of threads that a block has where nobody says otherwise
EACH = ((8, 8), (8, 4), (4, 8), (4, 4), (2, 2))  # cells of a thread along the two axes, the most first
LONELY = 1.1  # times as long as else a block takes that has a processor for itself: nobody goes on while it waits
ALONE = 8.0  # what a multiply-add of a thread with one cell takes, times one whose operands are in registers
OWN = 256  # bytes of registers for what the cells of a thread have so far: a quarter of what it can have


class Tiles(Node):
    """The arrays to load in strips, with the extents of their tiles. `neighbour`: the axis of the cells along which
    neighbouring threads have theirs; `body`: what is computed from them."""

    purpose = "tiled"
    body: Contraction
    tiles: tuple[tuple[Footprint, tuple[int, ...]], ...]
    neighbour: int | None
    form = ()

    @property
    def padded(self) -> list[tuple[Footprint, tuple[int, ...]]]:
        """The tiles as they lie in memory: where neighbouring threads read whole rows apart, rows are an element
        longer, as else their elements would come from the same bank."""
        return [
            (
                f,
                (
                    *extents[:-1],
                    extents[-1]
                    + (self.neighbour is not None and any(e.axis == self.neighbour for e in f.entries[:-1])),
                ),
            )
            for f, extents in self.tiles
        ]

    @property
    def size(self) -> int:
        """Bytes of shared memory."""
        return sum(BYTES[f.array.base] * math.prod(extents) for f, extents in self.padded)

    def words(self, p: g.Partition) -> str:
        """What is loaded, in words."""
        return f"{tiles_in_words(self.tiles, p)}, along the folded axis {STRIP} at a time"

    def kernel(self, source: Source, number: int, mapping: chains.Mapping, bits: int) -> Built:
        """Loads the tiles of a strip, folds it, and goes on to the next."""
        return _Writer(source, number, self.body, mapping, self, bits).kernel()


def chain_for(
    c: Contraction, space: IndexSpace, numbers: Numbers, processors: int, several: bool
) -> chains.Chain | None:
    """A mapping under which a block has a square of cells, where that lets it reuse what it loads; None where it would
    not. `several`: threads may have several cells each; they have as many as let `processors` be done first,
    and as have room in registers."""
    if space.rank not in (2, 3) or not space.dense or min(space.extents[-2:]) < SIDE or c.length(numbers) < SIDE:
        return None
    each = _cells_each(c, space, processors) if several else (1, 1)
    chain = boxes(space, each)
    axes = block_axes(chain.map(space))
    block = (SIDE * each[0], SIDE * each[1])
    return chain if axes is not None and _chosen(c, axes, block) else None


def _cells_each(c: Contraction, space: IndexSpace, processors: int) -> tuple[int, int]:
    """How many cells a thread has along the last two axes: those with which the processor that has most blocks is done
    first."""
    return best([*(sides(c) if suits(c) else []), (1, 1)], space, processors)


def sides(c: Contraction, most: int = OWN) -> list[tuple[int, int]]:
    """How many cells a thread may have along the last two axes, more than one, in so many bytes of registers."""
    # compilers add up the integers of a strip by themselves, and so have twice as many in registers
    bytes_each = sum(BYTES[n.base] * (1 if n.base in REAL else 2) for o in c.folds for n in o.neutrals)
    return [each for each in EACH if bytes_each * math.prod(each) <= most]


def best(tried: Sequence[tuple[int, int]], space: IndexSpace, processors: int) -> tuple[int, int]:
    """Of some extents of a thread's cells those with which the processor that has most blocks is done first."""
    return min(tried, key=lambda each: taken(each, space, processors))


def taken(each: tuple[int, int], space: IndexSpace, processors: int) -> float:
    """What a processor has to do, in multiply-adds: the cells of its blocks, those that are not there included, each
    with its part of what threads read from shared memory: while that gives each thread of a warp an element, the warp
    could do two multiply-adds."""
    down, along = each
    sides = SIDE * down, SIDE * along
    blocks = math.prod(space.extents[:-2]) * math.prod(-(-e // side) for e, side in zip(space.extents[-2:], sides))
    read = 2 * (down + along) / (down * along)
    most = LONELY if blocks <= processors else -(-blocks // processors)
    return most * math.prod(sides) * (1 + read if each != (1, 1) else ALONE)


def why(chain: chains.Chain, space: IndexSpace, processors: int) -> str:
    """The reason for such a mapping."""
    block = chain.map(space).placement.block
    return f"boxes of {block[0]} x {block[1]} cells, as neighbours read the same, on {processors} multiprocessors"


def boxes(space: IndexSpace, each: tuple[int, int]) -> chains.Chain:
    """Blocks of boxes over the last two axes, of which each thread has a box of the extents `each`."""
    outer, r = tuple(range(space.rank - 2)), space.rank
    return chains.Chain(
        (
            *((ShiftLB(),) if any(space.lower) else ()),
            SplitLast(SIDE * each[1]),
            Permute((*outer, r - 1, r, r - 2)),
            SplitLast(SIDE * each[0]),
            Permute((*outer, r, r - 2, r + 1, r - 1)),
        ),
        GridBlock(2, stride=True, each=each if each != (1, 1) else ()),
    )


def tiles_for(
    source: Source, c: Contraction, mapping: chains.Mapping, wanted: GpuMem | None, numbers: Numbers, limit: int
) -> Tiles | RegisterTiles | str | None:
    """What to load in strips under a mapping; why nothing can be although the fold reads what is asked for along its
    axis; None where nothing is to be. `limit`: bytes of shared memory."""
    if wanted is not None and wanted.mode != "shared":
        return None
    names = set() if wanted is None else set(asked_for(c.partition, wanted).values())
    if not names <= {f.array.name for f in c.prints}:
        return None
    axes = block_axes(mapping)
    block = mapping.placement.block
    if axes is None or not block:
        return None if wanted is None else NO_BOX
    if mapping.placement.each:
        return register_tiles.register_tiles(source, c, axes, mapping, numbers, limit)
    chosen = (
        _chosen(c, axes, block)
        if wanted is None
        else [(f, _extents(c, f, axes, block)) for f in c.prints if f.array.name in names]
    )
    found = Tiles(c, tuple(chosen), next((axis for axis, along in enumerate(axes) if along == len(block) - 1), None))
    if found.size > limit:
        return None if wanted is None else too_large(found.size, limit)
    return found if chosen else None


def _chosen(
    c: Contraction, axes: Sequence[int | None], block: Sequence[int]
) -> list[tuple[Footprint, tuple[int, ...]]]:
    """The tiles whose elements are read often enough. What is the same for the whole block is at hand anyhow: it does
    not count by itself."""
    tiles = [(f, _extents(c, f, axes, block)) for f in c.prints]
    often = [(f, extents) for f, extents in tiles if f.reads * math.prod(block) * STRIP >= REUSE * math.prod(extents)]
    return often if any(_moves(f, axes) for f, _ in often) else []


def _moves(f: Footprint, axes: Sequence[int | None]) -> bool:
    return any(e.axis is not None and e.axis < len(axes) and axes[e.axis] is not None for e in f.entries)


def _extents(c: Contraction, f: Footprint, axes: Sequence[int | None], block: Sequence[int]) -> tuple[int, ...]:
    found = []
    for e in f.entries:
        along = None if e.axis is None or e.axis == len(axes) else axes[e.axis]
        width = STRIP if e.axis == len(axes) else 1 if along is None else block[along]
        found.append(width + e.high - e.low)
    return tuple(found)


class _Writer:
    def __init__(
        self, source: Source, number: int, c: Contraction, mapping: chains.Mapping, found: Tiles, bits: int
    ) -> None:
        self.c, self.found = c, found
        self.thread: Thread = source.thread(f"tiled{number}", bits)
        self.b: Builder = self.thread.b
        self.results = maps.results(self.thread, source)
        self.frame = Frame(self.b, mapping, mapping.placement.block)
        for f, _ in found.tiles:
            self.b.parameter(f.array.name)
        self.lower, self.upper = self.thread.atom(c.inner.lower[0]), self.thread.atom(c.inner.upper[0])
        self.own = [self.b.array(n.base, (g.integer(1),)) for o in c.folds for n in o.neutrals]
        self.tiles = [self.b.shared("tile", f.array.base, extents) for f, extents in found.padded]
        self.strip = self.b.names.var("strip", g.INT)

    def kernel(self) -> Built:
        loads = tuple(
            copy_tile(self.b, self.frame, self.origin, f, extents, tile)
            for (f, extents), tile in zip(self.found.tiles, self.tiles)
        )
        strips = k.BlockFor(
            self.strip,
            self.lower,
            self.upper,
            g.integer(STRIP),
            (*loads, k.Barrier(), self.phase(self.go_on, tiled=True), k.Barrier()),
        )
        return self.frame.kernel((self.phase(self.start), strips, self.phase(self.end)))

    def origin(self, corner: Sequence[g.Atom], e: Entry) -> g.Atom:
        """Where a tile begins along one of its axes. `corner`: the index of the block's first cell."""
        base: g.Atom = g.integer(0) if e.axis is None else self.strip if e.axis == len(corner) else corner[e.axis]
        return self.b.op("add", base, g.integer(e.low))

    def phase(self, code: Callable[[Sequence[g.Atom]], None], tiled: bool = False) -> k.ForAll:
        """All threads that have a cell do something; what stands before the fold is at hand, and the tiles of a strip
        if they are there."""
        b, thread = self.b, self.thread
        b.open()
        thread.tiles.clear()
        corner = self.frame.corner() if tiled else ()
        for (f, _), tile in zip(self.found.tiles if tiled else (), self.tiles):
            begin = tuple(self.origin(corner, e) for e in f.entries)
            for place in f.places:
                thread.tiles[place] = Tile(tile, begin)
        threads, index, guard = self.frame.index()

        def body() -> None:
            thread.bind(self.c.partition.index, list(index))
            thread.block(g.Block(self.c.before), later=self.c.later)
            code(index)

        b.when(guard, body)
        return k.ForAll(threads, self.frame.size, b.close())

    def start(self, _: Sequence[g.Atom]) -> None:
        for array, n in zip(self.own, (n for o in self.c.folds for n in o.neutrals)):
            self.b.store(array, (g.integer(0),), self.thread.atom(n))

    def go_on(self, _: Sequence[g.Atom]) -> None:
        b, thread = self.b, self.thread
        left = b.op("min", g.integer(STRIP), b.op("sub", self.upper, self.strip, exact=True))

        def one(at: g.Var, carried: list[g.Atom]) -> list[g.Atom]:
            thread.bind(self.c.inner.index, [at])
            values, _ = thread.block(self.c.inner.body, later=self.c.later)
            return combined(thread, self.c, carried, values)

        last = b.seq_for(
            self.strip, b.op("add", self.strip, left, exact=True), [b.load(a, g.integer(0)) for a in self.own], one
        )
        for array, v in zip(self.own, last):
            b.store(array, (g.integer(0),), v)

    def end(self, index: Sequence[g.Atom]) -> None:
        thread = self.thread
        thread.bind(self.c.targets, [self.b.load(a, g.integer(0)) for a in self.own])

        def finish(values: list[Value]) -> None:
            for array, v in zip(self.results, values, strict=True):
                assert isinstance(v, g.Var | g.Const)
                self.b.store(array, index, v)

        thread.block(self.c.after, finish)


__all__ = ["Tiles", "chain_for", "tiles_for"]

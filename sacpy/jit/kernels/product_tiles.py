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

from sacpy.jit.analysis.affine import Entry, Footprint, block_axes, footprints_of
from sacpy.jit.analysis.shared_planner import BYTES
from sacpy.jit.ir import kernel as k
from sacpy.jit.ir.graph import INT, Atom, Block, Const, Fold, Let, Partition, Stmt, Var, WithLoop, extents_of, integer
from sacpy.jit.kernels import maps
from sacpy.jit.kernels.builder import Builder
from sacpy.jit.kernels.numbers import Numbers
from sacpy.jit.kernels.source import Built, Frame, Source, number_of
from sacpy.jit.kernels.staging import NO_BOX, REUSE, asked_for, copy_tile, tiles_in_words, too_large
from sacpy.jit.kernels.thread import Thread, Tile
from sacpy.jit.kernels.values import Value
from sacpy.nodes import Node
from sacpy.withloop import chains
from sacpy.withloop.combinators import Permute, ShiftLB, SplitLast
from sacpy.withloop.placement import GridBlock
from sacpy.withloop.pragmas import GpuMem
from sacpy.withloop.spaces import IndexSpace

STRIP = 32  # indices of the folded axis that are loaded at a time
SIDE = 16  # of the square of cells that a block has where nobody says otherwise


class Contraction(Node):
    """A body that is `before`, a fold over one dense axis, `after`. `prints`: what it reads, the folded axis counted
    behind those of the partition."""

    partition: Partition
    before: tuple[Stmt, ...]
    fold: WithLoop
    targets: tuple[Var, ...]
    after: Block
    prints: tuple[Footprint, ...]

    @property
    def inner(self) -> Partition:
        """What is folded."""
        return self.fold.partitions[0]

    @property
    def later(self) -> tuple[Block, ...]:
        """What comes after `before`."""
        return self.inner.body, self.after

    @property
    def folds(self) -> tuple[Fold, ...]:
        return tuple(o for o in self.fold.operators if isinstance(o, Fold))

    def length(self, numbers: Numbers) -> int:
        """How many indices a cell folds."""
        return number_of(self.inner.upper[0], numbers) - number_of(self.inner.lower[0], numbers)


class Tiles(Node):
    """The arrays to load in strips, with the extents of their tiles. `neighbour`: the axis of the cells along which
    neighbouring threads have theirs."""

    tiles: tuple[tuple[Footprint, tuple[int, ...]], ...]
    neighbour: int | None

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

    def words(self, p: Partition) -> str:
        """What is loaded, in words."""
        return f"{tiles_in_words(self.tiles, p)}, along the folded axis {STRIP} at a time"


def contraction(source: Source, p: Partition) -> Contraction | None:
    """The body of a partition as such, if it is one whose fold's bounds are known before the launch, and that cannot
    fail."""
    if not p.index or any(extents_of(r) for r in p.body.results):
        return None
    for at, s in enumerate(p.body.statements):
        if not isinstance(s, Let):
            return None
        if not isinstance(s.rhs, WithLoop):
            continue
        w = s.rhs
        if len(w.partitions) != 1 or not all(
            isinstance(o, Fold) and o.stop is None and not any(extents_of(n) for n in o.neutrals) for o in w.operators
        ):
            return None
        q = w.partitions[0]
        known = (
            q.rank == 1
            and q.step is None
            and all(isinstance(a, Const) or a.name in source.free for a in (*q.lower, *q.upper))
        )
        before = p.body.statements[:at]
        if not known or source.thread("trial", 32).checked(
            Block(before), q.body, *(o.combine for o in w.operators if isinstance(o, Fold))
        ):
            return None
        found = footprints_of((*p.index, q.index[0]), (Block(before), q.body), source.free)
        prints = tuple(f for f in found if any(e.axis == p.rank for e in f.entries))
        return (
            Contraction(p, before, w, s.targets, Block(p.body.statements[at + 1 :], p.body.results), prints)
            if prints
            else None
        )
    return None


def chain_for(c: Contraction, space: IndexSpace, numbers: Numbers) -> chains.Chain | None:
    """A mapping under which a block has a square of cells, where that lets it reuse what it loads; None where it would
    not."""
    if (
        space.rank not in (2, 3)
        or not space.dense
        or min(space.upper[k] - space.lower[k] for k in (-1, -2)) < SIDE
        or c.length(numbers) < SIDE
    ):
        return None
    outer = tuple(range(space.rank - 2))
    r = space.rank
    chain = chains.Chain(
        (
            ShiftLB(),
            SplitLast(SIDE),
            Permute((*outer, r - 1, r, r - 2)),
            SplitLast(SIDE),
            Permute((*outer, r, r - 2, r + 1, r - 1)),
        ),
        GridBlock(2, stride=True),
    )
    axes = block_axes(chain.map(space))
    return chain if axes is not None and _chosen(c, axes, (SIDE, SIDE)) else None


def tiles_for(c: Contraction, mapping: chains.Mapping, wanted: GpuMem | None, limit: int) -> Tiles | str | None:
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
    chosen = (
        _chosen(c, axes, block)
        if wanted is None
        else [(f, _extents(c, f, axes, block)) for f in c.prints if f.array.name in names]
    )
    found = Tiles(tuple(chosen), next((axis for axis, along in enumerate(axes) if along == len(block) - 1), None))
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


def contraction_kernel(
    source: Source, number: int, c: Contraction, mapping: chains.Mapping, found: Tiles, bits: int
) -> Built:
    """The kernel. The block's extents are constants."""
    return _Writer(source, number, c, mapping, found, bits).kernel()


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
        self.own = [self.b.array(n.base, (integer(1),)) for o in c.folds for n in o.neutrals]
        self.tiles = [self.b.shared("tile", f.array.base, extents) for f, extents in found.padded]
        self.strip = self.b.names.var("strip", INT)

    def kernel(self) -> Built:
        loads = tuple(
            copy_tile(self.b, self.frame, self.origin, f, extents, tile)
            for (f, extents), tile in zip(self.found.tiles, self.tiles)
        )
        strips = k.BlockFor(
            self.strip,
            self.lower,
            self.upper,
            integer(STRIP),
            (*loads, k.Barrier(), self.phase(self.go_on, tiled=True), k.Barrier()),
        )
        return self.frame.kernel((self.phase(self.start), strips, self.phase(self.end)))

    def origin(self, corner: Sequence[Atom], e: Entry) -> Atom:
        """Where a tile begins along one of its axes. `corner`: the index of the block's first cell."""
        base: Atom = integer(0) if e.axis is None else self.strip if e.axis == len(corner) else corner[e.axis]
        return self.b.op("add", base, integer(e.low))

    def phase(self, code: Callable[[Sequence[Atom]], None], tiled: bool = False) -> k.ForAll:
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
            thread.block(Block(self.c.before), later=self.c.later)
            code(index)

        b.when(guard, body)
        return k.ForAll(threads, self.frame.size, b.close())

    def start(self, _: Sequence[Atom]) -> None:
        for array, n in zip(self.own, (n for o in self.c.folds for n in o.neutrals)):
            self.b.store(array, (integer(0),), self.thread.atom(n))

    def go_on(self, _: Sequence[Atom]) -> None:
        b, thread = self.b, self.thread
        left = b.op("min", integer(STRIP), b.op("sub", self.upper, self.strip, exact=True))

        def one(at: Var, carried: list[Atom]) -> list[Atom]:
            thread.bind(self.c.inner.index, [at])
            values, _ = thread.block(self.c.inner.body, later=self.c.later)
            return self.combined(carried, values)

        last = b.seq_for(
            self.strip, b.op("add", self.strip, left, exact=True), [b.load(a, integer(0)) for a in self.own], one
        )
        for array, v in zip(self.own, last):
            b.store(array, (integer(0),), v)

    def combined(self, carried: Sequence[Atom], values: Sequence[Value]) -> list[Atom]:
        """The folds' functions."""
        found: list[Atom] = []
        at = 0
        for o in self.c.folds:
            size = len(o.accumulators)
            self.thread.bind(o.accumulators, list(carried[at : at + size]))
            self.thread.bind(o.values, values[at : at + size])
            at += size
            results, _ = self.thread.block(o.combine)
            found += [r for r in results if isinstance(r, Var | Const)]
        return found

    def end(self, index: Sequence[Atom]) -> None:
        thread = self.thread
        thread.bind(self.c.targets, [self.b.load(a, integer(0)) for a in self.own])

        def finish(values: list[Value]) -> None:
            for array, v in zip(self.results, values, strict=True):
                assert isinstance(v, Var | Const)
                self.b.store(array, index, v)

        thread.block(self.c.after, finish)


__all__ = ["Contraction", "Tiles", "chain_for", "contraction", "contraction_kernel", "tiles_for"]

"""Arrays that cells read along another axis than they are written along: transpositions, permuted operands.

    for each [j, i]: a[i, j]

Neighbouring threads write neighbouring cells, and would read elements that lie rows apart. In: a partition, found by
its access functions; an index space. Out: a mapping under which a block has a square of cells over the axis that is
read along and the one that is written along, and what blocks then stage: they read the square of the array row by row,
neighbours side by side, and turn it in shared memory, whose rows are longer by a bank. Threads have several cells each,
so that the loads of a square are under way together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from sacpy.jit.analysis.affine import Entry, Footprint, block_axes, footprints_of
from sacpy.jit.analysis.shared_planner import BYTES
from sacpy.jit.ir import kernel as k
from sacpy.jit.ir.graph import Atom, Partition, Var, extents_of, integer
from sacpy.jit.kernels import maps
from sacpy.jit.kernels.builder import Builder
from sacpy.jit.kernels.several import Place, cells_phase, either, rounds_phase
from sacpy.jit.kernels.source import Built, Frame, Source
from sacpy.jit.kernels.staging import tiles_in_words
from sacpy.jit.kernels.thread import Tile
from sacpy.nodes import Node
from sacpy.withloop import chains
from sacpy.withloop.combinators import Permute, ShiftLB, SplitLast
from sacpy.withloop.placement import GridBlock
from sacpy.withloop.spaces import IndexSpace

SIDE = 32  # of a square of cells
EACH = 8  # cells of a thread, one below the other
BANK = 4  # bytes


class Turned(Node):
    """The squares that blocks turn: arrays with the extents of their tiles."""

    purpose = "turned"
    form = ()
    tiles: tuple[tuple[Footprint, tuple[int, ...]], ...]

    @property
    def lying(self) -> list[tuple[int, ...]]:
        """The tiles as they lie in memory: rows are longer by a bank, as neighbouring threads read what lies rows
        apart."""
        return [(*extents[:-1], extents[-1] + max(1, BANK // BYTES[f.array.base])) for f, extents in self.tiles]

    @property
    def size(self) -> int:
        """Bytes of shared memory."""
        return sum(BYTES[f.array.base] * math.prod(lying) for (f, _), lying in zip(self.tiles, self.lying))

    def words(self, p: Partition) -> str:
        """What is turned."""
        return f"{tiles_in_words(self.tiles, p)}, {EACH} cells a thread"

    def kernel(self, source: Source, number: int, mapping: chains.Mapping, bits: int) -> Built:
        """Loads the squares, then computes the cells."""
        thread = source.thread(f"turned{number}", bits)
        b, p = thread.b, source.with_loop.partitions[number]
        arrays = maps.results(thread, source)
        frame = Frame(b, mapping, mapping.placement.block)
        tiles = [b.shared("tile", f.array.base, lying) for (f, _), lying in zip(self.tiles, self.lying)]
        for f, _ in self.tiles:
            b.parameter(f.array.name)
        loads = [_load(b, frame, f, extents, tile) for (f, extents), tile in zip(self.tiles, tiles)]

        def cell(index: tuple[Atom, ...]) -> None:
            corner = frame.corner()
            for (f, _), tile in zip(self.tiles, tiles):
                begin = tuple(_origin(b, corner, e) for e in f.entries)
                thread.tiles |= dict.fromkeys(f.places, Tile(tile, begin))
            maps.compute(thread, p, index, arrays)

        after = (k.Barrier(),) if any(mapping.placement.strided) else ()
        return frame.kernel((*loads, k.Barrier(), cells_phase(b, frame, cell), *after))


def _origin(b: Builder, corner: Sequence[Atom], e: Entry) -> Atom:
    """Where a tile begins along one of its axes. `corner`: the index of the block's first cell."""
    assert e.axis is not None
    return b.op("add", corner[e.axis], integer(e.low)) if e.low else corner[e.axis]


def _load(b: Builder, frame: Frame, f: Footprint, extents: tuple[int, ...], tile: Var) -> k.ForAll:
    """All threads together load a tile, leaving out what lies outside of the array."""

    def body(places: list[tuple[Place, Atom | None]]) -> None:
        corner = frame.corner()
        first = [_origin(b, corner, e) for e in f.entries]
        ends = extents_of(f.array)
        whole: Atom | None = None
        for e, at, extent, end in zip(f.entries, first, extents, ends):
            whole = b.both(whole, b.op("le", b.op("add", at, integer(extent)), end))
            whole = b.both(whole, b.op("le", integer(0), at) if e.low < 0 else None)

        def index(place: Sequence[Atom]) -> list[Atom]:
            # of arrays whose elements 32 bits number, an extent is far from the largest int: both have 32 or more
            return [b.op("add", at, b.as_int(u), exact=b.bits == 32) for at, u in zip(first, place)]

        def one(place: Sequence[Atom], guard: Atom | None) -> None:
            b.when(guard, lambda: b.store(tile, place, b.load(f.array, *index(place))))

        def all_of_them() -> None:
            for place, guard in places:
                one(place, guard)

        def those_inside() -> None:
            for place, guard in places:
                inside = guard
                for e, i, end in zip(f.entries, index(place), ends):
                    inside = b.both(inside, b.op("lt", i, end))
                    inside = b.both(inside, b.op("le", integer(0), i) if e.low < 0 else None)
                one(place, inside)

        either(b, whole, all_of_them, those_inside)

    return rounds_phase(b, frame, extents, body)


def axis_across(p: Partition, free: Mapping[str, Var]) -> int | None:
    """The axis of the cells along which an array lies that they read, where it is not the last one; None where there is
    no such array, or cells are arrays themselves."""
    if p.rank not in (2, 3) or p.step is not None or any(extents_of(r) for r in p.body.results):
        return None
    return next(
        (axis for f in footprints_of(p.index, (p.body,), free) if (axis := _along(f, p.rank)) is not None), None
    )


def _along(f: Footprint, rank: int) -> int | None:
    """The axis that the last one of an array follows, where it is not the last axis of the cells, and that one moves
    in the array too."""
    axes = [e.axis for e in f.entries]
    return axes[-1] if None not in axes and axes[-1] != rank - 1 and rank - 1 in axes else None


def chain_for(axis: int, space: IndexSpace) -> chains.Chain | None:
    """Squares over an axis of the cells and the last one; None where one of them is shorter than a square."""
    r = space.rank
    if not space.dense or any(space.upper[k] - space.lower[k] < SIDE for k in (axis, -1)):
        return None
    others = tuple(k for k in range(r - 1) if k != axis)
    outer = tuple(range(r - 2))
    return chains.Chain(
        (
            ShiftLB(),
            *((Permute((*others, axis, r - 1)),) if (*others, axis) != tuple(range(r - 1)) else ()),
            SplitLast(SIDE),
            Permute((*outer, r - 1, r, r - 2)),
            SplitLast(SIDE),
            Permute((*outer, r, r - 2, r + 1, r - 1)),
        ),
        GridBlock(2, stride=True, each=(EACH, 1)),
    )


def squares(p: Partition, free: Mapping[str, Var], mapping: chains.Mapping, limit: int) -> Turned | None:
    """What blocks turn under such a mapping: all that is read across. `limit`: bytes of shared memory."""
    axes, block = block_axes(mapping), mapping.placement.block
    if axes is None:
        return None
    tiles: list[tuple[Footprint, tuple[int, ...]]] = []
    for f in footprints_of(p.index, (p.body,), free):
        if _along(f, p.rank) is not None:
            along = [None if e.axis is None else axes[e.axis] for e in f.entries]
            widths = (1 if q is None else block[q] for q in along)
            tiles.append((f, tuple(width + e.high - e.low for width, e in zip(widths, f.entries))))
    found = Turned(tuple(tiles))
    return found if tiles and found.size <= limit else None

"""Tiles in shared memory.

In: a partition, a mapping under which a block has a box of indices, and what the indices read around themselves. Out: a
kernel in which each block first loads the tiles of the arrays that it reads, halos included, all threads together, and
then computes from them; or the reason why it does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Protocol, runtime_checkable

from sacpy.jit.analysis.affine import Entry, Footprint, block_axes, footprints
from sacpy.jit.analysis.shared_planner import BYTES
from sacpy.jit.ir import kernel as k
from sacpy.jit.ir.graph import Atom, Partition, Var, extents_of, integer
from sacpy.jit.ir.rewrite import uses
from sacpy.jit.kernels import maps
from sacpy.jit.kernels.builder import Builder
from sacpy.jit.kernels.source import Built, Frame, Source
from sacpy.jit.kernels.thread import Tile
from sacpy.nodes import Node
from sacpy.withloop import chains
from sacpy.withloop.errors import MappingError
from sacpy.withloop.pragmas import GpuMem

NO_BOX = "the indices of a block are no box"
REUSE = 8.0  # reads of a cell of a tile, from which on it is staged without being asked for


@runtime_checkable
class Tiled(Protocol):
    """What a block keeps in shared memory, and the kernel that does. `purpose`: a word for the kernel."""

    @property
    def purpose(self) -> str: ...

    @property
    def form(self) -> Hashable:
        """What the kernel depends on beside the mapping."""

    @property
    def size(self) -> int:
        """Bytes of shared memory."""

    def words(self, p: Partition) -> str:
        """What is kept, in words, arrays under the programmer's names where he has named them."""

    def kernel(self, source: Source, number: int, mapping: chains.Mapping, bits: int) -> Built:
        """The kernel for a partition, or for a piece of it. The block's extents are constants."""


class Staging(Node):
    """The arrays to stage, with the extents of their tiles."""

    purpose = "staged"
    form = ()
    tiles: tuple[tuple[Footprint, tuple[int, ...]], ...]

    @property
    def size(self) -> int:
        """Bytes of shared memory."""
        return sum(BYTES[f.array.base] * math.prod(extents) for f, extents in self.tiles)

    def words(self, p: Partition) -> str:
        """What is staged."""
        return tiles_in_words(self.tiles, p)

    def kernel(self, source: Source, number: int, mapping: chains.Mapping, bits: int) -> Built:
        """Loads the tiles, then computes the cells."""
        return _staged_kernel(source, number, mapping, self, bits)


def tiles_in_words(tiles: Sequence[tuple[Footprint, tuple[int, ...]]], p: Partition) -> str:
    """Arrays with the extents of their tiles."""
    named = {v.name: name for name, v in p.staged}
    return ", ".join(
        f"{named.get(f.array.name, f.array.name)} by tiles of {' x '.join(map(str, extents))}" for f, extents in tiles
    )


def staging(
    source: Source, number: int, mapping: chains.Mapping, wanted: GpuMem | None, limit: int
) -> Staging | str | None:
    """What to stage under a mapping; why nothing can be although it is asked for; None where nothing is to be. `limit`:
    bytes of shared memory."""
    if wanted is not None and wanted.mode != "shared":
        return None
    prints = footprints(source.with_loop.partitions[number], source.free, fixed=wanted is not None)
    if wanted is not None:
        named = asked_for(source.with_loop.partitions[number], wanted)
        missing = [name for name, array in named.items() if array not in prints]
        if missing:
            return f"{missing[0]} is not read at the index and little off it"
        prints = {n: f for n, f in prints.items() if n in named.values()}
    if not prints:
        return None
    axes = block_axes(mapping)
    block = mapping.placement.block
    if axes is None or not block:
        return None if wanted is None else NO_BOX
    tiles = []
    for f in prints.values():
        extents = tuple(_extent(e, axes, block) for e in f.entries)
        if wanted is not None or f.reads * math.prod(block) >= REUSE * math.prod(extents):
            tiles.append((f, extents))
    found = Staging(tuple(tiles))
    if found.size > limit:
        return None if wanted is None else too_large(found.size, limit)
    return found if tiles else None


def too_large(size: int, limit: int) -> str:
    """Why tiles cannot be there."""
    return f"its tiles take {size} bytes, and a block has {limit}"


def asked_for(p: Partition, wanted: GpuMem) -> dict[str, str]:
    """The arrays that are to be staged, by the names that the programmer gave them; those of which nothing is read any
    more are left out."""
    read = uses(p.body)
    return {name: v.name for name, v in p.staged if name in wanted.names and read[v.name]}


def _extent(e: Entry, axes: Sequence[int | None], block: Sequence[int]) -> int:
    along = None if e.axis is None else axes[e.axis]
    return (1 if along is None else block[along]) + e.high - e.low


def _staged_kernel(source: Source, number: int, mapping: chains.Mapping, found: Staging, bits: int) -> Built:
    """Loads the tiles, then computes the cells of one partition, or of a piece of it. The block's extents are
    constants."""
    thread = source.thread(f"staged{number}", bits)
    b = thread.b
    arrays = maps.results(thread, source)
    frame = Frame(b, mapping, mapping.placement.block)
    p = source.with_loop.partitions[number]
    tiles = [b.shared("tile", f.array.base, extents) for f, extents in found.tiles]
    for f, _ in found.tiles:
        b.parameter(f.array.name)

    def origin(corner: Sequence[Atom], e: Entry) -> Atom:
        return integer(e.low) if e.axis is None else b.op("add", corner[e.axis], integer(e.low))

    loads = tuple(copy_tile(b, frame, origin, f, extents, tile) for (f, extents), tile in zip(found.tiles, tiles))
    b.open()
    corner = frame.corner()
    for (f, _), tile in zip(found.tiles, tiles):
        begin = tuple(origin(corner, e) for e in f.entries)
        for place in f.places:
            thread.tiles[place] = Tile(tile, begin)
    threads, index, guard = frame.index()
    b.when(guard, lambda: maps.compute(thread, p, index, arrays))
    compute = k.ForAll(threads, frame.size, b.close())
    return frame.kernel((*loads, k.Barrier(), compute, *((k.Barrier(),) if any(mapping.placement.strided) else ())))


def copy_tile(
    b: Builder,
    frame: Frame,
    origin: Callable[[Sequence[Atom], Entry], Atom],
    f: Footprint,
    extents: tuple[int, ...],
    tile: Var,
) -> k.ForAll:
    """All threads together load a tile, leaving out what lies outside of the array. `origin`: where it begins along an
    axis, given the index of the block's first cell."""
    flat = len(extents) > 3 or len(extents) != len(frame.size)
    b.open()
    counters = [b.names.var("u", b.word) for _ in ((0,) if flat else extents)]
    place: list[Atom] = list(counters)
    if flat:
        rest: Atom = counters[0]
        place = []
        for extent in reversed(extents[1:]):
            place.append(b.op("mod", rest, b.word_const(extent)))
            rest = b.op("div", rest, b.word_const(extent))
        place = [rest, *reversed(place)]
    corner = frame.corner()
    inside: Atom | None = None
    at: list[Atom] = []
    for e, u, end in zip(f.entries, place, extents_of(f.array)):
        i = b.op("add", origin(corner, e), b.as_int(u))
        at.append(i)
        inside = b.both(inside, b.both(b.op("le", integer(0), i), b.op("lt", i, end)))
    b.when(inside, lambda: b.store(tile, place, b.load(f.array, *at)))
    whole = (math.prod(extents),) if flat else extents
    return k.ForAll(tuple(counters), tuple(b.word_const(e) for e in whole), b.close())


def cannot_stage(wanted: GpuMem, reason: str) -> MappingError:
    """What is wrong with a pragma that wants what cannot be."""
    help = (
        "lay the with-loop out without FoldLast2 and CompressGrid on the axes of a block, or leave the pragma out"
        if reason == NO_BOX
        else "leave the pragma out"
    )
    return MappingError("E0819", f"nothing can be staged here: {reason}", help, span=wanted.spans[0], word="gpumem")

"""What the blocks of a with-loop keep in shared memory, and the mappings that let them.

In: a with-loop whose cells are mapped; at run time a piece of a partition. Out: a mapping with what its blocks stage
(`staging.Tiled`): the strips of a fold inside the cells, squares that are turned, boxes with halos, cells of few
elements; None where there is nothing such.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.matrix_units import COLUMNS, FOLDED
from sacpy.jit.kernels import across, matrix_tiles, product_tiles, short_rows, staging
from sacpy.jit.kernels.contraction import Contraction
from sacpy.jit.kernels.numbers import Numbers, chain_of, memory_of
from sacpy.jit.kernels.source import Source, number_of
from sacpy.withloop import chains
from sacpy.withloop.devices import DeviceLimits
from sacpy.withloop.pragmas import GpuMem, Pragma
from sacpy.withloop.spaces import IndexSpace
from sacpy.withloop.ways import GpuFold

MOST = 1 << 31  # indices, where nobody knows how many


class Tilings:
    """Of one with-loop: for each partition, the `contractions` that its cells are, the axes that it reads `across`, its
    `pragmas`."""

    def __init__(
        self,
        source: Source,
        contractions: Sequence[Contraction | None],
        across: Sequence[int | None],
        pragmas: Sequence[Sequence[Pragma]],
        device: DeviceLimits,
    ) -> None:
        self.source, self.device = source, device
        self.contractions, self.across, self.pragmas = contractions, across, pragmas

    def tiles(
        self, number: int, chain: chains.Chain, space: IndexSpace, numbers: Numbers
    ) -> staging.Tiled | str | None:
        """What a mapping lets blocks stage; why nothing can be although that is asked for; None where nothing is to
        be."""
        body, wanted, device = self.contractions[number], memory_of(self.pragmas[number]), self.device
        mapping = chain.map(space, device)
        if mapping.placement.each and body is None:
            p = self.source.with_loop.partitions[number]
            squares = across.squares(p, self.source.free, mapping, device.shared_per_block)
            return squares or short_rows.short_rows(self.source, number, mapping, device.shared_per_block)
        strips = None
        if body is not None:
            limit = device.shared_per_block
            strips = product_tiles.tiles_for(self.source, body, mapping, wanted, numbers, limit)
        if strips is not None:
            return strips
        boxes = staging.staging(self.source, number, mapping, wanted, device.shared_per_block)
        if boxes is not None or wanted is not None:
            return boxes
        return short_rows.short_rows(self.source, number, mapping, device.shared_per_block)

    def squares(
        self, number: int, body: Contraction, space: IndexSpace, numbers: Numbers, wanted: GpuMem | None
    ) -> chains.Chain | None:
        """The mapping that lets blocks share what their cells read, threads with several cells each where all that they
        read can be in tiles."""
        for several in (True, False) if wanted is None else (False,):
            chain = product_tiles.chain_for(body, space, numbers, self.device.processors, several)
            if chain is None or not chain.grid_block.each or self.tiles(number, chain, space, numbers) is not None:
                return chain
        return None

    def multiplied(
        self, number: int, way: GpuFold, space: IndexSpace, numbers: Numbers
    ) -> tuple[chains.Chain, staging.Tiled] | None:
        """What tensor cores multiply, as a pragma asks for; None where that is less than one instruction does. Raises
        `MappingError` where they cannot."""
        pragmas, body = self.pragmas[number], self.contractions[number]
        if min(*space.extents[-2:], COLUMNS) < COLUMNS or self._indices(number, numbers) < FOLDED:
            return None
        if chain_of(pragmas) is not None or memory_of(pragmas) is not None:
            raise way.refused("these cells are laid out by another pragma, too", "leave one of the two pragmas out")
        return matrix_tiles.matrix_tiles(self.source, body, way, space, numbers, self.device)

    def _indices(self, number: int, numbers: Numbers) -> int:
        """How many indices the cells fold, if that is known; else many. Of short folds there may be nothing left."""
        body, p = self.contractions[number], self.source.with_loop.partitions[number]
        if body is not None:
            return body.length(numbers)
        loops = [s.rhs for s in g.statements(p.body) if isinstance(s, g.Let) and isinstance(s.rhs, g.WithLoop)]
        bounds = [[(lo, up) for lo, up in zip(q.lower, q.upper)] for w in loops for q in w.partitions]
        known = [
            math.prod(number_of(up, numbers) - number_of(lo, numbers) for lo, up in q)
            for q in bounds
            if all(isinstance(a, g.Const) for ends in q for a in ends)
        ]
        return max(known, default=0) if len(known) == len(bounds) else MOST

    def brought(self, number: int, space: IndexSpace, numbers: Numbers) -> tuple[chains.Chain | None, tuple[str, ...]]:
        """The mapping that lets blocks bring cells of few elements, or turn what their cells read across; None where
        there is nothing such."""
        few = short_rows.chain_for(self.source, number, space, self.device)
        if few is not None and isinstance(self.tiles(number, few, space, numbers), short_rows.ShortRows):
            return few, ("as many threads as suit cells of few elements",)
        axis = self.across[number]
        chain = None if axis is None else across.chain_for(axis, space)
        if chain is None or self.tiles(number, chain, space, numbers) is None:
            return None, ()
        return chain, (f"squares of cells, as an array is read along axis {axis} and written along {space.rank - 1}",)

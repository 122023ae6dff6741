"""What the blocks of a with-loop keep in shared memory, and the mappings that let them.

In: a with-loop whose cells are mapped; at run time a piece of a partition. Out: a mapping with what its blocks stage
(`staging.Tiled`): the strips of a fold inside the cells, squares that are turned, boxes with halos, cells of few
elements; None where there is nothing such.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.ir import graph as g
from sacpy.jit.kernels import across, matrix_tiles, product_tiles, short_rows, staging
from sacpy.jit.kernels.contraction import Contraction
from sacpy.jit.kernels.numbers import Numbers, chain_of, memory_of
from sacpy.jit.kernels.source import Source
from sacpy.withloop import chains
from sacpy.withloop.devices import DeviceLimits
from sacpy.withloop.pragmas import GpuMem, Pragma
from sacpy.withloop.spaces import IndexSpace
from sacpy.withloop.ways import GpuFold


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
        """What tensor cores multiply, as a pragma asks for; None where a matrix has but one row or column, which code
        for such sizes may have no loop for any more. Raises `MappingError` where they cannot."""
        pragmas, body = self.pragmas[number], self.contractions[number]
        if min(space.extents[-2:], default=1) < 2 or not self._loops(number):
            return None
        if chain_of(pragmas) is not None or memory_of(pragmas) is not None:
            raise way.refused("these cells are laid out by another pragma, too", "leave one of the two pragmas out")
        return matrix_tiles.matrix_tiles(self.source, body, way, space, numbers, self.device)

    def _loops(self, number: int) -> bool:
        """Whether there are loops in the cells, with more than one round as far as is known."""
        code = g.statements(self.source.with_loop.partitions[number].body)
        loops = [s.rhs for s in code if isinstance(s, g.Let) and isinstance(s.rhs, g.WithLoop | g.For | g.Loop)]
        parts = [p for rhs in loops if isinstance(rhs, g.WithLoop) for p in rhs.partitions]
        once = all(
            isinstance(lo, g.Const) and isinstance(up, g.Const) and int(up.value) - int(lo.value) < 2
            for p in parts
            for lo, up in zip(p.lower, p.upper)
        )
        return bool(loops) and not (parts and once)

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

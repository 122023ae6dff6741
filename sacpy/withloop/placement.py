"""GridBlock: which axes are the grid and which the block.

In: the thread space that the other combinators made, and the limits of a device or none. Out: extents of grid and
block, and how many blocks are launched. The paper counts the block's axes, sac2c's code the grid's; here the paper is
followed, and where only the other reading fits the device, that one is taken and said so.
"""

from __future__ import annotations

import math

from sacpy.nodes import Node, field, replace
from sacpy.withloop.combinator import FromPragma
from sacpy.withloop.combinators import EQUAL_ROWS, Number, Offsets, Parameter, bound, value_of
from sacpy.withloop.devices import DeviceLimits
from sacpy.withloop.errors import MappingError
from sacpy.withloop.spaces import IndexSpace, Vector

AXES = "zyx"


class Placement(Node):
    """Grid and block extents, outermost axis first, x last; at most three each where a device was given. `launched` is
    the grid that runs: where it is smaller than `grid`, each block also does the work of those `launched` further on,
    axis by axis. `each`: how many neighbouring positions of the block's axes one thread has (nothing: one)."""

    grid: Vector
    block: Vector
    launched: Vector
    note: str = ""
    each: Vector = ()

    @property
    def threads(self) -> Vector:
        """The extents of a block in threads."""
        return _over(self.block, self.each)

    @property
    def strided(self) -> tuple[bool, ...]:
        """Along which grid axes a block does more than one block's work."""
        return tuple(launched < extent for launched, extent in zip(self.launched, self.grid))


class GridBlock(Node, FromPragma):
    """The innermost `axes` axes are the block, the others the grid. `either_reading`: the number may be meant as sac2c
    means it (so in pragmas). `stride`: a grid beyond the device's limits, or of more than `most_blocks` blocks, is
    walked over in strides instead of refused. `each`: as in `Placement`; it divides the extents of the block."""

    axes: Number
    stride: bool = False
    most_blocks: int | None = None
    either_reading: bool = False
    each: Vector = ()
    span: Offsets | None = field(default=None, compare=False, repr=False)
    argument_span: Offsets | None = field(default=None, compare=False, repr=False)

    def parameters(self) -> tuple[Parameter, ...]:
        return (self.axes,) if isinstance(self.axes, Parameter) else ()

    def bind(self, values: dict[str, int]) -> GridBlock:
        return replace(self, axes=bound(self.axes, values))

    def place(self, space: IndexSpace, device: DeviceLimits | None = None) -> Placement:
        """Grid and block. Without a device no limit applies but that of the rank. `MappingError` where the space is not
        zero-based and dense, or does not fit."""
        if not space.zero_based:
            raise self.error("E0807", "GridBlock needs a zero-based space", "put ShiftLB inside it", space)
        if not space.dense:
            raise self.error("E0808", "GridBlock needs a dense space", "put CompressGrid or PruneGrid inside it", space)
        if space.growth:
            raise self.error("E0822", "GridBlock needs rows of one length", EQUAL_ROWS, space)
        count = value_of(self, self.axes)
        if not 0 <= count <= space.rank:
            axes = "1 axis" if space.rank == 1 else f"{space.rank} axes"
            raise self.error(
                "E0810",
                f"GridBlock asks for {count} block axes, and the space has {axes}",
                f"write a number from 0 to {min(3, space.rank)}",
                space,
                argument=True,
            )
        if device is None:
            return self._cut(space, count, None)
        problem = self._problem(space, count, device)
        if problem is None:
            return self._cut(space, count, device)
        other = space.rank - count
        if self.either_reading and other != count and self._problem(space, other, device) is None:
            return replace(
                self._cut(space, other, device),
                note=f"{count} is taken for the number of grid axes, as sac2c does: {problem.message}",
            )
        raise problem

    def _cut(self, space: IndexSpace, count: int, device: DeviceLimits | None) -> Placement:
        at = space.rank - count
        grid, block = space.upper[:at], space.upper[at:]
        launched = grid
        if device is not None and self.stride:
            launched = tuple(map(min, grid, device.grid[3 - len(grid) :]))
        if self.most_blocks is not None:
            launched = _fewer(launched, self.most_blocks)
        return Placement(grid, block, launched, each=self.each)

    def _problem(self, space: IndexSpace, count: int, device: DeviceLimits) -> MappingError | None:
        """What keeps the last `count` axes from being a block of the device, and the others its grid."""
        at = space.rank - count
        grid, block = space.upper[:at], space.upper[at:]
        if count > 3:
            return self.error(
                "E0810",
                f"the block would have {count} axes, and a GPU has three",
                "fold some with FoldLast2, or make the number smaller",
                space,
                argument=True,
            )
        if at > 3:
            return self.error(
                "E0810",
                f"the grid would have {at} axes, and a GPU has three",
                "fold some with FoldLast2",
                space,
                argument=True,
            )
        block = _over(block, self.each)
        for axis, extent, limit in zip(AXES[3 - count :], block, device.block[3 - count :]):
            if extent > limit:
                return self.error(
                    "E0811",
                    f"axis {axis} of the block has extent {extent}, and {device.name} allows {limit}",
                    "split that axis with SplitLast",
                    space,
                )
        if math.prod(block) > device.threads_per_block:
            return self.error(
                "E0811",
                f"the block {' x '.join(map(str, block))} has {math.prod(block)} threads, and {device.name} allows "
                f"{device.threads_per_block}",
                "split an axis of the block with SplitLast",
                space,
            )
        for axis, extent, limit in zip(AXES[3 - at :], grid, device.grid[3 - at :]):
            if extent > limit and not self.stride:
                return self.error(
                    "E0811",
                    f"axis {axis} of the grid has extent {extent}, and {device.name} allows {limit}",
                    "bring the long axis last among the grid's with Permute, or fold and split it anew",
                    space,
                )
        return None


def _over(block: Vector, each: Vector) -> Vector:
    """Extents in threads, each of which has several positions."""
    return tuple(extent // many for extent, many in zip(block, each)) if each else block


def _fewer(grid: Vector, most: int) -> Vector:
    """The grid cut to at most `most` blocks, outer axes first, so that neighbouring blocks keep working side by
    side."""
    launched = list(grid)
    for k in range(len(grid)):
        inner = max(1, math.prod(launched[k + 1 :]))
        if math.prod(launched) > most:
            launched[k] = max(1, min(launched[k], most // inner))
    return tuple(launched)

"""How many cells of a contraction (`analysis/contractions`) are computed at a time, in registers.

Packed tiles have several rows times several vectors, so that each element that is loaded serves a whole row or column
of the tile. A tile of columns is one row of vectors.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.analysis.contractions import Contraction, contraction
from sacpy.jit.analysis.sliding import sliding
from sacpy.jit.ir import graph as g
from sacpy.jit.llvm.legal import size_of
from sacpy.jit.llvm.processor import register_sizes
from sacpy.jit.schedule.loops import Goal, IntoArray, Loop, Tiles

ROWS = 4  # of tiles of columns whose rows share what they load
NARROW = 2  # vectors of the tiles at the right edge
WIDE = 8  # vectors of the tiles of columns
PACKED = "each element serves a row or a column of a tile, which is packed for it"
COLUMNS = "what a cell combines lies side by side along this axis"
SLIDING = "rows together, as each loads what the next one does"
REDUCED = "in order, so that each cell adds up as programmed"


def tiles_of(c: Contraction, together: bool = True) -> Tiles:
    """The tiles of a contraction: as many registers, whatever the number of sums. `together`: rows may be in one tile
    that it is not packed for."""
    register = max(register_sizes(), default=16)
    lanes, sums = register // size_of(c.base), len(c.targets)
    if c.packed:
        rows, vectors = (8, 3) if register == 64 else (4, 3) if register == 32 else (4, 2)
        return Tiles(c, max(1, rows // sums), vectors, lanes)
    shared = sliding(c) if together else frozenset()
    if shared:
        return Tiles(c, ROWS, max(1, (4 if register == 64 else 2) // sums), lanes, shared)
    return Tiles(c, 1, max(1, WIDE // sums), lanes)


def tiled(p: g.Partition, goals: Sequence[Goal], first: int = 0) -> Tiles | None:
    """The tiles of a partition that is a contraction, if its values go to arrays in which nothing is left out, and the
    tiles need none of the `first` axes."""
    if not goals or not all(isinstance(x, IntoArray) and not x.earlier for x in goals):
        return None
    found = contraction(p)
    if found is None or (first and found.packed):
        return None
    return tiles_of(found, first < p.rank - 1)


def tile_loops(t: Tiles, first: int) -> tuple[Loop, ...]:
    """The loops of tiles, behind those over the first few axes, which are somebody else's."""
    c = t.contraction
    rank, wide = c.p.rank, t.lanes * t.vectors
    outer = [Loop(k, "serial", 1, polls=True) for k in range(first, rank - 1 - (c.packed or bool(t.sliding)))]
    tiles = [Loop(rank - 1, "tile", wide, PACKED if c.packed else COLUMNS, polls=True)]
    if c.packed:
        tiles.append(Loop(rank - 2, "tile", t.rows, PACKED))
    elif t.sliding:
        tiles.insert(0, Loop(rank - 2, "tile", t.rows, SLIDING, polls=True))
    return (*outer, *tiles, *(Loop(rank + k, "serial", 1, REDUCED) for k in range(c.inner.rank)))

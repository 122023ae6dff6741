"""Maps whose threads have several cells each.

In: a partition whose body is a few operations, and a large index space. Out: a mapping under which a thread has as many
neighbouring cells as the widest access takes, if they read elements that lie as they do; else some below one another,
or some apart, so that neighbouring threads still have neighbouring cells; what rows share is read once. And the kernel.
"""

from __future__ import annotations

import math

from sacpy.jit.analysis.shared_planner import BYTES
from sacpy.jit.analysis.straight import is_straight
from sacpy.jit.ir import graph as g
from sacpy.jit.kernels import maps
from sacpy.jit.kernels.several import cells_phase
from sacpy.jit.kernels.source import Built, Frame, Source
from sacpy.withloop import chains
from sacpy.withloop.auto import WAVES
from sacpy.withloop.combinators import Combinator, Permute, ShiftLB, SplitLast
from sacpy.withloop.devices import DeviceLimits
from sacpy.withloop.placement import GridBlock
from sacpy.withloop.spaces import IndexSpace

THREADS = 256  # of a block
WIDE = 16  # bytes of the widest access
BELOW = 4  # cells of a thread, where there are rows
COLUMNS = 64  # of a block of rows
MOST_STATEMENTS = 40  # of a body: its code is there twice for each cell
MOST_WASTE = 1.1  # positions of the thread space for each index


def suits(p: g.Partition) -> bool:
    """Whether the body of a partition is a few operations, and gives scalars."""
    return (
        p.rank in (1, 2, 3)
        and p.step is None
        and len(p.body.statements) <= MOST_STATEMENTS
        and is_straight(p.body)
        and not any(g.extents_of(r) for r in p.body.results)
    )


def side_by_side(p: g.Partition) -> bool:
    """Whether the elements that neighbouring indices read lie side by side, at multiples of what lies at the first
    index: each is read at the index itself, or at one that is the same for all."""
    set_here = {v.name for v in p.index} | {
        t.name for s in g.statements(p.body) if isinstance(s, g.Let) for t in s.targets
    }
    reads = [s.rhs for s in g.statements(p.body) if isinstance(s, g.Let) and isinstance(s.rhs, g.Load)]
    return all(r.index == p.index or not {a.name for a in r.index if isinstance(a, g.Var)} & set_here for r in reads)


def chain_for(p: g.Partition, space: IndexSpace, device: DeviceLimits) -> chains.Chain | None:
    """The mapping; None where the space is too small to give threads several cells, or too many would be idle."""
    rank, extents = space.rank, space.extents
    wide = rank == 1 and not any(space.lower) and side_by_side(p)
    each = min(WIDE // BYTES[r.base] for r in p.body.results) if wide else BELOW
    if not space.dense or each == 1 or math.prod(extents) < device.processors * THREADS * each:
        return None
    most = device.processors * (device.threads_per_processor // THREADS) * WAVES
    start: list[Combinator] = [ShiftLB()] if any(space.lower) else []
    if wide:
        return chains.Chain((SplitLast(THREADS * each),), GridBlock(1, True, most, each=(each,)))
    if rank == 1:  # a thread's cells are as far from one another as a block has threads
        steps = (*start, SplitLast(THREADS * each), SplitLast(THREADS))
        return chains.Chain(steps, GridBlock(2, True, most, each=(each, 1)))
    height = THREADS // COLUMNS * each
    wasted = math.prod(-(-extent // size) * size / extent for extent, size in zip(extents[-2:], (height, COLUMNS)))
    if wasted > MOST_WASTE:
        return None
    outer = tuple(range(rank - 2))
    rows = (
        *start,
        SplitLast(COLUMNS),
        Permute((*outer, rank - 1, rank, rank - 2)),
        SplitLast(height),
        Permute((*outer, rank, rank - 2, rank + 1, rank - 1)),
    )
    return chains.Chain(rows, GridBlock(2, True, most, each=(each, 1)))


def wide_kernel(source: Source, number: int, mapping: chains.Mapping, bits: int) -> Built:
    """Computes the cells of a partition, or of a piece of it. The block's extents are constants."""
    thread = source.thread(f"wide{number}", bits)
    arrays = maps.results(thread, source)
    frame = Frame(thread.b, mapping, mapping.placement.block)
    p = source.with_loop.partitions[number]
    return frame.kernel((cells_phase(thread.b, frame, lambda index: maps.compute(thread, p, index, arrays)),))

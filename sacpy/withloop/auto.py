"""The default strategy.

In: an index space, a device's limits, and which axis has unit stride in the written array. Out: a mapping that always
fits the device: neighbouring threads write neighbouring elements, x is a multiple of the warp, blocks have 128 to 256
threads (fewer where the space could not fill the device otherwise), threads of large spaces do several elements each.
Candidates are compared by the work they waste: idle threads, and divisions to recover an index.
"""

from __future__ import annotations

import math

from sacpy.nodes import Node
from sacpy.withloop.choice import Choice, chain_of
from sacpy.withloop.combinators import (
    Combinator,
    CompressGrid,
    FoldLast2,
    FoldTriangle,
    Permute,
    PruneGrid,
    ShiftLB,
    SplitLast,
)
from sacpy.withloop.devices import DeviceLimits
from sacpy.withloop.spaces import IndexSpace, Vector

THREADS = 256  # of a block, where the space is large enough
# share of an axis that belongs to the space, up to which leaving out the rest pays for recovering the index
COMPRESS_BELOW = 0.5
DIVISION_COST = 0.06  # of one division per index, as a share of the work of a typical element
WAVES = 8  # how often the device is filled with blocks before threads take more than one index instead


class _Candidate(Node):
    """Steps on a dense space, how many block axes they leave, what they waste, and what they do in words."""

    cost: float
    steps: tuple[Combinator, ...]
    block_axes: int
    words: str


def auto(space: IndexSpace, device: DeviceLimits, unit_axis: int | None = None) -> Choice:
    """The mapping of the space. `unit_axis`: the axis along which the written array is contiguous, the last one unless
    told."""
    whole = space = space.normalised()
    if not space.rank:
        return Choice(chain_of([], 0), ("rank 0 is one thread",))
    steps: list[Combinator] = [ShiftLB()]
    reasons: list[str] = []
    if space.growth:
        steps = [FoldTriangle()]
        space = steps[0].forward(space)
        reasons.append("rows that grow are put together in pairs, which are a rectangle")
    extents = _close_gaps(space, steps, reasons)
    if unit_axis is not None and unit_axis != space.rank - 1:
        order = (*(k for k in range(space.rank) if k != unit_axis), unit_axis)
        steps.append(Permute(order))
        extents = tuple(extents[k] for k in order)
        reasons.append(f"axis {unit_axis} has unit stride in the written array and becomes x")
    total = math.prod(extents)
    threads = _threads(total, device)
    if threads < THREADS:
        reasons.append(
            f"{threads} threads a block, as {total} indices fill {device.processors} multiprocessors with no more"
        )
    best = min(_candidates(extents, threads, device.warp), key=lambda c: c.cost)
    reasons.append(best.words)
    resident = min(device.blocks_per_processor, device.threads_per_processor // threads)
    most = device.processors * resident * WAVES
    chain = chain_of([*steps, *best.steps], best.block_axes, most, stride=True)
    placement = chain.map(whole, device).placement
    if total and any(placement.strided):
        each = math.prod(-(-extent // launched) for extent, launched in zip(placement.grid, placement.launched))
        reasons.append(f"{math.prod(placement.launched)} blocks, each thread up to {each} indices")
    return Choice(chain, tuple(reasons))


def in_rows(space: IndexSpace, device: DeviceLimits) -> Choice:
    """A mapping under which the indices of every block are a box, neighbours along the last axis; gaps are idle."""
    space = space.normalised()
    if not space.rank:
        return Choice(chain_of([], 0), ("rank 0 is one thread",))
    outer, folds = _fold_outer(space.rank)
    threads = _threads(math.prod(space.extents), device)
    steps = [ShiftLB(), *([] if space.dense else [PruneGrid()]), *outer, SplitLast(threads)]
    return Choice(
        chain_of(steps, 1, stride=True),
        (f"rows of {space.extents[-1]} in blocks of {threads} threads" + _folded(folds),),
    )


def _close_gaps(space: IndexSpace, steps: list[Combinator], reasons: list[str]) -> Vector:
    """Adds the steps that make the space dense; the extents behind them."""
    if space.dense:
        return space.extents
    shares = [w / t for t, w in zip(space.step, space.width)]
    mask = tuple(int(share <= COMPRESS_BELOW) for share in shares)
    for k, share in enumerate(shares):
        if mask[k]:
            reasons.append(f"axis {k} is compressed, as {share:.0%} of it belongs to the space")
        elif share < 1:
            reasons.append(f"axis {k} is not compressed, as {share:.0%} of it belongs to the space")
    if any(mask):
        steps.append(CompressGrid(mask))
    if any(share < 1 and not m for share, m in zip(shares, mask)):
        steps.append(PruneGrid())
    return tuple(count if m else extent for m, count, extent in zip(mask, space.counts, space.extents))


def _threads(total: int, device: DeviceLimits) -> int:
    """Threads of a block: fewer, down to one warp, until there is a block for each multiprocessor."""
    threads = THREADS
    while threads > device.warp and total < threads * device.processors:
        threads //= 2
    return max(threads, device.warp)


def _candidates(extents: Vector, threads: int, warp: int) -> list[_Candidate]:
    """Ways to put a dense box on blocks of so many threads, the preferred first among equals."""
    rank = len(extents)
    outer, folds = _fold_outer(rank)
    found = []
    x = max(1, extents[-1])
    waste = _padded(x, threads)
    found.append(
        _Candidate(
            waste * (1 + DIVISION_COST * folds),
            (*outer, SplitLast(threads)),
            1,
            f"rows of {extents[-1]} in blocks of {threads} threads" + _folded(folds),
        )
    )
    if rank > 1:
        y = max(1, extents[-2])
        for width in (w for w in (threads // 2, threads // 4, threads // 8) if w >= warp):
            height = threads // width
            waste = _padded(x, width) * _padded(y, height)
            words = (
                f"tiles of {height} x {width} threads over the last two axes, {extents[-2]} x {extents[-1]}"
                + _folded(folds)
            )
            found.append(
                _Candidate(waste * (1 + DIVISION_COST * folds), (*outer, *_tile(min(rank, 3), height, width)), 2, words)
            )
        words = (
            f"all {rank} axes folded into one, in blocks of {threads} threads, as rows of {extents[-1]} would "
            "leave too many idle"
        )
        waste = _padded(max(1, math.prod(extents)), threads)
        found.append(
            _Candidate(
                waste * (1 + DIVISION_COST * (rank - 1)), (*[FoldLast2()] * (rank - 1), SplitLast(threads)), 1, words
            )
        )
    return found


def _padded(extent: int, block: int) -> float:
    """How much larger the extent gets when it is made a multiple of the block."""
    return -(-extent // block) * block / extent


def _folded(folds: int) -> str:
    return f", the outer {folds + 1} axes folded into one" if folds else ""


def _fold_outer(rank: int) -> tuple[tuple[Combinator, ...], int]:
    """Steps that leave the last two axes and make one of all others, where there are more than three; and how many
    divisions that costs."""
    if rank <= 3:
        return (), 0
    bring_back = Permute((2, 0, 1))
    return (Permute((rank - 2, rank - 1, *range(rank - 2))), *[FoldLast2()] * (rank - 3), bring_back), rank - 3


def _tile(rank: int, height: int, width: int) -> tuple[Combinator, ...]:
    """Cuts the last two axes into tiles: grid axes for the tiles, then the two of the block."""
    outer = range(rank - 2)
    y, x_tile, x = rank - 2, rank - 1, rank
    turn = Permute((*outer, x_tile, x, y))
    x_tile, x, y_tile, y = rank - 2, rank - 1, rank, rank + 1
    return SplitLast(width), turn, SplitLast(height), Permute((*outer, y_tile, x_tile, y, x))

"""Strategies: mappings for with-loops without a pragma.

In: an index space and a device's limits. Out: a chain of combinators with the reasons in words, or the reason why the
strategy has none. `jing`, `jing_ext` and `foldall` are those of Janssen and Scholz, "On Mapping N-Dimensional
Data-Parallelism Efficiently into GPU-Thread-Spaces" (IFL 2021), section 7, for comparison, with PruneGrid
inside where the space has gaps; `jing_printed` is `jing` with the chain for rank 2 that the section prints, which is
not what the paper's table 1 says; `auto` (module `auto`) is ours, and what the others fall back to.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from sacpy.nodes import Node
from sacpy.withloop.auto import auto
from sacpy.withloop.chains import Chain
from sacpy.withloop.choice import Choice, chain_of, gaps
from sacpy.withloop.combinators import Combinator, FoldLast2, Parameter, Permute, ShiftLB, SplitLast
from sacpy.withloop.devices import DeviceLimits
from sacpy.withloop.errors import MappingError
from sacpy.withloop.spaces import IndexSpace

# Of [blocks of d1, threads of d1, blocks of d0, threads of d0]:
_TABLE = Permute((2, 0, 3, 1))  # grid.y from d0, grid.x from d1, and the block likewise
_PRINTED = Permute((0, 2, 1, 3))  # grid.y from d1, grid.x from d0, and the block likewise


class Refusal(Node):
    """Why a strategy has no mapping for a space."""

    reason: str


Strategy = Callable[[IndexSpace, DeviceLimits], "Choice | Refusal"]


def jing(space: IndexSpace, device: DeviceLimits) -> Choice | Refusal:
    """Jing Guo's back end as table 1 has it: blocks of 32 for rank 1, of 32 x 32 for rank 2 with the inner axis in x,
    so that it coalesces, the last two axes as they are for ranks 3 to 5."""
    return _jing("jing", space, device, [ShiftLB(), *gaps(space)], space.rank, [])


def jing_printed(space: IndexSpace, device: DeviceLimits) -> Choice | Refusal:
    """The same with the chain for rank 2 that section 7.1 prints: the outer axis is in x, so that neighbouring threads
    write elements of different rows."""
    return _jing("jing_printed", space, device, [ShiftLB(), *gaps(space)], space.rank, [])


def _jing(
    name: str, space: IndexSpace, device: DeviceLimits, steps: list[Combinator], rank: int, reasons: list[str]
) -> Choice | Refusal:
    """The pattern behind the steps so far, which leave `rank` axes."""
    if rank > 5:
        return Refusal(f"{name} maps ranks up to 5, and this space has rank {rank}")
    block = min(rank, 2)
    if rank == 0:
        steps, why = [], "rank 0 is one thread"
    elif rank == 1:
        steps = [*steps, SplitLast(32)]
        why = "rank 1: blocks of 32"
    elif rank == 2:
        printed = name == "jing_printed"
        steps = [*steps, SplitLast(32), Permute((1, 2, 0)), SplitLast(32), _PRINTED if printed else _TABLE]
        why = f"rank 2: blocks of 32 x 32, the {'outer' if printed else 'inner'} axis in x"
    else:
        why = f"rank {rank}: the last two axes are the block, the others the grid"
    return _fitting(name, chain_of(steps, block), space, device, (*reasons, why))


def jing_ext(space: IndexSpace, device: DeviceLimits) -> Choice | Refusal:
    """Section 7.2: neighbouring axes are folded in pairs, the innermost left alone where their number is odd, until at
    most five are left; then as `jing`."""
    steps: list[Combinator] = [ShiftLB(), *gaps(space)]
    reasons = []
    rank = space.rank
    while rank > 5:
        steps += _fold_pairs(rank)
        reasons.append(f"rank {rank}: pairs of neighbouring axes folded, {(rank + 1) // 2} are left")
        rank = (rank + 1) // 2
    return _jing("jing_ext" if space.rank > 5 else "jing", space, device, steps, rank, reasons)


def _fold_pairs(rank: int) -> list[Combinator]:
    """Folds the axes in pairs, each time bringing the last axis to the front, which in the end restores the order."""
    steps: list[Combinator] = []
    if rank % 2:
        steps.append(_last_first(rank))
    for folded in range(rank // 2):
        steps += [FoldLast2(), _last_first(rank - folded - 1)]
    return steps


def _last_first(rank: int) -> Permute:
    return Permute((rank - 1, *range(rank - 1)))


def foldall(space: IndexSpace, device: DeviceLimits) -> Choice | Refusal:
    """Section 7.3: all axes folded into one, which is split again by a pattern that depends on the device and on the
    size, here the number of positions. Blocks are as large as the device allows without leaving threads of a
    multiprocessor without a block, and smaller where there would be none for
    some multiprocessors; the grid gets a second axis where one is not long enough."""
    rank = space.rank
    if rank == 0:
        return Choice(chain_of([], 0), ("rank 0 is one thread",))
    size = math.prod(space.extents)
    threads, why = _foldall_block(size, device)
    steps: list[Combinator] = [ShiftLB(), *gaps(space), *[FoldLast2()] * (rank - 1), SplitLast(threads)]
    reasons: tuple[str, ...] = (f"the {rank} axes folded into one" if rank > 1 else "one axis", why)
    blocks, most = -(-size // threads), device.grid[-1]
    if blocks > most:
        rows = -(-blocks // most)
        steps += [Permute((1, 0)), SplitLast(Parameter("blocks", (), -(-blocks // rows))), Permute((1, 2, 0))]
        reasons = (*reasons, f"{blocks} blocks in {rows} rows, as an axis of the grid has {most} at most")
    return _fitting("foldall", chain_of(steps, 1), space, device, reasons)


def _foldall_block(size: int, device: DeviceLimits) -> tuple[int, str]:
    """The threads of a block, and why so many."""
    threads = device.threads_per_block
    while device.threads_per_processor % threads:
        threads //= 2
    if size >= threads * device.processors:
        why = f"{device.name} has {device.threads_per_processor} threads on a multiprocessor"
        return threads, f"split into blocks of {threads}, as {why}"
    while threads > device.warp and size < threads * device.processors:
        threads //= 2
    why = f"{size} positions fill {device.processors} multiprocessors with no more"
    return threads, f"split into blocks of {threads}, as {why}"


def _fitting(
    name: str, chain: Chain, space: IndexSpace, device: DeviceLimits, reasons: tuple[str, ...]
) -> Choice | Refusal:
    try:
        chain.map(space, device)
    except MappingError as error:
        return Refusal(f"{name} does not fit: {error.message}")
    return Choice(chain, reasons)


STRATEGIES: dict[str, Strategy] = {
    "auto": auto,
    "jing": jing,
    "jing_ext": jing_ext,
    "jing_printed": jing_printed,
    "foldall": foldall,
}


def _of_one_axis(name: str, space: IndexSpace, device: DeviceLimits) -> Choice:
    """A strategy that knows no rows that grow lays out what FoldLast2 makes of them."""
    folded = FoldLast2()
    choice = choose(name, folded.forward(space), device)
    chain = Chain((folded, *choice.chain.steps), choice.chain.grid_block)
    return Choice(chain, ("rows that grow are folded into one axis", *choice.reasons))


def choose(name: str, space: IndexSpace, device: DeviceLimits, unit_axis: int | None = None) -> Choice:
    """The mapping that the named strategy gives the space; where it has none, that of `auto`, its reasons led by why.
    Every choice fits the device. `unit_axis`: the axis along which the written array is contiguous, for `auto`.
    `KeyError` for a name that is no strategy."""
    space = space.normalised()
    if name != "auto" and space.growth:
        return _of_one_axis(name, space, device)
    found = auto(space, device, unit_axis) if name == "auto" else STRATEGIES[name](space, device)
    if isinstance(found, Choice):
        return found
    other = auto(space, device, unit_axis)
    return Choice(other.chain, (f"{found.reason}, so auto chose", *other.reasons))

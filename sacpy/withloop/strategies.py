"""Strategies: mappings for with-loops without a pragma.

In: an index space and a device's limits. Out: a chain of combinators with the reasons in words, or the reason why the strategy has none. `jing`, `jing_ext` and `foldall` are those of Janssen and Scholz, section 7, for comparison, with PruneGrid
inside where the space has gaps; `auto` (module `auto`) is ours, and what the others fall back to.
"""

from __future__ import annotations

from collections.abc import Callable

from sacpy.nodes import Node
from sacpy.withloop.auto import auto
from sacpy.withloop.chains import Chain
from sacpy.withloop.choice import Choice, chain_of, gaps
from sacpy.withloop.combinators import Combinator, FoldLast2, Parameter, Permute, ShiftLB, SplitLast
from sacpy.withloop.devices import DeviceLimits
from sacpy.withloop.errors import MappingError
from sacpy.withloop.spaces import IndexSpace

_FOLDALL_BLOCKS = 2048
_FOLDALL_THREADS = 1024


class Refusal(Node):
    """Why a strategy has no mapping for a space."""

    reason: str


Strategy = Callable[[IndexSpace, DeviceLimits], "Choice | Refusal"]


def jing(space: IndexSpace, device: DeviceLimits) -> Choice | Refusal:
    """Jing Guo's back end (section 7.1): one block axis of 32 for rank 1, blocks of 32 x 32 for rank 2, the last two axes as they are for ranks 3 to 5. On rank 2 the outermost axis is x, so it does not coalesce."""
    return _jing(space, device, [ShiftLB(), *gaps(space)], space.rank, [])


def _jing(space: IndexSpace, device: DeviceLimits, steps: list[Combinator], rank: int, reasons: list[str]) -> Choice | Refusal:
    """jing's pattern behind the steps so far, which leave `rank` axes."""
    if rank > 5:
        return Refusal(f"jing maps ranks up to 5, and this space has rank {rank}")
    block = min(rank, 2)
    if rank == 0:
        steps, why = [], "rank 0 is one thread"
    elif rank == 1:
        steps = [*steps, SplitLast(32)]
        why = "rank 1: blocks of 32"
    elif rank == 2:
        steps = [*steps, SplitLast(32), Permute((1, 2, 0)), SplitLast(32), Permute((0, 2, 1, 3))]
        why = "rank 2: blocks of 32 x 32, the outermost axis in x"
    else:
        why = f"rank {rank}: the last two axes are the block, the others the grid"
    return _fitting("jing", chain_of(steps, block), space, device, (*reasons, why))


def jing_ext(space: IndexSpace, device: DeviceLimits) -> Choice | Refusal:
    """Section 7.2: neighbouring axes are folded in pairs, the innermost left alone where their number is odd, until at most five are left; then as `jing`."""
    steps: list[Combinator] = [ShiftLB(), *gaps(space)]
    reasons = []
    rank = space.rank
    while rank > 5:
        steps += _fold_pairs(rank)
        reasons.append(f"rank {rank}: pairs of neighbouring axes folded, {(rank + 1) // 2} are left")
        rank = (rank + 1) // 2
    return _jing(space, device, steps, rank, reasons)


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
    """Section 7.3: all axes folded into one, which is split again; the rank stands for the size, as the paper has no better estimate. Rank 1: blocks of 1024. Rank 2: blocks of 32 x 32 over one grid axis. From rank 3 on: the same, with at most 2048 blocks
    along the grid's x."""
    rank = space.rank
    if rank == 0:
        return Choice(chain_of([], 0), ("rank 0 is one thread",))
    steps: list[Combinator] = [ShiftLB(), *gaps(space), *[FoldLast2()] * (rank - 1), SplitLast(_FOLDALL_THREADS)]
    reasons = [f"the {rank} axes folded into one" if rank > 1 else "one axis"]
    if rank == 1:
        return _fitting("foldall", chain_of(steps, 1), space, device, (*reasons, "split into blocks of 1024"))
    why = "split into blocks of 32 x 32"
    if rank > 2:
        volume = 1
        for extent in space.extents:
            volume *= extent
        blocks = -(-volume // _FOLDALL_THREADS)
        rows = max(1, -(-blocks // _FOLDALL_BLOCKS))
        columns = max(1, -(-blocks // rows))
        steps += [Permute((1, 0)), SplitLast(Parameter("blocks", (), columns)), Permute((1, 2, 0))]
        why += f", {rows} x {columns} of them"
    steps.append(SplitLast(32))
    return _fitting("foldall", chain_of(steps, 2), space, device, (*reasons, why))


def _fitting(name: str, chain: Chain, space: IndexSpace, device: DeviceLimits, reasons: tuple[str, ...]) -> Choice | Refusal:
    try:
        chain.map(space, device)
    except MappingError as error:
        return Refusal(f"{name} does not fit: {error.message}")
    return Choice(chain, reasons)


STRATEGIES: dict[str, Strategy] = {"auto": auto, "jing": jing, "jing_ext": jing_ext, "foldall": foldall}


def choose(name: str, space: IndexSpace, device: DeviceLimits, unit_axis: int | None = None) -> Choice:
    """The mapping that the named strategy gives the space; where it has none, that of `auto`, its reasons led by why. Every choice fits the device. `unit_axis`: the axis along which the written array is contiguous, for `auto`. `KeyError` for a name that
    is no strategy."""
    space = space.normalised()
    found = auto(space, device, unit_axis) if name == "auto" else STRATEGIES[name](space, device)
    if isinstance(found, Choice):
        return found
    other = auto(space, device, unit_axis)
    return Choice(other.chain, (f"{found.reason}, so auto chose", *other.reasons))

"""How many blocks a fold has, and how many threads the fold of a cell.

In: how much there is to fold, a device, the way that a pragma asks for. Out: numbers; `MappingError` where they would
be more than there can be.
"""

from __future__ import annotations

from sacpy.withloop.devices import DeviceLimits
from sacpy.withloop.ways import GpuFold

_EACH = 8  # indices of a thread before a block more is launched
_MOST_EACH = 32  # the same, where all multiprocessors have blocks
_WAVES = 2  # how often the device is filled with blocks at most


def blocks_of(total: int, threads: int, device: DeviceLimits, way: GpuFold | None) -> int:
    """The blocks among which so many indices are dealt, each of so many threads: as many as fill the device, unless it
    is said how many indices a thread has (in pairs: one)."""
    each = 0 if way is None else 1 if way.pairs else way.each
    if way is not None and each:
        blocks = max(1, -(-total // (threads * each)))
        if blocks > device.grid[2]:
            raise way.refused(
                f"{total} indices by {threads} threads of {each} each are {blocks} blocks, and {device.name} launches "
                f"{device.grid[2]} at most",
                "let a thread fold more of them",
            )
        return blocks
    some, fewer = (-(-total // (threads * many)) for many in (_EACH, _MOST_EACH))
    wanted = min(some, max(fewer, _WAVES * device.processors))
    return max(1, min(wanted, device.processors * (device.threads_per_processor // threads) * _WAVES))


def threads_of(length: int, most: int, device: DeviceLimits, way: GpuFold) -> int:
    """The threads of a block, a power of two, that fold so many indices of a cell together. `most`: as many as there
    are without a pragma."""
    if way.each:
        threads = 1
        while threads * way.each < length:
            threads *= 2
        if threads > device.threads_per_block:
            raise way.refused(
                f"a cell folds {length} indices, which are {threads} threads with {way.each} each, and {device.name} "
                f"has {device.threads_per_block} threads in a block",
                "let a thread fold more of them",
            )
        return threads
    threads, each = (device.warp, _MOST_EACH) if way.way == "shuffle" else (1, 1)
    while threads < most and threads * each < length:
        threads *= 2
    return threads

"""Counts of what kernels do: instructions, sectors per request to global memory, conflicts in shared memory.

In: which lanes execute what, and the addresses that they touch. Out: `Counts`, which grow over the launches of a
kernel.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from tests.ptx.kinds import A

SECTOR = 32  # bytes that travel together between DRAM, caches and multiprocessors
BANKS = 32  # of shared memory, four bytes wide each


@dataclass
class Traffic:
    """Of one instruction that touches memory: requests (one for each warp), lanes, bytes; `units`: 32-byte sectors, or,
    of shared memory, the passes it took; `least`: those it had to take."""

    kind: str  # "ld" or "st"
    text: str
    space: str
    requests: int = 0
    lanes: int = 0
    bytes: int = 0
    units: int = 0
    least: int = 0


@dataclass
class Counts:
    """`threads`, `warps`: executed instructions, by opcode. `sectors`: those of global memory touched at all, by "ld"
    and "st". `barriers`: those that blocks came to, `launches`, `blocks`: how many there were;
    `ran`: of the blocks, those that were executed (`Launch.most_blocks`)."""

    threads: Counter[str] = field(default_factory=Counter)
    warps: Counter[str] = field(default_factory=Counter)
    traffic: dict[int, Traffic] = field(default_factory=dict)
    sectors: dict[str, set[int]] = field(default_factory=lambda: {"ld": set(), "st": set()})
    barriers: int = 0
    launches: int = 0
    blocks: int = 0
    ran: int = 0

    def executed(self, opcodes: Counter[str], warp: A) -> None:
        """Lanes execute a basic block. `warp`: of each lane the number of its warp."""
        warps = len(np.unique(warp))
        for op, k in opcodes.items():
            self.threads[op] += k * len(warp)
            self.warps[op] += k * warps

    def touched(self, place: int, kind: str, text: str, space: str, offset: A, size: int, warp: A, lane: A) -> None:
        """An instruction touches `size` bytes at each offset. `lane`: of each lane its place in its warp."""
        t = self.traffic.setdefault(place, Traffic(kind, text, space))
        t.requests += len(np.unique(warp))
        t.lanes += len(warp)
        t.bytes += size * len(warp)
        if space == "shared":
            passes, least = _passes(offset, size, warp, lane)
            t.units += passes
            t.least += least
        else:
            ends = [*range(0, size, SECTOR), size - 1]
            sectors = np.unique(np.concatenate([(warp << 40) | ((offset + k) // SECTOR) for k in ends]))
            t.units += len(sectors)
            # lanes that read one and the same element ask for it once
            elements = np.unique((warp << 40) | offset)
            t.least += int((-(-np.unique(elements >> 40, return_counts=True)[1] * size // SECTOR)).sum())
            self.sectors[kind].update((sectors & ((1 << 40) - 1)).tolist())


def _passes(offset: A, size: int, warp: A, lane: A) -> tuple[int, int]:
    """How often shared memory is asked until all lanes are served, and how often at least: in one pass each bank gives
    one word, to all lanes that want it. Accesses of 8 and 16 bytes are served by halves and quarters of warps."""
    phases = max(1, size // 4)
    phase = warp * 8 + lane // max(1, 32 // phases)
    words = np.unique(np.concatenate([(phase << 32) | (offset // 4 + k) for k in range(phases)]))
    slot = (words >> 32) * BANKS + (words & (BANKS - 1))
    where, many = np.unique(slot, return_counts=True)
    groups = where // BANKS
    starts = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1]]))
    return int(np.maximum.reduceat(many, starts).sum()), len(starts)

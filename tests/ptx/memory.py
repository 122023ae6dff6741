"""Global memory of a pretended device: real addresses of this process, each access checked.

In: allocations, addresses with the lanes that use them. Out: values, and findings: an access outside of what is
allocated, a misaligned one, a read of what nobody has written, a race.
"""

from __future__ import annotations

import ctypes
from bisect import bisect_right, insort
from collections import Counter

import numpy as np

from tests.ptx.kinds import UINT, A

GAP = 256  # bytes between allocations that belong to nobody
SHARED_WINDOW, LOCAL_WINDOW = 3 << 60, 1 << 60  # where shared and local memory lie among generic addresses
BASE = 1024  # the first address of shared and local memory: 0 is none


class Findings:
    """What was found, once for each kind and place, with the first example."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self.examples: dict[tuple[str, str], str] = {}

    def add(self, kind: str, where: str, example: str = "", count: int = 1) -> None:
        self.counts[kind, where] += count
        self.examples.setdefault((kind, where), example)

    def __bool__(self) -> bool:
        return bool(self.counts)

    def lines(self) -> list[str]:
        return [
            f"{kind}: {where} ({n} times; {self.examples[kind, where]})" for (kind, where), n in self.counts.items()
        ]


class Arena:
    """All global memory. `set`: which bytes were ever written."""

    def __init__(self, size: int = 1 << 28) -> None:
        self._raw = np.zeros(size + 4096, np.uint8)
        start = -int(self._raw.ctypes.data) % 4096
        self.bytes = self._raw[start : start + size]
        self.base = int(self.bytes.ctypes.data)
        self.size = size
        self.views = {n: self.bytes.view(t) for n, t in UINT.items()}
        self.set = np.zeros(size, np.bool_)
        self.starts: list[int] = []  # offsets, in order
        self.ends: dict[int, int] = {}
        self._next = GAP

    def allocate(self, size: int) -> int:
        at = -(-self._next // 256) * 256
        if at + size + GAP > self.size:
            at = self._gap(size)
        self._next = at + size + GAP
        insort(self.starts, at)
        self.ends[at] = at + size
        self.set[at : at + size] = False
        return self.base + at

    def _gap(self, size: int) -> int:
        at = GAP
        for s in self.starts:
            if at + size + GAP <= s:
                return at
            at = -(-(self.ends[s] + GAP) // 256) * 256
        raise MemoryError(size)

    def free(self, address: int) -> None:
        at = address - self.base
        self.starts.remove(at)
        del self.ends[at]

    def has(self, address: int) -> bool:
        """Whether an address is one of the device's."""
        return self.base <= address < self.base + self.size

    def inside(self, address: int, size: int) -> bool:
        at = address - self.base
        k = bisect_right(self.starts, at) - 1
        return k >= 0 and at + size <= self.ends[self.starts[k]]

    def inside_all(self, offsets: A, size: int) -> A:
        """Which accesses are inside of one allocation."""
        starts = np.array(self.starts or [0], np.int64)
        ends = np.array([self.ends[s] for s in self.starts] or [0], np.int64)
        k = np.searchsorted(starts, offsets, "right") - 1
        return (k >= 0) & (offsets + size <= ends[k])

    def write(self, address: int, data: A) -> None:
        """From the host."""
        ctypes.memmove(address, data.ctypes.data, data.nbytes)
        at = address - self.base
        self.set[at : at + data.nbytes] = True

"""What the threads of a warp do together."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ptx.kinds import A
from tests.ptx.memory import Findings


class Warps:
    """Of a launch: shuffles, votes, reductions, under masks of members."""

    found: Findings
    warp: A
    thread: A
    threads: int

    def who(self, lanes: A, k: int) -> str:
        """A lane in words."""
        raise NotImplementedError

    def _mask(self, mask: A, lanes: A, guard: A, text: str) -> tuple[A, A]:
        """The table of lanes of each warp that take part (-1: not there), and the row of each lane."""
        n = len(lanes)
        here = np.ones(n, np.bool_) if guard is None else np.broadcast_to(guard, (n,))
        rows, row = np.unique(self.warp[lanes], return_inverse=True)
        table = np.full((len(rows), 32), -1, np.int64)
        lane = self.thread[lanes] % 32
        table[row[here], lane[here]] = np.flatnonzero(here)
        if mask is not None:
            mask = np.broadcast_to(np.asarray(mask).astype(np.int64), (n,))
            present = ((table >= 0) << np.arange(32)).sum(1)[row]
            size = np.minimum(32, self.threads - (self.thread[lanes] // 32) * 32)
            missing = here & ((mask & ((1 << size) - 1) & ~present) != 0)
            if missing.any():
                k = int(np.flatnonzero(missing)[0])
                self.found.add(
                    "lanes of a membermask are not there",
                    text,
                    f"mask {int(mask[k]):#x}, present {int(present[k]):#x}, {self.who(lanes, k)}",
                )
            if (here & ((mask >> lane) & 1 == 0)).any():
                self.found.add("a lane is not in its own membermask", text)
        return table, row

    def shfl(self, mode: str, x: A, b: A, c: A, mask: A, lanes: A, guard: A, text: str) -> tuple[A, A]:
        n = len(lanes)
        x, b, c = (np.broadcast_to(np.asarray(v), (n,)) for v in (x, b, c))
        table, row = self._mask(mask, lanes, guard, text)
        lane = (self.thread[lanes] % 32).astype(np.int64)
        b, clamp, segment = b.astype(np.int64) & 31, c.astype(np.int64) & 31, (c.astype(np.int64) >> 8) & 31
        most = (lane & segment) | (clamp & ~segment)
        least = lane & segment
        j = {"up": lane - b, "down": lane + b, "bfly": lane ^ b, "idx": least | (b & ~segment)}[mode]
        good = j >= most if mode == "up" else j <= most
        j = np.where(good, j, lane)
        source = table[row, np.clip(j, 0, 31)]
        here = np.ones(n, np.bool_) if guard is None else np.broadcast_to(guard, (n,))
        if (here & (source < 0)).any():
            self.found.add("shfl from a lane that is not there", text)
        return x[np.maximum(source, 0)], good

    def vote(self, mode: str, x: A, mask: A, lanes: A, guard: A, text: str) -> A:
        n = len(lanes)
        x = np.broadcast_to(np.asarray(x), (n,))
        table, row = self._mask(mask, lanes, guard, text)
        there: A = table >= 0
        if mask is not None:
            wanted = np.broadcast_to(np.asarray(mask).astype(np.int64), (n,))
            first = np.zeros(len(table), np.int64)
            first[row] = wanted
            there &= (first[:, None] >> np.arange(32)) & 1 == 1
        values = np.where(there, x[np.maximum(table, 0)], False)
        match mode:
            case "ballot":
                return ((values << np.arange(32)).sum(1)[row]).astype(np.uint32)
            case "active":
                return ((there << np.arange(32)).sum(1)[row]).astype(np.uint32)
            case "any":
                return values.any(1)[row]
            case "all":
                return (values | ~there).all(1)[row]
        return ((values | ~there).all(1) | ~values.any(1))[row]

    def redux(self, f: Any, x: A, mask: A, lanes: A, guard: A, text: str) -> A:
        table, row = self._mask(mask, lanes, guard, text)
        x = np.broadcast_to(x, (len(lanes),))
        return np.array([f.reduce(x[r[r >= 0]], dtype=x.dtype) if (r >= 0).any() else 0 for r in table], x.dtype)[row]

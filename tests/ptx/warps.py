"""What the threads of a warp do together."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ptx.conversions import TF32_BITS
from tests.ptx.floats import fma
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

    def mma(self, form: str, a: list[A], b: list[A], c: list[A], lanes: A, guard: A, text: str) -> list[A]:
        """What each lane has of `c + a * b`, the fragments of PTX ISA for m8n8k4 (f64) and m16n8k8 (tf32). Of doubles
        each product is added with one rounding, the first one first; of tf32 all are added exactly and the sum is
        rounded once, where hardware may be less exact."""
        n = len(lanes)
        table, _ = self._mask(None, lanes, guard, text)
        if (table < 0).any():
            self.found.add("mma without all lanes of a warp", text)
            return c
        high, deep = len(c) // 2, len(b)
        lane = np.arange(32)
        group, t = lane // 4, lane % 4
        whole = [[np.broadcast_to(np.asarray(x), (n,))[table] for x in part] for part in (a, b, c)]
        if form == "tf32":
            if any((x & np.uint32((1 << TF32_BITS) - 1)).any() for part in whole[:2] for x in part):
                self.found.add("a factor of mma is no tf32", text)
            whole[:2] = [[x.view(np.float32).astype(np.float64) for x in part] for part in whole[:2]]
        left = np.zeros((len(table), 8 * high, 4 * deep))
        right = np.zeros((len(table), 4 * deep, 8))
        sums = np.zeros((len(table), 8 * high, 8))
        for k in range(deep):
            right[:, t + 4 * k, group] = whole[1][k]
            for i in range(high):
                left[:, group + 8 * i, t + 4 * k] = whole[0][k * high + i]
        for i in range(high):
            for e in range(2):
                sums[:, group + 8 * i, 2 * t + e] = whole[2][2 * i + e]
        for k in range(4 * deep):
            x, y = np.broadcast_arrays(left[:, :, k, None], right[:, k, None, :])
            sums = fma(x, y, sums, "rn") if form == "f64" else sums + x * y
        found = []
        for i in range(high):
            for e in range(2):
                out = np.zeros(n, np.float64 if form == "f64" else np.float32)
                out[table] = sums[:, group + 8 * i, 2 * t + e]
                found.append(out)
        return found

    def redux(self, f: Any, x: A, mask: A, lanes: A, guard: A, text: str) -> A:
        table, row = self._mask(mask, lanes, guard, text)
        x = np.broadcast_to(x, (len(lanes),))
        return np.array([f.reduce(x[r[r >= 0]], dtype=x.dtype) if (r >= 0).any() else 0 for r in table], x.dtype)[row]

"""Accesses to memory, checked."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.ptx.counts import Counts
from tests.ptx.kinds import UINT, A
from tests.ptx.memory import BASE, LOCAL_WINDOW, SHARED_WINDOW, Arena, Findings
from tests.ptx.races import Races

if TYPE_CHECKING:
    from tests.ptx.program import Program


class Trapped(Exception):
    """A kernel executed `trap`, or comes to no end."""


class Accesses:
    """Of a launch: loads, stores, atomics."""

    arena: Arena
    found: Findings
    counts: Counts | None
    races: Races | None
    initialised: bool  # whether reads of what nobody has written are found
    shared: A
    shared_set: A
    shared_size: int
    shared_stride: int
    local: A
    local_set: A
    local_stride: int
    cta: A
    thread: A
    warp: A
    grid_block: A
    phase: A
    first: int
    p: Program

    def who(self, lanes: A, k: int) -> str:
        lane = int(lanes[k])
        return f"block {int(self.grid_block[lane])} thread {int(self.thread[lane])}"

    def place(self, space: str, address: A, size: int, lanes: A, text: str) -> tuple[str, A, A, A, A]:
        """Of addresses: the space, bytes, offsets in it, a mask of the good ones or None, marks of what is set."""
        if space == "generic":
            top = address >> np.uint64(60)
            kinds = np.unique(top)
            if len(kinds) == 1 and int(kinds[0]) in (1, 3):
                space = "local" if int(kinds[0]) == 1 else "shared"
                address = address - np.uint64(LOCAL_WINDOW if space == "local" else SHARED_WINDOW)
            elif (top == 0).all():
                space = "global"
            else:
                self.found.add("one instruction reaches several address spaces", text)
                space = "global"
        ok = None
        if space in ("global", "const"):
            at = (address - np.uint64(self.arena.base)).view(np.int64)
            lo, hi = int(at.min()), int(at.max())
            k = bisect_right(self.arena.starts, lo) - 1
            if k < 0 or hi + size > self.arena.ends[self.arena.starts[k]]:
                ok = self.arena.inside_all(at, size)
            memory, marks = self.arena.bytes, self.arena.set
        elif space == "shared":
            inside = address.astype(np.int64) - BASE
            if int(inside.min()) < 0 or int(inside.max()) + size > self.shared_size:
                ok = (inside >= 0) & (inside + size <= self.shared_size)
            at, memory, marks = inside + self.cta[lanes] * self.shared_stride, self.shared, self.shared_set
        else:
            inside = address.astype(np.int64) - BASE
            if int(inside.min()) < 0 or int(inside.max()) + size > self.local_stride:
                ok = (inside >= 0) & (inside + size <= self.local_stride)
            at, memory, marks = inside + lanes * self.local_stride, self.local, self.local_set
        wrong = (address & np.uint64(size - 1)) != 0
        if wrong.any():
            k = int(np.flatnonzero(wrong)[0])
            self.found.add(
                "misaligned access",
                text,
                f"{space} address {int(address[k]):#x}, {size} bytes, {self.who(lanes, k)}",
                int(wrong.sum()),
            )
        if ok is not None and not ok.all():
            k = int(np.flatnonzero(~ok)[0])
            self.found.add(
                "access out of bounds",
                text,
                f"{space} offset {int(at[k])}, {size} bytes, {self.who(lanes, k)}",
                int((~ok).sum()),
            )
        else:
            ok = None
        return space, memory, at, ok, marks

    def load(self, space: str, address: A, size: int, many: int, lanes: A, guard: A, nc: bool, text: str, pc: int) -> A:
        """`many` elements of `size` bytes at each address."""
        n = len(lanes)
        address = np.broadcast_to(np.asarray(address).astype(np.uint64), (n,))
        if guard is not None:
            guard = np.broadcast_to(guard, (n,))
            chosen = np.flatnonzero(guard)
            got = [np.zeros(n, UINT[size]) for _ in range(many)]
            if len(chosen):
                inner = self.load(space, address[chosen], size, many, lanes[chosen], None, nc, text, pc)
                for g, x in zip(got, inner if many > 1 else [inner]):
                    g[chosen] = x
            return got if many > 1 else got[0]
        space, memory, at, ok, marks = self.place(space, address, size * many, lanes, text)
        if ok is not None:
            at = np.where(ok, at, 0)
        got = []
        view = memory[: memory.size // size * size].view(UINT[size])
        shift = size.bit_length() - 1
        for k in range(many):
            here = at + k * size
            got.append(view[here >> shift])
            if self.initialised and space != "const":
                fresh = ~(marks[here] & marks[here + size - 1])
                if ok is not None:
                    fresh &= ok
                if fresh.any():
                    j = int(np.flatnonzero(fresh)[0])
                    self.found.add(
                        f"uninitialised {space} memory is read",
                        text,
                        f"offset {int(here[j])}, {self.who(lanes, j)}",
                        int(fresh.sum()),
                    )
        if self.counts is not None and space != "local":
            self.touched("ld", space, address, size * many, lanes, text, pc)
        if self.races and space in ("global", "shared"):
            self.races.touch(self, "ld", space, at, size * many, lanes, nc, text)
        return got if many > 1 else got[0]

    def store(self, space: str, address: A, values: list[A], size: int, lanes: A, guard: A, text: str, pc: int) -> None:
        n = len(lanes)
        address = np.broadcast_to(np.asarray(address).astype(np.uint64), (n,))
        values = [np.broadcast_to(v, (n,)) for v in values]
        if guard is not None:
            chosen = np.flatnonzero(np.broadcast_to(guard, (n,)))
            if not len(chosen):
                return
            address, lanes, values = address[chosen], lanes[chosen], [v[chosen] for v in values]
        space, memory, at, ok, marks = self.place(space, address, size * len(values), lanes, text)
        if space == "const":
            self.found.add("store to constant memory", text)
        if ok is not None:
            at, lanes, address, values = at[ok], lanes[ok], address[ok], [v[ok] for v in values]
        view = memory[: memory.size // size * size].view(UINT[size])
        shift = size.bit_length() - 1
        for k, v in enumerate(values):
            here = at + k * size
            view[here >> shift] = v
            for byte in range(size):
                marks[here + byte] = True
        if self.counts is not None and space != "local":
            self.touched("st", space, address, size * len(values), lanes, text, pc)
        if self.races and space in ("global", "shared"):
            self.races.touch(self, "st", space, at, size * len(values), lanes, False, text)

    def touched(self, kind: str, space: str, address: A, size: int, lanes: A, text: str, pc: int) -> None:
        """Counts an access."""
        assert self.counts is not None
        offset = address.astype(np.int64) - (0 if space == "shared" else self.arena.base)
        self.counts.touched(pc, kind, text, space, offset, size, self.warp[lanes], self.thread[lanes] % 32)

    def atomic(
        self, space: str, address: A, f: Any, size: int, lanes: A, guard: A, text: str, pc: int, *operands: A
    ) -> A:
        """One lane after the other at each address; gives what was there."""
        n = len(lanes)
        address = np.broadcast_to(np.asarray(address).astype(np.uint64), (n,))
        operands = tuple(np.broadcast_to(o, (n,)) for o in operands)
        out = np.zeros(n, UINT[size])
        left = np.arange(n) if guard is None else np.flatnonzero(np.broadcast_to(guard, (n,)))
        races, self.races = self.races, None
        counts, self.counts = self.counts, None
        try:
            while len(left):
                key = (
                    address[left]
                    if space != "shared"
                    else (address[left] + (self.cta[lanes[left]].astype(np.uint64) << np.uint64(40)))
                )
                _, once = np.unique(key, return_index=True)
                now = left[once]
                if races and races.fenced and space == "global":
                    races.meet(self, lanes[now], address[now])
                old = self.load(space, address[now], size, 1, lanes[now], None, False, text, pc)
                out[now] = old
                self.store(space, address[now], [f(old, *[o[now] for o in operands])], size, lanes[now], None, text, pc)
                left = np.delete(left, once)
        finally:
            self.races, self.counts = races, counts
        return out

    def fence(self, lanes: A, guard: A) -> None:
        """A fence for the whole device."""
        if self.races:
            self.races.fence(self, lanes if guard is None else lanes[np.broadcast_to(guard, (len(lanes),))])

    def trap(self, text: str, lanes: A) -> None:
        raise Trapped(f"{text} by {self.who(lanes, 0)}")

    def divides(self, b: A, lanes: A, guard: A, text: str) -> None:
        """Notes divisions by zero, whose result PTX leaves open."""
        zero = np.broadcast_to(np.asarray(b) == 0, (len(lanes),))
        if guard is not None:
            zero = zero & guard
        if zero.any():
            self.found.add(
                "integer division by zero", text, self.who(lanes, int(np.flatnonzero(zero)[0])), int(zero.sum())
            )

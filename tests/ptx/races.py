"""Races: accesses of two threads to one byte, one of them a store, that nothing orders.

Barriers order what the threads of a block do. Blocks are ordered by atomics of two threads at one address between their
fences: what the one, and its block before a barrier, wrote before its fence comes before what the other, and its block
behind a barrier, does after its own, if the one's atomic came first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tests.ptx.kinds import A

if TYPE_CHECKING:
    from tests.ptx.accesses import Accesses

Event = tuple[int, int]  # a phase, a thread


class Racing:
    """Who touched which byte, for one piece of memory. Threads are numbered from 1 on, never twice; a phase is a
    block's stretch between two barriers, numbered likewise. `across`: other blocks may touch it too."""

    def __init__(self, size: int) -> None:
        self.writer, self.reader = np.zeros(size, np.int64), np.zeros(size, np.int64)  # threads
        self.writer_phase, self.reader_phase = np.zeros(size, np.int64), np.zeros(size, np.int64)
        self.several = np.zeros(size, np.bool_)  # several readers in that phase
        self.blocks = np.zeros(size, np.int64)  # the block of the readers, -1: of several
        self.nc = np.zeros(size, np.int64)  # launch in which it was read as constant
        # by block and other block: what of the other comes before what of the one
        self.acquired: dict[int, dict[int, tuple[Event, Event]]] = {}

    def load(self, at: A, thread: A, phase: A, block: A, first: int) -> A:
        """Notes reads; gives which race with a write. `first`: the first thread of this launch."""
        w = self.writer[at]
        bad = (w >= first) & (w != thread) & ((self.writer_phase[at] == phase) | (self.of(w) != block))
        bad &= ~self.acquired_by(thread, phase, block, bad, at)
        old = self.reader[at]
        fresh = old < first
        same = ~fresh & (self.reader_phase[at] == phase)
        several = same & (self.several[at] | (old != thread))
        blocks = np.where(fresh, block, np.where(self.blocks[at] == block, block, -1))
        self.reader[at], self.reader_phase[at], self.several[at], self.blocks[at] = thread, phase, several, blocks
        clash = self.reader[at] != thread  # two lanes at one place
        if clash.any():
            self.several[at[clash]] = True
            other = self.blocks[at] != block
            self.blocks[at[clash & (self.block_of[self.reader[at] - self.first] != block)]] = -1
            self.blocks[at[other]] = -1
        return bad

    def store(self, at: A, thread: A, phase: A, block: A, first: int) -> A:
        w, r = self.writer[at], self.reader[at]
        bad = (w >= first) & (w != thread) & ((self.writer_phase[at] == phase) | (self.of(w) != block))
        bad &= ~self.acquired_by(thread, phase, block, bad, at)
        bad |= (r >= first) & (
            (self.blocks[at] != block) | ((self.reader_phase[at] == phase) & (self.several[at] | (r != thread)))
        )
        self.writer[at], self.writer_phase[at] = thread, phase
        return bad | (self.writer[at] != thread)

    def acquired_by(self, thread: A, phase: A, block: A, bad: A, at: A) -> A:
        """Of accesses that seem to race, which come behind what other blocks wrote."""
        found = np.zeros(len(at), np.bool_)
        for n in np.flatnonzero(bad) if self.acquired else ():
            writer, here = int(self.writer[at[n]]), (int(phase[n]), int(thread[n]))
            pair = self.acquired.get(int(block[n]), {}).get(int(self.of(np.int64(writer))))
            if pair is not None:
                before, since = pair
                wrote = (int(self.writer_phase[at[n]]), writer)
                found[n] = (wrote[0] < before[0] or wrote == before) and (here[0] > since[0] or here == since)
        return found

    block_of: A = None  # of the threads of this launch
    first = 0

    def of(self, thread: A) -> A:
        return self.block_of[np.maximum(thread - self.first, 0)]


class Races:
    """The checker of races, kept over the launches of a machine."""

    def __init__(self) -> None:
        self.next = 1
        self.spared = -1  # an offset that many may write, by design
        self.whole: Racing | None = None
        self.launches = 0

    def begin(self, blocks: int, threads: int, size: int) -> None:
        self.launches += 1
        self.first, self.next = self.next, self.next + blocks * threads
        self.per_block = threads
        if self.whole is None:
            self.whole = Racing(size)
        self.whole.block_of, self.whole.first = np.arange(blocks * threads) // threads, self.first
        self.fenced: dict[int, Event] = {}  # by thread: its last fence
        self.released: dict[int, dict[int, Event]] = {}  # by address and block: the fence before its atomic there
        self.met: dict[int, dict[int, Event]] = {}  # by thread: those of the blocks whose atomics came before its own
        self.whole.acquired = {}

    def end(self) -> None:
        self.next += 1 << 20

    def batch(self, number: int, size: int) -> None:
        self.shared = Racing(size)
        self.shared.block_of, self.shared.first = self.whole.block_of, self.first  # type: ignore[union-attr]

    def fence(self, run: Accesses, lanes: A) -> None:
        """Threads make seen what they wrote, and others of their blocks before a barrier; and see what was made seen to
        them, as others do behind a barrier."""
        assert self.whole is not None
        for block, cta, own in zip(run.grid_block[lanes].tolist(), run.cta[lanes], run.thread[lanes].tolist()):
            thread = self.first + block * self.per_block + own
            here = self.fenced[thread] = (int(run.phase[cta]), thread)
            for other, before in self.met.get(thread, {}).items():
                self.whole.acquired.setdefault(block, {})[other] = (before, here)

    def meet(self, run: Accesses, lanes: A, addresses: A) -> None:
        """Threads combine what is at some addresses, in this order."""
        for block, own, address in zip(run.grid_block[lanes].tolist(), run.thread[lanes].tolist(), addresses.tolist()):
            thread = self.first + block * self.per_block + own
            there = self.released.setdefault(address, {})
            self.met.setdefault(thread, {}).update(there)
            if thread in self.fenced:
                there[block] = self.fenced[thread]

    def touch(self, run: Accesses, kind: str, space: str, at: A, size: int, lanes: A, nc: bool, text: str) -> None:
        if space == "global" and len(at) and (at == self.spared).all():
            return
        block = run.grid_block[lanes]
        thread = self.first + block * self.per_block + run.thread[lanes]
        phase = run.phase[run.cta[lanes]]
        r = self.whole if space == "global" else self.shared
        assert r is not None
        step = min(size, run.p.grain)
        for byte in range(0, size, step):
            here = at + byte
            bad = (r.load if kind == "ld" else r.store)(here, thread, phase, block, self.first)
            if space == "global":
                if nc:
                    r.nc[here] = self.launches
                    w = r.writer[here] >= self.first
                    if w.any():
                        run.found.add(
                            "ld.global.nc of what this kernel writes",
                            text,
                            run.who(lanes, int(np.flatnonzero(w)[0])),
                            int(w.sum()),
                        )
                elif kind == "st":
                    w = r.nc[here] == self.launches
                    if w.any():
                        run.found.add(
                            "store to what this kernel reads by ld.global.nc",
                            text,
                            run.who(lanes, int(np.flatnonzero(w)[0])),
                            int(w.sum()),
                        )
            if bad.any():
                k = int(np.flatnonzero(bad)[0])
                run.found.add(
                    f"race in {space} memory", text, f"offset {int(here[k])}, {run.who(lanes, k)}", int(bad.sum())
                )

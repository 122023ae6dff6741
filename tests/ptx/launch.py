"""Runs compiled PTX: blocks in batches, all their threads at once under masks, the lowest pc first; where a warp does
something together, only when none of the threads is anywhere else.

In: a `Program` (`program.py`), a grid, parameters as bytes. Out: effects in memory, findings, and, if asked for,
counts: instructions per place, sectors per request to global memory, conflicts in shared memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ptx.accesses import Accesses, Trapped
from tests.ptx.counts import Counts
from tests.ptx.kinds import UINT, A
from tests.ptx.memory import BASE, Arena, Findings
from tests.ptx.races import Races
from tests.ptx.warps import Warps

EXIT, WAIT = 1 << 28, 1 << 29
BATCH = 8192  # threads that run at once, whole blocks
MOST_STEPS = 20_000_000


class Frame:
    """Registers of some lanes in a function."""

    def __init__(self, program: Any, lanes: A, params: dict[str, A], depot: int) -> None:
        self.lanes, self.params, self.depot = lanes, params, depot
        self.R: list[A] = [None] * program.registers
        for k, t in enumerate(program.types):
            self.R[k] = np.zeros(len(lanes), t)


class Launch(Accesses, Warps):
    """One batch of blocks after the other. `grid`, `block`: x, y, z; `params`: the parameters' bytes; `dynamic`: bytes
    of shared memory that the launch asks for; `initialised`: whether reads of what nobody has written are found;
    `most_blocks`: only so many blocks run, the first ones, which is for counting alone."""

    def __init__(
        self,
        program: Any,
        arena: Arena,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        params: bytes,
        dynamic: int,
        findings: Findings,
        *,
        races: Races | None = None,
        counts: Counts | None = None,
        initialised: bool = True,
        most_blocks: int | None = None,
    ) -> None:
        self.p, self.arena, self.grid, self.block = program, arena, grid, block
        self.found, self.counts = findings, counts
        self.shared_size = program.static_shared + dynamic
        self.dynamic = dynamic
        self.initialised = initialised
        self.params = {}
        self.given = np.frombuffer(params, np.uint8)
        at = 0
        for v in program.entry.params:
            at += -at % v.align
            self.params[v.name] = np.frombuffer(params[at : at + v.size], np.uint8).reshape(1, -1)
            at += v.size
        self.races = races
        self.steps = 0
        self.most_blocks = most_blocks

    def run(self) -> None:
        """All blocks. Raises `Trapped`."""
        gx, gy, gz = self.grid
        bx, by, bz = self.block
        self.threads = bx * by * bz
        blocks = gx * gy * gz
        if self.counts is not None:
            self.counts.launches += 1
            self.counts.blocks += blocks
        if self.most_blocks is not None:
            blocks = min(blocks, self.most_blocks)
        each = max(1, BATCH // max(self.threads, 1))
        if self.races:
            self.races.begin(blocks, self.threads, self.arena.size)
        for first in range(0, blocks, each):
            self.batch(first, min(each, blocks - first))
        if self.races:
            self.races.end()

    def batch(self, first: int, number: int) -> None:
        """`number` blocks from the one numbered `first` on."""
        n = number * self.threads
        lane = np.arange(n, dtype=np.int64)
        thread, cta = lane % self.threads, lane // self.threads
        self.cta, self.thread, self.first = cta, thread, first
        self.grid_block = cta + first
        warps = -(-self.threads // 32)
        self.warp = cta * warps + thread // 32
        self.special = self.registers(number, warps)
        self.shared_stride = -(-self.shared_size // 16) * 16
        self.shared = np.full(number * self.shared_stride + 16, 0xA5, np.uint8)
        self.shared_set = np.zeros(self.shared.size, np.bool_)
        self.local_stride = -(-self.p.stack // 16) * 16
        self.local = np.full(n * self.local_stride + 16, 0xA5, np.uint8)
        self.local_set = np.zeros(self.local.size, np.bool_)
        self.phase = np.zeros(number, np.int64)
        self.barriers = np.zeros(number, np.int64)
        if self.races:
            self.races.batch(number, self.shared.size)
        frame = Frame(self.p.compiled[self.p.entry.name], lane, self.params, BASE)
        self.execute(self.p.compiled[self.p.entry.name], frame)
        if self.counts is not None:
            self.counts.barriers += int(self.barriers.sum())
            self.counts.ran += number

    def registers(self, number: int, warps: int) -> dict[str, A]:
        """The special registers of a batch of so many blocks. `warps`: of a block."""
        n, u = number * self.threads, np.uint32
        (bx, by, _), (gx, gy, _) = self.block, self.grid
        thread, block = self.thread, self.grid_block
        lane = thread % 32
        below = (1 << lane) - 1
        found = {
            "%tid.x": thread % bx,
            "%tid.y": thread // bx % by,
            "%tid.z": thread // (bx * by),
            "%ctaid.x": block % gx,
            "%ctaid.y": block // gx % gy,
            "%ctaid.z": block // (gx * gy),
            "%laneid": lane,
            "%warpid": thread // 32,
            "%lanemask_eq": 1 << lane,
            "%lanemask_lt": below,
            "%lanemask_le": below * 2 + 1,
            "%lanemask_gt": ~(below * 2 + 1),
            "%lanemask_ge": ~below,
        }
        same = {f"%ntid.{axis}": v for axis, v in zip("xyz", self.block)}
        same |= {f"%nctaid.{axis}": v for axis, v in zip("xyz", self.grid)}
        same |= {"%nwarpid": warps, "%smid": 0, "%nsmid": 1, "%gridid": 0, "%clock": self.steps}
        same |= {"%dynamic_smem_size": self.dynamic, "%total_smem_size": self.shared_size}
        clock = np.full(n, self.steps, np.uint64)
        return {
            **{name: values.astype(u) for name, values in found.items()},
            **{name: np.full(n, value, u) for name, value in same.items()},
            "%clock64": clock,
            "%globaltimer": clock,
        }

    # ---- scheduling

    def execute(self, function: Any, frame: Frame) -> None:
        """All lanes of a frame, until they are done."""
        n = len(frame.lanes)
        key = np.zeros(n, np.int64)
        blocks = function.blocks
        together: int | None = 0  # the block that all lanes are at
        while True:
            self.steps += 1
            if self.steps > MOST_STEPS:
                raise Trapped("too many steps: it does not end")
            if together is not None and together < EXIT:
                b, m, lanes = together, None, frame.lanes
            else:
                if together is not None:
                    key[:] = together
                b = int(key.min())
                if b < EXIT and blocks[b].gathers:  # as on a GPU, the members of the mask are waited for
                    others = [c for c in map(int, np.unique(key)) if c < EXIT and not blocks[c].gathers]
                    b = others[0] if others else b
                if b >= EXIT:
                    if b == EXIT and (key == EXIT).all():
                        return
                    self.release(function, frame, key)
                    together = None
                    continue
                m = np.flatnonzero(key == b)
                if len(m) == n:
                    m = None
                lanes = frame.lanes if m is None else frame.lanes[m]
            code = blocks[b]
            if self.counts is not None:
                self.counts.executed(code.opcodes, self.warp[lanes])
            to = code.run(self, frame, m, lanes)
            if code.barrier:
                to = to + WAIT
            if m is None:
                if isinstance(to, int):
                    together = to
                else:
                    key, together = to.astype(np.int64), None
            else:
                key[m] = to
                together = None

    def release(self, function: Any, frame: Frame, key: A) -> None:
        """Blocks whose threads all wait go on."""
        if frame.depot != BASE:
            raise Trapped("a barrier in a called function")
        waiting = key >= WAIT
        number = len(self.phase)
        arrived = np.bincount(self.cta[waiting], minlength=number)
        gone = np.bincount(self.cta[~waiting], minlength=number)
        for cta in np.flatnonzero(arrived):
            mine = waiting & (self.cta == cta)
            if gone[cta]:
                self.found.add(
                    "barrier that not all threads reach",
                    function.barrier_text(int(key[mine][0]) - WAIT),
                    f"block {cta + self.first}: {gone[cta]} of {self.threads} threads have gone",
                )
            places = np.unique(key[mine])
            if len(places) > 1:
                self.found.add(
                    "threads of a block at different barriers",
                    " / ".join(function.barrier_text(int(k) - WAIT) for k in places),
                    f"block {cta + self.first}",
                )
        key[waiting] -= WAIT
        self.phase[arrived > 0] += 1
        self.barriers[arrived > 0] += 1

    def call(self, frame: Frame, m: A, lanes: A, name: str, args: list[str], results: list[str]) -> None:
        """Some lanes call a function."""
        callee = self.p.compiled[name]
        params = {}
        for p, a in zip(callee.function.params, args):
            given = frame.params[a]
            params[p.name] = given if m is None else given[m]
        for r in callee.function.results:
            params[r.name] = np.zeros((len(lanes), r.size), np.uint8)
        inner = Frame(callee, lanes, params, frame.depot + self.p.deepest)
        self.execute(callee, inner)
        for r, target in zip(callee.function.results, results):
            self.param_array(frame, target, r.size)
            if m is None:
                frame.params[target] = inner.params[r.name]
            else:
                frame.params[target][m] = inner.params[r.name]

    # ---- parameters of functions

    def param_array(self, frame: Frame, name: str, size: int) -> A:
        known = frame.params.get(name)
        if known is None or known.shape != (len(frame.lanes), size):
            known = frame.params[name] = np.zeros((len(frame.lanes), size), np.uint8)
        return known

    def store_param(self, frame: Frame, name: str, at: int, total: int, value: A, m: A) -> None:
        array = self.param_array(frame, name, total)
        n = len(frame.lanes) if m is None else len(m)
        data = np.ascontiguousarray(np.broadcast_to(value, (n,)))
        raw = data.view(np.uint8).reshape(n, -1)
        if m is None:
            array[:, at : at + raw.shape[1]] = raw
        else:
            array[m, at : at + raw.shape[1]] = raw

    def load_param_at(self, address: A, size: int) -> A:
        """Parameters of the kernel by their places among them, one for each lane."""
        places = np.asarray(address, np.int64).reshape(-1, 1) + np.arange(size)
        got = np.ascontiguousarray(self.given[places]).view(UINT[size]).reshape(-1)
        return got[0] if np.ndim(address) == 0 else got

    def load_param(self, frame: Frame, name: str, at: int, size: int, m: A) -> A:
        array = frame.params[name]
        rows = array if m is None or len(array) == 1 else array[m]
        got = np.ascontiguousarray(rows[:, at : at + size]).view(UINT[size]).reshape(-1)
        return got[0] if len(array) == 1 and len(frame.lanes) != 1 else got

"""Scans on several threads (`host/scanning`).

Long vectors are cut into chunks that fit into the cache of a core. Threads take them in order. Who takes the one that
is next in turn knows what it begins with, and scans it. Who is ahead computes what its values combine to, waits for
what the chunk begins with, passes on what the next one does, and then scans it, out of its cache. So each element comes
from memory once, and a single thread computes nothing twice; whoever takes which chunk, results are the same: chunks
and lanes depend on the program and the extents only. (Chained scans as in Merrill, Garland: Single-pass Parallel Prefix
Scan with Decoupled Look-back, 2016, on a processor.)

Nothing in a chunk can fail, and threads look at the stop flag before they take one: who has taken one always passes on
what comes of it, so that nobody waits in vain.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.analysis.scans import Scan
from sacpy.jit.host import layout
from sacpy.jit.host.chunks import Chunked
from sacpy.jit.host.memory import Array
from sacpy.jit.host.monoids import Monoid
from sacpy.jit.host.scanning import Piece
from sacpy.jit.host.work import Cost
from sacpy.jit.host.writer import Writer
from sacpy.jit.ir.rewrite import free_in_order, inner_binders
from sacpy.jit.llvm.legal import LLVM_TYPES, Code, size_of

ALIGNED = 64  # chunks are a multiple of so many elements, whole cache lines of them
KEPT = 1 << 17  # bytes of a chunk's results at most: with what is read for them they stay in the cache of a core
LINE = 8  # words of a cache line
SHARE = 0.25  # of the work counts where it is decided whether to spread it: threads compute most values twice


class Spread:
    """A scan cut into chunks, which threads take one after the other. `total`: what the first chunk begins with, and
    what the chunk that is next in turn does."""

    def __init__(self, low: Writer, scan: Scan, source: Array, result: Array, total: str) -> None:
        self.low, self.scan, self.source, self.result, self.total = low, scan, source, result, total
        self.code, self.type, self.monoid = low.code, LLVM_TYPES[scan.base], Monoid(scan)

    def run(self, lower: str, upper: str) -> None:
        low, code = self.low, self.code
        count = code.difference(upper, lower)
        scanning = Chunked(low)
        cost = Cost(low)
        work = cost.times(cost.times(cost.body(self.scan.loop.body), SHARE), cost.count(count))
        grain = scanning.grain(work, count, str(ALIGNED))
        short = code.op(f"call i64 @llvm.smin.i64(i64 {grain}, i64 {KEPT // size_of(self.scan.base)})")
        code.module.declare("llvm.smin", "declare i64 @llvm.smin.i64(i64, i64)")
        chunk = code.op(f"select i1 {code.op(f'icmp sge i64 {grain}, {count}')}, i64 {grain}, i64 {short}")
        chunks = code.quotient(code.difference(code.sum(count, chunk), "1"), chunk)
        turns = code.slot(f"[{2 * LINE} x i64]")
        taken, turn = turns, code.offset("i64", turns, str(LINE))
        for slot in (taken, turn):
            code.store("i64", "0", slot)
        self.write(scanning, taken, turn, lower, upper, chunk, chunks)
        threads = code.load("i64", code.offset("i64", code.load("ptr", "%frame"), str(layout.CONTROL_THREADS)))
        scanning.call("0", code.op(f"call i64 @llvm.smin.i64(i64 {threads}, i64 {chunks})"), "1")

    def write(self, chunked: Chunked, taken: str, turn: str, lower: str, upper: str, chunk: str, chunks: str) -> None:
        """The function of a thread: takes the next chunk, as long as there is one. `taken`: how many were; `turn`: of
        which one it is known what it begins with."""
        inner, code = chunked.inner, chunked.code
        inside = {v.name for v in inner_binders(self.scan.loop)} | {self.scan.seen.name}
        blocks = (self.scan.values, self.scan.post)
        chunked.capture(name for block in blocks for name in free_in_order(block) if name not in inside)
        source, result = chunked.captured_array(self.source), chunked.captured_array(self.result)
        taken, turn, total = (chunked.captured("ptr", p) for p in (taken, turn, self.total))
        lower, upper, chunk, chunks = (chunked.captured("i64", n) for n in (lower, upper, chunk, chunks))
        start = code.slot(self.type)
        again, take, through = code.label("again"), code.label("take"), code.label("through")
        ahead, begin, pass_on = code.label("ahead"), code.label("begin"), code.label("pass_on")
        next_ = code.label("next")
        code.place(again)
        inner.poll()
        k = code.op(f"atomicrmw add ptr {taken}, i64 1 monotonic")
        code.branch(code.op(f"icmp slt i64 {k}, {chunks}"), take, through)
        code.place(take)
        first = code.sum(lower, code.product(k, chunk))
        far = code.sum(first, chunk)
        end = code.op(f"select i1 {code.op(f'icmp slt i64 {far}, {upper}')}, i64 {far}, i64 {upper}")
        now = code.op(f"load atomic i64, ptr {turn} acquire, align 8")
        known = code.op(f"icmp eq i64 {now}, {k}")
        code.branch(known, next_, ahead)
        code.place(next_)
        code.store(self.type, code.load(self.type, total), start)
        code.jump(begin)
        code.place(ahead)
        left = Piece(inner, self.scan, source, None).run(first, end, "")
        code.module.declare("sacpy_awaited", "declare void @sacpy_awaited(ptr, i64)")
        code.do(f"call void @sacpy_awaited(ptr {turn}, i64 {k})")
        code.store(self.type, code.load(self.type, total), start)
        self.turn_over(code, total, turn, k, left)
        code.jump(begin)
        code.place(begin)
        left = Piece(inner, self.scan, source, result).run(first, end, code.load(self.type, start))
        code.branch(known, pass_on, again)
        code.place(pass_on)
        self.turn_over(code, total, turn, k, left)
        code.jump(again)
        code.place(through)
        chunked.finish()

    def turn_over(self, code: Code, total: str, turn: str, k: str, element: Sequence[str]) -> None:
        """Sets what the chunk behind k begins with, and says so."""
        code.store(self.type, self.monoid.applied(code, code.load(self.type, total), element), total)
        code.do(f"store atomic i64 {code.sum(k, '1')}, ptr {turn} release, align 8")

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

from abc import ABC, abstractmethod
from collections.abc import Sequence

from sacpy.jit.analysis.scans import Scan
from sacpy.jit.host import layout
from sacpy.jit.host.chunks import Chunked
from sacpy.jit.host.memory import Array
from sacpy.jit.host.monoids import Monoid
from sacpy.jit.host.scanning import Piece
from sacpy.jit.host.work import Cost
from sacpy.jit.host.writer import Writer
from sacpy.jit.ir.graph import Block, For
from sacpy.jit.ir.rewrite import free_in_order, inner_binders
from sacpy.jit.llvm.legal import LLVM_TYPES, size_of

ALIGNED = 64  # chunks are a multiple of so many elements, whole cache lines of them
KEPT = 1 << 17  # bytes of a chunk's results at most: with what is read for them they stay in the cache of a core
LINE = 8  # words of a cache line
SHARE = 0.25  # of the work counts where it is decided whether to spread it: threads compute most values twice


class Chunk(ABC):
    """What is done with a chunk of a loop: elements are combined, and perhaps results stored. `slots`: what the rounds
    begin with, by type and address; `size`: the bytes of what a round writes."""

    loop: For
    blocks: tuple[Block, ...]
    own: set[str]  # the names that blocks are given for each round
    slots: list[tuple[str, str]]
    size: int

    @abstractmethod
    def inside(self, chunked: Chunked) -> None:
        """From now on what is written is the function of a chunk."""

    @abstractmethod
    def piece(self, first: str, end: str, starts: Sequence[str] | None) -> list[str]:
        """Stores the results of some rounds behind the results `starts`, if there are some; gives what the elements
        alone combine to."""

    @abstractmethod
    def applied(self, starts: Sequence[str], element: Sequence[str]) -> list[str]:
        """The results that come of some and an element."""


class Vectors(Chunk):
    """Those of scans of one value (`host/scanning`)."""

    def __init__(self, low: Writer, scan: Scan, source: Array, result: Array, total: str) -> None:
        self.low, self.scan, self.source, self.result = low, scan, source, result
        self.loop, self.blocks, self.monoid = scan.loop, (scan.values, scan.post), Monoid(scan)
        self.own = {v.name for v in inner_binders(scan.loop)} | {scan.seen.name}
        self.slots, self.size = [(LLVM_TYPES[scan.base], total)], size_of(scan.base)

    def inside(self, chunked: Chunked) -> None:
        self.low = chunked.inner
        self.source, self.result = chunked.captured_array(self.source), chunked.captured_array(self.result)

    def piece(self, first: str, end: str, starts: Sequence[str] | None) -> list[str]:
        to, start = (None, "") if starts is None else (self.result, starts[0])
        return Piece(self.low, self.scan, self.source, to).run(first, end, start)

    def applied(self, starts: Sequence[str], element: Sequence[str]) -> list[str]:
        return [self.monoid.applied(self.low.code, starts[0], element)]


def spread(low: Writer, what: Chunk, lower: str, upper: str) -> None:
    """A scan cut into chunks, which threads take one after the other. In the end the slots have what comes of all."""
    code = low.code
    count = code.difference(upper, lower)
    scanning = Chunked(low)
    cost = Cost(low)
    work = cost.times(cost.times(cost.body(what.loop.body), SHARE), cost.count(count))
    grain = scanning.grain(work, count, str(ALIGNED), cost.guessed)
    code.module.declare("llvm.smin", "declare i64 @llvm.smin.i64(i64, i64)")
    short = code.op(f"call i64 @llvm.smin.i64(i64 {grain}, i64 {KEPT // what.size})")
    chunk = code.op(f"select i1 {code.op(f'icmp sge i64 {grain}, {count}')}, i64 {grain}, i64 {short}")
    chunks = code.quotient(code.difference(code.sum(count, chunk), "1"), chunk)
    taken = code.slot(f"[{2 * LINE} x i64]")
    turn = code.offset("i64", taken, str(LINE))
    for slot in (taken, turn):
        code.store("i64", "0", slot)
    _write(scanning, what, (taken, turn), (lower, upper, chunk, chunks))
    threads = code.load("i64", code.offset("i64", code.load("ptr", "%frame"), str(layout.CONTROL_THREADS)))
    scanning.call("0", code.op(f"call i64 @llvm.smin.i64(i64 {threads}, i64 {chunks})"), "1")


def _write(chunked: Chunked, what: Chunk, turns: tuple[str, str], numbers: tuple[str, str, str, str]) -> None:
    """The function of a thread: takes the next chunk, as long as there is one. `turns`: how many were taken, and of
    which one it is known what it begins with; `numbers`: the bounds, the rounds of a chunk, how many there are."""
    inner, code = chunked.inner, chunked.code
    chunked.capture(name for block in what.blocks for name in free_in_order(block) if name not in what.own)
    slots = [(t, chunked.captured("ptr", p)) for t, p in what.slots]
    what.inside(chunked)
    taken, turn = (chunked.captured("ptr", p) for p in turns)
    lower, upper, chunk, chunks = (chunked.captured("i64", n) for n in numbers)
    starts = [(t, code.slot(t)) for t, _ in slots]
    again, take, through, now, ahead, begin, last = (
        code.label(stem) for stem in ("again", "take", "through", "now", "ahead", "begin", "last")
    )

    def begin_with() -> None:
        for (t, at), (_, to) in zip(slots, starts):
            code.store(t, code.load(t, at), to)

    def pass_on(element: Sequence[str]) -> None:
        """Sets what the chunk behind this one begins with, and says so."""
        so_far = what.applied([code.load(t, at) for t, at in slots], element)
        for (t, at), value in zip(slots, so_far):
            code.store(t, value, at)
        code.do(f"store atomic i64 {code.sum(k, '1')}, ptr {turn} release, align 8")

    code.jump(again)
    code.place(again)
    inner.poll()
    k = code.op(f"atomicrmw add ptr {taken}, i64 1 monotonic")
    code.branch(code.op(f"icmp slt i64 {k}, {chunks}"), take, through)
    code.place(take)
    first = code.sum(lower, code.product(k, chunk))
    far = code.sum(first, chunk)
    end = code.op(f"select i1 {code.op(f'icmp slt i64 {far}, {upper}')}, i64 {far}, i64 {upper}")
    known = code.op(f"icmp eq i64 {code.op(f'load atomic i64, ptr {turn} acquire, align 8')}, {k}")
    code.branch(known, now, ahead)
    code.place(now)
    begin_with()
    code.jump(begin)
    code.place(ahead)
    element = what.piece(first, end, None)
    code.module.declare("sacpy_awaited", "declare void @sacpy_awaited(ptr, i64)")
    code.do(f"call void @sacpy_awaited(ptr {turn}, i64 {k})")
    begin_with()
    pass_on(element)
    code.jump(begin)
    code.place(begin)
    element = what.piece(first, end, [code.load(t, at) for t, at in starts])
    code.branch(known, last, again)
    code.place(last)
    pass_on(element)
    code.jump(again)
    code.place(through)
    chunked.finish()

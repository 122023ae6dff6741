"""What kernels that scan have in common: a block has a tile of values, a thread some neighbours of it.

In: the values of a scan, and how they are combined (`scan_elements`). Out: code of the phases in which a block combines
its tile, and writes the results, given what comes before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from sacpy.jit.ir import graph as g
from sacpy.jit.ir import kernel as k
from sacpy.jit.ir.names import Names
from sacpy.jit.kernels.thread import Thread
from sacpy.jit.passes.scan_elements import Code, Monoid

BLOCK = 256  # threads
BYTES_EACH = 64  # of a thread's values, which lie side by side: four of the widest accesses


class Scan(Protocol):
    """What is scanned. `each`: values of a thread; `given`: the arrays that are read; `supply`: names for graphs;
    `down`: the first value is that of the last index."""

    elements: Monoid
    each: int
    given: list[g.Var]
    supply: Names
    down: bool


class Tiles:
    """A kernel that scans, being written. `count`: how many values there are; `results`: the arrays that are
    written."""

    count: g.Atom
    results: list[g.Var]

    def __init__(self, scan: Scan, thread: Thread) -> None:
        self.scan, self.thread, self.b = scan, thread, thread.b
        self.elements: Monoid = scan.elements
        self.bases = [c.base for c in self.elements.identities]  # of the components of an element

    def tile(self) -> g.Atom:
        """The block's tile."""
        raise NotImplementedError

    # ---- phases

    def phase(self, write: Callable[[], None]) -> k.ForAll:
        """Code of all threads."""
        b = self.b
        self.t = b.names.var("thread", b.word)
        b.open()
        write()
        return k.ForAll((self.t,), (b.word_const(BLOCK),), b.close())

    def when_first(self, write: Callable[[], None]) -> None:
        self.b.when(self.b.op("eq", self.t, self.b.word_const(0)), write)

    def first(self) -> g.Atom:
        """The first of a thread's values."""
        b, each = self.b, self.scan.each
        start = b.op("mul", self.tile(), b.word_const(BLOCK * each), exact=True)
        return b.op("add", start, b.op("mul", self.t, b.word_const(each), exact=True), exact=True)

    def in_order(
        self, start: Sequence[g.Atom], step: Callable[[g.Atom, Sequence[g.Atom]], list[g.Atom]]
    ) -> Sequence[g.Atom]:
        """What a thread's values make of elements, one after the other. Where all of them are there nothing is asked
        in between, so that neighbours share accesses."""
        b, first, each = self.b, self.first(), self.scan.each
        end = b.op("add", first, b.word_const(each), exact=True)
        b.open()
        found = list(start)
        for n in range(each):
            found = step(b.op("add", first, b.word_const(n), exact=True) if n else first, found)
        all_of_them = b.close()

        def one(e: g.Var, so_far: list[g.Atom]) -> list[g.Atom]:
            at = b.op("add", first, e, exact=True)
            return self.chosen(b.op("lt", at, self.count), lambda: step(at, so_far), so_far)

        b.open()
        some = b.seq_for(b.word_const(0), b.word_const(each), start, one)
        some_of_them = b.close()
        targets = [b.names.var("m", a.type) for a in start]
        merges = tuple(map(k.Merge, targets, found, some))
        b.add(k.If(b.op("le", end, self.count), all_of_them, some_of_them, merges))
        return targets

    def combine_own(self, parts: Sequence[g.Var]) -> None:
        """What a thread's values combine to."""

        def step(at: g.Atom, so_far: Sequence[g.Atom]) -> list[g.Atom]:
            value = self.inserted(lambda code, index: self.elements.values(code, index, self.scan.given), at)
            return self.combined(so_far, value)

        for part, a in zip(parts, self.in_order(self.elements.identities, step)):
            self.b.store(part, (self.t,), a)

    def combined_tile(self, own: Callable[[Sequence[g.Var]], None]) -> tuple[list[k.BlockStmt], list[g.Var]]:
        """Phases in which the threads of a block combine what `own` writes of each to arrays of the block; and the
        arrays in which each thread then has what all up to it combine to."""
        b = self.b
        two = [[b.shared("part", base, (BLOCK,)) for base in self.bases] for _ in range(2)]
        body: list[k.BlockStmt] = [self.phase(lambda: own(two[0]))]
        distance = 1
        while distance < BLOCK:
            body += [k.Barrier(), self.phase(partial(self.combine_far, distance, *two))]
            two = two[::-1]
            distance *= 2
        return [*body, k.Barrier()], two[0]

    def combine_far(self, distance: int, given: Sequence[g.Var], made: Sequence[g.Var]) -> None:
        """What the values of all threads up to one, at most twice the distance, combine to."""
        b = self.b
        own = [b.load(v, self.t) for v in given]

        def both() -> list[g.Atom]:
            other = b.op("sub", self.t, b.word_const(distance), exact=True)
            return self.combined([b.load(v, other) for v in given], own)

        found = self.chosen(b.op("le", b.word_const(distance), self.t), both, own)
        for v, a in zip(made, found):
            b.store(v, (self.t,), a)

    def started(self, before: Sequence[g.Atom], parts: Sequence[g.Var]) -> list[g.Atom]:
        """What a thread's values begin with, where `before` comes before the tile."""
        b = self.b

        def others() -> list[g.Atom]:
            other = b.op("sub", self.t, b.word_const(1), exact=True)
            return self.combined(before, [b.load(v, other) for v in parts])

        return self.chosen(b.op("lt", b.word_const(0), self.t), others, before)

    def write(self, before: Sequence[g.Atom], parts: Sequence[g.Var]) -> None:
        """The results of a thread's values."""
        b = self.b
        start = self.started(before, parts)

        def step(at: g.Atom, so_far: Sequence[g.Atom]) -> list[g.Atom]:
            value = self.inserted(lambda code, index: self.elements.values(code, index, self.scan.given), at)
            after = self.combined(so_far, value)
            ends = {now: self.bound(self.elements.result(e)) for now, e in ((False, so_far), (True, after))}
            written = self.inserted(
                lambda code, index: self.elements.written(code, index, self.scan.given, ends.__getitem__), at
            )
            for v, a in zip(self.results, written):
                b.store(v, (self.index(at),), a)
            return after

        self.in_order(start, step)

    # ---- elements

    def index(self, at: g.Atom) -> g.Atom:
        """The index that has the value number `at`."""
        if not self.scan.down:
            return at
        last = self.b.op("sub", self.count, self.b.word_const(1), exact=True)
        return self.b.op("sub", last, at, exact=True)

    def inserted(self, write: Callable[[Code, g.Atom], list[g.Atom]], at: g.Atom) -> list[g.Atom]:
        """Code of a graph for the value at a place."""
        index = self.scan.supply.var("i", g.INT)
        self.thread.bind((index,), (self.b.as_int(self.index(at)),))
        return self.block(lambda code: write(code, index))

    def combined(self, a: Sequence[g.Atom], b: Sequence[g.Atom]) -> list[g.Atom]:
        """Two elements, the first one first."""
        return self.block(lambda code: self.elements.combined(code, self.bound(a), self.bound(b)))

    def bound(self, many: Sequence[g.Atom]) -> list[g.Atom]:
        """Atoms of the kernel as atoms of a graph."""
        names = [self.scan.supply.var("e", g.ScalarType(a.base)) for a in many]
        self.thread.bind(names, list(many))
        return list(names)

    def block(self, write: Callable[[Code], Sequence[g.Atom]]) -> list[g.Atom]:
        values, _ = self.thread.block(Code(self.scan.supply).inside(write))
        return [a for a in values if isinstance(a, g.Var | g.Const)]

    def chosen(self, condition: g.Atom, then: Callable[[], list[g.Atom]], otherwise: Sequence[g.Atom]) -> list[g.Atom]:
        """What a branch gives where a condition holds; else other atoms."""
        b = self.b
        b.open()
        found = then()
        code = b.close()
        targets = [b.names.var("m", a.type) for a in otherwise]
        b.add(k.If(condition, code, (), tuple(map(k.Merge, targets, found, otherwise))))
        return list(targets)

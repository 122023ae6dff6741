"""Scans of what is not exact, such as sums of reals: in groups that depend on the number of values alone.

In: a scan whose values may be regrouped, but in the same way each time. Out: three launches. In the first one each
block finds out what its tile combines to; in the second one block scans these; in the third one each block scans its
tile, given what comes before it. So values are read twice and results written once. (Reduce-then-scan as in Dotsenko,
Govindaraju, Sloan, Boyd, Manferdelli: Fast Scan Algorithms on Graphics Processors, 2008.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sacpy.jit.ir import graph as g
from sacpy.jit.ir import kernel as k
from sacpy.jit.kernels import scan_phases
from sacpy.jit.kernels.launches import Buffer, Launch
from sacpy.jit.kernels.numbers import Numbers, array_sizes
from sacpy.jit.kernels.source import Built

if TYPE_CHECKING:
    from sacpy.jit.kernels.scanned import Scanned


def launches(scan: Scanned, numbers: Numbers) -> tuple[list[Buffer], list[Launch]]:
    """The arrays that lie between the launches, and these."""
    block = scan_phases.BLOCK
    n, tile = scan.count(numbers), block * scan.each
    tiles = max(1, -(-n // tile))
    bits = 32 if max([n + tile, tiles + tile, *array_sizes(scan.source, numbers)]) < 1 << 31 else 64
    why = f"a scan of {n} values in {tiles} tiles of {tile}: what each combines to, what comes before each, the results"
    found = []
    for name, make, blocks, given in (
        ("combined", _Combined, tiles, (tiles, n)),
        ("before", _Before, 1, (tiles, 1)),
        ("scanned", _Scanned, tiles, (tiles, n)),
    ):
        built = scan.kernels.get((name, bits))
        if built is None:
            built = scan.kernels[name, bits] = make(scan, scan.source.thread(name, bits)).kernel()
        arguments = built.arguments(given, ())
        purpose = "partition" if name == "scanned" else "partials"
        found.append(Launch(built.kernel, (1, 1, blocks), (1, 1, block), arguments, purpose, 0, None, (why,)))
    buffers = [Buffer(f"{name}{c}", base, (tiles,)) for name in NAMES for c, base in enumerate(scan.bases)]
    return buffers, found


NAMES = ("scan.combined.", "scan.before.")  # of the arrays between the launches, one for each component


class _Grouped(scan_phases.Tiles):
    """`wholes`, `before`: arrays with an element for each tile, by component; `writes`: the names of those that it
    writes. `alone`: one block does it."""

    scan: Scanned
    writes: tuple[str, ...] = ()
    alone = False

    def kernel(self) -> Built:
        """All of it."""
        b = self.b
        self.tiles, self.count = b.number("tiles"), b.number("count")
        between = []
        for name in NAMES:
            arrays = []
            for c, base in enumerate(self.bases):
                v = g.Var(f"{name}{c}", g.ArrayType(base, (self.tiles,)))
                if name in self.writes:
                    b.results[v.name], b.once[v.name] = v, True
                else:
                    b.arrays[v.name] = v
                arrays.append(v)
            between.append(arrays)
        self.wholes, self.before = between
        self.at = b.names.var("block", b.word)
        body = self.body()
        blocks = b.word_const(1) if self.alone else self.tiles
        made = b.kernel((self.at,), (blocks,), (b.word_const(scan_phases.BLOCK),), body, aligned=True)
        return Built(made, tuple(v.name for v in b.shape))

    def body(self) -> list[k.BlockStmt]:
        raise NotImplementedError

    def tile(self) -> g.Atom:
        return self.at


class _Combined(_Grouped):
    """What each tile combines to."""

    writes = NAMES[:1]

    def body(self) -> list[k.BlockStmt]:
        b = self.b
        body, parts = self.combined_tile(self.combine_own)

        def last() -> None:
            for v, part in zip(self.wholes, parts):
                b.store(v, (self.at,), b.load(part, b.word_const(scan_phases.BLOCK - 1)))

        return [*body, self.phase(lambda: self.when_first(last))]


class _Before(_Grouped):
    """What comes before each tile: one block goes along them, several a thread at a time."""

    writes = NAMES[1:]
    alone = True

    def body(self) -> list[k.BlockStmt]:
        b, scan = self.b, self.scan
        self.totals = [b.result(v.name, v.base, (g.integer(1),)) for v in scan.totals]
        so_far = [b.shared("before", base, (1,)) for base in self.bases]
        self.strip = b.names.var("strip", b.word)
        self.count = self.tiles
        zero = g.integer(0)

        def begin() -> None:
            for v, a in zip(so_far, self.elements.started([self.thread.atom(a) for a in scan.initial])):
                b.store(v, (zero,), a)

        def value(at: g.Atom) -> list[g.Atom]:
            return [b.load(v, at) for v in self.wholes]

        def own(parts: Sequence[g.Var]) -> None:
            found = self.in_order(self.elements.identities, lambda at, done: self.combined(done, value(at)))
            for part, a in zip(parts, found):
                b.store(part, (self.t,), a)

        tile, parts = self.combined_tile(own)

        def write() -> None:
            start = self.started([b.load(v, zero) for v in so_far], parts)

            def step(at: g.Atom, done: Sequence[g.Atom]) -> list[g.Atom]:
                for v, a in zip(self.before, done):
                    b.store(v, (at,), a)
                return self.combined(done, value(at))

            self.in_order(start, step)

        def go_on() -> None:
            whole = [b.load(v, b.word_const(scan_phases.BLOCK - 1)) for v in parts]
            for v, a in zip(so_far, self.combined([b.load(v, zero) for v in so_far], whole)):
                b.store(v, (zero,), a)

        def end() -> None:
            for v, a in zip(self.totals, self.elements.result([b.load(v, zero) for v in so_far])):
                b.store(v, (zero,), a)

        strips = b.names.var("strips", b.word)
        size = scan_phases.BLOCK * scan.each
        further = b.names.var("t", b.word)
        return [
            self.phase(lambda: self.when_first(begin)),
            k.Uniform(further, g.Op("add", (self.tiles, b.word_const(size - 1)), True)),
            k.Uniform(strips, g.Op("div", (further, b.word_const(size)))),
            k.BlockFor(
                self.strip,
                b.word_const(0),
                strips,
                b.word_const(1),
                (
                    *tile,
                    self.phase(write),
                    k.Barrier(),
                    self.phase(lambda: self.when_first(go_on)),
                    k.Barrier(),
                ),
            ),
            self.phase(lambda: self.when_first(end)),
        ]

    def tile(self) -> g.Atom:
        return self.strip


class _Scanned(_Grouped):
    """The results of each tile."""

    def body(self) -> list[k.BlockStmt]:
        b = self.b
        self.results = [b.result(v.name, v.base, g.extents_of(v)) for v in self.scan.arrays]
        body, parts = self.combined_tile(self.combine_own)
        return [*body, self.phase(lambda: self.write([b.load(v, self.at) for v in self.before], parts))]

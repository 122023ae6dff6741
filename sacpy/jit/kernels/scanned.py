"""Scans once through memory, of what is exact however it is grouped: decoupled look-back.

In: a with-loop of one axis whose values a scan hands on, with an associative function. Out: two launches. The first one
sets a word or more for each tile of values to "nothing yet". In the second a block takes the next tile, by a
counter, so that all tiles before it are taken by blocks that run or are done, in whatever order a device runs them. Its
threads combine some neighbouring values each, the block combines these, and tells what its tile combines to; its first
thread then goes back over the tiles before, combining what they tell, up to one that tells what comes of all values up
to it; tells that of its own; and each thread computes the results of its values. So values are read twice, the second
time out of a cache, and results written once. (Merrill, Garland: Single-pass Parallel Prefix Scan with Decoupled
Look-back, 2016.)

A word has 32 bits of an element's component below two that say what it tells: nothing yet, what the tile combines to,
or what all values up to its end do. Words only grow in that: an atomic maximum sets one, and needs no fence, since
whoever sees the word has all of it; who sees words of one tile that differ looks again. What a block tells may be
grouped in more than one way, by who is first: hence only for what is exact.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from sacpy.jit.ir import graph as g
from sacpy.jit.ir import kernel as k
from sacpy.jit.ir.rewrite import names_of
from sacpy.jit.kernels import grouped_scan, scan_phases
from sacpy.jit.kernels.builder import Builder
from sacpy.jit.kernels.launches import Buffer, KernelOptions, Launch, Refused
from sacpy.jit.kernels.numbers import Numbers, array_sizes
from sacpy.jit.kernels.source import Built, Source, number_of
from sacpy.jit.llvm.legal import size_of
from sacpy.jit.passes.scan_elements import elements_of
from sacpy.jit.passes.stepping import scans_as_loops
from sacpy.lang.types import REAL

AT_ONCE = 8  # tiles that are looked at together: memory answers all as soon as one
SOME, ALL = (g.Const("ulong", n << 32) for n in (1, 2))  # what a tile combines to; what all values up to its end do
LOW = g.Const("ulong", (1 << 32) - 1)
_BITS = {"float": ("bits_of_float", "float_of_bits", "uint"), "double": ("bits_of_double", "double_of_bits", "ulong")}


def is_scan(w: g.WithLoop) -> bool:
    """Whether a with-loop has the form that scans are given for a device (`passes/device_scans`)."""
    handed = [o for o in w.operators if isinstance(o, g.Propagate)]
    return (
        w.complete
        and [o.word for o in handed] == ["scan"]
        and all(isinstance(o, g.Propagate) or (isinstance(o, g.Genarray) and not o.cell) for o in w.operators)
        and len(w.partitions) == 1
        and w.partitions[0].rank == 1
    )


class Scanned:
    """One with-loop. `elements`: its values; `arrays` and `totals`: of its results, the vectors, and what is handed on
    in the end."""

    def __init__(self, source: Source, options: KernelOptions) -> None:
        self.source, self.options = source, options
        function = scans_as_loops(source.around)
        loops = [s for s in function.body.statements if isinstance(s, g.Let) and isinstance(s.rhs, g.For)]
        r = loops[0].rhs if len(loops) == 1 else None
        elements = elements_of(r, strict=True) if isinstance(r, g.For) else None
        self.exact = elements is not None
        handed = [o for o in source.with_loop.operators if isinstance(o, g.Propagate)]
        if elements is None and isinstance(r, g.For) and all(o.regroups for o in handed):
            elements = elements_of(r, strict=False)
        if elements is None or not elements.apart or not isinstance(r, g.For):
            raise Refused("scan is of several values that have nothing to do with one another")
        self.down = r.step < 0
        self.loop, self.elements, self.supply = r, elements, names_of(function)
        order = [source.targets.index(t) for t in loops[0].targets]
        pairs = [(source.targets[n], p) for n, p in zip(order, r.params)]
        self.arrays = [t for t, p in pairs if g.extents_of(p)]
        self.totals = [t for t, p in pairs if not g.extents_of(p)]
        self.initial = [a for a, p in zip(r.initial, r.params) if not g.extents_of(p)]
        self.given = [a for a, p in zip(r.initial, r.params) if isinstance(a, g.Var) and g.extents_of(p)]
        self.words = sum(map(_words, self.bases))  # of a tile
        self.each = max(1, scan_phases.BYTES_EACH // sum(map(size_of, self.bases)))  # values of a thread
        self.kernels: dict[Hashable, Built] = {}
        self.name = f"{self.arrays[0].name}.told"

    @property
    def bases(self) -> list[str]:
        """Of the components of an element."""
        return [c.base for c in self.elements.identities]

    def inputs(self) -> set[str]:
        """The ints that plans depend on, extents of arrays left out."""
        return {a.name for a in self.source.with_loop.partitions[0].upper if isinstance(a, g.Var)}

    def count(self, numbers: Numbers) -> int:
        """How many values there are."""
        return number_of(self.source.with_loop.partitions[0].upper[0], numbers)

    def plan(
        self, numbers: Numbers, parameters: Mapping[str, int], taken: frozenset[str]
    ) -> tuple[list[Buffer], list[Launch]]:
        """Temporaries and launches. `taken`: as for `Cells`; nothing is."""
        if not self.exact:
            return grouped_scan.launches(self, numbers)
        n, tile = self.count(numbers), scan_phases.BLOCK * self.each
        tiles = max(1, -(-n // tile))
        told = tiles * self.words + 1
        bits = 32 if max([n + tile, told + scan_phases.BLOCK, *array_sizes(self.source, numbers)]) < 1 << 31 else 64
        for key, build in (("clear", self._clear), ("scan", self._scan)):
            if (key, bits) not in self.kernels:
                self.kernels[key, bits] = build(bits)
        clear, scan = self.kernels["clear", bits], self.kernels["scan", bits]
        blocks = -(-told // scan_phases.BLOCK)
        bytes_ = sum(size_of(base) for base in self.bases)
        return [Buffer(self.name, "ulong", (told,))], [
            Launch(
                clear.kernel,
                (1, 1, blocks),
                (1, 1, scan_phases.BLOCK),
                clear.arguments((told, blocks), ()),
                "default",
                None,
                None,
                (f"{tiles} tiles have told nothing yet",),
            ),
            Launch(
                scan.kernel,
                (1, 1, tiles),
                (1, 1, scan_phases.BLOCK),
                scan.arguments((told, tiles, n), ()),
                "partition",
                0,
                None,
                (
                    f"a scan of {n} values in {tiles} tiles of {tile}, once through memory: each looks back over what "
                    f"those before it tell, of {bytes_} bytes each",
                ),
            ),
        ]

    # ---- kernels

    def _clear(self, bits: int) -> Built:
        """Sets all words to 0."""
        thread = self.source.thread("clear", bits)
        b = thread.b
        count, blocks = b.number("words"), b.number("blocks")
        told = b.result(self.name, "ulong", (count,))
        block, t = b.names.var("block", b.word), b.names.var("thread", b.word)
        b.open()
        at = b.op("add", b.op("mul", block, b.word_const(scan_phases.BLOCK), exact=True), t, exact=True)
        b.when(b.op("lt", at, count), lambda: b.store(told, (at,), g.Const("ulong", 0)))
        body = (k.ForAll((t,), (b.word_const(scan_phases.BLOCK),), b.close()),)
        return Built(
            b.kernel((block,), (blocks,), (b.word_const(scan_phases.BLOCK),), body), tuple(v.name for v in b.shape)
        )

    def _scan(self, bits: int) -> Built:
        return _LookBack(self, self.source.thread("scan", bits)).kernel()


class _LookBack(scan_phases.Tiles):
    """The kernel that scans, being written."""

    scan: Scanned

    def kernel(self) -> Built:
        """All of it."""
        b, scan = self.b, self.scan
        words, tiles, self.count = b.number("words"), b.number("tiles"), b.number("count")
        self.tiles = tiles
        self.told = b.result(scan.name, "ulong", (words,))
        self.results = [b.result(v.name, v.base, g.extents_of(v)) for v in scan.arrays]
        self.totals = [b.result(v.name, v.base, (g.integer(1),)) for v in scan.totals]
        for v in (self.told, *self.results, *self.totals):
            b.once[v.name] = v is not self.told
        self.ticket = b.shared("tile", b.word.base, (1,))
        self.before = [b.shared("before", base, (1,)) for base in scan.bases]
        block = b.names.var("block", b.word)
        tile, parts = self.combined_tile(self.combine_own)
        body = [
            self.phase(self.take),
            k.Barrier(),
            *tile,
            self.phase(lambda: self.when_first(lambda: self.look_back(parts))),
            k.Barrier(),
            self.phase(lambda: self.write([b.load(v, g.integer(0)) for v in self.before], parts)),
        ]
        made = b.kernel((block,), (tiles,), (b.word_const(scan_phases.BLOCK),), tuple(body), aligned=True)
        return Built(made, tuple(v.name for v in b.shape))

    # ---- phases

    def take(self) -> None:
        """The first thread takes the next tile."""
        b = self.b

        def first() -> None:
            at = b.op("sub", self.told.type.extents[0], b.word_const(1), exact=True)  # type: ignore[union-attr]
            old = b.names.var("old", g.ScalarType("ulong"))
            b.add(k.Atomic("add", self.told, (at,), g.Const("ulong", 1), old))
            b.store(self.ticket, (g.integer(0),), b.op("toi" if b.bits == 32 else "tol", old))

        self.when_first(first)

    def tile(self) -> g.Var:
        return self.b.load(self.ticket, g.integer(0))

    def look_back(self, parts: Sequence[g.Var]) -> None:
        """The first thread tells what the tile combines to, finds what comes before it, tells what comes of both."""
        b, tile = self.b, self.tile()
        whole = [b.load(v, b.word_const(scan_phases.BLOCK - 1)) for v in parts]
        initial = list(self.elements.started([self.thread.atom(a) for a in self.scan.initial]))
        others = b.op("lt", b.word_const(0), tile)
        own = self.chosen(b.op("not", others), lambda: self.combined(initial, whole), whole)
        # all tell something before they wait for anybody: a thread that waits needs nobody who has come further
        self.tell(tile, own, b.op("select", others, SOME, ALL))
        before = self.chosen(others, lambda: self.found_before(tile), initial)

        def all_of_them() -> list[g.Atom]:
            after = self.combined(before, whole)
            self.tell(tile, after, ALL)
            return after

        after = self.chosen(others, all_of_them, own)
        for v, a in zip(self.before, before):
            b.store(v, (g.integer(0),), a)

        def last() -> None:
            for v, a in zip(self.totals, self.elements.result(after)):
                b.store(v, (g.integer(0),), a)

        b.when(b.op("eq", tile, b.op("sub", self.tiles, b.word_const(1), exact=True)), last)

    def found_before(self, tile: g.Atom) -> list[g.Atom]:
        """What all values before a tile combine to, with what there was at the start: rounds that each look at some
        tiles at once, from the one before on, and take what these tell, up to the first that tells nothing or all."""
        b = self.b
        names = [b.names.var("c", g.ScalarType(base)) for base in self.scan.bases]
        at, go = b.names.var("c", b.word), b.names.var("go", g.BOOL)
        starts = [*self.elements.identities, b.op("sub", tile, b.word_const(1), exact=True), g.TRUE]
        b.open()
        seen = []  # in front of the first tile there is none: that one tells all
        for n in range(AT_ONCE):
            place = b.op("max", b.op("sub", at, b.word_const(n), exact=True), b.word_const(0)) if n else at
            seen.append([self.look(place, number) for number in range(self.scan.words)])
        found: list[g.Atom] = [*names, at, g.TRUE, g.TRUE]
        for words in seen:
            found = self.taken_up(words, found)
        code = b.close()
        carried = tuple(map(k.Carried, (*names, at, go), starts, found[:-1]))
        b.add(k.While(carried, (), go, code))
        return list(names)

    def taken_up(self, words: Sequence[g.Atom], found: list[g.Atom]) -> list[g.Atom]:
        """What a tile tells, before what was found: that, the next tile to look at, whether there is one, and whether
        the tile did tell something."""
        b = self.b
        *so_far, at, _, on = found
        kinds = [b.op("shr", w, g.Const("ulong", 32)) for w in words]
        there = b.both(on, b.op("neq", kinds[0], g.Const("ulong", 0)))
        for kind in kinds[1:]:
            there = b.both(there, b.op("eq", kind, kinds[0]))

        def more() -> list[g.Atom]:
            both = self.combined(self.unpacked(words), so_far)
            more_ = b.op("neq", kinds[0], g.Const("ulong", 2))
            return [*both, b.op("sub", at, b.word_const(1), exact=True), more_, more_]

        assert there is not None
        return self.chosen(there, more, [*found[:-1], g.FALSE])

    # ---- words

    def look(self, tile: g.Atom, number: int) -> g.Atom:
        """A word of a tile, as it is at the moment."""
        b = self.b
        old = b.names.var("told", g.ScalarType("ulong"))
        b.add(k.Atomic("bitor", self.told, (self.place(tile, number),), g.Const("ulong", 0), old))
        return old

    def place(self, tile: g.Atom, number: int) -> g.Atom:
        b = self.b
        at = b.op("mul", tile, b.word_const(self.scan.words), exact=True)
        return b.op("add", at, b.word_const(number), exact=True)

    def tell(self, tile: g.Atom, element: Sequence[g.Atom], what: g.Atom) -> None:
        """Sets the words of a tile."""
        b = self.b
        halves = [half for a in element for half in _halves(b, a)]
        for number, half in enumerate(halves):
            word = b.op("bitor", half, what)
            b.add(k.Atomic("max", self.told, (self.place(tile, number),), word))

    def unpacked(self, words: Sequence[g.Atom]) -> list[g.Atom]:
        """The element that words tell."""
        found, at = [], 0
        for base in self.scan.bases:
            found.append(_whole(self.b, base, words[at : at + _words(base)]))
            at += _words(base)
        return found


def _words(base: str) -> int:
    """How many words tell a component."""
    return 2 if size_of(base) == 8 else 1


def _halves(b: Builder, a: g.Atom) -> list[g.Atom]:
    """The bits of a component, in words."""
    if a.base in REAL:
        a = b.op(_BITS[a.base][0], a)
    if a.base == "bool":
        return [b.op("select", a, g.Const("ulong", 1), g.Const("ulong", 0))]
    whole = a if a.base == "ulong" else b.op("toul", a)
    low = b.op("bitand", whole, LOW)
    return [low, b.op("shr", whole, g.Const("ulong", 32))] if _words(a.base) == 2 else [low]


def _whole(b: Builder, base: str, words: Sequence[g.Atom]) -> g.Atom:
    """A component of words."""
    bits = b.op("bitand", words[0], LOW)
    if len(words) == 2:
        bits = b.op("bitor", bits, b.op("shl", b.op("bitand", words[1], LOW), g.Const("ulong", 32)))
    if base == "bool":
        return b.op("neq", bits, g.Const("ulong", 0))
    between = _BITS[base][2] if base in REAL else base
    if between != "ulong":
        bits = b.op(_CONVERSIONS[between], bits)
    return b.op(_BITS[base][1], bits) if base in REAL else bits


_CONVERSIONS = {
    "byte": "tob",
    "short": "tos",
    "int": "toi",
    "long": "tol",
    "longlong": "toll",
    "ubyte": "toub",
    "ushort": "tous",
    "uint": "toui",
    "ulonglong": "toull",
}

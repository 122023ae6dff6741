"""Which elements of an array a block reads.

In: a partition's body; a mapping. Out: for each array the accesses whose index is that of the with-loop plus a little
(a constant, or a counter between constants), and how the index of a mapping follows from the position in the block.
Together they say which tile of the array a block reads.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from sacpy.jit.ir import graph as g
from sacpy.nodes import Node, Record, field
from sacpy.withloop import chains
from sacpy.withloop.arithmetic import Slot


class Entry(Node):
    """One entry of an index: that of axis `axis` of the with-loop (None: of none) plus something from `low` to
    `high`."""

    axis: int | None
    low: int
    high: int


Place = tuple[str, tuple[g.Atom, ...]]  # array and index, as a load has them


class Footprint(Node):
    """Accesses of one array, along the same axes; `entries` spans all of them. `sites`: how many different elements an
    index reads, counters left out of account."""

    array: g.Var
    entries: tuple[Entry, ...]
    places: frozenset[Place]
    reads: int


class _Reader(Record):
    known: dict[str, Entry]
    free: Mapping[str, g.Var]
    found: dict[tuple[str, tuple[int | None, ...]], dict[Place, tuple[Entry, ...]]] = field(
        default_factory=lambda: defaultdict(dict)
    )

    def entry(self, a: g.Atom) -> Entry | None:
        if isinstance(a, g.Const):
            return Entry(None, int(a.value), int(a.value)) if a.base == "int" else None
        return self.known.get(a.name)

    def block(self, b: g.Block) -> None:
        for s in b.statements:
            if not isinstance(s, g.Let):
                continue
            match s.rhs:
                case g.Op(code="add" | "sub", args=(a, c)) if (x := self.entry(a)) and (y := self.entry(c)):
                    if (sum_ := _sum(x, y, s.rhs.code)) is not None:
                        self.known[s.targets[0].name] = sum_
                case g.Load(array=array, index=index) if array.name in self.free:
                    entries = tuple(map(self.entry, index))
                    if all(e is not None for e in entries):
                        whole = tuple(e for e in entries if e is not None)
                        self.found[array.name, tuple(e.axis for e in whole)][array.name, index] = whole
                case g.For(index=i, lower=g.Const(value=low), upper=g.Const(value=up), step=step) if step > 0:
                    self.known[i.name] = Entry(None, int(low), max(int(low), int(up) - 1))
                case g.WithLoop(partitions=partitions):
                    for p in partitions:
                        for i, lo, hi in zip(p.index, p.lower, p.upper):
                            if isinstance(lo, g.Const) and isinstance(hi, g.Const):
                                self.known[i.name] = Entry(None, int(lo.value), max(int(lo.value), int(hi.value) - 1))
            for inner in g.blocks(s.rhs):
                self.block(inner)


def _sum(x: Entry, y: Entry, code: str) -> Entry | None:
    if code == "add":
        if x.axis is not None and y.axis is not None:
            return None
        return Entry(y.axis if x.axis is None else x.axis, x.low + y.low, x.high + y.high)
    return Entry(x.axis, x.low - y.high, x.high - y.low) if y.axis is None else None


def footprints(p: g.Partition, free: Mapping[str, g.Var], fixed: bool = False) -> dict[str, Footprint]:
    """What one index of a partition reads around itself, by the names of the arrays; of an array that is read along
    different axes, the way most accesses have. `fixed`: what follows no axis may be among the entries, if it lies
    between constants."""
    found: dict[str, Footprint] = {}
    for f in footprints_of(p.index, (p.body,), free):
        if (fixed or all(e.axis is not None for e in f.entries)) and (
            f.array.name not in found or f.reads > found[f.array.name].reads
        ):
            found[f.array.name] = f
    return found


def entries_of(
    index: Sequence[g.Var], code: Iterable[g.Block], free: Mapping[str, g.Var]
) -> dict[Place, tuple[Entry, ...]]:
    """What some code reads around an index, access by access."""
    reader = _Reader({v.name: Entry(axis, 0, 0) for axis, v in enumerate(index)}, free)
    for b in code:
        reader.block(b)
    return {place: entries for places in reader.found.values() for place, entries in places.items()}


def footprints_of(index: Sequence[g.Var], code: Iterable[g.Block], free: Mapping[str, g.Var]) -> list[Footprint]:
    """What some code reads around an index: of each array, each way along the axes; entries of an index that follow
    none of them are the same everywhere."""
    reader = _Reader({v.name: Entry(axis, 0, 0) for axis, v in enumerate(index)}, free)
    for b in code:
        reader.block(b)
    found: list[Footprint] = []
    for (name, axes), places in reader.found.items():
        following = [axis for axis in axes if axis is not None]
        if not following or len(set(following)) < len(following):
            continue
        spans = [tuple(column) for column in zip(*places.values())]
        entries = tuple(
            Entry(axis, min(e.low for e in column), max(e.high for e in column)) for axis, column in zip(axes, spans)
        )
        found.append(Footprint(free[name], entries, frozenset(places), sum(_count(e) for e in places.values())))
    return found


def _count(entries: tuple[Entry, ...]) -> int:
    count = 1
    for e in entries:
        count *= e.high - e.low + 1
    return count


# ---------------------------------------------------------------- positions in a block

Coefficients = dict[int, int] | None  # of the axes of the block; None: not affine


class _Affine:
    """How numbers depend on the position in the block. What is the same for all threads of a block has no
    coefficients."""

    def bound(self, slot: Slot) -> tuple[Coefficients, int | None]:
        return {}, slot.value if slot.known else None

    def add(
        self, a: tuple[Coefficients, int | None], b: tuple[Coefficients, int | None]
    ) -> tuple[Coefficients, int | None]:
        if a[0] is None or b[0] is None:
            return None, None
        return {q: a[0].get(q, 0) + b[0].get(q, 0) for q in {*a[0], *b[0]}}, None

    def multiply(
        self, a: tuple[Coefficients, int | None], b: tuple[Coefficients, int | None]
    ) -> tuple[Coefficients, int | None]:
        if a[0] == {} and b[0] == {}:
            return {}, None
        for (x, _), (y, factor) in ((a, b), (b, a)):
            if x is not None and y == {} and factor is not None:
                return {q: c * factor for q, c in x.items()}, None
        return None, None

    def divide(
        self, a: tuple[Coefficients, int | None], by: Slot
    ) -> tuple[tuple[Coefficients, int | None], tuple[Coefficients, int | None]]:
        same: tuple[Coefficients, int | None] = ({}, None) if a[0] == {} else (None, None)
        return same, same

    def subtract(
        self, a: tuple[Coefficients, int | None], b: tuple[Coefficients, int | None]
    ) -> tuple[Coefficients, int | None]:
        if a[0] is None or b[0] is None:
            return None, None
        return {q: a[0].get(q, 0) - b[0].get(q, 0) for q in {*a[0], *b[0]}}, None

    def choose(
        self, condition: None, a: tuple[Coefficients, int | None], b: tuple[Coefficients, int | None]
    ) -> tuple[Coefficients, int | None]:
        return None, None

    def in_rows(
        self, a: tuple[Coefficients, int | None], least: Slot, growth: Slot, rows: Slot
    ) -> tuple[tuple[Coefficients, int | None], tuple[Coefficients, int | None]]:
        return (None, None), (None, None)

    def less(self, a: tuple[Coefficients, int | None], b: tuple[Coefficients, int | None]) -> None:
        return None

    def both(self, a: None, b: None) -> None:
        return None


def block_axes(mapping: chains.Mapping) -> tuple[int | None, ...] | None:
    """For each axis of the space the axis of the block that it follows step by step, or None where it is the same for
    the whole block. None altogether where a block's indices are no box."""
    grid, block = len(mapping.placement.grid), len(mapping.placement.block)
    index, _ = mapping.recover(_Affine(), [({}, None)] * grid, [({q: 1}, None) for q in range(block)])
    found: list[int | None] = []
    for coefficients, _ in index:
        if coefficients is None:
            return None
        moving = {q: c for q, c in coefficients.items() if c}
        if len(moving) > 1 or any(c != 1 for c in moving.values()):
            return None
        found.append(next(iter(moving), None))
    used = [q for q in found if q is not None]
    return tuple(found) if len(set(used)) == len(used) else None

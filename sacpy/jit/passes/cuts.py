"""What splitting cuts by: places along an axis, and what in a body asks for them.

In: a block. Out: its tests: conditions, clamped ints and remainders. `Cuts` and `Piece` say where a partition is cut,
and what comes of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from sacpy.jit.analysis.facts import Sum
from sacpy.jit.ir import graph as g
from sacpy.nodes import Record, field

NARROW = 8  # the width of a border
# operations on ints that are certain to take one of their arguments for some indices
DECIDED = frozenset({"min", "max", "abs", "mod", "aplmod"})


class Cuts(Record):
    """Where an axis is cut: `low` indices from its lower end and not below any of `lows`, `high` from its upper one and
    not above any of `highs`; or at one place in between. `spans`: what must not exceed a period, that the borders are
    at most one period off: with the divisor, from the least dividend at one index to the greatest, and how far
    dividends at the ends are below and above. `tests`: how many ask for it."""

    low: int = 0
    high: int = 0
    lows: list[Sum] = field(default_factory=list)
    highs: list[Sum] = field(default_factory=list)
    middle: Sum | None = None
    spans: list[tuple[Sum, Sum]] = field(default_factory=list)
    tests: int = 0

    def below(self, place: Sum) -> None:
        """Adds a place that the interior does not reach below."""
        if place not in self.lows:
            self.lows.append(place)
            self.middle = None

    def above(self, place: Sum) -> None:
        """Adds a place that the interior ends at."""
        if place not in self.highs:
            self.highs.append(place)
            self.middle = None

    @property
    def borders(self) -> int:
        """How many pieces are cut off."""
        if self.middle is not None:
            return 1
        return bool(self.low or self.lows) + bool(self.high or self.highs)


def in_words(p: g.Partition, cuts: list[Cuts]) -> str:
    """Where a partition is cut, for those who ask."""
    found = []
    for k, (i, c) in enumerate(zip(p.index, cuts)):
        if not c.borders:
            continue
        below = [_text(s) for s in c.lows] + ([f"the lower bound + {c.low}"] if c.low else [])
        above = [_text(s) for s in c.highs] + ([f"the upper bound - {c.high}"] if c.high else [])
        at = f"at {_text(c.middle)}" if c.middle is not None else ""
        start = f"from {_one_of('max', below)}" * bool(below)
        end = f"to {_one_of('min', above)}" * bool(above)
        found.append(f"along axis {k} ({i.name}) {at or ' '.join(filter(None, (start, end)))}")
    return " and ".join(found)


def _one_of(code: str, texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{code}({', '.join(texts)})"


def _text(s: Sum) -> str:
    """A sum as one writes it."""
    text = ""
    for name, c in sorted(s.terms.items(), key=lambda term: term[1] < 0):
        text += (" - " if c < 0 else " + ") + (f"{abs(c)} * " if abs(c) != 1 else "") + name
    if s.constant or not text:
        text += f" {'-' if s.constant < 0 else '+'} {abs(s.constant)}"
    return text.removeprefix(" + ").removeprefix(" ")


class Piece(Record):
    """Part of a partition: bounds by axis, and steps where it has some."""

    lower: list[g.Atom]
    upper: list[g.Atom]
    step: list[g.Atom]

    def part(self, axis: int, lower: g.Atom, upper: g.Atom, step: int = 0) -> Piece:
        """The part of this with other bounds along an axis, and another step if one is given."""
        new = Piece(list(self.lower), list(self.upper), list(self.step))
        new.lower[axis], new.upper[axis] = lower, upper
        if step:
            new.step[axis] = g.integer(step)
        return new


def has_gaps(p: g.Partition, axis: int) -> bool:
    """Whether a partition has single indices along an axis, a fixed number apart."""
    step, width = g.stride(p, axis)
    return step is not None and 2 <= step <= NARROW and width == 1


class Test(Record):
    """What is decided in a block, and may be certain for some indices around it: an operation or the condition of a
    check or a conditional. `strong`: it decides what is executed; `anywhere`: a cut far from both ends is worth it, as
    for a selected number, which may be an index that wraps around, too. `ranges`: the bounds of the indices of the
    loops around it, by name, outer ones first."""

    what: g.Op | g.Atom
    ranges: dict[str, tuple[g.Atom, g.Atom]]
    strong: bool = False
    anywhere: bool = False


def tests(b: g.Block, ranges: dict[str, tuple[g.Atom, g.Atom]] | None = None) -> Iterator[Test]:
    """The conditions in a block that decide something, its clamped ints and its remainders of ints, inner blocks
    included."""
    ranges = ranges or {}
    for s in b.statements:
        if isinstance(s, g.Check):
            yield Test(s.condition, ranges, True, True)
            continue
        rhs = s.rhs
        if isinstance(rhs, g.Op):
            if rhs.code == "select":
                yield Test(rhs.args[0], ranges, False, rhs.args[1].base == "int")
            elif rhs.code in DECIDED and rhs.args[0].base == "int":
                yield Test(rhs, ranges)
        elif isinstance(rhs, g.WithLoop):
            for p in rhs.partitions:
                yield from tests(p.body, ranges | {i.name: ends for i, ends in zip(p.index, zip(p.lower, p.upper))})
            for o in rhs.operators:
                if isinstance(o, g.Fold):
                    yield from tests(o.combine, ranges)
        elif isinstance(rhs, g.For):
            around = ranges | {rhs.index.name: (rhs.lower, rhs.upper)} if rhs.step > 0 else ranges
            yield from tests(rhs.body, around)
        else:
            if isinstance(rhs, g.If):
                yield Test(rhs.condition, ranges, True, True)
            for inner in g.blocks(rhs):
                yield from tests(inner, ranges)

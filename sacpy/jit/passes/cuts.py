"""What splitting cuts by: places along an axis, and what in a body asks for them.

In: a block. Out: its remainders, conditions and clamped ints. `Cuts` and `Piece` say where a partition is cut, and what
comes of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from sacpy.jit.analysis.facts import Sum
from sacpy.jit.ir.graph import (
    Atom,
    Block,
    Check,
    For,
    If,
    Let,
    Op,
    Partition,
    WithLoop,
    blocks,
    integer,
    statements,
    stride,
)
from sacpy.nodes import Record, field

NARROW = 8  # the width of a border


class Cuts(Record):
    """Where an axis is cut: `low` indices from its lower end and not below any of `lows`, `high` from its upper one and
    not above any of `highs`; or at one place in between. `spans`: what must not exceed a period, that the borders are
    at most one period off: with the divisor, from the least dividend at one index to the greatest, and how far
    dividends at the ends are below and above."""

    low: int = 0
    high: int = 0
    lows: list[Sum] = field(default_factory=list)
    highs: list[Sum] = field(default_factory=list)
    middle: Sum | None = None
    spans: list[tuple[Sum, Sum]] = field(default_factory=list)

    @property
    def borders(self) -> int:
        """How many pieces are cut off."""
        if self.middle is not None:
            return 1
        return bool(self.low or self.lows) + bool(self.high or self.highs)


class Piece(Record):
    """Part of a partition: bounds by axis, and steps where it has some."""

    lower: list[Atom]
    upper: list[Atom]
    step: list[Atom]

    def part(self, axis: int, lower: Atom, upper: Atom, step: int = 0) -> Piece:
        """The part of this with other bounds along an axis, and another step if one is given."""
        new = Piece(list(self.lower), list(self.upper), list(self.step))
        new.lower[axis], new.upper[axis] = lower, upper
        if step:
            new.step[axis] = integer(step)
        return new


def has_gaps(p: Partition, axis: int) -> bool:
    """Whether a partition has single indices along an axis, a fixed number apart."""
    step, width = stride(p, axis)
    return step is not None and 2 <= step <= NARROW and width == 1


def quotient(s: Sum, divisor: int) -> Sum | None:
    """A sum divided by a positive number, rounded down, where that is a sum."""
    if any(c % divisor for c in s.terms.values()):
        return None
    return Sum(s.constant // divisor, {n: c // divisor for n, c in s.terms.items()})


class Remainder(Record):
    """A remainder of an integer in a block; `ranges`: the bounds of the indices of the loops around it, by name."""

    op: Op
    ranges: dict[str, tuple[Atom, Atom]]


def remainders(b: Block, ranges: dict[str, tuple[Atom, Atom]] | None = None) -> Iterator[Remainder]:
    """The remainders of ints in a block, inner blocks included."""
    ranges = ranges or {}
    for s in b.statements:
        if not isinstance(s, Let):
            continue
        if isinstance(s.rhs, Op) and s.rhs.code in ("mod", "aplmod") and s.rhs.args[0].base == "int":
            yield Remainder(s.rhs, ranges)
        elif isinstance(s.rhs, WithLoop):
            for p in s.rhs.partitions:
                yield from remainders(
                    p.body, ranges | {i.name: (low, high) for i, low, high in zip(p.index, p.lower, p.upper)}
                )
        elif isinstance(s.rhs, For) and s.rhs.step > 0:
            yield from remainders(s.rhs.body, ranges | {s.rhs.index.name: (s.rhs.lower, s.rhs.upper)})
        else:
            for inner in blocks(s.rhs):
                yield from remainders(inner, ranges)


def conditions(b: Block) -> Iterator[tuple[Atom, bool, bool]]:
    """The conditions that decide something in a block, inner blocks included; whether they decide what is executed, and
    whether a cut anywhere is worth it: for a selected number, which may be an index that wraps around, too."""
    for s in b.statements:
        if isinstance(s, Check):
            yield s.condition, True, True
            continue
        if isinstance(s.rhs, If):
            yield s.rhs.condition, True, True
        elif isinstance(s.rhs, Op) and s.rhs.code == "select":
            yield s.rhs.args[0], False, s.rhs.args[1].base == "int"
        for inner in blocks(s.rhs):
            yield from conditions(inner)


def extremes(b: Block) -> Iterator[Op]:
    """The clamped ints in a block, inner blocks included."""
    for s in statements(b):
        if (
            isinstance(s, Let)
            and isinstance(s.rhs, Op)
            and s.rhs.code in ("min", "max")
            and s.rhs.args[0].base == "int"
        ):
            yield s.rhs

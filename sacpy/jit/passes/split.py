"""Splitting: a partition in whose body a condition on an index decides something becomes several, in each of which it is decided.

    part [0] <= [i] < [n]                 part [0] <= [i] < [a]           with a = min(1, n)
      c = lt i, 1                           x = load u[n - 1]
      k = select c, n - 1, i - 1    ->    part [a] <= [i] < [n]
      x = load u[k]                         x = load u[i - 1]

So the interior of a relaxation is free of the wrap-around at the border, and a concatenation runs over its parts one by one. Selections are worth it along the last axis only, which is the one that is vectorised, those of other values than ints near its ends only; conditionals and checks along any.
The pieces are disjoint; those at the border are at most a few indices wide. Folds are left alone: every partition counts its neutral.
"""

from __future__ import annotations

from collections.abc import Iterator

from sacpy.jit.graph import (
    Atom,
    Block,
    Check,
    Function,
    Genarray,
    If,
    Let,
    Modarray,
    Op,
    Partition,
    Unit,
    WithLoop,
    blocks,
    statements,
)
from sacpy.jit.passes.costs import size
from sacpy.jit.passes.facts import Sum
from sacpy.jit.passes.mappings import stands
from sacpy.jit.passes.ranges import Ranger
from sacpy.jit.passes.units import per_function
from sacpy.jit.rewrite import bound, copied
from sacpy.nodes import Record, replace

NARROW = 8  # the width of a border
CODE = 1500  # statements of all pieces together


class _Cuts(Record):
    """Where an axis is cut: `low` indices from its lower end, `high` from its upper one, and at one place in between."""

    low: int = 0
    high: int = 0
    middle: Sum | None = None

    def __bool__(self) -> bool:
        return bool(self.low or self.high or self.middle is not None)


class _Piece(Record):
    """Part of a partition: bounds by axis."""

    lower: list[Atom]
    upper: list[Atom]

    def part(self, axis: int, lower: Atom, upper: Atom) -> _Piece:
        """The part of this with other bounds along an axis."""
        new = _Piece(list(self.lower), list(self.upper))
        new.lower[axis], new.upper[axis] = lower, upper
        return new


class _Splitter(Ranger):
    def __init__(self, function: Function) -> None:
        super().__init__(function)
        self.changed = False

    def with_loop(self, w: WithLoop) -> WithLoop:
        w = super().with_loop(w)
        if stands(w) or w.frame is None or not all(isinstance(o, Genarray | Modarray) for o in w.operators):
            return w
        pieces: list[Partition] = []
        for p in w.partitions:
            pieces += self.split(p)
        if len(pieces) == len(w.partitions):
            return w
        self.changed = True
        return replace(w, partitions=tuple(pieces))

    def split(self, p: Partition) -> list[Partition]:
        """The pieces of a partition, itself if there is nothing to gain."""
        if p.step is not None or not p.rank:
            return [p]
        cuts = self.cuts(p)
        number = 1 + sum(bool(c.low) + bool(c.high) + (c.middle is not None) for c in cuts)
        if number == 1 or number * size(p.body) > CODE:
            return [p]
        boxes: list[_Piece] = []
        rest = _Piece(list(p.lower), list(p.upper))
        for axis, c in enumerate(cuts):
            if c:
                border, rest = self.sliced(rest, axis, c)
                boxes += border
        boxes.append(rest)
        found = []
        for k, box in enumerate(boxes):
            index, body = p.index, p.body
            if k < len(boxes) - 1:
                index = tuple(self.supply.var(i.name, i.type) for i in p.index)
                body = copied(p.body, {i.name: new for i, new in zip(p.index, index)}, self.supply)
            found.append(replace(p, lower=tuple(box.lower), upper=tuple(box.upper), index=index, body=body))
        return found

    def sliced(self, box: _Piece, axis: int, c: _Cuts) -> tuple[list[_Piece], _Piece]:
        """The border pieces of a box along an axis, and what is left."""
        lower, upper = box.lower[axis], box.upper[axis]
        border = []
        if c.middle is not None:
            place = self.emit("cut", Op("max", (self.emit("cut", Op("min", (self.atom_of(c.middle), upper))), lower)))
            return [box.part(axis, lower, place)], box.part(axis, place, upper)
        inner_lower, inner_upper = lower, upper
        if c.low:
            inner_lower = self.emit("cut", Op("min", (self.atom_of(self.form(lower).offset(c.low)), upper)))
            border.append(box.part(axis, lower, inner_lower))
        if c.high:
            inner_upper = self.emit("cut", Op("max", (self.atom_of(self.form(upper).offset(-c.high)), inner_lower)))
            border.append(box.part(axis, inner_upper, upper))
        return border, box.part(axis, inner_lower, inner_upper)

    # ---- where

    def cuts(self, p: Partition) -> list[_Cuts]:
        """Where the conditions in the body of a partition cut its axes."""
        found = [_Cuts() for _ in p.index]
        inside = bound(p.body)
        axes = {i.name: k for k, i in enumerate(p.index)}
        last = p.rank - 1
        decided = [(f, strong, anywhere and not equal) for condition, strong, anywhere in _conditions(p.body) for f, equal in self.comparisons(condition)]
        decided += [(self.form(op.args[1]) - self.form(op.args[0]), False, False) for op in _extremes(p.body)]
        for f, strong, anywhere in decided:
            names = [n for n in f.terms if n in axes]
            if len(names) != 1 or abs(f.terms[names[0]]) != 1 or any(n in inside for n in f.terms):
                continue
            axis, c = axes[names[0]], f.terms[names[0]]
            if not strong and axis != last:
                continue
            rest = Sum(f.constant, {n: k for n, k in f.terms.items() if n != names[0]})
            self.cut(found[axis], p.lower[axis], p.upper[axis], rest.times(-1) if c > 0 else rest.offset(1), anywhere)
        return found

    def cut(self, cuts: _Cuts, lower: Atom, upper: Atom, place: Sum, anywhere: bool) -> None:
        """Adds a cut, so that the indices below `place` get apart from the others; `anywhere`: also where that is not known to be near an end."""
        low, high = place - self.form(lower), self.form(upper) - place
        if self.at_most(self.form(upper) - self.form(lower), Sum(NARROW)) or self.at_most(low, Sum(0)) or self.at_most(high, Sum(0)):
            return
        if not low.terms and low.constant <= NARROW:
            cuts.low = max(cuts.low, low.constant)
        elif not high.terms and high.constant <= NARROW:
            cuts.high = max(cuts.high, high.constant)
        elif anywhere and cuts.middle is None and self.fits(place):
            cuts.middle = place

    def comparisons(self, condition: Atom) -> Iterator[tuple[Sum, bool]]:
        """The comparisons that a condition is made of, each as a sum that is at least 0 where it holds. An equality is two of them, which is noted: a cut at one that is near no end leaves the other undecided."""
        rhs = self.definition(condition)
        if not isinstance(rhs, Op):
            return
        if rhs.code in ("and", "or", "not"):
            for a in rhs.args:
                yield from self.comparisons(a)
        elif rhs.code in ("lt", "le") and rhs.args[0].base == "int":
            yield (self.form(rhs.args[1]) - self.form(rhs.args[0])).offset(-1 if rhs.code == "lt" else 0), False
        elif rhs.code in ("eq", "neq") and rhs.args[0].base == "int":
            d = self.form(rhs.args[1]) - self.form(rhs.args[0])
            yield d, True
            yield d.times(-1), True


def _conditions(b: Block) -> Iterator[tuple[Atom, bool, bool]]:
    """The conditions that decide something in a block, inner blocks included; whether they decide what is executed, and whether a cut anywhere is worth it: for a selected number, which may be an index that wraps around, too."""
    for s in b.statements:
        if isinstance(s, Check):
            yield s.condition, True, True
            continue
        if isinstance(s.rhs, If):
            yield s.rhs.condition, True, True
        elif isinstance(s.rhs, Op) and s.rhs.code == "select":
            yield s.rhs.args[0], False, s.rhs.args[1].base == "int"
        for inner in blocks(s.rhs):
            yield from _conditions(inner)


def _extremes(b: Block) -> Iterator[Op]:
    """The clamped ints in a block, inner blocks included."""
    for s in statements(b):
        if isinstance(s, Let) and isinstance(s.rhs, Op) and s.rhs.code in ("min", "max") and s.rhs.args[0].base == "int":
            yield s.rhs


def split(function: Function) -> Function:
    """A function with its partitions split; itself if there is nothing to split."""
    if not any(isinstance(s, Let) and isinstance(s.rhs, WithLoop) for s in statements(function.body)):
        return function
    splitter = _Splitter(function)
    new = splitter.function(function)
    return new if splitter.changed else function


def run(unit: Unit) -> Unit:
    """A unit with its partitions split."""
    return per_function(unit, split)

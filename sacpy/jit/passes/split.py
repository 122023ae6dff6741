"""Splitting: a partition in whose body a condition on an index decides something becomes several, in each of which it
is decided.

    part [0] <= [i] < [n]                 part [0] <= [i] < [a]           with a = min(1, n)
      c = lt i, 1                           x = load u[n - 1]
      k = select c, n - 1, i - 1    ->    part [a] <= [i] < [n]
      x = load u[k]                         x = load u[i - 1]

So the interior of a relaxation is free of the wrap-around at the border, and a concatenation runs over its parts one by
one. Selections are worth it along the last axis only, which is the one that is vectorised, those of other values than
ints near its ends only; conditionals and checks along any.

A remainder cuts where it stops being its dividend (for the CPU):

    part [0] <= [i] < [n]                 part [0] <= [i] < [a]           with a = min(h, n)
      s = with fold(add)                    as on the left
        part [0] <= [k] < [m]             part [b] <= [i] < [n]           with b = max(min(n - m + h + 1, n), a)
          x = load u[(i + k - h) mod n] ->  as on the left
          yield x                         part [a] <= [i] < [b]
      yield s                               s = with fold(add)
                                              part [0] <= [k] < [m]
                                                x = load u[i + k - h]
                                                yield x
                                            yield s

There the indices of inner loops count with their bounds, which may be known only when it runs: the ends of the interior
are clamped to the partition. So a window that wraps around, of whatever extents, reads its elements in order. Along
other axes than the last this is worth it in an inner loop, or where it is not known that there is something to divide
by; the borders of these axes are cut along the last one too, as they may be long.

Conditions on an index times a number, or divided by one, cut as well for the CPU, such as those of the wrap-around of
`2 * i - 1` or `(i + 1) / 2`.

A partition that steps is split at its ends only, for the CPU; its pieces go on where it would have.

The pieces are disjoint; those at the border are at most a few indices wide. Folds are left alone: every partition
counts its neutral.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

from sacpy.jit.analysis.costs import size
from sacpy.jit.analysis.facts import Sum
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import again
from sacpy.jit.passes.cuts import NARROW, Cuts, Piece, has_gaps, in_words, tests
from sacpy.jit.passes.mappings import stands
from sacpy.jit.passes.ranges import Ranges
from sacpy.jit.passes.simplify import Simplifier
from sacpy.jit.passes.units import per_function
from sacpy.nodes import replace

if TYPE_CHECKING:
    from sacpy.jit.passes.borders import Borders

CODE = 1500  # statements of all pieces together
EACH = 100  # of a body for each test that a cut decides: where there are more, what it costs is lost among them


class Splitter:
    """Splits partitions on a walk that knows ranges. `wraps`: at the ends of what remainders leave alone too;
    `changed`: whether it has."""

    def __init__(self, function: g.Function, wraps: bool) -> None:
        self.known = Ranges(Simplifier(function))
        self.walk = self.known.walk
        self.walk.take_over(with_loop=self.with_loop)
        self.wraps = wraps
        self.changed = False
        self.cuts: list[str] = []  # what was cut and where, in words

    @cached_property
    def borders(self) -> Borders:
        """What finds where partitions are cut."""
        from sacpy.jit.passes.borders import Borders  # only where something is tested

        return Borders(self.known, self.wraps)

    def with_loop(self, w: g.WithLoop) -> g.WithLoop:
        w = self.known.with_loop(w)
        if stands(w) or w.frame is None or not all(isinstance(o, g.Genarray | g.Modarray) for o in w.operators):
            return w
        pieces: list[g.Partition] = []
        for p in w.partitions:
            pieces += self.split(p)
        if len(pieces) == len(w.partitions):
            return w
        self.changed = True
        return replace(w, partitions=tuple(pieces))

    def split(self, p: g.Partition) -> list[g.Partition]:
        """The pieces of a partition, itself if there is nothing to gain; the interior last. `across`: borders of other
        axes are cut along the last one too."""
        if (p.step is not None and not self.wraps) or not p.rank or next(tests(p.body), None) is None:
            return [p]
        cuts = self.borders.where(p)
        if p.step is not None:
            cuts = [Cuts(c.low, c.high, tests=c.tests) if has_gaps(p, axis) else Cuts() for axis, c in enumerate(cuts)]
        *outer, last = (c.borders for c in cuts)
        if not last and not any(outer):
            return [p]
        code = size(p.body)
        if code > EACH * sum(c.tests for c in cuts):
            return [p]
        along = self.wraps and bool(cuts[-1].lows or cuts[-1].highs)  # on a device, each piece is a launch
        across = along and (1 + sum(outer)) * (1 + last) * code <= CODE
        if not across and (1 + sum(outer) + last) * code > CODE:
            return [p]
        boxes: list[Piece] = []
        rest = Piece(list(p.lower), list(p.upper), list(p.step or ()))
        spans = [s for c in cuts for s in c.spans]
        if spans:
            start = self.walk.op("start", "select", self.any_longer(spans), p.upper[0], p.lower[0])
            if start != p.lower[0]:
                boxes.append(rest.part(0, p.lower[0], start))
                rest = rest.part(0, start, p.upper[0])
        for axis, c in enumerate(cuts):
            if not c.borders:
                continue
            if across and axis == p.rank - 1:
                boxes = boxes[: bool(spans)] + [
                    piece
                    for box in boxes[bool(spans) :]
                    for border, inner in (self.sliced(box, axis, c),)
                    for piece in (*border, inner)
                ]
            border, rest = self.sliced(rest, axis, c)
            boxes += border
        boxes.append(rest)
        found = []
        for k, box in enumerate(boxes):
            part = again(p, self.walk.supply) if k < len(boxes) - 1 else p
            step = p.step and tuple(box.step)
            found.append(replace(part, lower=tuple(box.lower), upper=tuple(box.upper), step=step))
        self.cuts.append(f"line {p.span.line}: {len(found)} partitions instead of one, cut {in_words(p, cuts)}")
        return found

    def any_longer(self, spans: list[tuple[Sum, Sum]]) -> g.Atom:
        """Whether something is longer than its period."""
        found: g.Atom = g.FALSE
        for span, period in spans:
            number = self.known.atom_of if self.known.fits(period) and self.known.fits(span) else self.known.long_of
            found = self.walk.op("small", "or", found, self.walk.op("small", "lt", number(period), number(span)))
        return found

    def sliced(self, box: Piece, axis: int, c: Cuts) -> tuple[list[Piece], Piece]:
        """The border pieces of a box along an axis, and what is left."""
        lower, upper = box.lower[axis], box.upper[axis]
        border = []
        if c.middle is not None:
            place = self.walk.op("cut", "max", self.walk.op("cut", "min", self.known.atom_of(c.middle), upper), lower)
            return [box.part(axis, lower, place)], box.part(axis, place, upper)
        if box.step:
            return self.stepped(box, axis, c)
        inner_lower, inner_upper = lower, upper
        if c.low or c.lows:
            inner_lower = self.extreme("max", [self.known.form(lower).offset(c.low), *c.lows], "min", upper)
            border.append(box.part(axis, lower, inner_lower))
        if c.high or c.highs:
            inner_upper = self.extreme("min", [self.known.form(upper).offset(-c.high), *c.highs], "max", inner_lower)
            border.append(box.part(axis, inner_upper, upper))
        return border, box.part(axis, inner_lower, inner_upper)

    def stepped(self, box: Piece, axis: int, c: Cuts) -> tuple[list[Piece], Piece]:
        """As `sliced`, for a box that steps along the axis: of its indices the first few, the last few, and those
        between. Where one of these borders has one index at most, its step gets so long that this can be seen."""
        lower, upper, by = box.lower[axis], box.upper[axis], box.step[axis]
        assert isinstance(by, g.Const)
        step = int(by.value)
        border = []
        inner_lower, inner_upper = lower, upper
        if c.low:
            end = self.extreme("max", [self.known.form(lower).offset(c.low)], "min", upper)
            border.append(box.part(axis, lower, end, 0 if c.low > step else step * NARROW))
            inner_lower = self.extreme("max", [self.known.form(lower).offset(-(-c.low // step) * step)], "min", upper)
        if c.high:
            inner_upper = self.extreme("min", [self.known.form(upper).offset(-c.high)], "max", inner_lower)
            away = self.walk.op("away", "aplmod", self.walk.op("away", "sub", lower, inner_upper), by)
            begin = self.walk.op("cut", "min", self.walk.op("begin", "add", inner_upper, away), upper)
            border.append(box.part(axis, begin, upper, 0 if c.high > step else step * NARROW))
        return border, box.part(axis, inner_lower, inner_upper)

    def extreme(self, code: str, places: list[Sum], clamp: str, bound: g.Atom) -> g.Atom:
        """The least or greatest of places, clamped to a bound; in 64 bits if one of them may not be an int."""
        if all(map(self.known.fits, places)):
            return self.walk.op("cut", clamp, self.greatest(code, [self.known.atom_of(s) for s in places]), bound)
        found = self.greatest(code, [self.known.long_of(s) for s in places])
        return self.walk.op("cut", "toi", self.walk.op("cut", clamp, found, self.walk.op("long", "tol", bound)))

    def greatest(self, code: str, atoms: list[g.Atom]) -> g.Atom:
        """The greatest of some numbers, or the least, as `code` says."""
        found, *others = atoms
        for a in others:
            found = self.walk.op("cut", code, found, a)
        return found


def split(function: g.Function, wraps: bool, told: list[str] | None = None) -> g.Function:
    """A function with its partitions split; itself if there is nothing to split. `told` gets what was cut, in words."""
    if not any(isinstance(s, g.Let) and isinstance(s.rhs, g.WithLoop) for s in g.statements(function.body)):
        return function
    splitter = Splitter(function, wraps)
    new = splitter.walk.function(function)
    if told is not None:
        told += splitter.cuts
    return new if splitter.changed else function


def run(unit: g.Unit) -> g.Unit:
    """A unit with its partitions split."""
    return _told(unit, wraps=False)


def run_wrapping(unit: g.Unit) -> g.Unit:
    """A unit with its partitions split, at the ends of what remainders leave alone too."""
    return _told(unit, wraps=True)


def _told(unit: g.Unit, wraps: bool) -> g.Unit:
    """A unit with its partitions split, and with the words for it."""
    told: list[str] = []
    unit = per_function(unit, partial(split, wraps=wraps, told=told))
    return replace(unit, cuts=tuple(dict.fromkeys((*unit.cuts, *told)))) if told else unit

"""Peeling, for the CPU: a loop that changes an array in place, and reads it where indices wrap, becomes three, one
after the other, of which the second does not wrap.

    b = for j from 0 to n step 1 with a := u           c = for j from 0 to 1 step 1 with a := u
      k = sub j, 1                                       as on the left
      c = lt k, 0                                      d = for j from 1 to n step 1 with a := c
      l = select c, k + n, k                   ->        x = load a[j - 1]
      x = load a[l]                                      e = update a[j] with x
      d = update a[j] with x                             next e
      next d

Such loops can only be run in order; of others the partitions that they become are split (`split`). The ends of the loop
are cut so that its bounds need not be known; steps go on where they would have. What is decided may be conditions, too,
one inside the other, as where a block of a table begins with what its neighbours end with; and the loop may be around
others: then each of its parts has those of the inner one.
"""

from __future__ import annotations

from sacpy.jit.analysis.costs import size
from sacpy.jit.analysis.facts import Sum
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import bound, copied
from sacpy.jit.passes.cuts import NARROW, tests
from sacpy.jit.passes.ranges import Ranges
from sacpy.jit.passes.simplify import Simplifier
from sacpy.jit.passes.split import CODE
from sacpy.jit.passes.summing import ZERO
from sacpy.jit.passes.units import wherever
from sacpy.nodes import replace


class _Peeler:
    def __init__(self, function: g.Function) -> None:
        from sacpy.jit.passes.borders import Borders  # few functions have such loops

        self.known = Ranges(Simplifier(function))
        self.walk = self.known.walk
        self.walk.take_over(rhs=self.rhs)
        self.borders = Borders(self.known, wraps=True)
        self.changed = False

    def rhs(self, r: g.Rhs) -> g.Rhs:
        new = self.known.rhs(r)
        return self.peeled(new) if isinstance(new, g.For) and _is_sweep(new) else new

    def peeled(self, r: g.For) -> g.For:
        """The last of the loops that one becomes, one after the other, so that indices do not wrap in the second;
        itself if there is nothing to gain."""
        lower, upper = self.known.form(r.lower), self.known.form(r.upper)
        if not (
            self.known.at_most(ZERO, lower)
            and self.known.fits(lower.offset(2 * NARROW))
            and self.known.fits(upper.offset(2 * NARROW))
            and self.known.fits(upper.offset(-NARROW))
        ):
            return r
        low, high = self.ends(r, lower, upper)
        if (not low and not high) or (1 + bool(low) + bool(high)) * size(r.body) > CODE:
            return r
        self.changed = True
        begin, end = r.lower, r.upper
        if low:
            begin = self.walk.op("cut", "min", self.known.atom_of(lower.offset(-(-low // r.step) * r.step)), r.upper)
            r = self.ahead(r, begin)
        if high:
            end = self.walk.op("cut", "max", self.known.atom_of(upper.offset(-high)), begin)
            r = self.ahead(r, end)
            if r.step > 1:
                away = self.walk.op("away", "aplmod", self.walk.op("away", "sub", begin, end), g.integer(r.step))
                r = replace(r, lower=self.walk.op("cut", "add", end, away))
        return r

    def ends(self, r: g.For, lower: Sum, upper: Sum) -> tuple[int, int]:
        """How many indices at the lower and at the upper end of a loop have to be apart, that selections of indices are
        decided for the others."""
        low = high = 0
        inside = bound(r.body)

        for test in tests(r.body):
            if isinstance(test.what, g.Op) or not test.anywhere:
                continue
            for f, _ in self.borders.comparisons(test.what):
                c = f.terms.get(r.index.name, 0)
                if abs(c) != 1 or any(n in inside for n in f.terms):
                    continue
                rest = f.plus(Sum(0, {r.index.name: 1}), -c)
                place = self.borders.now(rest.times(-1) if c > 0 else rest.offset(1))
                below, above = (
                    self.known.facts.greatest(place - self.borders.now(lower)),
                    self.known.facts.greatest(self.borders.now(upper) - place),
                )
                if 0 < below <= NARROW:
                    low = max(low, below)
                elif 0 < above <= NARROW:
                    high = max(high, above)
        return low, high

    def ahead(self, r: g.For, end: g.Atom) -> g.For:
        """Writes a loop up to an index; gives what is left of it."""
        index = self.walk.supply.var(r.index.name, r.index.type)
        params = tuple(self.walk.supply.var(p.name, p.type) for p in r.params)
        body = copied(
            r.body, {old.name: new for old, new in zip((r.index, *r.params), (index, *params))}, self.walk.supply
        )
        results = tuple(self.walk.supply.var(p.name, p.type) for p in r.params)
        self.walk.define(results, replace(r, index=index, upper=end, params=params, body=body))
        return replace(r, lower=end, initial=results)


def _is_sweep(r: g.For) -> bool:
    """Whether a loop changes arrays element by element, and reads them elsewhere too, so that it can only be run in
    order; others become with-loops, or are left to the passes that look for such."""
    names = {p.name for p in r.params}
    if (
        not 1 <= r.step <= NARROW
        or r.few
        or any(isinstance(e, g.Var) and e.name in names for p in r.params for e in g.extents_of(p))
    ):
        return False
    if not _is_plain(r.body, True):
        return False
    lets = [s for s in g.statements(r.body) if isinstance(s, g.Let)]
    names |= {p.name for s in lets if isinstance(s.rhs, g.For) for p in s.rhs.params}
    changed = {s.rhs.array.name: s.rhs.index for s in lets if isinstance(s.rhs, g.Update)}
    return any(
        isinstance(s.rhs, g.Load)
        and s.rhs.array.name in names
        and changed.get(s.rhs.array.name, s.rhs.index) != s.rhs.index
        for s in lets
    )


def _is_plain(b: g.Block, changes: bool) -> bool:
    """Whether a block reads and changes elements, if it `changes` any, in loops and under conditions."""
    for s in b.statements:
        match s.rhs if isinstance(s, g.Let) else None:
            case g.Op() | g.Load():
                pass
            case g.Update(value=value) if changes and isinstance(value.type, g.ScalarType):
                pass
            case g.If(then=then, otherwise=otherwise) if _is_plain(then, False) and _is_plain(otherwise, False):
                pass
            case g.For(body=body, step=step, few=few) if changes and step == 1 and not few and _is_plain(body, True):
                pass
            case _:
                return False
    return True


@wherever(lambda r: isinstance(r, g.For) and _is_sweep(r))
def run(function: g.Function) -> g.Function:
    """A unit with the ends of its loops peeled off."""
    peeler = _Peeler(function)
    new = peeler.walk.function(function)
    return new if peeler.changed else function

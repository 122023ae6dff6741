"""Variables of base "int" as sums of others, and code for sums.

What `ranges` reasons with: each operation that adds, and does not wrap, is the sum of its operands' sums; of one that
may wrap it is kept what it would be (`wrapped`), until a fact excludes that it did. Sums of ints in 64 bits do not
wrap.
"""

from __future__ import annotations

from collections.abc import Iterable

from sacpy.jit.analysis.costs import size
from sacpy.jit.analysis.facts import HIGHEST, LOWEST, Facts, Sum
from sacpy.jit.ir.graph import Atom, Const, Var, integer
from sacpy.jit.passes.simplify import Simplifier

ZERO = Sum(0)
MODERATE = 1 << 30


def is_moderate(s: Sum) -> bool:
    """Whether a sum of variables of base "int", and each part of it, certainly fits 64 bits."""
    return abs(s.constant) >> 31 < MODERATE and sum(map(abs, s.terms.values())) < MODERATE


class Known:
    """What is known of ints on a walk, which passes hold. `walk`: the simplifier that walks; `forms`: the sums that
    variables are, themselves where there is no entry; `facts`: what is known of the variables in them."""

    def __init__(self, walk: Simplifier) -> None:
        self.walk = walk
        self.facts = Facts(walk.note, size(walk.source.body))
        self.forms: dict[str, Sum] = {}
        self.variables: dict[str, Var] = {}
        self.wrapped: dict[str, Sum | None] = {}  # what a variable is, unless that wrapped
        self.extents: set[str] = set()  # of arrays: what is known of them here must not become part of types

    def form(self, a: Atom) -> Sum:
        """An atom of base "int" as a sum of variables."""
        a = self.walk.atom(a)
        if isinstance(a, Const):
            return Sum(int(a.value))
        found = self.forms.get(a.name)
        if found is None:
            self.variables.setdefault(a.name, a)
            return self.facts.variable(a.name)
        return found

    def at_most(self, a: Sum, b: Sum) -> bool:
        """Whether a <= b certainly holds."""
        return self.facts.holds(b - a)

    def fits(self, s: Sum) -> bool:
        """Whether a sum is certainly an int."""
        facts = self.facts
        return (facts.least(s) >= LOWEST or facts.holds(s.offset(-LOWEST))) and (
            facts.greatest(s) <= HIGHEST or facts.holds(Sum(HIGHEST) - s)
        )

    def learn(self, s: Sum) -> None:
        """Notes that a sum is at least 0, and what follows."""
        self.settle(dict.fromkeys((*s.terms, *self.facts.learn(s))))

    def settle(self, names: Iterable[str]) -> None:
        """Notes what follows for variables from the intervals that they are in."""
        for name in names:
            known = self.facts.low[name] == self.facts.high[name] and name in self.variables
            if known and name not in self.extents:
                self.walk.note(self.walk.env, name, integer(self.facts.low[name]))
            whole = self.wrapped.get(name)
            # A value that is not negative, of a sum that cannot go below the least int nor over twice the greatest, did
            # not wrap.
            if (
                whole is not None
                and self.facts.low[name] >= 0
                and self.facts.least(whole) >= LOWEST
                and self.facts.greatest(whole) <= HIGHEST - 2 * LOWEST + LOWEST - 1
            ):
                self.walk.note(self.wrapped, name, None)
                self.facts.equal(Sum(0, {name: 1}), whole)

    def learn_order(self, a: Atom, b: Atom, distance: int = 0) -> None:
        """Notes that a + distance <= b."""
        self.learn((self.form(b) - self.form(a)).offset(-distance))

    def atom_of(self, s: Sum) -> Atom:
        """Code that computes a sum, which fits."""
        found: Atom | None = None
        for name, c in sorted(s.terms.items(), key=lambda item: item[1] < 0):
            v = self.walk.atom(self.variables[name])
            if abs(c) != 1:
                v = self.walk.op("sum", "mul", v, integer(abs(c)))
            if found is None:
                found = v if c > 0 else self.walk.op("sum", "neg", v)
            else:
                found = self.walk.op("sum", "add" if c > 0 else "sub", found, v)
        if found is None:
            return integer(s.constant)
        return self.walk.op("sum", "add", found, integer(s.constant)) if s.constant else found

    def long_of(self, s: Sum) -> Atom:
        """Code that computes a moderate sum in 64 bits."""
        found: Atom = Const("long", s.constant)
        for name, c in s.terms.items():
            v = self.walk.op("long", "tol", self.walk.atom(self.variables[name]))
            if c != 1:
                v = self.walk.op("long", "mul", v, Const("long", c))
            found = self.walk.op("long", "add", found, v)
        return found

    def long_form(self, a: Atom) -> Sum | None:
        """An atom of base "long" as a sum of variables of base "int", if it is known to be one."""
        a = self.walk.atom(a)
        return Sum(int(a.value)) if isinstance(a, Const) else self.forms.get(a.name)

    def value(self, a: Atom) -> Sum:
        """The sum that an atom is under the present facts, which may exclude that it wrapped."""
        found = self.form(a)
        name = found.variable
        whole = self.wrapped.get(name) if name is not None else None
        return whole if whole is not None and self.fits(whole) else found

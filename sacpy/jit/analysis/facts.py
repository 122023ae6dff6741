"""What is known about integers: intervals, and inequalities between sums of variables with integer coefficients.

In: facts (`i - lower >= 0`). Out: proofs (`n - i - 1 >= 0` holds). Numbers here are mathematical; whoever makes a `Sum`
of an operation has shown that it does not wrap. A proof eliminates variables, the youngest first, by facts about them
(Fourier and Motzkin's elimination, goal-directed), until intervals decide. It may miss what holds; it gives up after a
fixed number of steps.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

from sacpy.nodes import Node, field

LOWEST, HIGHEST = -(1 << 31), (1 << 31) - 1
STEPS = 60  # of one proof
FEW = 3
# statements of a function from which on proofs have fewer steps: all of them together take as long as before
LARGE = 250
NEWS = 8  # smaller intervals of which the consequences are drawn
USERS = 32  # variables chosen from one whose interval has become smaller: the youngest so many are looked at

Note = Callable[[dict[Any, Any], Any, Any], None]


class Sum(Node):
    """`constant` plus the variables times their coefficients, none of which is 0."""

    constant: int
    terms: dict[str, int] = field(default_factory=dict)

    def __add__(self, other: Sum) -> Sum:
        return self.plus(other, 1)

    def __sub__(self, other: Sum) -> Sum:
        return self.plus(other, -1)

    def plus(self, other: Sum, factor: int) -> Sum:
        """The sum and a multiple of another."""
        if not other.terms:
            return Sum(self.constant + factor * other.constant, self.terms)
        terms = dict(self.terms)
        for name, c in other.terms.items():
            new = terms.get(name, 0) + factor * c
            if new:
                terms[name] = new
            else:
                terms.pop(name, None)
        return Sum(self.constant + factor * other.constant, terms)

    def times(self, factor: int) -> Sum:
        """The sum times a number."""
        return Sum(self.constant * factor, {name: c * factor for name, c in self.terms.items()}) if factor else Sum(0)

    def mixed(self, factor: int, other: Sum, by: int, constant: int) -> Sum:
        """Multiples of two sums, neither of them 0, and a number."""
        terms = {name: c * factor for name, c in self.terms.items()} if factor != 1 else dict(self.terms)
        for name, c in other.terms.items():
            new = terms.get(name, 0) + by * c
            if new:
                terms[name] = new
            else:
                del terms[name]
        return Sum(self.constant * factor + by * other.constant + constant, terms)

    def offset(self, constant: int) -> Sum:
        """The sum plus a number."""
        return Sum(self.constant + constant, self.terms)

    @property
    def variable(self) -> str | None:
        """The variable that this is, if it is one."""
        if self.constant == 0 and len(self.terms) == 1:
            ((name, c),) = self.terms.items()
            return name if c == 1 else None
        return None


def product(a: Sum, b: Sum) -> Sum | None:
    """The product of two sums, if one is a number."""
    return a.times(b.constant) if not b.terms else b.times(a.constant) if not a.terms else None


class Facts:
    """Facts by the youngest variable in them. All changes go through `note`, which undoes them at the end of a
    scope."""

    def __init__(self, note: Note, size: int = 0) -> None:
        """`size`: the statements of the function that they are about."""
        self.note = note
        self._most = max(FEW, min(STEPS, STEPS * LARGE // max(size, 1)))
        self.low: dict[str, int] = {}
        self.high: dict[str, int] = {}
        self.about: dict[str, tuple[Sum, ...]] = {}
        self.choices: dict[str, tuple[Sum, Sum]] = {}
        self._codes: dict[str, str] = {}
        self._users: dict[str, list[str]] = {}
        self._age: dict[str, int] = {}
        self._steps = 0

    def variable(self, name: str, low: int = LOWEST, high: int = HIGHEST) -> Sum:
        """A variable as a sum, with the interval it lies in if it is new."""
        if name not in self._age:
            self._age[name] = len(self._age)
            self.low[name] = low
            self.high[name] = high
        elif self.low[name] == self.high[name]:
            return Sum(self.low[name])
        return Sum(0, {name: 1})

    # ---- intervals

    def least(self, s: Sum) -> int:
        """A lower bound by intervals alone."""
        total = s.constant
        for name, c in s.terms.items():
            total += c * (self.low[name] if c > 0 else self.high[name])
        return total

    def greatest(self, s: Sum) -> int:
        """An upper bound by intervals alone."""
        total = s.constant
        for name, c in s.terms.items():
            total += c * (self.high[name] if c > 0 else self.low[name])
        return total

    # ---- learning

    def learn(self, s: Sum) -> list[str]:
        """Notes that a sum is at least 0, and what follows for the intervals of its variables and of others. Which
        variables have smaller ones now."""
        if not s.terms:
            return []
        narrowed = self._narrow(s)
        for name in islice(narrowed, NEWS):  # which becomes longer
            for fact in self.about.get(name, ()):
                narrowed += self._narrow(fact)
            for user in self._users.get(name, ())[-USERS:]:
                narrowed += self._hull(user)
        if len(s.terms) > 1:
            youngest = max(s.terms, key=self._age.__getitem__)
            known = self.about.get(youngest, ())
            if s not in known:
                self.note(self.about, youngest, (*known, s))
        return narrowed

    def choose(self, name: str, code: str, cases: tuple[Sum, Sum]) -> list[str]:
        """Notes that a variable is the least ("min"), the greatest ("max") or either ("select") of two sums, which are
        older. As for `learn`."""
        self.choices[name] = cases
        self._codes[name] = code
        for operand in {n for c in cases for n in c.terms}:
            self._users.setdefault(operand, []).append(name)
        return self._hull(name)

    def _hull(self, name: str) -> list[str]:
        """What the intervals of the sums that a variable is chosen from say of its own: its name, if it has a smaller
        one now."""
        code, cases = self._codes[name], self.choices[name]
        least, greatest = [self.least(c) for c in cases], [self.greatest(c) for c in cases]
        low, high = (
            (max(least), max(greatest))
            if code == "max"
            else (min(least), min(greatest) if code == "min" else max(greatest))
        )
        return self._narrow(Sum(-low, {name: 1})) + self._narrow(Sum(high, {name: -1}))

    def _narrow(self, s: Sum) -> list[str]:
        """What a sum that is at least 0 says of the intervals of its variables: those that it makes smaller."""
        slack = self.greatest(s)
        return [name for name, c in s.terms.items() if self._tighten(name, c, slack)]

    def _tighten(self, name: str, c: int, slack: int) -> bool:
        """From `sum >= 0`, whose greatest value is `slack`: how far a variable may be from its good end. Whether that
        is news."""
        room = slack // abs(c) if slack >= 0 else 0  # below 0: the code is never reached
        if c > 0:
            bound = self.high[name] - room
            if bound > self.low[name]:
                self.note(self.low, name, bound)
                return True
        else:
            bound = self.low[name] + room
            if bound < self.high[name]:
                self.note(self.high, name, bound)
                return True
        return False

    def equal(self, a: Sum, b: Sum) -> None:
        """Notes that two sums are equal."""
        self.learn(a - b)
        self.learn(b - a)

    # ---- proving

    def holds(self, s: Sum) -> bool:
        """Whether a sum is certainly at least 0."""
        if self.least(s) >= 0:
            return True
        if not s.terms:
            return False
        self._steps = self._most
        return self._proved(s)

    def _proved(self, s: Sum) -> bool:
        low, high, terms = self.low, self.high, s.terms
        least = greatest = s.constant
        for name, c in terms.items():
            if c > 0:
                least += c * low[name]
                greatest += c * high[name]
            else:
                least += c * high[name]
                greatest += c * low[name]
        if least >= 0:
            return True
        if not terms or self._steps <= 0 or greatest < 0:
            return False
        self._steps -= 1
        name = max(terms, key=self._age.__getitem__)
        c = terms[name]
        for fact in self.about.get(name, ()):
            d = fact.terms[name]
            # a multiple of d that is above -d is not below 0
            if (c > 0) == (d > 0) and self._proved(s.mixed(abs(d), fact, -abs(c), abs(d) - 1)):
                return True
        rest = Sum(s.constant, {n: k for n, k in terms.items() if n != name})
        cases = self.choices.get(name)
        if cases is not None and all(self._proved(rest.plus(case, c)) for case in cases):
            return True
        return bool(rest.terms) and self._proved(rest.offset(c * (low[name] if c > 0 else high[name])))

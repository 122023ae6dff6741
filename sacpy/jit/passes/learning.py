"""What ints are known to be: from the conditions that hold, and from the operations that make them.

In: conditions that are assumed or decided, variables that are set. Out: sums and facts, for `ranges` to decide things
with.

What a selection, a quotient or a remainder is follows from its operands in all cases; what it lies below, from what
holds in each case.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sacpy.jit.analysis.certain import quotient
from sacpy.jit.analysis.facts import HIGHEST, LOWEST, Facts, Sum, product
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.operations import PLACES
from sacpy.jit.passes.simplify import Simplifier
from sacpy.jit.passes.summing import ZERO, Known, is_moderate
from sacpy.lang.source import Span
from sacpy.lang.types import BITS, SIGNED

if TYPE_CHECKING:
    from sacpy.jit.analysis.carried_ints import Change

LONG = g.ScalarType("long")
LONG_RANGE = (-(1 << 63), (1 << 63) - 1)
COMPARISONS = frozenset({"lt", "le", "eq", "neq"})


class Learned(Known):
    """What is known of variables of base "int", from what the walk comes past."""

    def __init__(self, walk: Simplifier) -> None:
        super().__init__(walk)
        # by the name of their disjunction: conditions of which one holds
        self.either: dict[str, tuple[g.Atom, ...] | None] = {}
        self.asked: dict[tuple[g.Atom, ...], g.Var] = {}  # rows, by what is asked for them

    # ---- conditions

    def assume(self, condition: g.Atom, holds: bool) -> None:
        rhs = self.walk.definition(condition)
        sides = self.compared(rhs)  # before one becomes the other, since older sums are of both
        Simplifier.assume(self.walk, condition, holds)
        if holds and isinstance(rhs, g.Op) and rhs.code == "or" and isinstance(condition, g.Var):
            self.walk.note(self.either, condition.name, rhs.args)
        if sides is None or not isinstance(rhs, g.Op):
            return
        up, down = sides[1] - sides[0], sides[0] - sides[1]
        match rhs.code, holds:
            case ("lt", True):
                self.learn(up.offset(-1))
            case ("lt", False):
                self.learn(down)
            case ("le", True):
                self.learn(up)
            case ("le", False):
                self.learn(down.offset(-1))
            case ("eq", True) | ("neq", False):
                self.learn(up)
                self.learn(down)
            case _:
                self._learn_different(*sides)

    def compared(self, rhs: g.Rhs | None) -> tuple[Sum, Sum] | None:
        """What a comparison of ints compares, or one of sums of ints in 64 bits."""
        if not isinstance(rhs, g.Op) or rhs.code not in COMPARISONS:
            return None
        if rhs.args[0].base == "int":
            return self.form(rhs.args[0]), self.form(rhs.args[1])
        if rhs.args[0].base != "long":
            return None
        a, b = map(self.long_form, rhs.args)
        return None if a is None or b is None else (a, b)

    def _learn_different(self, a: Sum, b: Sum) -> None:
        if self.at_most(a, b):
            self.learn((b - a).offset(-1))
        elif self.at_most(b, a):
            self.learn((a - b).offset(-1))

    # ---- what a new variable is

    def _define_once(self, targets: tuple[g.Var, ...], rhs: g.Rhs, span: Span) -> None:
        Simplifier._define_once(self.walk, targets, rhs, span)
        target = targets[0]
        if isinstance(rhs, g.Op) and target.name in self.walk.definitions:
            if target.type == g.INT:
                self._describe(target, rhs)
            elif target.type == LONG:
                self._describe_long(target, rhs)

    def _define_rounds(self, targets: tuple[g.Var, ...], r: g.For | g.Loop, span: Span) -> None:
        Simplifier._define_rounds(self.walk, targets, r, span)
        if isinstance(r, g.Loop):
            return
        carried = changes_of(r)
        for t, p, first in zip(targets, r.params, r.initial):
            if p.name in carried:
                self.learn_carried(t, first, carried[p.name], r.step, (r.lower, r.upper, None))

    def learn_carried(
        self, v: g.Var, first: g.Atom, change: Change, step: int, bounds: tuple[g.Atom, g.Atom, g.Atom | None]
    ) -> None:
        """What a carried int is in a round, or behind the loop, which `bounds` has no counter of."""
        lower, upper, counter = bounds
        if abs(step) != 1:
            return
        start, (low, high) = self.form(first), change
        rounds = (self.form(upper) - self.form(lower)).times(step)
        if not all(self.fits(start + rounds.times(by)) for by in change if by):
            return  # it might wrap
        before = rounds if counter is None else (self.form(counter) - self.form(lower)).times(step)
        certain = counter is not None or self.at_most(ZERO, rounds)
        if certain or low == 0:
            self.learn(self.form(v) - start - before.times(low))
        elif low > 0:
            self.learn(self.form(v) - start)
        if certain or high == 0:
            self.learn(start + before.times(high) - self.form(v))

    def _describe_long(self, target: g.Var, op: g.Op) -> None:
        """In 64 bits, sums of ints do not wrap."""
        parts = [self.form(a) if a.base == "int" else self.long_form(a) if a.base == "long" else None for a in op.args]
        match op.code, parts:
            case ("tol", [Sum() as a]):
                total: Sum | None = a
            case ("neg", [Sum() as a]):
                total = a.times(-1)
            case ("add" | "sub", [Sum() as a, Sum() as b]):
                total = a + b if op.code == "add" else a - b
            case ("mul", [Sum() as a, Sum() as b]):
                total = product(a, b)
            case ("min" | "max", [Sum() as a, Sum() as b]):
                total = self.facts.variable(target.name, *LONG_RANGE)
                for x in (a, b):
                    self.learn(x - total if op.code == "min" else total - x)
                self.facts.choose(target.name, op.code, (a, b))
            case _:
                return
        if total is not None and is_moderate(total):
            self.forms[target.name] = total

    def _describe(self, target: g.Var, op: g.Op) -> None:
        self.variables[target.name] = target
        if op.code in ("add", "sub", "mul", "neg"):
            total = self.total(op)
            if total is not None and op.exact:
                self.forms[target.name] = total
                return
            low, high = (LOWEST, HIGHEST) if total is not None or not op.exact else self.corners(op)
            self.facts.variable(target.name, low, high)
            if total is not None:
                self.wrapped[target.name] = total
            return
        facts = self.facts
        if op.code == "toi" and op.args[0].base == "long":
            whole = self.long_form(op.args[0])
            t = facts.variable(target.name, *(self._digit(op) or ()))
            if whole is not None and self.fits(whole):
                facts.equal(t, whole)
            return
        if op.code in PLACES:
            self._learn_place(target, op)
            return
        if op.code not in ("min", "max", "select", "div", "mod", "aplmod"):
            facts.variable(target.name, *(self._digit(op) or _interval(op, facts, self.form)))
            return
        a, b = (self.form(x) for x in op.args[-2:])
        t = facts.variable(target.name)
        match op.code:
            case "min":
                self.learn(a - t)
                self.learn(b - t)
            case "max":
                self.learn(t - a)
                self.learn(t - b)
            case "select":
                self._learn_selected(t, op)
        if op.code in ("min", "max", "select"):
            self.settle(facts.choose(target.name, op.code, (a, b)))
        else:
            self.quotient(t, op.code, a, b)

    def _learn_place(self, target: g.Var, op: g.Op) -> None:
        """The row and the column of an element are such that there are, as only elements that there are have any."""
        at = self.facts.variable(target.name, 0, HIGHEST)
        _, least, growth, rows = op.args
        if op.code == "row":
            self.asked[op.args] = target
            self.learn((self.form(rows) - at).offset(-1))
        elif op.args in self.asked and isinstance(growth, g.Const):
            row, g_ = self.form(self.asked[op.args]), int(growth.value)
            longer = row if g_ > 0 else (self.form(rows) - row).offset(-1)
            self.learn((self.form(least) + longer.times(abs(g_)) - at).offset(-1))

    def _digit(self, op: g.Op) -> tuple[int, int] | None:
        """The interval of an int that is made of a few bits of another integer, as a digit of a key is; None for any
        other."""
        made = self.walk.definition(op.args[0]) if op.code == "toi" else None
        if not isinstance(made, g.Op) or made.code not in ("bitand", "mod", "shr"):
            return None
        base, by = made.args[0].base, made.args[1]
        if not isinstance(by, g.Const) or base not in BITS or (made.code != "bitand" and base in SIGNED):
            return None
        value = int(by.value)
        most = (1 << BITS[base] - value) - 1 if made.code == "shr" else value - (made.code == "mod")
        return (0, most) if value >= 0 and 0 <= most <= HIGHEST else None

    def _learn_selected(self, t: Sum, op: g.Op) -> None:
        """What holds of each operand of a selection where it is selected holds of the result: it is not negative; it is
        at most one of them, or lies below what the condition compares with (or at most there, if that is what it may
        equal); a remainder lies below its divisor."""
        condition, moved = self.walk.definition(op.args[0]), self.walk.definition(op.args[1])
        bounds = [self.form(a) for a in op.args[1:]]
        if isinstance(condition, g.Op) and condition.code in COMPARISONS and condition.args[0].base == "int":
            equal = condition.code in ("eq", "neq")
            bounds += [
                self.form(a).offset(distance) for a in condition.args for distance in ((0, -1) if equal else (-1,))
            ]
        if isinstance(moved, g.Op) and moved.code in ("add", "sub") and moved.args[0] == op.args[2]:
            bounds.append(self.form(moved.args[1]).offset(-1))
        bounds = [b for b in bounds if b.terms]
        positive, below = True, [True] * len(bounds)
        for holds, arm in ((True, op.args[1]), (False, op.args[2])):

            def prove(holds: bool = holds, arm: g.Atom = arm, below: list[bool] = below) -> tuple[bool, list[bool]]:
                self.walk.assume(op.args[0], holds)
                x = self.value(arm)
                return self.at_most(ZERO, x), [
                    possible and self.at_most(x, bound) for possible, bound in zip(below, bounds)
                ]

            first, below = self.walk.scoped(prove)
            positive = positive and first
        if positive:
            self.learn(t)
        for certain, bound in zip(below, bounds):
            if certain:
                self.learn(bound - t)

    def quotient(self, t: Sum, code: str, a: Sum, b: Sum) -> None:
        """Facts about a quotient or a remainder by something positive."""
        if not self.at_most(Sum(1), b):
            return
        if code == "aplmod" or self.at_most(ZERO, a):
            self.learn(t)
        if code == "div":
            if self.at_most(ZERO, a):
                self.learn(a - t)
            if not b.terms:
                self.learn(a - t.times(b.constant).offset(1 - b.constant))
                self.learn(t.times(b.constant).offset(b.constant - 1) - a)
                if self.at_most(ZERO, a):
                    self.learn(a - t.times(b.constant))
                    self._below_multiples(t, a, b.constant)
            return
        self.learn((b - t).offset(-1))
        if code == "mod":
            self.learn((t + b).offset(-1))
        if self.at_most(ZERO, a):
            self.learn(a - t)

    def _below_multiples(self, t: Sum, a: Sum, divisor: int) -> None:
        """What is at most a multiple of the divisor, and something, has a quotient that is at most what is multiplied:
        of an index below 2 * n the half is below n."""
        for name in a.terms:
            for fact in self.facts.about.get(name, ()):
                less = any(fact.terms.get(n) == -c for n, c in a.terms.items())
                most = quotient(fact + a, divisor) if less else None
                if most is not None:
                    self.learn(most - t)

    # ---- operations as sums

    def total(self, op: g.Op) -> Sum | None:
        """The mathematical value of an operation that adds or multiplies by a number."""
        a = self.form(op.args[0])
        if op.code == "neg":
            return a.times(-1)
        b = self.form(op.args[1])
        if op.code == "mul":
            return product(a, b)
        return a + b if op.code == "add" else a - b

    def corners(self, op: g.Op) -> tuple[int, int]:
        a, b = (self.form(x) for x in op.args)
        least, greatest = self.facts.least, self.facts.greatest
        corners = [x * y for x in (least(a), greatest(a)) for y in (least(b), greatest(b))]
        return min(corners), max(corners)


def changes_of(r: g.For) -> dict[str, Change]:
    """By how much a round changes the ints that a loop carries; the analysis is loaded where there are such."""
    if not any(p.type == g.INT for p in r.params):
        return {}
    from sacpy.jit.analysis.carried_ints import changes

    return changes(r)


def _interval(op: g.Op, facts: Facts, form: Callable[[g.Atom], Sum]) -> tuple[int, int]:
    """The interval of an operation that is not followed further."""
    a = op.args[0]
    if op.code == "toi":
        if a.base == "bool":
            return 0, 1
        bits = BITS.get(a.base, 8 if a.base == "char" else 64)
        if bits < 32 and a.base in (*BITS, "char"):
            return (-(1 << bits - 1), (1 << bits - 1) - 1) if a.base in SIGNED else (0, (1 << bits) - 1)
    elif op.code == "bitand":
        high = facts.greatest(form(op.args[1]))
        if facts.least(form(op.args[1])) >= 0:
            return 0, high
    elif op.code == "shr" and isinstance(op.args[1], g.Const) and 0 <= int(op.args[1].value) < 32:
        low, high = facts.least(form(a)), facts.greatest(form(a))
        return max(low, LOWEST) >> int(op.args[1].value), min(high, HIGHEST) >> int(op.args[1].value)
    return LOWEST, HIGHEST

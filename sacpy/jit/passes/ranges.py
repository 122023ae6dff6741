"""Ranges: what bounds, conditions and passed checks say about integers decides comparisons, removes checks, and shows that sums do not wrap.

    part [1] <= [i] < [n]                       part [1] <= [i] < [n]
      l = sub i, 1                                l = sub! i, 1
      ok = le 0, l                       ->       x = load a[l]
      check ok                                    yield x
      x = load a[l]
      yield x

Facts: an index lies between its bounds, bounds lie in the frame, extents are not negative, in a branch its condition holds, behind a check what it checks. A remainder whose operand is at most one period off becomes a selection, or nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from sacpy.jit.graph import (
    FALSE,
    INT,
    LARGEST_EXTENT,
    TRUE,
    ArrayType,
    Atom,
    Block,
    Const,
    For,
    Function,
    Loop,
    Op,
    Partition,
    Rhs,
    ScalarType,
    Unit,
    Var,
    WithLoop,
    integer,
)
from sacpy.jit.passes.facts import HIGHEST, LOWEST, Facts, Sum, product
from sacpy.jit.passes.summing import ZERO, Summing, is_moderate
from sacpy.jit.passes.units import per_function
from sacpy.lang.source import Span
from sacpy.lang.types import BITS, SIGNED
from sacpy.nodes import replace

LONG = ScalarType("long")
_COMPARISONS = frozenset({"lt", "le", "eq", "neq"})


class Ranger(Summing):
    """A simplifier that knows the ranges of variables of base "int"."""

    def __init__(self, function: Function) -> None:
        super().__init__(function)
        self.either: dict[str, tuple[Atom, ...] | None] = {}  # by the name of their disjunction: conditions of which one holds

    # ---- facts from code

    def bind(self, v: Var) -> Var:
        new = super().bind(v)
        if isinstance(new.type, ArrayType):
            for e in new.type.extents:
                if isinstance(e, Var):
                    self.learn(self.form(e))
                    self.learn(Sum(LARGEST_EXTENT) - self.form(e))
        return new

    def assume(self, condition: Atom, holds: bool) -> None:
        super().assume(condition, holds)
        rhs = self.definition(condition)
        if holds and isinstance(rhs, Op) and rhs.code == "or" and isinstance(condition, Var):
            self.note(self.either, condition.name, rhs.args)
        sides = self._compared(rhs)
        if sides is None or not isinstance(rhs, Op):
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

    def _compared(self, rhs: Rhs | None) -> tuple[Sum, Sum] | None:
        """What a comparison of ints compares, or one of sums of ints in 64 bits."""
        if not isinstance(rhs, Op) or rhs.code not in _COMPARISONS:
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

    def _between(self, i: Var, lower: Atom, upper: Atom) -> None:
        """Notes that lower <= i < upper: so there is something between them."""
        self.learn_order(lower, upper, 1)
        self.learn_order(lower, i)
        self.learn_order(i, upper, 1)
        at = self.form(i)
        high = self.definition(upper)
        if isinstance(high, Op) and high.code == "max" and lower in high.args:  # max(lower, x) is x, since it is above lower
            self.learn((self.form(high.args[1] if high.args[0] == lower else high.args[0]) - at).offset(-1))
        self._from(at, lower)
        for name, cases in list(self.either.items()):
            for k, case in enumerate(cases or ()):
                if self.fails(case):
                    self.note(self.either, name, None)
                    self.assume(cases[1 - k] if cases else case, True)
                    break

    def fails(self, condition: Atom) -> bool:
        """Whether a condition certainly does not hold."""
        condition = self.atom(condition)
        rhs = self.definition(condition)
        if not isinstance(rhs, Op):
            return condition == FALSE
        if rhs.code == "or":
            return all(map(self.fails, rhs.args))
        sides = self._compared(rhs)
        return sides is not None and self._decided(rhs.code, *sides) == FALSE

    def _from(self, at: Sum, lower: Atom) -> None:
        """Notes what follows for an index from its lower bound."""
        low = self.definition(lower)
        if isinstance(low, Op) and low.code == "max":
            for x in low.args:
                self._from(at, x)
        elif isinstance(low, Op) and low.code == "min":  # min(x, y) <= i < y: so x <= i
            for x, y in (low.args, low.args[::-1]):
                if self.at_most(at.offset(1), self.form(y)):
                    self.learn(at - self.form(x))

    # ---- loops

    def rhs(self, r: Rhs) -> Rhs:
        if isinstance(r, For):
            lower, upper, initial = self.atom(r.lower), self.atom(r.upper), self.atoms(r.initial)
            counter, params = self.bind(r.index), self.binds(r.params)

            def before() -> None:
                if r.step > 0:
                    self._between(counter, lower, upper)
                else:
                    self.learn_order(counter, lower)
                    self.learn_order(upper, counter, 1)
                    self.learn_order(upper, lower, 1)

            return For(counter, lower, upper, r.step, params, initial, self.inside(r.body, before))
        if isinstance(r, Loop) and not r.body_first:
            initial = self.atoms(r.initial)
            params = self.binds(r.params)
            return self.scoped(lambda: self._loop(r, params, initial))  # type: ignore[no-any-return]
        return super().rhs(r)

    def _loop(self, r: Loop, params: tuple[Var, ...], initial: tuple[Atom, ...]) -> Loop:
        """In the body, the condition holds for the carried variables, and its checks have passed. Only facts about numbers are kept: the variables that it sets are not in scope there."""
        kept, self.env, self.available = (self.env, self.available), dict(self.env), dict(self.available)
        outer, self.out = self.out, []
        for s in r.condition.statements:
            self.step(s)
        condition = Block(tuple(self.out), self.atoms(r.condition.results))
        self.out = outer
        self.assume(condition.results[0], True)
        self.env, self.available = kept
        return Loop(params, initial, condition, self.inside(r.body, None), r.body_first)

    def with_loop(self, w: WithLoop) -> WithLoop:
        frame = None if w.frame is None else self.atoms(w.frame)
        operators = tuple(map(self.operator, w.operators))
        partitions = tuple(self.within(p, frame) for p in w.partitions)
        return replace(w, frame=frame, partitions=partitions, operators=operators)

    def within(self, p: Partition, frame: tuple[Atom, ...] | None) -> Partition:
        """A partition of an index space in a frame."""
        lower, upper = self.atoms(p.lower), self.atoms(p.upper)
        if frame is not None:
            upper = tuple(f if self.form(u) == self.form(f) else u for u, f in zip(upper, frame))
        step, width = (None if x is None else tuple(map(self.one, self.atoms(x))) for x in (p.step, p.width))
        index = self.binds(p.index)

        def before() -> None:
            for k, i in enumerate(index):
                if frame is not None:
                    self.learn_order(integer(0), lower[k])
                    self.learn_order(upper[k], frame[k])
                self._between(i, lower[k], upper[k])
                if self.form(upper[k]) == self.form(lower[k]).offset(1):
                    self.note(self.env, i.name, lower[k])

        return replace(p, lower=lower, upper=upper, step=step, width=width, index=index, body=self.body(p, before))

    def one(self, a: Atom) -> Atom:
        """1, if an atom is certainly that: a width is at most the step, which has been checked to be at least 1."""
        s = self.form(a)
        return integer(1) if s.terms and self.at_most(s, Sum(1)) and self.at_most(Sum(1), s) else a

    def body(self, p: Partition, before: Callable[[], None]) -> Block:
        """The body of a partition."""
        return self.inside(p.body, before)

    def runs_never(self, lower: Atom, upper: Atom, step: int = 1) -> bool:
        if super().runs_never(lower, upper, step):
            return True
        low, high = (lower, upper) if step > 0 else (upper, lower)
        return self.at_most(self.form(high), self.form(low))

    def differ(self, a: Atom, b: Atom) -> bool:
        if super().differ(a, b):
            return True
        d = self.form(a) - self.form(b)
        return self.facts.holds(d.offset(-1)) or self.facts.holds(d.times(-1).offset(-1))

    # ---- operations

    def simpler(self, op: Op) -> Atom | Op | None:
        found = super().simpler(op)
        if found is not None:
            return found
        sides = self._compared(op)
        if sides is not None:
            return self._decided(op.code, *sides)
        if not op.args or op.args[-1].base != "int":
            return None
        match op.code:
            case "add" | "sub" | "mul" | "neg":
                return self._summed(op)
            case "min" | "max":
                a, b = op.args
                x, y = self.form(a), self.form(b)
                low, high = (a, b) if op.code == "min" else (b, a)
                return low if self.at_most(x, y) else high if self.at_most(y, x) else None
            case "abs":
                return op.args[0] if self.at_most(ZERO, self.form(op.args[0])) else None
            case "mod" | "aplmod":
                return self._remainder(op)
        return None

    def _decided(self, code: str, a: Sum, b: Sum) -> Atom | None:
        d = b - a
        holds = self.facts.holds
        if code in ("eq", "neq"):
            if not d.terms and d.constant == 0:
                return TRUE if code == "eq" else FALSE
            different = holds(d.offset(-1)) or holds(d.times(-1).offset(-1))
            return None if not different else FALSE if code == "eq" else TRUE
        distance = 1 if code == "lt" else 0
        if holds(d.offset(-distance)):
            return TRUE
        return FALSE if holds(d.times(-1).offset(distance - 1)) else None

    def total(self, op: Op) -> Sum | None:
        """The mathematical value of an operation that adds or multiplies by a number."""
        a = self.form(op.args[0])
        if op.code == "neg":
            return a.times(-1)
        b = self.form(op.args[1])
        if op.code == "mul":
            return product(a, b)
        return a + b if op.code == "add" else a - b

    def _summed(self, op: Op) -> Atom | Op | None:
        total = self.total(op)
        if total is None:
            return self._product(op)
        if not op.exact:
            if not self.fits(total):
                return None
            op = replace(op, exact=True)
            changed = True
        else:
            changed = False
        if not total.terms:
            return integer(total.constant)
        name = total.variable
        if name is not None and name in self.variables:
            return self.atom(self.variables[name])
        return op if changed else None

    def _product(self, op: Op) -> Op | None:
        low, high = self._corners(op)
        return replace(op, exact=True) if not op.exact and low >= LOWEST and high <= HIGHEST else None

    def _corners(self, op: Op) -> tuple[int, int]:
        a, b = (self.form(x) for x in op.args)
        least, greatest = self.facts.least, self.facts.greatest
        corners = [x * y for x in (least(a), greatest(a)) for y in (least(b), greatest(b))]
        return min(corners), max(corners)

    def _remainder(self, op: Op) -> Atom | Op | None:
        """A remainder of something that is at most one period away needs no division."""
        y = self.form(op.args[1])
        if not self.at_most(Sum(1), y):
            return None
        b = self.atom(op.args[1])
        a, x = self._dividend(op)
        below = self.at_most(x, y.offset(-1))
        if self.at_most(ZERO, x):
            if below:
                return a
            if self.at_most(x, y.times(2).offset(-1)):
                over = self.emit("over", Op("le", (b, a)))
                return Op("select", (over, self.emit("back", Op("sub", (a, b), True)), a))
            return None
        if op.code == "mod" or not below or not self.at_most(y.times(-1), x):
            return None
        if self.at_most(x, Sum(-1)):
            return Op("add", (a, b), True)
        under = self.emit("under", Op("lt", (a, integer(0))))
        return Op("select", (under, self.emit("up", Op("add", (a, b))), a))

    def _dividend(self, op: Op) -> tuple[Atom, Sum]:
        """What may be divided instead, and the sum that it is, closer to the first period: `aplmod(i - aplmod(1, n), n)` is `aplmod(i - 1, n)`, and `(i + 1 + n) % n` is `(i + 1) % n`. Of remainders in it that cannot go it is noted where they lie, as the divisor is positive here."""
        b = self.atom(op.args[1])
        given, y = self.form(op.args[0]), self.form(b)
        whole = self.wrapped.get(given.variable or "") or given
        inner = {name: r for name in whole.terms if isinstance(r := self.definitions.get(name), Op) and r.code in ("mod", "aplmod") and self.atom(r.args[1]) == b}
        for name, r in inner.items():
            self._quotient(Sum(0, {name: 1}), r.code, self.form(r.args[0]), y)
        x = whole if self.fits(whole) else given
        for name, r in inner.items():
            c = x.terms.get(name, 0)
            closer = x.plus(Sum(0, {name: 1}), -c).plus(self.form(r.args[0]), c)
            if abs(c) == 1 and self.fits(closer) and self._within_a_period(closer, y, op.code):
                x = closer
        while x.terms != y.terms and self.at_most(y, x):
            x = x - y
        if x == given:
            return self.atom(op.args[0]), x
        if x == whole:
            self.anew(self.definition(self.atom(op.args[0])))  # elsewhere it may wrap
        return self.atom_of(x), x

    def _within_a_period(self, x: Sum, y: Sum, code: str) -> bool:
        return self.at_most(x, y.times(2).offset(-1)) and self.at_most(ZERO if code == "mod" else y.times(-1), x)

    # ---- what a new variable is

    def _define_once(self, targets: tuple[Var, ...], rhs: Rhs, span: Span) -> None:
        super()._define_once(targets, rhs, span)
        target = targets[0]
        if isinstance(rhs, Op) and target.name in self.definitions:
            if target.type == INT:
                self._describe(target, rhs)
            elif target.type == LONG:
                self._describe_long(target, rhs)

    def _describe_long(self, target: Var, op: Op) -> None:
        """In 64 bits, sums of ints do not wrap."""
        parts = [self.form(a) if a.base == "int" else self.long_form(a) if a.base == "long" else None for a in op.args]
        match op.code, parts:
            case ("tol", [Sum() as a]):
                total: Sum | None = a
            case ("add" | "sub", [Sum() as a, Sum() as b]):
                total = a + b if op.code == "add" else a - b
            case ("mul", [Sum() as a, Sum() as b]):
                total = product(a, b)
            case _:
                return
        if total is not None and is_moderate(total):
            self.forms[target.name] = total

    def _describe(self, target: Var, op: Op) -> None:
        self.variables[target.name] = target
        if op.code in ("add", "sub", "mul", "neg"):
            total = self.total(op)
            if total is not None and op.exact:
                self.forms[target.name] = total
                return
            low, high = (LOWEST, HIGHEST) if total is not None or not op.exact else self._corners(op)
            self.facts.variable(target.name, low, high)
            if total is not None:
                self.wrapped[target.name] = total
            return
        facts = self.facts
        if op.code not in ("min", "max", "select", "div", "mod", "aplmod"):
            facts.variable(target.name, *_interval(op, facts, self.form))
            return
        a, b = (self.form(x) for x in op.args[-2:])
        t = facts.variable(target.name)
        match op.code:
            case "min":
                self.learn(a - t)
                self.learn(b - t)
                facts.choices[target.name] = (a, b)
            case "max":
                self.learn(t - a)
                self.learn(t - b)
                facts.choices[target.name] = (a, b)
            case "select":
                facts.choices[target.name] = (a, b)
                self._learn_selected(t, op)
        if op.code in ("min", "max", "select"):
            self._hull(t, (a, b), op.code)
        else:
            self._quotient(t, op.code, a, b)

    def _hull(self, t: Sum, cases: tuple[Sum, Sum], code: str) -> None:
        least, greatest = [self.facts.least(c) for c in cases], [self.facts.greatest(c) for c in cases]
        low, high = (max(least), max(greatest)) if code == "max" else (min(least), min(greatest) if code == "min" else max(greatest))
        self.learn(t.offset(-low))
        self.learn(Sum(high) - t)

    def _learn_selected(self, t: Sum, op: Op) -> None:
        """What holds of each operand of a selection where it is selected holds of the result: it is not negative; it is at most one of them, or lies below what the condition compares with (or at most there, if that is what it may equal); a remainder lies below its divisor."""
        condition, moved = self.definition(op.args[0]), self.definition(op.args[1])
        bounds = [self.form(a) for a in op.args[1:]]
        if isinstance(condition, Op) and condition.code in _COMPARISONS and condition.args[0].base == "int":
            equal = condition.code in ("eq", "neq")
            bounds += [self.form(a).offset(distance) for a in condition.args for distance in ((0, -1) if equal else (-1,))]
        if isinstance(moved, Op) and moved.code in ("add", "sub") and moved.args[0] == op.args[2]:
            bounds.append(self.form(moved.args[1]).offset(-1))
        bounds = [b for b in bounds if b.terms]
        positive, below = True, [True] * len(bounds)
        for holds, arm in ((True, op.args[1]), (False, op.args[2])):

            def prove(holds: bool = holds, arm: Atom = arm, below: list[bool] = below) -> tuple[bool, list[bool]]:
                self.assume(op.args[0], holds)
                x = self.value(arm)
                return self.at_most(ZERO, x), [possible and self.at_most(x, bound) for possible, bound in zip(below, bounds)]

            first, below = self.scoped(prove)
            positive = positive and first
        if positive:
            self.learn(t)
        for certain, bound in zip(below, bounds):
            if certain:
                self.learn(bound - t)

    def _quotient(self, t: Sum, code: str, a: Sum, b: Sum) -> None:
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
            return
        self.learn((b - t).offset(-1))
        if code == "mod":
            self.learn((t + b).offset(-1))
        if self.at_most(ZERO, a):
            self.learn(a - t)


def _interval(op: Op, facts: Facts, form: Callable[[Atom], Sum]) -> tuple[int, int]:
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
    elif op.code == "shr" and isinstance(op.args[1], Const) and 0 <= int(op.args[1].value) < 32:
        low, high = facts.least(form(a)), facts.greatest(form(a))
        return max(low, LOWEST) >> int(op.args[1].value), min(high, HIGHEST) >> int(op.args[1].value)
    return LOWEST, HIGHEST


def ranges(function: Function) -> Function:
    """A function with what its ranges decide decided."""
    return Ranger(function).function(function)


def run(unit: Unit) -> Unit:
    """A unit with what its ranges decide decided."""
    return per_function(unit, ranges)

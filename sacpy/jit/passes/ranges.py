"""Ranges: what bounds, conditions and passed checks say about integers decides comparisons, removes checks, and shows
that sums do not wrap.

    part [1] <= [i] < [n]                       part [1] <= [i] < [n]
      l = sub i, 1                                l = sub! i, 1
      ok = le 0, l                       ->       x = load a[l]
      check ok                                    yield x
      x = load a[l]
      yield x

Facts: an index lies between its bounds, bounds lie in the frame, extents are not negative, in a branch its condition
holds, behind a check what it checks. A remainder whose operand is at most one period off becomes a selection, or
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from sacpy.jit.analysis.facts import HIGHEST, LOWEST, Sum
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import rights
from sacpy.jit.passes.learning import Learned, changes_of
from sacpy.jit.passes.simplify import Simplifier
from sacpy.jit.passes.summing import ZERO
from sacpy.jit.passes.units import on_functions
from sacpy.lang.source import Span
from sacpy.nodes import replace

if TYPE_CHECKING:
    from sacpy.jit.passes.inductive import Induction

PERIODS = 4  # that are taken off a dividend at most: sums like i + 1 + n are a few above the first


class Ranges(Learned):
    """What is known of the ranges of variables of base "int": a walk that is given it decides operations by it. Passes
    hold it. `part`: what is done with each partition; `both_ends`: whether remainders of what may be a period too low
    and too high become selections, too, which are cut apart before (`split`); `inductive`: whether it is found what
    holds in all rounds of loops."""

    def __init__(self, walk: Simplifier, both_ends: bool = False, inductive: bool = False) -> None:
        super().__init__(walk)
        self.induction: Induction | None = None
        if inductive and any(True for _ in rights(walk.source.body, g.Loop, g.For)):
            from sacpy.jit.passes.inductive import Induction

            self.induction = Induction(self)
        self.both_ends = both_ends
        self.replaced: tuple[str, ...] = ()  # arrays of which a with-loop replaces cells
        # of each of them, the index that a body computes: its loads keep it, even where it is known, so that one sees
        # that they are of the cell that is replaced
        self.own: dict[str, set[str]] = {}
        self.part = self.within
        walk.take_over(
            assume=self.assume,
            check=self.check,
            _define_once=self._define_once,
            _define_rounds=self._define_rounds,
            bind=self.bind,
            rhs=self.rhs,
            with_loop=self.with_loop,
            runs_never=self.runs_never,
            differ=self.differ,
            simpler=self.simpler,
        )

    # ---- facts from code

    def check(self, s: g.Check, condition: g.Atom) -> None:
        """A check, unless what it checks follows from what has become known since its condition was computed."""
        if not self.certainly(condition):
            Simplifier.check(self.walk, s, condition)

    def certainly(self, condition: g.Atom) -> bool:
        """Whether a comparison certainly holds."""
        sides = self.compared(self.walk.definition(condition))
        code = getattr(self.walk.definition(condition), "code", "")
        return sides is not None and self._decided(code, *sides) == g.TRUE

    def bind(self, v: g.Var) -> g.Var:
        new = Simplifier.bind(self.walk, v)
        if isinstance(new.type, g.ArrayType):
            for e in new.type.extents:
                if isinstance(e, g.Var):
                    self.extents.add(e.name)
                    self.learn(self.form(e))
                    self.learn(Sum(g.WIDEST_EXTENT if self.walk.source.wide else g.LARGEST_EXTENT) - self.form(e))
        return new

    def _between(self, i: g.Var, lower: g.Atom, upper: g.Atom) -> None:
        """Notes that lower <= i < upper: so there is something between them."""
        self.learn_order(lower, upper, 1)
        at = self.form(i)
        high = self._extreme(upper)
        # max(lower, x) is x, since it is above lower
        if high is not None and high[0] == "max" and self.form(lower) in high[1:]:
            _, a, b = high
            self.learn(((b if a == self.form(lower) else a) - at).offset(-1))  # first: proofs find it sooner
        self.learn_order(i, upper, 1)
        self._from(at, lower)
        self.learn_order(lower, i)
        for name, cases in list(self.either.items()):
            for k, case in enumerate(cases or ()):
                if self.fails(case):
                    self.walk.note(self.either, name, None)
                    self.walk.assume(cases[1 - k] if cases else case, True)
                    break

    def is_there(self, index: Iterable[g.Atom | None], array: g.Var) -> bool:
        """Whether an array certainly has an index; None: a component that nobody asks about."""
        return all(
            self.at_most(ZERO, self.form(a)) and self.at_most(self.form(a).offset(1), self.form(extent))
            for a, extent in zip(index, g.extents_of(self.walk.var(array)))
            if a is not None
        )

    def fails(self, condition: g.Atom) -> bool:
        """Whether a condition certainly does not hold."""
        condition = self.walk.atom(condition)
        rhs = self.walk.definition(condition)
        if not isinstance(rhs, g.Op):
            return condition == g.FALSE
        if rhs.code == "or":
            return all(map(self.fails, rhs.args))
        sides = self.compared(rhs)
        return sides is not None and self._excluded(rhs.code, *sides)

    def _from(self, at: Sum, lower: g.Atom) -> None:
        """Notes what follows for an index from its lower bound."""
        low = self.walk.definition(lower)
        if isinstance(low, g.Op) and low.code == "max":
            for a in low.args:
                self._from(at, a)
        # (c ? y : x) <= i < y: so not c
        elif isinstance(low, g.Op) and low.code == "select" and self.at_most(at.offset(1), self.form(low.args[1])):
            self.walk.assume(low.args[0], False)
            self.learn(self.form(low.args[2]) - self.form(lower))
            self.learn(self.form(lower) - self.form(low.args[2]))
            self._from(at, low.args[2])
        found = self._extreme(lower)
        if found is not None and found[0] == "min":  # min(x, y) <= i < y: so x <= i
            for x, y in (found[1:], found[:0:-1]):
                if self.at_most(at.offset(1), y):
                    self.learn(at - x)
                    if x.variable in self.variables:
                        self._from(at, self.variables[x.variable])

    def _extreme(self, bound: g.Atom) -> tuple[str, Sum, Sum] | None:
        """Of which sums a bound is the least or the greatest, if it is; they may have been compared in 64 bits."""
        op = self.walk.definition(bound)
        if isinstance(op, g.Op) and op.code == "toi" and op.args[0].base == "long":
            op = self.walk.definition(op.args[0])
        if not isinstance(op, g.Op) or op.code not in ("min", "max"):
            return None
        x, y = (self.form(a) if a.base == "int" else self.long_form(a) for a in op.args)
        return None if x is None or y is None else (op.code, x, y)

    # ---- loops

    def rhs(self, r: g.Rhs) -> g.Rhs:
        if r.__class__ is g.Op:  # most are
            return Simplifier.rhs(self.walk, r)
        if isinstance(r, g.Load):
            array = self.walk.var(r.array)
            own = self.own.get(array.name, ())
            return g.Load(
                array, tuple(a if isinstance(a, g.Var) and a.name in own else self.walk.atom(a) for a in r.index)
            )
        if isinstance(r, g.For):
            lower, upper, initial = self.walk.atom(r.lower), self.walk.atom(r.upper), self.walk.atoms(r.initial)
            counter, params = self.walk.bind(r.index), self.walk.binds(r.params)
            carried = changes_of(r)

            def enter(counter: g.Var, params: tuple[g.Var, ...]) -> None:
                if r.step > 0:
                    self._between(counter, lower, upper)
                else:
                    self.learn_order(counter, lower)
                    self.learn_order(upper, counter, 1)
                    self.learn_order(upper, lower, 1)
                for old, p, first in zip(r.params, params, initial):
                    if old.name in carried:
                        self.learn_carried(p, first, carried[old.name], r.step, (lower, upper, counter))

            always: tuple[Sum, ...] = ()
            if self.induction is not None:
                always = self.induction.of(r, params, initial, lambda again: enter(again.index, again.params))

            def before() -> None:
                enter(counter, params)
                for s in always:
                    self.learn(s)

            body = self.walk.inside(r.body, before)
            return g.For(counter, lower, upper, r.step, params, initial, body, r.few, r.associative, r.combine)
        if isinstance(r, g.Loop) and not r.body_first:
            initial = self.walk.atoms(r.initial)
            params = self.walk.binds(r.params)
            return self.walk.scoped(lambda: self._loop(r, params, initial))  # type: ignore[no-any-return]
        return Simplifier.rhs(self.walk, r)

    def _loop(self, r: g.Loop, params: tuple[g.Var, ...], initial: tuple[g.Atom, ...]) -> g.Loop:
        """In the body, the condition holds for the carried variables, and its checks have passed. Only facts about
        numbers are kept: the variables that it sets are not in scope there."""
        walk = self.walk
        if self.induction is not None:
            for fact in self.induction.of(r, params, initial, self._in_round):
                self.learn(fact)
        kept, walk.env, walk.available = (walk.env, walk.available), dict(walk.env), dict(walk.available)
        outer, walk.out = walk.out, []
        results = self._in_round(r)
        condition = g.Block(tuple(walk.out), results)
        walk.out = outer
        walk.env, walk.available = kept
        return g.Loop(params, initial, condition, walk.inside(r.body, None), r.body_first)

    def _in_round(self, r: g.Loop) -> tuple[g.Atom, ...]:
        """Walks a loop's condition, which has held in a round. What stands for it."""
        for s in r.condition.statements:
            self.walk.step(s)
        results = self.walk.atoms(r.condition.results)
        self.walk.assume(results[0], True)
        return results

    def _define_rounds(self, targets: tuple[g.Var, ...], r: g.For | g.Loop, span: Span) -> None:
        super()._define_rounds(targets, r, span)
        if self.induction is not None:
            self.induction.behind(r, targets)

    def with_loop(self, w: g.WithLoop) -> g.WithLoop:
        frame = None if w.frame is None else self.walk.atoms(w.frame)
        operators = tuple(map(self.walk.operator, w.operators))
        replaced = tuple(o.array.name for o in operators if isinstance(o, g.Modarray))
        partitions = []
        for p in w.partitions:
            self.replaced = replaced
            partitions.append(self.part(p, frame))
        return replace(w, frame=frame, partitions=tuple(partitions), operators=operators)

    def within(self, p: g.Partition, frame: tuple[g.Atom, ...] | None) -> g.Partition:
        """A partition of an index space in a frame."""
        lower, upper = self.walk.atoms(p.lower), self.walk.atoms(p.upper)
        if frame is not None:
            upper = tuple(f if self.form(u) == self.form(f) else u for u, f in zip(upper, frame))
        step, width = (None if x is None else tuple(map(self.one, self.walk.atoms(x))) for x in (p.step, p.width))
        index, replaced = self.walk.binds(p.index), self.replaced

        def before() -> None:
            for name in replaced:
                self.walk.note(self.own, name, {i.name for i in index})
            for k, i in enumerate(index):
                if frame is not None:
                    self.learn_order(g.integer(0), lower[k])
                    self.learn_order(upper[k], frame[k])
                    self.learn(self.form(frame[k]).offset(-1))
                self._between(i, lower[k], upper[k])
                if self.form(upper[k]) == self.form(lower[k]).offset(1):
                    self.walk.note(self.walk.env, i.name, lower[k])

        return replace(p, lower=lower, upper=upper, step=step, width=width, index=index, body=self.body(p, before))

    def one(self, a: g.Atom) -> g.Atom:
        """1, if an atom is certainly that: a width is at most the step, which has been checked to be at least 1."""
        s = self.form(a)
        return g.integer(1) if s.terms and self.at_most(s, Sum(1)) and self.at_most(Sum(1), s) else a

    def body(self, p: g.Partition, before: Callable[[], None]) -> g.Block:
        """The body of a partition."""
        return self.walk.inside(p.body, before)

    def runs_never(self, lower: g.Atom, upper: g.Atom, step: int = 1) -> bool:
        if Simplifier.runs_never(self.walk, lower, upper, step):
            return True
        low, high = (lower, upper) if step > 0 else (upper, lower)
        return self.at_most(self.form(high), self.form(low))

    def differ(self, a: g.Atom, b: g.Atom) -> bool:
        if Simplifier.differ(self.walk, a, b):
            return True
        d = self.form(a) - self.form(b)
        return self.facts.holds(d.offset(-1)) or self.facts.holds(d.times(-1).offset(-1))

    # ---- operations

    def simpler(self, op: g.Op) -> g.Atom | g.Op | None:
        found = Simplifier.simpler(self.walk, op)
        if found is not None:
            return found
        sides = self.compared(op)
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

    def _decided(self, code: str, a: Sum, b: Sum) -> g.Atom | None:
        d = b - a
        holds = self.facts.holds
        if code in ("eq", "neq"):
            if not d.terms and d.constant == 0:
                return g.TRUE if code == "eq" else g.FALSE
            different = holds(d.offset(-1)) or holds(d.times(-1).offset(-1))
            return None if not different else g.FALSE if code == "eq" else g.TRUE
        if holds(d.offset(-1 if code == "lt" else 0)):
            return g.TRUE
        return g.FALSE if self._excluded(code, a, b) else None

    def _excluded(self, code: str, a: Sum, b: Sum) -> bool:
        """Whether a comparison certainly does not hold."""
        d = a - b
        if code == "neq":
            return not d.terms and d.constant == 0
        holds = self.facts.holds
        if code == "eq":
            return holds(d.offset(-1)) or holds(d.times(-1).offset(-1))
        return holds(d if code == "lt" else d.offset(-1))

    def _summed(self, op: g.Op) -> g.Atom | g.Op | None:
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
            return g.integer(total.constant)
        name = total.variable
        if name is not None and name in self.variables:
            return self.walk.atom(self.variables[name])
        return op if changed else None

    def _product(self, op: g.Op) -> g.Op | None:
        low, high = self.corners(op)
        return replace(op, exact=True) if not op.exact and low >= LOWEST and high <= HIGHEST else None

    def _remainder(self, op: g.Op) -> g.Atom | g.Op | None:
        """A remainder of something that is at most one period away needs no division."""
        y = self.form(op.args[1])
        if not self.at_most(Sum(1), y):
            x = self.value(op.args[0])  # below the divisor, and not negative: so that is positive
            return self.walk.atom(op.args[0]) if self.at_most(x, y.offset(-1)) and self.at_most(ZERO, x) else None
        b = self.walk.atom(op.args[1])
        a, x = self._dividend(op)
        below = self.at_most(x, y.offset(-1))
        if self.at_most(ZERO, x):
            if below:
                return a
            if self.at_most(x, y.times(2).offset(-1)):
                over = self.walk.op("over", "le", b, a)
                return g.Op("select", (over, self.walk.op("back", "sub", a, b, exact=True), a))
            return None
        above = not below and self.both_ends and self.at_most(x, y.times(2).offset(-1))
        if op.code == "mod" or not (below or above) or not self.at_most(y.times(-1), x):
            return None
        if self.at_most(x, Sum(-1)):
            return g.Op("add", (a, b), True)
        under = self.walk.op("under", "lt", a, g.integer(0))
        up = self.walk.op("up", "add", a, b)
        if above:
            over = self.walk.op("over", "le", b, a)
            a = self.walk.op("t", "select", over, self.walk.op("back", "sub", a, b), a)
        return g.Op("select", (under, up, a))

    def _dividend(self, op: g.Op) -> tuple[g.Atom, Sum]:
        """What may be divided instead, and the sum that it is, closer to the first period:
        `aplmod(i - aplmod(1, n), n)` is `aplmod(i - 1, n)`, and `(i + 1 + n) % n` is `(i + 1) % n`. Of remainders in it
        that cannot go it is noted where they lie, as the divisor is positive here."""
        b = self.walk.atom(op.args[1])
        given, y = self.form(op.args[0]), self.form(b)
        whole = self.wrapped.get(given.variable or "") or given
        inner = {
            name: r
            for name in whole.terms
            if isinstance(r := self.walk.definitions.get(name), g.Op)
            and r.code in ("mod", "aplmod")
            and self.walk.atom(r.args[1]) == b
        }
        for name, r in inner.items():
            self.quotient(Sum(0, {name: 1}), r.code, self.form(r.args[0]), y)
        x = whole if self.fits(whole) else given
        for name, r in inner.items():
            c = x.terms.get(name, 0)
            closer = x.plus(Sum(0, {name: 1}), -c).plus(self.form(r.args[0]), c)
            if abs(c) == 1 and self.fits(closer) and self._within_a_period(closer, y, op.code):
                x = closer
        for _ in range(PERIODS):
            if x.terms == y.terms or not self.at_most(y, x):
                break
            x = x - y
        if x == given:
            return self.walk.atom(op.args[0]), x
        if x == whole:
            self.walk.anew(self.walk.definition(self.walk.atom(op.args[0])))  # elsewhere it may wrap
        return self.atom_of(x), x

    def _within_a_period(self, x: Sum, y: Sum, code: str) -> bool:
        return self.at_most(x, y.times(2).offset(-1)) and self.at_most(ZERO if code == "mod" else y.times(-1), x)


@on_functions
def run(function: g.Function) -> g.Function:
    """A unit with what its ranges decide decided."""
    return Ranges(Simplifier(function), both_ends=True, inductive=True).walk.function(function)

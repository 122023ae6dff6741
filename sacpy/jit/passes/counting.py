"""Counting loops: a loop that counts up or down to a bound becomes a `For`, whose index has a known range.

    a, i = loop p := x, k := 0                  a = for k from 0 to n step 1 with p := x
      while  t = lt k, n; test t                  q = update p[k] with 1.0
      round                           ->          next q
        q = update p[k] with 1.0                i = max n, 0
        j = add k, 1
        next q, j

The bound must not change in the loop, but may be read from an array. Where the counter could wrap before it gets there,
which needs a bound near the largest int, a check in front of the loop excludes it; the interpreter does such loops.
"""

from __future__ import annotations

from sacpy.jit.analysis.facts import HIGHEST, LOWEST
from sacpy.jit.ir import graph as g
from sacpy.jit.passes.ranges import Ranges
from sacpy.jit.passes.simplify import Simplifier
from sacpy.jit.passes.units import is_loop, wherever
from sacpy.nodes import Node, replace

_MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "neq": "neq"}


class _Counter(Node):
    """Carried variable number `position` counts in steps of `step` while it is `relation` to `bound`; `before`: code
    for the bound."""

    position: int
    relation: str
    bound: g.Atom
    step: int
    before: tuple[g.Stmt, ...]


class _Counting:
    def __init__(self, function: g.Function) -> None:
        self.known = Ranges(Simplifier(function))
        self.walk = self.known.walk
        self.walk.take_over(let=self.let)

    def let(self, s: g.Let) -> None:
        if isinstance(s.rhs, g.Loop) and not s.rhs.body_first:
            counter = _counter(s.rhs)
            if counter is not None and self.count(s, s.rhs, counter):
                return
        Simplifier.let(self.walk, s)

    def count(self, s: g.Let, r: g.Loop, c: _Counter) -> bool:
        """Emits a counting loop in the place of a loop, if it is one."""
        for before in c.before:
            self.walk.step(before)
        initial, bound = self.walk.atom(r.initial[c.position]), self.walk.atom(c.bound)
        upper = self.end(initial, bound, c)
        if upper is None:
            return False
        k = c.position
        index, target = r.params[k], s.targets[k]
        if abs(c.step) != 1:  # the last value is a matter of remainders: it is carried along
            index = self.walk.supply.var(index.name, g.INT)
            body = g.Block((g.Let((r.params[k],), index), *r.body.statements), r.body.results)
            carried = self.walk.supply.var(index.name, g.INT)
            params = tuple(carried if p is r.params[k] else p for p in r.params)
            Simplifier.let(
                self.walk, g.Let(s.targets, g.For(index, initial, upper, c.step, params, r.initial, body), s.span)
            )
            return True
        rest = [p for p in range(len(r.params)) if p != k]
        body = replace(r.body, results=tuple(r.body.results[p] for p in rest))
        loop = g.For(
            index, initial, upper, c.step, tuple(r.params[p] for p in rest), tuple(r.initial[p] for p in rest), body
        )
        Simplifier.let(self.walk, g.Let(tuple(s.targets[p] for p in rest), loop, s.span))
        self.walk.define((target,), g.Op("max" if c.step > 0 else "min", (upper, initial)), s.span)
        return True

    def end(self, initial: g.Atom, bound: g.Atom, c: _Counter) -> g.Atom | None:
        """The exclusive bound of the counting loop, after the checks that it needs; None if it does not count."""
        up = c.step > 0
        strict = c.relation in ("lt", "gt", "neq")
        if c.relation == "neq":
            if abs(c.step) != 1 or not self.demand(g.Op("le", (initial, bound) if up else (bound, initial))):
                return None
        elif (c.relation in ("lt", "le")) != up:
            return None
        room = abs(c.step) - (1 if strict else 0)  # how far the counter may go beyond the bound
        if room and not self.demand(
            g.Op("le", (bound, g.integer(HIGHEST - room))) if up else g.Op("le", (g.integer(LOWEST + room), bound))
        ):
            return None
        return bound if strict else self.walk.op("end", "add", bound, g.integer(1 if up else -1))

    def demand(self, op: g.Op) -> bool:
        """Checks a condition, unless it is known to hold; False if it is known not to."""
        condition = self.walk.emit("counts", op)
        if condition == g.FALSE:
            return False
        self.walk.check(g.Check(condition, "the loop counts to its end"), condition)
        return True


def _counter(r: g.Loop) -> _Counter | None:
    """The counter of a loop, if a comparison of one is its condition."""
    found: dict[str, g.Op] = {}
    for s in r.condition.statements:
        if isinstance(s, g.Let) and isinstance(s.rhs, g.Op):
            found[s.targets[0].name] = s.rhs
        elif isinstance(s, g.Let) and not isinstance(s.rhs, g.Load):
            return None
    test = r.condition.results[0]
    compared = found.get(test.name) if isinstance(test, g.Var) else None
    if compared is None or compared.code not in _MIRRORED:
        return None
    a, b = compared.args
    for code, x, bound in ((compared.code, a, b), (_MIRRORED[compared.code], b, a)):
        if isinstance(x, g.Var) and x in r.params and x.base == "int":
            k = r.params.index(x)
            step = _step(r, k)
            before = _needed(r, bound, test)
            if step is not None and before is not None:
                return _Counter(k, code, bound, step, before)
    return None


def _step(r: g.Loop, k: int) -> int | None:
    """By what a carried variable changes every round, if by a constant."""
    for s in r.body.statements:
        if (
            isinstance(s, g.Let)
            and s.targets == (r.body.results[k],)
            and isinstance(s.rhs, g.Op)
            and s.rhs.code in ("add", "sub")
        ):
            a, b = s.rhs.args
            if s.rhs.code == "add" and b == r.params[k]:
                a, b = b, a
            if a == r.params[k] and isinstance(b, g.Const) and b.value != 0:
                return int(b.value) if s.rhs.code == "add" else -int(b.value)
    return None


def _needed(r: g.Loop, bound: g.Atom, test: g.Atom) -> tuple[g.Stmt, ...] | None:
    """The code of the condition that the bound may need, which is done once in any case; None if that depends on
    carried variables."""
    changing = {p.name for p in r.params}
    before: list[g.Stmt] = []
    for s in r.condition.statements:
        changes = any(
            isinstance(a, g.Var) and a.name in changing
            for a in ((s.condition,) if isinstance(s, g.Check) else g.operands(s.rhs))
        )
        if isinstance(s, g.Check) and changes:
            return None
        if isinstance(s, g.Let) and (changes or test in s.targets):
            changing |= {t.name for t in s.targets}
        else:
            before.append(s)
    return None if isinstance(bound, g.Var) and bound.name in changing else tuple(before)


@wherever(is_loop)
def run(function: g.Function) -> g.Function:
    """A unit with its counting loops as such."""
    return _Counting(function).walk.function(function)

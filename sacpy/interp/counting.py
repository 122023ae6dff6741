"""Loops that count: `for (i = a; i < n; i++)` as a Python `for` over a range, which tests and counts by itself.

In: a loop of core, prepared. Out: its counter, if it has one. The bound must be the same in each round, and the counter
must not wrap: a test that is true for every int (`i <= 2147483647`) never ends. A constant bound for which that is so
is left alone; one that turns out to be so makes a range without an end.
"""

from __future__ import annotations

from sacpy.interp.intervals import INT, Interval, Known, proper
from sacpy.lang.core import Atom, Block, Carried, Const, Let, Loop, Prim, Stmt, Var
from sacpy.lang.walk import free_of
from sacpy.nodes import Node

LARGEST = INT[1]


class Counter(Node):
    """The carried variable that counts, by `step` (1 or -1), while it is on this side of `bound` + `beyond`; and the
    body without the counting. `ahead`: what gives the bound, the same in each round."""

    ahead: Block
    carried: Carried
    bound: Atom
    beyond: int
    step: int
    body: Block

    def range(self, start: str, bound: str) -> str:
        """The text of what it runs over, `bound` being that of the atom."""
        if self.beyond and isinstance(self.bound, Var):
            return f"{'_upto' if self.step > 0 else '_downto'}({start}, {bound})"
        return f"range({start}, {self.end(bound)}{', -1' if self.step < 0 else ''})"

    def end(self, bound: str) -> str:
        """The text of the first number that it does not reach."""
        return bound + {0: "", 1: " + 1", -1: " - 1"}[self.beyond]

    def interval(self, known: Known) -> Interval:
        """What the counter lies in, in the body."""
        first, bound = known.of(self.carried.initial), known.of(self.bound)
        if self.step > 0:
            return proper(first[0], bound[1] - 1 + self.beyond)
        return proper(bound[0] + 1 + self.beyond, first[1])


def counter(loop: Loop) -> Counter | None:
    """The counter of a loop."""
    if loop.body_first or not loop.condition.statements:
        return None
    *ahead, last = loop.condition.statements
    match last:
        case Let(targets=(test,), rhs=Prim(op=("lt" | "le" | "gt" | "ge") as op, args=(Var(name=name), bound))) if (
            loop.test == Var(test.name, loop.test.span)
        ):
            pass
        case _:
            return None
    targets = {c.target.name for c in loop.carried}
    if not all(_may_stand_ahead(s, targets) for s in ahead):
        return None
    carried = next((c for c in loop.carried if c.target.name == name and c.target.base == "int"), None)
    if carried is None or (isinstance(bound, Var) and bound.name in targets):
        return None
    up = op in ("lt", "le")
    limit = bound.value[0] if isinstance(bound, Const) else 0
    if op in ("le", "ge") and not (isinstance(limit, int) and abs(limit) < LARGEST):
        return None
    body = _without_counting(loop, carried, "add" if up else "sub")
    return (
        None
        if body is None
        else Counter(
            Block(tuple(ahead)), carried, bound, (1 if up else -1) if op in ("le", "ge") else 0, 1 if up else -1, body
        )
    )


def _may_stand_ahead(s: Stmt, targets: set[str]) -> bool:
    """Whether a statement of the condition gives the same in each round, and changes nothing."""
    pure = isinstance(s, Let) and isinstance(s.rhs, Prim) and s.rhs.op != "modarray"
    return pure and targets.isdisjoint(free_of(s))


def _without_counting(loop: Loop, carried: Carried, op: str) -> Block | None:
    """The body without `i + 1`, if that is all the counter's next value is, and nobody else looks at it."""
    if not isinstance(carried.update, Var):
        return None
    own = {carried.update.name}
    rest: list[Stmt] = []
    for s in reversed(loop.body.statements):
        match s:
            case Let(targets=(target,), rhs=Prim(op=found, args=(Var(name=counted), one))) if (
                target.name == carried.update.name and found == op and counted == carried.target.name
            ):
                if isinstance(one, Var):
                    own.add(one.name)
                elif one.value != (1,):
                    return None
            case Let(targets=(target,), rhs=Prim(op="one")) if target.name in own:
                own.add(f"{target.name} is one")
            case _:
                rest.append(s)
    ones = [name for name in own if name != carried.update.name and not name.endswith(" is one")]
    found_step = len(rest) < len(loop.body.statements)
    if not found_step or any(f"{name} is one" not in own for name in ones) or any(free_of(s) & own for s in rest):
        return None
    if any(isinstance(c.update, Var) and c.update.name in own for c in loop.carried if c is not carried):
        return None
    return Block(tuple(reversed(rest)))

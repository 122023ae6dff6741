"""Dead code: what nobody uses goes, with the checks inside it.

    a, b = with [n] genarray genarray      a = with [n] genarray
      part [0] <= [i] < [n]         ->       part [0] <= [i] < [n]
        x = load u[i]                          x = load u[i]
        y = sqrt x                             yield x
        yield x, y
    give a                                 give a

One walk, backwards: the uses of a variable come after it. Also those results of conditionals, carried variables of loops and operators of with-loops go that nobody uses. A check in code that is used stays.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from sacpy.jit.graph import (
    ArrayType,
    Atom,
    Block,
    Check,
    Fold,
    For,
    Function,
    If,
    Let,
    Loop,
    Operator,
    Propagate,
    Rhs,
    Stmt,
    Unit,
    Var,
    WithLoop,
    blocks,
    operands,
    statements,
)
from sacpy.jit.passes.units import per_function
from sacpy.nodes import replace

T = TypeVar("T")


class _Liveness:
    """`live`: the names that what follows uses."""

    def __init__(self) -> None:
        self.live: set[str] = set()

    def use(self, atoms: Iterable[Atom]) -> None:
        for a in atoms:
            if isinstance(a, Var):
                self.live.add(a.name)
                if isinstance(a.type, ArrayType):
                    self.use(a.type.extents)

    def block(self, b: Block) -> Block:
        self.use(b.results)
        kept: list[Stmt] = []
        for s in reversed(b.statements):
            if isinstance(s, Check):
                self.use((s.condition,))
                kept.append(s)
            elif any(t.name in self.live for t in s.targets) or (not s.targets and _may_fail(s.rhs)):
                kept.append(self.let(s))
        kept.reverse()
        return Block(tuple(kept), b.results)

    def let(self, s: Let) -> Let:
        for t in s.targets:
            if t.name in self.live:
                self.use((t,))  # its extents, which may be targets too
        alive = [t.name in self.live for t in s.targets]
        match s.rhs:
            case If():
                s = self.conditional(s, s.rhs, alive)
            case Loop() | For():
                s = self.loop(s, s.rhs, alive)
            case WithLoop():
                s = self.with_loop(s, s.rhs, alive)
            case _:
                self.use(s.targets)
        self.use(operands(s.rhs))
        return s

    def conditional(self, s: Let, r: If, alive: list[bool]) -> Let:
        then, otherwise = (self.block(replace(b, results=_pick(b.results, alive))) for b in (r.then, r.otherwise))
        return replace(s, targets=_pick(s.targets, alive), rhs=If(r.condition, then, otherwise))

    def loop(self, s: Let, r: Loop | For, alive: list[bool]) -> Let:
        """Needed are the carried variables whose last values are used, and those that a round of the needed ones uses."""
        condition = self.block(r.condition) if isinstance(r, Loop) else None
        while True:
            for p, needed in zip(r.params, alive):
                if needed:
                    self.use((p,))
            body = self.block(replace(r.body, results=_pick(r.body.results, alive)))
            found = [needed or p.name in self.live for p, needed in zip(r.params, alive)]
            if found == alive:
                break
            alive = found
        kept = replace(r, params=_pick(r.params, alive), initial=_pick(r.initial, alive), body=body)
        if condition is not None:
            assert isinstance(kept, Loop)
            kept = replace(kept, condition=condition)
        return replace(s, targets=_pick(s.targets, alive), rhs=kept)

    def with_loop(self, s: Let, w: WithLoop, alive: list[bool]) -> Let:
        counts = [width(o) for o in w.operators]
        while True:
            groups = _grouped(alive, counts)
            flags = [any(g) for g in groups]
            spread = [flag for flag, count in zip(flags, counts) for _ in range(count)]
            bodies = [self.block(replace(p.body, results=_pick(p.body.results, spread))) for p in w.partitions]
            found = [flag or (isinstance(o, Propagate) and any(p.name in self.live for p in o.params)) for flag, o in zip(flags, w.operators)]
            if found == flags:
                break
            alive = [flag for flag, count in zip(found, counts) for _ in range(count)]
        partitions = tuple(replace(p, body=b) for p, b in zip(w.partitions, bodies))
        for p in partitions:
            self.use(p.index)
        operators = tuple(self.operator(o) for o in _pick(w.operators, flags))
        framed = any(not isinstance(o, Fold | Propagate) for o in operators)
        new = replace(w, frame=w.frame if framed else None, partitions=partitions, operators=operators)
        return replace(s, targets=_pick(s.targets, spread), rhs=new)

    def operator(self, o: Operator) -> Operator:
        if isinstance(o, Fold):
            self.use((*o.accumulators, *o.values))
            return replace(o, combine=self.block(o.combine))
        if isinstance(o, Propagate):
            self.use(o.params)
        return o


def width(o: Operator) -> int:
    """How many results an operator has."""
    return len(o.neutrals) if isinstance(o, Fold) else len(o.initial) if isinstance(o, Propagate) else 1


def _pick(many: tuple[T, ...], flags: list[bool]) -> tuple[T, ...]:
    return tuple(x for x, flag in zip(many, flags) if flag)


def _grouped(flags: list[bool], counts: list[int]) -> list[list[bool]]:
    groups, at = [], 0
    for count in counts:
        groups.append(flags[at : at + count])
        at += count
    return groups


def _may_fail(rhs: Rhs) -> bool:
    """Whether there is a check in it that stands for itself: the code sets no variable, it was written for the check."""
    return any(isinstance(s, Check) for b in blocks(rhs) for s in statements(b))


def dead_code(function: Function) -> Function:
    """A function without its dead code."""
    return replace(function, body=_Liveness().block(function.body))


def run(unit: Unit) -> Unit:
    """A unit without its dead code."""
    return per_function(unit, dead_code)

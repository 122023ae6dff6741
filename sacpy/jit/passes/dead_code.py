"""Dead code: what nobody uses goes, with the checks inside it.

    a, b = with [n] genarray genarray      a = with [n] genarray
      part [0] <= [i] < [n]         ->       part [0] <= [i] < [n]
        x = load u[i]                          x = load u[i]
        y = sqrt x                             yield x
        yield x, y
    give a                                 give a

What is used is marked, starting from the results and the checks: a name that is used makes its statement live, and that
uses others. So each statement is looked at once, however deep loops are nested. Then what is not marked is left out:
also those results of conditionals, carried variables of loops and operators of with-loops that nobody uses. A check in
code that is used stays. So does a loop that may not end, with what decides on its next round, used or not: a program
that waits for ever does so on every target. Loops that count end; of a `Loop` of the graph nobody has proved it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TypeVar

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import callees, laid_out_rows, rights
from sacpy.jit.passes.units import per_function
from sacpy.nodes import Record, replace

T = TypeVar("T")


class _Statement(Record):
    """A statement that sets variables. `wanted`: which of its targets are kept; `fails`: whether there is a check in
    it; `endless`: whether there is a loop that may not end."""

    let: g.Let
    wanted: list[bool]
    fails: bool = False
    endless: bool = False
    live: bool = False


class _Liveness:
    """Marks what a function uses. `places`: by the name of a variable, the statement that it belongs to, and the target
    that it is, or that is kept with it. `endless`: the functions that may not end."""

    def __init__(self, endless: Collection[str]) -> None:
        self.endless = endless
        self.statements: dict[int, _Statement] = {}
        self.places: dict[str, tuple[_Statement, int]] = {}
        self.seen: set[str] = set()
        self.waiting: list[str] = []

    def mark(self, body: g.Block) -> None:
        """Marks what a function's body uses."""
        self.note(body)
        self.enter(body)
        self.use(body.results)
        while self.waiting:
            place = self.places.get(self.waiting.pop())
            if place is not None:
                self.want(*place)

    # ---- where names belong

    def note(self, block: g.Block) -> tuple[bool, bool]:
        """Notes the statements of a block. Whether there is a check among them, or in them; and a loop that may not
        end."""
        fails = endless = False
        for s in block.statements:
            if isinstance(s, g.Check):
                fails = True
            else:
                found = self.note_let(s)
                fails |= found.fails
                endless |= found.endless
        return fails, endless

    def note_let(self, s: g.Let) -> _Statement:
        found = _Statement(s, [False] * len(s.targets))
        self.statements[id(s)] = found
        for k, t in enumerate(s.targets):
            self.places[t.name] = found, k
        if g.is_nested(s.rhs):
            self.note_inner(found, s.rhs)
        elif isinstance(s.rhs, g.Call):
            found.endless = s.rhs.function in self.endless
        return found

    def note_inner(self, found: _Statement, rhs: g.Rhs) -> None:
        match rhs:
            case g.Loop(params=params) | g.For(params=params):
                for k, p in enumerate(params):
                    self.places[p.name] = found, k
            case g.WithLoop(operators=operators):
                at = 0
                for o in operators:
                    for p in o.params if isinstance(o, g.Propagate) else ():
                        self.places[p.name] = found, at
                    at += width(o)
        found.endless = isinstance(rhs, g.Loop)
        for b in g.blocks(rhs):
            fails, endless = self.note(b)
            found.fails |= fails
            found.endless |= endless

    # ---- what is used

    def use(self, atoms: Iterable[g.Atom]) -> None:
        for a in atoms:
            if isinstance(a, g.Var):
                if a.name not in self.seen:
                    self.seen.add(a.name)
                    self.waiting.append(a.name)
                if a.type.__class__ is g.ArrayType:
                    self.use(g.extents_of(a))

    def enter(self, block: g.Block) -> None:
        """A block that may be executed: its checks stay, what stands for the checks in it, and what may not end."""
        for s in block.statements:
            if isinstance(s, g.Check):
                self.use((s.condition,))
            else:
                found = self.statements[id(s)]
                if found.endless or (found.fails and not s.targets):
                    self.keep(found)

    def keep(self, found: _Statement) -> None:
        """A statement stays: what it needs whichever targets are kept."""
        if found.live:
            return
        found.live = True
        rhs = found.let.rhs
        if not g.is_nested(rhs):
            self.use(g.operands(rhs))
            self.use(found.let.targets)
            return
        match rhs:
            case g.If() as r:
                self.use((r.condition,))
                self.enter(r.then)
                self.enter(r.otherwise)
            case g.Loop() as r:
                self.enter(r.condition)
                self.use(r.condition.results)
                self.enter(r.body)
            case g.For() as r:
                self.use((r.lower, r.upper))
                self.enter(r.body)
            case g.WithLoop() as w:
                for p in w.partitions:
                    self.use((*p.lower, *p.upper, *(p.step or ()), *(p.width or ()), *laid_out_rows(w, p)))
                    self.enter(p.body)
                at = 0
                for o in w.operators:
                    if isinstance(o, g.Fold) and any(
                        self.statements[id(s)].endless for s in o.combine.statements if isinstance(s, g.Let)
                    ):
                        self.want(found, at)
                    at += width(o)

    def want(self, found: _Statement, k: int) -> None:
        """Target k is kept."""
        if found.wanted[k]:
            return
        found.wanted[k] = True
        self.keep(found)
        if not g.is_nested(found.let.rhs):
            return
        self.use((found.let.targets[k],))  # its extents, which may be targets too
        match found.let.rhs:
            case g.If() as r:
                self.use((r.then.results[k], r.otherwise.results[k]))
            case g.Loop() | g.For() as r:
                self.use((r.params[k], r.initial[k], r.body.results[k]))
            case g.WithLoop() as w:
                self.want_operator(found, w, k)

    def want_operator(self, found: _Statement, w: g.WithLoop, k: int) -> None:
        """The operator that gives target k is kept, and so are its other results."""
        at = 0
        for o in w.operators:
            if at <= k < at + width(o):
                break
            at += width(o)
        group = range(at, at + width(o))
        for p in w.partitions:
            self.use(p.body.results[j] for j in group)
        match o:
            case g.Genarray():
                self.use((*(w.frame or ()), *o.cell, o.default))
            case g.Modarray():
                self.use((*(w.frame or ()), o.array))
            case g.Fold():
                self.use((*o.neutrals, *o.accumulators, *o.values, *(o.stop or ())))
                self.enter(o.combine)
                self.use(o.combine.results)
            case g.Propagate():
                self.use((*o.initial, *o.params))
        for j in group:
            self.want(found, j)

    # ---- what is left

    def block(self, b: g.Block, flags: Sequence[bool] | None = None) -> g.Block:
        """A block without what is not marked, and without those results that are flagged as not wanted."""
        kept: list[g.Stmt] = []
        for s in b.statements:
            if isinstance(s, g.Check):
                kept.append(s)
            elif self.statements[id(s)].live:
                kept.append(self.let(self.statements[id(s)]))
        results = b.results if flags is None else _pick(b.results, flags)
        same = len(kept) == len(b.statements) and all(a is s for a, s in zip(kept, b.statements))
        return b if same and len(results) == len(b.results) else g.Block(tuple(kept), results)

    def let(self, found: _Statement) -> g.Let:
        s, flags = found.let, found.wanted
        if not g.is_nested(s.rhs):
            return s
        match s.rhs:
            case g.If() as r:
                rhs: g.Rhs = g.If(r.condition, self.block(r.then, flags), self.block(r.otherwise, flags))
            case g.Loop() as r:
                params, initial, body = _pick(r.params, flags), _pick(r.initial, flags), self.block(r.body, flags)
                rhs = replace(r, params=params, initial=initial, condition=self.block(r.condition), body=body)
            case g.For() as r:
                params, initial, body = _pick(r.params, flags), _pick(r.initial, flags), self.block(r.body, flags)
                function = r.combine if all(flags) else None
                rhs = replace(r, params=params, initial=initial, body=body, combine=function)
            case g.WithLoop() as w:
                rhs = self.with_loop(w, flags)
            case _:
                return s
        return replace(s, targets=_pick(s.targets, flags), rhs=rhs)

    def with_loop(self, w: g.WithLoop, flags: Sequence[bool]) -> g.WithLoop:
        operators: list[g.Operator] = []
        at = 0
        for o in w.operators:
            if any(flags[at : at + width(o)]):  # all of them, or none; a fold of arrays without elements has none
                operators.append(replace(o, combine=self.block(o.combine)) if isinstance(o, g.Fold) else o)
            at += width(o)
        partitions = tuple(replace(p, body=self.block(p.body, flags)) for p in w.partitions)
        framed = any(isinstance(o, g.Genarray | g.Modarray) for o in operators)
        return replace(w, frame=w.frame if framed else None, partitions=partitions, operators=tuple(operators))


def width(o: g.Operator) -> int:
    """How many results an operator has."""
    return len(o.neutrals) if isinstance(o, g.Fold) else len(o.initial) if isinstance(o, g.Propagate) else 1


def _pick(many: tuple[T, ...], flags: Sequence[bool]) -> tuple[T, ...]:
    return tuple(x for x, flag in zip(many, flags) if flag)


def endless(unit: g.Unit) -> frozenset[str]:
    """The names of the functions that may not end: there is a loop in them, or in what they call. (A recursion ends,
    with an error at the latest.)"""
    found: set[str] = set()
    calls: dict[str, set[str]] = {}
    for f in unit.functions:
        calls[f.name] = callees(f)
        if any(rights(f.body, g.Loop)):
            found.add(f.name)
    while found and (more := {name for name, called in calls.items() if name not in found and called & found}):
        found |= more
    return frozenset(found)


def dead_code(function: g.Function, endless: Collection[str]) -> g.Function:
    """A function without its dead code. `endless`: the functions that may not end."""
    liveness = _Liveness(endless)
    liveness.mark(function.body)
    return replace(function, body=liveness.block(function.body))


def run(unit: g.Unit) -> g.Unit:
    """A unit without its dead code."""
    forever = endless(unit)
    return per_function(unit, lambda function: dead_code(function, forever))

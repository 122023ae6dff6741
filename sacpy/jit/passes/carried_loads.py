"""Carried loads: an element at an index that rounds hand on, or exchange for another one whose element they load, is
handed on with it.

    b = for j from 1 to n step 1 with p := 0            ok = some and 0 < n; check ok
      check p < n                                       v = if some
      y = load a[p]                                       load a[0]
      x = load a[j]                                     b, _ = for j from 1 to n step 1 with p, y := 0, v
      c = lt y, x                            ->           x = load a[j]
      p' = select c, j, p                                 c = lt y, x
      next p'                                             p' = select c, j, p
                                                          y' = select c, x, y
                                                          next p', y'

So the place of the largest element is looked for as fast as the element: no round waits for a load whose address the
one before has chosen, nor asks whether it is there.
"""

from __future__ import annotations

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import Rewriter, bound, setters
from sacpy.jit.passes.units import wherever
from sacpy.jit.passes.walker import Walker
from sacpy.lang.constants import zero
from sacpy.nodes import Node, replace


class _Carried(Node):
    """A load at carried int `number`, at `axis` of its array, and the value `other` that comes with the int which may
    take its place. `conditions`: what is checked of the int before."""

    number: int
    load: g.Let
    axis: int
    other: g.Atom
    conditions: tuple[g.Check, ...]


def _carried(r: g.For) -> _Carried | None:
    """One that a loop has."""
    if r.associative or r.combine is not None:
        return None  # what it carries is all that its function combines
    made = setters(r.body.statements)
    inside = bound(r.body) | {r.index.name} | {v.name for v in r.params}
    for number, (p, a) in enumerate(zip(r.params, r.body.results)):
        next_ = made.get(a.name) if isinstance(a, g.Var) else None
        match next_.rhs if next_ is not None else None:
            case g.Op(code="select", args=(_, x, y)) if p.type == g.INT and p in (x, y) and x != y:
                found = _load_at(r, number, y if x == p else x, made, inside)
                if found is not None:
                    return found
    return None


def _load_at(r: g.For, number: int, other: g.Atom, made: dict[str, g.Let], inside: set[str]) -> _Carried | None:
    p = r.params[number]
    loads = {
        (s.rhs.array, s.rhs.index): s
        for s in r.body.statements
        if isinstance(s, g.Let) and isinstance(s.rhs, g.Load) and s.rhs.array.name not in inside
    }
    for (array, index), s in loads.items():
        axes = [k for k, a in enumerate(index) if a == p]
        rest = [a for a in index if a != p and isinstance(a, g.Var) and a.name in inside]
        if len(axes) != 1 or rest:
            continue
        (axis,) = axes
        instead = loads.get((array, (*index[:axis], other, *index[axis + 1 :])))
        checks = _range_checks(r.body, s, p, g.extents_of(array)[axis], made)
        if instead is not None and checks is not None:
            return _Carried(number, s, axis, instead.targets[0], checks)
    return None


def _range_checks(
    body: g.Block, load: g.Let, p: g.Var, extent: g.Atom, made: dict[str, g.Let]
) -> tuple[g.Check, ...] | None:
    """The checks before a load, if all that they ask is whether there is such an element."""
    wanted = (("le", (g.integer(0), p)), ("lt", (p, extent)))
    found: list[g.Check] = []
    for s in body.statements:
        if s is load:
            return tuple(found)
        if isinstance(s, g.Check):
            asked = made.get(s.condition.name) if isinstance(s.condition, g.Var) else None
            if asked is None or not isinstance(asked.rhs, g.Op) or (asked.rhs.code, asked.rhs.args) not in wanted:
                return None
            found.append(s)
    return None


class _Carrier(Walker):
    def let(self, s: g.Let) -> None:
        if not isinstance(s.rhs, g.For):
            super().let(s)
            return
        r, targets = self.rhs(s.rhs), s.targets
        while isinstance(r, g.For) and (found := _carried(r)) is not None:
            r, target = self.carrying(r, found)
            targets = (*targets, target)
        self.define(targets, r, s.span)

    def carrying(self, r: g.For, found: _Carried) -> tuple[g.For, g.Var]:
        """A loop that hands the element on, and its last one."""
        p, first, made = r.params[found.number], r.initial[found.number], setters(r.body.statements)
        (value,) = found.load.targets
        ends = (r.lower, r.upper) if r.step > 0 else (r.upper, r.lower)
        some = self.op("some", "lt", *ends)
        for check in found.conditions:
            assert isinstance(check.condition, g.Var)
            asked = made[check.condition.name].rhs
            assert isinstance(asked, g.Op)
            if asked.code == "le" and isinstance(first, g.Const) and first.value >= 0:
                continue
            holds = self.op("ok", asked.code, *(first if a == p else a for a in asked.args))
            self.out.append(replace(check, condition=self.op("ok", "select", some, holds, g.TRUE)))
        start, here = self.supply.var(value.name, value.type), self.supply.var(value.name, value.type)
        load = found.load.rhs
        assert isinstance(load, g.Load)
        at = tuple(first if k == found.axis else a for k, a in enumerate(load.index))
        there = g.Block((g.Let((here,), g.Load(load.array, at)),), (here,))
        nothing = g.Block((), (g.Const(value.base, zero(value.base)),))
        self.out.append(g.Let((start,), g.If(some, there, nothing)))
        carried, next_ = self.supply.var(value.name, value.type), self.supply.var(value.name, value.type)
        done = {id(found.load), *map(id, found.conditions)}
        kept = g.Block(tuple(s for s in r.body.statements if id(s) not in done), r.body.results)
        body = Rewriter({value.name: carried}).block(kept)
        chosen = made[r.body.results[found.number].name].rhs  # type: ignore[union-attr]
        assert isinstance(chosen, g.Op)
        condition, x, _ = chosen.args
        other = carried if found.other == value else found.other
        arms = (carried, other) if x == p else (other, carried)
        choice = g.Let((next_,), g.Op("select", (carried if condition == value else condition, *arms)))
        body = g.Block((*body.statements, choice), (*body.results, next_))
        last = self.supply.var(value.name, value.type)
        return replace(r, params=(*r.params, carried), initial=(*r.initial, start), body=body), last


@wherever(lambda r: isinstance(r, g.For) and _carried(r) is not None)
def run(function: g.Function) -> g.Function:
    """A unit whose loops hand elements on with the indices of these."""
    return _Carrier(function).function(function)

"""Axis-invariant motion: what cells have in common along an axis, and takes long, is computed in front of the loop,
once for each index of the other axes.

    r = with [n,m]                                    t = with [m]
      genarray double default 0.0                       genarray double default 0.0
      part [0,0] <= [i,j] < [n,m]                       part [0] <= [j] < [m]
        s = with fold from 0.0 by ..                      s = with fold from 0.0 by ..
          part [0] <= [k] < [n]              ->             part [0] <= [k] < [n]
            x = load a[k,j]                                   x = load a[k,j]
            ..                                                ..
        y = load a[i,j]                                   yield s
        z = div y, s                                    r = with [n,m]
        yield z                                           genarray double default 0.0
                                                          part [0,0] <= [i,j] < [n,m]
                                                            s = load t[j]
                                                            ..

That is how columns are scaled by what they sum up to. What depends on the first axes alone needs no array: it stands in
front of the loop over the next one (`schedule/hoisting`). Where there is no index along the other axes nobody needs the
values, and none is computed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sacpy.jit.analysis.costs import cost
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import copied, free, needed_for, new_arrays
from sacpy.jit.passes.units import wherever
from sacpy.jit.passes.walker import Walker
from sacpy.lang.types import REAL
from sacpy.nodes import Node, replace

DEAR = 12.0  # work for a value, at least
MORE = 5.0  # work, at least, for what follows from such values alone
AGAIN = 4  # indices that have it in common, at least, as far as they are known
VALUES = 8  # of a partition that are kept for the same axes, at most

Axes = frozenset[int]


class _Common(Node):
    """What cells have in common that agree along some axes: these, the statements that are done once, and what of them
    the others use."""

    axes: tuple[int, ...]
    statements: tuple[g.Let, ...]
    values: tuple[g.Var, ...]


def _axes_of(w: g.WithLoop, p: g.Partition) -> dict[str, Axes]:
    """By the names that a body has: the axes that they depend on."""
    every = frozenset(range(p.rank))
    found = {i.name: frozenset((k,)) for k, i in enumerate(p.index)}
    for o in w.operators:
        if isinstance(o, g.Propagate):
            found.update((v.name, every) for v in o.params)
    for s in p.body.statements:
        if isinstance(s, g.Let):
            mine = frozenset[int]().union(*(found.get(name, ()) for name in free(g.Block((s,)))))
            found.update((t.name, mine) for t in s.targets)
    return found


def _common(w: g.WithLoop, p: g.Partition, made: Collection[str] = ()) -> _Common | None:
    """What is worth doing once, if there is something: first each loop by itself, which may run in tiles then. Where a
    check stands, what follows may depend on it. `made`: the arrays of what has been found before."""
    if p.rank < 2 or p.step is not None or p.pragmas or any(isinstance(s, g.Check) for s in p.body.statements):
        return None
    lets = [s for s in p.body.statements if isinstance(s, g.Let) and s.targets]
    if not any(cost(g.Block((s,))) >= (MORE if made else DEAR) for s in lets):
        return None
    axes = _axes_of(w, p)
    groups: dict[Axes, list[g.Let]] = {}
    for s in lets:
        mine = axes[s.targets[0].name]
        if _is_worth(p, mine):
            groups.setdefault(mine, []).append(s)
    for mine, group in groups.items():
        for s in group:
            if g.is_nested(s.rhs) and cost(g.Block((s,))) >= DEAR:
                found = _collected(p, mine, (s,))
                if found is not None:
                    return found
    for mine, group in groups.items():
        straight = tuple(s for s in group if not g.is_nested(s.rhs))
        again = any(isinstance(s.rhs, g.Load) and s.rhs.array.name in made for s in straight)
        work = tuple(s for s in straight if isinstance(s.rhs, g.Op))
        if cost(g.Block(work)) >= (MORE if again else DEAR) and any(s.targets[0].base in REAL for s in work):
            found = _collected(p, mine, work)
            if found is not None:
                return found
    return None


def _is_worth(p: g.Partition, axes: Axes) -> bool:
    """Whether values for these axes stand in front of no loop, and are needed again and again."""
    if not axes or len(axes) == p.rank or axes == frozenset(range(len(axes))):
        return False
    if any(p.lower[k] != g.integer(0) for k in axes):
        return False
    again = 1.0
    for k in frozenset(range(p.rank)) - axes:
        lower, upper = p.lower[k], p.upper[k]
        known = isinstance(lower, g.Const) and isinstance(upper, g.Const)
        again *= upper.value - lower.value if known else AGAIN  # type: ignore[union-attr]
    return again >= AGAIN


def _collected(p: g.Partition, axes: Axes, moved: tuple[g.Let, ...]) -> _Common | None:
    """What is left of statements in the loop: what others use of it; None unless that is a few numbers."""
    used = free(g.Block(tuple(s for s in p.body.statements if s not in moved), p.body.results))
    values = tuple(t for s in moved for t in s.targets if t.name in used)
    if not 0 < len(values) <= VALUES or not all(isinstance(v.type, g.ScalarType) for v in values):
        return None
    return _Common(tuple(sorted(axes)), moved, values)


class _Mover(Walker):
    def __init__(self, function: g.Function) -> None:
        super().__init__(function)
        self.depth = 0  # of with-loops around

    def rhs(self, r: g.Rhs) -> g.Rhs:
        if not isinstance(r, g.WithLoop):
            return super().rhs(r)
        if not self.depth:
            r = replace(r, partitions=tuple(self.without_common(r, p) for p in r.partitions))
        self.depth += 1
        try:
            return super().rhs(r)
        finally:
            self.depth -= 1

    def without_common(self, w: g.WithLoop, p: g.Partition) -> g.Partition:
        """A partition without what its cells have in common, which is computed here."""
        made: set[str] = set()
        frames: dict[tuple[int, ...], tuple[g.Atom, ...]] = {}
        while (found := _common(w, p, made)) is not None:
            if found.axes not in frames:
                frames[found.axes] = tuple(self.extents(w, p, found.axes))
            arrays = self.computed(p, found, frames[found.axes])
            made.update(array.name for array in arrays)
            index = tuple(p.index[k] for k in found.axes)
            loads = tuple(g.Let((v,), g.Load(array, index)) for v, array in zip(found.values, arrays))
            kept = tuple(s for s in p.body.statements if s not in found.statements)
            p = replace(p, body=g.Block((*loads, *kept), p.body.results))
        return p

    def computed(self, p: g.Partition, common: _Common, frame: tuple[g.Atom, ...]) -> tuple[g.Var, ...]:
        """Arrays of the values that cells have in common."""
        index = tuple(self.supply.var(p.index[k].name, g.INT) for k in common.axes)
        body = g.Block(needed_for(common.values, p.body), common.values)
        body = copied(body, dict(zip((p.index[k].name for k in common.axes), index)), self.supply)
        arrays = tuple(self.supply.var(v.name, g.ArrayType(v.base, frame)) for v in common.values)
        self.let(new_arrays(arrays, index, body, p.span))
        return arrays

    def extents(self, w: g.WithLoop, p: g.Partition, axes: tuple[int, ...]) -> Iterator[g.Atom]:
        """Of arrays that have a value for each index along some axes of a partition; none if it has no index at all."""
        some: g.Atom = g.TRUE
        for k in range(p.rank):
            if k not in axes:
                there = self.op("some", "lt", self.atom(p.lower[k]), self.atom(p.upper[k]))
                some = there if some == g.TRUE else self.op("some", "and", some, there)
        for number, k in enumerate(axes):
            upper = self.atom(p.upper[k])
            if w.frame is None:  # a fold's bounds may be anything
                upper = self.op("extent", "max", upper, g.integer(0))
            yield upper if number else self.op("extent", "select", some, upper, g.integer(0))


@wherever(lambda r: isinstance(r, g.WithLoop) and any(_common(r, p) for p in r.partitions))
def run(function: g.Function) -> g.Function:
    """A unit whose with-loops compute what their cells have in common along an axis once."""
    return _Mover(function).function(function)

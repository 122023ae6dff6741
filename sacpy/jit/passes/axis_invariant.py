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

That is how columns are scaled by what they sum up to. What depends on the first axes alone needs no array: it stands
in front of the loop over the next one (`schedule/hoisting`). What is the same for all cells, or in all rounds of a
counting loop, is a number; operations and loads that are have been moved before (`invariant`), loops have not. The
indices of a with-loop inside are axes too: in the sum of exp(x[k]) * a[i,k] over k each exponential is computed once.
Where there is no index nobody needs the values, and none is computed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

from sacpy.jit.analysis.costs import cost
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.operations import ROUTINES
from sacpy.jit.ir.rewrite import bound, copied, free, needed_for, new_arrays, rights, uses
from sacpy.jit.passes.units import wherever
from sacpy.jit.passes.walker import Walker
from sacpy.lang.constants import zero
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


class _Space(Node):
    """Where something may be repeated: a partition, or one inside of another, whose indices and statements come first.
    `own`: the statements of the inner one; `big`: an array with an element for each index is none too many."""

    partition: g.Partition
    operators: tuple[g.Operator, ...]
    own: tuple[g.Stmt, ...]
    big: bool


def _space(w: g.WithLoop, p: g.Partition) -> _Space:
    return _Space(p, w.operators, p.body.statements, w.frame is not None)


def _space_inside(w: g.WithLoop, p: g.Partition, before: g.Block, inner: g.WithLoop, q: g.Partition) -> _Space:
    """That of a partition inside of another one, with as much of what stands `before` it as it needs."""
    needed = needed_for((g.Var(name, g.INT) for name in free(q.body)), before)
    both = g.Block((*needed, *q.body.statements), q.body.results)
    whole = g.Partition(p.lower + q.lower, p.upper + q.upper, None, None, p.index + q.index, both)
    return _Space(whole, w.operators + inner.operators, q.body.statements, False)


def _axes_of(space: _Space) -> dict[str, Axes]:
    """By the names that a body has: the axes that they depend on."""
    p = space.partition
    every = frozenset(range(p.rank))
    found = {i.name: frozenset((k,)) for k, i in enumerate(p.index)}
    for o in space.operators:
        if isinstance(o, g.Propagate):
            found.update((v.name, every) for v in o.params)
    for s in p.body.statements:
        if isinstance(s, g.Let):
            mine = frozenset[int]().union(*(found.get(name, ()) for name in free(g.Block((s,)))))
            found.update((t.name, mine) for t in s.targets)
    return found


def _common(space: _Space, outermost: bool, made: Collection[str] = ()) -> list[_Common]:
    """What is worth doing once: first each loop by itself, which may run in tiles then, but for those that need another
    one. Where a check stands, what follows may depend on it; a fold that stops may not come to an index. `outermost`:
    there may be arrays of it; `made`: those of what has been found before."""
    p = space.partition
    if p.pragmas or any(isinstance(s, g.Check) for s in p.body.statements):
        return []
    if any(isinstance(o, g.Fold) and o.stop is not None for o in space.operators):
        return []
    lets = [s for s in space.own if isinstance(s, g.Let) and s.targets]
    if not any(cost(g.Block((s,))) >= (MORE if made else DEAR) for s in lets):
        return []
    axes, used = _axes_of(space), uses(p.body)
    groups: dict[Axes, list[g.Let]] = {}
    found: list[_Common] = []
    later: set[str] = set()  # what needs the values that have been found
    for s in lets:
        mine = axes[s.targets[0].name]
        if not later.isdisjoint(free(g.Block((s,)))):
            later.update(t.name for t in s.targets)
        elif _is_worth(space, mine, outermost):
            groups.setdefault(mine, []).append(s)
            if g.is_nested(s.rhs) and cost(g.Block((s,))) >= DEAR:
                found += _collected(used, mine, (s,))
                later.update(t.name for t in s.targets)
    if found:
        return found
    for mine, group in groups.items():
        straight = tuple(s for s in group if mine and not g.is_nested(s.rhs))
        again = any(isinstance(s.rhs, g.Load) and s.rhs.array.name in made for s in straight)
        work = tuple(s for s in straight if isinstance(s.rhs, g.Op))
        if cost(g.Block(work)) >= (MORE if again else DEAR) and any(s.targets[0].base in REAL for s in work):
            found += _collected(used, mine, work)
    return found


def _is_worth(space: _Space, axes: Axes, outermost: bool) -> bool:
    """Whether values for these axes are needed again and again, and stand in front of no loop as it is; and there is
    room for them: as much as some array takes that is there anyway."""
    p = space.partition
    if axes:
        prefix = axes == frozenset(range(len(axes)))
        if prefix or not outermost or p.step is not None or any(p.lower[k] != g.integer(0) for k in axes):
            return False
        if len(axes) > 1 and not space.big:
            index = {p.index[k] for k in axes}
            if not any(index <= set(r.index) for r in rights(p.body, g.Load)):
                return False
    again = 1.0
    for k in frozenset(range(p.rank)) - axes:
        lower, upper = p.lower[k], p.upper[k]
        known = isinstance(lower, g.Const) and isinstance(upper, g.Const)
        again *= upper.value - lower.value if known else AGAIN  # type: ignore[union-attr]
    return again >= AGAIN


def _collected(used: Counter[str], axes: Axes, moved: tuple[g.Let, ...]) -> list[_Common]:
    """Statements that are done once, with what others use of them, if that is a few numbers. `used`: how often names
    are in the whole body."""
    inside = uses(g.Block(moved))
    values = tuple(t for s in moved for t in s.targets if used[t.name] > inside[t.name])
    few = 0 < len(values) <= VALUES and all(isinstance(v.type, g.ScalarType) for v in values)
    return [_Common(tuple(sorted(axes)), moved, values)] if few else []


def _in_all_rounds(r: g.For) -> g.Let | None:
    """A loop with a number as its result that all rounds of another one do alike. What follows a check may depend on
    it."""
    inside = bound(r.body) | {r.index.name} | {v.name for v in r.params}
    for s in r.body.statements:
        if isinstance(s, g.Check):
            return None
        code = g.Block((s,))
        if g.is_nested(s.rhs) and cost(code) >= DEAR and _is_number(s) and inside.isdisjoint(free(code)):
            return s
    return None


def _is_number(s: g.Let) -> bool:
    return bool(s.targets) and all(isinstance(t.type, g.ScalarType) for t in s.targets)


class _Mover(Walker):
    def __init__(self, function: g.Function) -> None:
        super().__init__(function)
        self.depth = 0  # of with-loops around

    def rhs(self, r: g.Rhs) -> g.Rhs:
        if isinstance(r, g.WithLoop):
            self.depth += 1
            try:
                new = super().rhs(r)
            finally:
                self.depth -= 1
            assert isinstance(new, g.WithLoop)
            partitions = tuple(self.without_common(_space(new, p), p) for p in new.partitions)
            if not self.depth:
                partitions = tuple(self.without_inner(new, p) for p in partitions)
            return replace(new, partitions=partitions)
        r = super().rhs(r)
        if isinstance(r, g.For):
            while (s := _in_all_rounds(r)) is not None:
                first, last = (r.lower, r.upper) if r.step > 0 else (r.upper, r.lower)
                self.out.append(self.unless_empty(self.are_some([(first, last)]), (s,), s.targets))
                kept = tuple(x for x in r.body.statements if x is not s)
                r = replace(r, body=g.Block(kept, r.body.results))
        return r

    def without_inner(self, w: g.WithLoop, p: g.Partition) -> g.Partition:
        """A partition whose with-loops do not repeat for each cell what depends on their own indices."""
        if p.step is not None or p.pragmas or any(isinstance(s, g.Check) for s in p.body.statements):
            return p
        inside = bound(p.body) | {i.name for i in p.index}
        statements = list(p.body.statements)
        for number, s in enumerate(statements):
            if isinstance(s, g.Let) and isinstance(s.rhs, g.WithLoop) and not s.rhs.pragmas:
                inner, before = s.rhs, g.Block(p.body.statements[:number])
                new = tuple(
                    q
                    if q.step is not None or any(isinstance(a, g.Var) and a.name in inside for a in q.lower + q.upper)
                    else self.without_common(_space_inside(w, p, before, inner, q), q)
                    for q in inner.partitions
                )
                statements[number] = replace(s, rhs=replace(inner, partitions=new))
        return replace(p, body=g.Block(tuple(statements), p.body.results))

    def without_common(self, space: _Space, p: g.Partition) -> g.Partition:
        """A partition without what its cells have in common, which is computed here."""
        made: set[str] = set()
        frames: dict[tuple[int, ...], tuple[g.Atom, ...]] = {}
        while found := _common(space, not self.depth, made):
            whole = space.partition
            around = whole.body.statements[: len(whole.body.statements) - len(space.own)]
            done = {id(s) for common in found for s in common.statements}
            loads: list[g.Let] = []
            for common in found:
                if common.axes:
                    if common.axes not in frames:
                        frames[common.axes] = tuple(self.extents(space, common.axes))
                    arrays = self.computed(whole, common, frames[common.axes])
                    made.update(array.name for array in arrays)
                    index = tuple(whole.index[k] for k in common.axes)
                    loads += [g.Let((v,), g.Load(array, index)) for v, array in zip(common.values, arrays)]
                else:
                    some = self.are_some(list(zip(whole.lower, whole.upper)))
                    self.out.append(self.unless_empty(some, needed_for(common.values, whole.body), common.values))
            kept = (*loads, *(s for s in space.own if id(s) not in done))
            p = replace(p, body=g.Block(kept, p.body.results))
            body = g.Block((*around, *kept), p.body.results)
            space = replace(space, partition=replace(whole, body=body), own=kept)
        return p

    def unless_empty(self, some: g.Atom, statements: tuple[g.Let, ...], values: tuple[g.Var, ...]) -> g.Let:
        """Sets variables to what statements give, if there is an index at all."""
        inside = copied(g.Block(statements, values), {}, self.supply)
        none = tuple(g.Const(v.base, zero(v.base)) for v in values)
        return g.Let(values, g.If(some, inside, g.Block((), none)))

    def computed(self, p: g.Partition, common: _Common, frame: tuple[g.Atom, ...]) -> tuple[g.Var, ...]:
        """Arrays of the values that cells have in common."""
        index = tuple(self.supply.var(p.index[k].name, g.INT) for k in common.axes)
        body = g.Block(needed_for(common.values, p.body), common.values)
        body = copied(body, dict(zip((p.index[k].name for k in common.axes), index)), self.supply)
        arrays = tuple(self.supply.var(v.name, g.ArrayType(v.base, frame)) for v in common.values)
        self.out.append(new_arrays(arrays, index, body, p.span))
        return arrays

    def extents(self, space: _Space, axes: tuple[int, ...]) -> Iterator[g.Atom]:
        """Of arrays that have a value for each index along some axes of a partition; none if it has no index at all."""
        p = space.partition
        some = self.are_some([(p.lower[k], p.upper[k]) for k in range(p.rank) if k not in axes])
        for number, k in enumerate(axes):
            upper = p.upper[k]
            if not space.big:  # a fold's bounds may be anything
                upper = self.op("extent", "max", upper, g.integer(0))
            yield upper if number else self.op("extent", "select", some, upper, g.integer(0))


def _repeats(r: g.Rhs) -> bool:
    """Whether it may be that something in a loop is done again and again. What stands in inner loops may come to stand
    in outer ones."""
    return isinstance(r, g.WithLoop | g.For) and any(
        g.is_nested(x) or (isinstance(x, g.Op) and x.code in ROUTINES) for b in g.blocks(r) for x in rights(b)
    )


@wherever(_repeats)
def run(function: g.Function) -> g.Function:
    """A unit whose loops compute once what their cells have in common along an axis, or all their rounds."""
    new = _Mover(function).function(function)
    return function if new == function else new

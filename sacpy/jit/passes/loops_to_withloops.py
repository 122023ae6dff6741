"""Nests of counting loops in which each round sets an element of its own become with-loops, which can be split, fused,
folded, vectorised and spread.

    r = for i from 1 to n step 1 with b := a               ok = le n, m
      c = for j from 0 to m step 1 with d := b             check ok
        x = load v[i,j]                                    r = with [n,m]
        y = load d[i,j]                             ->       modarray a
        z = add x, y                                         part [1,0] <= [i,j] < [n,m]
        e = update d[i,j] with z                               x = load v[i,j]
        next e                                                 y = load a[i,j]
      next c                                                   z = add x, y
                                                               yield z

The array is read at the element that the round sets, and nowhere else; what the round has set by then is known. Where
only a branch sets it, the other gives the element that was there. Scalars may be accumulated beside arrays
(`reductions`). What an outer loop computes for all rounds of an inner one is computed for each element then; so it must
cost little.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sacpy.jit.analysis.combine import Step, loops_in, steps_of, without
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import bound, free, has_only, rights
from sacpy.jit.passes.reductions import fold_of
from sacpy.jit.passes.units import wherever
from sacpy.jit.passes.walker import Walker
from sacpy.lang.constants import zero
from sacpy.lang.source import Span
from sacpy.nodes import Record


class Nest(Record):
    """Loops one inside the other, outermost first. `before`: what they compute around the innermost; `axes`: for each
    axis of the arrays, the number of the loop that runs over it; `steps`: what becomes of the scalars that they
    carry."""

    loops: tuple[g.For, ...]
    before: tuple[g.Stmt, ...]
    axes: tuple[int, ...]
    steps: tuple[Step, ...] = ()

    @property
    def inner(self) -> g.For:
        return self.loops[-1]

    @property
    def index(self) -> tuple[g.Atom, ...]:
        """The element that a round sets."""
        return tuple(self.loops[k].index for k in self.axes)


def nest_of(r: g.For) -> Nest | None:
    """The nest that a loop is, if each of its rounds sets an element of its own."""
    loops, before = loops_in(r)
    if not all(loop.step == 1 and any(map(g.extents_of, loop.params)) for loop in loops):
        return None
    parameters, around = {p.name for loop in loops[:-1] for p in loop.params}, g.Block(before)
    if not has_only(around, g.Op, g.Load, checks=True) or parameters & free(around):
        return None
    r = loops[-1]
    index = next((u.index for u in rights(r.body, g.Update)), None)
    numbers = {loop.index: k for k, loop in enumerate(loops)}
    if index is None or set(index) != numbers.keys() or len(index) != len(numbers):
        return None
    made = bound(loops[0].body) | {loop.index.name for loop in loops}
    if any(isinstance(a, g.Var) and a.name in made for loop in loops for a in (loop.lower, loop.upper)):
        return None
    arrays = [(p, a) for p, a in zip(r.params, r.body.results) if isinstance(p.type, g.ArrayType)]
    if (
        len({g.extents_of(p) for p, _ in arrays}) != 1
        or len(g.extents_of(arrays[0][0])) != len(index)
        or not all(_sets(r.body, p, a, index) for p, a in arrays)
    ):
        return None
    axes = tuple(numbers[i] for i in index)  # type: ignore[index]
    scalars = [(p, a) for p, a in zip(r.params, r.body.results) if isinstance(p.type, g.ScalarType)]
    steps = steps_of(r.body, *zip(*scalars)) if scalars else []
    if steps is None or (steps and axes != tuple(sorted(axes))):  # a fold is in the order of the index
        return None
    if any(step.extreme for step in steps) and any(_loads(r.body, p) for p, _ in arrays):
        return None  # what may be computed twice leaves what it reads as it is: the array would be copied
    return Nest(loops, before, axes, tuple(steps))


def _sets(b: g.Block, array: g.Var, result: g.Atom, index: tuple[g.Atom, ...]) -> bool:
    """Whether all that a block does with an array is to read and to replace the element at an index, but not in loops,
    and then to give it."""
    from sacpy.jit.analysis.versions import follow

    found = follow(b, (array.name,))
    if found is None or found.in_loops or not all(u.access.element and u.access.index == index for u in found.uses):
        return False
    return [a for a, given in zip(b.results, found.results) if given == array.name] == [result]


def _loads(b: g.Block, array: g.Var) -> bool:
    """Whether a block reads elements of an array, or an inner one gives it as it is."""
    return any(
        (isinstance(r, g.Load) and r.array == array) or any(array in inner.results for inner in g.blocks(r))
        for r in rights(b)
    )


def _origin(b: g.Block, array: g.Atom) -> str:
    """The name of the array outside of a block that one in it is made from, by updates; "" if there is none."""
    made = (
        {t.name: (s.rhs, k) for s in b.statements if isinstance(s, g.Let) for k, t in enumerate(s.targets)}
        if isinstance(array.type, g.ArrayType)
        else {}
    )
    while isinstance(array, g.Var):
        match made.get(array.name):
            case None:
                return array.name
            case (g.Update(array=before), _):
                array = before
            case (g.If(then=then), k):
                return _origin(g.Block((*b.statements, *then.statements)), then.results[k])
            case _:
                break
    return ""


class _Converter(Walker):
    """Puts with-loops in the place of such nests."""

    def let(self, s: g.Let) -> None:
        nest = nest_of(s.rhs) if isinstance(s.rhs, g.For) else None
        if nest is None:
            super().let(s)
        else:
            arrays, scalars = (
                [t for t in s.targets if isinstance(t.type, kind)] for kind in (g.ArrayType, g.ScalarType)
            )
            super().let(g.Let((*arrays, *scalars), self.with_loop_of(nest, s.span), s.span))

    def with_loop_of(self, nest: Nest, span: Span) -> g.WithLoop:
        """The with-loop that a nest is, after checks that it stays in the arrays."""
        outer, inner = nest.loops[0], nest.inner
        arrays = [a for a in outer.initial if isinstance(a, g.Var) and isinstance(a.type, g.ArrayType)]
        frame = g.extents_of(arrays[0])
        lower, upper = (
            tuple(bounds[k] for k in nest.axes)
            for bounds in ([r.lower for r in nest.loops], [r.upper for r in nest.loops])
        )
        for low, high, extent in zip(lower, upper, frame):
            for op in (g.Op("le", (g.integer(0), self.atom(low))), g.Op("le", (self.atom(high), self.atom(extent)))):
                condition = self.emit("fits", op, span)
                self.check(g.Check(condition, "the index lies in the array", span), condition)
        for loop in nest.loops:
            for p, a in zip(loop.params, outer.initial):
                if isinstance(p.type, g.ArrayType):
                    self.alias(p, self.atom(a))
        given = [a for p, a in zip(inner.params, inner.body.results) if isinstance(p.type, g.ArrayType)]
        body = self.values(
            g.Block(without(inner.body, nest.steps)),
            {p.name: None for p in inner.params if isinstance(p.type, g.ArrayType)},
            given,
            nest.index,
        )
        index = tuple(nest.loops[k].index for k in nest.axes)
        complete = upper == frame and all(low == g.integer(0) for low in lower)
        read = free(body)
        operators: tuple[g.Operator, ...] = tuple(
            g.Genarray(a.base, (), g.Const(a.base, zero(a.base)))
            if complete and (p.name not in read or self.is_made(a))
            else g.Modarray(a)
            for p, a in zip((p for p in inner.params if isinstance(p.type, g.ArrayType)), arrays)
        )
        if nest.steps:
            fold, terms = fold_of(
                nest.steps, tuple(a for a in outer.initial if isinstance(a.type, g.ScalarType)), self.supply
            )
            operators, body = (
                (*operators, fold),
                g.Block((*body.statements, *terms.statements), (*body.results, *terms.results)),
            )
        part = g.Partition(
            lower, upper, None, None, index, g.Block((*nest.before, *body.statements), body.results), span=span
        )
        return g.WithLoop(frame, (part,), operators, disjoint=True, complete=complete)

    def is_made(self, array: g.Var) -> bool:
        """Whether a with-loop makes an array, so that its elements may be computed where they are needed; others, which
        loops carry, are better changed in place."""
        return isinstance(self.definition(self.atom(array)), g.WithLoop)

    def values(
        self, b: g.Block, cells: Mapping[str, g.Atom | None], results: Sequence[g.Atom], index: tuple[g.Atom, ...]
    ) -> g.Block:
        """A block's statements without the updates; its results are the elements at an index of arrays that it gives.
        `cells`: that element of arrays outside; None where it is to be read."""
        cells = dict(cells)
        kept: list[g.Stmt] = []
        for s in b.statements:
            if isinstance(s, g.Let) and isinstance(s.rhs, g.Update) and s.rhs.array.name in cells:
                cells[s.targets[0].name] = s.rhs.value
            elif isinstance(s, g.Let) and isinstance(s.rhs, g.Load) and cells.get(s.rhs.array.name) is not None:
                kept.append(g.Let(s.targets, cells[s.rhs.array.name], s.span))  # type: ignore[arg-type]
            elif isinstance(s, g.Let) and isinstance(s.rhs, g.If):
                kept.append(self.chosen(s, s.rhs, cells, index))
            else:
                kept.append(s)
        values = tuple(self.element(a, cells, index, kept) for a in results)
        return g.Block(tuple(kept), values)

    def chosen(self, s: g.Let, r: g.If, cells: dict[str, g.Atom | None], index: tuple[g.Atom, ...]) -> g.Let:
        """A conditional that gives elements in the place of arrays."""
        ours = [k for k, a in enumerate(r.then.results) if _origin(r.then, a) in cells]
        others = [k for k in range(len(s.targets)) if k not in ours]
        made = [self.supply.var("cell", g.ScalarType(s.targets[k].base)) for k in ours]
        branches = []
        for b in (r.then, r.otherwise):
            inner = self.values(b, cells, [b.results[k] for k in ours], index)
            branches.append(g.Block(inner.statements, (*(b.results[k] for k in others), *inner.results)))
        cells.update((s.targets[k].name, cell) for k, cell in zip(ours, made))
        return g.Let((*(s.targets[k] for k in others), *made), g.If(r.condition, *branches), s.span)

    def element(
        self, array: g.Atom, cells: Mapping[str, g.Atom | None], index: tuple[g.Atom, ...], kept: list[g.Stmt]
    ) -> g.Atom:
        """The element of an array that a block gives."""
        assert isinstance(array, g.Var)
        value = cells[array.name]
        if value is not None:
            return value
        target = self.supply.var("old", g.ScalarType(array.base))
        kept.append(g.Let((target,), g.Load(array, index)))
        return target


@wherever(lambda r: isinstance(r, g.For) and nest_of(r) is not None)
def run(function: g.Function) -> g.Function:
    """A unit with such nests as with-loops."""
    return _Converter(function).function(function)

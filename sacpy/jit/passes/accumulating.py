"""Loops in which each round combines elements of an array with terms: each element becomes a fold of its own.

    r = for k from 0 to l with b := a                       r = with [n,m] complete
      c = for i from 0 to n with d := b                         modarray a
        e = for j from 0 to m with f := d                       part [0,0] <= [i,j] < [n,m]
          x = load u[i,k]                                           z = load a[i,j]
          y = load v[k,j]                           ->              s = with
          t = mul x, y                                                  fold from z by add
          z = load f[i,j]                                               part [0] <= [k] < [l]
          g = add z, t                                                      t = mul u[i,k], v[k,j]
          h = update f[i,j] with g                                          yield t
          next h                                                    yield s
        next e
      next c

The same is made of loops that combine rows (`c[i] = c[i] + x * b[k]`), or whole arrays (`c = c + x * b[k]`), or the
elements of an interior, by any operation: `combine.nest_of` says what the axes are. The loops may stand in any order:
an element's fold stays in that of the loops whose counters are no indices of it. So no result in the making is written
to memory and read again, and elements can be computed at the same time. Where the first array is full of one number,
the folds begin with that. This is done where elements lie side by side, so that they can be computed in tiles
(`analysis/contractions`) which load something that several elements have in common, or where the loops inside are those
that reduce one element; of other loops it would make leaps through memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.analysis.combine import Axis, Nest, nest_of
from sacpy.jit.analysis.contractions import contraction
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.operations import ROUTINES
from sacpy.jit.passes.reductions import fold_of
from sacpy.jit.passes.units import wherever
from sacpy.jit.passes.walker import Walker
from sacpy.lang.source import Span
from sacpy.nodes import replace


class _Summer(Walker):
    def let(self, s: g.Let) -> None:
        nest = nest_of(s.rhs) if isinstance(s.rhs, g.For) else None
        if nest is not None:
            first = self.filled_with(nest.array)
            part = self.part(nest, nest.array if first is None else first, s.span)
            if nest.inside or (contraction(part) is not None and not _is_dear(nest) and not _streams(nest)):
                super().let(g.Let(s.targets, self.with_loop_of(part, nest.array, first, s.span), s.span))
                return
        super().let(s)

    def filled_with(self, array: g.Var) -> g.Const | None:
        """The number that all elements of an array are, where that is known."""
        w = self.definition(self.atom(array))
        if not isinstance(w, g.WithLoop) or w.partitions or len(w.operators) != 1:
            return None
        operator = w.operators[0]
        default = operator.default if isinstance(operator, g.Genarray) else None
        return default if isinstance(default, g.Const) else None

    def part(self, n: Nest, start: g.Const | g.Var, span: Span) -> g.Partition:
        """What computes the element at an index, within the bounds of the loops. `start`: what folds begin with, or the
        array that has it."""
        index = tuple(a.index for a in n.parallel)
        first: g.Atom = start
        before: list[g.Stmt] = list(n.before)
        if isinstance(start, g.Var):
            first = self.supply.var("x", g.ScalarType(start.base))
            before.append(g.Let((first,), g.Load(start, index), span))
        fold, terms = fold_of([n.step], (first,), self.supply)
        inner = _box(n.reduced, g.Block((*n.body, *terms.statements), terms.results), span)
        total = self.supply.var("s", g.ScalarType(start.base))
        folded = g.Let((total,), g.WithLoop(None, (inner,), (fold,), disjoint=True), span)
        return _box(n.parallel, g.Block((*before, folded), (total,)), span)

    def with_loop_of(self, p: g.Partition, array: g.Var, first: g.Const | None, span: Span) -> g.WithLoop:
        """The with-loop. Its bounds lie in the array even where there is nothing to combine, and the loops would not
        have come to the index."""
        frame = g.extents_of(array)
        upper = tuple(
            u if u == e else self.emit("upper", g.Op("min", (self.atom(u), self.atom(e))), span)
            for u, e in zip(p.upper, frame)
        )
        complete = upper == frame and all(low == g.integer(0) for low in p.lower)
        operator: g.Operator = g.Modarray(array) if first is None else g.Genarray(array.base, (), first)
        return g.WithLoop(frame, (replace(p, upper=upper),), (operator,), disjoint=True, complete=complete)


def _box(axes: Sequence[Axis], body: g.Block, span: Span) -> g.Partition:
    """What is done at all indices of some axes."""
    lower, upper, index = zip(*((a.lower, a.upper, a.index) for a in axes))
    return g.Partition(lower, upper, None, None, index, body, (), span)


def _is_dear(n: Nest) -> bool:
    """Whether a term has a function that the loops, as they stand, may call for many elements at once: tiles would call
    it for each of them."""
    return any(isinstance(s, g.Let) and isinstance(s.rhs, g.Op) and s.rhs.code in ROUTINES for s in n.body)


def _streams(n: Nest) -> bool:
    """Whether all that is loaded is of one element alone, of a result with several axes. Then loops read it from one
    end of memory to the other, as tiles would not, and there is nothing that tiles could use again."""
    axes = {a.index.name for a in n.parallel}
    behind: dict[str, set[str]] = {name: {name} for name in axes}
    for s in n.body:
        if isinstance(s, g.Let):
            found = set().union(*(behind.get(a.name, set()) for a in g.operands(s.rhs) if isinstance(a, g.Var)))
            if isinstance(s.rhs, g.Load) and found != axes:
                return False
            behind.update((t.name, found) for t in s.targets)
    return len(axes) > 1


@wherever(lambda r: isinstance(r, g.For) and nest_of(r) is not None)
def run(function: g.Function) -> g.Function:
    """A unit with such nests as folds."""
    return _Summer(function).function(function)

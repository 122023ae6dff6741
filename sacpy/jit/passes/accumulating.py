"""Nests of counting loops in which each round adds to an element, such as a matrix product as one writes it in C: each
element becomes a sum of its own.

    r = for i from 0 to n with b := a                       r = with [n,m] complete
      c = for j from 0 to m with d := b                         modarray a
        e = for k from 0 to l with f := d                       part [0,0] <= [i,j] < [n,m]
          x = load u[i,k]                                           z = load a[i,j]
          y = load v[k,j]                           ->              s = with
          t = mul x, y                                                  fold from z by add
          z = load f[i,j]                                               part [0] <= [k] < [l]
          g = add z, t                                                      t = mul u[i,k], v[k,j]
          h = update f[i,j] with g                                          yield t
          next h                                                    yield s
        next e
      next c

The loops may stand in any order: an element's sum stays in that of the loops whose counters are no indices of it. Terms
do not read the array. This is done where the sums can be computed in tiles (`analysis/contractions`), or where the
loops inside are those that add to one element, which then need not be written to memory in each round.
"""

from __future__ import annotations

from sacpy.jit.analysis.contractions import contraction
from sacpy.jit.ir.graph import (
    Atom,
    Block,
    Const,
    Fold,
    For,
    Function,
    Let,
    Load,
    Modarray,
    Op,
    Partition,
    ScalarType,
    Stmt,
    Unit,
    Update,
    Var,
    WithLoop,
    extents_of,
    integer,
    statements,
)
from sacpy.jit.ir.rewrite import bound, free, uses
from sacpy.jit.passes.loops_to_withloops import inner_loop
from sacpy.jit.passes.units import per_function
from sacpy.jit.passes.walker import Walker
from sacpy.lang.source import Span
from sacpy.nodes import Record


class _Sums(Record):
    """Loops one inside the other, outermost first. `body`: what all of them do in a round, but for adding `term`;
    `axes`: for each axis of the array, the number of the loop that runs over it; `inner`: those of the other loops."""

    loops: tuple[For, ...]
    body: tuple[Stmt, ...]
    term: Atom
    axes: tuple[int, ...]
    inner: tuple[int, ...]


def _sums(r: For) -> _Sums | None:
    """The sums that a nest computes, if that is all it does."""
    loops: list[For] = [r]
    body: list[Stmt] = []
    while True:
        r = loops[-1]
        if r.step != 1 or len(r.params) != 1 or not extents_of(r.params[0]):
            return None
        found = inner_loop(r)
        if found is None:
            break
        body += r.body.statements[:-1]
        loops.append(found)
    made = {s.targets[0]: s.rhs for s in r.body.statements if isinstance(s, Let)}
    (array,), (result,) = r.params, r.body.results
    update = made.get(result) if isinstance(result, Var) else None
    if (
        not isinstance(update, Update)
        or update.array != array
        or not isinstance(update.value, Var)
        or len(update.index) != len(extents_of(array))
    ):
        return None
    added = made.get(update.value)
    if not isinstance(added, Op) or added.code != "add":
        return None
    load = Load(array, update.index)
    old = next((a for a in added.args if isinstance(a, Var) and made.get(a) == load), None)
    numbers = {loop.index: k for k, loop in enumerate(loops)}
    if (
        old is None
        or not set(update.index) <= numbers.keys()
        or len(set(update.index)) != len(update.index)
        or len(update.index) == len(loops)
    ):
        return None
    count = uses(r.body)
    if (count[array.name], count[old.name], count[update.value.name]) != (2, 1, 1):
        return None
    body += [s for s in r.body.statements if not (isinstance(s, Let) and s.targets[0] in (old, update.value, result))]
    if not all(isinstance(s, Let) and isinstance(s.rhs, Op | Load | Var | Const) for s in body) or any(
        p.name in free(Block(tuple(body))) for loop in loops for p in loop.params
    ):
        return None
    inside = bound(loops[0].body) | {loops[0].index.name}
    if any(isinstance(a, Var) and a.name in inside for loop in loops for a in (loop.lower, loop.upper)):
        return None
    axes = tuple(numbers[i] for i in update.index)  # type: ignore[index]
    if not all(isinstance(loops[k].lower, Const) and loops[k].lower.value >= 0 for k in axes):  # type: ignore[union-attr]
        return None
    term = added.args[1] if added.args[0] == old else added.args[0]
    return _Sums(tuple(loops), tuple(body), term, axes, tuple(k for k in range(len(loops)) if k not in axes))


class _Summer(Walker):
    def let(self, s: Let) -> None:
        found = _sums(s.rhs) if isinstance(s.rhs, For) else None
        if found is not None and isinstance(s.rhs, For) and isinstance(s.rhs.initial[0], Var):
            part = self.part(found, s.rhs.initial[0], s.span)
            in_order = (*found.axes, *found.inner) == tuple(range(len(found.loops)))
            if in_order or contraction(part) is not None:
                super().let(Let(s.targets, self.with_loop_of(found, part, s.rhs.initial[0], s.span), s.span))
                return
        super().let(s)

    def part(self, n: _Sums, array: Var, span: Span) -> Partition:
        """What computes the element at an index, within the bounds of the loops."""
        scalar = ScalarType(array.base)
        first, acc, val, more, total = (self.supply.var(stem, scalar) for stem in ("x", "acc", "val", "t", "s"))
        index = tuple(n.loops[k].index for k in n.axes)
        fold = Fold((first,), (acc,), (val,), Block((Let((more,), Op("add", (acc, val)), span),), (more,)))
        lower, upper = (
            tuple(bounds[k] for k in n.inner) for bounds in ([r.lower for r in n.loops], [r.upper for r in n.loops])
        )
        inner = Partition(
            lower, upper, None, None, tuple(n.loops[k].index for k in n.inner), Block(n.body, (n.term,)), (), span
        )
        body = Block(
            (
                Let((first,), Load(array, index), span),
                Let((total,), WithLoop(None, (inner,), (fold,), disjoint=True), span),
            ),
            (total,),
        )
        return Partition(
            tuple(n.loops[k].lower for k in n.axes),
            tuple(n.loops[k].upper for k in n.axes),
            None,
            None,
            index,
            body,
            (),
            span,
        )

    def with_loop_of(self, n: _Sums, p: Partition, array: Var, span: Span) -> WithLoop:
        """The with-loop. Its bounds lie in the array even where there is nothing to add, and the loops would not have
        come to the index."""
        frame = extents_of(array)
        upper = tuple(
            u if u == e else self.emit("upper", Op("min", (self.atom(u), self.atom(e))), span)
            for u, e in zip(p.upper, frame)
        )
        complete = upper == frame and all(low == integer(0) for low in p.lower)
        part = Partition(p.lower, upper, None, None, p.index, p.body, (), span)
        return WithLoop(frame, (part,), (Modarray(array),), disjoint=True, complete=complete)


def accumulating(function: Function) -> Function:
    """A function with such nests as sums; itself if it has none."""
    if not any(
        isinstance(s, Let) and isinstance(s.rhs, For) and _sums(s.rhs) is not None for s in statements(function.body)
    ):
        return function
    return _Summer(function).function(function)


def run(unit: Unit) -> Unit:
    """A unit with such nests as sums."""
    return per_function(unit, accumulating)

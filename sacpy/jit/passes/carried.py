"""Carried arrays: what a loop computes anew from itself in each round, cell by cell, is changed where it lies.

    b = for t from 0 to n step 1 with a := x          b = for t from 0 to n step 1 with a := x
      c = with [m] complete                             c = with [m] complete
        genarray double default 0.0            ->         modarray a
        part [0] <= [i] < [m]                             part [0] <= [i] < [m]
          y = load a[i]                                     y = load a[i]
          ..                                                ..
      next c                                            next c

The array is read only there and before, and each cell at most for its own new value. So it is seen that the loop needs
one array of its own, not two that might be one: between which, when the code runs, LLVM would have to tell, and would
go element by element where they are the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.analysis.ints import Ints
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import Rewriter, free
from sacpy.jit.passes.units import wherever
from sacpy.nodes import replace


class _Overwriter(Rewriter):
    def __init__(self, function: g.Function) -> None:
        super().__init__()
        self.ints = Ints(function)

    def statement(self, s: g.Stmt) -> Sequence[g.Stmt]:
        if isinstance(s, g.Let) and isinstance(s.rhs, g.For | g.Loop):
            s = replace(s, rhs=replace(s.rhs, body=_overwriting(s.rhs.params, s.rhs.body, self.ints)))
        return tuple(super().statement(s))


def _overwriting(params: Sequence[g.Var], body: g.Block, ints: Ints) -> g.Block:
    """A round that changes in place what it can of the arrays that it carries."""
    made = list(body.statements)
    for p, result in zip(params, body.results):
        at = next((k for k, s in enumerate(made) if isinstance(s, g.Let) and result in s.targets), None)
        if (
            at is None
            or not isinstance(p.type, g.ArrayType)
            or p in body.results
            or p.name in free(g.Block(tuple(made[at + 1 :]), body.results))
        ):
            continue
        s = made[at]
        if isinstance(s, g.Let) and isinstance(s.rhs, g.WithLoop) and _is_replaced(s, s.rhs, p, result.name, ints):  # type: ignore[union-attr]
            here = s.targets.index(result)
            operators = tuple(g.Modarray(p) if k == here else o for k, o in enumerate(s.rhs.operators))
            made[at] = replace(s, rhs=replace(s.rhs, operators=operators))
    return replace(body, statements=tuple(made))


def _is_replaced(s: g.Let, w: g.WithLoop, array: g.Var, result: str, ints: Ints) -> bool:
    """Whether a with-loop computes all of an array's next value, of the same type, scalars each of which reads of that
    array its own old value at most."""
    if (
        not w.complete
        or not all(isinstance(o, g.Genarray | g.Modarray) for o in w.operators)
        or g.Modarray(array) in w.operators
    ):
        return False
    o, target = next((o, t) for o, t in zip(w.operators, s.targets) if t.name == result)
    if not isinstance(o, g.Genarray) or o.cell or o.base != array.base or g.extents_of(target) != g.extents_of(array):
        return False
    from sacpy.jit.analysis.depends import ALWAYS, may_share

    used = any(array.name in free(p.body) for p in w.partitions)
    return used and may_share(w, array, ints) == ALWAYS


@wherever(lambda r: isinstance(r, g.For | g.Loop))
def run(function: g.Function) -> g.Function:
    """A unit whose loops change in place what they can of the arrays that they carry."""
    return _Overwriter(function).function(function)

"""Rows that are folded side by side: sums along rows whose terms have something in common, as in a matrix times a
vector.

In: a partition, where its values go. Out: a `RowFolds`, or None. Some rows together load what they have in common once;
one by one, each would bring it into the cache anew where it is long.

    part [0] <= [i] < [n]                          for i, in steps of 4, while rows are long:
      s = with fold(add)                             for j below the least of their lengths:
        part [0] <= [j] < [i + 1]         ->           s0 += a[i,j] * x[j]; s1 += a[i + 1,j] * x[j]; ..
          yield a[i,j] * x[j]                        what is left of each row
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.analysis.along import Along
from sacpy.jit.analysis.combine import Cell, cell_of
from sacpy.jit.analysis.folds import recognised
from sacpy.jit.analysis.straight import is_straight
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import bound
from sacpy.jit.schedule.loops import Context, Goal, IntoArray, IntoFold, has_checks
from sacpy.lang.types import REAL
from sacpy.nodes import Node

ROWS = 4
LANES = {"double": 8, "float": 16}  # of each row's accumulator


class RowFolds(Node):
    """`cell`: what a row is; `goal`: its sum."""

    cell: Cell
    goal: IntoFold


def row_folds(p: g.Partition, goals: Sequence[Goal], context: Context) -> RowFolds | None:
    """The sums along the rows of a partition, if these have terms in common and nothing else runs in loops."""
    if context.strict or not p.rank or p.step is not None:
        return None
    if not goals or not all(isinstance(x, IntoArray) and not x.earlier and not x.cells for x in goals):
        return None
    cell = cell_of(p)
    if cell is None or len(cell.folds) != 1:
        return None
    (fold,), q = cell.folds, cell.inner
    found = recognised(fold)
    if found is None or found.codes != ("add",) or found.bases[0] not in REAL or q.rank != 1 or q.step is not None:
        return None
    if not all(_is_scalar(s) for s in (*cell.before, *cell.after.statements)):
        return None
    if has_checks(q.body) or not is_straight(q.body) or not all(_is_scalar(s) for s in q.body.statements):
        return None
    own = {v.name for v in p.index} | bound(g.Block(cell.before))
    if isinstance(q.lower[0], g.Var) and q.lower[0].name in own:
        return None
    return RowFolds(cell, IntoFold(fold, found, False)) if _have_in_common(cell, p.index[-1]) else None


def _is_scalar(s: g.Stmt) -> bool:
    """Whether a statement checks, or sets a scalar without loops."""
    return isinstance(s, g.Check) or (
        is_straight(g.Block((s,), ())) and not any(isinstance(t.type, g.ArrayType) for t in s.targets)
    )


def _have_in_common(cell: Cell, row: g.Var) -> bool:
    """Whether terms load what lies side by side along the row, of which some depends on the row and some does not."""
    moving, along = {row.name}, Along(cell.inner.index[0])
    own: list[bool] = []
    for s in (*cell.before, *cell.inner.body.statements):
        if not isinstance(s, g.Let):
            continue
        depends = any(isinstance(a, g.Var) and a.name in moving for a in g.operands(s.rhs))
        if depends:
            moving |= {t.name for t in s.targets}
        if isinstance(s.rhs, g.Op | g.Load) and along.see(s) and isinstance(s.rhs, g.Load):
            last = s.rhs.index[-1]
            if isinstance(last, g.Var) and last.name in along.names:
                own.append(depends)
    return set(own) == {True, False}


__all__ = ["LANES", "ROWS", "RowFolds", "row_folds"]

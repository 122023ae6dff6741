"""Partitions that step along their last axis, such as the points of one colour of a chessboard: all points between the
first and the last are computed, vector by vector, and those that do not belong to them keep what is there.

In: a partition, and where its values go. Out: whether its last axis may be run through without gaps.

    part [1,1] <= [i,j] < [n,n] step [2,2] width [1,1]          for j from 1 to the last one:
        a = load u[i,j-1]                                             x[j] = 0.5 * (u[i,j-1] + u[i,j+1])
        b = load u[i,j+1]                              ->         for j from 1 to the last one:
        ..                                                            u[i,j] = (j - 1) mod 2 == 0 ? x[j] : u[i,j]

Vectors of elements that lie apart take a processor longer than some that are computed in vain. What is loaded must be
at the index plus something, so that it is there for points in between too. Values wait in a small buffer until a strip
of them is complete: a load that meets what has just been stored, in part, would have to wait for it. Points only read
what others of the partition do not change, or their own cell (`analysis/depends`; otherwise the result is another
array).
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.analysis.along import Along
from sacpy.jit.analysis.costs import weight
from sacpy.jit.ir import graph as g
from sacpy.jit.schedule.loops import Goal, IntoArray
from sacpy.lang.types import BITS, REAL

MOST_STEP = 4
MOST = 48  # statements of a point, none of them dear
STRIP = 512  # points that are computed at a time


def can_blend(p: g.Partition, goals: Sequence[Goal]) -> bool:
    """Whether a partition's last axis may be run through without gaps, and it pays."""
    if (
        p.rank < 1
        or p.step is None
        or not isinstance(p.step[-1], g.Const)
        or not 2 <= p.step[-1].value <= MOST_STEP
        or (p.width is not None and p.width[-1] != g.Const("int", 1))
    ):
        return False
    goal = goals[0] if len(goals) == 1 else None
    if not isinstance(goal, IntoArray) or goal.earlier or goal.cells:
        return False
    if goal.base not in REAL and BITS.get(goal.base, 0) < 32:
        return False
    along = Along(p.index[-1])
    for s in p.body.statements:
        if (
            not isinstance(s, g.Let)
            or not isinstance(s.rhs, g.Op | g.Load)
            or (isinstance(s.rhs, g.Op) and weight(s.rhs) > 1.0)
        ):
            return False
        if (
            along.see(s)
            and isinstance(s.rhs, g.Load)
            and not {a.name for a in s.rhs.index if isinstance(a, g.Var)} & along.dependent <= along.names
        ):
            return False
    return len(p.body.statements) <= MOST

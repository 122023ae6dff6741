"""Windows that slide: neighbouring rows of cells read the same rows of an array, each an index of its fold later.

In: a contraction whose terms lie side by side along the last axis. Out: which of the elements that a cell loads for an
index k of its fold's first axis are those that the cell above it loads for k + 1, so that rows computed together load
them once.

    part [0,0] <= [i,j] < [n,m]
        with fold(add) part [0,0] <= [k,l] < [5,5]
            r = add! i, k                      row i at k = 1, and row i + 1 at k = 0, load row i + 1 of x
            c = add! j, l
            t = load x[r,c]
"""

from __future__ import annotations

from sacpy.jit.analysis.contractions import Contraction
from sacpy.jit.ir import graph as g

Slope = tuple[int, int] | None  # by how much an int grows with the row and with k; None: otherwise


def sliding(c: Contraction) -> frozenset[str]:
    """The elements that rows share, by name; none where some that lie side by side depend on the row otherwise."""
    if c.packed or c.p.rank < 2:
        return frozenset()
    slopes: dict[str, Slope] = {c.p.index[-2].name: (1, 0), c.k.name: (0, 1)}
    shared: set[str] = set()
    for s in (*c.rows, *c.inner.body.statements):
        if not isinstance(s, g.Let) or not isinstance(s.rhs, g.Op | g.Load):
            return frozenset()
        moving = [slopes.get(a.name, (0, 0)) if isinstance(a, g.Var) else (0, 0) for a in g.operands(s.rhs)]
        slope: Slope = (0, 0)
        if isinstance(s.rhs, g.Load):
            rows = [m for m in moving if m != (0, 0)]
            slope = None if rows else slope
            if s.targets[0].name in c.vectors and rows:
                if any(m is None or m[0] != m[1] for m in rows):
                    return frozenset()
                shared.add(s.targets[0].name)
        elif any(m != (0, 0) for m in moving):
            slope = _sum(s.rhs, moving)
        slopes[s.targets[0].name] = slope
    return frozenset(shared)


def _sum(op: g.Op, moving: list[Slope]) -> Slope:
    """How a sum or a difference that does not wrap grows."""
    if op.code not in ("add", "sub") or not op.exact or None in moving:
        return None
    a, b = (m for m in moving if m is not None)
    sign = 1 if op.code == "add" else -1
    return a[0] + sign * b[0], a[1] + sign * b[1]


__all__ = ["sliding"]

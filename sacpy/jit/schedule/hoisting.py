"""What the body of a partition computes that does not depend on the innermost axes: loops, as over a row, which would
run for each of its elements; and checks. Both would keep LLVM from making vectors of the innermost loop.

In: a partition. Out: its statements by the axis in front of whose loop they may stand, and what is left of it.

    part [0,0] <= [p,q] < [m,n]                for p:
      t = mul p, count                           t = mul p, count
      ok = lt t, k                               ok = lt t, k
      check ok                          ->       check ok
      x = load w[t]                              x = load w[t]
      y = load a[p,q]                            for q:
      ...                                          y = load a[p,q]

Bounds are the same for all rows. So whoever writes the loops can see to it that nothing of this runs where the loops
inside are empty.
"""

from __future__ import annotations

from collections.abc import Iterable

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import free
from sacpy.nodes import Node, replace


class Hoisted(Node):
    """`before[k]`: the statements in front of the loop of axis k, in order (none before axis 0); `partition`: what is
    left."""

    before: tuple[tuple[g.Stmt, ...], ...]
    partition: g.Partition

    def __bool__(self) -> bool:
        return any(self.before)


def hoisted(p: g.Partition, carried: Iterable[g.Var] = ()) -> Hoisted:
    """Takes out of a partition's body what needs the first few index components only, if there are checks or loops
    among it. Operations move freely; a load, or a loop, which may have some, does not come before a check that it stood
    behind. `carried`: what another index may set anew."""
    levels = {v.name: k + 1 for k, v in enumerate(p.index)} | {v.name: p.rank for v in carried}
    before: list[list[g.Stmt]] = [[] for _ in range(p.rank)]
    rest: list[g.Stmt] = []
    checked, found = 0, False  # the axis that all checks so far stand in front of; whether one, or a loop, has moved
    for s in p.body.statements:
        level = _level(s, levels, p.rank)
        if isinstance(s, g.Check):
            checked = max(checked, level)
            found |= level < p.rank
        else:
            loops = _loops(s)
            if isinstance(s.rhs, g.Load) or loops:
                level = max(level, checked)
            if loops:
                checked = max(checked, level)  # there may be checks in it
                found |= level < p.rank
            levels.update(dict.fromkeys((t.name for t in s.targets), level))
        (before[level] if level < p.rank else rest).append(s)
    if not found:
        return Hoisted((), p)
    return Hoisted(tuple(map(tuple, before)), replace(p, body=g.Block(tuple(rest), p.body.results)))


def _level(s: g.Stmt, levels: dict[str, int], rank: int) -> int:
    """How many components of the index a statement needs, at least one; `rank` too if it must stay."""
    if isinstance(s, g.Check):
        return _most((s.condition,), levels)
    if isinstance(s, g.Let) and isinstance(s.rhs, g.Op):
        return _most(s.rhs.args, levels)
    if isinstance(s, g.Let) and isinstance(s.rhs, g.Load):
        return _most((s.rhs.array, *g.extents_of(s.rhs.array), *s.rhs.index), levels)
    if isinstance(s, g.Let) and _loops(s) and not any(isinstance(t.type, g.ArrayType) for t in s.targets):
        return max((levels.get(name, 1) for name in free(g.Block((s,)))), default=1)
    return rank


def _loops(s: g.Let) -> bool:
    """Whether a statement has loops in it, and calls nothing."""
    if not isinstance(s.rhs, g.Loop | g.For | g.WithLoop | g.If):
        return False
    inside = [x.rhs for b in g.blocks(s.rhs) for x in g.statements(b) if isinstance(x, g.Let)]
    return any(isinstance(r, g.Loop | g.For | g.WithLoop) for r in (s.rhs, *inside)) and not any(
        isinstance(r, g.Call) for r in inside
    )


def _most(atoms: Iterable[g.Atom], levels: dict[str, int]) -> int:
    return max((levels.get(a.name, 1) for a in atoms if isinstance(a, g.Var)), default=1)

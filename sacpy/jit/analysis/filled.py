"""Arrays made full of one value of which a loop then sets every element, before anybody looks at one.

In: a block. Out: the names of such arrays, whose memory need not be filled.

    a = with [n]                                      no partition
        genarray double default 0.0
    b = for i from 0 to n step 1 with p := a          every index of the first axis; nobody else uses a
      ...                                             nor p, but for the update
      u = update p[i] with x
      next u
"""

from __future__ import annotations

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import uses


def set_whole(block: g.Block) -> frozenset[str]:
    """The arrays of a block that a loop of the block sets anew from end to end."""
    fills: dict[str, g.Atom] = {}
    made: dict[str, g.Rhs] = {}
    found: set[str] = set()
    for s in block.statements:
        if not isinstance(s, g.Let) or not s.targets:  # loops in which something may fail need not give anything
            continue
        made[s.targets[0].name] = s.rhs
        if _is_fill(s.rhs):
            fills[s.targets[0].name] = s.rhs.frame[0]  # type: ignore[union-attr, index]
        elif isinstance(s.rhs, g.For) and fills:
            found |= {
                a.name
                for p, a in zip(s.rhs.params, s.rhs.initial)
                if isinstance(a, g.Var) and a.name in fills and _sets_all(s.rhs, p, fills[a.name], made)
            }
    if not found:
        return frozenset()
    count = uses(block)
    return frozenset(name for name in found if count[name] == 1)


def _is_fill(rhs: g.Rhs) -> bool:
    """Whether a right-hand side is a new array of one value."""
    return (
        isinstance(rhs, g.WithLoop)
        and not rhs.partitions
        and bool(rhs.frame)
        and len(rhs.operators) == 1
        and isinstance(rhs.operators[0], g.Genarray)
    )


def _sets_all(r: g.For, p: g.Var, extent: g.Atom, made: dict[str, g.Rhs]) -> bool:
    """Whether the rounds of a loop set every element of an array that they carry, and do not read it."""
    up = r.step == 1 and r.lower == g.integer(0) and r.upper == extent
    last = made.get(r.lower.name) if isinstance(r.lower, g.Var) else None
    down = r.step == -1 and r.upper == g.integer(-1) and last == g.Op("add", (extent, g.integer(-1)), True)
    if not (up or down) or uses(r.body)[p.name] != 1:
        return False
    result = r.body.results[r.params.index(p)]
    return any(
        isinstance(s, g.Let)
        and s.targets == (result,)
        and isinstance(s.rhs, g.Update)
        and (s.rhs.array, s.rhs.index) == (p, (r.index,))
        for s in r.body.statements
    )

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
from sacpy.jit.ir.rewrite import setters, uses


def set_whole(block: g.Block) -> frozenset[str]:
    """The arrays of a block that a loop of the block sets anew from end to end."""
    filled = {s.targets[0].name for s in block.statements if isinstance(s, g.Let) and _is_fill(s.rhs)}
    handed = [
        (s, k, a.name)
        for s in block.statements
        if isinstance(s, g.Let) and isinstance(s.rhs, g.For)
        for k, a in enumerate(s.rhs.initial)
        if isinstance(a, g.Var) and a.name in filled
    ]
    if not handed:
        return frozenset()
    from sacpy.jit.analysis.depends import fills

    count, made = uses(block), setters(block.statements)
    return frozenset(name for s, k, name in handed if count[name] == 1 and fills(s, k, made, {}))


def _is_fill(rhs: g.Rhs) -> bool:
    """Whether a right-hand side is a new array of one value."""
    return (
        isinstance(rhs, g.WithLoop)
        and not rhs.partitions
        and bool(rhs.frame)
        and len(rhs.operators) == 1
        and isinstance(rhs.operators[0], g.Genarray)
    )

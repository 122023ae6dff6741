"""Loops inside a partition whose lengths change with its first index: rows of a triangle, of a band.

In: a partition. Out: the operations from which those lengths follow, given the index. What deals rows to threads makes
chunks of equal work of them; who estimates the work evaluates them at both ends.
"""

from __future__ import annotations

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import bound
from sacpy.nodes import Node

COMPUTED = frozenset(("add", "sub", "mul", "div", "neg", "abs", "min", "max", "tol", "toi"))


class Lengths(Node):
    """`index`: the name of the partition's first index; `ops`: what follows from it and from what is around the
    partition, by name; `moving`: the names that change with the index."""

    index: str
    ops: dict[str, g.Op]
    moving: frozenset[str]


def lengths(p: g.Partition) -> Lengths | None:
    """None where no loop inside has a length that changes with the first index in a way that is known."""
    if not p.rank or p.step is not None:
        return None
    inner = bound(p.body) | {i.name for i in p.index[1:]}
    ops: dict[str, g.Op] = {}
    moving = {p.index[0].name}
    uneven = any(isinstance(a, g.Var) and a.name in moving for a in (*p.lower[1:], *p.upper[1:]))
    for s in g.statements(p.body):
        if not isinstance(s, g.Let):
            continue
        rhs = s.rhs
        if isinstance(rhs, g.Op) and rhs.code in COMPUTED and rhs.args[0].base in ("int", "long"):
            names = {a.name for a in rhs.args if isinstance(a, g.Var)}
            if names <= ops.keys() | moving or not names & inner - ops.keys():
                name = s.targets[0].name
                ops[name] = rhs
                if names & moving:
                    moving.add(name)
        elif isinstance(rhs, g.WithLoop):
            ends = [a for q in rhs.partitions for a in (*q.lower, *q.upper)]
            uneven |= any(isinstance(a, g.Var) and a.name in moving for a in ends)
        elif isinstance(rhs, g.For):
            uneven |= any(isinstance(a, g.Var) and a.name in moving for a in (rhs.lower, rhs.upper))
    return Lengths(p.index[0].name, ops, frozenset(moving)) if uneven else None


__all__ = ["Lengths", "lengths"]

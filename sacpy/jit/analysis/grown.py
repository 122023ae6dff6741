"""Rows that grow: in which a partition's index lies, as that of one does whose bounds depend on positions.

In: a partition. Out: with what its body asks for the row and the place in it of its own index, so that who runs it row
by row, or position by position, can say so without a root.
"""

from __future__ import annotations

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.operations import PLACES
from sacpy.jit.ir.rewrite import bound, rights
from sacpy.nodes import Node


class Rows(Node):
    """`asked`: the operands with which the body asks, the index first; then there are how many elements the shortest
    row has, how much each is longer than the one before it, and how many there are."""

    asked: tuple[g.Atom, ...]

    @property
    def growth(self) -> int:
        growth = self.asked[2]
        assert isinstance(growth, g.Const)
        return int(growth.value)

    @property
    def sizes(self) -> tuple[g.Atom, g.Atom]:
        """How many elements the shortest row has, and how many rows there are."""
        return self.asked[1], self.asked[3]


def rows_of(p: g.Partition) -> Rows | None:
    """The rows in which a partition's index lies; None where its body does not ask, or asks in several ways."""
    if p.rank != 1 or p.step is not None or p.lower != (g.integer(0),):
        return None
    asked = {op.args for op in rights(p.body, g.Op) if op.code in PLACES and op.args[0] == p.index[0]}
    own = bound(p.body) | {v.name for v in p.index} if asked else set()
    found = [args for args in asked if not any(isinstance(a, g.Var) and a.name in own for a in args[1:])]
    return Rows(found[0]) if len(found) == 1 else None


__all__ = ["Rows", "rows_of"]

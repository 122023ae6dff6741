"""Rows that grow: in which a partition's index lies, as that of one does whose bounds depend on positions.

In: a partition. Out: with what its body asks for the row and the place in it of its own index, so that who runs it row
by row, or position by position, can say so without a root or a division. Rows may come in blocks of equally many
elements, those of `[b,i,j] < [m, n, i+1]` say: then the body asks for the block, and for the row of what is left.
"""

from __future__ import annotations

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.operations import PLACES
from sacpy.jit.ir.rewrite import bound
from sacpy.nodes import Node

Asked = tuple[g.Atom, ...]


class Rows(Node):
    """`index`: that of the partition. `levels`: the operands with which the body asks, the outermost blocks first: a
    number, that of the index from the partition's lower bound `first` on and then what is left of it; how many elements
    the shortest row has, how much each is longer than the one before it, and how many there are. Only rows of the last
    level may grow."""

    index: g.Var
    levels: tuple[Asked, ...]
    first: g.Atom

    @property
    def asked(self) -> Asked:
        """How the body asks for rows."""
        return self.levels[-1]

    @property
    def growth(self) -> int:
        return growth_of(self.asked)

    @property
    def counts(self) -> tuple[g.Atom, ...]:
        """How many blocks there are, of blocks in blocks, and how many rows in the innermost."""
        return tuple(level[3] for level in self.levels)

    @property
    def sizes(self) -> tuple[g.Atom, ...]:
        """All that says how long rows are, how many there are, and where they begin."""
        return self.first, *(a for level in self.levels for a in (level[1], level[3]))


def growth_of(asked: Asked) -> int:
    """How much rows grow."""
    growth = asked[2]
    assert isinstance(growth, g.Const), "by how much rows grow is known"
    return int(growth.value)


def rows_of(p: g.Partition) -> Rows | None:
    """The rows in which a partition's index lies; None where its body does not ask, or asks in several ways."""
    if p.rank != 1 or p.step is not None:
        return None
    places = [
        s for s in g.statements(p.body) if isinstance(s, g.Let) and isinstance(s.rhs, g.Op) and s.rhs.code in PLACES
    ]
    if not places:
        return None
    own = bound(p.body) | {v.name for v in p.index}
    number, levels = _number(p), list[Asked]()
    while True:
        asked = {s.rhs.args for s in places if isinstance(s.rhs, g.Op) and s.rhs.args[0] == number}
        found = [args for args in asked if not any(isinstance(a, g.Var) and a.name in own for a in args[1:])]
        if len(found) != 1:
            break
        levels += found
        left = (s.targets[0] for s in places if s.rhs == g.Op("column", found[0]))
        number = next(left, None)
        if number is None or growth_of(found[0]):
            break
    return Rows(p.index[0], tuple(levels), p.lower[0]) if levels else None


def _number(p: g.Partition) -> g.Atom | None:
    """The number of the index among those of the partition."""
    lower, index = p.lower[0], p.index[0]
    if lower == g.integer(0):
        return index
    forms: list[tuple[str, Asked]] = [("sub", (index, lower))]
    if isinstance(lower, g.Const):
        forms.append(("add", (index, g.integer(-int(lower.value)))))
    for s in p.body.statements:
        if isinstance(s, g.Let) and isinstance(s.rhs, g.Op) and (s.rhs.code, s.rhs.args) in forms:
            return s.targets[0]
    return None


__all__ = ["Rows", "growth_of", "rows_of"]

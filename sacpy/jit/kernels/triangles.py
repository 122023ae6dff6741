"""Partitions over the elements of rows that grow: triangles.

In: a partition whose body asks in which row its index lies, as one does whose bounds depend on positions. Out: the
space of its positions, two axes, and the code with which a thread that has a position goes on: the number of the
element, and what the body asks for, so that no root is taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.operations import PLACES
from sacpy.jit.ir.rewrite import bound
from sacpy.jit.kernels.numbers import Numbers, maybe_dense, maybe_zero_based
from sacpy.jit.kernels.source import number_of
from sacpy.jit.kernels.thread import Thread
from sacpy.nodes import Node
from sacpy.withloop.chains import Chain, Mapping
from sacpy.withloop.devices import DeviceLimits
from sacpy.withloop.spaces import IndexSpace


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

    def space(self, numbers: Numbers) -> IndexSpace | None:
        """The positions of all elements; None where no row can be so."""
        least, rows = (number_of(a, numbers) for a in self.sizes)
        first = least if self.growth > 0 else least - self.growth * max(0, rows - 1)
        return IndexSpace.rows((rows, first), self.growth) if least >= 0 else None

    def element(self, thread: Thread, position: Sequence[g.Atom]) -> g.Atom:
        """Code of one thread: the number of the element at a position, which is kept for when the body asks for it."""
        (row, column), b = position, thread.b
        least, rows = thread.atoms(self.sizes)
        thread.places[self.asked] = row, column
        one = g.integer(1)
        first = least
        if self.growth < 0:
            first = b.op("add", least, self._times(thread, b.op("sub", rows, one)))
        # row (row - 1) / 2, of which the even factor is halved first, as the product may not fit
        steps = b.op("mul", b.op("bitor", b.op("sub", row, one), one), b.op("shr", row, one))
        before = b.op("mul", row, first) if first != one else row
        before = b.op("add" if self.growth > 0 else "sub", before, self._times(thread, steps))
        return b.op("add", before, column)

    def _times(self, thread: Thread, a: g.Atom) -> g.Atom:
        """An int times the growth, whatever its sign."""
        by = abs(self.growth)
        return a if by == 1 else thread.b.op("mul", a, g.integer(by))


def rows_of(p: g.Partition) -> Rows | None:
    """The rows in which a partition's index lies; None where its body does not ask, or asks in several ways."""
    if p.rank != 1 or p.step is not None or p.lower != (g.integer(0),):
        return None
    own = bound(p.body) | {v.name for v in p.index}
    asked = {
        s.rhs.args
        for s in g.statements(p.body)
        if isinstance(s, g.Let) and isinstance(s.rhs, g.Op) and s.rhs.code in PLACES and s.rhs.args[0] == p.index[0]
    }
    found = [args for args in asked if not any(isinstance(a, g.Var) and a.name in own for a in args[1:])]
    return Rows(found[0]) if len(found) == 1 else None


def sizes(partitions: Iterable[g.Partition]) -> list[g.Atom]:
    """The ints of which spaces of positions are made."""
    return [a for p in partitions if (rows := rows_of(p)) is not None for a in rows.sizes]


def positions(p: g.Partition, space: IndexSpace, numbers: Numbers) -> IndexSpace:
    """The space that a mapping of a partition, or of a piece of it, is of: where that is all elements of rows that
    grow, their positions."""
    rows = rows_of(p)
    found = None if rows is None else rows.space(numbers)
    return space if found is None or space.normalised() != IndexSpace.box((found.size,)) else found


def index_of(p: g.Partition, mapping: Mapping, thread: Thread, position: tuple[g.Atom, ...]) -> tuple[g.Atom, ...]:
    """Code of one thread: the index at a position of a mapping's space."""
    rows = rows_of(p) if mapping.space.growth else None
    return position if rows is None else (rows.element(thread, position),)


def check(chain: Chain, p: g.Partition, device: DeviceLimits) -> None:
    """Raises `MappingError` for what is wrong with the mapping of a partition whatever its bounds are."""
    rows = rows_of(p)
    if rows is not None:
        chain.check(2, device, growth=rows.growth)
    else:
        chain.check(p.rank, device, maybe_zero_based(p), maybe_dense(p))

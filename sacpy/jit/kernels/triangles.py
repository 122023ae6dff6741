"""Partitions over the elements of rows that grow: triangles.

In: a partition whose body asks in which row its index lies, as one does whose bounds depend on positions. Out: the
space of its positions, two axes, and the code with which a thread that has a position goes on: the number of the
element, and what the body asks for, so that no root is taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sacpy.jit.analysis.grown import Rows, rows_of
from sacpy.jit.ir import graph as g
from sacpy.jit.kernels.numbers import Numbers, maybe_dense, maybe_zero_based
from sacpy.jit.kernels.source import number_of
from sacpy.jit.kernels.thread import Thread
from sacpy.withloop.chains import Chain, Mapping
from sacpy.withloop.devices import DeviceLimits
from sacpy.withloop.spaces import IndexSpace


def space_of_rows(rows: Rows, numbers: Numbers) -> IndexSpace | None:
    """The positions of all elements; None where no row can be so."""
    least, count = (number_of(a, numbers) for a in rows.sizes)
    first = least if rows.growth > 0 else least - rows.growth * max(0, count - 1)
    return IndexSpace.rows((count, first), rows.growth) if least >= 0 else None


def element(rows: Rows, thread: Thread, position: Sequence[g.Atom]) -> g.Atom:
    """Code of one thread: the number of the element at a position, which is kept for when the body asks for it."""
    (row, column), b = position, thread.b
    least, count = thread.atoms(rows.sizes)
    thread.places[rows.asked] = row, column
    one, growth = g.integer(1), abs(rows.growth)

    def grown(a: g.Atom) -> g.Atom:
        return a if growth == 1 else b.op("mul", a, g.integer(growth))

    first = b.op("add", least, grown(b.op("sub", count, one))) if rows.growth < 0 else least
    # row (row - 1) / 2, of which the even factor is halved first, as the product may not fit
    steps = b.op("mul", b.op("bitor", b.op("sub", row, one), one), b.op("shr", row, one))
    before = b.op("mul", row, first) if first != one else row
    return b.op("add", b.op("add" if rows.growth > 0 else "sub", before, grown(steps)), column)


def sizes(partitions: Iterable[g.Partition]) -> list[g.Atom]:
    """The ints of which spaces of positions are made."""
    return [a for p in partitions if (rows := rows_of(p)) is not None for a in rows.sizes]


def positions(p: g.Partition, space: IndexSpace, numbers: Numbers) -> IndexSpace:
    """The space that a mapping of a partition, or of a piece of it, is of: where that is all elements of rows that
    grow, their positions."""
    rows = rows_of(p)
    found = None if rows is None else space_of_rows(rows, numbers)
    return space if found is None or space.normalised() != IndexSpace.box((found.size,)) else found


def index_of(p: g.Partition, mapping: Mapping, thread: Thread, position: tuple[g.Atom, ...]) -> tuple[g.Atom, ...]:
    """Code of one thread: the index at a position of a mapping's space."""
    rows = rows_of(p) if mapping.space.growth else None
    return position if rows is None else (element(rows, thread, position),)


def check(chain: Chain, p: g.Partition, device: DeviceLimits) -> None:
    """Raises `MappingError` for what is wrong with the mapping of a partition whatever its bounds are."""
    rows = rows_of(p)
    if rows is not None:
        chain.check(2, device, growth=rows.growth)
    else:
        chain.check(p.rank, device, maybe_zero_based(p), maybe_dense(p))

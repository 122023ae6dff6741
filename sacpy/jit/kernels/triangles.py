"""Partitions over the elements of rows that grow: triangles, and blocks of such.

In: a partition whose body asks in which row its index lies, as one does whose bounds depend on positions. Out: the
space of its positions, an axis for each level of blocks and two for the rows, and the code with which a thread that has
a position goes on: the number of the element, and what the body asks for, so that no root is taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sacpy.jit.analysis.grown import Asked, Rows, growth_of, rows_of
from sacpy.jit.ir import graph as g
from sacpy.jit.kernels.numbers import Numbers, maybe_dense, maybe_zero_based
from sacpy.jit.kernels.source import number_of
from sacpy.jit.kernels.thread import Thread
from sacpy.withloop.chains import Chain, Mapping
from sacpy.withloop.devices import DeviceLimits
from sacpy.withloop.spaces import IndexSpace


def space_of_rows(rows: Rows, numbers: Numbers) -> IndexSpace | None:
    """The positions of all elements; None where no row can be so."""
    counts = tuple(max(0, number_of(a, numbers)) for a in rows.counts)
    least = number_of(rows.asked[1], numbers)
    first = least if rows.growth > 0 else least - rows.growth * max(0, counts[-1] - 1)
    return IndexSpace.rows((*counts, first), rows.growth) if least >= 0 else None


def element(rows: Rows, thread: Thread, position: Sequence[g.Atom]) -> g.Atom:
    """Code of one thread: the number of the element at a position, which is kept for when the body asks for it."""
    b, left = thread.b, position[-1]
    for asked, row in reversed(tuple(zip(rows.levels, position[:-1], strict=True))):
        thread.places[asked] = row, left
        left = b.op("add", _before(asked, thread, row), left)
    first = thread.atom(rows.first)
    return left if first == g.integer(0) else b.op("add", first, left)


def _before(asked: Asked, thread: Thread, row: g.Atom) -> g.Atom:
    """How many elements lie in the rows before one."""
    b, growth = thread.b, growth_of(asked)
    least, count = thread.atom(asked[1]), thread.atom(asked[3])
    one, by = g.integer(1), abs(growth)

    def grown(a: g.Atom) -> g.Atom:
        return a if by == 1 else b.op("mul", a, g.integer(by))

    first = b.op("add", least, grown(b.op("sub", count, one))) if growth < 0 else least
    before = b.op("mul", row, first) if first != one else row
    if not growth:
        return before
    # row (row - 1) / 2, of which the even factor is halved first, as the product may not fit
    steps = b.op("mul", b.op("bitor", b.op("sub", row, one), one), b.op("shr", row, one))
    return b.op("add" if growth > 0 else "sub", before, grown(steps))


def sizes(partitions: Iterable[g.Partition]) -> list[g.Atom]:
    """The ints of which spaces of positions are made."""
    return [a for p in partitions if (rows := rows_of(p)) is not None for a in rows.sizes]


def positions(p: g.Partition, space: IndexSpace, numbers: Numbers) -> IndexSpace | None:
    """The space that a mapping of a partition, or of a piece of it, is of, where that is all elements of rows; None
    where it is its own."""
    rows = rows_of(p)
    if rows is None:
        return None
    found, first = space_of_rows(rows, numbers), number_of(rows.first, numbers)
    whole = None if found is None else IndexSpace.of((first,), (first + found.size,))
    return found if space.normalised() == whole else None


def index_of(p: g.Partition, mapping: Mapping, thread: Thread, position: tuple[g.Atom, ...]) -> tuple[g.Atom, ...]:
    """Code of one thread: the index at a position of a mapping's space."""
    if mapping.space.rank == p.rank:
        return position
    rows = rows_of(p)
    assert rows is not None, "only positions of rows have more axes than the index"
    return (element(rows, thread, position),)


def check(chain: Chain, p: g.Partition, device: DeviceLimits) -> None:
    """Raises `MappingError` for what is wrong with the mapping of a partition whatever its bounds are."""
    rows = rows_of(p)
    if rows is not None:
        chain.check(len(rows.levels) + 1, device, growth=rows.growth)
    else:
        chain.check(p.rank, device, maybe_zero_based(p), maybe_dense(p))

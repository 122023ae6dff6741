"""Threads with several cells each, neighbours of one another (`Placement.each`).

In: a kernel's frame, the code for one cell. Out: phases in which a thread does that for each of its cells. Where a
block has all of its cells, which one question finds out, nothing else is asked: so the loads of a thread's cells are
under way together, those that lie side by side become one access, and what the cells share is computed once.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

from sacpy.jit.ir import kernel as k
from sacpy.jit.ir.graph import Atom, Var
from sacpy.jit.kernels.builder import Builder
from sacpy.jit.kernels.source import Frame

Code = Callable[[], None]


def counters(b: Builder, frame: Frame) -> tuple[Var, ...]:
    """What counts the threads of a block."""
    return tuple(b.names.var("thread", b.word) for _ in frame.threads)


def positions(b: Builder, frame: Frame, threads: Sequence[Atom]) -> list[list[Atom]]:
    """Along each axis of the block, the positions that a thread has."""
    found = []
    for t, many in zip(threads, frame.mapping.placement.each):
        first = b.op("mul", t, b.word_const(many), exact=True)
        found.append([b.op("add", first, b.word_const(n), exact=True) if n else first for n in range(many)])
    return found


Cell = tuple[tuple[Atom, ...], Atom | None]  # an index, and whether the thread has it (None: it has)


def threads_phase(b: Builder, frame: Frame, body: Callable[[list[Cell]], None]) -> k.ForAll:
    """`body` writes the code for the cells of a thread, which are a box of neighbours, the first and the last one its
    corners."""
    b.open()
    threads = counters(b, frame)
    body([frame.at_position(p) for p in itertools.product(*positions(b, frame, threads))])
    return k.ForAll(threads, frame.threads, b.close())


def cells_phase(b: Builder, frame: Frame, body: Callable[[tuple[Atom, ...]], None]) -> k.ForAll:
    """`body` writes the code for the cell of an index."""

    def cells(places: list[Cell]) -> None:
        _, whole = frame.at_position([b.word_const(extent - 1) for extent in frame.mapping.placement.block])

        def every() -> None:
            for index, _ in places:
                body(index)

        def some() -> None:
            for index, guard in places:
                b.when(guard, lambda index=index: body(index))  # type: ignore[misc]

        either(b, whole, every, some)

    return threads_phase(b, frame, cells)


def either(b: Builder, condition: Atom | None, then: Code, otherwise: Code) -> None:
    """Code for one case or the other; None always holds."""
    if condition is None:
        then()
        return
    b.open()
    then()
    first = b.close()
    b.open()
    otherwise()
    b.add(k.If(condition, first, b.close()))


Place = tuple[Atom, ...]


def rounds_phase(
    b: Builder, frame: Frame, extents: Sequence[int], body: Callable[[list[tuple[Place, Atom | None]]], None]
) -> k.ForAll:
    """All threads together go through a box of these extents, neighbours through neighbouring places of the last axis.
    `body` gets the places of one thread, each with the question whether it is one (None: it is)."""
    b.open()
    threads = counters(b, frame)
    along = frame.mapping.placement.threads
    rows = math.prod(extents[:-1])
    if len(along) == 2 and along[1] == extents[-1]:  # a row of threads has a row of the box
        body(_by_rows(b, threads, along[0], rows, extents))
    else:
        body(_by_numbers(b, threads, along, extents))
    return k.ForAll(threads, frame.threads, b.close())


def _by_rows(
    b: Builder, threads: Sequence[Var], step: int, rows: int, extents: Sequence[int]
) -> list[tuple[Place, Atom | None]]:
    found: list[tuple[Place, Atom | None]] = []
    for start in range(0, rows, step):
        row = b.op("add", threads[0], b.word_const(start), exact=True) if start else threads[0]
        guard = None if start + step <= rows else b.op("lt", row, b.word_const(rows))
        found.append(((*unravelled(b, row, extents[:-1]), threads[1]), guard))
    return found


def _by_numbers(
    b: Builder, threads: Sequence[Var], along: Sequence[int], extents: Sequence[int]
) -> list[tuple[Place, Atom | None]]:
    count, total = math.prod(along), math.prod(extents)
    number: Atom = threads[0]
    for t, extent in zip(threads[1:], along[1:]):
        number = b.op("add", b.op("mul", number, b.word_const(extent), exact=True), t, exact=True)
    found: list[tuple[Place, Atom | None]] = []
    for start in range(0, total, count):
        at = b.op("add", number, b.word_const(start), exact=True) if start else number
        guard = None if start + count <= total else b.op("lt", at, b.word_const(total))
        found.append((unravelled(b, at, extents), guard))
    return found


def unravelled(b: Builder, number: Atom, extents: Sequence[int]) -> Place:
    """The place of a number, which is not negative, in a box."""
    place: list[Atom] = []
    for n in reversed(range(len(extents))):
        extent = extents[n]
        if math.prod(extents[:n]) == 1:  # what is before has one place
            place += [number, *[b.word_const(0)] * n]
            break
        if extent & (extent - 1):
            place.append(b.op("mod", number, b.word_const(extent)))
            number = b.op("div", number, b.word_const(extent))
        else:
            place.append(b.op("bitand", number, b.word_const(extent - 1)))
            number = b.op("shr", number, b.word_const(extent.bit_length() - 1))
    return tuple(reversed(place))

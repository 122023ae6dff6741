"""Kernels that write cells: the pieces of genarray and modarray.

In: a with-loop whose operators are all of these, a mapping for one piece. Out: kernels that compute a partition's
cells, fill cells with the default, copy them from the source array, or do all of these in one launch, each index asking
which partition has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sacpy.jit.ir import graph as g
from sacpy.jit.ir import kernel as k
from sacpy.jit.kernels import triangles
from sacpy.jit.kernels.builder import IrArithmetic
from sacpy.jit.kernels.several import Cell, either, threads_phase
from sacpy.jit.kernels.source import Built, Frame, Source, mapped
from sacpy.jit.kernels.thread import Thread
from sacpy.jit.kernels.values import Memory, Value
from sacpy.nodes import replace
from sacpy.withloop import chains, membership
from sacpy.withloop.arithmetic import Slot
from sacpy.withloop.combinators import Form
from sacpy.withloop.spaces import IndexSpace


def cell_extents(o: g.Genarray | g.Modarray, rank: int) -> tuple[g.Atom, ...]:
    """The extents of one cell."""
    return o.cell if isinstance(o, g.Genarray) else g.extents_of(o.array)[rank:]


def results(thread: Thread, source: Source) -> list[g.Var]:
    """The arrays to be written, as parameters."""
    return [thread.b.result(t.name, t.base, g.extents_of(t)) for t in source.targets]


def compute(
    thread: Thread,
    p: g.Partition,
    index: Sequence[g.Atom],
    arrays: Sequence[g.Var],
    elsewhere: Mapping[int, Memory] | None = None,
) -> None:
    """The code for one index of a partition. `elsewhere`: where cells of some results go instead, by the results'
    places."""
    thread.bind(p.index, list(index))
    cells = [(elsewhere or {}).get(n, Memory(array, tuple(index))) for n, array in enumerate(arrays)]
    made = {
        t.name
        for s in p.body.statements
        if isinstance(s, g.Let) and isinstance(s.rhs, g.WithLoop)
        for t, o in zip(s.targets, s.rhs.operators)
        if isinstance(o, g.Genarray | g.Modarray)
    }
    for r, cell in zip(p.body.results, cells):
        if isinstance(r, g.Var) and r.name in made and thread.uses[r.name] == 1:
            thread.destinations[r.name] = cell

    def finish(values: list[Value]) -> None:
        for cell, v in zip(cells, values, strict=True):
            thread.arrays.assign(cell, v)

    thread.block(p.body, finish)


def default(thread: Thread, o: g.Genarray | g.Modarray, array: g.Var, index: tuple[g.Atom, ...]) -> None:
    """The code for one index that no partition has."""
    cell = Memory(array, index)
    value = (
        thread.value(o.default)
        if isinstance(o, g.Genarray)
        else thread.arrays.view(thread.array(o.array), index)
        if cell.extents
        else thread.arrays.load(thread.array(o.array), index)
    )
    thread.arrays.assign(cell, value)


def partition_kernel(
    source: Source, number: int, mapping: chains.Mapping, block: tuple[int, ...] | None, bits: int
) -> Built:
    """Computes the cells of one partition, or of a piece of it."""
    thread, p = source.thread(f"partition{number}", bits), source.with_loop.partitions[number]
    arrays = results(thread, source)

    def body(position: tuple[g.Atom, ...], _: Sequence[g.Var]) -> None:
        compute(thread, p, triangles.index_of(p, mapping, thread, position), arrays)

    return mapped(thread, mapping, block, (), body)


def default_kernel(
    source: Source, operator: int, rank: int, mapping: chains.Mapping, block: tuple[int, ...] | None, bits: int
) -> Built:
    """Gives cells that no partition has their value. The mapping's space has the axes of the frame (`rank` of them),
    then those of the cell, so that neighbouring threads write neighbouring elements."""
    thread = source.thread("default", bits)
    o = source.with_loop.operators[operator]
    assert isinstance(o, g.Genarray | g.Modarray)
    array = results(thread, source)[operator]
    for other in source.targets:
        if other.name != array.name:
            del thread.b.results[other.name]

    def body(index: tuple[g.Atom, ...], _: Sequence[g.Var]) -> None:
        value: g.Atom
        if isinstance(o, g.Modarray):
            value = thread.arrays.load(thread.array(o.array), index)
        else:
            spread = thread.value(o.default)
            value = spread if isinstance(spread, g.Var | g.Const) else thread.arrays.load(spread, index[rank:])
        thread.arrays.assign(Memory(array, index), value)

    return mapped(thread, mapping, block, (), body)


def pieces_kernel(
    source: Source,
    forms: Sequence[Form],
    spaces: Sequence[IndexSpace],
    only: frozenset[int],
    order: Sequence[int],
    mapping: chains.Mapping,
    block: tuple[int, ...] | None,
    bits: int,
) -> Built:
    """Computes cells of several partitions: each index belongs to the first partition that has it, and is computed if
    the number of that is in `only` (that of the default is behind the last). Where only one partition is in there, the
    mapping is of its own space, else of the frame. `spaces` are those of the partitions, of whose form alone the code
    depends; `order`: that in which they are asked. Where threads have several cells, the first partition has no gaps:
    then it has all of a thread's cells if it has the first and the last one, and none of the others is asked for."""
    thread = source.thread("pieces", bits)
    b = thread.b
    w = source.with_loop
    arrays = results(thread, source)
    names: list[str] = []
    starts: list[int] = []
    slots = [membership.slots(s) for s in spaces]
    for number, own in enumerate(slots):
        starts.append(len(names))
        for slot in own:
            names += [
                f"{slot.name}_{number}",
                *([f"{slot.name}_multiplier", f"{slot.name}_shift"] if slot.divisor else []),
            ]

    asked_for = (*order, len(w.partitions))
    last = max(asked_for.index(number) for number in only)
    frame = Frame(b, mapping, block)
    words = [b.slot(name) for name in names]

    def member(number: int, index: tuple[g.Atom, ...]) -> g.Atom | None:
        own = IrArithmetic(b, words[starts[number] :])
        return membership.member(own, forms[number], positioned(slots[number]), tuple(map(b.as_word, index)))

    def body(index: tuple[g.Atom, ...]) -> None:
        def cell(number: int) -> None:
            if number in only:
                compute(thread, w.partitions[number], index, arrays)

        def one(place: int) -> None:
            if place > last:
                return
            number = asked_for[place]
            if number == len(w.partitions):
                for o, array in zip(w.operators, arrays):
                    assert isinstance(o, g.Genarray | g.Modarray)
                    default(thread, o, array, index)
                return
            if only == {number}:
                cell(number)
                return
            guard = member(number, index)
            if guard is None:
                cell(number)
                return
            b.open()
            cell(number)
            then = b.close()
            b.open()
            one(place + 1)
            b.add(k.If(guard, then, b.close()))

        one(0)

    def asked(cells: list[Cell]) -> None:
        for index, guard in cells:
            b.when(guard, lambda index=index: body(index))  # type: ignore[misc]

    def together(cells: list[Cell]) -> None:
        def first() -> None:
            for index, _ in cells:
                compute(thread, w.partitions[order[0]], index, arrays)

        corners = b.both(member(order[0], cells[0][0]), member(order[0], cells[-1][0]))
        either(b, corners, first, lambda: asked(cells))

    if mapping.placement.each:
        return frame.kernel((threads_phase(b, frame, together),))
    b.open()
    threads, index, guard = frame.index()
    asked([(index, guard)])
    return frame.kernel((k.ForAll(threads, frame.size, b.close()),))


def positioned(slots: Sequence[Slot]) -> list[Slot]:
    """Slots with their places among the words, counted from the first of them."""
    found: list[Slot] = []
    at = 0
    for slot in slots:
        found.append(replace(slot, position=at))
        at += 3 if slot.divisor else 1
    return found

"""Parts that are made in larger arrays, while a block is written: where the memory of these comes from, and when.

In: a block and the plan of its circuits (`analysis/circuits`). Out: before each statement, the places of the arrays
that are made in others; at the points, what is left to do there.
"""

from __future__ import annotations

from sacpy.jit.analysis.circuits import Circuit, Opening, Plan
from sacpy.jit.analysis.makers import arrays_of
from sacpy.jit.analysis.projections import Shift
from sacpy.jit.host.growing import Kept
from sacpy.jit.host.memory import BORROWED, Array, element_address, flat
from sacpy.jit.host.writer import Writer
from sacpy.jit.ir import graph as g
from sacpy.nodes import replace


class Openings:
    """The circuits of a block, while it is written: before each statement what they need is there. `into`: the places
    of the block's arrays, to which those of parts are added; `ahead`: by the number of a statement, those that are
    written before it; `rows`: by the number of one that would copy rows that are lent, these; `done`: those that have
    been written."""

    def __init__(
        self,
        w: Writer,
        block: g.Block,
        plan: Plan,
        into: dict[str, Array],
        ahead: dict[int, tuple[int, ...]],
        rows: dict[int, Kept],
    ) -> None:
        self.w, self.statements, self.plan, self.into, self.ahead = w, block.statements, plan, into, ahead
        self.rows = rows
        self.done: set[int] = set()
        self.lent = frozenset[str]().union(*(o.lent for o in plan.openings.values()))
        self.rooms: dict[str, Array] = {}

    def before(self, number: int) -> bool:
        """What has to be there before a statement: the outer arrays first. Whether it has not been written ahead."""
        self.write(self.ahead.get(number, ()))
        for point, o in sorted(self.plan.openings.items(), reverse=True):
            if o.first == number:
                self.open(point, o)
            if o.begins == number:
                self.begin(o)
        return number not in self.done

    def write(self, numbers: tuple[int, ...]) -> None:
        """Writes statements ahead of their turn."""
        for number in numbers:
            if number not in self.done:
                self.w.statement(self.statements[number], set(), {})
                self.done.add(number)

    def open(self, point: int, o: Opening) -> None:
        """The memory of what parts are made in: a new array's in `begin`; of one that there is, nobody else holds it
        from here on."""
        onto, whole = o.circuits[0].onto, o.circuits[0].whole
        if onto is None:
            return
        w, array = self.w, self.w.array_named(onto.name)
        if whole.name in self.into:
            place = self.into[whole.name]
            w.placed(array, place)
            w.env[onto.name] = replace(array, data=place.data, scope=place.scope, apart=place.apart)
        elif not array.unique:
            w.env[onto.name] = w.owned(array)

    def begin(self, o: Opening) -> None:
        """The places of the parts."""
        w, whole, onto = self.w, o.circuits[0].whole, o.circuits[0].onto
        self.write(o.ahead)
        if onto is not None:
            room = w.array_named(onto.name)
        elif whole.name in self.into:
            room = self.into[whole.name]
        else:
            room = self.rooms[whole.name] = w.allocate(whole.base, w.wides(g.extents_of(whole)))
        for c in o.circuits:
            place = self.place(c, room)
            if onto is not None and not place.scope and self.is_read(c, onto):
                place.scope = w.code.module.scope()  # which stands for what is read, too
            for name in c.names:
                self.into[name] = replace(place)

    def is_read(self, c: Circuit, onto: g.Var) -> bool:
        """Whether a with-loop that makes the part reads the array that it is made in."""
        names, read = {onto.name}, False
        for s in self.statements:
            if isinstance(s, g.Let) and isinstance(s.rhs, g.View) and s.rhs.array.name in names:
                names.add(s.targets[0].name)
            elif isinstance(s, g.Let) and isinstance(s.rhs, g.WithLoop) and any(t.name in c.names for t in s.targets):
                read |= not names.isdisjoint(arrays_of(s))
        return read

    def place(self, c: Circuit, room: Array) -> Array:
        """The memory of a part."""
        w, extents = self.w, self.w.wides(g.extents_of(c.part))
        if c.source is not None:
            return Array(w.array_named(c.source.name).data, BORROWED, room.element, extents)
        first = w.wides(a.start if isinstance(a, Shift) else a for a in c.at)
        at = element_address(w.code, room, flat(w.code, first, room.extents))
        return Array(at, BORROWED, room.element, extents)

    def statement(self, number: int, s: g.Stmt, dying: set[str]) -> None:
        """Runs a statement, with what has been made ahead left out."""
        if number in self.rows and isinstance(s, g.Let):
            from sacpy.jit.host.lending import lend

            if lend(self.w, s.targets[0], self.rows[number], dying):
                return
        o = self.plan.openings.get(number)
        if o is None or not isinstance(s, g.Let):
            if isinstance(s, g.Let) and isinstance(s.rhs, g.View) and s.targets[0].name in self.lent:
                self.lend(s.targets[0], s.rhs)
            else:
                self.w.statement(s, dying, self.into)
            return
        if isinstance(s.rhs, g.Update):
            self.hand_on(s.targets[0], s.rhs.array, dying)
            return
        assert isinstance(s.rhs, g.WithLoop)
        gone = {c.partition for c in o.circuits}
        left = tuple(p for k, p in enumerate(s.rhs.partitions) if k not in gone)
        (target,) = s.targets
        room = self.rooms.pop(target.name, None)
        into = self.into if room is None else {**self.into, target.name: room}
        # where the others cannot be computed in the array that there is, the parts in it are copied from there
        whole = s.rhs.complete and o.circuits[0].onto is None
        self.w.statement(replace(s, rhs=replace(s.rhs, partitions=left, complete=whole)), dying, into)
        if room is not None:
            self.w.env[target.name] = replace(room, scope="", apart=())

    def hand_on(self, target: g.Var, source: g.Var, dying: set[str]) -> None:
        """An update whose value is in its place already, in an array that nobody else holds."""
        if target.name in self.into:
            self.w.env[target.name] = self.w.as_built(self.into[target.name])
        else:
            self.w.bind([target], [self.w.take(source, dying)])

    def lend(self, target: g.Var, view: g.View) -> None:
        """A view that its array outlives: it holds no reference."""
        w, source = self.w, self.w.array_named(view.array.name)
        data = element_address(w.code, source, flat(w.code, w.wides(view.index), source.extents))
        w.bind_array(target, data, BORROWED, source)

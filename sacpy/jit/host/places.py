"""Where the arrays of a block are made: those that are part of a result at once in their place there, small ones that
only their block looks at on the stack.

In: a block, and the places of its results, as far as these are known. Out: places of other arrays of the block.

    c = array of 0.0, 0.0, 0.0                     c    in the place of the cell
    s = for j from 0 to 3 step 1 with t := c       s    in the same place: t is the place all along
      u = update t[j] with x
      next u
    yield s

What becomes another array, by an update or by rounds of updates, shares its place if nobody else needs it
(`analysis/makers`). What is made only to be copied into a part of a larger array is made there
(`analysis/circuits`): `Openings` sees to it that the larger one is there by then.
"""

from __future__ import annotations

from collections.abc import Container
from math import prod

from sacpy.jit.analysis.circuits import Circuit, Opening, Plan
from sacpy.jit.analysis.makers import Makers, only_loads
from sacpy.jit.analysis.projections import Shift
from sacpy.jit.host.memory import BORROWED, Array, element_address, flat
from sacpy.jit.host.writer import Writer
from sacpy.jit.ir.graph import ArrayType, Block, Const, Let, Stmt, Update, Var, View, WithLoop, extents_of
from sacpy.jit.llvm.legal import memory_type, size_of
from sacpy.nodes import replace

LARGEST = 512  # bytes of an array on the stack
MOST = 4096  # bytes of such arrays in one LLVM function


def places(w: Writer, block: Block, owned: Container[str], into: dict[str, Array], plan: Plan) -> dict[str, Array]:
    """The places of the arrays that a block makes, as far as they are known from the start. `owned`: arrays from
    outside that the block takes over; `into`: the places of results that have one; `plan`: which arrays are made in
    others."""
    makers = Makers(block, owned, w.unit.uses.of)
    if not makers.makers:
        return into
    found = dict(into)
    for name, place in into.items():
        for other in makers.chain(name).names:
            found[other] = replace(place)
    results = {a.name for a in block.results if isinstance(a, Var)}
    elsewhere = found.keys() | {name for o in plan.openings.values() for c in o.circuits for name in c.names}
    for name in reversed(makers.makers):
        size = _stack_size(makers.target(name))
        if name in elsewhere or name in results or not 0 < size <= LARGEST or w.on_stack + size > MOST:
            continue
        if not all(only_loads(block.statements[k], name) for k in makers.users.get(name, ())):
            continue
        chain = makers.chain(name)
        if chain.own and not elsewhere & set(chain.names):
            w.on_stack += size
            v = makers.target(name)
            assert isinstance(v.type, ArrayType)
            data = w.code.slot(f"[{size // size_of(v.base)} x {memory_type(v.base)}]")
            for other in (name, *chain.names):
                found[other] = Array(data, BORROWED, v.base, w.wides(v.type.extents))
            elsewhere = elsewhere | {name, *chain.names}
    return found


def _stack_size(v: Var) -> int:
    """The bytes of an array of constant extents; 0 where they are not constant."""
    assert isinstance(v.type, ArrayType)
    extents = [int(e.value) for e in v.type.extents if isinstance(e, Const)]
    return prod(extents) * size_of(v.base) if len(extents) == v.type.rank else 0


class Openings:
    """The circuits of a block, while it is written: before each statement what they need is there. `into`: the places
    of the block's arrays, to which those of parts are added; `done`: the statements that have been written ahead."""

    def __init__(self, w: Writer, block: Block, plan: Plan, into: dict[str, Array]) -> None:
        self.w, self.statements, self.plan, self.into = w, block.statements, plan, into
        self.done: set[int] = set()
        self.lent = frozenset[str]().union(*(o.lent for o in plan.openings.values()))
        self.rooms: dict[str, Array] = {}

    def before(self, number: int) -> None:
        """What has to be there before a statement: the outer arrays first."""
        if not self.plan.openings:
            return
        for point, o in sorted(self.plan.openings.items(), reverse=True):
            if o.first == number:
                self.open(point, o)
            if o.begins == number:
                self.begin(o)

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
        for number in o.ahead:
            if number not in self.done:
                w.statement(self.statements[number], set(), {})
                self.done.add(number)
        if onto is not None:
            room = w.array_named(onto.name)
        elif whole.name in self.into:
            room = self.into[whole.name]
        else:
            room = self.rooms[whole.name] = w.allocate(whole.base, w.wides(extents_of(whole)))
        for c in o.circuits:
            place = self.place(c, room)
            for name in c.names:
                self.into[name] = replace(place)

    def place(self, c: Circuit, room: Array) -> Array:
        """The memory of a part."""
        w, extents = self.w, self.w.wides(extents_of(c.part))
        if c.source is not None:
            return Array(w.array_named(c.source.name).data, BORROWED, room.element, extents)
        first = w.wides(a.start if isinstance(a, Shift) else a for a in c.at)
        at = element_address(w.code, room, flat(w.code, first, room.extents))
        return Array(at, BORROWED, room.element, extents)

    def statement(self, number: int, s: Stmt, dying: set[str]) -> None:
        """Runs a statement, with what has been made ahead left out."""
        o = self.plan.openings.get(number)
        if o is None or not isinstance(s, Let):
            if isinstance(s, Let) and isinstance(s.rhs, View) and s.targets[0].name in self.lent:
                self.lend(s.targets[0], s.rhs)
            else:
                self.w.statement(s, dying, self.into)
            return
        if isinstance(s.rhs, Update):
            self.w.hand_on(s.targets[0], s.rhs.array, dying, self.into)
            return
        assert isinstance(s.rhs, WithLoop)
        gone = {c.partition for c in o.circuits}
        left = tuple(p for k, p in enumerate(s.rhs.partitions) if k not in gone)
        (target,) = s.targets
        room = self.rooms.pop(target.name, None)
        into = self.into if room is None else {**self.into, target.name: room}
        self.w.statement(replace(s, rhs=replace(s.rhs, partitions=left)), dying, into)
        if room is not None:
            self.w.env[target.name] = replace(room, scope="", apart=())

    def lend(self, target: Var, view: View) -> None:
        """A view that its array outlives: it holds no reference."""
        w, source = self.w, self.w.array_named(view.array.name)
        data = element_address(w.code, source, flat(w.code, w.wides(view.index), source.extents))
        w.bind_array(target, data, BORROWED, source)

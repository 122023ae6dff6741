"""Blocks of statements in the simulator of plans: who gives arrays their memory, and when it is given up.

In: a block, the arrays that it takes over, and the places of its results. Out: what it gives. What is done before each
statement is what `host/openings` does when code is written, told once more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from sacpy.interp.values import dtype_of
from sacpy.jit.analysis.ahead import Ahead
from sacpy.jit.analysis.circuits import NOTHING, Opening, Outside, circuits
from sacpy.jit.analysis.makers import Makers, arrays_of
from sacpy.jit.analysis.projections import Shift
from sacpy.jit.analysis.versions import handed_on, is_updated
from sacpy.jit.host.lending import lent_rows
from sacpy.jit.host.places import MOST, on_stack
from sacpy.jit.host.scratch import staged
from sacpy.jit.ir import graph as g
from sacpy.nodes import replace
from tests.jit.graph_evaluator import CheckFailed, Evaluator
from tests.jit.simulated_loops import Loops
from tests.jit.simulated_memory import Lying, Memory, Place, replace_lying

if TYPE_CHECKING:
    from tests.jit.memory_simulator import Simulator


class Running:
    """One block while it runs."""

    def __init__(self, s: Simulator, b: g.Block, owned: Collection[str], into: dict[str, Place]) -> None:
        self.s, self.b, self.mine = s, b, set(owned)
        ints = s.ints[s.function.name]
        self.plan = circuits(b, self.mine, arrays_of, ints, s.outside)
        if s.tamper is not None and self.plan is not NOTHING:
            self.plan = s.tamper(b, self.plan)
        s.circuits += len(self.plan.placed)
        self.makers = Makers(b, self.mine, arrays_of, s.known)
        self.early: dict[int, set[int]] = {}
        self.into = self.fitting(into)
        for name, place in list(self.into.items()):
            if name in self.makers.makers:
                self.into.update(dict.fromkeys(self.makers.chain(name).names, place))
        taken = {*self.into, *self.plan.placed}
        self.stacked: list[Memory] = []  # which are gone when the block is
        for names, _ in on_stack(self.makers, b, taken, MOST):
            v = self.makers.target(names[0])
            shape = s.shape(g.extents_of(v))
            self.stacked.append(s.new(shape, dtype_of(v.base)))
            self.into.update(dict.fromkeys(names, Place(self.stacked[-1], 0, shape)))
        if s.scratch is not None:
            for names in staged(self.makers, b, self.plan, {*self.into, *self.plan.placed}):
                v = self.makers.target(names[0])
                self.into.update(dict.fromkeys(names, s.shared(v, s.shape(g.extents_of(v)))))
        self.rows = lent_rows(b, self.makers, {*self.into, *self.plan.placed}, s.known, ints)
        self.lent = frozenset[str]().union(*(o.lent for o in self.plan.openings.values()))
        self.rooms: dict[str, Place] = {}
        self.done: set[int] = set()

    def fitting(self, into: dict[str, Place]) -> dict[str, Place]:
        """The places that are certainly as large as what is made there."""
        told, found = Ahead(self.b), dict[str, Place]()
        for name, place in into.items():
            if name not in told.set_by:
                continue
            s = self.b.statements[told.set_by[name]]
            assert isinstance(s, g.Let)
            names = {name, *(self.makers.chain(name).names if name in self.makers.makers else ())}
            first = min(told.set_by[n] for n in names)
            first = min([first, *(o.first for o in self.plan.openings.values() if o.circuits[0].whole.name in names)])
            checks = []
            for extent, other in zip(next(g.extents_of(t) for t in s.targets if t.name == name), place.shape):

                def is_other(a: g.Atom, other: int = other) -> bool:
                    return (isinstance(a, g.Const) or a.name in self.s.env) and self.s.scalar(a) == other

                checks.append(() if is_other(extent) else told.equal(extent, is_other, first))
            if None not in checks:
                found[name] = place
                self.early.setdefault(first, set()).update(n for c in checks for n in c or ())
        return found

    def run(self) -> list[Any]:
        s, last = self.s, dict[str, int]()
        for number, statement in enumerate(self.b.statements):
            last.update(dict.fromkeys(arrays_of(statement), number))
        end = len(self.b.statements)
        last.update({a.name: end for a in self.b.results if isinstance(a, g.Var) and isinstance(a.type, g.ArrayType)})
        for name in self.mine - last.keys():
            s.release(s.env[name])
        self.mine &= last.keys()
        for number, statement in enumerate(self.b.statements):
            self.before(number)
            if number in self.done:
                continue
            dying = {name for name in arrays_of(statement) if name in self.mine and last[name] == number}
            self.mine -= dying
            self.statement(number, statement, dying)
            for name in dying:
                s.release(s.env[name])
            if isinstance(statement, g.Let):
                for t in statement.targets:
                    if isinstance(t.type, g.ArrayType):
                        if t.name in last:
                            self.mine.add(t.name)
                        else:
                            s.release(s.env[t.name])
        found = [s.take(a, self.mine) for a in self.b.results]
        for v in found:
            if isinstance(v, Lying) and v.counted and v.block.holders > 1:
                v.mine = False
        for block in self.stacked:
            block.holders = 0
        return found

    # ---- circuits

    def before(self, number: int) -> None:
        self.write(sorted(self.early.get(number, ())))
        for _, o in sorted(self.plan.openings.items(), reverse=True):
            if o.first == number:
                self.open(o)
            if o.begins == number:
                self.begin(o)

    def write(self, numbers: Iterable[int]) -> None:
        for n in numbers:
            if n not in self.done:
                self.statement(n, self.b.statements[n], set())
                self.done.add(n)

    def open(self, o: Opening) -> None:
        onto, whole = o.circuits[0].onto, o.circuits[0].whole
        if onto is None:
            return
        array = self.s.env[onto.name]
        if whole.name in self.into:
            place = self.into[whole.name]
            self.s.placed(array, place)
            self.s.env[onto.name] = replace_lying(
                array, block=place.block, offset=place.offset, counted=False, mine=True
            )
            self.s.release(array)
        else:
            self.s.env[onto.name] = self.s.owned(array)

    def begin(self, o: Opening) -> None:
        whole, onto = o.circuits[0].whole, o.circuits[0].onto
        self.write(o.ahead)
        shape = self.s.shape(g.extents_of(whole))
        if onto is not None:
            array = self.s.env[onto.name]
            room = Place(array.block, array.offset, shape)
        elif whole.name in self.into:
            room = self.into[whole.name]
        else:
            room = self.rooms[whole.name] = Place(self.s.new(shape, dtype_of(whole.base)), 0, shape)
        for c in o.circuits:
            part = self.s.shape(g.extents_of(c.part))
            if c.source is not None:
                source = self.s.env[c.source.name]
                place = Place(source.block, source.offset, part)
            else:
                first = self.s.shape([a.start if isinstance(a, Shift) else a for a in c.at])
                at = int(np.dot(first, [prod(room.shape[k + 1 :]) for k in range(len(room.shape))]))
                place = Place(room.block, room.offset + at, part)
            self.into.update(dict.fromkeys(c.names, place))

    # ---- statements

    def statement(self, number: int, s: g.Stmt, dying: set[str]) -> None:
        sim = self.s
        sim.step(1)
        if isinstance(s, g.Check):
            if not sim.scalar(s.condition):
                raise CheckFailed(s.what)
            return
        o = self.plan.openings.get(number)
        if number in self.rows and not (old := sim.env[self.rows[number].load.array.name]).block.kept and old.counted:
            self.lend(s, self.rows[number], dying)
        elif o is None:
            if isinstance(s.rhs, g.View) and s.targets[0].name in self.lent:
                sim.env[s.targets[0].name] = replace_lying(self.view(s.rhs), counted=False)
            else:
                self.let(s, dying)
        elif isinstance(s.rhs, g.Update):
            target, value = s.targets[0].name, self.updated(s.rhs)
            if target in self.into:
                sim.env[target] = sim.at(self.into[target], value)
            else:
                sim.env[target] = replace_lying(sim.take(s.rhs.array, dying), value=value)
        else:
            assert isinstance(s.rhs, g.WithLoop)
            gone = {c.partition for c in o.circuits}
            w = s.rhs
            left = tuple(p for k, p in enumerate(w.partitions) if k not in gone)
            (target_,) = s.targets
            room = self.rooms.pop(target_.name, None)
            whole = sim.whole(w)
            place = room or self.into.get(target_.name)
            self.arrived(o, whole[0])
            sim.env[target_.name] = Loops(
                sim, replace(w, partitions=left, complete=w.complete and o.circuits[0].onto is None), dying
            ).run(s.targets, [place], whole)[0]
            if room is not None:
                sim.env[target_.name] = replace_lying(sim.env[target_.name], counted=True, mine=True)

    def arrived(self, o: Opening, whole: np.ndarray[Any, Any]) -> None:
        """Of the array that parts have been made in, its value has them from here on."""
        onto = o.circuits[0].onto
        if onto is None:
            return
        array = self.s.env[onto.name]
        value = array.value.copy()
        for c in o.circuits:
            at = [(a, self.s.shape(g.extents_of(c.part))) for a in c.at]
            index = tuple(
                slice(f := self.s.scalar(a.start), f + n[a.axis]) if isinstance(a, Shift) else self.s.scalar(a)
                for a, n in at
            )
            value[index] = whole[index]
        self.s.env[onto.name] = replace_lying(array, value=value)

    def lend(self, s: g.Let, kept: Any, dying: set[str]) -> None:
        sim = self.s
        source = sim.take(kept.load.array, dying)
        (p,) = s.rhs.partitions  # type: ignore[union-attr]
        value = sim.whole(s.rhs)[0]
        sim.env[p.index[0].name] = sim.scalar(p.lower[0])
        for before in kept.before:
            sim.env[before.targets[0].name] = sim.op(before.rhs)
        first = sim.scalar(kept.load.index[0]) if value.size else 0
        sim.env[s.targets[0].name] = replace_lying(
            source, value=value, offset=source.offset + first * prod(source.value.shape[1:])
        )

    def view(self, r: g.View) -> Lying:
        source = self.s.env[r.array.name]
        index = self.s.shape(r.index)
        assert Evaluator.inside(index, source.value.shape)
        at = sum(i * prod(source.value.shape[k + 1 :]) for k, i in enumerate(index))
        return replace_lying(source, value=source.value[index], offset=source.offset + at)

    def updated(self, r: g.Update) -> np.ndarray[Any, Any]:
        """The value of an update."""
        new = self.s.env[r.array.name].value.copy()
        value = self.s.scalar(r.value)
        index = self.s.shape(r.index)
        assert Evaluator.inside(index, new.shape)
        new[index] = value.value if isinstance(value, Lying) else value
        return new

    def let(self, s: g.Let, dying: set[str]) -> None:
        sim, r = self.s, s.rhs
        name = s.targets[0].name if s.targets else ""
        place = self.into.get(name)
        match r:
            case g.Var() | g.Const():
                sim.env[name] = sim.take(r, dying)
            case g.Op():
                sim.env[name] = sim.op(r)
            case g.Load():
                sim.env[name] = sim.load(r)
            case g.View():
                view = self.view(r)
                source = sim.take(r.array, dying)
                sim.env[name] = replace_lying(view, counted=source.counted, mine=source.mine)
            case g.Reshape():
                source = sim.take(r.array, dying)
                sim.env[name] = replace_lying(source, value=source.value.reshape(sim.shape(r.extents)))
            case g.Cons():
                value = np.array([sim.scalar(a) for a in r.elements], dtype_of(r.base)).reshape(r.extents)
                sim.env[name] = sim.made(value, place)
            case g.Update():
                self.update(name, r, dying, place)
            case g.Call():
                f = sim.unit.function(r.function)
                over = sim.known.over.get(r.function, {})
                can = {*sim.known.some.get(r.function, ()), *over}
                placed = {k: self.into[t.name] for k, t in enumerate(s.targets) if k in can and t.name in self.into}
                into = {f.body.results[k].name: p for k, p in placed.items()}  # type: ignore[union-attr]
                moved = {
                    over[k]: p
                    for k, p in placed.items()
                    if k in over
                    and (
                        k not in sim.known.some.get(r.function, ())
                        or (sim.env[r.args[over[k]].name].block, sim.env[r.args[over[k]].name].offset)  # type: ignore[union-attr]
                        == (p.block, p.offset)
                    )
                }
                args = [
                    replace_lying(sim.placed(sim.env[a.name], moved[n]), mine=False)  # type: ignore[union-attr]
                    if n in moved
                    else sim.take(a, dying)
                    for n, a in enumerate(r.args)
                ]
                found = sim.call(f, args, into, Outside(known=sim.known))
                for k, p in placed.items():
                    found[k] = sim.built(found[k], p)
                sim.bind(s.targets, found)
            case g.If():
                self.branch(s, r, dying)
            case g.For() | g.Loop():
                self.rounds(s, r, dying)
            case g.WithLoop():
                places = [self.into.get(t.name) for t in s.targets]
                sim.bind(s.targets, Loops(sim, r, dying).run(s.targets, places, sim.whole(r)))

    def update(self, name: str, r: g.Update, dying: set[str], place: Place | None) -> None:
        sim, new = self.s, self.updated(r)
        value = sim.scalar(r.value)
        if isinstance(value, Lying):
            sim.read(value)
        if place is not None:
            array = sim.placed(sim.env[r.array.name], place)
        else:
            array = sim.owned(sim.take(r.array, dying))
        index = sim.shape(r.index)
        at = sum(i * prod(new.shape[k + 1 :]) for k, i in enumerate(index))
        sim.write(array.block, array.offset + at, new[index])
        sim.env[name] = sim.at(place, new) if place is not None else replace_lying(array, value=new)

    def branch(self, s: g.Let, r: g.If, dying: set[str]) -> None:
        sim, b = self.s, r.then if self.s.scalar(r.condition) else r.otherwise
        placed = {k: self.into[t.name] for k, t in enumerate(s.targets) if t.name in self.into}
        into = {a.name: p for k, p in placed.items() if isinstance(a := b.results[k], g.Var)}
        found = sim.block(b, set(dying), into)
        dying.clear()
        for k, p in placed.items():
            found[k] = sim.built(found[k], p)
        sim.bind(s.targets, found)

    def rounds(self, s: g.Let, r: g.For | g.Loop, dying: set[str]) -> None:
        sim, outer = self.s, self.s.scratch
        sim.scratch = {} if outer is None else outer
        places = [
            self.into[t.name] if t.name in self.into and handed_on(r, k) else None for k, t in enumerate(s.targets)
        ]
        inside = frozenset[str]().union(*(arrays_of(i) for b in g.blocks(r) for i in b.statements))
        inside |= {a.name for b in g.blocks(r) for a in b.results if isinstance(a, g.Var)}
        movable = dying - inside
        dying -= movable
        changes = [isinstance(p.type, g.ArrayType) and is_updated(r.body, p.name) for p in r.params]
        values = []
        for a, place in zip(r.initial, places):
            if place is None:
                values.append(sim.take(a, movable))
            else:
                assert isinstance(a, g.Var)
                values.append(sim.placed(sim.env[a.name], place))
        dying |= movable
        arrays = [p.name for p in r.params if isinstance(p.type, g.ArrayType)]

        def settle(values: list[Any]) -> list[Any]:
            return [sim.owned(v) if isinstance(v, Lying) and c else v for v, c in zip(values, changes)]

        values = settle(values)
        if isinstance(r, g.For):
            for i in range(sim.scalar(r.lower), sim.scalar(r.upper), r.step):
                sim.env[r.index.name] = i
                sim.bind(r.params, values)
                values = settle(sim.block(r.body, arrays))
        else:
            skip = r.body_first
            while True:
                sim.bind(r.params, values)
                if not skip and not sim.block(r.condition)[0]:
                    break
                skip = False
                sim.bind(r.params, values)
                values = settle(sim.block(r.body, arrays))
        if outer is None:
            for m in sim.scratch.values():
                m.holders = 0
        sim.scratch = outer
        for k, place in enumerate(places):
            if place is not None:
                values[k] = sim.built(values[k], place)
        sim.bind(s.targets, values)

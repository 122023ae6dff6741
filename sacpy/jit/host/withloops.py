"""With-loops as loop nests.

In: a with-loop of a graph. Out: the loops that its schedule says (`schedule/withloops`), and the memory of its results,
which is filled first where no partition covers it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sacpy.jit.analysis.straight import has_guarded_vectors
from sacpy.jit.host.filling import Filling
from sacpy.jit.host.growing import Growth, kept_rows
from sacpy.jit.host.memory import Array, release, retain
from sacpy.jit.host.nests import write_part
from sacpy.jit.host.sinks import ArraySink, FoldSink, PropagateSink, Sink
from sacpy.jit.host.writer import Slots, Writer
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import free
from sacpy.jit.schedule.loops import Group, IntoArray, IntoFold
from sacpy.jit.schedule.withloops import goals_of, may_repeat, schedule_of
from sacpy.nodes import replace

if TYPE_CHECKING:
    from sacpy.jit.analysis.depends import Conditions, Test


class WithLoops:
    """Writes one with-loop. `dying`, `into`: as for any statement."""

    def __init__(self, lowering: Writer, w: g.WithLoop, dying: set[str], into: dict[str, Array]) -> None:
        self.low, self.w, self.dying, self.into = lowering, w, dying, into
        self.in_place: set[str] = set()  # arrays whose memory becomes that of a result
        self.kept: list[Array] = []  # those that are held until the loop is done
        self.stay: dict[int, str] = {}  # partitions whose rows may be there already, and whether they are
        self.goals = goals_of(w, lowering.context())
        self.used = lowering.unit.uses.of_rhs(w)
        self.shares: dict[str, Conditions | None] = {}  # what must hold so that results take an array's memory

    def run(self, targets: Sequence[g.Var]) -> None:
        """Computes the results and binds them."""
        env = self.low.env
        before = {name: replace(v) for name in sorted(self.used) if isinstance(v := env.get(name), Array)}
        arrays = self.start_arrays(targets)
        states: dict[int, FoldSink | PropagateSink] = {}
        schedule = self.low.scheduled(targets, schedule_of(self.w, self.goals, self.low.context(), self.stay))
        self.groups(schedule.groups, arrays, states)
        for array in self.kept:
            release(self.low.code, array)
        self.restore(before)
        self.finish(targets, arrays, states)

    # ---- arrays

    def start_arrays(self, targets: Sequence[g.Var]) -> dict[int, Array]:
        """The memory of genarrays and modarrays, filled where no partition will write."""
        low, arrays, at = self.low, dict[int, Array](), 0
        for k, o in enumerate(self.w.operators):
            if isinstance(o, g.Genarray):
                later = sum(
                    isinstance(x, g.Genarray) and (x.base, x.cell) == (o.base, o.cell)
                    for x in self.w.operators[k + 1 :]
                )
                name = targets[at].name
                arrays[k] = self.genarray(o, self.into.get(name), later, name in low.inside.unfilled)
            elif isinstance(o, g.Modarray):
                arrays[k] = self.modarray(o, self.into.get(targets[at].name))
            at += operator_count(o)
        self.separate(arrays)
        return arrays

    def genarray(self, o: g.Genarray, place: Array | None, later: int, set_later: bool) -> Array:
        assert self.w.frame is not None
        low = self.low
        if place is None:
            extents = low.wides((*self.w.frame, *o.cell))
            type_ = g.ArrayType(o.base, (*self.w.frame, *o.cell))
            place = self.reused(type_, extents, later) or self.grown() or low.allocate(o.base, extents)
        if not self.w.complete and not set_later:
            Filling(low, self.w, place).default(o.default)
        return place

    def reused(self, type_: g.ArrayType, extents: tuple[str, ...], later: int) -> Array | None:
        """The memory of the first of the arrays of the same type that die here, may be overwritten as the bodies go,
        and are held by nobody else when the code runs; new memory if there is none then. None if there cannot be.
        Each is there for one result alone; `later`: of that type, how many are still to come. Where conditions guard
        loads, LLVM makes vectors of a loop only if it sees that memory is the same, or another."""
        if not self.w.complete or may_repeat(self.goals):
            return None
        guarded = has_guarded_vectors(self.w)
        found: dict[str, Array] = {}
        for name in sorted(self.dying - self.in_place):
            value = self.low.env[name]
            if (
                isinstance(value, Array)
                and not value.borrowed
                and (value.unique or not guarded)
                and (value.element, value.extents) == (type_.base, extents)
                and self.may_share(g.Var(name, type_)) == frozenset()
            ):
                found[name] = value
                if value.unique:
                    found = {name: value}
                    break
        if not found:
            return None
        found = dict(list(found.items())[: max(1, len(found) - later)])
        self.in_place.update(found)
        if len(found) > 1:
            return self.low.first_unshared(list(found.values()))
        self.dying.difference_update(found)
        return self.low.reused(*found.values())

    def grown(self) -> Array | None:
        """The memory of an array that dies here and of which rows are kept, with room for the others."""
        found = kept_rows(self.w, self.dying, self.low.facts.ints)
        if not found:
            return None
        growth = Growth(self.low, self.w, found, self.dying)
        self.stay = growth.stay
        self.in_place |= growth.within
        self.kept += growth.moved
        return growth.place

    def modarray(self, o: g.Modarray, place: Array | None) -> Array:
        low = self.low
        source = low.array(o.array)
        needed = self.may_share(o.array) if place is None and o.array.name in self.dying else None
        if needed is not None and not (may_repeat(self.goals) and self.reads(o.array.name)):
            taken = low.take(o.array, self.dying)
            assert isinstance(taken, Array)
            self.in_place.add(o.array.name)
            return self.owned(taken, needed)
        if place is None:
            return self.copied(source)
        if source.data == place.data:  # it is changed where it lies
            self.in_place.add(o.array.name)
        elif not self.w.complete:
            Filling(low, self.w, place).copy(source)
        return place

    def copied(self, source: Array) -> Array:
        """New memory with the cells of an array that no partition covers."""
        place = self.low.allocate(source.element, source.extents)
        if not self.w.complete:
            Filling(self.low, self.w, place).copy(source)
        return place

    def owned(self, taken: Array, needed: Conditions) -> Array:
        """An array to be written to as it is read, made of one whose reference is given up: the same if no one else
        holds it and what is needed for that holds, else a copy of what stays."""
        low, code, fine = self.low, self.low.code, "true"
        if not needed:
            return low.owned(taken)
        if taken.borrowed:
            return self.copied(taken)
        for condition in sorted(needed, key=repr):
            some = "false"
            for test in condition:
                some = code.op(f"or i1 {some}, {self.holds(test)}")
            fine = code.op(f"and i1 {fine}, {some}")
        kept = replace(taken, header=code.op(f"select i1 {fine}, ptr null, ptr {taken.header}"), unique=False)
        retain(code, kept)  # so that it counts as shared, and is there as long as it is read
        self.kept.append(kept)
        return low.unless_shared(replace(taken, unique=False), self.copied)

    def holds(self, test: Test) -> str:
        """Whether a condition on ints holds: an i1."""
        low, code = self.low, self.low.code
        total = str(test.constant)
        for v, number in test.terms:
            total = code.sum(total, code.product(low.wide(v), str(number)))
        if test.modulus:
            return code.op(f"icmp eq i64 {code.op(f'srem i64 {total}, {test.modulus}')}, 0")
        return code.op(f"icmp sge i64 {total}, 0")

    def may_share(self, array: g.Var) -> Conditions | None:
        """What must hold so that results may take the memory of an array; None if nothing is known to be enough."""
        from sacpy.jit.analysis.depends import may_share, tested

        if array.name not in self.shares:
            self.shares[array.name] = may_share(self.w, array, self.low.facts.ints)
        return tested(self.shares[array.name], self.low.env)

    def reads(self, name: str) -> bool:
        """Whether the bodies read an array."""
        return any(name in free(p.body) for p in self.w.partitions)

    def separate(self, arrays: dict[int, Array]) -> None:
        """Notes that results share no memory with what the bodies read, nor with each other."""
        new = [a for a in arrays.values() if not a.scope]
        for a in new:
            a.scope = self.low.code.module.scope()
        scopes = tuple(a.scope for a in arrays.values())
        for a in arrays.values():
            a.over = bool(self.in_place)
            a.apart = tuple(dict.fromkeys((*a.apart, *(s for s in scopes if s != a.scope))))
        added = tuple(a.scope for a in new)
        if added:
            for name in self.used - self.in_place:
                value = self.low.env.get(name)
                if isinstance(value, Array):
                    self.low.env[name] = replace(value, apart=(*value.apart, *added))

    def restore(self, before: dict[str, Array]) -> None:
        """After the loop, later code may write to what the bodies read."""
        for name, value in before.items():
            now = self.low.env[name]
            assert isinstance(now, Array)
            self.low.env[name] = replace(value, unique=now.unique and value.unique)

    # ---- partitions

    def groups(
        self, groups: Sequence[Group], arrays: dict[int, Array], states: dict[int, FoldSink | PropagateSink]
    ) -> None:
        """Runs partitions, those of one group after those of the other."""
        low = self.low
        for k, o in enumerate(self.w.operators):
            goal = self.goals[k]
            if isinstance(goal, IntoFold):
                fold = states[k] = FoldSink(low, goal)
                fold.start()
            elif isinstance(o, g.Propagate):
                states[k] = PropagateSink(low, o, Slots(low, o.params))
                states[k].slots.set([low.take(a, set()) for a in o.initial])
        for number, group in enumerate(groups):
            totals = {k: self.set_aside(sink) for k, sink in states.items() if number and isinstance(sink, FoldSink)}
            rank = group.partitions[0].rank
            sinks = [
                ArraySink(low, arrays[k], rank, goal.earlier) if isinstance(goal, IntoArray) else states[k]
                for k, goal in enumerate(group.goals)
            ]
            self.rows(group, sinks)
            self.decide(group, sinks)
            for k, total in totals.items():
                self.join(states[k], total)

    def rows(self, group: Group, sinks: Sequence[Sink]) -> None:
        """Runs partitions, unless their rows are there."""
        stays, code = self.stay.get(id(group.partitions[0])), self.low.code
        if stays is not None:
            there, missing = code.label("there"), code.label("missing")
            code.branch(stays, there, missing)
            code.place(missing)
        if group.threads is not None:
            from sacpy.jit.host.parallel import spread

            spread(self.low, group, group.threads, sinks)
        else:
            write_part(self.low, group.part, sinks)
        if stays is not None:
            code.jump(there)
            code.place(there)

    def decide(self, group: Group, sinks: Sequence[Sink]) -> None:
        """Runs a partition once more, in order, if the order matters to an extreme of reals that it gives."""
        if group.again is None:
            return
        low, code = self.low, self.low.code
        undecided = "false"
        for sink in sinks:
            if isinstance(sink, FoldSink) and sink.reduction and sink.reduction.extremes:
                undecided = code.op(f"or i1 {undecided}, {sink.undecided()}")
        again, done = code.label("again"), code.label("decided")
        code.branch(undecided, again, done)
        code.place(again)
        low.in_order = True
        ordered = [
            FoldSink(low, goal) if isinstance(goal, IntoFold) else sink for goal, sink in zip(group.again.goals, sinks)
        ]
        for new in ordered:
            if isinstance(new, FoldSink):
                new.start()
        write_part(low, group.again, ordered)
        low.in_order = False
        for old, new in zip(sinks, ordered):
            if isinstance(old, FoldSink) and isinstance(new, FoldSink):
                old.correct(new)
        code.place(done)

    def set_aside(self, sink: FoldSink) -> Slots:
        """Keeps the total of the partitions so far; the next one starts from the neutral elements."""
        total = Slots(self.low, sink.operator.accumulators)
        sink.slots.get(sink.operator.accumulators)
        total.set([self.low.env[v.name] for v in sink.operator.accumulators])
        sink.start()
        return total

    def join(self, sink: FoldSink | PropagateSink, total: Slots) -> None:
        """Combines a partition's result with the total before it."""
        assert isinstance(sink, FoldSink)
        total.get(sink.operator.values)
        sink.combine([self.low.env[v.name] for v in sink.operator.values])

    # ---- results

    def finish(
        self, targets: Sequence[g.Var], arrays: dict[int, Array], states: dict[int, FoldSink | PropagateSink]
    ) -> None:
        at = 0
        for k, o in enumerate(self.w.operators):
            mine = targets[at : at + operator_count(o)]
            at += len(mine)
            if k in arrays:
                in_place = mine[0].name in self.into
                array = arrays[k]
                self.low.env[mine[0].name] = (
                    self.low.as_built(array) if in_place else replace(array, scope="", apart=())
                )
            else:
                states[k].slots.get(mine)


def operator_count(o: g.Operator) -> int:
    """How many values an operator takes and gives."""
    return len(o.neutrals) if isinstance(o, g.Fold) else len(o.params) if isinstance(o, g.Propagate) else 1

"""Functions of a unit as LLVM functions: statements and control. With-loops are in `withloops`.

In: a graph function. Out: `{i32, results...} @name(ptr frame, params...)`; the i32 is a status of `layout`. An array is
passed as two addresses, elements and header, and its reference goes along. Variables that several paths set (results of
conditionals, carried variables) live in slots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext

from sacpy.jit.analysis.straight import is_row_of, makes_array
from sacpy.jit.host import layout
from sacpy.jit.host.loops import before
from sacpy.jit.host.memory import (
    BORROWED,
    Array,
    Scalar,
    Value,
    copy_elements,
    element_address,
    elements,
    flat,
    release,
)
from sacpy.jit.host.writer import LANE, Inside, Slots, Writer, text_of
from sacpy.jit.ir import graph as g
from sacpy.jit.llvm.legal import Code
from sacpy.jit.llvm.scalars import STRICT, emit
from sacpy.jit.schedule.loops import Rounds
from sacpy.nodes import replace


class Lowering(Writer):
    """Writes one LLVM function: a function of the unit, or a part of a with-loop that threads share."""

    def fork(self, code: Code) -> Lowering:
        """What writes another function of the same unit, which knows the same numbers."""
        return Lowering(self.unit, code, self.facts, Inside(self.inside.function))

    # ---- blocks

    def block(self, block: g.Block, owned: Iterable[str] = (), into: dict[str, Array] | None = None) -> list[Value]:
        """Runs a block's statements; gives its results with references of their own. `owned`: arrays from outside whose
        references the block takes over. `into`: where the array of a name is to be built, if the block makes it."""
        uses = self.unit.uses
        mine, into, openings = set(owned), into or {}, None
        if into or any(isinstance(s, g.Let) and makes_array(s) for s in block.statements):
            from sacpy.jit.host.places import placed

            into, openings = placed(self, block, mine, into)
            if any(isinstance(s, g.Let) and isinstance(s.rhs, g.For) for s in block.statements):
                from sacpy.jit.analysis.filled import set_whole

                self.inside.unfilled |= set_whole(block)
        last: dict[str, int] = {}
        for number, s in enumerate(block.statements):
            last.update(dict.fromkeys(uses.of(s), number))
        for a in block.results:
            if isinstance(a, g.Var) and isinstance(a.type, g.ArrayType):
                last[a.name] = len(block.statements)
        for name in sorted(mine - last.keys()):
            release(self.code, self.env[name])  # type: ignore[arg-type]
        mine &= last.keys()
        for number, s in enumerate(block.statements):
            if openings is not None and not openings.before(number):
                continue
            dying = {name for name in uses.of(s) if name in mine and last[name] == number}
            mine -= dying
            if openings is None:
                self.statement(s, dying, into)
            else:
                openings.statement(number, s, dying)
            for name in sorted(dying):
                release(self.code, self.env[name])  # type: ignore[arg-type]
            if isinstance(s, g.Let):
                mine |= self.settle(s.targets, last)
        return self.take_each(block.results, mine)

    def settle(self, targets: Sequence[g.Var], last: dict[str, int]) -> set[str]:
        """The arrays among targets that will be used; the others are released."""
        kept = set()
        for t in targets:
            if isinstance(t.type, g.ArrayType):
                if t.name in last:
                    kept.add(t.name)
                else:
                    release(self.code, self.array(t))
        return kept

    def statement(self, s: g.Stmt, dying: set[str], into: dict[str, Array]) -> None:
        """Runs a statement. `dying`: arrays whose last use this is; those whose references it hands on are taken
        out."""
        if isinstance(s, g.Check):
            self.check(s)
        else:
            self.let(s.targets, s.rhs, dying, into)

    def check(self, s: g.Check) -> None:
        """Leaves the function, or in a vectorisable loop the round, unless the condition holds."""
        condition, site = self.text(s.condition), self.unit.site(s)
        if self.on_failure is None:
            self.unless(condition, layout.CHECK_FAILED, site)
            return
        on = self.code.label("ok")
        self.code.branch(condition, on, self.on_failure)
        self.code.place(on)

    def let(self, targets: Sequence[g.Var], rhs: g.Rhs, dying: set[str], into: dict[str, Array]) -> None:
        """Sets variables."""
        match rhs:
            case g.Op():
                self.operation(targets[0], rhs)
            case g.Load(array=array, index=index):
                self.bind_scalar(targets[0], self.load(self.array(array), self.wides(index)))
            case g.Var() | g.Const():
                self.bind(targets, [self.take(rhs, dying)])
            case g.View() | g.Reshape():
                self.view(targets[0], rhs, dying)
            case g.Cons():
                self.cons(targets[0], rhs, into)
            case g.Update():
                self.update(targets[0], rhs, dying, into)
            case g.Call():
                from sacpy.jit.host.calls import write_call

                write_call(self, targets, rhs, dying, into)
            case g.If():
                self.conditional(targets, rhs, dying, into)
            case g.Loop():
                with self.kept_between_rounds():
                    self.loop(targets, rhs, dying, into)
            case g.For():
                with self.kept_between_rounds():
                    self.counting(targets, rhs, dying, into)
            case g.WithLoop():
                from sacpy.jit.host.withloops import WithLoops

                with nullcontext() if self.unit.watch is None else self.unit.watch.around(self, rhs):
                    WithLoops(self, rhs, dying, into).run(targets)

    # ---- scalars and arrays

    def operation(self, target: g.Var, op: g.Op) -> None:
        """A scalar operation; in 64 bits as well where it computes an index without wrapping."""
        if target.name in self.lanes:
            self.in_lane(target, op)
            return
        if self.row_places and op.args in self.row_places:
            self.bind_scalar(target, *self.row_places[op.args](op))
            return
        style = STRICT if self.facts.is_difference_of_products(op) else self.unit.style
        result = emit(self.code, op, [self.text(a) for a in op.args], style)
        self.bind_scalar(target, result, self.widened(op) if target.name in self.facts.indices else None)

    def in_lane(self, target: g.Var, op: g.Op) -> None:
        """A sum or an extreme of two ints, in the first lane of a vector."""
        a, b = (self.lane(Scalar(self.text(x), "int") if isinstance(x, g.Const) else self.env[x.name]) for x in op.args)
        if op.code in ("min", "max"):
            name = f"llvm.s{op.code}.v4i32"
            self.code.module.declare(name, f"declare {LANE} @{name}({LANE}, {LANE})")
            self.bind_lane(target, self.code.op(f"call {LANE} @{name}({LANE} {a}, {LANE} {b})"))
        else:
            self.bind_lane(target, self.code.op(f"{op.code} {LANE} {a}, {b}"))

    def widened(self, op: g.Op) -> str | None:
        if not (op.exact and op.args[0].base == "int" and op.code in ("add", "sub", "mul", "neg")):
            return None
        args = self.wides(op.args)
        code = self.code
        if op.code == "neg":
            return code.difference("0", args[0])
        return {"add": code.sum, "sub": code.difference, "mul": code.product}[op.code](*args)

    def view(self, target: g.Var, rhs: g.View | g.Reshape, dying: set[str]) -> None:
        """A part of an array, or all of it, under other extents: the same memory."""
        source = self.take(rhs.array, dying)
        assert isinstance(source, Array)
        data = source.data
        if isinstance(rhs, g.View):
            data = element_address(self.code, source, flat(self.code, self.wides(rhs.index), source.extents))
        self.bind_array(target, data, source.header, source, unique=source.unique)

    def cons(self, target: g.Var, rhs: g.Cons, into: dict[str, Array]) -> None:
        """A new array of given elements."""
        place = into.get(target.name)
        new = self.as_built(place) if place else self.allocate(rhs.base, tuple(map(str, rhs.extents)))
        for number, a in enumerate(rhs.elements):
            self.store(new, str(number), self.text(a))
        self.bind([target], [new])

    def update(self, target: g.Var, rhs: g.Update, dying: set[str], into: dict[str, Array]) -> None:
        """An array with an element or a sub-array replaced: in place where nobody else holds it."""
        place = into.get(target.name)
        if isinstance(rhs.value, g.Var) and isinstance(rhs.value.type, g.ArrayType):
            self.update_part(target, rhs, dying, place)
            return
        array = self.updated(rhs.array, dying, place)
        self.store(array, flat(self.code, self.wides(rhs.index), array.extents), self.text(rhs.value))
        self.bind([target], [self.as_built(place) if place else array])

    def update_part(self, target: g.Var, rhs: g.Update, dying: set[str], place: Array | None) -> None:
        """The value may share memory with the array; then its references say so, unless both are borrowed, which is
        copied anyway. A row that moves within its array, and is not used after, does not count."""
        value = self.array(rhs.value)
        assert isinstance(rhs.value, g.Var)
        if place is None and rhs.value.name in dying and is_row_of(self.facts.views.get(rhs.value.name), rhs):
            dying.discard(rhs.value.name)
            release(self.code, value)  # the array has another reference
        array = self.updated(rhs.array, dying, place)
        address = element_address(self.code, array, flat(self.code, self.wides(rhs.index), array.extents))
        copy_elements(self.code, array.element, address, value.data, elements(self.code, value.extents))
        self.bind([target], [self.as_built(place) if place else array])

    def updated(self, source: g.Var, dying: set[str], place: Array | None) -> Array:
        """What an update writes to: its array's own memory or a copy, in its place if it has one."""
        if place is not None:
            return self.placed(self.array(source), place)
        taken = self.take(source, dying)
        assert isinstance(taken, Array)
        return self.owned(taken)

    def placed(self, source: Array, place: Array) -> Array:
        """An array in its place, to be written to: copied there unless it is there already. Its reference stays where
        it is."""
        if source.data != place.data:
            copy_elements(self.code, place.element, place.data, source.data, elements(self.code, place.extents))
        return replace(place, header=BORROWED, unique=True)

    # ---- control

    def conditional(self, targets: Sequence[g.Var], rhs: g.If, dying: set[str], into: dict[str, Array]) -> None:
        """Both branches take over the references of what dies here."""
        code, results = self.code, Slots(self, targets)
        then, otherwise, done = code.label("then"), code.label("else"), code.label("done")
        before = {
            name: (value.unique if isinstance(value, Array) else False)
            for name, value in self.env.items()
            if name in dying
        }
        code.branch(self.text(rhs.condition), then, otherwise)
        built = {t.name for t in targets if t.name in into}
        for label, block in ((then, rhs.then), (otherwise, rhs.otherwise)):
            code.place(label)
            for name, unique in before.items():
                self.array_named(name).unique = unique
            inner = {
                r.name: into[t.name] for t, r in zip(targets, block.results) if t.name in built and isinstance(r, g.Var)
            }
            values = self.block(block, dying, inner)
            results.set(
                [
                    self.built(v, into[t.name]) if t.name in built and isinstance(v, Array) else v
                    for t, v in zip(targets, values)
                ]
            )
            code.jump(done)
        dying.clear()
        code.place(done)
        results.get(targets, frozenset(t.name for t in targets) if results.unique else frozenset())
        for name in built:
            self.env[name] = self.as_built(into[name])

    @contextmanager
    def kept_between_rounds(self) -> Iterator[None]:
        """Inside, a loop is written, whose rounds may share memory (`scratch`), which the outermost gives back."""
        if self.inside.scratch is not None:
            yield
            return
        slots: list[str] = []
        self.inside.scratch = slots
        yield
        self.inside.scratch = None
        for slot in slots:
            old = self.code.load("ptr", slot)
            release(self.code, Array(old, old, "double", ()))
            self.code.store("ptr", "null", slot)

    def enter(
        self, rhs: g.Loop | g.For, dying: set[str], places: Sequence[Array | None]
    ) -> tuple[Slots, frozenset[str]]:
        """Carried variables at the start of a loop. Those that the body updates are made unique here, and stay so. An
        array that the loop also uses directly is not handed over: it must live until the loop is done. `places`: where
        carried arrays stay."""
        from sacpy.jit.analysis.versions import is_updated

        params = rhs.params
        unique = frozenset(p.name for p in params if isinstance(p.type, g.ArrayType) and is_updated(rhs.body, p.name))
        inside: frozenset[str] = frozenset().union(*map(self.unit.uses.of, g.blocks(rhs)))
        movable = dying - inside
        left = iter(self.take_each([a for a, place in zip(rhs.initial, places) if place is None], movable))
        values = [
            next(left) if place is None else self.placed(self.array(a), place) for a, place in zip(rhs.initial, places)
        ]
        dying &= movable | inside
        slots = Slots(self, params)
        slots.set([self.owned(v) if isinstance(v, Array) and p.name in unique else v for p, v in zip(params, values)])
        return slots, unique

    def round(self, slots: Slots, params: Sequence[g.Var], body: g.Block, unique: frozenset[str]) -> None:
        """One round of a loop: from the carried variables to the next ones."""
        self.within += 1
        values = self.block(body, [p.name for p in params if isinstance(p.type, g.ArrayType)])
        self.within -= 1
        slots.set([self.owned(v) if isinstance(v, Array) and p.name in unique else v for p, v in zip(params, values)])

    @staticmethod
    def places(targets: Sequence[g.Var], rhs: g.Loop | g.For, into: dict[str, Array]) -> list[Array | None]:
        """Where the arrays that a loop carries stay, as far as they have a place."""
        if not any(t.name in into for t in targets):
            return [None] * len(targets)
        from sacpy.jit.analysis.versions import handed_on

        return [into[t.name] if t.name in into and handed_on(rhs, k) else None for k, t in enumerate(targets)]

    def loop(self, targets: Sequence[g.Var], rhs: g.Loop, dying: set[str], into: dict[str, Array]) -> None:
        """Rounds while a condition holds."""
        code = self.code
        places = self.places(targets, rhs, into)
        slots, unique = self.enter(rhs, dying, places)
        test, body, done = code.label("test"), code.label("round"), code.label("done")
        code.jump(body if rhs.body_first else test)
        code.place(test)
        slots.get(rhs.params, unique)
        code.branch(text_of(self.block(rhs.condition)[0]), body, done)
        code.place(body)
        self.poll()
        slots.get(rhs.params, unique)
        self.round(slots, rhs.params, rhs.body, unique)
        code.jump(test)
        code.place(done)
        self.leave(slots, targets, rhs.params, unique, places)

    def leave(
        self,
        slots: Slots,
        targets: Sequence[g.Var],
        params: Sequence[g.Var],
        unique: frozenset[str],
        places: Sequence[Array | None],
    ) -> None:
        """Binds a loop's targets to the last values of its carried variables."""
        slots.get(targets, frozenset(t.name for t, p in zip(targets, params) if p.name in unique))
        for t, place in zip(targets, places):
            if place is not None:
                self.stay(self.array(t), place)
                self.env[t.name] = self.as_built(place)

    def stay(self, array: Array, place: Array) -> None:
        """Sees to it that an array is in its place behind a loop that had it there in the beginning, and may have had
        to copy it."""
        code = self.code
        moved, done = code.label("moved"), code.label("placed")
        code.branch(code.op(f"icmp eq ptr {array.data}, {place.data}"), done, moved)
        code.place(moved)
        copy_elements(code, place.element, place.data, array.data, elements(code, place.extents))
        release(code, array)
        code.place(done)

    def counting(self, targets: Sequence[g.Var], rhs: g.For, dying: set[str], into: dict[str, Array]) -> None:
        """A counting loop, its counter of 64 bits. It polls the stop flag: in each round if it contains other loops."""
        from sacpy.jit.schedule.counting import rounds_of

        schedule = self.scheduled(targets, rounds_of(rhs, self.context()))
        if schedule.scan is not None:
            from sacpy.jit.host.scanning import write_scan

            write_scan(self, schedule.scan, targets, dying, into)
            return
        code = self.code
        self.lanes |= schedule.lanes
        places = self.places(targets, rhs, into)
        slots, unique = self.enter(rhs, dying, places)
        if schedule.tag == "threads":
            from sacpy.jit.host.rounds import spread_rounds

            slots.get(rhs.params, unique)
            spread_rounds(self, schedule, [self.array(p) for p in rhs.params])
            self.leave(slots, targets, rhs.params, unique, places)
            return
        lower, upper = self.wide(rhs.lower), self.wide(rhs.upper)
        counter = code.slot("i64")
        code.store("i64", lower, counter)
        if schedule.tag == "stretch":
            self.stretches(schedule, slots, unique, counter, upper)
        else:
            self.rounds(rhs, slots, unique, counter, upper, polls=schedule.polls)
        self.leave(slots, targets, rhs.params, unique, places)

    def stretches(self, r: Rounds, slots: Slots, unique: frozenset[str], counter: str, upper: str) -> None:
        """The rounds of a loop without loops in it, some at a time, behind the checks that are made for all of
        these."""

        def rounds(end: str) -> None:
            if r.ahead is None:
                self.rounds(r.loop, slots, unique, counter, end)
                return
            from sacpy.jit.host.early_checks import unrolled_note, write_checks

            write_checks(self, r.ahead, self.code.load("i64", counter), end)
            self.rounds(r.ahead.rounds, slots, unique, counter, end, note=unrolled_note(self.code.module))

        self.polled_rounds(counter, upper, r.loop.step, rounds, r.size)

    def rounds(
        self,
        rhs: g.For,
        slots: Slots,
        unique: frozenset[str],
        counter: str,
        end: str,
        polls: bool = False,
        note: str = "",
    ) -> None:
        """The rounds of a counting loop until its counter reaches `end`."""
        code = self.code
        test, body, done = code.label("test"), code.label("round"), code.label("done")
        code.place(test)
        i = code.load("i64", counter)
        code.branch(code.op(f"icmp {before(rhs.step)} i64 {i}, {end}"), body, done)
        code.place(body)
        if polls:
            self.poll()
        slots.get(rhs.params, unique)
        self.bind_scalar(rhs.index, code.op(f"trunc i64 {i} to i32"), i)
        self.round(slots, rhs.params, rhs.body, unique)
        code.store("i64", code.op(f"add nsw i64 {i}, {rhs.step}"), counter)
        code.jump(test, note)
        code.place(done)

    def polled_rounds(self, counter: str, upper: str, step: int, rounds: Callable[[str], None], between: int) -> None:
        """Rounds until the counter reaches `upper`, with a look at the stop flag after `between` of them; within a loop
        that LLVM is to vectorise there is no room for it."""
        code = self.code
        stretch, more, done = code.label("stretch"), code.label("more"), code.label("done")
        code.place(stretch)
        far = code.op(f"add nsw i64 {code.load('i64', counter)}, {between * step}")
        rounds(code.op(f"select i1 {code.op(f'icmp {before(step)} i64 {far}, {upper}')}, i64 {far}, i64 {upper}"))
        code.branch(code.op(f"icmp {before(step)} i64 {code.load('i64', counter)}, {upper}"), more, done)
        code.place(more)
        self.poll()
        code.jump(stretch)
        code.place(done)

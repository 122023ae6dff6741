"""With-loops inside a body, as loops of one thread.

In: a with-loop of a graph. Out: nests of counting loops in a builder, one for each partition. Results of genarray and
modarray are arrays of the thread, or are written right where the cell of the kernel's result lies. Where partitions
overlap, later ones come first, so that earlier ones win.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sacpy.jit.ir import graph as g
from sacpy.jit.ir import kernel as k
from sacpy.jit.ir.rewrite import free
from sacpy.jit.kernels.launches import Refused
from sacpy.jit.kernels.state import State
from sacpy.jit.kernels.values import Memory, Value
from sacpy.nodes import replace

if TYPE_CHECKING:
    from sacpy.jit.kernels.thread import Thread

Step = Callable[[tuple[g.Atom, ...], list[g.Atom]], list[g.Atom]]


class Nests:
    """Translates with-loops for a thread."""

    def __init__(self, thread: Thread) -> None:
        self.t = thread
        self.b = thread.b

    def with_loop(self, targets: Sequence[g.Var], w: g.WithLoop) -> g.Atom | None:
        """A with-loop; whether the checks in it held (None: there are none)."""
        framed, others = divided(w)
        if not w.disjoint and len(w.partitions) > 1 and framed and others:
            first, second = select(w, framed), select(w, others)
            names = results_of(w, targets)
            a = self.with_loop([t for n in framed for t in names[n]], first)
            b = self.with_loop([t for n in others for t in names[n]], second)
            return self.b.both(a, b)
        return self._run(targets, w, reverse=not others)

    def _run(self, targets: Sequence[g.Var], w: g.WithLoop, reverse: bool) -> g.Atom | None:
        names = results_of(w, targets)
        arrays = {
            n: self._start(o, names[n][0], w)
            for n, o in enumerate(w.operators)
            if isinstance(o, g.Genarray | g.Modarray)
        }
        totals: dict[int, list[Value]] = {}
        for n, o in enumerate(w.operators):
            if isinstance(o, g.Propagate):
                totals[n] = [self.t.value(a) for a in o.initial]
        held: g.Atom | None = None
        for number, p in enumerate(reversed(w.partitions) if reverse else w.partitions):
            found, ok = self._when(held, w, p, arrays, totals, number == 0)
            held = ok if held is None else held if ok is None else ok
            totals = found
        for n, o in enumerate(w.operators):
            if n in arrays:
                self.t.env[names[n][0].name] = arrays[n]
            else:
                values = totals.get(n, [self.t.value(a) for a in getattr(o, "neutrals", ())])
                self.t.bind(names[n], values)
        return held

    def _when(
        self,
        held: g.Atom | None,
        w: g.WithLoop,
        p: g.Partition,
        arrays: dict[int, Memory],
        totals: dict[int, list[Value]],
        first: bool,
    ) -> tuple[dict[int, list[Value]], g.Atom | None]:
        """One partition, left out where a check failed before. Gives the accumulated values."""
        plan = _Folding(self, w, p, totals, first)
        if held is not None and plan.state.checks:
            plan.state.scalars[-1] = held
        last = plan.run(arrays)
        return plan.results(last), plan.state.ok(last) if plan.state.checks else held

    def _start(self, o: g.Genarray | g.Modarray, target: g.Var, w: g.WithLoop) -> Memory:
        """The memory of a result, with what no partition covers in it."""
        place = self.t.destinations.pop(target.name, None)
        clean = w.complete and (w.disjoint or len(w.partitions) < 2)
        if place is not None and not clean:
            self.b.once[place.var.name] = False
        extents = self.t.atoms(g.extents_of(target))
        memory = place if place is not None else Memory(self.b.array(target.base, extents))
        if isinstance(o, g.Modarray):
            if not w.complete:
                self.t.arrays.assign(memory, self.t.array(o.array))
        elif not w.complete:
            self._fill(memory, o, len(w.frame or ()))
        return memory

    def _fill(self, memory: Memory, o: g.Genarray, rank: int) -> None:
        default = self.t.value(o.default)
        if isinstance(default, g.Var | g.Const):
            self.t.arrays.assign(memory, default)
            return
        self.t.arrays.each(
            memory.extents[:rank],
            lambda index: self.t.arrays.assign(Memory(memory.var, (*memory.prefix, *index)), default),
        )

    # ---- loops over an index space

    def nest(
        self, p: g.Partition, scalars: list[g.Atom], body: Step, go: Callable[[list[g.Atom]], g.Atom] | None
    ) -> list[g.Atom]:
        """Loops over the indices of a partition in row-major order, with scalars from one to the next. `go`: says by
        the scalars whether they go on."""
        axes = [
            (
                self.t.atom(lo),
                self.t.atom(up),
                None if p.step is None else self.t.atom(p.step[n]),
                None if p.width is None else self.t.atom(p.width[n]),
            )
            for n, (lo, up) in enumerate(zip(p.lower, p.upper))
        ]

        def level(n: int, index: tuple[g.Atom, ...], carried: list[g.Atom]) -> list[g.Atom]:
            if n == len(axes):
                return body(index, carried)
            lower, upper, step, width = axes[n]
            if step is None or step == width:
                return self._count(lower, upper, carried, lambda i, c: level(n + 1, (*index, i), c), go)
            assert width is not None
            return self._strided((lower, upper, step, width), carried, lambda i, c: level(n + 1, (*index, i), c), go)

        return level(0, (), scalars)

    def _strided(
        self,
        axis: tuple[g.Atom, g.Atom, g.Atom, g.Atom],
        carried: list[g.Atom],
        body: Callable[[g.Atom, list[g.Atom]], list[g.Atom]],
        go: Callable[[list[g.Atom]], g.Atom] | None,
    ) -> list[g.Atom]:
        lower, upper, step, width = axis
        if isinstance(step, g.Const) and width == g.integer(1):
            return self._count(lower, upper, carried, body, go, int(step.value))
        arrays, op = self.t.arrays, self.b.op
        span = op("sub", upper, lower, exact=True)
        whole = op("div", op("add", op("max", span, g.integer(0)), arrays.add(step, g.integer(-1))), step)

        def group(number: g.Atom, c: list[g.Atom]) -> list[g.Atom]:
            start = op("add", lower, op("mul", number, step, exact=True), exact=True)
            left = op("min", op("sub", upper, start, exact=True), width)
            return self._count(start, op("add", start, left, exact=True), c, body, go)

        return self._count(g.integer(0), whole, carried, group, go)

    def _count(
        self,
        lower: g.Atom,
        upper: g.Atom,
        carried: list[g.Atom],
        body: Callable[[g.Atom, list[g.Atom]], list[g.Atom]],
        go: Callable[[list[g.Atom]], g.Atom] | None,
        step: int = 1,
    ) -> list[g.Atom]:
        """A counting loop, or, where it may end early, rounds with a test."""
        if go is None:
            return self.b.seq_for(lower, upper, carried, body, step)
        b = self.b
        index = b.names.var("i", lower.type)
        targets = [b.names.var("c", a.type) for a in carried]
        b.open()
        test = b.op("and", b.op("lt", index, upper), go(list(targets)))
        condition = b.close()
        b.open()
        updates = body(index, list(targets))
        next_ = b.op("add", index, g.integer(step))
        code = b.close()
        b.add(
            k.While((k.Carried(index, lower, next_), *map(k.Carried, targets, carried, updates)), condition, test, code)
        )
        return list(targets)


class _Folding:
    """One partition with what its operators accumulate. A partition's folds start from the neutral elements; at its end
    they are combined with those of the partitions before."""

    def __init__(
        self, nests: Nests, w: g.WithLoop, p: g.Partition, before: dict[int, list[Value]], first: bool
    ) -> None:
        self.n, self.t, self.b = nests, nests.t, nests.b
        self.w, self.p, self.before, self.first = w, p, before, first
        self.own = [(n, o) for n, o in enumerate(w.operators) if isinstance(o, g.Fold | g.Propagate)]
        params: list[g.Var] = []
        initial: list[Value] = []
        for n, o in self.own:
            params += o.accumulators if isinstance(o, g.Fold) else o.params
            initial += [self.t.value(a) for a in o.neutrals] if isinstance(o, g.Fold) else before[n]
        self.combined = [o.combine for _, o in self.own if isinstance(o, g.Fold)]
        checks = self.t.checked(p.body, *self.combined)
        self.early = bool(self.own) and all(isinstance(o, g.Fold) and o.stop is not None for _, o in self.own)
        self.state = State(self.t, params, initial, checks)

    def run(self, arrays: dict[int, Memory]) -> list[g.Atom]:
        """The loops; what was carried last."""
        t, state = self.t, self.state
        stopping = [(n, o) for n, o in self.own if isinstance(o, g.Fold) and o.stop is not None]
        flags: list[g.Atom] = [g.TRUE for _ in stopping]
        count = len(state.scalars)

        def body(index: tuple[g.Atom, ...], carried: list[g.Atom]) -> list[g.Atom]:
            own, going = carried[:count], carried[count:]
            next_going: list[g.Atom] = []

            def round_() -> tuple[list[Value], g.Atom | None]:
                for v, i in zip(self.p.index, index):
                    t.env[v.name] = self.b.as_int(i)
                return self._body(index, arrays, own)

            updates = state.round(own, round_)
            values, old = state.values(updates), state.values(own)
            at = 0
            for _, o in self.own:
                size = width_of(o)
                if isinstance(o, g.Fold) and o.stop is not None:
                    values[at : at + size], on = self._stopped(
                        o, going[len(next_going)], values[at : at + size], old[at : at + size]
                    )
                    next_going.append(on)
                at += size
            scalars: list[g.Atom] = [v for v in values if isinstance(v, g.Var | g.Const)]
            return [*scalars, *(updates[count - 1 :] if state.checks else ()), *next_going]

        def go(carried: list[g.Atom]) -> g.Atom:
            found: g.Atom = carried[count]
            for flag in carried[count + 1 :]:
                found = self.b.op("or", found, flag)
            return found

        with t.live.kept(t.env, self.next_round()):
            last = self.n.nest(self.p, [*state.scalars, *flags], body, go if self.early else None)
        return last[:count]

    def next_round(self) -> set[str]:
        """What the body and the functions of folds use of names from outside."""
        given = [(*o.accumulators, *o.values) if isinstance(o, g.Fold) else o.params for _, o in self.own]
        return free(self.p.body).union(*map(free, self.combined)) - {v.name for many in given for v in many}

    def _stopped(self, o: g.Fold, flag: g.Atom, new: list[Value], old: list[Value]) -> tuple[list[Value], g.Atom]:
        """The accumulators of a fold that may have ended before, and whether it goes on."""
        kept: list[Value] = []
        different: g.Atom | None = None
        for v, before, stop in zip(new, old, o.stop or ()):
            if not isinstance(v, g.Var | g.Const) or not isinstance(before, g.Var | g.Const):
                raise Refused("a fold of arrays in its body ends early")
            mine = self.b.op("select", flag, v, before)
            kept.append(mine)
            unequal = self.b.op("neq", mine, self.t.atom(stop))
            different = unequal if different is None else self.b.op("or", different, unequal)
        return kept, self.b.op("and", flag, different or g.TRUE)

    def _body(
        self, index: tuple[g.Atom, ...], arrays: dict[int, Memory], own: list[g.Atom]
    ) -> tuple[list[Value], g.Atom | None]:
        held: list[g.Atom | None] = []

        def after(values: list[Value]) -> list[Value]:
            at = 0
            found: list[Value] = []
            for n, o in enumerate(self.w.operators):
                mine = values[at : at + width_of(o)]
                at += len(mine)
                match o:
                    case g.Fold():
                        self.t.bind(o.values, mine)
                        results, ok = self.t.block(o.combine)
                        held.append(ok)
                        found += results
                    case g.Propagate():
                        found += mine
                    case _:
                        memory = arrays[n]
                        self.t.arrays.assign(Memory(memory.var, (*memory.prefix, *index)), mine[0])
            return found

        values, ok = self.t.block(self.p.body, later=self.combined)
        if ok is None:
            given = after(values)
            all_held: g.Atom | None = None
            for h in held:
                all_held = self.b.both(all_held, h)
            return given, all_held
        return self._under(ok, lambda: after(values), held, own)

    def _under(
        self, ok: g.Atom, after: Callable[[], list[Value]], held: list[g.Atom | None], own: list[g.Atom]
    ) -> tuple[list[Value], g.Atom | None]:
        """What follows a body, where its checks held."""
        self.b.open()
        found = after()
        inner: g.Atom | None = None
        for h in held:
            inner = self.b.both(inner, h)
        merges: list[k.Merge] = []
        result: list[Value] = []
        scalars = iter(own)
        for v in found:
            if not isinstance(v, g.Var | g.Const):
                result.append(v if isinstance(v, Memory) and not v.prefix else self.t.arrays.copy(v))
                continue
            target = self.b.names.var("c", v.type)
            merges.append(k.Merge(target, v, next(scalars)))
            result.append(target)
        together = self.b.names.var("ok", g.BOOL)
        merges.append(k.Merge(together, inner or g.TRUE, g.Const("bool", False)))
        self.b.add(k.If(ok, self.b.close(), (), tuple(merges)))
        return result, together

    def results(self, last: list[g.Atom]) -> dict[int, list[Value]]:
        """The accumulated values, those of the partitions before included."""
        values = self.state.values(last)
        found: dict[int, list[Value]] = {}
        at = 0
        for n, o in self.own:
            mine = values[at : at + width_of(o)]
            at += len(mine)
            if isinstance(o, g.Fold) and not self.first:
                self.t.bind(o.accumulators, mine)
                self.t.bind(o.values, self.before[n])
                mine, ok = self.t.block(o.combine)
                if ok is not None:
                    raise Refused("the function of a fold over several partitions in its body may fail")
            found[n] = mine
        return found


# ---------------------------------------------------------------- operators


def divided(w: g.WithLoop) -> tuple[list[int], list[int]]:
    """The numbers of the operators that make arrays cell by cell, and of the others."""
    framed = [n for n, o in enumerate(w.operators) if isinstance(o, g.Genarray | g.Modarray)]
    return framed, [n for n in range(len(w.operators)) if n not in framed]


def width_of(o: g.Operator) -> int:
    """How many values an operator takes of each body, and how many results it has."""
    return len(o.neutrals) if isinstance(o, g.Fold) else len(o.initial) if isinstance(o, g.Propagate) else 1


def results_of(w: g.WithLoop, targets: Sequence[g.Var]) -> list[Sequence[g.Var]]:
    """The targets of each operator."""
    found: list[Sequence[g.Var]] = []
    at = 0
    for o in w.operators:
        found.append(targets[at : at + width_of(o)])
        at += width_of(o)
    return found


def select(w: g.WithLoop, numbers: Sequence[int]) -> g.WithLoop:
    """The with-loop with some of its operators only."""
    operators = tuple(w.operators[n] for n in numbers)
    framed = any(isinstance(o, g.Genarray | g.Modarray) for o in operators)
    starts = [sum(map(width_of, w.operators[:n])) for n in range(len(w.operators))]
    chosen = [at for n in numbers for at in range(starts[n], starts[n] + width_of(w.operators[n]))]
    partitions = tuple(
        replace(p, body=g.Block(p.body.statements, tuple(p.body.results[at] for at in chosen))) for p in w.partitions
    )
    return replace(w, frame=w.frame if framed else None, operators=operators, partitions=partitions)

"""The code of a body, as the code of one thread.

In: blocks of a graph, and what their variables stand for. Out: statements in a builder, and the values that the blocks
give. Calls are inlined. What stands behind a check runs only where the check held, so that it stays in range: a block
tells by `ok` whether all checks in it held, and what follows it is run under that condition.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from sacpy.jit.analysis.versions import follow
from sacpy.jit.ir import graph as g
from sacpy.jit.ir import kernel as k
from sacpy.jit.ir.operations import PLACES
from sacpy.jit.ir.rewrite import free, uses
from sacpy.jit.kernels.builder import Builder
from sacpy.jit.kernels.launches import Refused
from sacpy.jit.kernels.liveness import Level, Liveness, lies_in
from sacpy.jit.kernels.nests import Nests
from sacpy.jit.kernels.state import State
from sacpy.jit.kernels.values import Array, Arrays, Elements, Memory, Reshaped, Value, place_of, zero
from sacpy.nodes import Node

Finish = Callable[[list[Value]], None]


class Tile(Node):
    """A part of an array in shared memory; `origin`: the index in the array of the tile's first element."""

    array: g.Var
    origin: tuple[g.Atom, ...]


class Thread:
    """Translates blocks. `env`: what names stand for; a name that is not there is one of the function around the
    kernel. `uses`: how often each name is used in the code being translated; `live`: what is used later.
    `destinations`: where with-loops are to write their results, by name; `tiles`: loads that find their element in
    shared memory, or have found it; `places`: the row and the column of elements whose position the thread has."""

    def __init__(self, builder: Builder, functions: Mapping[str, g.Function], used: Counter[str]) -> None:
        self.b = builder
        self.functions = functions
        self.uses = used
        self.arrays = Arrays(builder)
        self.nests = Nests(self)
        self.env: dict[str, Value] = {}
        self.calls: tuple[str, ...] = ()
        self.live = Liveness()
        self.destinations: dict[str, Memory] = {}
        self.tiles: dict[tuple[str, tuple[g.Atom, ...]], Tile | g.Atom] = {}
        self.places: dict[tuple[g.Atom, ...], tuple[g.Atom, g.Atom]] = {}

    # ---- variables

    def value(self, a: g.Atom) -> Value:
        """What an atom of the graph stands for."""
        if isinstance(a, g.Const):
            return a
        if a.name not in self.env:
            v = self.b.parameter(a.name)
            return Memory(v) if g.extents_of(v) else v
        return self.env[a.name]

    def atom(self, a: g.Atom) -> g.Atom:
        """The scalar that an atom stands for."""
        v = self.value(a)
        assert isinstance(v, g.Var | g.Const)
        return v

    def atoms(self, many: Sequence[g.Atom]) -> tuple[g.Atom, ...]:
        return tuple(map(self.atom, many))

    def array(self, a: g.Atom) -> Array:
        """The array that a variable stands for."""
        v = self.value(a)
        assert isinstance(v, Memory | Elements | Reshaped)
        return v

    def bind(self, targets: Sequence[g.Var], values: Sequence[Value]) -> None:
        for target, value in zip(targets, values, strict=True):
            self.env[target.name] = value

    # ---- blocks

    def block(
        self, b: g.Block, finish: Finish | None = None, later: Sequence[g.Block] = ()
    ) -> tuple[list[Value], g.Atom | None]:
        """The values that a block gives, and whether all its checks held (None: there are none). With `finish`, that is
        called with the values where they are known and checked, and nothing is given. `later`: blocks that run after
        this one, or again."""
        with (
            self.live.kept(self.env, set().union(*map(free, later))),
            self.live.block(self.env, b.statements, b.results) as level,
        ):
            return self._rest(level, b.statements, b.results, finish)

    def _rest(
        self, level: Level, statements: tuple[g.Stmt, ...], results: tuple[g.Atom, ...], finish: Finish | None
    ) -> tuple[list[Value], g.Atom | None]:
        for number, s in enumerate(statements):
            level.at += 1
            if isinstance(s, g.Let):
                guard = self.let(s)
            else:
                guard = self.atom(s.condition)
                self.b.add(k.Check(guard, s.what))
            if guard is not None and guard != g.TRUE:
                return self._guarded(level, guard, statements[number + 1 :], results, finish)
        values = [self.value(r) for r in results]
        if finish is not None:
            finish(values)
            return [], None
        return values, None

    def _guarded(
        self,
        level: Level,
        guard: g.Atom,
        statements: tuple[g.Stmt, ...],
        results: tuple[g.Atom, ...],
        finish: Finish | None,
    ) -> tuple[list[Value], g.Atom | None]:
        self.b.open()
        values, ok = self._rest(level, statements, results, finish)
        if finish is not None:
            self.b.add(k.If(guard, self.b.close()))
            return [], None
        settled = [self._settled(v) for v in values]
        code = self.b.close()
        merges: list[k.Merge] = []

        def merged(a: g.Atom, otherwise: g.Const) -> g.Atom:
            target = self.b.names.var("m", a.type)
            merges.append(k.Merge(target, a, otherwise))
            return target

        given: list[Value] = []
        for v in settled:
            match v:
                case g.Var() | g.Const():
                    given.append(merged(v, zero(v.base)))
                case Elements():
                    given.append(Elements(v.base, v.shape, tuple(merged(a, zero(a.base)) for a in v.atoms), []))
                case _:
                    given.append(v)
        held = merged(ok or g.TRUE, g.FALSE)
        self.b.add(k.If(guard, code, (), tuple(merges)))
        later = self.b.later()
        for v in given:
            if isinstance(v, Elements):
                v.place = later
        return given, held

    def _settled(self, v: Value) -> Value:
        """An array that is still there behind the branch in which it came about."""
        if isinstance(v, Memory):
            return v if not v.prefix and all(map(self.b.launch_known, v.extents)) else self.arrays.copy(v)
        return self.arrays.copy(v) if isinstance(v, Reshaped) else v

    # ---- statements

    def let(self, s: g.Let) -> g.Atom | None:
        """A statement; whether the checks in it held."""
        match s.rhs:
            case g.If() as r:
                return self._if(s.targets, r)
            case g.Loop() as r:
                return self._loop(s.targets, r)
            case g.For() as r:
                return self._for(s.targets, r)
            case g.Call() as r:
                return self._call(s.targets, r)
            case g.WithLoop() as r:
                return self.nests.with_loop(s.targets, r)
            case _:
                self.env[s.targets[0].name] = self.simple(s.targets[0], s.rhs)
                return None

    def simple(self, target: g.Var, r: g.Atom | g.Op | g.Load | g.View | g.Reshape | g.Cons | g.Update) -> Value:
        """The value of a right-hand side without inner blocks."""
        match r:
            case g.Var() | g.Const():
                return self.value(r)
            case g.Op() if r.args in self.places and r.code in PLACES:
                return self.places[r.args][r.code == "column"]
            case g.Op():
                return self.b.let(target.name, g.ScalarType(target.base), g.Op(r.code, self.atoms(r.args), r.exact))
            case g.Load() if (r.array.name, r.index) in self.tiles:
                tile = self.tiles[r.array.name, r.index]
                if not isinstance(tile, Tile):
                    return tile
                place = [self.b.op("sub", i, o, exact=True) for i, o in zip(self.atoms(r.index), tile.origin)]
                return self.b.load(tile.array, *place)
            case g.Load():
                return self.arrays.load(self.array(r.array), self.atoms(r.index))
            case g.View():
                return self.arrays.view(self.array(r.array), self.atoms(r.index))
            case g.Reshape():
                return self.arrays.reshape(self.array(r.array), self.atoms(r.extents))
            case g.Cons():
                return Elements(r.base, r.extents, self.atoms(r.elements), self.b.later())
            case g.Update():
                return self._update(r)

    def _update(self, r: g.Update) -> Value:
        a, index = self.array(r.array), self.atoms(r.index)
        value = self.value(r.value)
        if (
            isinstance(a, Elements)
            and len(index) == len(a.shape)
            and isinstance(value, g.Var | g.Const)
            and all(isinstance(i, g.Const) for i in index)
        ):
            at = place_of(index, a.shape)
            if at is None:
                return a
            return Elements(a.base, a.shape, (*a.atoms[:at], value, *a.atoms[at + 1 :]), self.b.later())
        target = a if isinstance(a, Memory) and self._is_own(a) and self.live.dies(a) else self.arrays.copy(a)
        self.arrays.assign(Memory(target.var, (*target.prefix, *index)), value)
        return target

    def _is_own(self, v: Memory) -> bool:
        """Whether memory was made for this thread, all of it for one array."""
        return not v.prefix and self.b.is_own(v.var)

    def _dying(self, values: Sequence[Value], inside: Collection[str]) -> list[Memory]:
        """Of values that are handed to a statement with blocks, those that may be overwritten there. `inside`: other
        names that the blocks use."""
        return [
            v
            for v in values
            if isinstance(v, Memory)
            and self._is_own(v)
            and sum(lies_in(other, v.var) for other in values) == 1
            and self.live.dies(v, inside)
        ]

    def _in_branches(self, r: g.If) -> dict[int, Memory]:
        """The arrays that both branches only update, if at all, and hand on, by the number of the result."""
        used = free(r.then) | free(r.otherwise)
        found: dict[int, Memory] = {}
        for name in sorted(used):
            v = self.env.get(name)
            if isinstance(v, Memory) and self._is_own(v) and self.live.dies(v, used - {name}):
                ends = [follow(b, (name,)) for b in (r.then, r.otherwise)]
                at = [f.results.index(name) for f in ends if f is not None and name in f.results]
                if len(at) == 2 and at[0] == at[1]:
                    found[at[0]] = v
        return found

    def _if(self, targets: Sequence[g.Var], r: g.If) -> g.Atom | None:
        condition = self.atom(r.condition)
        decided = {t.name for t in targets}
        if any(isinstance(e, g.Var) and e.name in decided for t in targets for e in g.extents_of(t)):
            raise Refused("a condition in its body decides how large an array is")
        there = self._in_branches(r)
        memory = [
            there.get(n) or Memory(self.b.array(t.base, self.atoms(g.extents_of(t)))) if g.extents_of(t) else None
            for n, t in enumerate(targets)
        ]
        sides: list[tuple[list[g.Atom], g.Atom | None]] = []
        code = []
        for branch in (r.then, r.otherwise):
            self.b.open()
            values, ok = self.block(branch)
            scalars: list[g.Atom] = []
            for m, v in zip(memory, values):
                if m is not None:
                    self.b.when(ok, lambda m=m, v=v: self.arrays.assign(m, v))  # type: ignore[misc]
                else:
                    assert isinstance(v, g.Var | g.Const)
                    scalars.append(v)
            sides.append((scalars, ok))
            code.append(self.b.close())
        merges = []
        given = iter(zip(*(scalars for scalars, _ in sides)))
        for t, m in zip(targets, memory):
            if m is not None:
                self.env[t.name] = m
                continue
            then, otherwise = next(given)
            v = self.b.names.var(t.name, g.ScalarType(t.base))
            merges.append(k.Merge(v, then, otherwise))
            self.env[t.name] = v
        held: g.Atom | None = None
        if any(ok is not None for _, ok in sides):
            held = self.b.names.var("ok", g.BOOL)
            merges.append(k.Merge(held, sides[0][1] or g.TRUE, sides[1][1] or g.TRUE))
        self.b.add(k.If(condition, code[0], code[1], tuple(merges)))
        return held

    def _call(self, targets: Sequence[g.Var], r: g.Call) -> g.Atom | None:
        if r.function in self.calls:
            raise Refused(f"its body calls {r.function.partition('@')[0]}, which calls itself")
        f = self.functions[r.function]
        args = [self.value(a) for a in r.args]
        env, self.env = self.env, {}
        tiles, self.tiles = self.tiles, {}
        places, self.places = self.places, {}
        used, self.uses = self.uses, uses(f.body)
        self.calls += (r.function,)
        try:
            self.bind(f.params, args)
            values, ok = self.block(f.body)
        finally:
            self.calls = self.calls[:-1]
            self.env, self.uses, self.tiles, self.places = env, used, tiles, places
        self.bind(targets, values)
        return ok

    # ---- loops

    def checked(self, *many: g.Block) -> bool:
        """Whether there are checks in some blocks, functions called included."""
        return any(
            isinstance(s, g.Check)
            or any(self.checked(b) for b in g.blocks(s.rhs))
            or (isinstance(s.rhs, g.Call) and self._checked_call(s.rhs))
            for b in many
            for s in b.statements
        )

    def _checked_call(self, c: g.Call) -> bool:
        if c.function in self.calls:
            return False
        self.calls += (c.function,)
        try:
            return self.checked(self.functions[c.function].body)
        finally:
            self.calls = self.calls[:-1]

    def _for(self, targets: Sequence[g.Var], r: g.For) -> g.Atom | None:
        initial = [self.value(a) for a in r.initial]
        inside = free(r.body) - {v.name for v in (*r.params, r.index)}
        state = State(self, r.params, initial, self.checked(r.body), self._dying(initial, inside))
        lower, upper = self.atom(r.lower), self.atom(r.upper)

        def round_(i: g.Var, carried: list[g.Atom]) -> Sequence[g.Atom]:
            def body() -> tuple[list[Value], g.Atom | None]:
                self.env[r.index.name] = i
                return self.block(r.body)

            return state.round(carried, body)

        with self.live.kept(self.env, inside):
            last = self.b.seq_for(lower, upper, state.scalars, round_, r.step)
        self.bind(targets, state.values(last))
        return state.ok(last)

    def _loop(self, targets: Sequence[g.Var], r: g.Loop) -> g.Atom | None:
        """Rounds, each of which finds out at its end whether there is another."""
        initial = [self.value(a) for a in r.initial]
        inside = (free(r.body) | free(r.condition)) - {v.name for v in r.params}
        state = State(self, r.params, initial, self.checked(r.condition, r.body), self._dying(initial, inside))
        carried = [self.b.names.var("c", a.type) for a in state.scalars]
        go = self.b.names.var("go", g.BOOL)
        first, started = (g.TRUE, None) if r.body_first else self._test(state, r.condition, state.scalars)
        if started is not None:
            state.scalars[-1] = started
        self.b.open()
        with self.live.kept(self.env, inside):
            updates = state.round(list(carried), lambda: self.block(r.body))
            again, ok = self._test(state, r.condition, updates)
        if ok is not None:
            updates[-1] = ok
        code = self.b.close()
        both = (*map(k.Carried, carried, state.scalars, updates), k.Carried(go, first, again))
        self.b.add(k.While(both, (), go, code))
        last: list[g.Atom] = list(carried)
        self.bind(targets, state.values(last))
        return state.ok(last)

    def _test(self, state: State, condition: g.Block, carried: Sequence[g.Atom]) -> tuple[g.Atom, g.Atom | None]:
        """Whether there is another round, and whether all checks held up to now."""
        self.bind(state.params, state.values(carried))
        needed = g.Block((), state.params)  # in the round
        if not state.checks:
            values, _ = self.block(condition, later=(needed,))
            (test,) = values
            assert isinstance(test, g.Var | g.Const)
            return test, None
        self.b.open()
        values, ok = self.block(condition, later=(needed,))
        (test,) = values
        assert isinstance(test, g.Var | g.Const)
        go, held = self.b.names.var("go", g.BOOL), self.b.names.var("ok", g.BOOL)
        merges = (k.Merge(go, test, g.FALSE), k.Merge(held, ok or g.TRUE, g.FALSE))
        self.b.add(k.If(carried[-1], self.b.close(), (), merges))
        return go, held

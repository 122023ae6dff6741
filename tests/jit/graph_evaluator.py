"""Runs graphs in Python: the meaning of the graph IR, in the plainest words, for tests.

In: a unit, and values as the interpreter has them (Python scalars, NumPy arrays), one per argument of the core
function. Out: its results; or `CheckFailed`. What the laws of graphs forbid (an index out of range, a shape that is not
the declared one, an `exact` operation that wraps) is an `AssertionError`: a defect of whoever made the graph.

Each node is made into a function of the environment once, since tests run bodies thousands of times. An environment has
the variables by name, and the constants by what `Evaluator.key` calls them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import prod
from operator import itemgetter
from typing import Any, TypeVar, cast

import numpy as np

from sacpy.interp.arithmetic import limits
from sacpy.interp.errors import Fault
from sacpy.interp.runtime.elementwise import scalar_version
from sacpy.interp.values import Value, dtype_of, shape_of
from sacpy.jit.ir.graph import (
    ArrayType,
    Atom,
    Block,
    Call,
    Check,
    Cons,
    Const,
    Fold,
    For,
    Function,
    Genarray,
    If,
    Load,
    Loop,
    Modarray,
    Op,
    Operator,
    Output,
    Partition,
    Propagate,
    Reshape,
    Rhs,
    Stmt,
    Unit,
    Update,
    Var,
    View,
    WithLoop,
)
from sacpy.jit.ir.operations import PLACES
from sacpy.lang.types import BITS
from sacpy.withloop.arithmetic import place_in_rows

Env = dict[str, Value]
Many = Sequence[Value]
N = TypeVar("N")
F = TypeVar("F", bound=Callable[..., Any])


class CheckFailed(Exception):
    """A check of the graph failed."""


def evaluate(unit: Unit, args: Sequence[Value]) -> tuple[Value, ...]:
    """The results of a unit for the arguments of its core function."""
    params = [_input(i.kind, args[i.argument], i.at) for i in unit.inputs]
    with np.errstate(all="ignore"):
        found = Evaluator(unit).call(unit.root, params)
    return tuple(_output(o, found) for o in unit.outputs)


def _input(kind: str, value: Value, at: int) -> Value:
    match kind:
        case "element":
            return value.reshape(-1)[at].item()
        case "extent":
            return shape_of(value)[at]
        case _:
            return value


def _output(o: Output, found: Sequence[Value]) -> Value:
    extents = tuple(e if isinstance(e, int) else found[e[1]] for e in o.extents)
    if o.kind == "small":
        return np.array([found[p] for p in o.positions], dtype_of(o.base)).reshape(extents)
    value = found[o.positions[0]]
    assert shape_of(value) == extents, (o, shape_of(value))
    return value


class Evaluator:
    """Evaluates functions of a unit."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.constants: Env = {}
        self.made: dict[int, tuple[Any, Callable[..., Any]]] = {}  # by identity, which the node beside it holds

    def call(self, f: Function, args: Many) -> Many:
        """The results of a function."""
        return self.once(f, self.function)(args)

    def value(self, r: Rhs, env: Env, targets: Sequence[Var] = ()) -> Many:
        """What a right-hand side gives, with these variables."""
        run = self.once(r, lambda r: self.rhs(r, targets))
        return run({**self.constants, **env})

    def once(self, node: N, make: Callable[[N], F]) -> F:
        """The function of a node, which is made at its first use."""
        found = self.made.get(id(node))
        if found is None:
            found = self.made[id(node)] = node, make(node)
        return cast(F, found[1])

    def function(self, f: Function) -> Callable[[Many], Many]:
        bind, body, constants = self.binding(f.params), self.block(f.body), self.constants

        def run(args: Many) -> Many:
            env = dict(constants)
            bind(env, args)
            return body(env)

        return run

    # ---- variables and constants

    def key(self, a: Atom) -> str:
        """Under which name an environment has an atom."""
        if isinstance(a, Var):
            return a.name
        name = f"{a.base} {a.key}"
        self.constants[name] = a.value
        return name

    def all(self, many: Sequence[Atom]) -> Callable[[Env], Many]:
        names = [self.key(a) for a in many]
        if len(names) > 1:
            return itemgetter(*names)
        return lambda env: [env[name] for name in names]

    def extents(self, many: Sequence[Atom]) -> Callable[[Env], tuple[int, ...]]:
        get = self.all(many)

        def run(env: Env) -> tuple[int, ...]:
            found = tuple(get(env))
            assert all(e >= 0 for e in found), found
            return found

        return run

    def binding(self, targets: Sequence[Var]) -> Callable[[Env, Many], None]:
        """Sets variables at once; their types may refer to each other."""
        if len(targets) == 1 and not isinstance(targets[0].type, ArrayType):
            name, fits = targets[0].name, _fits(targets[0].base)

            def one(env: Env, values: Many) -> None:
                (value,) = values
                assert fits(value), (name, value)
                env[name] = value

            return one
        names, checks = [t.name for t in targets], [self.check(t) for t in targets]

        def run(env: Env, values: Many) -> None:
            env.update(zip(names, values, strict=True))
            for check, value in zip(checks, values):
                check(env, value)

        return run

    def check(self, target: Var) -> Callable[[Env, Value], None]:
        """Asserts that a value is of the type of a variable."""
        if not isinstance(target.type, ArrayType):
            fits = _fits(target.base)

            def scalar(env: Env, value: Value) -> None:
                assert fits(value), (target, value)

            return scalar
        extents, dtype = self.extents(target.type.extents), dtype_of(target.base)

        def array(env: Env, value: Value) -> None:
            assert value.dtype == dtype, (target, value.dtype)
            assert value.shape == extents(env), (target.name, value.shape, target.type)

        return array

    # ---- statements

    def block(self, b: Block) -> Callable[[Env], Many]:
        steps, results = [self.statement(s) for s in b.statements], self.all(b.results)

        def run(env: Env) -> Many:
            for step in steps:
                step(env)
            return results(env)

        return run

    def statement(self, s: Stmt) -> Callable[[Env], None]:
        if isinstance(s, Check):
            condition = self.key(s.condition)

            def check(env: Env) -> None:
                if not env[condition]:
                    raise CheckFailed(s.what)

            return check
        bind, value = self.binding(s.targets), self.rhs(s.rhs, s.targets)
        return lambda env: bind(env, value(env))

    def rhs(self, r: Rhs, targets: Sequence[Var]) -> Callable[[Env], Many]:
        """Gives one value per target."""
        match r:
            case Var() | Const():
                return self.all([r])
            case Op():
                return self.op(r)
            case Load(array=array, index=index):
                sub = self.sub(array, index)
                return lambda env: [sub(env).item()]
            case View(array=array, index=index):
                sub = self.sub(array, index)
                return lambda env: [sub(env)]
            case Reshape():
                return self.reshape(r)
            case Cons():
                get, dtype = self.all(r.elements), dtype_of(r.base)
                return lambda env: [np.array(get(env), dtype).reshape(r.extents)]
            case Update():
                return self.update(r)
            case Call():
                # Not made before it is called: functions call each other.
                get, called = self.all(r.args), self.unit.function(r.function)
                return lambda env: self.call(called, get(env))
            case If():
                condition, then, otherwise = self.key(r.condition), self.block(r.then), self.block(r.otherwise)
                return lambda env: then(env) if env[condition] else otherwise(env)
            case Loop():
                return self.loop(r)
            case For():
                return self.counting(r)
            case WithLoop():
                return WithLoops(self, r).run

    def op(self, op: Op) -> Callable[[Env], Many]:
        get = self.all(op.args)
        if op.code == "select":
            condition, then, otherwise = map(self.key, op.args)
            return lambda env: [env[then] if env[condition] else env[otherwise]]
        if op.code in PLACES:
            which = op.code == "column"
            return lambda env: [place_in_rows(*map(int, get(env)))[which]]
        primitive = scalar_version(op.code, op.args[0].base)

        def run(env: Env) -> Many:
            args = get(env)
            try:
                result = primitive(*args)
            except Fault:
                return [0]  # any value: a check stands before whatever uses it
            if op.exact:
                assert result == _unbounded(op.code, args), (op, args)
            return [result]

        return run

    @staticmethod
    def inside(at: Sequence[int], shape: Sequence[int]) -> bool:
        return all(0 <= i < e for i, e in zip(at, shape))

    def sub(self, array: Var, index: Sequence[Atom]) -> Callable[[Env], Any]:
        name, get = array.name, self.all(index)

        def run(env: Env) -> Any:
            a, at = env[name], tuple(get(env))
            for i, e in zip(at, a.shape):
                assert 0 <= i < e, (name, at, a.shape)
            return a[at]

        return run

    def reshape(self, r: Reshape) -> Callable[[Env], Many]:
        array, extents = r.array.name, self.extents(r.extents)

        def run(env: Env) -> Many:
            a, new = env[array], extents(env)
            assert a.size == prod(new), (a.shape, new)
            return [a.reshape(new)]

        return run

    def update(self, r: Update) -> Callable[[Env], Many]:
        array, index, value = r.array.name, self.all(r.index), self.key(r.value)

        def run(env: Env) -> Many:
            a, at, new = env[array].copy(), tuple(index(env)), env[value]
            assert self.inside(at, a.shape), (r, at, a.shape)
            assert shape_of(new) == a.shape[len(at) :]
            a[at] = new
            return [a]

        return run

    def loop(self, r: Loop) -> Callable[[Env], Many]:
        bind, initial, params = self.binding(r.params), self.all(r.initial), self.all(r.params)
        condition, body = self.block(r.condition), self.block(r.body)

        def run(env: Env) -> Many:
            bind(env, initial(env))
            skip = r.body_first
            while skip or condition(env)[0]:
                skip = False
                bind(env, body(env))
            return params(env)

        return run

    def counting(self, r: For) -> Callable[[Env], Many]:
        index, bind, initial = self.binding((r.index,)), self.binding(r.params), self.all(r.initial)
        lower, upper, body = self.key(r.lower), self.key(r.upper), self.block(r.body)

        def run(env: Env) -> Many:
            values = initial(env)
            for i in range(env[lower], env[upper], r.step):
                index(env, (i,))
                bind(env, values)
                values = body(env)
            return values

        return run

    def indices(self, p: Partition) -> Callable[[Env], Iterator[tuple[int, ...]]]:
        """The indices of a partition in row-major order."""
        lower, upper = self.all(p.lower), self.all(p.upper)
        if p.step is None or p.width is None:
            return lambda env: product(*map(range, lower(env), upper(env)))
        steps, widths = self.all(p.step), self.all(p.width)

        def run(env: Env) -> Iterator[tuple[int, ...]]:
            step, width = steps(env), widths(env)
            assert all(0 < w <= s for s, w in zip(step, width)), (step, width)
            return product(
                *(
                    [i for i in range(lo, up) if (i - lo) % s < w]
                    for lo, up, s, w in zip(lower(env), upper(env), step, width)
                )
            )

        return run


def _unbounded(code: str, args: Sequence[int]) -> int:
    match code:
        case "add":
            return args[0] + args[1]
        case "sub":
            return args[0] - args[1]
        case "mul":
            return args[0] * args[1]
        case "neg":
            return -args[0]
        case "abs":
            return abs(args[0])
        case "shl":
            return args[0] << args[1]
        case "div":
            return abs(args[0]) // abs(args[1]) * (1 if (args[0] < 0) == (args[1] < 0) else -1)
    return int(scalar_version(code, "int")(*args))


def _fits(base: str) -> Callable[[Value], bool]:
    """Whether a value is a scalar of a base type."""
    if base in BITS or base == "char":
        low, high = limits(base)
        return lambda value: type(value) is int and low <= value <= high
    kind = bool if base == "bool" else float
    return lambda value: type(value) is kind


class WithLoops:
    """A with-loop, index by index."""

    def __init__(self, e: Evaluator, w: WithLoop) -> None:
        self.w, self.operators = w, [_Operator(e, o) for o in w.operators]
        self.frame = None if w.frame is None else e.extents(w.frame)
        self.partitions = [_Partition(e, p, self) for p in w.partitions]

    def run(self, env: Env) -> Many:
        """The results, operator by operator."""
        frame = None if self.frame is None else self.frame(env)
        covered = None if frame is None else np.zeros(frame, np.int64)
        states = [o.start(env, frame) for o in self.operators]
        partials: list[list[Many]] = [[] for _ in self.operators]
        for number, p in enumerate(self.partitions, 1):
            for k, o in enumerate(self.operators):
                if o.folds:
                    states[k] = o.neutrals(env)
            p.run(env, number, covered, states)
            for k, state in enumerate(states):
                partials[k].append(state)
        if covered is not None and self.w.complete:
            assert (covered > 0).all()
        results: list[Value] = []
        for o, state, parts in zip(self.operators, states, partials):
            results += o.folded(env, parts) if o.folds else state
        return results


class _Operator:
    """An operator of a with-loop."""

    def __init__(self, e: Evaluator, o: Operator) -> None:
        self.o, self.folds = o, isinstance(o, Fold)
        match o:
            case Genarray():
                self.cell, self.default, self.dtype = e.extents(o.cell), e.key(o.default), dtype_of(o.base)
            case Modarray():
                self.array = e.key(o.array)
            case Fold():
                self.neutrals, self.combine = e.all(o.neutrals), e.block(o.combine)
                self.accumulators, self.values = e.binding(o.accumulators), e.binding(o.values)
                self.stop = None if o.stop is None else e.all(o.stop)
            case Propagate():
                self.initial, self.params = e.all(o.initial), e.binding(o.params)

    def start(self, env: Env, frame: tuple[int, ...] | None) -> Many:
        """What it has before the first index."""
        match self.o:
            case Genarray():
                assert frame is not None
                result = np.empty(frame + self.cell(env), self.dtype)
                result[...] = env[self.default]
                return [result]
            case Modarray():
                assert frame is not None and env[self.array].shape[: len(frame)] == frame
                return [env[self.array].copy()]
            case Fold():
                return self.neutrals(env)
            case _:
                return self.initial(env)

    def combined(self, env: Env, accumulators: Many, values: Many) -> Many:
        self.accumulators(env, accumulators)
        self.values(env, values)
        return self.combine(env)

    def folded(self, env: Env, partials: list[Many]) -> Many:
        if not partials:
            return self.neutrals(env)
        total = partials[0]
        for partial in partials[1:]:
            total = self.combined(env, partial, total)  # f(F(p2), F(p1))
        return total


class _Partition:
    """A partition of a with-loop."""

    def __init__(self, e: Evaluator, p: Partition, w: WithLoops) -> None:
        self.w, self.p, self.body, self.index = w, p, e.block(p.body), e.binding(p.index)
        self.indices = e.indices(p)
        self.stored = all(isinstance(o, Genarray | Modarray) for o in w.w.operators)

    def run(self, env: Env, number: int, covered: Any, states: list[Many]) -> None:
        """Changes the states, and marks what is covered with its number."""
        operators, stopped = self.w.operators, [False] * len(states)
        threaded = [k for k, o in enumerate(operators) if isinstance(o.o, Propagate)]
        down = any(operators[k].o.down for k in threaded)
        for iv in reversed(list(self.indices(env))) if down else self.indices(env):
            new = True
            if covered is not None:
                assert Evaluator.inside(iv, covered.shape), (iv, covered.shape)
                before = covered[iv]
                if before:
                    assert not (self.w.w.disjoint and before != number), (iv, "covered twice")
                    if self.stored:
                        continue
                    new = False
            self.index(env, iv)
            for k in threaded:
                operators[k].params(env, states[k])
            values, at = self.body(env), 0
            for k, o in enumerate(operators):
                count = len(states[k])
                mine = values[at : at + count]
                at += count
                match o.o:
                    case Genarray() | Modarray():
                        if new:
                            array = states[k][0]
                            assert shape_of(mine[0]) == array.shape[len(iv) :], (shape_of(mine[0]), array.shape)
                            array[iv] = mine[0]
                    case Fold():
                        if not stopped[k]:
                            states[k] = o.combined(env, states[k], mine)
                            if o.stop is not None:
                                stopped[k] = all(np.array_equal(a, b) for a, b in zip(states[k], o.stop(env)))
                    case Propagate():
                        states[k] = mine
            if covered is not None and new:
                covered[iv] = number
            if stopped and all(stopped):
                return

"""Runs graphs in Python: the meaning of the graph IR, in the plainest words, for tests.

In: a unit, and values as the interpreter has them (Python scalars, NumPy arrays), one per argument of the core
function. Out: its results; or `CheckFailed`. What the laws of graphs forbid (an index out of range, a shape that is not
the declared one, an `exact` operation that wraps) is an `AssertionError`: a defect of whoever made the graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import Any

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
    Let,
    Load,
    Loop,
    Modarray,
    Op,
    Output,
    Partition,
    Propagate,
    Reshape,
    Rhs,
    Unit,
    Update,
    Var,
    View,
    WithLoop,
)
from sacpy.jit.ir.operations import PLACES
from sacpy.lang.types import BITS
from sacpy.withloop.arithmetic import place_in_rows


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
        self.env: dict[str, Value] = {}

    def call(self, f: Function, args: Sequence[Value]) -> list[Value]:
        """The results of a function."""
        outer, self.env = self.env, {}
        try:
            self.bind(f.params, args)
            return self.block(f.body)
        finally:
            self.env = outer

    # ---- variables

    def bind(self, targets: Sequence[Var], values: Sequence[Value]) -> None:
        assert len(targets) == len(values)
        for target, value in zip(targets, values):
            self.env[target.name] = value
        for target, value in zip(targets, values):
            if isinstance(target.type, ArrayType):
                assert value.dtype == dtype_of(target.base), (target, value.dtype)
                assert value.shape == self.extents(target.type.extents), (target.name, value.shape, target.type)
            else:
                assert not isinstance(value, np.ndarray), target
                _assert_in_range(target.base, value)

    def get(self, a: Atom) -> Value:
        return a.value if isinstance(a, Const) else self.env[a.name]

    def all(self, many: Sequence[Atom]) -> list[Value]:
        return [self.get(a) for a in many]

    def extents(self, many: Sequence[Atom]) -> tuple[int, ...]:
        found = tuple(self.all(many))
        assert all(e >= 0 for e in found), found
        return found

    # ---- statements

    def block(self, b: Block) -> list[Value]:
        for s in b.statements:
            if isinstance(s, Check):
                if not self.get(s.condition):
                    raise CheckFailed(s.what)
            else:
                self.let(s)
        return self.all(b.results)

    def let(self, s: Let) -> None:
        self.bind(s.targets, self.rhs(s.rhs, s.targets))

    def rhs(self, r: Rhs, targets: Sequence[Var]) -> list[Value]:
        match r:
            case Var() | Const():
                return [self.get(r)]
            case Op():
                return [self.op(r)]
            case Load(array=array, index=index):
                return [self.sub(array, index).item()]
            case View(array=array, index=index):
                return [self.sub(array, index)]
            case Reshape(array=array, extents=extents):
                a, new = self.get(array), self.extents(extents)
                assert a.size == prod(new), (a.shape, new)
                return [a.reshape(new)]
            case Cons():
                return [np.array(self.all(r.elements), dtype_of(r.base)).reshape(r.extents)]
            case Update():
                a = self.get(r.array).copy()
                at = tuple(self.all(r.index))
                assert self.inside(at, a.shape), (r, at, a.shape)
                value = self.get(r.value)
                assert shape_of(value) == a.shape[len(at) :]
                a[at] = value
                return [a]
            case Call():
                return self.call(self.unit.function(r.function), self.all(r.args))
            case If():
                return self.block(r.then if self.get(r.condition) else r.otherwise)
            case Loop():
                return self.loop(r)
            case For():
                return self.counting(r)
            case WithLoop():
                return WithLoops(self).run(r)

    def op(self, op: Op) -> Value:
        args = self.all(op.args)
        if op.code == "select":
            return args[1] if args[0] else args[2]
        if op.code in PLACES:
            return place_in_rows(*map(int, args))[op.code == "column"]
        try:
            result = scalar_version(op.code, op.args[0].base)(*args)
        except Fault:
            return 0  # any value: a check stands before whatever uses it
        if op.exact:
            assert result == _unbounded(op.code, args), (op, args)
        return result

    @staticmethod
    def inside(at: Sequence[int], shape: Sequence[int]) -> bool:
        return all(0 <= i < e for i, e in zip(at, shape))

    def sub(self, array: Var, index: Sequence[Atom]) -> Any:
        a, at = self.get(array), tuple(self.all(index))
        assert self.inside(at, a.shape), (array.name, at, a.shape)
        return a[at]

    def loop(self, r: Loop) -> list[Value]:
        self.bind(r.params, self.all(r.initial))
        skip = r.body_first
        while skip or self.block(r.condition)[0]:
            skip = False
            self.bind(r.params, self.block(r.body))
        return self.all(r.params)

    def counting(self, r: For) -> list[Value]:
        values = self.all(r.initial)
        for i in range(self.get(r.lower), self.get(r.upper), r.step):
            self.bind((r.index,), [i])
            self.bind(r.params, values)
            values = self.block(r.body)
        return values


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


def _assert_in_range(base: str, value: Value) -> None:
    if base in BITS or base == "char":
        low, high = limits(base)
        assert type(value) is int and low <= value <= high, (base, value)
    else:
        assert type(value) is (bool if base == "bool" else float), (base, value)


class WithLoops:
    """With-loops, index by index."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.e = evaluator

    def run(self, w: WithLoop) -> list[Value]:
        frame = None if w.frame is None else self.e.extents(w.frame)
        covered = None if frame is None else np.zeros(frame, np.int64)
        states: list[list[Value]] = [self.start(o, frame) for o in w.operators]
        folds: list[list[list[Value]]] = [[] for _ in w.operators]
        for number, p in enumerate(w.partitions, 1):
            for k, o in enumerate(w.operators):
                if isinstance(o, Fold):
                    states[k] = self.e.all(o.neutrals)
            self.partition(w, p, number, covered, states)
            for k, o in enumerate(w.operators):
                if isinstance(o, Fold):
                    folds[k].append(states[k])
        if covered is not None and w.complete:
            assert (covered > 0).all()
        results: list[Value] = []
        for o, state, partials in zip(w.operators, states, folds):
            results += self.folded(o, partials) if isinstance(o, Fold) else state
        return results

    def folded(self, o: Fold, partials: list[list[Value]]) -> list[Value]:
        if not partials:
            return self.e.all(o.neutrals)
        total = partials[0]
        for partial in partials[1:]:
            total = self.combine(o, partial, total)  # f(F(p2), F(p1))
        return total

    def combine(self, o: Fold, accumulators: Sequence[Value], values: Sequence[Value]) -> list[Value]:
        self.e.bind(o.accumulators, accumulators)
        self.e.bind(o.values, values)
        return self.e.block(o.combine)

    def start(self, o: Any, frame: tuple[int, ...] | None) -> list[Value]:
        match o:
            case Genarray():
                assert frame is not None
                cell = self.e.extents(o.cell)
                result = np.empty(frame + cell, dtype_of(o.base))
                result[...] = self.e.get(o.default)
                return [result]
            case Modarray():
                assert frame is not None and self.e.get(o.array).shape[: len(frame)] == frame
                return [self.e.get(o.array).copy()]
            case Fold():
                return self.e.all(o.neutrals)
            case _:
                return self.e.all(o.initial)

    def partition(self, w: WithLoop, p: Partition, number: int, covered: Any, states: list[list[Value]]) -> None:
        stopped = [False] * len(states)
        down = any(isinstance(o, Propagate) and o.down for o in w.operators)
        for iv in reversed(list(self.indices(p))) if down else self.indices(p):
            if covered is not None:
                assert Evaluator.inside(iv, covered.shape), (iv, covered.shape)
                if covered[iv]:
                    assert not (w.disjoint and covered[iv] != number), (iv, "covered twice")
                    if all(isinstance(o, Genarray | Modarray) for o in w.operators):
                        continue
            self.e.bind(p.index, iv)
            for o, state in zip(w.operators, states):
                if isinstance(o, Propagate):
                    self.e.bind(o.params, state)
            values = self.e.block(p.body)
            at = 0
            for k, o in enumerate(w.operators):
                count = len(states[k])
                mine = values[at : at + count]
                at += count
                match o:
                    case Genarray() | Modarray():
                        if not covered[iv]:
                            assert shape_of(mine[0]) == states[k][0].shape[len(iv) :], (
                                shape_of(mine[0]),
                                states[k][0].shape,
                            )
                            states[k][0][iv] = mine[0]
                    case Fold():
                        if not stopped[k]:
                            states[k] = self.combine(o, states[k], mine)
                            if o.stop is not None:
                                stopped[k] = all(np.array_equal(a, b) for a, b in zip(states[k], self.e.all(o.stop)))
                    case Propagate():
                        states[k] = mine
            if covered is not None and not covered[iv]:
                covered[iv] = number
            if stopped and all(stopped):
                return

    def indices(self, p: Partition) -> Iterator[tuple[int, ...]]:
        lower, upper = self.e.all(p.lower), self.e.all(p.upper)
        step, width = (
            (self.e.all(p.step), self.e.all(p.width))
            if p.step is not None and p.width is not None
            else ([1] * p.rank, [1] * p.rank)
        )
        assert all(0 < w <= s for s, w in zip(step, width)), (step, width)
        return product(
            *([i for i in range(lo, up) if (i - lo) % s < w] for lo, up, s, w in zip(lower, upper, step, width))
        )

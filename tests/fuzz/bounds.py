"""What a compiled function may give in the default mode: its graph, computed with intervals.

In: a unit after the passes, and the arguments of a call. Out: `Expected` values (see `intervals`): exact ones must come
out to the last bit, the others within their bounds. Compiled code does what this graph says, and from it on nothing is
regrouped but the folds, scans and reductions by index that the code generator recognises as sums and products.

`Unclear` is raised where rounding decides what is computed at all: by a condition, a check or an index that is not
certain, or by a fold with a function of its own, whose values may be combined in any order. `Fails` is raised where a
check fails: then the interpreter runs the call again, and has the last word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np

from sacpy.jit.analysis.folds import recognised
from sacpy.jit.analysis.scans import Scan, scan_of
from sacpy.jit.analysis.scatters import collapsed
from sacpy.jit.ir import graph as g
from sacpy.lang.types import REAL
from tests.fuzz.by_index import ANY_ORDER, ByIndex
from tests.fuzz.intervals import UNKNOWN, Interval, Number, operation

STEPS = 400_000  # statements of a call, at most


class Unclear(Exception):
    """Rounding decides what is computed."""


class Fails(Exception):
    """A check fails."""


@dataclass(frozen=True, slots=True)
class Array:
    """An array: its shape, and its elements in row-major order."""

    shape: tuple[int, ...]
    items: tuple[Number, ...]

    def start(self, index: Sequence[int]) -> tuple[int, int]:
        """Where the elements at the first few indices begin, and how many there are."""
        size = prod(self.shape[len(index) :])
        flat = 0
        for i, e in zip(index, self.shape):
            if not 0 <= i < e:
                raise Fails
            flat = flat * e + i
        return flat * size, size

    def at(self, index: Sequence[int]) -> Expected:
        """The element or sub-array at the first few indices."""
        start, size = self.start(index)
        return (
            self.items[start]
            if len(index) == len(self.shape)
            else Array(self.shape[len(index) :], self.items[start : start + size])
        )


Expected = Number | Array
Env = dict[str, Expected]


def expected(unit: g.Unit, args: Sequence[Any]) -> list[Expected]:
    """The results of a call."""
    machine = _Machine({f.name: f for f in unit.functions})
    values: list[Expected] = []
    for i in unit.inputs:
        argument = args[i.argument]
        match i.kind:
            case "scalar":
                values.append(argument)
            case "element":
                values.append(argument.reshape(-1)[i.at].item())
            case "extent":
                values.append(argument.shape[i.at])
            case _:
                values.append(Array(argument.shape, tuple(argument.reshape(-1).tolist())))
    found = machine.call(unit.root, values)
    results: list[Expected] = []
    for o in unit.outputs:
        if o.kind == "small":
            shape = tuple(e if isinstance(e, int) else found[e[1]] for e in o.extents)
            results.append(Array(shape, tuple(found[p] for p in o.positions)))
        else:
            results.append(found[o.positions[0]])
    return results


class _Machine:
    def __init__(self, functions: dict[str, g.Function]) -> None:
        self.functions = functions
        self.steps = 0
        self.made: dict[str, g.Op] = {}  # what the function at hand sets variables to

    def call(self, function: g.Function, args: Sequence[Expected]) -> list[Expected]:
        around, self.made = (
            self.made,
            {
                s.targets[0].name: s.rhs
                for s in g.statements(function.body)
                if isinstance(s, g.Let) and isinstance(s.rhs, g.Op)
            },
        )
        found = self.block(function.body, {p.name: a for p, a in zip(function.params, args, strict=True)})
        self.made = around
        return found

    def block(self, block: g.Block, env: Env) -> list[Expected]:
        """What a block gives; what it sets stays in `env`, where names are set once."""
        self.steps += len(block.statements)
        if self.steps > STEPS:
            raise Unclear("it takes too long")
        for s in block.statements:
            if isinstance(s, g.Check):
                if not self.certain(s.condition, env, "a check"):
                    raise Fails
            else:
                for target, value in zip(s.targets, self.rhs(s.rhs, s.targets, env), strict=True):
                    env[target.name] = value
        return [self.atom(a, env) for a in block.results]

    def atom(self, a: g.Atom, env: Env) -> Expected:
        return a.value if isinstance(a, g.Const) else env[a.name]

    def certain(self, a: g.Atom, env: Env, what: str = "an index") -> Any:
        value = self.atom(a, env)
        if value is UNKNOWN or isinstance(value, Interval):
            raise Unclear(f"{what} depends on rounding")
        return value

    def index(self, atoms: Sequence[g.Atom], env: Env) -> list[int]:
        return [self.certain(a, env) for a in atoms]

    def array(self, a: g.Atom, env: Env) -> Array:
        found = self.atom(a, env)
        assert isinstance(found, Array)
        return found

    def rhs(self, rhs: g.Rhs, targets: Sequence[g.Var], env: Env) -> list[Expected]:
        match rhs:
            case g.Var() | g.Const():
                return [self.atom(rhs, env)]
            case g.Op():
                return [operation(rhs.code, rhs.args[0].base, [self.atom(a, env) for a in rhs.args])]
            case g.Load() | g.View():
                return [self.array(rhs.array, env).at(self.index(rhs.index, env))]
            case g.Reshape():
                return [Array(tuple(self.index(rhs.extents, env)), self.array(rhs.array, env).items)]
            case g.Cons():
                return [Array(rhs.extents, tuple(self.atom(a, env) for a in rhs.elements))]
            case g.Update():
                return [self.updated(self.array(rhs.array, env), self.index(rhs.index, env), self.atom(rhs.value, env))]
            case g.Call():
                return self.call(self.functions[rhs.function], [self.atom(a, env) for a in rhs.args])
            case g.If():
                return self.block(rhs.then if self.certain(rhs.condition, env, "a condition") else rhs.otherwise, env)
            case g.Loop() | g.For():
                return self.loop(rhs, env)
        return self.with_loop(rhs, env)

    def updated(self, array: Array, index: list[int], value: Expected) -> Array:
        start, size = array.start(index)
        items = value.items if isinstance(value, Array) else (value,)
        return Array(array.shape, (*array.items[:start], *items, *array.items[start + size :]))

    def loop(self, rhs: g.Loop | g.For, env: Env) -> list[Expected]:
        values = [self.atom(a, env) for a in rhs.initial]
        names = [p.name for p in rhs.params]
        if isinstance(rhs, g.For):
            scan = scan_of(rhs, self.made, strict=False)
            if scan is not None and scan.base in REAL and scan.code not in ("min", "max"):  # these are exact
                if scan.form == "affine":
                    raise Unclear("products of factors depend on how they are put together")
                return self.scan(scan, env)
            nest = collapsed(rhs)
            met = ByIndex(nest.params, nest.initial, [nest.body])
            names, initial = [p.name for p in nest.params], values
            bounds = zip(self.index(nest.lower, env), self.index(nest.upper, env))
            for indices in product(*(range(low, high, rhs.step) for low, high in bounds)):
                env |= zip(names, values)
                env |= zip((i.name for i in nest.index), indices)
                values = self.block(nest.body, env)
                met.round(self, env, values)
            return met.results(initial, values)
        first = rhs.body_first
        while True:
            env |= zip(names, values)
            if not first:
                (more,) = self.block(rhs.condition, env)
                if more is UNKNOWN:
                    raise Unclear("a condition depends on rounding")
                if not more:
                    return values
            first = False
            values = self.block(rhs.body, env)

    def scan(self, scan: Scan, env: Env) -> list[Expected]:
        """A loop that writes every sum, or product, on the way; each may have been put together in any order."""
        r = scan.loop
        values = {p.name: self.atom(a, env) for p, a in zip(r.params, r.initial)}
        lower, upper = self.certain(r.lower, env), self.certain(r.upper, env)
        array = values[scan.array.name]
        assert isinstance(array, Array)
        if (upper - lower) * r.step > 0:
            now: Expected = array.at([lower - 1]) if scan.accumulator is None else values[scan.accumulator.name]
            terms = [now]
            for k in range(lower, upper, r.step):
                env |= {**values, scan.array.name: array, r.index.name: k}
                *flags, value = self.block(scan.values, env)
                if UNKNOWN in flags:
                    raise Unclear("where a scan begins anew depends on rounding")
                if any(flags):
                    terms = []
                terms.append(operation("neg", scan.base, [value]) if scan.negative else value)
                self.steps += len(terms)
                before, now = (
                    now,
                    value
                    if len(terms) == 1
                    else ANY_ORDER[scan.code](terms, scan.base)
                    if k != lower
                    else operation(scan.code, scan.base, [now, terms[-1]]),
                )
                env[scan.seen.name] = before if scan.exclusive else now
                (written,) = self.block(scan.post, env)
                array = self.updated(array, [k], written)
            values[scan.array.name] = array
            if scan.accumulator is not None:
                values[scan.accumulator.name] = now
        return list(values.values())

    # ---- with-loops

    def with_loop(self, w: g.WithLoop, env: Env) -> list[Expected]:
        frame = tuple(self.index(w.frame or (), env))
        sinks = [self.sink(w, o, frame, env) for o in w.operators]
        covered: set[tuple[int, ...]] = set()
        for p in w.partitions:
            for sink in sinks:
                sink.begin()
            for index in self.indices(p, env):
                env |= zip((v.name for v in p.index), index)
                for sink in sinks:
                    sink.enter()
                values = self.block(p.body, env)
                for sink in sinks:
                    mine, values = values[: sink.width], values[sink.width :]
                    sink.take(index, mine, index in covered)
                if w.frame is not None and not w.disjoint:
                    covered.add(index)
                if any(sink.stopped for sink in sinks):
                    break
        return [r for sink in sinks for r in sink.results()]

    def indices(self, p: g.Partition, env: Env) -> Iterator[tuple[int, ...]]:
        lower, upper = self.index(p.lower, env), self.index(p.upper, env)
        step = self.index(p.step, env) if p.step else [1] * p.rank
        width = self.index(p.width, env) if p.width else [1] * p.rank
        return product(
            *([i for i in range(lo, hi) if (i - lo) % s < w] for lo, hi, s, w in zip(lower, upper, step, width))
        )

    def sink(self, w: g.WithLoop, o: Any, frame: tuple[int, ...], env: Env) -> _Sink:
        match o:
            case g.Genarray():
                cell = tuple(self.index(o.cell, env))
                default = self.atom(o.default, env)
                one = default.items if isinstance(default, Array) else (default,) * prod(cell)
                return _Cells(Array((*frame, *cell), one * prod(frame)))
            case g.Modarray():
                return _Cells(self.array(o.array, env))
            case g.Fold():
                return _Folded(self, o, env)
            case g.Propagate():
                return _Threaded(self, o, [p.body for p in w.partitions if len(w.operators) == 1], env)
        raise AssertionError(o)


class _Sink:
    """Where the values of an operator go. `width`: how many a body gives it."""

    width = 1
    stopped = False

    def begin(self) -> None:
        """Before a partition."""

    def enter(self) -> None:
        """Before a body."""

    def take(self, index: tuple[int, ...], values: list[Expected], covered: bool) -> None:
        raise NotImplementedError

    def results(self) -> list[Expected]:
        raise NotImplementedError


class _Cells(_Sink):
    def __init__(self, array: Array) -> None:
        self.array, self.items = array, list(array.items)

    def take(self, index: tuple[int, ...], values: list[Expected], covered: bool) -> None:
        """The earlier partition wins."""
        if not covered:
            start, size = self.array.start(index)
            (value,) = values
            self.items[start : start + size] = value.items if isinstance(value, Array) else [value] * size

    def results(self) -> list[Expected]:
        return [Array(self.array.shape, tuple(self.items))]


class _Threaded(_Sink):
    def __init__(self, machine: _Machine, o: g.Propagate, bodies: Sequence[g.Block], env: Env) -> None:
        self.machine, self.env, self.names, self.width = machine, env, [p.name for p in o.params], len(o.params)
        self.initial = self.values = [machine.atom(a, env) for a in o.initial]
        self.met = ByIndex(o.params, o.initial, bodies)
        self.met.body = -1

    def begin(self) -> None:
        self.met.body += 1

    def enter(self) -> None:
        self.env |= zip(self.names, self.values)

    def take(self, index: tuple[int, ...], values: list[Expected], covered: bool) -> None:
        self.values = values
        self.met.round(self.machine, self.env, values)

    def results(self) -> list[Expected]:
        return self.met.results(self.initial, self.values)


class _Folded(_Sink):
    """A fold in order; where it may be regrouped, all that it combines is kept till the end."""

    def __init__(self, machine: _Machine, o: g.Fold, env: Env) -> None:
        self.machine, self.o, self.env = machine, o, env
        self.width = len(o.neutrals)
        self.neutrals = [machine.atom(a, env) for a in o.neutrals]
        self.stop = None if o.stop is None else [machine.atom(a, env) for a in o.stop]
        self.done: list[Expected] | None = None  # of earlier partitions
        self.now = self.neutrals
        self.terms: list[list[Expected]] = [[] for _ in o.neutrals]
        found = recognised(o)
        self.codes = (
            [code if base in REAL and code in ANY_ORDER else "" for code, base in zip(found.codes, found.bases)]
            if found
            else [""] * self.width
        )
        self.free = (
            found is None and o.stop is None and not any(g.extents_of(a) for a in o.neutrals) and _rounds(o.combine)
        )
        self.count = 0

    def begin(self) -> None:
        self.join()
        self.now, self.stopped = self.neutrals, False
        for terms, neutral in zip(self.terms, self.neutrals):
            terms.append(neutral)

    def join(self) -> None:
        """The partition that has ended, with those before it."""
        if self.done is None:
            self.done = [] if self.now is self.neutrals and not self.terms[0] else self.now
        else:
            self.done = self.combined(self.now, self.done) if self.done else self.now

    def combined(self, accumulators: list[Expected], values: list[Expected]) -> list[Expected]:
        self.env |= zip((a.name for a in (*self.o.accumulators, *self.o.values)), (*accumulators, *values))
        return self.machine.block(self.o.combine, self.env)

    def take(self, index: tuple[int, ...], values: list[Expected], covered: bool) -> None:
        self.count += 1
        if self.free and self.count > 1:
            raise Unclear("a fold has a function of its own")
        self.now = self.combined(self.now, values)
        for terms, value in zip(self.terms, values):
            terms.append(value)
        if self.stop is not None:
            if any(x is UNKNOWN or isinstance(x, Interval | Array) for x in self.now):
                raise Unclear("when a fold stops depends on rounding")
            self.stopped = all(a == b for a, b in zip(self.now, self.stop))

    def results(self) -> list[Expected]:
        self.join()
        in_order = self.done or self.neutrals
        return [
            ANY_ORDER[code](terms, a.base) if code and len(terms) > 2 else result
            for code, terms, a, result in zip(self.codes, self.terms, self.o.accumulators, in_order)
        ]


def _rounds(block: g.Block) -> bool:
    return any(
        isinstance(s, g.Let)
        and isinstance(s.rhs, g.Op)
        and s.rhs.args[0].base in REAL
        and s.rhs.code in ("add", "sub", "mul", "div")
        for s in g.statements(block)
    )


# ---------------------------------------------------------------- comparing


def within(found: Any, wanted: Expected) -> bool:
    """Whether a value is one that is expected."""
    if isinstance(wanted, Array):
        return (
            isinstance(found, np.ndarray)
            and found.shape == wanted.shape
            and all(within(x, y) for x, y in zip(found.reshape(-1).tolist(), wanted.items))
        )
    if wanted is UNKNOWN:
        return True
    if isinstance(wanted, Interval):
        return isinstance(found, float) and wanted.low <= found <= wanted.high
    return repr(found) == repr(wanted)

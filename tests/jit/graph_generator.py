"""Random small graphs, for tests of passes: every kind of node, indices in range by construction or behind a check,
operations total.

`random_unit(seed)` gives a unit and some arguments for it. The same seed gives the same unit. Values are small, so that
integers wrap only where constants near the limit are drawn.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np

from sacpy.interp.values import Value
from sacpy.jit.ir.graph import (
    BOOL,
    INT,
    ArrayType,
    Atom,
    Block,
    Check,
    Cons,
    Const,
    Fold,
    For,
    Function,
    Genarray,
    If,
    Input,
    Let,
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
    ScalarType,
    Stmt,
    Type,
    Unit,
    Update,
    Var,
    View,
    WithLoop,
    extents_of,
    integer,
)
from sacpy.jit.ir.names import Names
from sacpy.jit.ir.operations import op_base

_ODD_INTS = (0, 1, -1, 2, 3, 7, -5, 2147483647, -2147483648, 2147483646)
_ODD_REALS = (0.0, -0.0, 1.0, -1.5, 2.0, 0.25, float("inf"), float("nan"), 16.0)


@dataclass
class Generator:
    """Makes one function."""

    rng: random.Random
    names: Names = field(default_factory=Names)
    scalars: list[Var] = field(default_factory=list)
    arrays: list[Var] = field(default_factory=list)
    out: list[Stmt] = field(default_factory=list)
    budget: int = 40

    # ---- building

    def let(self, stem: str, type_: Type, rhs: Rhs) -> Var:
        v = self.names.var(stem, type_)
        self.out.append(Let((v,), rhs))
        (self.arrays if isinstance(type_, ArrayType) else self.scalars).append(v)
        return v

    def op(self, code: str, *args: Atom) -> Var:
        return self.let("s", ScalarType(op_base(code, args)), Op(code, args))

    def inner(self, binders: tuple[Var, ...], types: tuple[Type, ...], size: int) -> Block:
        """A block that gives values of some types."""
        outer = self.out, list(self.scalars), list(self.arrays)
        self.out = []
        for b in binders:
            (self.arrays if isinstance(b.type, ArrayType) else self.scalars).append(b)
        self.some(size)
        results = tuple(self.of(t) for t in types)
        found = Block(tuple(self.out), results)
        self.out, self.scalars, self.arrays = outer
        return found

    def of(self, t: Type) -> Atom:
        return self.scalar(t.base) if isinstance(t, ScalarType) else self.array_like(t)

    # ---- atoms

    def constant(self, base: str) -> Const:
        if base == "bool":
            return Const("bool", self.rng.random() < 0.5)
        return Const(base, self.rng.choice(_ODD_INTS) if base == "int" else self.rng.choice(_ODD_REALS))

    def scalar(self, base: str) -> Atom:
        known = [v for v in self.scalars if v.base == base]
        return self.rng.choice(known) if known and self.rng.random() < 0.8 else self.constant(base)

    def array_like(self, t: ArrayType) -> Var:
        """An array of exactly these extents, made if there is none."""
        known = [a for a in self.arrays if a.type == t]
        if known and self.rng.random() < 0.7:
            return self.rng.choice(known)
        return self.genarray(t.base, t.extents, simple=self.budget < 0)

    def index(self, extent: Atom) -> Atom:
        """An index that lies below an extent, which is not 0 here."""
        rng = self.rng
        if isinstance(extent, Const) and rng.random() < 0.4:
            return integer(rng.randrange(int(extent.value)))
        i: Atom = rng.choice([v for v in self.scalars if v.base == "int"] or [integer(1)])
        if rng.random() < 0.6:
            i = self.op(rng.choice(("add", "sub")), i, integer(rng.choice((1, 2, -1))))
        match rng.randrange(4):
            case 0 if isinstance(i, Var):
                self.out.append(Check(self.op("le", integer(0), i), "low"))
                self.out.append(Check(self.op("lt", i, extent), "high"))
                return i
            case 1:
                return self.op("max", self.op("min", i, self.op("sub", extent, integer(1))), integer(0))
        return self.op("aplmod", i, extent)

    # ---- statements

    def some(self, count: int) -> None:
        for _ in range(count):
            self.budget -= 1
            if self.budget < 0:
                return
            self.rng.choice(
                (
                    self.arith,
                    self.arith,
                    self.load,
                    self.load,
                    self.compare,
                    self.make,
                    self.conditional,
                    self.fold,
                    self.loop,
                    self.update,
                    self.reshape,
                    self.propagate,
                )
            )()

    def arith(self) -> None:
        base = self.rng.choice(("int", "double"))
        code = self.rng.choice(
            ("add", "sub", "mul", "min", "max", "neg", "abs", "tod")
            if base == "int"
            else ("add", "sub", "mul", "div", "min", "max", "neg", "toi", "sqrt")
        )
        args = (
            (self.scalar(base),)
            if code in ("neg", "abs", "tod", "toi", "sqrt")
            else (self.scalar(base), self.scalar(base))
        )
        self.op(code, *args)

    def compare(self) -> None:
        base = self.rng.choice(("int", "double"))
        c: Var = self.op(self.rng.choice(("lt", "le", "gt", "ge", "eq", "neq")), self.scalar(base), self.scalar(base))
        if self.rng.random() < 0.4:
            c = self.op(self.rng.choice(("and", "or")), c, self.scalar("bool"))
        if self.rng.random() < 0.3:
            c = self.op("not", c)
        if self.rng.random() < 0.4:
            b = self.rng.choice(("int", "double"))
            self.op("select", c, self.scalar(b), self.scalar(b))

    def nonempty(self, a: Var) -> None:
        for e in extents_of(a):
            if isinstance(e, Var):
                self.out.append(Check(self.op("lt", integer(0), e), "not empty"))

    def load(self) -> None:
        a = self.rng.choice(self.arrays)
        if any(e == integer(0) for e in extents_of(a)):
            return
        self.nonempty(a)
        index = tuple(self.index(e) for e in extents_of(a))
        cut = self.rng.randrange(1, len(index) + 1)
        if cut == len(index):
            self.let("x", ScalarType(a.base), Load(a, index))
        else:
            row = self.let("row", ArrayType(a.base, extents_of(a)[cut:]), View(a, index[:cut]))
            self.let("x", ScalarType(a.base), Load(row, index[cut:]))

    def make(self) -> None:
        if self.rng.random() < 0.2:
            base = self.rng.choice(("int", "double"))
            n = self.rng.randrange(1, 4)
            self.let("c", ArrayType(base, (integer(n),)), Cons(base, (n,), tuple(self.scalar(base) for _ in range(n))))
            return
        like = self.rng.choice(self.arrays)
        extents = extents_of(like)[:: self.rng.choice((1, -1))]
        if self.rng.random() < 0.3:
            extents = (*extents[:1], integer(self.rng.choice((1, 2, 3))))
        self.genarray(self.rng.choice(("int", "double")), extents)

    def bounds(self, extent: Atom) -> tuple[Atom, Atom]:
        """A part of an axis."""
        if self.rng.random() < 0.6:
            return integer(0), extent
        k = integer(self.rng.choice((0, 1, 1, 2)))
        lower = self.op("min", k, extent)
        upper = self.op("max", self.op("sub", extent, integer(self.rng.choice((0, 1, 2)))), integer(0))
        return lower, upper

    def partition(
        self, frame: tuple[Atom, ...], binders: tuple[Var, ...], types: tuple[Type, ...], size: int = 4
    ) -> Partition:
        bounds = [self.bounds(e) for e in frame]
        step = width = None
        if self.rng.random() < 0.15:
            step, width = tuple(integer(2) for _ in frame), tuple(integer(self.rng.choice((1, 2))) for _ in frame)
        index = tuple(self.names.var("i", INT) for _ in frame)
        body = self.inner((*binders, *index), types, self.rng.randrange(size))
        return Partition(tuple(lo for lo, _ in bounds), tuple(up for _, up in bounds), step, width, index, body)

    def genarray(self, base: str, extents: tuple[Atom, ...], simple: bool = False) -> Var:
        rng = self.rng
        rank = len(extents) if rng.random() < 0.8 or simple else rng.randrange(1, len(extents) + 1)
        frame, cell = extents[:rank], extents[rank:]
        value: Type = ArrayType(base, cell) if cell else ScalarType(base)
        operator: Operator = Genarray(base, cell, self.constant(base))
        known = [a for a in self.arrays if a.type == ArrayType(base, extents)]
        if known and rng.random() < 0.3:
            operator = Modarray(rng.choice(known))
        count = 0 if simple else rng.choice((0, 1, 1, 1, 1, 2, 2, 3))
        parts = tuple(self.partition(frame, (), (value,)) for _ in range(count))
        return self.let("a", ArrayType(base, extents), WithLoop(frame, parts, (operator,)))

    def fold(self) -> None:
        base = self.rng.choice(("int", "double"))
        acc, val = self.names.var("acc", ScalarType(base)), self.names.var("val", ScalarType(base))
        result = self.names.var("f", ScalarType(base))
        code = self.rng.choice(("add", "min", "max", "mul"))
        combine = Block((Let((result,), Op(code, (acc, val))),), (result,))
        space = (
            extents_of(self.rng.choice(self.arrays))
            if self.rng.random() < 0.6
            else (integer(self.rng.choice((0, 1, 2, 3))),)
        )
        parts = tuple(self.partition(space, (), (ScalarType(base),)) for _ in range(self.rng.choice((1, 1, 2))))
        self.let(
            "sum", ScalarType(base), WithLoop(None, parts, (Fold((self.constant(base),), (acc,), (val,), combine),))
        )

    def propagate(self) -> None:
        p = self.names.var("p", ScalarType("int"))
        space = extents_of(self.rng.choice(self.arrays))
        initial = self.scalar("int")
        part = self.partition(space, (p,), (ScalarType("int"),))
        self.let("last", ScalarType("int"), WithLoop(None, (part,), (Propagate((initial,), (p,)),)))

    def conditional(self) -> None:
        base = self.rng.choice(("int", "double"))
        types: tuple[Type, ...] = (ScalarType(base),)
        if self.rng.random() < 0.4:
            types += (self.rng.choice(self.arrays).type,)
        condition = self.scalar("bool")
        then, otherwise = self.inner((), types, 2), self.inner((), types, 2)
        targets = tuple(self.names.var("y", t) for t in types)
        self.out.append(Let(targets, If(condition, then, otherwise)))
        for t in targets:
            (self.arrays if isinstance(t.type, ArrayType) else self.scalars).append(t)

    def loop(self) -> None:
        types: tuple[Type, ...] = (ScalarType(self.rng.choice(("int", "double"))),)
        if self.rng.random() < 0.5:
            types += (self.rng.choice(self.arrays).type,)
        initial = tuple(self.of(t) for t in types)
        params = tuple(self.names.var("p", t) for t in types)
        rounds = self.rng.choice(
            [integer(3), integer(1), integer(0), *(e for a in self.arrays for e in extents_of(a) if isinstance(e, Var))]
        )
        targets = tuple(self.names.var("l", t) for t in types)
        rhs: Rhs
        if self.rng.random() < 0.6:
            counter = self.names.var("k", INT)
            rhs = For(
                counter,
                integer(self.rng.choice((0, 1))),
                rounds,
                self.rng.choice((1, 1, 2)),
                params,
                initial,
                self.inner((counter, *params), types, 3),
            )
        else:
            rhs, targets = self.counted_loop(types, params, initial, rounds, targets)
        self.out.append(Let(targets, rhs))
        for t in targets:
            (self.arrays if isinstance(t.type, ArrayType) else self.scalars).append(t)

    def counted_loop(
        self,
        types: tuple[Type, ...],
        params: tuple[Var, ...],
        initial: tuple[Atom, ...],
        rounds: Atom,
        targets: tuple[Var, ...],
    ) -> tuple[Loop, tuple[Var, ...]]:
        counter, test, after = self.names.var("c", INT), self.names.var("go", BOOL), self.names.var("c", INT)
        body = self.inner((counter, *params), types, 3)
        down = self.rng.random() < 0.3
        code = self.rng.choice(("gt", "ge", "neq")) if down else self.rng.choice(("lt", "le", "neq"))
        start, end, step = (rounds, integer(0), integer(-1)) if down else (integer(0), rounds, integer(1))
        condition = Block((Let((test,), Op(code, (counter, end))),), (test,))
        grown = Block((*body.statements, Let((after,), Op("add", (counter, step)))), (after, *body.results))
        return Loop((counter, *params), (start, *initial), condition, grown), (self.names.var("c", INT), *targets)

    def update(self) -> None:
        a = self.rng.choice(self.arrays)
        if any(e == integer(0) for e in extents_of(a)):
            return
        self.nonempty(a)
        index = tuple(self.index(e) for e in extents_of(a))
        self.let("u", a.type, Update(a, index, self.scalar(a.base)))

    def reshape(self) -> None:
        a = self.rng.choice(self.arrays)
        extents = extents_of(a)
        if self.rng.random() < 0.5:
            self.let("r", ArrayType(a.base, (*extents, integer(1))), Reshape(a, (*extents, integer(1))))
        elif len(extents) == 2:
            size = self.op("mul", *extents)
            self.let("r", ArrayType(a.base, (size,)), Reshape(a, (size,)))


def random_unit(seed: int, budget: int = 40) -> tuple[Unit, list[list[Value]]]:
    """A unit with arguments: two vectors, a matrix, and scalars."""
    rng = random.Random(seed)
    g = Generator(rng, budget=budget)
    n, m = g.names.var("n", INT), g.names.var("m", INT)
    a, b = g.names.var("a", ArrayType("int", (n,))), g.names.var("b", ArrayType("double", (n, m)))
    v = g.names.var("v", ArrayType("double", (integer(3),)))
    k, x = g.names.var("k", INT), g.names.var("x", ScalarType("double"))
    params = (n, m, a, b, v, k, x)
    g.scalars += [n, m, k, x]
    g.arrays += [a, b, v]
    g.some(rng.randrange(4, 16))
    scalars = [s for s in g.scalars if s not in params]
    arrays = [s for s in g.arrays if s not in params]
    chosen: list[Var] = rng.sample(scalars, min(3, len(scalars))) + rng.sample(arrays, min(2, len(arrays)))
    results: list[Atom] = [n, m]
    results += [e for c in chosen for e in extents_of(c)] + list(chosen)
    outputs = []
    at = 2
    starts = {}
    for c in chosen:
        starts[c.name] = at
        at += len(extents_of(c))
    for c in chosen:
        first = starts[c.name]
        references = tuple((None, first + j) for j in range(len(extents_of(c))))
        outputs.append(Output("array" if references else "scalar", c.base, (at,), references))
        at += 1
    inputs = (
        Input("extent", 0, 0),
        Input("extent", 1, 1),
        Input("array", 0),
        Input("array", 1),
        Input("array", 2),
        Input("scalar", 3),
        Input("scalar", 4),
    )
    unit = Unit((Function("f", params, Block(tuple(g.out), tuple(results))),), inputs, tuple(outputs))
    return unit, [_arguments(rng) for _ in range(2)]


def _arguments(rng: random.Random) -> list[Value]:
    n, m = rng.choice((0, 1, 2, 3, 4)), rng.choice((1, 2, 3))
    a = np.array([rng.choice(_ODD_INTS) for _ in range(n)], np.int32)
    b = np.array([rng.choice(_ODD_REALS) for _ in range(n * m)], np.float64).reshape(n, m)
    v = np.array([rng.choice(_ODD_REALS) for _ in range(3)], np.float64)
    return [a, b, v, rng.choice((0, 1, 2, 5, -1)), rng.choice(_ODD_REALS)]

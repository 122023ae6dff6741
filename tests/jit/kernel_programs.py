"""Kernels written by hand, for tests of what stands behind kernel programs: each with arguments, the result that NumPy
gives, and the cells that it must write.

`T` writes the code of a thread; `PROGRAMS` are the kernels by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sacpy.jit.ir import kernel as k
from sacpy.jit.ir.graph import TRUE, ArrayType, Atom, Const, Load, Op, ScalarType, Var
from sacpy.jit.ir.kernel_verify import verify_kernel
from sacpy.jit.ir.names import Names
from sacpy.jit.ir.operations import op_base
from sacpy.withloop.division import magic

Array = np.ndarray[Any, Any]
Value = Atom | int | float | bool


@dataclass
class T:
    """The code of a thread, being written. `word`: the base of indices, and of Python's ints."""

    names: Names
    word: str = "int"
    statements: list[Any] = field(default_factory=list)

    def atom(self, x: Value) -> Atom:
        if isinstance(x, bool):
            return Const("bool", x)
        return Const(self.word, x) if isinstance(x, int) else Const("double", x) if isinstance(x, float) else x

    def atoms(self, many: Sequence[Value]) -> tuple[Atom, ...]:
        return tuple(map(self.atom, many))

    def inner(self) -> T:
        return T(self.names, self.word)

    def let(self, rhs: Any, base: str, stem: str = "t") -> Var:
        v = self.names.var(stem, ScalarType(base))
        self.statements.append(k.Let(v, rhs))
        return v

    def op(self, code: str, *args: Value) -> Var:
        atoms = self.atoms(args)
        return self.let(Op(code, atoms), op_base(code, atoms))

    def load(self, array: Var, *index: Value) -> Var:
        return self.let(Load(array, self.atoms(index)), array.base)

    def store(self, array: Var, *rest: Value) -> None:
        *index, value = self.atoms(rest)
        self.statements.append(k.Store(array, tuple(index), value))

    def atomic(self, code: str, array: Var, *rest: Value, old: Var | None = None) -> None:
        *index, value = self.atoms(rest)
        self.statements.append(k.Atomic(code, array, tuple(index), value, old))

    @contextmanager
    def when(self, condition: Atom) -> Any:
        inner = self.inner()
        yield inner
        self.statements.append(k.If(condition, tuple(inner.statements)))

    def choose(self, condition: Atom, then: Callable[[T], Value], otherwise: Callable[[T], Value]) -> Var:
        a, b = self.inner(), self.inner()
        x, y = self.atom(then(a)), self.atom(otherwise(b))
        v = self.names.var("merged", ScalarType(x.base))
        self.statements.append(k.If(condition, tuple(a.statements), tuple(b.statements), (k.Merge(v, x, y),)))
        return v

    def loop(
        self, lower: Value, upper: Value, initial: Value, body: Callable[[T, Var, Var], Value], step: int = 1
    ) -> Var:
        start = self.atom(initial)
        index, carried, inner = (
            self.names.var("i", ScalarType(self.word)),
            self.names.var("c", ScalarType(start.base)),
            self.inner(),
        )
        update = inner.atom(body(inner, index, carried))
        self.statements.append(
            k.SeqFor(
                index,
                self.atom(lower),
                self.atom(upper),
                step,
                (k.Carried(carried, start, update),),
                tuple(inner.statements),
            )
        )
        return carried

    def each(self, lower: Value, upper: Value, body: Callable[[T, Var], None], step: int = 1) -> None:
        index, inner = self.names.var("i", ScalarType(self.word)), self.inner()
        body(inner, index)
        self.statements.append(k.SeqFor(index, self.atom(lower), self.atom(upper), step, (), tuple(inner.statements)))


class P:
    """A kernel, being written. Scalars and arrays become parameters in the order in which they are asked for."""

    def __init__(self, name: str, grid: Sequence[Value], block: Sequence[Value], word: str = "int") -> None:
        self.name, self.names, self.word = name, Names(), word
        self.grid, self.block_extents = grid, block
        self.params: list[Var] = []
        self.body: list[Any] = []
        self.written: list[k.Written] = []
        self.block_index = tuple(self.names.var("b", ScalarType(word)) for _ in grid)

    def atom(self, x: Value) -> Atom:
        return T(self.names, self.word).atom(x)

    def scalar(self, stem: str, base: str | None = None) -> Var:
        self.params.append(self.names.var(stem, ScalarType(base or self.word)))
        return self.params[-1]

    def array(self, stem: str, base: str, *extents: Value) -> Var:
        self.params.append(self.names.var(stem, ArrayType(base, tuple(map(self.atom, extents)))))
        return self.params[-1]

    def result(self, stem: str, base: str, *extents: Value, once: bool = True) -> Var:
        v = self.array(stem, base, *extents)
        self.written.append(k.Written(v, once))
        return v

    def allocate(self, space: str, base: str, *extents: Value) -> Var:
        v = self.names.var(space, ArrayType(base, tuple(map(self.atom, extents))))
        self.body.append(k.Allocate(v, space))
        return v

    @contextmanager
    def forall(self, *extents: Value) -> Any:
        code = T(self.names, self.word)
        index = tuple(self.names.var("t", ScalarType(self.word)) for _ in extents)
        yield (code, *index)
        self.body.append(k.ForAll(index, tuple(map(self.atom, extents)), tuple(code.statements)))

    def barrier(self) -> None:
        self.body.append(k.Barrier())

    def uniform(self, code: str, *args: Value) -> Var:
        atoms = tuple(map(self.atom, args))
        v = self.names.var("u", ScalarType(op_base(code, atoms)))
        self.body.append(k.Uniform(v, Op(code, atoms)))
        return v

    @contextmanager
    def blocks(self, lower: Value, upper: Value, step: Value) -> Any:
        index, outer = self.names.var("step", ScalarType(self.word)), self.body
        self.body = []
        yield index
        outer.append(k.BlockFor(index, self.atom(lower), self.atom(upper), self.atom(step), tuple(self.body)))
        self.body = outer

    @contextmanager
    def only(self, condition: Atom) -> Any:
        outer, self.body = self.body, []
        yield
        outer.append(k.BlockIf(condition, tuple(self.body)))
        self.body = outer

    @contextmanager
    def last(self, flag: Var) -> Any:
        outer, self.body = self.body, []
        yield
        outer.append(k.LastBlock(flag, tuple(self.body)))
        self.body = outer

    def kernel(self, slots: Sequence[Var] = ()) -> k.Kernel:
        made = k.Kernel(
            self.name,
            tuple(self.params),
            tuple(slots),
            self.block_index,
            tuple(map(self.atom, self.grid)),
            tuple(map(self.atom, self.block_extents)),
            tuple(self.body),
            tuple(self.written),
            32 if self.word == "int" else 64,
        )
        verify_kernel(made)
        return made


@dataclass
class Program:
    """A kernel with its arguments; `wanted`: what the written arrays hold after it, by name; `cover`: the cells that it
    must write."""

    kernel: k.Kernel
    args: list[Any]
    wanted: dict[str, Array]
    cover: dict[str, Array]


def program(
    p: P, args: Sequence[Any], slots: Sequence[Var] = (), cover: dict[str, Array] | None = None, **wanted: Array
) -> Program:
    """A program that covers its results wholly."""
    return Program(
        p.kernel(slots), list(args), wanted, cover or {name: np.ones(a.shape, bool) for name, a in wanted.items()}
    )


RANDOM = np.random.default_rng(5)
N = 100


def elementwise(word: str = "int") -> Program:
    """r[i] = a[i] * 3 + b[i], guarded."""
    p = P(f"elementwise_{word}", [4], [32], word)
    n = p.scalar("n")
    a, b = p.array("a", "double", n), p.array("b", "double", n)
    r = p.result("r", "double", n)
    with p.forall(32) as (t, x):
        i = t.op("add", t.op("mul", p.block_index[0], 32), x)
        with t.when(t.op("lt", i, n)) as g:
            g.store(r, i, g.op("add", g.op("mul", g.load(a, i), 3.0), g.load(b, i)))
    xs, ys = RANDOM.standard_normal(N), RANDOM.standard_normal(N)
    return program(p, [N, xs, ys, np.zeros(N)], r=xs * 3 + ys)


def transposed() -> Program:
    """r[j, i] = a[i, j] through a shared tile, guarded on both axes."""
    p = P("transposed", [3, 2], [8, 8])
    m, n = p.scalar("m"), p.scalar("n")
    a, r = p.array("a", "int", m, n), p.result("r", "int", n, m)
    tile = p.allocate("shared", "int", 8, 9)
    top, left = p.uniform("mul", p.block_index[0], 8), p.uniform("mul", p.block_index[1], 8)
    with p.forall(8, 8) as (t, y, x):
        i, j = t.op("add", top, y), t.op("add", left, x)
        with t.when(t.op("and", t.op("lt", i, m), t.op("lt", j, n))) as g:
            g.store(tile, y, x, g.load(a, i, j))
    p.barrier()
    with p.forall(8, 8) as (t, y, x):
        i, j = t.op("add", top, x), t.op("add", left, y)
        with t.when(t.op("and", t.op("lt", i, m), t.op("lt", j, n))) as g:
            g.store(r, j, i, g.load(tile, x, y))
    x2 = RANDOM.integers(-9, 9, (20, 13)).astype(np.int32)
    return program(p, [20, 13, x2, np.zeros((13, 20), np.int32)], r=x2.T.copy())


def strided_grid() -> Program:
    """Threads of a small grid take several elements each, in a while loop."""
    p = P("strided_grid", [2], [16])
    n = p.scalar("n")
    a, r = p.array("a", "float", n), p.result("r", "float", n)
    with p.forall(16) as (t, x):
        first = t.op("add", t.op("mul", p.block_index[0], 16), x)
        i = t.names.var("i", ScalarType("int"))
        c, body = t.inner(), t.inner()
        test = c.op("lt", i, n)
        body.store(r, i, body.op("sqrt", body.op("abs", body.load(a, i))))
        nxt = body.op("add", i, 32)
        t.statements.append(k.While((k.Carried(i, first, nxt),), tuple(c.statements), test, tuple(body.statements)))
    xs = RANDOM.standard_normal(N).astype(np.float32)
    return program(p, [N, xs, np.zeros(N, np.float32)], r=np.sqrt(np.abs(xs)))


def tree_sum(base: str = "long") -> Program:
    """Block sums by a tree in shared memory."""
    p = P("tree_sum", [3], [64])
    n = p.scalar("n")
    a, r = p.array("a", base, n), p.result("r", base, 3)
    part = p.allocate("shared", base, 64)
    with p.forall(64) as (t, x):
        i = t.op("add", t.op("mul", p.block_index[0], 64), x)
        t.store(part, x, t.choose(t.op("lt", i, n), lambda c: c.load(a, i), lambda c: Const(base, 0)))
    width = 32
    while width:
        p.barrier()
        with p.forall(width) as (t, x):
            t.store(part, x, t.op("add", t.load(part, x), t.load(part, t.op("add", x, width))))
        width //= 2
    with p.forall(64) as (t, x), t.when(t.op("eq", x, 0)) as g:
        g.store(r, p.block_index[0], g.load(part, 0))
    xs = RANDOM.integers(-(2**60), 2**60, 150)
    return program(p, [150, xs, np.zeros(3, np.int64)], r=np.array([xs[:64].sum(), xs[64:128].sum(), xs[128:].sum()]))


def stencil() -> Program:
    """A moving mean with a halo: a shared tile of 34 is loaded by 32 threads, which are virtually more."""
    p = P("stencil", [4], [32])
    n = p.scalar("n")
    a, r = p.array("a", "double", n), p.result("r", "double", n)
    tile = p.allocate("shared", "double", 34)
    first = p.uniform("sub", p.uniform("mul", p.block_index[0], 32), 1)
    with p.forall(34) as (t, x):
        i = t.op("add", first, x)
        inside = t.op("and", t.op("ge", i, 0), t.op("lt", i, n))
        t.store(tile, x, t.choose(inside, lambda c: c.load(a, i), lambda c: 0.0))
    p.barrier()
    with p.forall(32) as (t, x):
        i = t.op("add", t.op("mul", p.block_index[0], 32), x)
        with t.when(t.op("lt", i, n)) as g:
            s = g.op("add", g.load(tile, x), g.load(tile, g.op("add", x, 1)))
            g.store(r, i, g.op("add", s, g.load(tile, g.op("add", x, 2))))
    xs = RANDOM.standard_normal(N)
    padded = np.concatenate([[0.0], xs, [0.0]])
    return program(p, [N, xs, np.zeros(N)], r=(padded[:-2] + padded[1:-1]) + padded[2:])


def matmul() -> Program:
    """A product of matrices in tiles of 8 by 8; accumulators are private and outlive phases."""
    p = P("matmul", [2, 3], [8, 8])
    m, q, n = p.scalar("m"), p.scalar("q"), p.scalar("n")
    a, b, r = p.array("a", "int", m, q), p.array("b", "int", q, n), p.result("r", "int", m, n)
    left, right = p.allocate("shared", "int", 8, 8), p.allocate("shared", "int", 8, 8)
    acc = p.allocate("private", "int", 1)
    top, side = p.uniform("mul", p.block_index[0], 8), p.uniform("mul", p.block_index[1], 8)
    with p.forall(8, 8) as (t, _y, _x):
        t.store(acc, 0, 0)
    with p.blocks(0, q, 8) as at:
        with p.forall(8, 8) as (t, y, x):
            i, j = t.op("add", top, y), t.op("add", side, x)
            down, across = t.op("add", at, y), t.op("add", at, x)
            in_left, in_right = (
                t.op("and", t.op("lt", i, m), t.op("lt", across, q)),
                t.op("and", t.op("lt", down, q), t.op("lt", j, n)),
            )
            t.store(left, y, x, t.choose(in_left, lambda c: c.load(a, i, across), lambda c: 0))
            t.store(right, y, x, t.choose(in_right, lambda c: c.load(b, down, j), lambda c: 0))
        p.barrier()
        with p.forall(8, 8) as (t, y, x):
            t.store(
                acc,
                0,
                t.loop(
                    0,
                    8,
                    t.load(acc, 0),
                    lambda c, i, s: c.op("add", s, c.op("mul", c.load(left, y, i), c.load(right, i, x))),
                ),
            )
        p.barrier()
    with p.forall(8, 8) as (t, y, x):
        i, j = t.op("add", top, y), t.op("add", side, x)
        with t.when(t.op("and", t.op("lt", i, m), t.op("lt", j, n))) as g:
            g.store(r, i, j, g.load(acc, 0))
    xs, ys = RANDOM.integers(-99, 99, (13, 21)).astype(np.int32), RANDOM.integers(-99, 99, (21, 18)).astype(np.int32)
    return program(p, [13, 21, 18, xs, ys, np.zeros((13, 18), np.int32)], r=xs @ ys)


def private_array() -> Program:
    """Each thread sorts four numbers in an array of its own."""
    p = P("private_array", [3], [16])
    n = p.scalar("n")
    a, r = p.array("a", "short", n, 4), p.result("r", "short", n, 4)
    own = p.allocate("private", "short", 4)
    with p.forall(16) as (t, x):
        i = t.op("add", t.op("mul", p.block_index[0], 16), x)
        with t.when(t.op("lt", i, n)) as g:
            g.each(0, 4, lambda c, j: c.store(own, j, c.load(a, i, j)))

            def swap(c: T, j: Var) -> None:
                u, v = c.load(own, j), c.load(own, c.op("add", j, 1))
                c.store(own, j, c.op("min", u, v))
                c.store(own, c.op("add", j, 1), c.op("max", u, v))

            for _ in range(3):
                g.each(0, 3, swap)
            g.each(3, -1, lambda c, j: c.store(r, i, j, c.load(own, j)), step=-1)
    xs = RANDOM.integers(-9, 9, (37, 4)).astype(np.int16)
    return program(p, [37, xs, np.zeros((37, 4), np.int16)], r=np.sort(xs, axis=1))


def scratch_array() -> Program:
    """Each thread reverses a row through memory of its own whose size only the launch knows."""
    p = P("scratch_array", [2], [8])
    m, n = p.scalar("m"), p.scalar("n")
    a, r = p.array("a", "double", m, n), p.result("r", "double", m, n)
    own = p.allocate("scratch", "double", n)
    with p.forall(8) as (t, x):
        i = t.op("add", t.op("mul", p.block_index[0], 8), x)
        with t.when(t.op("lt", i, m)) as g:
            g.each(0, n, lambda c, j: c.store(own, j, c.load(a, i, j)))
            g.each(0, n, lambda c, j: c.store(r, i, j, c.load(own, c.op("sub", c.op("sub", n, 1), j))))
    xs = RANDOM.standard_normal((13, 5))
    return program(p, [13, 5, xs, np.zeros((13, 5))], r=xs[:, ::-1].copy())


def block_parameter() -> Program:
    """The block's extent, and that of two shared arrays, are parameters of the launch."""
    p = P("block_parameter", [5], [])
    width, n = p.scalar("width"), p.scalar("n")
    p.block_extents = [width]
    a, r = p.array("a", "ubyte", n), p.result("r", "ubyte", n)
    one, two = p.allocate("shared", "ubyte", width), p.allocate("shared", "double", width)
    start = p.uniform("mul", p.block_index[0], width)
    with p.forall(width) as (t, x):
        i = t.op("add", start, x)
        with t.when(t.op("lt", i, n)) as g:
            g.store(one, x, g.load(a, i))
            g.store(two, x, g.op("tod", g.load(a, i)))
    p.barrier()
    with p.forall(width) as (t, x):
        i = t.op("add", start, x)
        with t.when(t.op("lt", i, n)) as g:
            last = g.op("min", g.op("sub", g.op("sub", n, start), 1), g.op("sub", width, 1))
            other = g.op("sub", last, x)
            g.store(r, i, g.op("toub", g.op("add", g.op("tod", g.load(one, other)), g.load(two, other))))
    xs = RANDOM.integers(0, 100, N).astype(np.uint8)
    rows = [xs[start : start + 24][::-1] for start in range(0, N, 24)]
    return program(p, [24, N, xs, np.zeros(N, np.uint8)], r=2 * np.concatenate(rows))


def unflattened() -> Program:
    """The transpose of a matrix, over one axis of threads: the index comes apart by multiplication and shift."""
    p = P("unflattened", [7], [32])
    m, n = p.scalar("m"), p.scalar("n")
    a, r = p.array("a", "char", m, n), p.result("r", "char", n, m)
    slots = [p.scalar("multiplier"), p.scalar("shift")]
    with p.forall(32) as (t, x):
        i = t.op("add", t.op("mul", p.block_index[0], 32), x)
        with t.when(t.op("lt", i, t.op("mul", m, n))) as g:
            row = g.let(k.Divide(i, n, slots[0], slots[1]), "int")
            column = g.op("sub", i, g.op("mul", row, n))
            g.store(r, column, row, g.load(a, row, column))
    by = magic(7, 32)
    xs = RANDOM.integers(0, 200, (30, 7)).astype(np.uint8)
    return program(
        p,
        [30, 7, xs, np.zeros((7, 30), np.uint8), by.multiplier - (1 << 32 if by.multiplier >> 31 else 0), by.shift],
        slots,
        r=xs.T.copy(),
    )


def unflattened_long() -> Program:
    """The same with words of 64 bits."""
    p = P("unflattened_long", [7], [32], "long")
    n, limit = p.scalar("n"), p.scalar("limit")
    r = p.result("r", "long", limit)
    slots = [p.scalar("multiplier"), p.scalar("shift")]
    with p.forall(32) as (t, x):
        i = t.op("add", t.op("mul", p.block_index[0], 32), x)
        with t.when(t.op("lt", i, limit)) as g:
            g.store(
                r, i, g.let(k.Divide(g.op("add", g.op("mul", i, 12345678901234), 7), n, slots[0], slots[1]), "long")
            )
    by = magic(1000003, 64)
    i = np.arange(200, dtype=np.int64)
    return program(
        p,
        [1000003, 200, np.zeros(200, np.int64), by.multiplier - (1 << 64 if by.multiplier >> 63 else 0), by.shift],
        slots,
        r=(i * 12345678901234 + 7) // 1000003,
    )


def scan() -> Program:
    """Running sums in a block, in two shared arrays by turns, with two axes of threads and a condition of the block."""
    p = P("scan", [1], [4, 4])
    n, wanted = p.scalar("n"), p.scalar("wanted", "bool")
    a, r = p.array("a", "int", n), p.result("r", "int", n)
    buffers = [p.allocate("shared", "int", 16), p.allocate("shared", "int", 16)]
    with p.only(wanted):
        with p.forall(16) as (t, x):
            t.store(buffers[0], x, t.choose(t.op("lt", x, n), lambda c: c.load(a, x), lambda c: 0))
        distance = 1
        while distance < 16:
            p.barrier()
            with p.forall(16) as (t, x):
                t.store(buffers[1], x, _with_the_one_before(t, buffers[0], x, distance))
            buffers.reverse()
            distance *= 2
        with p.forall(16) as (t, x), t.when(t.op("lt", x, n)) as g:
            g.store(r, x, g.load(buffers[0], x))
    xs = RANDOM.integers(-99, 99, 11).astype(np.int32)
    return program(p, [11, True, xs, np.zeros(11, np.int32)], r=np.cumsum(xs, dtype=np.int32))


def _with_the_one_before(t: T, old: Var, x: Var, distance: int) -> Var:
    return t.choose(
        t.op("ge", x, distance),
        lambda c: c.op("add", c.load(old, x), c.load(old, c.op("sub", x, distance))),
        lambda c: c.load(old, x),
    )


def interior() -> Program:
    """In place, only some cells: with step and width, the others stay."""
    p = P("interior", [3], [16])
    n = p.scalar("n")
    r = p.result("r", "double", n)
    with p.forall(16) as (t, x):
        i = t.op("add", t.op("mul", p.block_index[0], 16), x)
        with t.when(t.op("and", t.op("lt", i, n), t.op("lt", t.op("mod", i, 5), 2))) as g:
            g.store(r, i, g.op("neg", g.load(r, i)))
    xs = RANDOM.standard_normal(41)
    cells = np.arange(41) % 5 < 2
    return program(p, [41, xs.copy()], cover={"r": cells}, r=np.where(cells, -xs, xs))


def warps() -> Program:
    """r[b, t] = a[b, t + 5] within warps, for elements of all sizes; three warps in a block of two axes."""
    p = P("warps", [2], [3, 32])
    bases: dict[str, Any] = {
        "bool": np.bool_,
        "short": np.int16,
        "int": np.int32,
        "ulong": np.uint64,
        "float": np.float32,
        "double": np.float64,
    }
    arrays = [p.array(f"a_{base}", base, 2, 96) for base in bases]
    results = [p.result(f"r_{base}", base, 2, 96) for base in bases]
    own, other = ([p.allocate("private", base, 1) for base in bases] for _ in range(2))
    with p.forall(3, 32) as (t, y, x):
        n = t.op("add", t.op("mul", y, 32), x)
        for mine, a in zip(own, arrays):
            t.store(mine, 0, t.load(a, p.block_index[0], n))
    p.body += [k.Shuffle(o, mine, 5) for o, mine in zip(other, own)]
    with p.forall(3, 32) as (t, y, x):
        n = t.op("add", t.op("mul", y, 32), x)
        for r, o in zip(results, other):
            t.store(r, p.block_index[0], n, t.load(o, 0))
    values = [(RANDOM.standard_normal((2, 96)) * 1e4).astype(np.int64).astype(dtype) for dtype in bases.values()]
    further = np.arange(96) + np.where(np.arange(96) % 32 < 27, 5, 0)
    return program(
        p,
        [*values, *map(np.zeros_like, values)],
        **{f"r_{base}": v[:, further] for base, v in zip(bases, values)},  # type: ignore[arg-type]
    )


def whole_sum() -> Program:
    """The sum over all blocks, by the last one, which all threads of a grid of two axes come to."""
    p = P("whole_sum", [2, 3], [4, 8])
    n = p.scalar("n")
    a, parts, r = p.array("a", "int", n), p.result("parts", "int", 2, 3), p.result("r", "int", 1)
    part, flag = p.allocate("shared", "int", 32), p.allocate("shared", "int", 1)
    row, column = p.block_index
    with p.forall(4, 8) as (t, y, x):
        own = t.op("add", t.op("mul", y, 8), x)
        i = t.op("add", t.op("mul", t.op("add", t.op("mul", row, 3), column), 32), own)
        t.store(part, own, t.choose(t.op("lt", i, n), lambda c: c.load(a, i), lambda c: 0))
    p.barrier()
    with p.forall(1) as (t, _):
        t.store(parts, row, column, t.loop(0, 32, 0, lambda c, i, s: c.op("add", s, c.load(part, i))))
    with p.last(flag):
        with p.forall(6) as (t, x):
            t.store(part, x, t.load(parts, t.op("div", x, 3), t.op("mod", x, 3)))
        p.barrier()
        with p.forall(1) as (t, _):
            t.store(r, 0, t.loop(0, 6, 0, lambda c, i, s: c.op("add", s, c.load(part, i))))
    xs = RANDOM.integers(-99, 99, 170).astype(np.int32)
    padded = np.concatenate([xs, np.zeros(22, np.int32)])
    zeros = [np.zeros((2, 3), np.int32), np.zeros(1, np.int32)]
    sums = padded.reshape(2, 3, 32).sum(2).astype(np.int32)
    return program(p, [170, xs, *zeros], parts=sums, r=np.array([xs.sum()], np.int32))


PROGRAMS: dict[str, Callable[[], Program]] = {
    make.__name__: make
    for make in (elementwise, transposed, strided_grid, tree_sum, stencil, matmul, private_array, scratch_array,
        block_parameter, unflattened, unflattened_long, scan, interior, warps, whole_sum)
} | {"elementwise_long": lambda: elementwise("long")}  # fmt: skip

# ---------------------------------------------------------------- kernels with a fault


def faulty(kernel: k.Kernel) -> list[tuple[str, k.Kernel]]:
    """A kernel without one of its barriers, guards or bounds, each in turn, with words for what is missing."""
    found: list[tuple[str, k.Kernel]] = []
    for number, body in enumerate(_block_variants(kernel.body)):
        what, statements = body
        found.append(
            (
                f"{what} ({number})",
                k.Kernel(
                    kernel.name,
                    kernel.params,
                    kernel.slots,
                    kernel.block_index,
                    kernel.grid,
                    kernel.block,
                    statements,
                    kernel.writes,
                    kernel.bits,
                ),
            )
        )
    return found


def _block_variants(body: tuple[Any, ...]) -> list[tuple[str, tuple[Any, ...]]]:
    found: list[tuple[str, tuple[Any, ...]]] = []
    for at, s in enumerate(body):
        before, after = body[:at], body[at + 1 :]
        match s:
            case k.Barrier():
                found.append(("no barrier", before + after))
            case k.Shuffle():
                found.append(("no shuffle", before + after))
            case k.BlockFor():
                found += [
                    (w, (*before, k.BlockFor(s.index, s.lower, s.upper, s.step, inner), *after))
                    for w, inner in _block_variants(s.body)
                ]
            case k.BlockIf():
                found += [(w, (*before, k.BlockIf(s.condition, inner), *after)) for w, inner in _block_variants(s.then)]
            case k.LastBlock():
                found.append(("no last block", (*before, *s.body)))
                found += [(w, (*before, k.LastBlock(s.flag, inner))) for w, inner in _block_variants(s.body)]
            case k.ForAll():
                found += [
                    (w, (*before, k.ForAll(s.index, s.extents, inner), *after)) for w, inner in _thread_variants(s.body)
                ]
    return found


def _thread_variants(body: tuple[Any, ...]) -> list[tuple[str, tuple[Any, ...]]]:
    found: list[tuple[str, tuple[Any, ...]]] = []
    for at, s in enumerate(body):
        before, after = body[:at], body[at + 1 :]
        match s:
            case k.Let(rhs=Op(code="and", args=(a, b))):
                found += [("no bound", (*before, k.Let(s.target, kept), *after)) for kept in (a, b)]
            case k.If():
                found.append(("no guard", (*before, k.If(TRUE, s.then, s.otherwise, s.merges), *after)))
                found += [
                    (w, (*before, k.If(s.condition, inner, s.otherwise, s.merges), *after))
                    for w, inner in _thread_variants(s.then)
                ]
            case k.SeqFor():
                higher = Var(s.index.name + "_beyond", s.index.type)
                beyond = k.Let(higher, Op("add", (s.upper, Const(s.index.base, 1 if s.step > 0 else -1))))
                found.append(
                    (
                        "a bound too wide",
                        (*before, beyond, k.SeqFor(s.index, s.lower, higher, s.step, s.carried, s.body), *after),
                    )
                )
                found += [
                    (w, (*before, k.SeqFor(s.index, s.lower, s.upper, s.step, s.carried, inner), *after))
                    for w, inner in _thread_variants(s.body)
                ]
    return found


# ---------------------------------------------------------------- an operation over many operands


def operation(
    op: str, cases: Sequence[tuple[str, Sequence[str], int]], build: Callable[[tuple[Atom, ...]], Op] | None = None
) -> k.Kernel:
    """A kernel that applies an operation to arrays, element by element. Each case is a name, the base types of the
    operands and how many elements there are; its arrays are `name.0`, `name.1`, ..., and its result `name.r`."""
    p = P(f"operation_{op}", [1], [64])
    bodies = []
    for name, bases, count in cases:
        n = p.scalar(f"n_{name}")
        operands = [p.array(f"{name}_{at}", base, n) for at, base in enumerate(bases)]
        rhs = Op(op, tuple(Var("x", ScalarType(base)) for base in bases))
        bodies.append((n, operands, p.result(f"{name}_r", op_base(op, rhs.args), n), count))
    for n, operands, r, _ in bodies:
        with p.forall(n) as (t, i):
            t.store(r, i, t.op(op, *[t.load(a, i) for a in operands]))
    return p.kernel()

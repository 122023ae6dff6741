"""Code that tells what its with-loops take: ticks of the processor's clock, and how much there was to do.

In: with-loops, while they are written. Out: code around each that adds up, at an address in this process: runs, ticks,
bytes read and written, operations on reals. So such code is never kept. What there is to do is reckoned when it runs,
from the extents: bytes are those that must be moved at least once, of each array as many as are read, and never more
than it has; a part of a loop whose rounds only the data tell makes the numbers a guess, which is noted. With-loops in
the bodies of others count there.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager

from sacpy.jit.host.work import GUESS, Cost, Work, written
from sacpy.jit.host.writer import Writer
from sacpy.jit.ir import graph as g
from sacpy.jit.llvm.legal import Code, size_of
from sacpy.lang.source import Span
from sacpy.lang.types import REAL
from sacpy.nodes import Record

RUNS, TICKS, READ, WRITTEN, OPERATIONS = range(5)
FIELDS = 5
MOST = 400  # with-loops of a unit that are watched
_NO_WORK = ("select", "tod", "tof")


class Watched(Record):
    """A with-loop: where it stands, what it makes, and whether some of what it does is a guess."""

    span: Span
    makes: str
    guessed: bool = False


class Watch:
    """What is counted, of the with-loops of a unit that are in no others. `words`: those of the code, a row for
    each."""

    def __init__(self, unit: g.Unit) -> None:
        self.loops: list[Watched] = []
        self.words = (ctypes.c_double * (FIELDS * MOST))()
        self._within = _called_within(unit)
        self._inside = False

    def row(self, number: int) -> list[float]:
        """The numbers of a with-loop."""
        return list(self.words[FIELDS * number : FIELDS * (number + 1)])

    def reset(self) -> None:
        """All numbers are 0 again."""
        ctypes.memset(self.words, 0, ctypes.sizeof(self.words))

    @contextmanager
    def around(self, low: Writer, w: g.WithLoop) -> Iterator[None]:
        """Around the code of a with-loop."""
        inner = self._inside or low.inside.function.name in self._within
        if inner or len(self.loops) >= MOST or not w.partitions:
            yield
            return
        number, code = len(self.loops), low.code
        self.loops.append(Watched(w.partitions[0].span, _makes(w)))
        todo = _Todo(low)
        amounts = {
            READ: todo.read(w),
            WRITTEN: todo.written(w),
            OPERATIONS: todo.amount(w, _operations),
            RUNS: 1.0,
        }
        self.loops[number].guessed = todo.guessed
        begin = _ticks(code)
        self._inside = True
        yield
        self._inside = False
        taken = code.op(f"sub i64 {_ticks(code)}, {begin}")
        self._add(code, number, TICKS, code.op(f"sitofp i64 {taken} to double"))
        for at, amount in amounts.items():
            self._add(code, number, at, amount)

    def _add(self, code: Code, number: int, at: int, amount: Work) -> None:
        address = ctypes.addressof(self.words) + 8 * (FIELDS * number + at)
        place = code.op(f"inttoptr i64 {address} to ptr")
        before = code.op(f"load volatile double, ptr {place}")
        code.do(f"store volatile double {code.op(f'fadd double {before}, {written(amount)}')}, ptr {place}")


def _called_within(unit: g.Unit) -> set[str]:
    """The functions that bodies of with-loops call, directly or through others."""
    waiting = {
        inner.rhs.function
        for f in unit.functions
        for s in g.statements(f.body)
        if isinstance(s, g.Let) and isinstance(s.rhs, g.WithLoop)
        for b in g.blocks(s.rhs)
        for inner in g.statements(b)
        if isinstance(inner, g.Let) and isinstance(inner.rhs, g.Call)
    }
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        found.add(name)
        inside = g.statements(unit.function(name).body)
        waiting |= {s.rhs.function for s in inside if isinstance(s, g.Let) and isinstance(s.rhs, g.Call)} - found
    return found


def _ticks(code: Code) -> str:
    code.module.declare("llvm.readcyclecounter", "declare i64 @llvm.readcyclecounter()")
    return code.op("call i64 @llvm.readcyclecounter()")


def _makes(w: g.WithLoop) -> str:
    return ", ".join(type(o).__name__.lower() for o in w.operators)


def _operations(s: g.Let) -> float:
    """Operations on reals: an addition of floats counts half, as twice as many are done at a time."""
    if not isinstance(s.rhs, g.Op) or s.rhs.code in _NO_WORK or s.targets[0].base not in REAL:
        return 0.0
    return 1.0 if s.targets[0].base == "double" else 0.5


Weigh = Callable[[g.Let], Work]


class _Todo(Cost):
    """Amounts of a with-loop, reckoned before it runs."""

    def __init__(self, lowering: Writer) -> None:
        super().__init__(lowering)
        self.guessed = False
        self._weigh: Weigh = _operations

    # ---- what there is to do

    def amount(self, w: g.WithLoop, weigh: Weigh) -> Work:
        """What the statements of all cells weigh together."""
        self._weigh = weigh
        return self.with_loop(w)

    def read(self, w: g.WithLoop) -> Work:
        """Bytes of arrays from outside that are read: of each what is read, but at most all of it."""
        arrays: dict[str, g.Var] = {}
        roots: dict[str, str] = {}
        for p in w.partitions:
            _find(p.body, roots, arrays, self.low.env.keys())
        total: Work = 0.0
        for name, var in arrays.items():
            assert isinstance(var.type, g.ArrayType)
            size = float(size_of(var.base))

            def weigh(s: g.Let, name: str = name) -> Work:
                return self._loaded(s, name, roots)

            loaded = self.plus(self.amount(w, weigh), self._handed_out(w, name, roots))
            there = self.product(var.type.extents)
            total = self.plus(total, self.times(size, self.least(loaded, there)))
        return total

    def written(self, w: g.WithLoop) -> Work:
        """Bytes of the cells that are computed."""
        self._weigh = lambda s: 0.0
        total: Work = 0.0
        for p in w.partitions:
            cells: Work = 0.0
            for o, value in zip(w.operators, p.body.results):
                if isinstance(o, g.Genarray | g.Modarray):
                    extents = value.type.extents if isinstance(value.type, g.ArrayType) else ()
                    cells = self.plus(cells, self.times(float(size_of(value.base)), self.product(extents)))
            total = self.plus(total, self.times(cells, self._indices(p)))
        return total

    def _loaded(self, s: g.Let, name: str, roots: dict[str, str]) -> Work:
        """Elements of an array that a statement itself reads."""
        rhs = s.rhs
        if isinstance(rhs, g.Load):
            return float(roots.get(rhs.array.name, rhs.array.name) == name)
        used: tuple[g.Atom, ...] = ()
        if isinstance(rhs, g.Call):
            used = rhs.args
        elif isinstance(rhs, g.Update):
            used = (rhs.value,)
        total: Work = 0.0
        for a in used:
            if isinstance(a, g.Var) and isinstance(a.type, g.ArrayType) and roots.get(a.name, a.name) == name:
                total = self.plus(total, self.product(a.type.extents))
        return total

    def _handed_out(self, w: g.WithLoop, name: str, roots: dict[str, str]) -> Work:
        """Elements of an array that are cells of a result as they are."""
        total: Work = 0.0
        for p in w.partitions:
            for a in p.body.results:
                if isinstance(a, g.Var) and isinstance(a.type, g.ArrayType) and roots.get(a.name, a.name) == name:
                    total = self.plus(total, self.times(self.product(a.type.extents), self._indices(p)))
        return total

    # ---- sums over loops

    def block(self, block: g.Block) -> Work:
        total: Work = 0.0
        for s in block.statements:
            total = self.plus(total, self.statement(s))
        return total

    def statement(self, s: g.Stmt) -> Work:
        if isinstance(s, g.Check):
            return 0.0
        match s.rhs:
            case g.If(then=then, otherwise=otherwise):
                a, b = self.block(then), self.block(otherwise)
                if a == b:
                    return a
                self.guessed = True
                return self.times(0.5, self.plus(a, b))
            case g.Loop(body=body):
                inner = self.block(body)
                self.guessed = self.guessed or inner != 0.0
                return self.times(GUESS, inner)
            case g.For(lower=lower, upper=upper, step=step, body=body):
                ends = (lower, upper) if step > 0 else (upper, lower)
                inner = self.block(body)
                return 0.0 if inner == 0.0 else self.times(self.range(*ends, abs(step)), inner)
            case g.WithLoop() as w:
                return self.with_loop(w)
        return self._weigh(s)

    def with_loop(self, w: g.WithLoop) -> Work:
        combined: Work = 0.0
        for o in w.operators:
            if isinstance(o, g.Fold):
                combined = self.plus(combined, self.block(o.combine))
        total: Work = 0.0
        for p in w.partitions:
            inner = self.plus(self.block(p.body), combined)
            if inner != 0.0:
                total = self.plus(total, self.times(inner, self._indices(p)))
        return total

    def _indices(self, p: g.Partition) -> Work:
        count: Work = 1.0
        for axis, (lower, upper) in enumerate(zip(p.lower, p.upper)):
            step, width = g.stride(p, axis)
            share = width / step if step and width else 1.0
            self.guessed = self.guessed or not (step and width)
            count = self.times(count, self.times(share, self.range(lower, upper, 1)))
        return count

    def range(self, lower: g.Atom, upper: g.Atom, step: int) -> Work:
        if not all(isinstance(a, g.Const) or a.name in self.low.env for a in (lower, upper)):
            self.guessed = True
            return GUESS
        if isinstance(lower, g.Const) and isinstance(upper, g.Const):
            return max(0.0, (upper.value - lower.value) / step)
        code = self.low.code
        count = self.count(code.largest(code.difference(self.low.wide(upper), self.low.wide(lower)), "0"))
        return count if step == 1 else self.times(count, 1.0 / step)

    def product(self, extents: tuple[g.Atom, ...]) -> Work:
        """How many elements there are."""
        count: Work = 1.0
        for e in extents:
            if isinstance(e, g.Const):
                count = self.times(count, float(e.value))
            elif e.name in self.low.env:
                count = self.times(count, self.count(self.low.wide(e)))
            else:
                self.guessed = True
                count = self.times(count, GUESS)
        return count

    def least(self, a: Work, b: Work) -> Work:
        if isinstance(a, float) and isinstance(b, float):
            return min(a, b)
        code = self.low.code
        code.module.declare("llvm.minnum.f64", "declare double @llvm.minnum.f64(double, double)")
        return code.op(f"call double @llvm.minnum.f64(double {written(a)}, double {written(b)})")

    def times(self, a: Work, b: Work) -> Work:
        return 0.0 if 0.0 in (a, b) else super().times(a, b)


def _find(body: g.Block, roots: dict[str, str], arrays: dict[str, g.Var], outside: Container[str]) -> None:
    """The arrays from outside that a body reads, and which of them its views and other names stand for."""

    def root(a: g.Atom) -> None:
        if isinstance(a, g.Var) and isinstance(a.type, g.ArrayType):
            name = roots.get(a.name, a.name)
            if name in outside and name == a.name:
                arrays[name] = a

    for s in body.statements:
        if not isinstance(s, g.Let):
            continue
        rhs: g.Rhs = s.rhs
        if isinstance(rhs, g.View | g.Reshape | g.Var):
            source = rhs if isinstance(rhs, g.Var) else rhs.array
            root(source)
            if isinstance(source.type, g.ArrayType):
                roots[s.targets[0].name] = roots.get(source.name, source.name)
        elif isinstance(rhs, g.Load):
            root(rhs.array)
        elif isinstance(rhs, g.Call):
            for a in rhs.args:
                root(a)
        elif isinstance(rhs, g.Update):
            root(rhs.value)
        for inner in g.blocks(rhs):
            _find(inner, roots, arrays, outside)
    for a in body.results:
        root(a)


__all__ = ["FIELDS", "OPERATIONS", "READ", "RUNS", "TICKS", "WRITTEN", "Watch", "Watched"]

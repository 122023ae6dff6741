"""How much work a block of code is, estimated from extents when it runs: what decides whether a loop is spread over
threads.

In: blocks of a graph. Out: code that computes a number.

The unit is about one simple operation. Bounds of inner loops that are only known inside are taken as a guess. Computed
in floating point, which does not overflow.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from sacpy.jit.analysis.costs import weight
from sacpy.jit.analysis.straight import cells, is_straight
from sacpy.jit.host.writer import Writer
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import rights
from sacpy.jit.llvm.legal import constant, size_of
from sacpy.lang.types import REAL

if TYPE_CHECKING:
    from sacpy.jit.analysis.uneven import Lengths

GUESS = 16.0  # rounds of a loop of which nothing is known
CALL = 100.0
VECTORISED = 0.25  # of the work of a body of which LLVM makes vectors of elements of 8 bytes; smaller ones are more

Work = float | str  # a number, or the text of a double


class Cost:
    """Estimates at a place in the code that is being written. What follows from the graph alone is reckoned now, and
    takes no code. `along`: lengths of loops inside that follow from an index, which is taken to be `index`. `guessed`:
    whether there was something among it that may take much longer than is reckoned."""

    def __init__(self, lowering: Writer, along: Lengths | None = None, index: Work = 0.0) -> None:
        self.low = lowering
        self.guessed = False
        self.ops: dict[str, g.Op] = {} if along is None else along.ops
        self.known: dict[str, Work] = {} if along is None else {along.index: index}

    def block(self, block: g.Block) -> Work:
        """One run of a block, at least 1."""
        total: Work = 1.0
        for s in block.statements:
            total = self.plus(total, self.statement(s))
        return total

    def statement(self, s: g.Stmt) -> Work:
        """One statement."""
        if isinstance(s, g.Check):
            return 1.0
        match s.rhs:
            case g.Op() as op:
                return weight(op)
            case g.Load() | g.Update():
                return 1.0
            case g.If(then=then, otherwise=otherwise):
                return self.plus(self.block(then), self.block(otherwise))
            case g.Loop(body=body):
                return self.times(self.guess(GUESS), self.block(body))
            case g.For(lower=lower, upper=upper, step=step, body=body):
                ends = (lower, upper) if step > 0 else (upper, lower)
                return self.times(self.range(*ends, abs(step)), self.block(body))
            case g.Call():
                return self.guess(CALL)
            case g.WithLoop() as w:
                return self.with_loop(w)
            case _:
                return 1.0

    def guess(self, work: float) -> Work:
        """Work, or rounds, that nothing speaks for."""
        self.guessed = True
        return work

    def with_loop(self, w: g.WithLoop) -> Work:
        total: Work = 1.0
        for p in w.partitions:
            inner = self.body(p.body)
            for lower, upper in zip(p.lower, p.upper):
                inner = self.times(inner, self.range(lower, upper, 1))
            total = self.plus(total, inner)
        return total

    def body(self, block: g.Block) -> Work:
        """One run of the body of a loop: less where LLVM makes vectors of it."""
        once = self.block(block)
        return self.times(once, VECTORISED * _widest(block) / 8) if is_straight(block, cells(block)) else once

    def range(self, lower: g.Atom, upper: g.Atom, step: int) -> Work:
        """How often a loop runs."""
        if self.known:
            ends = self.value(lower), self.value(upper)
            if ends[0] is None or ends[1] is None:
                return self.guess(GUESS)
            return self.times(self.positive(self.minus(ends[1], ends[0])), 1.0 / step)
        if not all(isinstance(a, g.Const) or a.name in self.low.env for a in (lower, upper)):
            return self.guess(GUESS)
        if isinstance(lower, g.Const) and isinstance(upper, g.Const):
            return max(0.0, (upper.value - lower.value) / step)
        count = self.count(self.low.code.difference(self.low.wide(upper), self.low.wide(lower)))
        return count if step == 1 else self.times(count, 1.0 / step)

    def value(self, a: g.Atom) -> Work | None:
        """An int, where it follows from the index and from what is around the loop."""
        if isinstance(a, g.Const):
            return float(a.value)
        if a.name not in self.known:
            found = self.computed(self.ops[a.name]) if a.name in self.ops else None
            if found is None and a.name in self.low.env and a.name not in self.ops:
                found = self.count(self.low.wide(a))
            if found is None:
                return None
            self.known[a.name] = found
        return self.known[a.name]

    def computed(self, op: g.Op) -> Work | None:
        """What an operation gives, roughly: quotients are not rounded."""
        args = [self.value(a) for a in op.args]
        if None in args:
            return None
        a, b = (args * 2)[:2]
        assert a is not None and b is not None
        match op.code:
            case "add":
                return self.plus(a, b)
            case "sub":
                return self.minus(a, b)
            case "neg":
                return self.times(a, -1.0)
            case "mul":
                return self.times(a, b)
            case "div":
                return self.of_two("fdiv", a, b)
            case "min" | "max":
                return self.extreme(op.code, a, b)
            case "abs":
                return self.extreme("max", a, self.times(a, -1.0))
        return a

    def positive(self, a: Work) -> Work:
        return self.extreme("max", a, 0.0)

    def extreme(self, code: str, a: Work, b: Work) -> Work:
        if isinstance(a, float) and isinstance(b, float):
            return min(a, b) if code == "min" else max(a, b)
        name = f"@llvm.{code}num.f64"
        self.low.code.module.declare(name, f"declare double {name}(double, double)")
        return self.low.code.op(f"call double {name}(double {written(a)}, double {written(b)})")

    def minus(self, a: Work, b: Work) -> Work:
        return a if b == 0.0 else a - b if isinstance(a, float) and isinstance(b, float) else self.of_two("fsub", a, b)

    def of_two(self, instruction: str, a: Work, b: Work) -> Work:
        return self.low.code.op(f"{instruction} double {written(a)}, {written(b)}")

    def count(self, text: str) -> Work:
        """A number of 64 bits as one to reckon with."""
        return self.low.code.op(f"sitofp i64 {text} to double") if text.startswith("%") else float(text)

    def times(self, a: Work, b: Work) -> Work:
        if isinstance(a, float) and isinstance(b, float):
            return a * b
        if 1.0 in (a, b):
            return b if a == 1.0 else a
        return self.of_two("fmul", a, b)

    def plus(self, a: Work, b: Work) -> Work:
        if isinstance(a, float) and isinstance(b, float):
            return a + b
        if 0.0 in (a, b):
            return b if a == 0.0 else a
        return self.of_two("fadd", a, b)


def _widest(block: g.Block) -> int:
    """The bytes of the largest elements that a body loads, gives, or computes with, as far as these are reals: of ints,
    most are indices, which are in no vector."""
    reals = (t.base for s in g.statements(block) if isinstance(s, g.Let) for t in s.targets if t.base in REAL)
    loaded = (load.array.base for load in rights(block, g.Load))
    return max(map(size_of, chain((a.base for a in block.results), reals, loaded)), default=8)


def written(work: Work) -> str:
    """Work as the text of a double."""
    return work if isinstance(work, str) else number(work)


def number(x: float) -> str:
    """A double's text."""
    return constant("double", x)


__all__ = ["Cost", "Work", "number", "written"]

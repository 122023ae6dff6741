"""How much work a block of code is, estimated from extents when it runs: what decides whether a loop is spread over
threads.

In: blocks of a graph. Out: code that computes a number.

The unit is about one simple operation. Bounds of inner loops that are only known inside are taken as a guess. Computed
in floating point, which does not overflow.
"""

from __future__ import annotations

from sacpy.jit.analysis.costs import weight
from sacpy.jit.analysis.straight import cells, is_straight
from sacpy.jit.host.writer import Writer
from sacpy.jit.ir import graph as g
from sacpy.jit.llvm.legal import constant

GUESS = 16.0  # rounds of a loop of which nothing is known
CALL = 100.0
VECTORISED = 0.25

Work = float | str  # a number, or the text of a double


class Cost:
    """Estimates at a place in the code that is being written. What follows from the graph alone is reckoned now, and
    takes no code."""

    def __init__(self, lowering: Writer) -> None:
        self.low = lowering

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
                return self.times(GUESS, self.block(body))
            case g.For(lower=lower, upper=upper, step=step, body=body):
                ends = (lower, upper) if step > 0 else (upper, lower)
                return self.times(self.range(*ends, abs(step)), self.block(body))
            case g.Call():
                return CALL
            case g.WithLoop() as w:
                return self.with_loop(w)
            case _:
                return 1.0

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
        return self.times(once, VECTORISED) if is_straight(block, cells(block)) else once

    def range(self, lower: g.Atom, upper: g.Atom, step: int) -> Work:
        """How often a loop runs."""
        if not all(isinstance(a, g.Const) or a.name in self.low.env for a in (lower, upper)):
            return GUESS
        if isinstance(lower, g.Const) and isinstance(upper, g.Const):
            return max(0.0, (upper.value - lower.value) / step)
        count = self.count(self.low.code.difference(self.low.wide(upper), self.low.wide(lower)))
        return count if step == 1 else self.times(count, 1.0 / step)

    def count(self, text: str) -> Work:
        """A number of 64 bits as one to reckon with."""
        return self.low.code.op(f"sitofp i64 {text} to double") if text.startswith("%") else float(text)

    def times(self, a: Work, b: Work) -> Work:
        if isinstance(a, float) and isinstance(b, float):
            return a * b
        if 1.0 in (a, b):
            return b if a == 1.0 else a
        return self.low.code.op(f"fmul double {written(a)}, {written(b)}")

    def plus(self, a: Work, b: Work) -> Work:
        if isinstance(a, float) and isinstance(b, float):
            return a + b
        if 0.0 in (a, b):
            return b if a == 0.0 else a
        return self.low.code.op(f"fadd double {written(a)}, {written(b)}")


def written(work: Work) -> str:
    """Work as the text of a double."""
    return work if isinstance(work, str) else number(work)


def number(x: float) -> str:
    """A double's text."""
    return constant("double", x)


__all__ = ["Cost", "Work", "number", "written"]

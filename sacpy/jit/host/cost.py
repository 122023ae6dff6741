"""How much work a block of code is, estimated from extents when it runs: what decides whether a loop is spread over threads.

In: blocks of a graph. Out: code that computes a number.

The unit is about one simple operation. Bounds of inner loops that are only known inside are taken as a guess. Computed in floating point, which does not overflow.
"""

from __future__ import annotations

from sacpy.jit.graph import Atom, Block, Call, Check, Const, For, If, Load, Loop, Op, Stmt, Update, WithLoop
from sacpy.jit.host.analysis import cells, is_straight
from sacpy.jit.host.functions import Lowering
from sacpy.jit.host.legal import constant
from sacpy.jit.host.maths import MATHS

GUESS = 16.0  # rounds of a loop of which nothing is known
CALL = 100.0
VECTORISED = 0.25
_WEIGHTS = {"div": 4.0, "mod": 8.0, "aplmod": 8.0, "sqrt": 4.0} | dict.fromkeys(MATHS, 16.0)


def weight(op: Op) -> float:
    """The work of an operation."""
    return _WEIGHTS.get(op.code, 1.0)


class Cost:
    """Estimates, as the text of a double, at a place in the code that is being written."""

    def __init__(self, lowering: Lowering) -> None:
        self.low = lowering

    def block(self, block: Block) -> str:
        """One run of a block, at least 1."""
        total, parts = 1.0, []
        for s in block.statements:
            found = self.statement(s)
            if isinstance(found, float):
                total += found
            else:
                parts.append(found)
        text = number(total)
        for part in parts:
            text = self.low.code.op(f"fadd double {text}, {part}")
        return text

    def statement(self, s: Stmt) -> float | str:
        """One statement: a number, or the text of one that extents decide."""
        if isinstance(s, Check):
            return 1.0
        match s.rhs:
            case Op() as op:
                return weight(op)
            case Load() | Update():
                return 1.0
            case If(then=then, otherwise=otherwise):
                return self.low.code.op(f"fadd double {self.block(then)}, {self.block(otherwise)}")
            case Loop(body=body):
                return self.times(number(GUESS), self.block(body))
            case For(lower=lower, upper=upper, step=step, body=body):
                ends = (lower, upper) if step > 0 else (upper, lower)
                return self.times(self.range(*ends, abs(step)), self.block(body))
            case Call():
                return CALL
            case WithLoop() as w:
                return self.with_loop(w)
            case _:
                return 1.0

    def with_loop(self, w: WithLoop) -> str:
        total = number(1.0)
        for p in w.partitions:
            inner = self.body(p.body)
            for lower, upper in zip(p.lower, p.upper):
                inner = self.times(inner, self.range(lower, upper, 1))
            total = self.low.code.op(f"fadd double {total}, {inner}")
        return total

    def body(self, block: Block) -> str:
        """One run of the body of a loop: less where LLVM makes vectors of it."""
        once = self.block(block)
        return self.times(once, number(VECTORISED)) if is_straight(block, cells(block)) else once

    def range(self, lower: Atom, upper: Atom, step: int) -> str:
        """How often a loop runs."""
        code = self.low.code
        if not all(isinstance(a, Const) or a.name in self.low.env for a in (lower, upper)):
            return number(GUESS)
        if isinstance(lower, Const) and isinstance(upper, Const):
            return number(max(0.0, (upper.value - lower.value) / step))
        count = code.op(f"sitofp i64 {code.op(f'sub nsw i64 {self.low.wide(upper)}, {self.low.wide(lower)}')} to double")
        return count if step == 1 else code.op(f"fdiv double {count}, {number(float(step))}")

    def times(self, a: str, b: str) -> str:
        return self.low.code.op(f"fmul double {a}, {b}")


def number(x: float) -> str:
    """A double's text."""
    return constant("double", x)


__all__ = ["Cost", "number"]

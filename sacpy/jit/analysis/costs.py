"""What code costs to run and to repeat, roughly: the unit is one floating-point addition."""

from __future__ import annotations

from sacpy.jit.ir.graph import (
    Block,
    Call,
    Check,
    Const,
    For,
    If,
    Load,
    Loop,
    Op,
    Rhs,
    Stmt,
    WithLoop,
    blocks,
    statements,
)
from sacpy.jit.ir.operations import TRANSCENDENTAL
from sacpy.lang.types import REAL

MANY = 1000.0  # a loop whose rounds are not known
_DEAR = {"div": 6.0, "mod": 6.0, "aplmod": 8.0, "sqrt": 6.0, "reciproc": 6.0}


def cost(b: Block) -> float:
    """Of running a block once."""
    return sum(_statement(s) for s in b.statements)


def _statement(s: Stmt) -> float:
    return 0.5 if isinstance(s, Check) else _rhs(s.rhs)


def _rhs(rhs: Rhs) -> float:
    match rhs:
        case Op(code=code, args=args):
            if code in TRANSCENDENTAL:
                return 15.0
            return _DEAR.get(code, 1.0 if args[0].base in REAL else 0.5)
        case Load():
            return 1.0
        case If():
            return 1.0 + max(cost(rhs.then), cost(rhs.otherwise))
        case Loop() | For() | WithLoop():
            return 5.0 + sum(cost(b) for b in blocks(rhs)) * rounds(rhs)
        case Call():
            return MANY
    return 0.5


def rounds(rhs: Rhs) -> float:
    """How often the bodies of a loop run."""
    if isinstance(rhs, For) and isinstance(rhs.lower, Const) and isinstance(rhs.upper, Const):
        return max(0.0, (rhs.upper.value - rhs.lower.value) / rhs.step)
    if isinstance(rhs, WithLoop):
        count = 0.0
        for p in rhs.partitions:
            points = 1.0
            for lower, upper in zip(p.lower, p.upper):
                points *= (
                    max(0, upper.value - lower.value) if isinstance(lower, Const) and isinstance(upper, Const) else MANY
                )
            count = max(count, points)
        return count
    return MANY


def size(b: Block) -> int:
    """How many statements, inner ones included."""
    return sum(1 for _ in statements(b))

"""What code costs to run and to repeat, roughly: the unit is one floating-point addition."""

from __future__ import annotations

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.operations import ROUTINES
from sacpy.lang.types import REAL

MANY = 1000.0  # a loop whose rounds are not known
_WEIGHTS = {"div": 4.0, "mod": 8.0, "aplmod": 8.0, "sqrt": 4.0, "row": 12.0, "column": 4.0} | dict.fromkeys(
    ROUTINES, 16.0
)
_DEAR = {"div": 6.0, "mod": 6.0, "aplmod": 8.0, "sqrt": 6.0, "reciproc": 6.0, "row": 14.0, "column": 4.0}


def cost(b: g.Block) -> float:
    """Of running a block once."""
    return sum(_statement(s) for s in b.statements)


def _statement(s: g.Stmt) -> float:
    return 0.5 if isinstance(s, g.Check) else _rhs(s.rhs)


def _rhs(rhs: g.Rhs) -> float:
    match rhs:
        case g.Op(code=code, args=args):
            if code in ROUTINES:
                return 15.0
            return _DEAR.get(code, 1.0 if args[0].base in REAL else 0.5)
        case g.Load():
            return 1.0
        case g.If():
            return 1.0 + max(cost(rhs.then), cost(rhs.otherwise))
        case g.Loop() | g.For() | g.WithLoop():
            return 5.0 + sum(cost(b) for b in g.blocks(rhs)) * rounds(rhs)
        case g.Call():
            return MANY
    return 0.5


def rounds(rhs: g.Rhs) -> float:
    """How often the bodies of a loop run."""
    if isinstance(rhs, g.For) and isinstance(rhs.lower, g.Const) and isinstance(rhs.upper, g.Const):
        return max(0.0, (rhs.upper.value - rhs.lower.value) / rhs.step)
    if isinstance(rhs, g.WithLoop):
        count = 0.0
        for p in rhs.partitions:
            points = 1.0
            for lower, upper in zip(p.lower, p.upper):
                points *= (
                    max(0, upper.value - lower.value)
                    if isinstance(lower, g.Const) and isinstance(upper, g.Const)
                    else MANY
                )
            count = max(count, points)
        return count
    return MANY


def size(b: g.Block) -> int:
    """How many statements, inner ones included."""
    return sum(1 for _ in g.statements(b))


def weight(op: g.Op) -> float:
    """The work of an operation, where it is estimated how long a loop takes: of a simple one it is 1."""
    return _WEIGHTS.get(op.code, 1.0)

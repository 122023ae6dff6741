"""What a graph consists of, in numbers: for reports, and for tests of what passes do.

In: a unit, or lowered code. Out: `Counts`.
"""

from __future__ import annotations

from sacpy.jit.ir.graph import (
    ArrayType,
    Call,
    Check,
    Fold,
    For,
    Genarray,
    Let,
    Loop,
    Modarray,
    Unit,
    Update,
    WithLoop,
    statements,
)
from sacpy.jit.run.report import Counts


def count(unit: Unit) -> Counts:
    """What a unit consists of."""
    with_loops = partitions = arrays = loops = checks = calls = 0
    for function in unit.functions:
        for statement in statements(function.body):
            match statement:
                case Check():
                    checks += 1
                case Let(rhs=WithLoop() as loop):
                    with_loops += 1
                    partitions += len(loop.partitions)
                    arrays += sum(isinstance(o, Genarray | Modarray) for o in loop.operators)
                    arrays += sum(
                        len(o.neutrals)
                        for o in loop.operators
                        if isinstance(o, Fold) and any(isinstance(a.type, ArrayType) for a in o.accumulators)
                    )
                case Let(rhs=Update()):
                    arrays += 1
                case Let(rhs=Loop() | For()):
                    loops += 1
                case Let(rhs=Call()):
                    calls += 1
    return Counts(with_loops, partitions, arrays, loops, checks, calls, len(unit.functions))


def parallel(text: str) -> int:
    """How many loops of lowered code may be spread over threads."""
    return text.count("call i32 @sacpy_spread(")

"""What a graph consists of, in numbers: for reports, and for tests of what passes do.

In: a unit, or lowered code. Out: `Counts`.
"""

from __future__ import annotations

from sacpy.jit.ir import graph as g
from sacpy.jit.run.report import Counts


def count(unit: g.Unit) -> Counts:
    """What a unit consists of."""
    with_loops = partitions = arrays = loops = checks = calls = 0
    for function in unit.functions:
        for statement in g.statements(function.body):
            match statement:
                case g.Check():
                    checks += 1
                case g.Let(rhs=g.WithLoop() as loop):
                    with_loops += 1
                    partitions += len(loop.partitions)
                    arrays += sum(isinstance(o, g.Genarray | g.Modarray) for o in loop.operators)
                    arrays += sum(
                        len(o.neutrals)
                        for o in loop.operators
                        if isinstance(o, g.Fold) and any(isinstance(a.type, g.ArrayType) for a in o.accumulators)
                    )
                case g.Let(rhs=g.Update()):
                    arrays += 1
                case g.Let(rhs=g.Loop() | g.For()):
                    loops += 1
                case g.Let(rhs=g.Call()):
                    calls += 1
    return Counts(with_loops, partitions, arrays, loops, checks, calls, len(unit.functions))


def parallel(text: str) -> int:
    """How many loops of lowered code may be spread over threads."""
    return text.count("call i32 @sacpy_spread(")

"""Passes on functions, applied to units."""

from __future__ import annotations

from collections.abc import Callable

from sacpy.jit.ir import graph as g
from sacpy.nodes import replace


def per_function(unit: g.Unit, work: Callable[[g.Function], g.Function]) -> g.Unit:
    """The unit with every function changed by `work`; itself if none is."""
    functions = tuple(map(work, unit.functions))
    return (
        unit if all(new is old for new, old in zip(functions, unit.functions)) else replace(unit, functions=functions)
    )


def per_loops(unit: g.Unit, work: Callable[[g.Function], g.Function]) -> g.Unit:
    """The same for work on loops: functions without any stay as they are."""
    return per_function(unit, lambda f: work(f) if _has_loops(f) else f)


def _has_loops(function: g.Function) -> bool:
    return any(
        isinstance(s, g.Let) and isinstance(s.rhs, g.Loop | g.For | g.WithLoop) for s in g.statements(function.body)
    )

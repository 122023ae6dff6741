"""Passes on functions, applied to units."""

from __future__ import annotations

from collections.abc import Callable

from sacpy.jit.ir.graph import For, Function, Let, Loop, Unit, WithLoop, statements
from sacpy.nodes import replace


def per_function(unit: Unit, work: Callable[[Function], Function]) -> Unit:
    """The unit with every function changed by `work`; itself if none is."""
    functions = tuple(map(work, unit.functions))
    return (
        unit if all(new is old for new, old in zip(functions, unit.functions)) else replace(unit, functions=functions)
    )


def per_loops(unit: Unit, work: Callable[[Function], Function]) -> Unit:
    """The same for work on loops: functions without any stay as they are."""
    return per_function(unit, lambda f: work(f) if _has_loops(f) else f)


def _has_loops(function: Function) -> bool:
    return any(isinstance(s, Let) and isinstance(s.rhs, Loop | For | WithLoop) for s in statements(function.body))

"""Passes on functions, applied to units."""

from __future__ import annotations

from collections.abc import Callable

from sacpy.jit.graph import Function, Unit
from sacpy.nodes import replace


def per_function(unit: Unit, work: Callable[[Function], Function]) -> Unit:
    """The unit with every function changed by `work`; itself if none is."""
    functions = tuple(map(work, unit.functions))
    return unit if all(new is old for new, old in zip(functions, unit.functions)) else replace(unit, functions=functions)

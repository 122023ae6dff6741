"""Passes on functions, applied to units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sacpy.jit.graph import Function, Unit


def per_function(unit: Unit, work: Callable[[Function], Function]) -> Unit:
    """The unit with every function changed by `work`."""
    return replace(unit, functions=tuple(map(work, unit.functions)))

"""Passes on functions, applied to units."""

from __future__ import annotations

from collections.abc import Callable

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import rights
from sacpy.nodes import replace

Work = Callable[[g.Function], g.Function]
Pass = Callable[[g.Unit], g.Unit]


def per_function(unit: g.Unit, work: Work) -> g.Unit:
    """The unit with every function changed by `work`; itself if none is."""
    functions = tuple(map(work, unit.functions))
    return (
        unit if all(new is old for new, old in zip(functions, unit.functions)) else replace(unit, functions=functions)
    )


def _named_as(work: Work, run: Pass) -> Pass:
    """A pass that goes by the name of what it does to functions, where that stands."""
    run.__doc__, run.__module__, run.__name__ = work.__doc__, work.__module__, work.__name__
    return run


def on_functions(work: Work) -> Pass:
    """The pass that does work on every function."""

    def run(unit: g.Unit) -> g.Unit:
        return per_function(unit, work)

    return _named_as(work, run)


def wherever(is_such: Callable[[g.Rhs], object]) -> Callable[[Work], Pass]:
    """The pass that does work on the functions that have such a right-hand side somewhere: others stay what they
    are."""

    def on_units(work: Work) -> Pass:
        return _named_as(work, on_functions(lambda f: work(f) if any(map(is_such, rights(f.body))) else f))

    return on_units


def is_loop(r: g.Rhs) -> bool:
    """Whether a right-hand side is a loop of any kind."""
    return isinstance(r, g.Loop | g.For | g.WithLoop)

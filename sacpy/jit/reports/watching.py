"""An engine whose native code tells what its with-loops take, for `sacpy bench --roofline`.

In: a target and the settings of an engine. Out: the engine, and what has been counted of all units that it has
compiled. Such code is never kept, since it counts at addresses in this process.
"""

from __future__ import annotations

from typing import Any

from sacpy.jit.host.compile import compile_object
from sacpy.jit.host.lowering import lower
from sacpy.jit.host.native import load
from sacpy.jit.host.signature import Signature
from sacpy.jit.host.watched import Watch
from sacpy.jit.kinds import Kind
from sacpy.jit.run.compiler import Clock, optimised, specialised
from sacpy.jit.run.contract import CompileContext, Compiled
from sacpy.jit.run.measure import count, parallel
from sacpy.jit.run.on_demand import OnDemand
from sacpy.jit.run.report import Report
from sacpy.lang.core import Program


class Watching:
    """A compiler. `watches`: of the units that it has compiled."""

    def __init__(self) -> None:
        self.watches: list[Watch] = []

    def __call__(self, program: Program, key: str, kind: Kind, name: str, tools: CompileContext) -> Compiled:
        """A function for arguments of this kind. Raises `Unsupported`."""
        clock = Clock()
        before = specialised(tools.specialiser(program), program, key, kind, tools.options, clock)
        unit = optimised(before, tools.options, clock)
        watch = Watch(unit)
        with clock.stage("lower"):
            text = lower(unit, tools.options, watch)
        with clock.stage("compile"):
            code = compile_object(text, tools.options)
        function = load(code, Signature.of(unit), tools.options, tools.context)
        self.watches.append(watch)
        stages = tuple(clock.stages)
        report = Report(key, kind, stages, count(before), count(unit), len(code), parallel(text), cuts=unit.cuts)
        recursive = function.signature.recursive
        return Compiled(function.call, report, recursive=recursive, direct=function.like, giving=function.giving)

    def reset(self) -> None:
        """All numbers are 0 again."""
        for watch in self.watches:
            watch.reset()


def watching(target: str, **settings: Any) -> tuple[OnDemand, Watching]:
    """An engine, and what has been counted."""
    compiler = Watching()
    return OnDemand(target, compiler=compiler, **settings), compiler


__all__ = ["Watching", "watching"]

"""Inputs and the compiler: an input that merely calls functions is not compiled itself.

In: the engine that decides what runs natively. Out: one that leaves such inputs alone. Each is run once, while the
functions that it calls are compiled once for all inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sacpy.lang.core import Function, Let, Loop, Program
from sacpy.lang.walk import loops

if TYPE_CHECKING:
    from sacpy.interp.engine import Asking, Engine, Turn
    from sacpy.interp.evaluator import Evaluator

PREFIX = "input_"  # of the keys of inputs


class Inputs:
    """An `interp.engine.Engine` around another."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def prepared(self, program: Program) -> Program:
        """As the engine does it."""
        return self._engine.prepared(program)

    def wrap(
        self,
        evaluator: Evaluator,
        function: Function,
        interpreted: Callable[[], Callable[..., Any]],
        put: Callable[[Callable[..., Any]], None] | None = None,
    ) -> Callable[..., Any]:
        """As the engine does it, but for inputs without loops."""
        if function.signature.key.startswith(PREFIX) and not loops(function.body):
            return interpreted()
        return self._engine.wrap(evaluator, function, interpreted, put)

    def asks(self, function: Function, statement: Let | Loop) -> list[str] | None:
        """As the engine does it."""
        return self._engine.asks(function, statement)

    def turn(self, evaluator: Evaluator, key: str, asking: Asking) -> Turn:
        """As the engine does it."""
        return self._engine.turn(evaluator, key, asking)

    def stop(self) -> None:
        """As the engine does it."""
        self._engine.stop()

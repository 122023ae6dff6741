"""What a notebook of Python calls of SaC: the functions that its cells have defined, and expressions behind `%sac`.

In: the engine of the cells. Out: `PageRunner`, with which `embedding.functions.Function` calls what the engine knows by
now; and `Lines`, which evaluates an expression again without reading it again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sacpy.embedding.evaluations import Evaluation, evaluation
from sacpy.embedding.named import NamedValue
from sacpy.embedding.runner import Host, Runner
from sacpy.lang.diagnostics import SacError
from sacpy.repl.engine import Engine

REMEMBERED = 256  # expressions that stay ready


class PageRunner(Runner):
    """Runs functions of the program that an engine has, with its evaluator: global objects are the same for all."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._plans: dict[Any, Any] = {}
        self._planned = engine.evaluator
        super().__init__(Host(engine.world, engine.workspace), lambda: engine.program)

    @property
    def plans(self) -> dict[Any, Any]:
        """What callers know of the present program. Definitions and settings make another one."""
        if self._planned is not self._engine.evaluator:
            self._planned = self._engine.evaluator
            self._plans.clear()
            self.host.workspace, self.host.limits = self._engine.workspace, self._engine.workspace.limits
        return self._plans

    @plans.setter
    def plans(self, plans: dict[Any, Any]) -> None:
        self._plans = plans

    @property
    def program(self) -> Any:
        """The engine's."""
        return self._engine.program

    @property
    def evaluator(self) -> Any:
        """The engine's."""
        return self._engine.evaluator

    def renew(self, program: object = None, keep: Callable[[str], bool] = lambda name: True) -> None:
        """Forgets what has been prepared; definitions and global objects stay."""
        self._engine.renew()


class Lines:
    """Expressions by their text and the types of the values that they use."""

    def __init__(self, engine: Engine, runner: PageRunner) -> None:
        self._engine, self._runner = engine, runner
        self._count = 0

    def ready(self, text: str, names: Mapping[str, NamedValue]) -> Evaluation | None:
        """A text that was prepared with named values of these types."""
        found: Evaluation | None = self._runner.plans.get(_key(text, names))
        return found

    def prepared(self, text: str, names: Mapping[str, NamedValue]) -> Evaluation | None:
        """A text as an expression; None where it is none, or sets names: then it is for a cell."""
        if len(self._runner.plans) >= REMEMBERED:
            self._runner.renew()
        self._count += 1
        try:
            expr = self._engine.expression(text, "%sac")
            found = evaluation(self._runner, expr, names, f"<line {self._count}>")
        except SacError:  # which the cell will tell
            return None
        if found.expression.changed:
            return None
        self._runner.plans[_key(text, names)] = found
        return found


def _key(text: str, names: Mapping[str, NamedValue]) -> tuple[object, ...]:
    return "line", text, tuple([(name, value.kind) for name, value in names.items()])

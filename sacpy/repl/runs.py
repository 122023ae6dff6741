"""Inputs of a prompt that run traced, in a program of their own.

In: an engine, an input, a tracer, a world. Out: a `Run`, whose call gives the values of the input and of the names that
it sets.
"""

from __future__ import annotations

from collections.abc import Mapping

from sacpy.interp.evaluator import Evaluator
from sacpy.interp.limits import Watchdog
from sacpy.interp.tracing import Tracer
from sacpy.interp.values import Value, shape_of
from sacpy.interp.world import World
from sacpy.lang import ast
from sacpy.lang.elaborate.interactive import Expression, Named, expression_function
from sacpy.lang.elaborate.program import ElaboratedProgram, elaborate
from sacpy.nodes import replace
from sacpy.repl.engine import Engine
from sacpy.repl.inputs import PREFIX
from sacpy.repl.outcomes import Variable


class Run:
    """An input that is run traced: its function, and what calls it. `variables`: what is known by name."""

    def __init__(
        self, engine: Engine, node: ast.Expr | ast.Stmt, tracer: Tracer, world: World,
        variables: Mapping[str, Variable] | None = None,
    ) -> None:  # fmt: skip
        self.node = node
        self.variables = dict(engine.variables if variables is None else variables)
        self.program = traced_program(engine)
        self.entered = entered(self.program, node, self.variables, "debugged")
        self.arguments = [v for name in self.entered.parameters for v in self.variables[name].values]
        self.evaluator = evaluator_of(engine, self.program, world, tracer)
        self.evaluator.borders.add(self.entered.key, node)
        self._workspace = replace(engine.workspace, target="interp", _engine=None)

    def call(self) -> tuple[tuple[Value, ...], tuple[bool, ...]]:
        """Runs it. Raises `SacError`."""
        given = [False] * len(self.arguments)
        return self._workspace.guard(
            Watchdog(), lambda: self.evaluator.call_giving(self.entered.key, self.arguments, given)
        )


def traced_program(engine: Engine) -> ElaboratedProgram:
    """The definitions of a prompt as a program of their own, in which names stay for somebody who looks on."""
    name = engine.program.main.info.name
    before = engine.loader.modules.get(name)
    program = elaborate(replace(engine.definitions), engine.loader)
    if before is not None:
        engine.loader.modules[name] = before
    program.traced = True
    return program


def entered(
    program: ElaboratedProgram, node: ast.Expr | ast.Stmt, variables: Mapping[str, Variable], word: str
) -> Expression:
    """A statement or expression as a function of a program."""
    named = {n: Named(v.type, tuple(len(shape_of(value)) for value in v.values)) for n, v in variables.items()}
    return expression_function(program, node, named, f"{PREFIX}{word}")


def evaluator_of(engine: Engine, program: ElaboratedProgram, world: World, tracer: Tracer | None) -> Evaluator:
    """What interprets a program; global objects have the values that they have at the prompt."""
    depth = engine.workspace.limits.depth
    made = Evaluator(program, world, depth_limit=depth, always_copy=True, tracer=tracer)
    made.globals.update(engine.evaluator.globals)
    return made


__all__ = ["Run", "entered", "evaluator_of", "traced_program"]

"""What an input defines: functions, types and macros join those that are there, or take their places.

In: an engine and the definitions of an input. Out: a program with both; or why that cannot be, and the engine as it
was.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sacpy.interp.evaluator import Evaluator
from sacpy.interp.values import Value
from sacpy.lang import ast
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.elaborate.interactive import extended
from sacpy.lang.elaborate.program import ElaboratedProgram, elaborate
from sacpy.lang.macro_definitions import Macro
from sacpy.lang.modules import ModuleInfo, module_info
from sacpy.lang.source import NOWHERE, Span
from sacpy.nodes import replace
from sacpy.repl.inputs import Inputs
from sacpy.repl.outcomes import Step, Variable
from sacpy.repl.redefinitions import Problem, identity, postponed

if TYPE_CHECKING:
    from sacpy.repl.engine import Engine

LATER = ("E0307", "E0310")  # an unknown function or type: at a prompt it may be defined later
State = tuple[
    ModuleInfo,
    ElaboratedProgram,
    Evaluator,
    dict[str, ModuleInfo],
    dict[str, Variable],
    list[Step],
    set[Problem],
    Mapping[str, Macro | None],
    dict[Path, tuple[Path, ...]],
]


def state_of(engine: Engine) -> State:
    """What an input may change, to be restored where it goes wrong."""
    return (
        engine.definitions,
        engine.program,
        engine.evaluator,
        dict(engine.loader.modules),
        dict(engine.variables),
        list(engine.steps),
        engine._known_problems,
        engine.macros,
        dict(engine.loaded),
    )


def restore(engine: Engine, state: State) -> None:
    """Takes back what an input that went wrong has changed."""
    (
        engine.definitions,
        engine.program,
        engine.evaluator,
        engine.loader.modules,
        engine.variables,
        engine.steps,
        engine._known_problems,
        engine.macros,
        engine.loaded,
    ) = state


def forget_macros(engine: Engine, files: Collection[Path]) -> None:
    """Forgets what these files have defined; among it what keeps them from being included twice."""
    names = {str(path) for path in files}
    engine.macros = {
        name: macro for name, macro in engine.macros.items() if macro is None or macro.span.source.name not in names
    }


def use(engine: Engine, definitions: ModuleInfo, objects: Mapping[str, Value]) -> None:
    """Makes these the definitions, with a program and an evaluator of their own; global objects keep their
    values."""
    engine.definitions = definitions
    engine.program = elaborate(replace(definitions), engine.loader)
    evaluate_with(engine, objects)


def evaluate_with(engine: Engine, objects: Mapping[str, Value]) -> None:
    """Makes an evaluator as the workspace says."""
    engine.evaluator = engine.workspace.evaluator(engine.program, engine.world)
    if engine.evaluator.engine is not None:
        engine.evaluator.engine = Inputs(engine.evaluator.engine)
    engine.evaluator.globals.update(objects)


def define(engine: Engine, definitions: Sequence[ast.Definition]) -> list[Diagnostic]:
    """Takes definitions up. Raises `SacError`, and leaves everything as it was, if they are wrong; what they lack
    may be defined later."""
    added = module_info(ast.Module("program", "", None, None, tuple(definitions), (), (), NOWHERE))
    old = engine.definitions, engine.program, engine.evaluator
    source = definitions[0].span.source if definitions else None
    use(engine, extended(engine.definitions, added), engine.evaluator.globals)
    try:
        found = engine.program.check()
    except BaseException:  # Ctrl-C
        engine.definitions, engine.program, engine.evaluator = old
        raise
    new = [d for d in found if d.span.source is source or identity(d) not in engine._known_problems]
    wrong = [d for d in new if d.span.source is source or source is None]
    if any(d.severity == "error" and d.code not in LATER for d in wrong):
        engine.definitions, engine.program, engine.evaluator = old
        raise SacError(*wrong)
    for name in added.objects:
        engine.evaluator.globals.pop(f"{engine.program.main.info.name}::{name}", None)
    engine._known_problems = {identity(d) for d in found}
    outdated = drop_outdated(engine, definitions[-1].span if definitions else NOWHERE)
    return [*(postponed(d) if d.severity == "error" else d for d in new), *outdated]


def drop_outdated(engine: Engine, span: Span) -> list[Diagnostic]:
    """Forgets named values of types that are defined otherwise by now."""
    said: list[Diagnostic] = []
    for name, variable in list(engine.variables.items()):
        module, _, own = variable.type.key.rpartition("::")
        if module != engine.program.main.info.name:
            continue
        now = engine.program.main.own_type(own)
        if now is None or (now.components, now.fields) != (variable.type.components, variable.type.fields):
            del engine.variables[name]
            said.append(
                Diagnostic(
                    "W0731",
                    f"{name} is forgotten: {variable.type.shown} is another type now",
                    span,
                    "because of this",
                    help="make it anew",
                )
            )
    return said

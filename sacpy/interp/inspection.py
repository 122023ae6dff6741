"""Expressions among the variables of a function that stands still.

In: a frame, a text, the program that the frame is of, and what makes an evaluator for it. Out: types and values. What
is evaluated sees the frame's variables and the program's functions, in a world of its own that reads and writes nothing
outside, and changes nothing of the run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sacpy.interp.runtime.calls import known_shape
from sacpy.interp.tracing import FrameView
from sacpy.interp.values import Value, shape_of
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.elaborate.interactive import Named, expression_function
from sacpy.lang.elaborate.program import ElaboratedProgram
from sacpy.lang.elaborate.usertypes import BUILTINS, BaseType, opaque
from sacpy.lang.infer import infer
from sacpy.lang.parser import parse_expression
from sacpy.lang.source import NOWHERE, Source

if TYPE_CHECKING:
    from sacpy.interp.evaluator import Evaluator

KEY = "expression at a stop"


def evaluated(
    frame: FrameView, text: str, program: ElaboratedProgram, evaluator: Callable[[], Evaluator]
) -> tuple[tuple[BaseType, ...], tuple[Value, ...]]:
    """The values of an expression there, a value for each component of each type. Raises `SacError`."""
    parsed = parse_expression(Source("<expression>", text), operators=_operators(program))
    if parsed.expr is None or any(d.severity == "error" for d in parsed.diagnostics):
        raise SacError(*parsed.diagnostics)
    seen = {name: (base, value) for name, base, value in frame.variables() if name.isidentifier()}
    named = {name: Named(BUILTINS.get(base) or opaque(base), (len(shape_of(v)),)) for name, (base, v) in seen.items()}
    try:
        made = expression_function(program, parsed.expr, named, KEY)
        arguments = [seen[name][1] for name in made.parameters]
        certain = infer(program.function(KEY), [known_shape(v) for v in arguments], program).diagnostics
        if any(d.severity == "error" for d in certain):
            raise SacError(*certain)
        return made.results, tuple(evaluator().call(KEY, arguments))
    finally:
        program.initials.pop(KEY, None)


def holds(frame: FrameView, text: str, program: ElaboratedProgram, evaluator: Callable[[], Evaluator]) -> bool:
    """Whether a condition is true there. Raises `SacError`, also for what is no condition."""
    types, values = evaluated(frame, text, program, evaluator)
    if len(types) != 1 or types[0].key != "bool" or shape_of(values[0]):
        raise SacError(Diagnostic("E0732", f"{text} is no condition: it is not one bool", NOWHERE))
    return bool(values[0])


def _operators(program: ElaboratedProgram) -> set[str]:
    return {n for n in program.main.info.functions if not (n[0].isalnum() or n[0] == "_")}


__all__ = ["evaluated", "holds"]

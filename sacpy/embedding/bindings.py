"""Python functions that stand for external ones.

In: a Python function, and the declaration of the external function. Out: a function over the interpreter's values.
Arguments arrive as Python values, arrays as read-only views without a copy; what comes back must fit the declared
results, strictly.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from sacpy.embedding.arguments import Misfit, converter
from sacpy.embedding.records import components
from sacpy.embedding.results import presenter
from sacpy.interp.errors import Fault
from sacpy.interp.runtime.calls import known_shape, shown
from sacpy.interp.values import Value
from sacpy.lang.ast import TypeVar
from sacpy.lang.core import Signature
from sacpy.lang.diagnostics import SacError
from sacpy.lang.elaborate.usertypes import BaseType, FunctionParameter
from sacpy.lang.patterns import match_arguments, match_results

if TYPE_CHECKING:
    from sacpy.lang.elaborate.program import ElaboratedProgram, Instance

Bound = Callable[..., Any]


def bind(function: Bound, signature: Signature, program: ElaboratedProgram, instance: Instance) -> Callable[..., Any]:
    """The function for the interpreter. Raises a Fault (E0712) where the Python function does not take as many
    arguments as the declaration says."""
    name, definition = shown(signature), instance.entry.definition
    bound = dict(instance.typevars)
    declared = [t for t in program.parameter_types(instance.entry) if not isinstance(t, FunctionParameter)]
    params = [bound[t.name] if isinstance(t, TypeVar) else t for t in declared]
    results = [
        *program.result_types(instance.entry, instance.typevars),
        *(t for t, p in zip(params, definition.params) if p.by_reference),
    ]
    check_arity(function, len(params), name, signature)
    incoming = [(presenter(t), len(t.components)) for t in params]
    outgoing = [_to_core(t) for t in results]

    def call(world: object, *args: Value) -> Any:
        passed, at = [], 0
        for present, count in incoming:
            passed.append(_read_only(present(args[at : at + count])))
            at += count
        try:
            given = function(*passed)
        except (SacError, Fault):
            raise
        except Exception as error:
            raise Fault(
                "E0711",
                f"the Python function bound to {name} raised {type(error).__name__}: {error}",
                help="the Python exception is this error's __cause__",
            ) from error
        values = () if not outgoing else (given,) if len(outgoing) == 1 else given
        if (not outgoing and given is not None) or not isinstance(values, tuple | list) or len(values) != len(outgoing):
            raise Fault(
                "E0712",
                f"the Python function bound to {name} should return {_count(len(outgoing))}, but gave {given!r:.60}",
                notes=(f"it is declared as {signature.text}",),
            )
        core = tuple(
            part
            for i, (convert, value) in enumerate(zip(outgoing, values))
            for part in _converted(convert, value, i, name, signature)
        )
        _check_shapes(signature, args, core, name)
        return core[0] if len(core) == 1 else core if core else None

    return call


def check_arity(function: Bound, count: int, name: str, signature: Signature) -> None:
    """Raises a Fault unless the Python function can be called with so many arguments."""
    try:
        inspect.signature(function).bind(*[None] * count)
    except TypeError:
        raise Fault(
            "E0712",
            f"the Python function bound to {name} cannot be called with {count} argument{'s' * (count != 1)}",
            notes=(f"the external function is declared as {signature.text}",),
            help="give it the parameters that the declaration has",
        ) from None
    except ValueError:
        pass  # a function of a C extension that does not say what it takes


def _count(n: int) -> str:
    return "nothing" if n == 0 else "one value" if n == 1 else f"a tuple of {n} values"


def _to_core(type: BaseType) -> Callable[[Any], tuple[Value, ...]]:
    if type.has_parts:
        return components(type)
    convert = converter(type)
    return lambda value: (convert(value),)


def _converted(
    convert: Callable[[Any], tuple[Value, ...]], value: Any, at: int, name: str, signature: Signature
) -> tuple[Value, ...]:
    """A result's values. Python may keep the array and change it later, so it counts as somebody else's: a view
    does."""
    try:
        return tuple(v.view() if type(v) is np.ndarray else v for v in convert(value))
    except Misfit as misfit:
        raise Fault(
            "E0712",
            f"result {at + 1} of the Python function bound to {name}: {misfit.reason}",
            notes=(f"it is declared as {signature.text}",),
            help=misfit.help,
        ) from None


def _check_shapes(signature: Signature, args: tuple[Value, ...], results: tuple[Value, ...], name: str) -> None:
    match = match_arguments(signature, [known_shape(a) for a in args])
    violations = (
        match.violations + match_results(signature, [known_shape(r) for r in results], match.bindings).violations
    )
    if violations:
        raise Fault(
            "E0712",
            f"the Python function bound to {name} gave a result that violates its declaration: {violations[0].text}",
            notes=(f"it is declared as {signature.text}",),
        )


def _read_only(value: Any) -> Any:
    if type(value) is np.ndarray:
        value = value.view()
        value.flags.writeable = False
    return value

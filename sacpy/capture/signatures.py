"""The heads of Python functions: parameters and results with their types, and names from outside.

In: a Python function. Out: a `Head`; the value of a name that the function does not set.
"""

from __future__ import annotations

import ast as py
import builtins
import inspect
from typing import Any

from sacpy.capture import heads
from sacpy.capture.expressions import MISSING
from sacpy.capture.heads import Shaped
from sacpy.capture.places import UNTYPED, Places, parsed, refusal
from sacpy.lang.diagnostics import SacError
from sacpy.lang.source import Span
from sacpy.nodes import Record


class Head(Record):
    """The types of a captured function: of its parameters by name, and of its results (None: not said)."""

    parameters: dict[str, Shaped]
    results: tuple[Shaped, ...] | None
    node: py.FunctionDef
    places: Places
    spans: dict[str, Span]


def head(function: Any) -> Head:
    """The head of a Python function. Raises `SacError` for one that says no types, or what are none."""
    node, places = parsed(function)
    assert isinstance(node, py.FunctionDef)
    spec = node.args
    for extra in (spec.vararg, spec.kwarg):
        if extra is not None:
            raise refusal(places.span(extra), "'*' and '**' parameters are not taken", "name each parameter")
    given = _annotations(function, places.span(node))
    found: dict[str, Shaped] = {}
    spans: dict[str, Span] = {}
    for argument in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs):
        spans[argument.arg] = places.span(argument)
        if argument.annotation is None:
            message = f"the parameter {argument.arg} has no type"
            help = f'say what it is: {argument.arg}: float, int, or an array such as Double["n", "m"]'
            raise refusal(spans[argument.arg], message, help, UNTYPED)
        shaped = heads.read(given.get(argument.arg))
        if shaped is None or len(shaped) != 1:
            raise no_type(places.span(argument.annotation))
        found[argument.arg] = shaped[0]
    results: tuple[Shaped, ...] | None = None
    if node.returns is not None:
        results = heads.read(given.get("return"))
        if not results:
            raise no_type(places.span(node.returns))
    return Head(found, results, node, places, spans)


def no_type(span: Span) -> SacError:
    """The error of an annotation that means nothing."""
    help = 'write float, int, bool, complex, or an array: Double["n"], Int[:], Float[3, 3], Bool[...]'
    return refusal(span, f"{span.text} is no type here", help, UNTYPED)


def _annotations(function: Any, span: Span) -> dict[str, Any]:
    try:
        return inspect.get_annotations(function, eval_str=True)
    except Exception as error:
        message = f"the annotations cannot be understood: {error}"
        raise refusal(span, message, "import what they use: from sacpy import Double, Int", UNTYPED) from None


def outside(function: Any, name: str) -> Any:
    """The value that a name has outside of a function; `MISSING` if it has none."""
    code = function.__code__
    if name in code.co_freevars:
        try:
            return function.__closure__[code.co_freevars.index(name)].cell_contents
        except ValueError:
            return MISSING
    if name in function.__globals__:
        return function.__globals__[name]
    return getattr(builtins, name, MISSING)

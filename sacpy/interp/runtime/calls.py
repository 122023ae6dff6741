"""What generated code calls around calls: checks that fail, copies, globals.

In: signatures and actual values. Out: nothing, or a `Fault` that says all that is wrong. `Copies` counts array copies
made for updates, which tests of linearity read.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sacpy.interp import memory
from sacpy.interp.errors import CallFault, Fault
from sacpy.interp.runtime.elementwise import brackets
from sacpy.interp.values import Value, shape_of
from sacpy.lang.core import Check, Signature, Slot
from sacpy.lang.lattice import constant
from sacpy.lang.patterns import match_arguments, match_results
from sacpy.lang.source import NOWHERE
from sacpy.lang.types import Shape

ndarray = np.ndarray


class Copies:
    """How many arrays were copied because an update found them shared."""

    count = 0


def shown(signature: Signature) -> str:
    """A function's name as the programmer knows it."""
    return signature.name.removeprefix("_MAIN::")


def copy(a: Value) -> Value:
    """A fresh array, for an update of one that others hold."""
    if type(a) is ndarray:
        Copies.count += 1
        memory.room(a.nbytes)
        return a.copy()
    return a


def owned(a: Value, flag: bool) -> Value:
    """The array itself if nobody else holds it, else a copy."""
    return a if flag or type(a) is not ndarray else copy(a)


def is_fresh(value: Value, args: tuple[Value, ...]) -> bool:
    """Whether an array that a Python function returned is certainly none of its arguments, nor a view."""
    return type(value) is not ndarray or (value.base is None and not any(value is a for a in args))


def known_shape(value: Value) -> Shape:
    """A value as the pattern matcher sees it."""
    if type(value) is ndarray:
        small = value.ndim == 1 and value.size <= 64 and value.dtype.kind == "i"
        return constant(value.shape, value.tolist() if small else None)
    return constant((), [value] if isinstance(value, int) else None)


def violation(signature: Signature, args: tuple[Value, ...], results: tuple[Value, ...] | None = None) -> None:
    """Raises with everything that is wrong with a call."""
    match = match_arguments(signature, [known_shape(a) for a in args])
    violations = match.violations
    if results is not None:
        violations += match_results(signature, [known_shape(r) for r in results], match.bindings).violations
    texts = tuple(v.text for v in violations)
    what = "result" if results is not None else "call"
    if not texts:
        texts = (f"the {what} does not fit {signature.text}",)
    message = f"this {what} of {shown(signature)} violates its type patterns: {texts[0]}"
    raise (Fault if results is not None else CallFault)(
        "E0615",
        message,
        notes=(*texts[1:], f"the function is {signature.text}"),
        help="the extents that share a name must agree",
    )


def condition_failed(signature: Signature, text: str, on_exit: bool) -> None:
    """Raises for a condition behind a function's head."""
    raise (Fault if on_exit else CallFault)(
        "E0616",
        f"the condition {text} of {shown(signature)} does not hold",
        notes=(f"the function is {signature.text}",),
        help="call it with arguments for which the condition holds"
        if not on_exit
        else "correct the function, or its condition",
    )


def check(value: Value, what: Check) -> None:
    """A cast to a shape, or a declared type."""
    slot = Slot(what_bind(what), what.pattern, what.cell, what.text)
    signature = Signature("", what.what, (slot,), (), (), "", None, what.text, what.span)
    violations = match_arguments(signature, [known_shape(value)]).violations
    if violations:
        raise Fault(
            "E0617",
            f"{what.what} is {what.text}, but the value has the shape {brackets(shape_of(value))}",
            help="correct the type, or the value",
        )


def what_bind(what: Check) -> Any:
    """The bind of a checked value."""
    from sacpy.lang.core import Bind

    return Bind("value", what.text.split("[")[0].strip(), "", NOWHERE)


def truth(value: Value) -> bool:
    """A condition, which must be a scalar."""
    if type(value) is ndarray:
        raise Fault(
            "E0605",
            f"a condition must be a scalar bool, but this one has the shape {brackets(value.shape)}",
            help="use all(..) or any(..)",
        )
    return bool(value)


def need_rank(value: Value, rank: int, name: str, argument: int) -> Value:
    """An operand of a primitive that the program called by its form."""
    if len(shape_of(value)) != rank:
        raise Fault(
            "E0606",
            f"argument {argument} of {name} must have rank {rank}, but its shape is {brackets(shape_of(value))}",
            help="call the form with the letter A, or the library's function",
        )
    return value

"""Natives of Assert: two values compared, and what is wrong told with their values and shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from sacpy.interp import memory
from sacpy.interp.errors import CallFault
from sacpy.interp.natives import native
from sacpy.interp.notation import notation
from sacpy.interp.runtime.elementwise import brackets
from sacpy.interp.values import dtype_of, shape_of
from sacpy.interp.world import World

SHOWN = 12  # rows or elements of a value in a message
LONGEST = 400  # characters of a value in a message
_COMPARED = 16  # bytes for an element that is compared: its value in the type of the result, and where it differs
_NEAR = 64  # the same where a distance is allowed: copies in double precision
_HELP = "correct the function that gives the value, or what the test expects"


@native("Assert::equal/2", wants_bases=True)
def equal(world: World, value: Any, expected: Any, *, bases: tuple[str, ...]) -> None:
    _compare(value, expected, bases[0], None)


@native("Assert::close/3", wants_bases=True)
def close(world: World, value: Any, expected: Any, tolerance: float, *, bases: tuple[str, ...]) -> None:
    _compare(value, expected, bases[0], tolerance)


@native("Assert::holds/1")
def holds(world: World, condition: Any) -> None:
    if np.all(condition):
        return
    place = _where(np.logical_not(np.asarray(condition)))
    notes = () if not shape_of(condition) else (f"the condition is {_shown(condition, 'bool')}",)
    raise CallFault("E0671", f"it does not hold{place}", notes=notes, help=_HELP)


def _compare(value: Any, expected: Any, base: str, tolerance: float | None) -> None:
    """Raises for values that differ; `tolerance`: that much is allowed."""
    shapes = shape_of(value), shape_of(expected)
    if shapes[0] != shapes[1]:
        message = f"the values differ in shape: {brackets(shapes[0])} and {brackets(shapes[1])}"
        raise CallFault("E0670", message, notes=_both(value, expected, base), help=_HELP)
    if isinstance(value, bytes):
        wrong = np.asarray(value != expected)
    else:
        memory.check(shapes[0], _COMPARED if tolerance is None else _NEAR)
        wrong = _wrong(np.asarray(value, dtype_of(base)), np.asarray(expected, dtype_of(base)), tolerance)
    if not wrong.any():
        return
    at = np.unravel_index(int(np.argmax(wrong)), wrong.shape) if wrong.shape else ()
    first, second = (x[at].item() if wrong.shape else x for x in (value, expected))
    by = "" if tolerance is None else f", by {abs(float(first) - float(second)):.6g}"
    message = f"the values differ{_where(wrong)}: {_text(first, base)} and {_text(second, base)}{by}"
    count = int(wrong.sum())
    more = (f"{count} of {wrong.size} elements differ",) if wrong.size > 1 else ()
    notes = (*more, *_both(value, expected, base)) if wrong.shape else ()
    raise CallFault("E0670", message, notes=notes, help=_HELP)


def _wrong(value: Any, expected: Any, tolerance: float | None) -> Any:
    """Where two arrays of one shape differ."""
    if value.dtype.kind != "f":
        return np.asarray(value != expected)
    both = np.isnan(value) & np.isnan(expected)
    if tolerance is None:
        return (value != expected) & ~both
    with np.errstate(all="ignore"):
        value, expected = value.astype(np.float64), expected.astype(np.float64)
        near = np.abs(value - expected) <= tolerance * np.maximum(1.0, np.abs(expected))
        near &= np.isfinite(expected)
    return ~(near | (value == expected) | both)


def _where(wrong: Any) -> str:
    """The first place of those, in row-major order."""
    if not wrong.shape:
        return ""
    at = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    return f" at [{', '.join(str(int(i)) for i in at)}]"


def _both(value: Any, expected: Any, base: str) -> tuple[str, str]:
    return f"the value is {_shown(value, base)}", f"expected is {_shown(expected, base)}"


def _shown(value: Any, base: str) -> str:
    """Type and value, as much of it as a message has room for."""
    shape = shape_of(value)
    name = base.rpartition("::")[2]
    short = value[(slice(SHOWN),) * len(shape)] if shape else value
    text = _text(short, base)
    if len(text) <= LONGEST and shape_of(short) != shape:
        text = f"{text[:-1]}, ..]"
    return f"{name}{brackets(shape) if shape else ''} {text}"


def _text(value: Any, base: str) -> str:
    """A value as SaC writes it, or the beginning of that."""
    text = notation(value[:LONGEST] if isinstance(value, bytes) else value, base)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}.."

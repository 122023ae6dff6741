"""Python values in: strict conversion to the interpreter's values.

In: a SaC base type, and a Python value. Out: the interpreter's values, one for each component of the type; or a
`Misfit` that says why not. Nothing is ever wrapped, truncated or guessed: an int that leaves the type's range, a float
for an int, an int that a double cannot hold are errors. An array of the right dtype and layout is taken as it is,
without a copy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from sacpy.embedding.kinds import COMPLEX, STRING, Handle, as_numpy, describe, kind_of
from sacpy.interp.arithmetic import HELPERS
from sacpy.interp.values import DTYPES, OBJECT, Value
from sacpy.lang.elaborate.usertypes import BaseType
from sacpy.lang.types import BITS, SIGNED

ndarray = np.ndarray
Convert = Callable[[Any], Value]
_LISTS = frozenset({list, tuple})
_PLAIN = {"double": float, "bool": bool}  # whose every value fits
_EXACT = {"double": 53, "float": 24}  # bits of ints that it holds exactly, all of them
_ARRAYS = ("__array__", "__array_interface__", "__dlpack__")  # by which others hand out arrays
round_single: Callable[[float], float] = HELPERS["_f32"]


class Misfit(Exception):
    """A value does not fit a type. `code`: E0707 (its sort fits, its value does not) or E0708 (its sort does not
    fit)."""

    def __init__(self, code: str, reason: str, help: str = "") -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
        self.help = help


def wrong_sort(value: Any, wanted: str, help: str = "") -> Misfit:
    """A value of another sort."""
    return Misfit("E0708", f"{describe(kind_of(value))} is not {wanted}", help)


def converter(type: BaseType) -> Convert:
    """How to convert to a type with a single component."""
    if type.kind in ("opaque", "class") and type.key != STRING:
        return _handles(type)
    if type.key == STRING:
        return _string
    if type.key == COMPLEX:
        return _complex
    (component,) = type.components
    plain = _scalars(component.base)
    return _with_cell(plain, component.cell, type.shown) if component.cell else plain


# ---------------------------------------------------------------- built-in types


def _scalars(base: str) -> Convert:
    """A scalar or array of a built-in type."""
    if base in BITS:
        return _integers(base)
    if base == "char":
        return _char
    return _bool if base == "bool" else _reals(base)


def bounds(base: str) -> tuple[int, int]:
    """The smallest and largest value of an integer type."""
    bits = BITS[base]
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if base in SIGNED else (0, (1 << bits) - 1)


def _exact_bounds(base: str) -> tuple[int, int]:
    """Between which a floating-point type holds all ints exactly."""
    return -(1 << _EXACT[base]), 1 << _EXACT[base]


def _too_large(value: int, base: str, low: int, high: int) -> Misfit:
    wider = next((other for other in ("int", "long", "ulong") if bounds(other)[0] <= value <= bounds(other)[1]), "")
    help = (
        f"pass a value in that range, or declare it as {wider}"
        if wider
        else "no integer type of SaC has this value: pass a smaller one, or a float"
    )
    return Misfit("E0707", f"{value} does not fit {base}, whose values are {low} to {high}", help)


def _integers(base: str) -> Convert:
    low, high = bounds(base)
    dtype = DTYPES[base]

    def convert(value: Any) -> Value:
        if type(value) is int:
            if low <= value <= high:
                return value
            raise _too_large(value, base, low, high)
        if (
            type(value) is ndarray
            and value.dtype == dtype
            and value.ndim
            and value.flags.c_contiguous
            and value.flags.aligned
        ):
            return value
        return _general(value, base, number)

    def number(value: Any) -> int:
        if isinstance(value, int | np.integer) and not isinstance(value, bool):
            found = int(value)
            if low <= found <= high:
                return found
            raise _too_large(found, base, low, high)
        raise wrong_sort(
            value,
            base,
            "SaC converts nothing by itself: pass int(..)"
            if isinstance(value, float)
            else "pass an int, or an array or list of integers",
        )

    return convert


def _reals(base: str) -> Convert:
    dtype = DTYPES[base]
    single = base == "float"

    def convert(value: Any) -> Value:
        if (
            type(value) is ndarray
            and value.dtype == dtype
            and value.ndim
            and value.flags.c_contiguous
            and value.flags.aligned
        ):
            return value
        if type(value) is float:
            return _single(value) if single else value
        return _general(value, base, number)

    def number(value: Any) -> float:
        if isinstance(value, float | np.floating):
            if isinstance(value, np.floating) and value.dtype.itemsize > 8:
                raise wrong_sort(value, base, "round it: pass float(..)")
            return _single(float(value)) if single else float(value)
        if isinstance(value, int | np.integer) and not isinstance(value, bool):
            return _exact(int(value), base)
        raise wrong_sort(value, base, "pass a number: float(..)")

    return convert


def _single(value: float) -> float:
    """A Python float rounded to 32 bits, as a float literal is."""
    rounded = round_single(value)
    if math.isinf(rounded) and not math.isinf(value):
        raise Misfit(
            "E0707",
            f"{value!r} does not fit float, whose largest value is {float(np.finfo(np.float32).max):.8g}",
            "declare it as double",
        )
    return rounded


def _exact(value: int, base: str) -> float:
    """An int that the type holds exactly."""
    try:
        result = float(value) if base == "double" else round_single(float(value))
    except OverflowError:
        result = math.inf
    if math.isinf(result) or int(result) != value:
        raise Misfit("E0707", f"{value} is not exact as {base}", "pass float(..) where rounding is meant")
    return result


def _bool(value: Any) -> Value:
    if type(value) is bool:
        return value
    return _general(value, "bool", _truth)


def _truth(value: Any) -> bool:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise wrong_sort(value, "bool", "compare, as in n != 0")


def _char(value: Any) -> Value:
    if isinstance(value, str | bytes | bytearray | memoryview):
        data = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else bytes(value)
        return data[0] if len(data) == 1 else np.frombuffer(data, np.uint8)
    return _general(value, "char", _code)


def _code(value: Any) -> int:
    if isinstance(value, str | bytes) and len(value) == 1:
        data = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value
        if len(data) == 1:
            return data[0]
    if isinstance(value, np.uint8):
        return int(value)
    raise wrong_sort(value, "char", "pass a string of one character, or bytes")


# ---------------------------------------------------------------- arrays


def _general(value: Any, base: str, number: Callable[[Any], Value]) -> Value:
    """Everything that is not the plain case: NumPy scalars, other arrays, lists."""
    if isinstance(value, ndarray):
        if isinstance(value, np.ma.MaskedArray):
            raise Misfit("E0708", "a masked array has values that are not there", "fill them first: a.filled(0)")
        value = np.asarray(value)
        if not value.ndim:
            return number(value[()])
        return _array(value, base)
    if isinstance(value, list | tuple):
        return _nested(value, base, number)
    if not isinstance(value, np.generic | int | float) and any(hasattr(value, name) for name in _ARRAYS):
        return _general(as_numpy(value), base, number)
    return number(value)


def _array(value: np.ndarray[Any, Any], base: str) -> np.ndarray[Any, Any]:
    """An array of another dtype or layout, in the right one: the same values, or an error."""
    wanted, found = DTYPES[base], value.dtype
    if found.kind == wanted.kind and found.itemsize == wanted.itemsize:
        return np.require(value, wanted, ("C", "A"))
    shown = f"an array of {found.name}"
    if base in BITS and found.kind in "iu":
        low, high = bounds(base)
        _in_range(value, low, high, base)
    elif base in _EXACT and found.kind in "iu":
        if found.itemsize * 8 > _EXACT[base]:
            _in_range(value, *_exact_bounds(base), f"{base} exactly")
    elif base in ("double", "float") and found.kind == "f" and found.itemsize > wanted.itemsize:
        raise Misfit("E0708", f"{shown} is not {base}", f"round it: a.astype(numpy.{wanted.name})")
    elif not (base in ("double", "float") and found.kind == "f"):
        raise Misfit(
            "E0708",
            f"{shown} is not {base}",
            f"convert it: a.astype(numpy.{wanted.name})" if found.kind in "biuf" else "",
        )
    return np.ascontiguousarray(value, wanted)


def _in_range(value: np.ndarray[Any, Any], low: int, high: int, what: str) -> None:
    if not value.size:
        return
    smallest, largest = int(value.min()), int(value.max())
    if smallest < low or largest > high:
        bad = smallest if smallest < low else largest
        at = np.unravel_index(int(np.argmin(value) if smallest < low else np.argmax(value)), value.shape)
        where = ", ".join(str(int(i)) for i in at)
        raise Misfit(
            "E0707",
            f"element [{where}] is {bad}, which does not fit {what}: legal are {low} to {high}",
            "pass values in that range, or declare a wider type",
        )


def _nested(items: Sequence[Any], base: str, number: Callable[[Any], Value]) -> np.ndarray[Any, Any]:
    """Nested lists as an array; they must be rectangular."""
    shape = _shape(items)
    if (plain := _plain(items, shape, base)) is not None:
        return plain
    result = np.empty(shape, DTYPES.get(base, OBJECT))
    flat = result.reshape(-1)
    at = 0

    def fill(part: Any, depth: int) -> None:
        nonlocal at
        if isinstance(part, ndarray) and part.ndim:
            part = part.tolist() if part.dtype.kind != "u" or base != "char" else list(part)
        if depth == len(shape):
            if isinstance(part, list | tuple):
                raise ragged()
            flat[at] = number(part)
            at += 1
            return
        if not isinstance(part, list | tuple) or len(part) != shape[depth]:
            raise ragged()
        for item in part:
            fill(item, depth + 1)

    def ragged() -> Misfit:
        return Misfit(
            "E0708",
            "the lists differ in length, and an array has rows of one length",
            "fill the shorter ones up, or pass each row by itself",
        )

    fill(items, 0)
    return result


def _plain(items: Sequence[Any], shape: tuple[int, ...], base: str) -> np.ndarray[Any, Any] | None:
    """Nested lists as an array, where they are rectangular and all elements of one type of Python that fits as it is;
    None of others, whose elements are to be looked at one by one."""
    flat = items
    for extent in shape[1:]:
        if not _LISTS.issuperset(map(type, flat)) or set(map(len, flat)) != {extent}:
            return None
        flat = list(chain.from_iterable(flat))
    types = set(map(type, flat))
    if types == {int} and (base in BITS or base in _EXACT):
        low, high = bounds(base) if base in BITS else _exact_bounds(base)
        fits = low <= min(flat) and max(flat) <= high
    else:
        fits = types == {_PLAIN.get(base)}
    return np.array(flat, DTYPES[base]).reshape(shape) if fits else None


def _shape(items: Any) -> tuple[int, ...]:
    """The shape that the first elements of nested lists tell."""
    shape: list[int] = []
    while isinstance(items, list | tuple) or (isinstance(items, ndarray) and items.ndim):
        shape.append(len(items))
        if not len(items):
            break
        items = items[0]
    return tuple(shape)


# ---------------------------------------------------------------- types of the library and of programs


def _with_cell(plain: Convert, cell: tuple[int | None, ...], shown: str) -> Convert:
    """Arrays whose last axes are one element of a typedef."""

    def convert(value: Any) -> Value:
        result = plain(value)
        found = result.shape if type(result) is ndarray else ()
        inner = found[len(found) - len(cell) :]
        if len(found) < len(cell) or any(n is not None and n != m for n, m in zip(cell, inner)):
            text = ",".join("." if n is None else str(n) for n in cell)
            raise Misfit(
                "E0708", f"a value of shape {list(found)} is not {shown}, whose elements have the shape [{text}]"
            )
        return result

    return convert


def _complex(value: Any) -> Value:
    """Complex numbers lie as pairs of doubles, as in NumPy: an array of complex128 is looked at as such."""
    if type(value) is not ndarray or value.dtype != np.complex128:
        value = _to_complex(value)
    if not value.ndim:
        return np.array((value.real, value.imag), np.float64)
    value = np.require(value, np.complex128, ("C", "A"))
    return value.view(np.float64).reshape(*value.shape, 2)


def _to_complex(value: Any) -> np.ndarray[Any, Any]:
    if isinstance(value, list | tuple):
        parts = _nested(value, "", _complex_number)
        return parts.astype(np.complex128)
    if isinstance(value, ndarray) and value.ndim:
        if value.dtype.kind != "c" or value.dtype.itemsize > 16:
            raise Misfit(
                "E0708", f"an array of {value.dtype.name} is not complex", "convert it: a.astype(numpy.complex128)"
            )
        return np.asarray(value, np.complex128)
    return np.array(_complex_number(value), np.complex128)


def _complex_number(value: Any) -> complex:
    if isinstance(value, ndarray):
        value = value[()]
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | complex | np.number):
        raise wrong_sort(value, "complex", "pass a number: complex(..)")
    if isinstance(value, int | np.integer):
        return complex(_exact(int(value), "double"))
    return complex(value)


def _string(value: Any) -> Value:
    if isinstance(value, ndarray | list | tuple):
        return _nested(value.tolist() if isinstance(value, ndarray) else value, STRING, _string)
    if isinstance(value, str):
        data = value.encode("utf-8", "surrogateescape")
    elif isinstance(value, bytes | bytearray):
        data = bytes(value)
    else:
        raise wrong_sort(value, "string", "pass text: str(..)")
    if 0 in data:
        raise Misfit(
            "E0707",
            "a SaC string ends at its first zero byte, and this one has one inside",
            "cut it there, or pass it to a char[.] as bytes",
        )
    return data


def _handles(type: BaseType) -> Convert:
    def convert(value: Any) -> Value:
        if isinstance(value, Handle) and value.type == type.key:
            return value.parts[0]
        raise wrong_sort(value, type.shown, f"pass what a function of {type.key.partition('::')[0]} returned")

    return convert

"""Python values out.

In: a SaC base type, and the interpreter's values for it. Out: Python scalars, `str`, `bytes` of length one for a char;
NumPy arrays; complex numbers; records for structs; handles for what only SaC understands. Arrays are handed out as they
are, so the caller of this makes sure that nobody else holds them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sacpy.embedding.kinds import COMPLEX, STRING, Handle
from sacpy.embedding.records import record
from sacpy.interp.values import Value
from sacpy.lang.elaborate.usertypes import BaseType

Present = Callable[[tuple[Value, ...]], Any]


def presenter(type: BaseType) -> Present:
    """How to show the values of a type."""
    if type.is_struct:
        return lambda values: record(type, values, _leaf)
    if type.kind == "packed":
        from sacpy.embedding.packed import Packed  # loaded where a program has such arrays

        return lambda values: Packed(type.key, values, type)
    if type.kind in ("opaque", "class") and type.key != STRING:
        return lambda values: Handle(type.key, values)
    leaf = _leaf(type)
    return lambda values: leaf(values[0])


def _leaf(type: BaseType) -> Callable[[Value], Any]:
    """How to show the values of a type with a single component."""
    if type.key == STRING:
        return _string
    if type.key == COMPLEX:
        return _complex
    if type.kind == "opaque":
        return lambda value: Handle(type.key, (value,))
    if type.components[0].base == "char" and not type.components[0].cell:
        return lambda value: value if isinstance(value, np.ndarray) else bytes((value,))
    return _same


def _same(value: Value) -> Any:
    return value


def _string(value: Value) -> Any:
    if isinstance(value, np.ndarray):
        result = np.empty(value.shape, object)
        result.reshape(-1)[:] = [_string(v) for v in value.reshape(-1)]
        return result
    return "" if value is None else value.decode("utf-8", "surrogateescape")


def _complex(value: Value) -> Any:
    return complex(value[0], value[1]) if value.ndim == 1 else value.view(np.complex128).reshape(value.shape[:-1])

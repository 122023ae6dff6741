"""The types of the tables of twins, and what several of them need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sacpy.interp import memory
from sacpy.interp.runtime.structure import extents
from sacpy.interp.values import OBJECT, Value, dtype_of, zero_of

Twin = Callable[..., Any]
Factory = Callable[[tuple[str, ...], int], Twin]
Array = np.ndarray[Any, Any]


def counts(v: Value) -> list[int]:
    """An int vector as a list."""
    items: list[int] = v.tolist()
    return items


def zeros(shape: tuple[int, ...], base: str) -> Array:
    """An array of the zeros of a base type; an error where an extent is negative."""
    dtype = dtype_of(base)
    memory.check(extents(shape), dtype.itemsize)
    if dtype is not OBJECT:
        return np.zeros(extents(shape), dtype)
    result = np.empty(extents(shape), dtype)
    result.fill(zero_of(base))
    return result

"""What values look like while a program runs.

Rank 0 is always a Python scalar (int for integers and char, float, bool), rank 1 and more a C-contiguous array of the
base type's dtype. Strings are `bytes`; other opaque values are whatever the natives make; arrays of opaque values have
dtype object.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

Value = Any

DTYPES: dict[str, np.dtype[Any]] = {
    name: np.dtype(dtype)
    for name, dtype in {
        "byte": "i1", "short": "i2", "int": "i4", "long": "i8", "longlong": "i8", "ubyte": "u1", "ushort": "u2",
        "uint": "u4", "ulong": "u8", "ulonglong": "u8", "float": "f4", "double": "f8", "bool": "?", "char": "u1",
    }.items()
}  # fmt: skip
OBJECT = np.dtype(object)
INT = DTYPES["int"]


def dtype_of(base: str) -> np.dtype[Any]:
    """The dtype of arrays of a base type."""
    return DTYPES.get(base, OBJECT)


def zero_of(base: str) -> Value:
    """The zero of a base type; b"" for strings, None for other opaque types."""
    if base in ("float", "double"):
        return 0.0
    if base == "bool":
        return False
    return 0 if base in DTYPES else b"" if base == "String::string" else None


def shape_of(value: Value) -> tuple[int, ...]:
    """The extents of any value."""
    return value.shape if type(value) is np.ndarray else ()


def vector(items: Any) -> np.ndarray[Any, Any]:
    """An int vector."""
    return np.array(items, INT)


def array(items: Any, base: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """An array from its elements, flat in row-major order."""
    dtype = dtype_of(base)
    if dtype is OBJECT:
        result = np.empty(prod(shape), OBJECT)
        for i, item in enumerate(items):
            result[i] = item
        return result.reshape(shape)
    return np.array(list(items), dtype).reshape(shape)

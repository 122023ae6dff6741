"""The types of PTX, as those of NumPy: a letter for the kind and the size in bytes ("s32" is "i4"), "p" for
predicates."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ptx.parse import SIZES

A = Any  # an array, or a scalar, of NumPy
TYPES: dict[str, Any] = {
    "u1": np.uint8,
    "u2": np.uint16,
    "u4": np.uint32,
    "u8": np.uint64,
    "i1": np.int8,
    "i2": np.int16,
    "i4": np.int32,
    "i8": np.int64,
    "f2": np.float16,
    "f4": np.float32,
    "f8": np.float64,
    "p": np.bool_,
}
KIND = {"u": "u", "s": "i", "b": "u", "f": "f"}
UINT = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def kind(t: str) -> str:
    """PTX's type as one of NumPy's: "s32" is "i4"."""
    return "p" if t == "pred" else KIND[t[0]] + str(SIZES[t])

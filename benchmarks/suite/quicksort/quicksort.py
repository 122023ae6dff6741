"""Quicksort in place, by recursion; one thread, as the recursion passes the whole array on. NumPy's own sort is no
quicksort for integers. Size: elements."""

from __future__ import annotations

from typing import Any

import numpy as np

SIZES = {"small": 500, "cached": 50_000, "large": 3_000_000}


def inputs(n: int) -> tuple[Any, ...]:
    return ((np.arange(n) * 2654435761 % 4294967291 // 64).astype(np.int32),)


def numpy_version(v: Any) -> Any:
    return np.sort(v)


def c_version(lib: Any, v: Any) -> Any:
    result = np.empty_like(v)
    lib.quicksort(result, v, len(v))
    return result

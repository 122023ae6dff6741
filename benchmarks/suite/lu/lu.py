"""LU factors by loops over single elements, without pivoting. Size: extent of each axis."""

from __future__ import annotations

from typing import Any

import numpy as np

SIZES = {"small": 12, "cached": 200, "large": 1000}


def inputs(n: int) -> tuple[Any, ...]:
    i = np.arange(n * n)
    return ((i * 7919 % 1000 / 1000.0).reshape(n, n) + n * np.eye(n),)


def numpy_version(a: Any) -> Any:
    a = a.copy()
    for k in range(len(a) - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a


def c_version(lib: Any, a: Any) -> Any:
    factors = np.empty_like(a)
    lib.lu(factors, a, len(a))
    return factors

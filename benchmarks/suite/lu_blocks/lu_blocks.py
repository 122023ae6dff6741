"""LU factors by blocks of 64, without pivoting. Size: extent of each axis, a multiple of 64."""

from __future__ import annotations

from typing import Any

import numpy as np

SIZES = {"small": 128, "cached": 192, "large": 1024}
SIDE = 64


def inputs(n: int) -> tuple[Any, ...]:
    i = np.arange(n * n)
    return (i * 7919 % 1000 / 1000.0).reshape(n, n) + n * np.eye(n), SIDE


def numpy_version(a: Any, side: int) -> Any:
    a, n = a.copy(), len(a)
    for top in range(0, n, side):
        end = top + side
        for k in range(top, end):
            a[k + 1 :, k] /= a[k, k]
            a[k + 1 :, k + 1 : end] -= np.outer(a[k + 1 :, k], a[k, k + 1 : end])
        for k in range(top, end):
            a[k + 1 : end, end:] -= np.outer(a[k + 1 : end, k], a[k, end:])
        a[end:, end:] -= a[end:, top:end] @ a[top:end, end:]
    return a


def c_version(lib: Any, a: Any, side: int) -> Any:
    factors = np.empty_like(a)
    assert side == SIDE
    lib.lu_blocks(factors, a, len(a))
    return factors

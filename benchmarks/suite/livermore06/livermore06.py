"""Livermore loop 6: general linear recurrence. Size: elements."""

from __future__ import annotations

from typing import Any

import numpy as np

SIZES = {"small": 30, "cached": 200, "large": 2000}


def inputs(n: int) -> tuple[Any, ...]:
    return ((np.arange(n * n) * 7919 % 1000 / 1000.0 / n).reshape(n, n),)


def numpy_version(b: Any) -> Any:
    n = len(b)
    w = np.full(n, 0.01)
    for i in range(1, n):
        w[i] += b[:i, i] @ w[i - 1 :: -1]
    return w


def c_version(lib: Any, b: Any) -> Any:
    w = np.empty(len(b))
    lib.livermore06(w, b, len(b))
    return w

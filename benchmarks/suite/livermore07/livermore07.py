"""Livermore loop 7: fragment of an equation of state. Size: elements."""

from __future__ import annotations

from typing import Any

import numpy as np

SIZES = {"small": 400, "cached": 30_000, "large": 10_000_000}


def inputs(n: int) -> tuple[Any, ...]:
    i = np.arange(n + 6)
    return i % 17 / 16.0, i[:n] % 13 / 12.0, i[:n] % 11 / 10.0, 0.05, 0.2, 0.1


def numpy_version(u: Any, y: Any, z: Any, q: float, r: float, t: float) -> Any:
    n = len(y)
    u0, u1, u2, u3, u4, u5, u6 = (u[k : k + n] for k in range(7))
    return u0 + r * (z + r * y) + t * (u3 + r * (u2 + r * u1) + t * (u6 + q * (u5 + q * u4)))


def c_version(lib: Any, u: Any, y: Any, z: Any, q: float, r: float, t: float) -> Any:
    x = np.empty_like(y)
    lib.livermore07(x, u, y, z, q, r, t, len(y))
    return x

"""Livermore loop 1: hydrodynamics fragment. Size: elements."""

from __future__ import annotations

from typing import Any

import numpy as np

SIZES = {"small": 500, "cached": 40_000, "large": 10_000_000}


def inputs(n: int) -> tuple[Any, ...]:
    i = np.arange(n + 11)
    return i[:n] % 17 / 16.0, i % 13 / 12.0, 0.05, 0.2, 0.1


def numpy_version(y: Any, z: Any, q: float, r: float, t: float) -> Any:
    return q + y * (r * z[10:-1] + t * z[11:])


def c_version(lib: Any, y: Any, z: Any, q: float, r: float, t: float) -> Any:
    x = np.empty_like(y)
    lib.livermore01(x, y, z, q, r, t, len(y))
    return x

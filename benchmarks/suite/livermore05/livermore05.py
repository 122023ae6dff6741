"""Livermore loop 5: tridiagonal elimination, below the diagonal. Size: elements."""

from __future__ import annotations

from typing import Any

import numpy as np

SIZES = {"small": 500, "cached": 40_000, "large": 10_000_000}


def inputs(n: int) -> tuple[Any, ...]:
    i = np.arange(n)
    return i % 7 / 8.0, i % 17 / 16.0, 0.1 + i % 13 / 16.0


def numpy_version(x: Any, y: Any, z: Any) -> Any:
    """There is no array operation for this: a loop over Python numbers."""
    last = float(x[0])
    out = [last]
    for b, f in zip(y[1:].tolist(), z[1:].tolist(), strict=True):
        last = f * (b - last)
        out.append(last)
    return np.array(out)


def c_version(lib: Any, x: Any, y: Any, z: Any) -> Any:
    out = np.empty_like(x)
    lib.livermore05(out, x, y, z, len(x))
    return out

"""The triad of the STREAM benchmark: a = b + s * c. Size: elements."""

from __future__ import annotations

from typing import Any

import numpy as np

SIZES = {"small": 1_000, "cached": 40_000, "large": 10_000_000}


def inputs(n: int) -> tuple[Any, ...]:
    i = np.arange(n)
    return 0.5 + i % 17, 1.25 - i % 13, 3.0


def numpy_version(b: Any, c: Any, s: float) -> Any:
    a = s * c
    a += b
    return a


def c_version(lib: Any, b: Any, c: Any, s: float) -> Any:
    a = np.empty_like(b)
    lib.triad(a, b, c, s, len(b))
    return a

"""Livermore loop 3: inner product, by a loop. Size: elements."""

from __future__ import annotations

from typing import Any

import numpy as np

SIZES = {"small": 1_000, "cached": 60_000, "large": 10_000_000}


def inputs(n: int) -> tuple[Any, ...]:
    i = np.arange(n)
    return i % 17 / 16.0, i % 13 / 12.0


def numpy_version(z: Any, x: Any) -> Any:
    return z @ x


def c_version(lib: Any, z: Any, x: Any) -> Any:
    result = np.empty(())
    lib.livermore03(result, z, x, len(z))
    return result[()]

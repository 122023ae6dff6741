"""A histogram of 256 bins. Size: elements."""

from __future__ import annotations

from typing import Any

import numpy as np

SIZES = {"small": 1_000, "cached": 100_000, "large": 20_000_000}
BINS = 256


def inputs(n: int) -> tuple[Any, ...]:
    return (np.arange(n) * 2654435761 // 4096 % BINS).astype(np.int32), BINS


def numpy_version(x: Any, bins: int) -> Any:
    return np.bincount(x, minlength=bins).astype(np.int32)


def c_version(lib: Any, x: Any, bins: int) -> Any:
    h = np.empty(bins, np.int32)
    lib.histogram(h, x, len(x), bins)
    return h

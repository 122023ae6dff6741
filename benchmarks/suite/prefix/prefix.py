"""Sums of all prefixes of a vector. Size: elements."""

from __future__ import annotations

from typing import Any

import numpy as np

SIZES = {"small": 1_000, "cached": 60_000, "large": 10_000_000}


def inputs(n: int) -> tuple[Any, ...]:
    return (0.5 + np.arange(n) % 17,)


def numpy_version(x: Any) -> Any:
    return np.cumsum(x)


def c_version(lib: Any, x: Any) -> Any:
    s = np.empty_like(x)
    lib.prefix(s, x, len(x))
    return s

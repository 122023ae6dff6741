"""The inner product of two vectors. Size: elements."""

from __future__ import annotations

from typing import Any

import numpy as np

SIZES = {"small": 1_000, "cached": 60_000, "large": 10_000_000}


def inputs(n: int) -> tuple[Any, ...]:
    i = np.arange(n)
    return 0.5 + i % 17, 1.25 - i % 13


def numpy_version(a: Any, b: Any) -> Any:
    return a @ b


def c_version(lib: Any, a: Any, b: Any) -> Any:
    result = np.empty(())
    lib.dot(result, a, b, len(a))
    return result[()]

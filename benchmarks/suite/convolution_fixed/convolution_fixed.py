"""A 3x3 convolution with weights that stand in the program; the border is left out. Size: extent of each axis."""

from __future__ import annotations

from typing import Any

import numpy as np

SIZES = {"small": 20, "cached": 256, "large": 3000}


def inputs(n: int) -> tuple[Any, ...]:
    return ((np.arange(n * n) * 7919 % 1000 / 1000.0).reshape(n, n),)


def numpy_version(x: Any) -> Any:
    rows = x[:-2] + 2.0 * x[1:-1] + x[2:]
    return (rows[:, :-2] + 2.0 * rows[:, 1:-1] + rows[:, 2:]) / 16.0


def c_version(lib: Any, x: Any) -> Any:
    n, m = x.shape
    out = np.empty((n - 2, m - 2))
    lib.convolution_fixed(out, x, n, m)
    return out

"""A convolution with weights that are an argument, here 3x3; the border is left out. Size: extent of each axis of the
picture."""

from __future__ import annotations

from typing import Any

import numpy as np

SIZES = {"small": 16, "cached": 256, "large": 3000}


def inputs(n: int) -> tuple[Any, ...]:
    x = (np.arange(n * n) * 7919 % 1000 / 1000.0).reshape(n, n)
    return x, np.arange(-4.0, 5.0).reshape(3, 3)


def numpy_version(x: Any, w: Any) -> Any:
    (n, m), (p, q) = x.shape, w.shape
    out = np.zeros((n - p + 1, m - q + 1))
    for a in range(p):
        for b in range(q):
            out += w[a, b] * x[a : a + n - p + 1, b : b + m - q + 1]
    return out


def c_version(lib: Any, x: Any, w: Any) -> Any:
    (n, m), (p, q) = x.shape, w.shape
    out = np.empty((n - p + 1, m - q + 1))
    lib.convolution_variable(out, x, w, n, m, p, q)
    return out

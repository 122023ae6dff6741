"""The Mandelbrot set. Size: extent of each axis of the picture."""

from __future__ import annotations

from typing import Any

import numpy as np

SIZES = {"small": 20, "cached": 150, "large": 1000}
LIMIT = 50
MAY_DIFFER = 1e-3


def inputs(n: int) -> tuple[Any, ...]:
    return n, LIMIT


def numpy_version(n: int, limit: int) -> Any:
    d = 2.5 / n
    x = np.tile(np.arange(n) * d - 2.0, n)
    y = np.repeat(np.arange(n) * d - 1.25, n)
    steps = np.full(n * n, limit, np.int32)
    inside = np.arange(n * n)
    re, im = np.zeros(n * n), np.zeros(n * n)
    for k in range(limit):
        re, im = re * re - im * im + x, 2.0 * re * im + y
        stays = re * re + im * im <= 4.0
        steps[inside[~stays]] = k + 1
        inside, re, im, x, y = inside[stays], re[stays], im[stays], x[stays], y[stays]
    return steps.reshape(n, n)


def c_version(lib: Any, n: int, limit: int) -> Any:
    out = np.empty((n, n), np.int32)
    lib.mandelbrot(out, n, limit)
    return out

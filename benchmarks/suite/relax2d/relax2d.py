"""Five-point relaxation with wrap-around in two dimensions. Size: extent of each axis."""

from __future__ import annotations

from typing import Any

import numpy as np

SIZES = {"small": 12, "cached": 256, "large": 2048}
STEPS = 10


def inputs(n: int) -> tuple[Any, ...]:
    i = np.arange(n * n)
    return ((i * 7919) % 1000 / 1000.0).reshape(n, n), STEPS


def numpy_version(u: Any, steps: int) -> Any:
    for _ in range(steps):
        u = 0.5 * u + 0.125 * (np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1))
    return u


def c_version(lib: Any, u: Any, steps: int) -> Any:
    v, w = np.empty_like(u), np.empty_like(u)
    lib.relax2d(v, w, u, steps, *u.shape)
    return v if steps % 2 else w

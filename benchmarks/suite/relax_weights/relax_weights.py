"""Relaxation with nine weights and wrap-around, in SaC by index vectors and `mod`, for any rank. Size: extent of each
axis."""

from __future__ import annotations

from typing import Any

import numpy as np

SIZES = {"small": 12, "cached": 256, "large": 2048}
STEPS = 10


def inputs(n: int) -> tuple[Any, ...]:
    i = np.arange(n * n)
    return ((i * 7919) % 1000 / 1000.0).reshape(n, n), np.arange(1.0, 10.0).reshape(3, 3) / 45.0, STEPS


def numpy_version(u: Any, weights: Any, steps: int) -> Any:
    for _ in range(steps):
        u = sum(weights[a, b] * np.roll(u, (1 - a, 1 - b), (0, 1)) for a in range(3) for b in range(3))
    return u


def c_version(lib: Any, u: Any, weights: Any, steps: int) -> Any:
    v, w = np.empty_like(u), np.empty_like(u)
    lib.relax_weights(v, w, u, weights, steps, *u.shape)
    return v if steps % 2 else w

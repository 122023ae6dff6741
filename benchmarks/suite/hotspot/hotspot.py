"""How hot a chip gets, with clamped borders, ten steps. Size: extent of each axis."""

from __future__ import annotations

from typing import Any

import numpy as np

SIZES = {"small": 16, "cached": 120, "large": 1500}
STEPS = 10


def inputs(n: int) -> tuple[Any, ...]:
    i = np.arange(n * n)
    return 80.0 + (i * 7919 % 1000 / 100.0).reshape(n, n), (i * 104729 % 100 / 200.0).reshape(n, n), STEPS


def numpy_version(t: Any, watts: Any, steps: int) -> Any:
    for _ in range(steps):
        p = np.pad(t, 1, mode="edge")
        across = 0.12 * (p[1:-1, :-2] + p[1:-1, 2:] - 2.0 * t)
        along = 0.1 * (p[:-2, 1:-1] + p[2:, 1:-1] - 2.0 * t)
        t = t + watts + across + along + 0.004 * (80.0 - t)
    return t


def c_version(lib: Any, t: Any, watts: Any, steps: int) -> Any:
    v, w = np.empty_like(t), np.empty_like(t)
    lib.hotspot(v, w, t, watts, steps, *t.shape)
    return v if steps % 2 else w

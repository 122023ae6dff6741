"""27-point relaxation with wrap-around in three dimensions. Size: extent of each axis."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

SIZES = {"small": 5, "cached": 40, "large": 160}
STEPS = 4


def inputs(n: int) -> tuple[Any, ...]:
    u = (np.arange(n**3) * 7919 % 1000 / 1000.0).reshape(n, n, n)
    offsets = np.abs(np.indices((3, 3, 3)) - 1).sum(axis=0)
    return u, np.array([0.5, 0.05, 0.01, 0.01])[offsets], STEPS


def numpy_version(u: Any, w: Any, steps: int) -> Any:
    for _ in range(steps):
        v = np.zeros_like(u)
        for o in product(range(3), repeat=3):
            v += w[o] * np.roll(u, [1 - x for x in o], (0, 1, 2))
        u = v
    return u


def c_version(lib: Any, u: Any, w: Any, steps: int) -> Any:
    v, t = np.empty_like(u), np.empty_like(u)
    lib.relax3d(v, t, u, w, steps, *u.shape)
    return v if steps % 2 else t

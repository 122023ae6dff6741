"""A fluid around obstacles: lattice Boltzmann on nine velocities, five steps. Size: extent of each axis."""

from __future__ import annotations

from typing import Any

import numpy as np

SIZES = {"small": 12, "cached": 48, "large": 600}
STEPS = 5
TAU, FORCE = 0.9, 1e-3
DIRECTIONS = np.array([[0, 0], [0, 1], [1, 0], [0, -1], [-1, 0], [1, 1], [1, -1], [-1, -1], [-1, 1]])
WEIGHTS = np.array([16, 4, 4, 4, 4, 1, 1, 1, 1]) / 36.0
OPPOSITE = [0, 3, 4, 1, 2, 7, 8, 5, 6]


def inputs(n: int) -> tuple[Any, ...]:
    i, j = np.indices((n, n))
    ripples = 1.0 + 0.01 * ((7 * i + 3 * j) % 11)
    wall = (i == 0) | (i == n - 1) | ((i - n // 2) ** 2 + (j - n // 3) ** 2 < n * n // 40)
    return WEIGHTS[:, None, None] * ripples, wall, STEPS


def numpy_version(f: Any, wall: Any, steps: int) -> Any:
    weights, (down, right) = WEIGHTS[:, None, None], DIRECTIONS.T[:, :, None, None]
    for _ in range(steps):
        rho = f.sum(0)
        u, v = (down * f).sum(0), (right * f).sum(0)
        along = (down * u + right * v) / rho
        rest = weights * rho * (1.0 + 3.0 * along + 4.5 * along**2 - 1.5 * (u**2 + v**2) / rho**2)
        moved = f + (rest - f) / TAU + 3.0 * FORCE * weights * right
        after = np.where(wall, f[OPPOSITE], moved)
        f = np.stack([np.roll(plane, d, (0, 1)) for plane, d in zip(after, DIRECTIONS, strict=True)])
    return f


def c_version(lib: Any, f: Any, wall: Any, steps: int) -> Any:
    v, w = np.empty_like(f), np.empty_like(f)
    lib.lattice_boltzmann(v, w, f, wall, steps, *wall.shape)
    return v if steps % 2 else w

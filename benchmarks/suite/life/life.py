"""The Game of Life on a torus. Size: extent of each axis."""

from __future__ import annotations

from typing import Any

import numpy as np

SIZES = {"small": 12, "cached": 256, "large": 2048}
GENERATIONS = 10


def inputs(n: int) -> tuple[Any, ...]:
    i = np.arange(n * n)
    return ((i * i % 7919) % 3 == 0).astype(np.int32).reshape(n, n), GENERATIONS


def numpy_version(world: Any, generations: int) -> Any:
    for _ in range(generations):
        rows = np.roll(world, 1, 0) + world + np.roll(world, -1, 0)
        around = np.roll(rows, 1, 1) + rows + np.roll(rows, -1, 1) - world
        world = ((around == 3) | ((world == 1) & (around == 2))).astype(np.int32)
    return world


def c_version(lib: Any, world: Any, generations: int) -> Any:
    v, w = np.empty_like(world), np.empty_like(world)
    lib.life(v, w, world, generations, *world.shape)
    return v if generations % 2 else w

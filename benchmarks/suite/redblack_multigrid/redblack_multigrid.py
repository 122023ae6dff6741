"""V-cycles of a red-black multigrid for Poisson's equation on a square. Size: points along each axis, 2^k + 1."""

from __future__ import annotations

from typing import Any

import numpy as np

SIZES = {"small": 9, "cached": 257, "large": 1025}
CYCLES = 3


def inputs(n: int) -> tuple[Any, ...]:
    i = np.arange(n * n)
    return ((i * 7919) % 1000 / 1000.0).reshape(n, n), CYCLES


def _smooth(u: Any, f: Any, h2: float, sweeps: int) -> None:
    n = len(u)
    for _ in range(sweeps):
        for starts in (((1, 1), (2, 2)), ((1, 2), (2, 1))):
            for i, j in starts:
                rows, columns = slice(i, n - 1, 2), slice(j, n - 1, 2)
                up, down, left, right = (
                    slice(i - 1, n - 2, 2),
                    slice(i + 1, n, 2),
                    slice(j - 1, n - 2, 2),
                    slice(j + 1, n, 2),
                )
                u[rows, columns] = 0.25 * (
                    u[up, columns] + u[down, columns] + u[rows, left] + u[rows, right] + h2 * f[rows, columns]
                )


def _cycle(u: Any, f: Any, h2: float) -> None:
    n = len(u)
    if n == 3:
        _smooth(u, f, h2, 1)
        return
    _smooth(u, f, h2, 2)
    r = np.zeros_like(u)
    r[1:-1, 1:-1] = f[1:-1, 1:-1] - (4.0 * u[1:-1, 1:-1] - u[:-2, 1:-1] - u[2:, 1:-1] - u[1:-1, :-2] - u[1:-1, 2:]) / h2
    g = np.zeros((n // 2 + 1, n // 2 + 1))
    rows = 0.25 * r[1:-2:2] + 0.5 * r[2:-1:2] + 0.25 * r[3::2]
    g[1:-1, 1:-1] = 0.25 * rows[:, 1:-2:2] + 0.5 * rows[:, 2:-1:2] + 0.25 * rows[:, 3::2]
    e = np.zeros_like(g)
    _cycle(e, g, 4.0 * h2)
    wide = np.zeros((len(e), n))
    wide[:, ::2], wide[:, 1::2] = e, 0.5 * (e[:, :-1] + e[:, 1:])
    u[::2] += wide
    u[1::2] += 0.5 * (wide[:-1] + wide[1:])
    _smooth(u, f, h2, 2)


def numpy_version(f: Any, cycles: int) -> Any:
    u = np.zeros_like(f)
    for _ in range(cycles):
        _cycle(u, f, 1.0 / (len(f) - 1) ** 2)
    return u


def c_version(lib: Any, f: Any, cycles: int) -> Any:
    u = np.empty_like(f)
    lib.multigrid(u, f, cycles, len(f))
    return u

"""A tridiagonal system of equations. Size: unknowns."""

from __future__ import annotations

from typing import Any

import numpy as np

SIZES = {"small": 500, "cached": 20_000, "large": 5_000_000}


def inputs(n: int) -> tuple[Any, ...]:
    i = np.arange(n)
    return 1.0 + i % 3 / 4.0, 4.0 + i % 5 / 4.0, 1.0 + i % 7 / 8.0, i % 17 - 8.0


def numpy_version(below: Any, diagonal: Any, above: Any, right: Any) -> Any:
    """Cyclic reduction: each round eliminates the neighbours at twice the distance, whole arrays at a time."""
    a, b, c, d = below.copy(), diagonal, above.copy(), right
    a[0] = c[-1] = 0.0
    n, distance = len(b), 1
    while distance < n:
        down, up = (_shifted(v, distance) for v in (1, -1))
        f, g = -a / down(b, 1.0), -c / up(b, 1.0)
        b, d = b + f * down(c, 0.0) + g * up(a, 0.0), d + f * down(d, 0.0) + g * up(d, 0.0)
        a, c = f * down(a, 0.0), g * up(c, 0.0)
        distance *= 2
    return d / b


def _shifted(direction: int, distance: int) -> Any:
    """Moves a vector towards its end (direction 1) or its start, with a value for what comes in."""

    def move(v: Any, fill: float) -> Any:
        result = np.full_like(v, fill)
        if direction > 0:
            result[distance:] = v[:-distance]
        else:
            result[:-distance] = v[distance:]
        return result

    return move


def c_version(lib: Any, below: Any, diagonal: Any, above: Any, right: Any) -> Any:
    x = np.empty_like(right)
    lib.tridiagonal(x, below, diagonal, above, right, len(x))
    return x

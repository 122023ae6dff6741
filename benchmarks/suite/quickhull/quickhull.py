"""The convex hull of points in a disc, by Quickhull in place: the corners in order; one thread, as for quicksort. Size:
points."""

from __future__ import annotations

from typing import Any

import numpy as np

SIZES = {"small": 300, "cached": 50_000, "large": 2_000_000}


def inputs(n: int) -> tuple[Any, ...]:
    k = np.arange(1, n + 1)
    radius, turn = np.sqrt(k * 0.7548776662466927 % 1.0), 2 * np.pi * (k * 0.5698402909980532 % 1.0)
    return (np.stack([radius * np.cos(turn), radius * np.sin(turn)], axis=1),)


def _area(a: Any, b: Any, p: Any) -> Any:
    return (b[0] - a[0]) * (p[:, 1] - a[1]) - (b[1] - a[1]) * (p[:, 0] - a[0])


def _between(p: Any, heights: Any, a: Any, b: Any) -> list[Any]:
    if not len(p):
        return []
    far = heights.argmax()
    c, rest = p[far], np.delete(p, far, axis=0)
    first, second = _area(a, c, rest), _area(c, b, rest)
    return [
        *_between(rest[first > 0], first[first > 0], a, c),
        c,
        *_between(rest[second > 0], second[second > 0], c, b),
    ]


def numpy_version(p: Any) -> Any:
    a, b = p[p[:, 0].argmin()], p[p[:, 0].argmax()]
    heights = _area(a, b, p)
    above, below = heights > 0, heights < 0
    return np.array([a, *_between(p[above], heights[above], a, b), b, *_between(p[below], -heights[below], b, a)])


def c_version(lib: Any, p: Any) -> Any:
    corners, count = np.empty_like(p), np.empty(1, np.int64)
    lib.quickhull(corners, count, p, len(p))
    return corners[: count[0]].copy()

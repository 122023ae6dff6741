"""The table of Needleman and Wunsch's alignment, by blocks of 64. Size: extent of each axis, 64 times some plus 1."""

from __future__ import annotations

from typing import Any

import numpy as np

SIZES = {"small": 129, "cached": 321, "large": 2049}
GAP = 3


def inputs(n: int) -> tuple[Any, ...]:
    i = np.arange(n)
    a, b = i * 7919 % 1009 % 4, i * 104729 % 1013 % 4
    return (np.where(a[:, None] == b, 5, np.where((a[:, None] + b) % 2 == 0, -1, -4)).astype(np.int32),)


def numpy_version(s: Any) -> Any:
    n = len(s)
    t = np.zeros((n, n), np.int32)
    t[0] = t[:, 0] = -GAP * np.arange(n)
    flat, alike = t.ravel(), s.ravel()
    for d in range(2, 2 * n - 1):  # the elements of a diagonal do not need one another
        i = np.arange(max(1, d - n + 1), min(d, n))
        at = i * n + d - i
        flat[at] = np.maximum(flat[at - n - 1] + alike[at], np.maximum(flat[at - n], flat[at - 1]) - GAP)
    return t


def c_version(lib: Any, s: Any) -> Any:
    t = np.empty_like(s)
    lib.needleman_wunsch(t, s, len(s))
    return t

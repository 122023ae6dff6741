"""The records that are nearest to a place, out of many, in order. Size: records."""

from __future__ import annotations

from typing import Any

import numpy as np

SIZES = {"small": 200, "cached": 30_000, "large": 4_000_000}
NEAREST = 10


def inputs(n: int) -> tuple[Any, ...]:
    i = np.arange(2 * n)
    return (i * 7919 % 36007 / 100.0 - 180.0 + i / (2.0 * n)).reshape(n, 2), np.array([30.0, 90.0]), NEAREST


def numpy_version(records: Any, place: Any, k: int) -> Any:
    distance = np.sqrt(((records - place) ** 2).sum(1))
    found = np.argpartition(distance, k)[:k]
    found = found[np.argsort(distance[found])]
    return found.astype(np.int32), distance[found]


def c_version(lib: Any, records: Any, place: Any, k: int) -> Any:
    found, far = np.empty(k, np.int32), np.empty(k)
    lib.neighbours(found, far, records, place, len(records), k)
    return found, far

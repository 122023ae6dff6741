"""Packed arrays taken apart, for whoever shows them.

In: a packed type and a value's components. Out: its sizes in words, and its rows with their outer positions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from sacpy.interp.values import Value
from sacpy.lang.elaborate.extents import SIZES
from sacpy.lang.elaborate.usertypes import BaseType
from sacpy.withloop import piecewise as pw
from sacpy.withloop.sums import Extents, position

Array = np.ndarray[Any, Any]


def sizes(type: BaseType, values: Sequence[Value]) -> dict[str, int]:
    """The sizes of a value, `p0` first."""
    return {c.path: int(v) for c, v in zip(type.components, values) if c.path[0] == "p"}


def head(type: BaseType, values: Sequence[Value]) -> str:
    """The type with what its letters stand for: `int[i<n, i + 1], n = 4`."""
    return ", ".join([type.shown, *(f"{SIZES[k]} = {n}" for k, n in enumerate(sizes(type, values).values()))])


def rows(type: BaseType, values: Sequence[Value]) -> Iterator[tuple[tuple[int, ...], Array]]:
    """The rows in order, each with its position on the axes before the last."""
    assert type.extents is not None, "a packed type has extents"
    elements: Any = values[0]
    start = 0
    for index, length in _lengths(type.extents, sizes(type, values), ()):
        yield index, elements[start : start + length]
        start += length


def _lengths(extents: Extents, at: Mapping[str, int], index: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], int]]:
    count = pw.value_at(extents.axes[len(index)], at)
    if len(index) == extents.rank - 1:
        yield index, count
        return
    for i in range(count):
        yield from _lengths(extents, {**at, position(len(index)): i}, (*index, i))


__all__ = ["head", "rows", "sizes"]

"""Packed arrays taken apart, for whoever shows them.

In: a packed type and a value's components. Out: its sizes in words, and its rows with their outer positions. A type may
also come as text, as natives have it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from sacpy.interp.values import Value
from sacpy.lang.elaborate.extents import FREE, SIZES, Packed, written
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
    for index, length in row_lengths(type.extents, sizes(type, values)):
        yield index, elements[start : start + length]
        start += length


def parsed(text: str) -> Packed | None:
    """A packed type as SaC writes it; None if it is none. Raises `SacError` where it is wrong."""
    from sacpy.lang import ast
    from sacpy.lang.elaborate.usertypes import BUILTINS
    from sacpy.lang.parser import parse_expression
    from sacpy.lang.source import Source

    cast = parse_expression(Source("<type>", f"({text}) x")).expr
    if not isinstance(cast, ast.Cast) or cast.type.base.name not in BUILTINS:
        return None
    if not any(isinstance(f, ast.PositionExtent) for f in cast.type.pattern or ()):
        return None
    return written(cast.type, BUILTINS[cast.type.base.name])


def lengths_of(text: str, known: Sequence[int]) -> tuple[int, Iterator[tuple[tuple[int, ...], int]]]:
    """The rank of an array, and the positions and lengths of its rows. Its type is given as messages show it, with what
    the letters there stand for."""
    made = parsed(text)
    assert made is not None and made.type.extents is not None, "a packed type is shown as it is written"
    values = {FREE + letter: n for letter, n in zip(SIZES, known)}
    extents = made.type.extents
    return extents.rank, row_lengths(extents, {f"p{k}": pw.value_at(s, values) for k, s in enumerate(made.sizes)}, ())


def rows_of(type: BaseType, sizes: Mapping[str, int]) -> list[int] | None:
    """The lengths of all rows; None where an extent is negative somewhere."""
    assert type.extents is not None, "a packed type has extents"
    return _all_rows(type.extents, sizes, 0)


def _all_rows(extents: Extents, at: Mapping[str, int], axis: int) -> list[int] | None:
    count = pw.value_at(extents.axes[axis], at)
    if count < 0:
        return None
    if axis == extents.rank - 1:
        return [count]
    found: list[int] = []
    for i in range(count):
        inner = _all_rows(extents, {**at, position(axis): i}, axis + 1)
        if inner is None:
            return None
        found += inner
    return found


def table(type: BaseType, sizes: Mapping[str, int]) -> tuple[Array, ...]:
    """The offsets of the rows, where the type has a table of them."""
    if type.components[-1].path != "rows":
        return ()
    assert type.extents is not None, "a packed type has extents"
    lengths = [length for _, length in row_lengths(type.extents, sizes)]
    return (np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))[:-1].astype(np.int32),)


def row_lengths(
    extents: Extents, at: Mapping[str, int], index: tuple[int, ...] = ()
) -> Iterator[tuple[tuple[int, ...], int]]:
    """The positions of the rows behind an index, in order, and how many elements each has. `at`: the values of sizes,
    and of the positions in the index."""
    count = pw.value_at(extents.axes[len(index)], at)
    if len(index) == extents.rank - 1:
        yield index, count
        return
    for i in range(count):
        yield from row_lengths(extents, {**at, position(len(index)): i}, (*index, i))


__all__ = ["head", "lengths_of", "parsed", "row_lengths", "rows", "rows_of", "sizes", "table"]

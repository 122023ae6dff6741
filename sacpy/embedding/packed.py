"""Packed arrays as Python has them: the elements as one NumPy vector, and the extents.

In: a type as SaC writes it, `double[i<n, i+1]`, with values for its names, and elements; or a dense matrix of which the
type says what counts. Out: a `Packed`, which functions of SaC take and give.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sacpy.embedding.kinds import Handle
from sacpy.embedding.runner import plain_error
from sacpy.interp.packed_rows import parsed, row_lengths, table
from sacpy.interp.values import DTYPES
from sacpy.lang.elaborate.extents import FREE
from sacpy.withloop import piecewise as pw
from sacpy.withloop.sums import Extents, is_never_negative, lowest, position, size

if TYPE_CHECKING:
    from sacpy.lang.elaborate.usertypes import BaseType

Array = np.ndarray[Any, Any]


class Packed(Handle, eq=False):
    """An array whose inner extents depend on outer positions. `data`: the elements, in row-major order."""

    layout: BaseType

    def form(self) -> Hashable:
        """The type, and what the elements and the table of offsets are; the sizes are arguments of the code."""
        return self.type, *[(p.dtype, p.shape, p.strides) for p in self.parts if type(p) is np.ndarray]

    @property
    def data(self) -> Array:
        """All elements, a vector."""
        return cast("Array", np.atleast_1d(cast("Any", self.parts[0])))

    @property
    def sizes(self) -> dict[str, int]:
        """What the sizes of the type are: `p0` is the first extent."""
        names = (c.path for c in self.layout.components)
        return {n: int(cast("Any", v)) for n, v in zip(names, self.parts) if n[0] == "p"}

    def extent(self, *index: int) -> int:
        """The extent of the axis behind some positions."""
        assert self.layout.extents is not None
        at = {**self.sizes, **{position(k): i for k, i in enumerate(index)}}
        return pw.value_at(self.layout.extents.axes[len(index)], at)

    @property
    def extents(self) -> Any:
        """The extents of the innermost axis, at every position of the axes before it: a vector for two axes, nested
        lists for more."""
        assert self.layout.extents is not None
        return self._extents((), self.layout.extents.rank)

    def _extents(self, index: tuple[int, ...], rank: int) -> Any:
        if len(index) == rank - 1:
            return self.extent(*index)
        found = [self._extents((*index, i), rank) for i in range(self.extent(*index))]
        return np.array(found, np.int64) if len(index) == rank - 2 else found

    def __len__(self) -> int:
        return self.extent()

    def rows(self) -> Iterator[Array]:
        """The rows of an array of two axes, as views of the elements."""
        start = 0
        for length in self.extents:
            yield self.data[start : start + length]
            start += length

    def dense(self, fill: Any = 0) -> Array:
        """A regular array, as large as the largest extents, with `fill` where there is no element."""
        assert self.layout.extents is not None
        rows = [(at, n) for at, n in row_lengths(self.layout.extents, self.sizes) if n]
        ends = [(*at, n - 1) for at, n in rows]
        shape = [len(self), *(max((i[k] for i in ends), default=-1) + 1 for k in range(1, self.layout.extents.rank))]
        found = np.full(shape, fill, self.data.dtype)
        begin = 0
        for at, n in rows:
            found[at][:n] = self.data[begin : begin + n]
            begin += n
        return found

    def __repr__(self) -> str:
        rows = f", {len(self)} rows" if self.layout.extents is not None else ""
        return f"<SaC {self.type}{rows}, {len(self.data)} elements>"


def packed(type: str, data: Any, **names: int) -> Packed:
    """A packed array of the given type, `packed("double[i<n, i+1]", v, n=3)`, over the elements of `data`. Without a
    copy, where they are a contiguous array of that type already. Raises `SacError` (E0713) where the type is none, a
    name has no value, or the number of elements is another one; and with the message that a program with that type
    would get."""
    layout, sizes = _read(type, names)
    assert layout.element is not None and layout.extents is not None
    elements = np.ascontiguousarray(data, DTYPES[layout.element.key]).reshape(-1)
    values = {f"p{k}": n for k, n in enumerate(sizes)}
    wanted = size(layout.extents, values)
    if elements.size != wanted:
        raise plain_error(
            "E0713",
            f"{layout.key} with {_told(names)} has {wanted} elements, and here are {elements.size}",
            "give as many elements as the array has",
        )
    return Packed(layout.key, (elements, *sizes, *table(layout, values)), layout)


def packed_from_dense(type: str, matrix: Any, **names: int) -> Packed:
    """The elements of a regular array that a packed one has: `packed_from_dense("double[i<n, i+1]", a, n=len(a))` is
    the lower triangle. Raises `SacError` (E0713) as `packed` does."""
    layout, sizes = _read(type, names)
    assert layout.extents is not None
    values = {f"p{k}": n for k, n in enumerate(sizes)}
    found = [(at, n) for at, n in row_lengths(layout.extents, values) if n]
    dense = np.asarray(matrix)
    if dense.ndim != layout.extents.rank:
        raise plain_error(
            "E0713", f"{layout.key} has {layout.extents.rank} axes, and this array {dense.ndim}", "give one of each"
        )
    if any(k >= extent for at, n in found for k, extent in zip((*at, n - 1), dense.shape)):
        raise plain_error(
            "E0713", f"{layout.key} with {_told(names)} reaches beyond the shape {list(dense.shape)}", "give more"
        )
    return packed(type, np.concatenate([dense[at][:n] for at, n in found]) if found else np.zeros(0), **names)


def _told(names: dict[str, int]) -> str:
    return ", ".join(f"{n} = {v}" for n, v in names.items()) or "no names"


def _read(type: str, names: dict[str, int]) -> tuple[BaseType, list[int]]:
    """The type, and what its sizes are."""
    made = parsed(type)
    if made is None:
        raise plain_error("E0713", f"{type} is no type of a packed array", 'write one as in SaC: "double[i<n, i+1]"')
    values = {FREE + n: int(v) for n, v in names.items()}
    missing = [n for s in made.sizes for n in pw.names(s) if n not in values]
    if missing:
        name = missing[0].removeprefix(FREE)
        raise plain_error("E0713", f"nothing says what {name} is in {type}", f"give it a value: {name}=..")
    sizes = [pw.value_at(s, values) for s in made.sizes]
    if sizes[0] < 0:
        raise plain_error("E0713", f"the first extent of {type} is {sizes[0]}", "make it at least 0")
    assert made.type.extents is not None
    _check(type, made.type.extents, {f"p{k}": n for k, n in enumerate(sizes)}, ())
    return made.type, sizes


def _check(type: str, extents: Extents, at: dict[str, int], index: tuple[int, ...]) -> None:
    """Refuses extents that are negative somewhere. Where the text tells that none is, nothing is looked at."""
    least = [lowest(extents, axis) for axis in range(1, extents.rank)]
    if all(e is not None and is_never_negative(e) for e in least):
        return
    for i in range(pw.value_at(extents.axes[len(index)], at)):
        below = {**at, position(len(index)): i}
        if pw.value_at(extents.axes[len(index) + 1], below) < 0:
            raise plain_error("E0713", f"{type} has a negative extent at {[*index, i]}", "cut it off at 0: max(0, ..)")
        if len(index) + 2 < extents.rank:
            _check(type, extents, below, (*index, i))


__all__ = ["Packed", "packed", "packed_from_dense"]

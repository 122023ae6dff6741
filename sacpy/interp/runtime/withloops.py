"""What generated with-loops call: index sets, overlapping partitions, and results whose cells are arrays.

In: bounds and frames as tuples of ints. Out: ranges to loop over, masks, and `Cells`, a result under construction. A
frame is the part of a result's shape that the index runs over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, product, repeat
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from sacpy.interp import memory
from sacpy.interp.arithmetic import limits
from sacpy.interp.errors import Fault
from sacpy.interp.runtime.calls import known_shape
from sacpy.interp.runtime.elementwise import brackets
from sacpy.interp.runtime.structure import extents, filled, to_index
from sacpy.interp.values import Value, dtype_of, shape_of, zero_of
from sacpy.lang.core import Atom, Block
from sacpy.lang.lattice import full_extents
from sacpy.lang.types import SCALAR, Type, known

if TYPE_CHECKING:
    from sacpy.lang.infer import Inferrer

ndarray = np.ndarray
Index = tuple[int, ...]
SMALLEST, LARGEST = limits("int")
FEW = 1 << 16  # indices of axes that are kept in memory


def bound(value: Any, length: int, what: str) -> Sequence[int]:
    """A bound, step or width as ints, one for each axis; a scalar spreads."""
    if type(value) is ndarray or type(value) is tuple:
        found = to_index(value)
        if len(found) != length:
            raise Fault(
                "E0610",
                f"the {what} {brackets(found)} has {len(found)} components, but the index has {length}",
                help="bounds and index vector must have the same length",
            )
        return found
    return (value,) * length


def axis(low: int, high: int, step: int, width: int) -> Sequence[int]:
    """The indices of one axis: low <= i < high where (i - low) mod step < width."""
    if step < 1 or width < 1:
        raise Fault(
            "E0611",
            f"the {'step' if step < 1 else 'width'} of a generator is {step if step < 1 else width}",
            help="a step or width must be at least 1",
        )
    if width == 1:
        return range(low, high, step)
    if width >= step:
        return range(low, high)
    return [i for start in range(low, high, step) for i in range(start, min(start + width, high))]


def check_box(low: Index, high: Index, frame: Index) -> None:
    """Raises if a partition that is not empty leaves the result."""
    if all(a < b for a, b in zip(low, high)) and any(a < 0 or b > n for a, b, n in zip(low, high, frame)):
        axis = next(k for k, (a, b, n) in enumerate(zip(low, high, frame)) if a < 0 or b > n)
        note = f"axis {axis}: the indices {low[axis]} to {high[axis] - 1} do not fit the extent {frame[axis]}"
        raise Fault(
            "E0612",
            f"a partition from {brackets(low)} to below {brackets(high)} leaves the result, whose index space is "
            f"{brackets(frame)}",
            notes=(note,),
            help="keep the bounds within the result's shape",
        )


def count(axes: Sequence[Sequence[int]]) -> int:
    """The number of indices of an index set."""
    return prod(map(len, axes))


def overlapping(boxes: Sequence[tuple[Index, Index]], frame: Index) -> bytearray | None:
    """A mask of covered cells where some partitions share a cell of their boxes."""
    for i, (low, high) in enumerate(boxes):
        for other_low, other_high in boxes[:i]:
            if all(max(a, c) < min(b, d) for a, b, c, d in zip(low, high, other_low, other_high)):
                memory.check(frame, 1)
                return bytearray(prod(frame))
    return None


def indices(*axes: Sequence[int]) -> Iterator[Index]:
    """The index vectors of a box, in row-major order. (`itertools.product` makes tuples of all axes first, however long
    they are.)"""
    if not all(axes):
        return iter(())
    if sum(map(len, axes)) <= FEW:
        return product(*axes)
    return _indices(axes)


def _indices(axes: Sequence[Sequence[int]]) -> Iterator[Index]:
    *outer, last = axes
    for index in indices(*outer):
        for i in last:
            yield (*index, i)


def offset(index: Index, frame: Index) -> int:
    """The position of an index in row-major order."""
    at = 0
    for i, n in zip(index, frame):
        at = at * n + i
    return at


def axes(
    lower: Any, upper: Any, step: Any, width: Any, frame: Index | None
) -> tuple[Index, Index, list[Sequence[int]]]:
    """Bounds and axes of a partition whose index length is known only now. Bounds are (value, shift) or None for a dot
    bound with its shift in place."""
    lengths = [len(to_index(b[0])) for b in (lower, upper, step, width) if type(b[0]) is ndarray or type(b[0]) is tuple]
    length = lengths[0] if lengths else len(frame) if frame is not None else 1
    low = [b + lower[1] for b in bound(0 if lower[0] is None else lower[0], length, "lower bound")]
    high = [
        b + upper[1] for b in bound((frame or ())[:length] if upper[0] is None else upper[0], length, "upper bound")
    ]
    steps = bound(1 if step[0] is None else step[0], length, "step")
    widths = bound(1 if width[0] is None else width[0], length, "width")
    return tuple(low), tuple(high), [axis(*a) for a in zip(low, high, steps, widths)]


def new(frame: Index, base: str, default: Value) -> Any:
    """The result of a genarray of scalars, all cells at their default."""
    if default is None or (default == 0 and base not in ("float", "double")):
        zero = zero_of(base)
        if zero is None or base not in _ZEROED:
            return filled(frame, zero, base)
        dtype = dtype_of(base)
        memory.check(frame, dtype.itemsize)
        return np.zeros(frame, dtype)
    return filled(frame, default, base)


_ZEROED = frozenset(
    [
        "byte",
        "short",
        "int",
        "long",
        "longlong",
        "ubyte",
        "ushort",
        "uint",
        "ulong",
        "ulonglong",
        "float",
        "double",
        "bool",
        "char",
    ]
)


def flat(array: Any) -> Any:
    """Fast access to the elements in row-major order."""
    return array.reshape(-1) if array.dtype == object else memoryview(array.reshape(-1))


# what inference needs to tell the shape of a cell: a body, its value, the names of the index
Recipe: TypeAlias = "tuple[Block, Atom, str, tuple[str, ...]]"


class Cells:
    """A result under construction whose cells may be arrays. The first cell, or the default, tells their shape."""

    def __init__(self, frame: Index, base: str, default: Value, has_default: bool, cell: Index | None) -> None:
        self.frame = frame
        self.base = base
        self.cell: Index | None = None
        self.known = cell
        self.scalar: Value = None
        self.store: Any = None
        self.default = default if has_default else None
        if has_default:
            self._allocate(shape_of(default), default)

    def _allocate(self, cell: Index, default: Value) -> None:
        self.cell = cell
        dtype = dtype_of(self.base)
        memory.check((*self.frame, *cell), dtype.itemsize)
        self.store = np.empty((prod(self.frame), *cell), dtype)
        self.store[...] = zero_of(self.base) if default is None else default

    def put(self, at: int, value: Value) -> None:
        """Sets the cell at a position in row-major order."""
        found = shape_of(value)
        if self.cell is None:
            self._allocate(found, self.default)
        elif found != self.cell:
            raise Fault(
                "E0613",
                f"the cells of a with-loop need one shape, but here is {brackets(found)} after {brackets(self.cell)}",
                help="make all values, and the default, the same shape",
            )
        self.store[at] = value

    def cell_from(
        self, recipe: tuple[tuple[Recipe, ...], dict[str, str]], values: dict[str, Value], inferrer: Inferrer
    ) -> None:
        """Learns the cells' shape from inference over the body, with the values that its free variables have."""
        recipes, bases = recipe
        types = {name: Type(bases[name], known_shape(value)) for name, value in values.items()}
        for body, value, index, scalars in recipes:
            inside = (
                types
                | {index: Type("int", known((len(self.frame),)))}
                | {name: Type("int", SCALAR) for name in scalars}
            )
            (shape,) = inferrer.block_values(body, [value], inside)
            cell = full_extents(shape)
            if cell is not None and not shape.never:
                self.known = cell
                return

    def finish(self) -> Value:
        """The result."""
        if self.cell is None:
            cell = self.known
            if cell is None:
                raise Fault(
                    "E0614",
                    "the index set is empty, and the shape of the cells cannot be told without computing one",
                    help="give genarray a default of the right shape",
                )
            self._allocate(cell, None)
        shape = self.frame + (self.cell or ())
        return self.store.reshape(shape) if shape else self.store.item()


class Updates:
    """The result of a modarray under construction, its cells addressed by the first axes."""

    def __init__(self, array: Value, length: int | None, cell_axes: int) -> None:
        self.array = array
        self.shape = shape_of(array)
        rank = len(self.shape) - cell_axes
        self.length = rank if length is None else length
        if self.length > rank:
            raise Fault(
                "E0610",
                f"the index of this modarray has {self.length} components, but the array of shape "
                f"{brackets(self.shape[:rank])} has {rank} axes",
            )
        self.frame = self.shape[: self.length]
        self.cell = self.shape[self.length :]
        self.store: Any = (
            array.reshape((prod(self.frame), *self.cell)) if self.shape else np.array([array], dtype=object)
        )

    def put(self, at: int, value: Value) -> None:
        """Replaces the cell at a position in row-major order."""
        found = shape_of(value)
        if found != self.cell:
            raise Fault(
                "E0613",
                f"the cells of this modarray have the shape {brackets(self.cell)}, but this value has "
                f"{brackets(found)}",
                help="make all values the shape of the array's cells",
            )
        self.store[at] = value

    def finish(self) -> Value:
        """The result."""
        return self.array if self.shape else self.store[0]


def same(values: tuple[Value, ...], stops: tuple[Value, ...]) -> bool:
    """Whether accumulators equal the stop values of a foldfix."""
    return all(shape_of(a) == shape_of(b) and bool(np.all(a == b)) for a, b in zip(values, stops))


def up_to(start: int, last: int) -> Iterable[int]:
    """The ints up to one, which is among them."""
    counted = range(start, last + 1)
    return counted if last < LARGEST else chain(counted, repeat(last))


def down_to(start: int, last: int) -> Iterable[int]:
    """The ints down to one, which is among them."""
    counted = range(start, last - 1, -1)
    return counted if last > SMALLEST else chain(counted, repeat(last))


HELPERS: dict[str, Any] = {
    "_upto": up_to, "_downto": down_to,
    "_bound": bound, "_axis": axis, "_check_box": check_box, "_overlapping": overlapping, "_offset": offset,
    "_axes": axes, "_new": new, "_flat": flat, "_Cells": Cells, "_Updates": Updates, "_same": same, "_product": indices,
    "_count": count,
    "_extents": extents,
}  # fmt: skip

"""Structural primitives: shape, selection, update, reshaping, concatenation.

Arrays are values: whatever is taken out of an array is a copy, except for `reshape`, whose result may be a view (the
generated code tracks that). Index vectors arrive as tuples of ints where generated code knows the components, else as
arrays. `cell` axes at the end belong to the element.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from sacpy.interp import memory
from sacpy.interp.errors import Fault
from sacpy.interp.runtime.elementwise import brackets, shape_mismatch
from sacpy.interp.values import INT, Value, dtype_of, shape_of

ndarray = np.ndarray
Array = Any
Index = Any
LARGEST = 2**31 - 1  # of extents: what an int can say


def to_index(iv: Index) -> tuple[int, ...]:
    """An index vector, however it arrives, as a tuple of ints."""
    if type(iv) is tuple:
        return iv
    if type(iv) is ndarray:
        if iv.ndim != 1:
            raise Fault("E0606", f"an index must be a vector, but this one has the shape {brackets(iv.shape)}")
        return tuple(iv.tolist())
    return (iv,)


def out_of_range(shape: tuple[int, ...], index: tuple[int, ...], cell: int = 0) -> Fault:
    """The fault of an index that leaves an array; or an index that is too long."""
    outer = shape[: len(shape) - cell]
    if len(index) > len(outer):
        help_ = "select with at most as many indices as the array has axes"
        return Fault(
            "E0606",
            f"the index {brackets(index)} has {len(index)} components, but the array of shape {brackets(outer)} has "
            f"{len(outer)} axes",
            help=help_,
        )
    axis = next((k for k, (i, n) in enumerate(zip(index, outer)) if not 0 <= i < n), 0)
    extent = outer[axis] if outer else 0
    legal = f"legal are 0 to {extent - 1}" if extent else "that axis is empty"
    return Fault(
        "E0601",
        f"index {brackets(index)} is out of range for the shape {brackets(outer)}",
        notes=(f"axis {axis} has extent {extent}, and the index there is {index[axis]}; {legal}",),
        help="test the index, or correct the bounds of the loop it comes from",
    )


def check_index(shape: tuple[int, ...], index: tuple[int, ...], cell: int = 0) -> None:
    """Raises unless the index is legal."""
    if len(index) > len(shape) - cell:
        raise out_of_range(shape, index, cell)
    for i, n in zip(index, shape):
        if not 0 <= i < n:
            raise out_of_range(shape, index, cell)


def bad_index(a: Value, *index: int) -> Value:
    """Called where a fast path has found an index to be wrong."""
    raise out_of_range(shape_of(a), index)


def sel(iv: Index, a: Value, cell: int = 0) -> Value:
    """The element or sub-array at an index."""
    index = to_index(iv)
    if type(a) is not ndarray:
        if index:
            raise out_of_range((), index)
        return a
    check_index(a.shape, index, cell)
    return a.item(index) if len(index) == a.ndim else copied(a[index])


def copied(part: Array) -> Array:
    """A part of an array, by itself."""
    memory.room(part.nbytes)
    return part.copy()


def set_at(a: Array, iv: Index, value: Value, cell: int = 0) -> None:
    """Replaces the element or sub-array at an index, in place."""
    index = to_index(iv)
    check_index(a.shape, index, cell)
    found, wanted = shape_of(value), a.shape[len(index) :]
    if found != wanted:
        raise Fault(
            "E0602",
            f"the sub-array at {brackets(index)} has the shape {brackets(wanted)}, but its replacement has "
            f"{brackets(found)}",
            help="replace it by a value of the same shape",
        )
    a[index] = value


def updated(a: Value, iv: Index, value: Value, cell: int = 0) -> Value:
    """An array with the element or sub-array at an index replaced, in place. A scalar has no index but the empty
    one."""
    if type(a) is ndarray:
        set_at(a, iv, value, cell)
        return a
    check_index((), to_index(iv), cell)
    if shape_of(value):
        raise Fault(
            "E0602",
            f"a scalar cannot be replaced by an array of shape {brackets(shape_of(value))}",
            help="replace it by a scalar",
        )
    return value


def dim(a: Value, cell: int = 0) -> int:
    """The rank."""
    return a.ndim - cell if type(a) is ndarray else 0


def shape(a: Value, cell: int = 0) -> Array:
    """The shape vector."""
    s = shape_of(a)
    return np.array(s[: len(s) - cell], INT)


def extents(shp: Index, what: str = "the shape") -> tuple[int, ...]:
    """A shape vector as a tuple, checked to be one."""
    result = to_index(shp)
    if any(n < 0 for n in result):
        raise Fault("E0607", f"{what} {brackets(result)} has a negative extent", help="extents are 0 or more")
    return result


def reshape(shp: Index, a: Value, cell: int = 0) -> Value:
    """The same elements in another shape; a view of an array."""
    found = shape_of(a)
    wanted = extents(shp) + found[len(found) - cell :]
    if prod(wanted) != prod(found):
        raise Fault(
            "E0608",
            f"cannot reshape {brackets(found)} to {brackets(wanted)}",
            notes=(f"that is {prod(found)} against {prod(wanted)} elements",),
            help="the number of elements must stay the same",
        )
    if not wanted:
        return a.item() if type(a) is ndarray else a
    memory.check(wanted, 0)
    return a.reshape(wanted) if type(a) is ndarray else a


def reshape_scalar(shp: Index, a: Value, base: str) -> Value:
    """Reshape of a value that may be a scalar."""
    if type(a) is ndarray:
        return reshape(shp, a)
    wanted = extents(shp)
    if prod(wanted) != 1:
        raise Fault(
            "E0608",
            f"cannot reshape [] to {brackets(wanted)}",
            notes=(f"that is 1 against {prod(wanted)} elements",),
            help="the number of elements must stay the same",
        )
    return filled(wanted, a, base) if wanted else a


def filled(shape: tuple[int, ...], value: Value, base: str) -> Array:
    """An array of one value."""
    dtype = dtype_of(base)
    memory.check(shape, dtype.itemsize)
    result = np.empty(shape, dtype)
    result.fill(value)
    return result


def _vector_of(a: Value, what: str) -> Array:
    if type(a) is not ndarray:
        raise Fault("E0606", f"{what} takes arrays, but this is a scalar")
    return a


def cat(a: Value, b: Value) -> Array:
    """Along the first axis."""
    a, b = _vector_of(a, "concatenation"), _vector_of(b, "concatenation")
    if a.shape[1:] != b.shape[1:]:
        raise shape_mismatch("concatenation (beyond the first axis)", a.shape, b.shape)
    memory.check((len(a) + len(b), *a.shape[1:]), a.itemsize)
    return concatenated((a, b), 0)


def concatenated(arrays: Sequence[Array], axis: int) -> Array:
    """Along an axis, whose extent must be an int afterwards."""
    longest(sum(a.shape[axis] for a in arrays))
    return np.concatenate(arrays, axis)


def longest(extent: int) -> None:
    """Raises a Fault if an extent is too large for an int."""
    if extent > LARGEST:
        raise Fault("E0607", f"concatenation gives an extent of {extent}", help=f"extents are 0 to {LARGEST}")


def _count(n: Value, a: Array, what: str) -> int:
    (count,) = to_index(n) if type(n) is ndarray and n.shape == (1,) else (n,)
    if abs(count) > len(a):
        raise Fault(
            "E0609",
            f"cannot {what} {abs(count)} elements of an array of shape {brackets(a.shape)}",
            help=f"{what} at most {len(a)}",
        )
    return int(count)


def take(n: Value, a: Value) -> Array:
    """The first n along the first axis, the last ones for a negative n."""
    a = _vector_of(a, "take")
    count = _count(n, a, "take")
    return copied(a[:count] if count >= 0 else a[len(a) + count :])


def drop(n: Value, a: Value) -> Array:
    """Without the first n along the first axis, without the last ones for a negative n."""
    a = _vector_of(a, "drop")
    count = _count(n, a, "drop")
    return copied(a[count:] if count >= 0 else a[: len(a) + count])


def mask(m: Value, a: Value, b: Value) -> Value:
    """Element by element from `a` where the mask is true, else from `b`."""
    arrays = [x.shape for x in (m, a, b) if type(x) is ndarray]
    for other in arrays[1:]:
        if other != arrays[0]:
            raise shape_mismatch("mask", arrays[0], other)
    if not arrays:
        return a if m else b
    dtype = next((x.dtype for x in (a, b) if type(x) is ndarray), None)
    memory.room(prod(arrays[0]) * (16 if dtype is None else 2 * dtype.itemsize))
    result: Array = np.where(m, a, b)
    return (
        result.astype(dtype, copy=False)
        if dtype is not None and type(m) is ndarray
        else np.broadcast_to(result, arrays[0]).copy()
    )


def all_of(a: Value) -> bool:
    """Whether all elements are true."""
    return bool(a.all()) if type(a) is ndarray else a


def any_of(a: Value) -> bool:
    """Whether any element is true."""
    return bool(a.any()) if type(a) is ndarray else a


def slice_of(spec: str, cell: int) -> Any:
    """Selection with dots: the function of the array and the indices, in order."""

    def select(a: Value, *indices: int) -> Value:
        shape = shape_of(a)
        rank, named = len(shape) - cell, len(spec) - spec.count("*")
        if named > rank:
            raise Fault(
                "E0606",
                f"the selection names {named} axes, but the array of shape {brackets(shape[:rank])} has {rank}",
                help="select with at most as many indices and dots as the array has axes",
            )
        keep, at = iter(indices), 0
        key: list[Any] = []
        for letter in spec:
            if letter == "i":
                index = next(keep)
                if not 0 <= index < shape[at]:
                    raise Fault(
                        "E0601",
                        f"index {index} on axis {at} is out of range for the shape {brackets(shape[:rank])}",
                        notes=(f"axis {at} has extent {shape[at]}",),
                        help="test the index, or correct the bounds of the loop it comes from",
                    )
                key.append(index)
                at += 1
            else:
                width = 1 if letter == "." else rank - named
                key += [slice(None)] * width
                at += width
        if type(a) is not ndarray:
            return a
        result = a[tuple(key)]
        return (
            copied(result) if type(result) is ndarray else result.item() if isinstance(result, np.generic) else result
        )

    return select


def place_of(spec: str, cell: int) -> Any:
    """Puts the axes of a comprehension's value where the dots stand on its left side."""

    def arrange(a: Value) -> Value:
        if type(a) is not ndarray:
            return a
        indices = spec.count("i")
        rank = a.ndim - cell
        rest = rank - indices - spec.count(".")
        if rest < 0:
            raise Fault(
                "E0606",
                f"the left side keeps {spec.count('.')} axes of its value, but the value's shape is "
                f"{brackets(a.shape[indices:rank])}",
            )
        next_index, next_kept, order = iter(range(indices)), iter(range(indices, rank)), []
        for letter in spec:
            if letter == "i":
                order.append(next(next_index))
            elif letter == ".":
                order.append(next(next_kept))
            else:
                order += [next(next_kept) for _ in range(rest)]
        order += [k for k in range(a.ndim) if k not in order]
        if order == list(range(a.ndim)):
            return a
        memory.room(a.nbytes)
        return np.ascontiguousarray(a.transpose(order))

    return arrange


def ravel(a: Value) -> Array:
    """A scalar as a vector of one; a vector as it is."""
    if type(a) is ndarray:
        if a.ndim != 1:
            raise Fault(
                "E0606", f"an index must be a scalar or a vector, but this one has the shape {brackets(a.shape)}"
            )
        return a
    return np.array([a], INT)


def require_of(code: str, message: str, help: str) -> Any:
    """A number that must be as the program says."""

    def require(value: Value, limit: Value, holds: Value) -> Value:
        if shape_of(value) or shape_of(limit):
            wrong = shape_of(value) or shape_of(limit)
            raise Fault(code, f"this must be a single number, but it has the shape {brackets(wrong)}", help=help)
        if not holds:
            raise Fault(code, message.format(value, limit), help=help)
        return value

    return require


def like_of(what: str) -> Any:
    """A new value for something whose shape must stay; `what` says whose."""

    def like(a: Value, b: Value) -> Value:
        if shape_of(a) != shape_of(b):
            whose = f" of {what}" if what else ""
            raise Fault(
                "E0621",
                f"this value has the shape {brackets(shape_of(a))}, but it must have the shape{whose}, which is "
                f"{brackets(shape_of(b))}",
                help="a field keeps its shape when it is replaced",
            )
        return a

    return like


def stack(elements: list[Value], base: str) -> Array:
    """`[a, b, c]`: elements of equal shape become one array."""
    dtype = dtype_of(base)
    first = shape_of(elements[0])
    for at, element in enumerate(elements):
        if shape_of(element) != first:
            raise Fault(
                "E0602",
                f"the elements of an array need equal shapes, but element 0 has {brackets(first)} and element {at} "
                f"has {brackets(shape_of(element))}",
            )
    memory.check((len(elements), *first), dtype.itemsize)
    result = np.empty((len(elements), *first), dtype)
    for at, element in enumerate(elements):
        result[at] = element
    return result

"""Twins of ArrayBasics, ArrayTransform and ArrayTransformApl: making and rearranging arrays. The axes of the elements
themselves come last and stay where they are.

A twin of two arrays with an attribute `growing` can also put its result into the room behind or before one of them:
`growing(a, b, given)` says of each whether nobody else holds it."""

from __future__ import annotations

from math import prod

import numpy as np

from sacpy.interp import memory
from sacpy.interp.runtime.elementwise import elementwise
from sacpy.interp.runtime.structure import concatenated, copied, extents, out_of_range
from sacpy.interp.twins.tables import Array, Factory, Twin, counts, zeros
from sacpy.interp.values import INT, Value, dtype_of

ndarray = np.ndarray


def _slices(shape: list[int], offset: list[int], into: list[int]) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Where result[iv] = a[iv + offset] is defined: the slices of the result (extents `into`), and those of a (extents
    `shape`)."""
    target, source = [], []
    for n, o, m in zip(shape, offset, into):
        low = min(max(-o, 0), m)
        high = max(min(n - o, m), low)
        target.append(slice(low, high))
        source.append(slice(low + o, high + o))
    return tuple(target), tuple(source)


def _window(a: Array, offset: list[int], into: list[int], base: str) -> Array:
    """The part of a that begins at offset and has the extents `into` on the first axes, zero outside a."""
    rest = a.shape[len(offset) :]
    if all(o >= 0 and o + m <= n for n, o, m in zip(a.shape, offset, into)) and min(into, default=0) >= 0:
        return np.asarray(copied(a[tuple(slice(o, o + m) for o, m in zip(offset, into))]))
    result = zeros((*into, *rest), base)
    target, source = _slices(list(a.shape), offset, into)
    result[target] = a[source]
    return result


def _take(bases: tuple[str, ...], cell: int) -> Twin:
    def take(v: Array, a: Value) -> Value:
        if type(a) is not ndarray:
            return a
        wanted = counts(v)
        return _window(a, [n + c if c < 0 else 0 for n, c in zip(a.shape, wanted)], counts(np.abs(v)), bases[1])

    return take


def _drop(bases: tuple[str, ...], cell: int) -> Twin:
    def drop(v: Array, a: Value) -> Value:
        if type(a) is not ndarray:
            return a
        return copied(
            a[tuple(slice(c, None) if c >= 0 else slice(0, max(n + c, 0)) for n, c in zip(a.shape, counts(v)))]
        )

    return drop


def _tile(bases: tuple[str, ...], cell: int) -> Twin:
    def tile(shp: Array, idx: Array, a: Value) -> Value:
        if type(a) is not ndarray:
            return a
        wanted, offset = extents(shp), counts(idx)
        if any(o < 0 or o + m > n for n, o, m in zip(a.shape, offset, wanted)):
            raise out_of_range(a.shape, tuple(o + m - 1 if o >= 0 else o for o, m in zip(offset, wanted)), cell)
        return _window(a, offset, list(wanted), bases[2])

    return tile


def _tile_apl(bases: tuple[str, ...], cell: int) -> Twin:
    return lambda shp, idx, a: _window(a, counts(idx), counts(shp), bases[2]) if type(a) is ndarray else a


def _lifted(value: Value, shape: tuple[int, ...], base: str) -> Array:
    """An array of one element everywhere."""
    dtype = dtype_of(base)
    memory.check(shape, dtype.itemsize)
    result = np.empty(shape, dtype)
    result[...] = value
    return result


def _rank(value: Value, cell: int) -> int:
    return value.ndim - cell if type(value) is ndarray else 0


def _cat(at_end: bool) -> Factory:
    """Along the first or last axis of the outer array; a scalar stands for a slice of extent 1 filled with it."""

    def make(bases: tuple[str, ...], cell: int) -> Twin:
        def lifted(a: Value, b: Value, axis: int) -> tuple[Array, Array]:
            """The two, a scalar as the slice that it stands for."""
            other = a if _rank(a, cell) else b if _rank(b, cell) else None
            inner = np.shape(a)[np.ndim(a) - cell :]
            shape = (1, *inner) if other is None else tuple(1 if k == axis else n for k, n in enumerate(other.shape))
            return a if _rank(a, cell) else _lifted(a, shape, bases[0]), b if _rank(b, cell) else _lifted(
                b, shape, bases[0]
            )

        def cat(a: Value, b: Value) -> Array:
            axis = max(_rank(a, cell), _rank(b, cell), 1) - 1 if at_end else 0
            if not (_rank(a, cell) and _rank(b, cell)):
                a, b = lifted(a, b, axis)
            memory.room(a.nbytes + b.nbytes)
            return np.asarray(concatenated((a, b), axis))

        def growing(a: Value, b: Value, given: tuple[bool, bool]) -> Array:
            from sacpy.interp.growth import grown

            if not (_rank(a, cell) and _rank(b, cell)):
                given = (given[0] and _rank(a, cell) > 0, given[1] and _rank(b, cell) > 0)
                a, b = lifted(a, b, 0)
            return np.asarray(grown(a, b, given))

        if not at_end:
            cat.growing = growing  # type: ignore[attr-defined]
        return cat

    return make


def _reverse(axis: int, a: Array) -> Array:
    return np.asarray(copied(np.flip(a, axis)))


def _rotate(v: Array, a: Value) -> Value:
    return _rolled(a, counts(v), tuple(range(len(v)))) if type(a) is ndarray else a


def _rolled(a: Array, shift: int | list[int], axes: int | tuple[int, ...]) -> Array:
    memory.room(a.nbytes)
    return np.roll(a, shift, axes)


def _moved(offset: list[int], boundary: Value, a: Array, base: str) -> Array:
    result = _lifted(boundary, a.shape, base)
    target, source = _slices(list(a.shape), [-o for o in offset], list(a.shape))
    result[target] = a[source]
    return result


def _shift2(bases: tuple[str, ...], cell: int) -> Twin:
    return lambda v, a: (
        _window(a, [-c for c in counts(v)], list(a.shape[: len(v)]), bases[1]) if type(a) is ndarray else a
    )


def _shift3(bases: tuple[str, ...], cell: int) -> Twin:
    return lambda v, boundary, a: _moved(counts(v), boundary, a, bases[2]) if type(a) is ndarray else a


def _shift4(bases: tuple[str, ...], cell: int) -> Twin:
    return lambda axis, count, boundary, a: _moved([0] * axis + [count], boundary, a, bases[3])


def _transpose(bases: tuple[str, ...], cell: int) -> Twin:
    def transpose(a: Value) -> Value:
        if type(a) is not ndarray:
            return a
        outer = a.ndim - cell
        return copied(a.transpose(*reversed(range(outer)), *range(outer, a.ndim)))

    return transpose


def _where(bases: tuple[str, ...], cell: int) -> Twin:
    """Every mix of arrays and scalars, the condition included."""
    lift = dtype_of(bases[1]).type

    def where(p: Value, a: Value, b: Value) -> Value:
        if type(p) is not ndarray:
            chosen, other = (a, b) if p else (b, a)
            if type(chosen) is ndarray:
                return copied(chosen)
            return _lifted(chosen, other.shape, bases[1]) if type(other) is ndarray else chosen
        memory.room(p.size * dtype_of(bases[1]).itemsize)
        return np.where(p, a if type(a) is ndarray else lift(a), b if type(b) is ndarray else lift(b))

    return where


def _match(bases: tuple[str, ...], cell: int) -> Twin:
    equal = elementwise("eq", bases[0])
    return lambda a, b: np.shape(a) == np.shape(b) and bool(np.all(equal(a, b)))


def _genarray(bases: tuple[str, ...], cell: int) -> Twin:
    def genarray(shp: Array, value: Value) -> Value:
        shape = (*extents(shp), *np.shape(value))
        return _lifted(value, shape, bases[1]) if shape else value

    return genarray


def _iota(shp: Value) -> Array:
    if type(shp) is not ndarray:
        memory.check(extents((shp,)), INT.itemsize)
        return np.arange(shp, dtype=INT)
    shape = extents(shp)
    memory.check((*shape, len(shape)), INT.itemsize)
    memory.room((prod(shape) * len(shape) + max(shape, default=0)) * INT.itemsize)
    result = np.empty((*shape, len(shape)), INT)
    for axis, n in enumerate(shape):
        result[..., axis] = np.arange(n, dtype=INT).reshape(n, *[1] * (len(shape) - axis - 1))
    return result


def _same(function: Twin) -> Factory:
    return lambda bases, cell: function


_WITH_CELLS: dict[str, Factory] = {
    "ArrayTransform::take/2": _take,
    "ArrayTransform::drop/2": _drop,
    "ArrayTransform::tile/3": _tile,
    "ArrayTransformApl::take_apl/2": _take,
    "ArrayTransformApl::drop_apl/2": _drop,
    "ArrayTransformApl::tile_apl/3": _tile_apl,
    "ArrayTransform::++/2": _cat(at_end=False),
    "ArrayTransform::reverse/1": _same(lambda a: _reverse(0, a)),
    "ArrayTransform::reverse/2": _same(_reverse),
    "ArrayTransform::rotate/2": _same(_rotate),
    "ArrayTransform::rotate/3": _same(lambda axis, count, a: _rolled(a, count, axis)),
    "ArrayTransform::shift/2": _shift2,
    "ArrayTransform::shift/3": _shift3,
    "ArrayTransform::shift/4": _shift4,
    "ArrayTransform::transpose/1": _transpose,
    "ArrayBasics::genarray/2": _genarray,
}
TWINS: dict[str, Factory] = _WITH_CELLS | {
    "ArrayTransform::++^/2": _cat(at_end=True),
    "ArrayTransform::catenate/2": _cat(at_end=True),
    "ArrayTransform::where/3": _where,
    "ArrayTransform::mask/3": _where,
    "ArrayTransform::match/2": _match,
    "ArrayBasics::iota/1": _same(_iota),
}
CELLS = frozenset(_WITH_CELLS)

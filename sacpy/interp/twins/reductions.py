"""Twins of ArrayReduce: an array to one value, or the first axes to none."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from sacpy.interp import arithmetic, memory
from sacpy.interp.runtime.elementwise import BLOCK, elementwise
from sacpy.interp.twins.tables import Array, Factory, Twin
from sacpy.interp.values import Value, dtype_of
from sacpy.lang.types import REAL


def total(bases: tuple[str, ...], cell: int) -> Twin:
    """The sum of all elements; integers wrap."""
    dtype, zero = dtype_of(bases[0]), 0.0 if bases[0] in REAL else 0  # 0.0 + -0.0 is 0.0
    return lambda a: a.sum(dtype=dtype).item() + zero if type(a) is np.ndarray else a + zero


def _product(bases: tuple[str, ...], cell: int) -> Twin:
    dtype = dtype_of(bases[0])
    return lambda a: a.prod(dtype=dtype).item() if type(a) is np.ndarray else a


def _extreme(op: str) -> Factory:
    def make(bases: tuple[str, ...], cell: int) -> Twin:
        better = elementwise(op, bases[0])
        neutral = eval(arithmetic.constant_of("maxval" if op == "min" else "minval", bases[0]))
        real, reduce = bases[0] in REAL, np.minimum.reduce if op == "min" else np.maximum.reduce

        def extreme(a: Value) -> Value:
            if type(a) is not np.ndarray:
                return better(neutral, a)
            if not a.size:
                return neutral
            flat = a.ravel()
            if not real:
                return reduce(flat).item()
            return _extreme_of_reals(flat, neutral, better, reduce)

        return extreme

    return make


def _extreme_of_reals(flat: Array, neutral: float, better: Twin, reduce: Any) -> float:
    """What a fold with `a < b ? a : b` gives: a NaN is replaced by whatever follows it, so only what is behind the last
    one counts; of zeros that differ in sign, the last one wins."""
    result: float = reduce(flat).item()
    if result != result:
        rest = flat[_last(flat, np.isnan) + 1 :]
        if not rest.size:
            return result
        result = reduce(rest).item()
    else:
        rest, result = flat, better(neutral, result)
    return rest[_last(rest, _is_zero)].item() if result == 0 else result


def _is_zero(a: Array) -> Array:
    return np.equal(a, 0)


def _last(flat: Array, test: Callable[[Array], Array]) -> int:
    """The position of the last element of which something holds that holds of one."""
    for start in range((flat.size - 1) // BLOCK * BLOCK, -1, -BLOCK):
        found = np.flatnonzero(test(flat[start : start + BLOCK]))
        if found.size:
            return start + int(found[-1])
    raise AssertionError("there is none")


def _rsum(bases: tuple[str, ...], cell: int) -> Twin:
    dtype, zero = dtype_of(bases[1]), 0.0 if bases[1] in REAL else 0

    def rsum(r: int, a: Value) -> Value:
        if type(a) is not np.ndarray:
            return a + zero
        rest = a.shape[r:]
        memory.room(2 * prod(rest) * dtype.itemsize)
        result = a.reshape(prod(a.shape[:r]), *rest).sum(axis=0, dtype=dtype)
        return result + dtype.type(zero) if rest else result.item() + zero

    return rsum


TWINS: dict[str, Factory] = {
    "ArrayReduce::sum/1": total,
    "ArrayReduce::prod/1": _product,
    "ArrayReduce::minval/1": _extreme("min"),
    "ArrayReduce::maxval/1": _extreme("max"),
    "ArrayReduce::any/1": lambda bases, cell: lambda a: bool(np.any(a)),
    "ArrayReduce::all/1": lambda bases, cell: lambda a: bool(np.all(a)),
    "ArrayReduce::rsum/2": _rsum,
}
REORDERING = frozenset({"ArrayReduce::sum/1", "ArrayReduce::prod/1", "ArrayReduce::rsum/2"})

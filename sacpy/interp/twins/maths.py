"""Twins of the functions of Math and MathArray that are more than one primitive."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from sacpy.interp import memory
from sacpy.interp.arithmetic import HELPERS
from sacpy.interp.runtime.elementwise import elementwise
from sacpy.interp.twins.reductions import total
from sacpy.interp.twins.tables import Array, Factory, Twin
from sacpy.interp.values import INT, Value

Pair = tuple[Value, Value]
round_single: Callable[[float], float] = HELPERS["_f32"]


def _sincos(bases: tuple[str, ...], cell: int) -> Twin:
    sin, cos = elementwise("sin", bases[0]), elementwise("cos", bases[0])
    return lambda x: (sin(x), cos(x))


def _sign(x: Array) -> Array:
    memory.room(x.size * (INT.itemsize + 2))
    return np.subtract(x > 0, x < 0, dtype=INT)


def _frexp(x: float) -> Pair:
    return math.frexp(x) if math.isfinite(x) else (x, 0)


def _frexp_array(x: Array) -> Pair:
    memory.room(x.nbytes + x.size * (3 * INT.itemsize + 1))
    mantissa, exponent = np.frexp(x)
    return mantissa, np.where(np.isfinite(x), exponent, 0).astype(INT)


def _ldexp(bases: tuple[str, ...], cell: int) -> Twin:
    single = bases[0] == "float"

    def ldexp(x: float, n: int) -> float:
        try:
            result = math.ldexp(x, n)
        except OverflowError:
            result = math.copysign(math.inf, x)
        return round_single(result) if single else result

    return ldexp


def _l2norm(bases: tuple[str, ...], cell: int) -> Twin:
    square, root, add = elementwise("mul", bases[0]), elementwise("sqrt", bases[0]), total(bases, cell)
    return lambda a: root(add(square(a, a)))


def _same(function: Twin) -> Factory:
    return lambda bases, cell: function


def _modf(x: Any) -> Pair:
    memory.room(2 * x.nbytes)
    fraction, whole = np.modf(x)
    return fraction, whole


def _ldexp_array(x: Array, n: Array) -> Array:
    memory.room(x.nbytes)
    return np.asarray(np.ldexp(x, n))


TWINS: dict[str, Factory] = {
    "Math::frexp/1": _same(_frexp),
    "Math::ldexp/2": _ldexp,
    "MathArray::sincos/1": _sincos,
    "MathArray::sign/1": _same(_sign),
    "MathArray::modf/1": _same(_modf),
    "MathArray::frexp/1": _same(_frexp_array),
    "MathArray::ldexp/2": _same(_ldexp_array),
    "MathArray::l2norm/1": _l2norm,
}
REORDERING = frozenset({"MathArray::l2norm/1"})

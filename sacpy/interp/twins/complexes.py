"""Twins of the arithmetic of complex numbers: arrays with one more axis, of extent 2, at the end."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sacpy.interp import memory
from sacpy.interp.arithmetic import HELPERS
from sacpy.interp.twins.tables import Array, Factory, Twin

_divide = HELPERS["_fdiv"]


def _pair(real: Array, imag: Array) -> Array:
    result = np.empty((*real.shape, 2))
    result[..., 0] = real
    result[..., 1] = imag
    return result


def _times(a: Array, b: Array) -> Array:
    ar, ai, br, bi = a[..., 0], a[..., 1], b[..., 0], b[..., 1]
    return _pair(ar * br - ai * bi, ar * bi + ai * br)


def _over(a: Array, b: Array) -> Array:
    ar, ai, br, bi = a[..., 0], a[..., 1], b[..., 0], b[..., 1]
    z = _norm_squared(b)
    return _pair((ar * br + ai * bi) / z, (ai * br - ar * bi) / z)


def _scalar_times(a: Array, b: Array) -> Array:
    (ar, ai), (br, bi) = a.tolist(), b.tolist()
    return np.array((ar * br - ai * bi, ar * bi + ai * br))


def _scalar_over(a: Array, b: Array) -> Array:
    (ar, ai), (br, bi) = a.tolist(), b.tolist()
    z = br * br + bi * bi
    return np.array((_divide(ar * br + ai * bi, z), _divide(ai * br - ar * bi, z)))


def _norm_squared(a: Array) -> Array:
    real, imag = a[..., 0], a[..., 1]
    return np.asarray(real * real + imag * imag)


def _norm(a: Array) -> Array:
    return np.asarray(np.sqrt(_norm_squared(a)))


def _conjugate(a: Array) -> Array:
    return _pair(a[..., 0], -a[..., 1])


def _equal(a: Array, b: Array) -> Array:
    return np.asarray(np.equal(a, b).all(axis=-1))


def _different(a: Array, b: Array) -> Array:
    return np.asarray(np.not_equal(a, b).any(axis=-1))


def _by_norm(compare: Callable[[Array, Array], Array]) -> Twin:
    return lambda a, b: compare(_norm(a), _norm(b))


def _choose(compare: Callable[[Array, Array], Array]) -> Twin:
    return lambda a, b: np.where(compare(_norm(a), _norm(b))[..., None], a, b)


def _sum(a: Array) -> Array:
    return np.asarray(a.reshape(-1, 2).sum(axis=0) + 0.0)


_FUNCTIONS: dict[str, Twin] = {
    "ComplexScalarArith::+/2": np.add,
    "ComplexScalarArith::-/2": np.subtract,
    "ComplexScalarArith::-/1": np.negative,
    "ComplexScalarArith::*/2": _scalar_times,
    "ComplexScalarArith:://2": _scalar_over,
    "ComplexArrayArith::+/2": np.add,
    "ComplexArrayArith::-/2": np.subtract,
    "ComplexArrayArith::-/1": np.negative,
    "ComplexArrayArith::*/2": _times,
    "ComplexArrayArith:://2": _over,
    "ComplexArrayArith::==/2": _equal,
    "ComplexArrayArith::!=/2": _different,
    "ComplexArrayArith::</2": _by_norm(np.less),
    "ComplexArrayArith::<=/2": _by_norm(np.less_equal),
    "ComplexArrayArith::>/2": _by_norm(np.greater),
    "ComplexArrayArith::>=/2": _by_norm(np.greater_equal),
    "ComplexArrayArith::min/2": _choose(np.less_equal),
    "ComplexArrayArith::max/2": _choose(np.greater_equal),
    "ComplexArrayArith::abs/1": lambda a: _pair(_norm(a), np.zeros(a.shape[:-1])),
    "ComplexArrayArith::conj/1": _conjugate,
    "ComplexArrayBasics::norm/1": _norm,
    "ComplexArrayBasics::normSq/1": _norm_squared,
    "ComplexArrayTransform::sum/1": _sum,
}


PEAKS = {
    "+": 1, "-": 1, "*": 3, "/": 4, "==": 1, "!=": 1, "<": 3, "<=": 3, ">": 3, ">=": 3, "min": 3, "max": 3, "abs": 2,
    "conj": 2, "norm": 2, "normSq": 2, "sum": 1,
}  # fmt: skip
"""How many times the bytes of its largest argument a function takes while it works, its result included."""


def _charged(name: str, function: Twin) -> Factory:
    """A function that asks for room first."""
    times = PEAKS[name.rpartition("::")[2].partition("/2")[0].partition("/1")[0]]

    def twin(*args: Array) -> Array:
        memory.room(times * max(a.nbytes for a in args))
        made: Array = function(*args)
        return made

    return lambda bases, cell: twin


TWINS: dict[str, Factory] = {name: _charged(name, function) for name, function in _FUNCTIONS.items()}
CELLS = frozenset(TWINS)
REORDERING = frozenset({"ComplexArrayTransform::sum/1"})

"""Element-wise primitives on values of any rank: one function per primitive and base type.

In: the operation and its base type. Out: a function of Python scalars and arrays in any mix. Scalars go through the
same expressions that generated code uses (`interp/arithmetic.py`), arrays through NumPy with C's meaning; the
mathematical functions go through the same libm element by element, so that an array and its elements agree to the last
bit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import repeat
from typing import Any

import numpy as np

from sacpy.interp import arithmetic, memory
from sacpy.interp.errors import Fault
from sacpy.interp.values import DTYPES, Value, dtype_of
from sacpy.lang.constants import BIT_CASTS
from sacpy.lang.primitives import CONVERSIONS, PRIMITIVES
from sacpy.lang.types import BITS, REAL, SIGNED

ndarray = np.ndarray
Array = Any
BLOCK = 1 << 11  # elements that are Python objects at a time; Ctrl-C is heard behind each block


def brackets(shape: tuple[int, ...]) -> str:
    """A shape in words: [3,4]."""
    return f"[{','.join(map(str, shape))}]"


def shape_mismatch(what: str, a: tuple[int, ...], b: tuple[int, ...]) -> Fault:
    """The fault of two arrays whose shapes should be equal."""
    if len(a) != len(b):
        where = f"the ranks differ: {len(a)} against {len(b)}"
    else:
        axis = next(i for i, (x, y) in enumerate(zip(a, b)) if x != y)
        where = f"axis {axis} differs: {a[axis]} against {b[axis]}"
    return Fault(
        "E0602",
        f"{what} needs equal shapes, but these are {brackets(a)} and {brackets(b)}",
        notes=(where,),
        help="element-wise operations take equal shapes, or an array and a scalar",
    )


# ---------------------------------------------------------------- array versions


def _divide(base: str) -> Callable[[Array, Array], Array]:
    def divide(a: Array, b: Array) -> Array:
        if not np.all(b):
            raise arithmetic.division_by_zero(base)
        quotient = np.floor_divide(a, b)
        if base in SIGNED:
            quotient += (np.fmod(a, b) != 0) & (np.less(a, 0) != np.less(b, 0))
        return quotient

    return divide


def _remainder(base: str) -> Callable[[Array, Array], Array]:
    def remainder(a: Array, b: Array) -> Array:
        if not np.all(b):
            raise arithmetic.division_by_zero(base)
        return np.fmod(a, b)

    return remainder


def _aplmod(a: Array, b: Array) -> Array:
    return np.where(np.equal(b, 0), a, np.remainder(a, np.where(np.equal(b, 0), 1, b)))


def _shift(ufunc: Callable[..., Array], base: str) -> Callable[[Array, Array], Array]:
    def shift(a: Array, b: Array) -> Array:
        bad = np.less(b, 0) | np.greater_equal(b, BITS[base])
        if np.any(bad):
            raise Fault(
                "E0604",
                f"shift by {int(np.asarray(b)[bad].flat[0])}, but {base} has {BITS[base]} bits",
                help=f"shift by 0 to {BITS[base] - 1}",
            )
        return ufunc(a, b)

    return shift


def _elements(function: Callable[..., Any], base: str, result: str) -> Callable[..., Array]:
    """Applies a scalar function element by element."""
    dtype = dtype_of(result)

    def apply(*args: Array) -> Array:
        shape = next(a.shape for a in args if type(a) is ndarray)
        memory.check(shape, dtype.itemsize)
        made = np.empty(shape, dtype)
        into, parts = made.reshape(-1), [a.reshape(-1) if type(a) is ndarray else np.asarray(a).item() for a in args]
        for start in range(0, into.size, BLOCK):
            end = min(start + BLOCK, into.size)
            lists = [part[start:end].tolist() if type(part) is ndarray else repeat(part, end - start) for part in parts]
            into[start:end] = list(map(function, *lists))
        return made

    return apply


def _real_to_integer(target: str) -> Callable[[Array], Array]:
    wide = target in ("uint", "long", "longlong", "ulong", "ulonglong")
    half = 2.0 ** (63 if wide else 31)
    middle = np.dtype("i8" if wide else "i4")

    def convert(a: Array) -> Array:
        inside = (a >= -half) & (a < half)
        whole = np.where(inside, a, 0).astype(middle)
        whole[~inside] = np.iinfo(middle).min
        result = whole.astype(dtype_of(target))
        if target in ("ulong", "ulonglong"):
            big = (a >= half) & (a < 2 * half)
            result[big] = a[big].astype(dtype_of(target))
        return result

    return convert


_ROUNDING = {"floor": np.floor, "ceil": np.ceil, "rint": np.rint, "trunc": np.trunc}


def _array_version(op: str, base: str) -> Callable[..., Array]:
    """The NumPy version of an element-wise primitive."""
    simple: dict[str, Callable[..., Array]] = {
        "add": np.add, "sub": np.subtract, "mul": np.multiply, "eq": np.equal, "neq": np.not_equal, "lt": np.less,
        "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
        "bitand": np.bitwise_and, "bitor": np.bitwise_or, "bitxor": np.bitwise_xor, "and": np.logical_and,
        "or": np.logical_or, "not": np.logical_not, "neg": np.negative, "abs": np.absolute,
        "bitnot": np.invert, "aplmod": _aplmod, "isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite,
        "min": lambda a, b: np.where(np.less(a, b), a, b),
        "max": lambda a, b: np.where(np.greater(a, b), a, b), "copysign": np.copysign,
        "reciproc": lambda a: np.divide(dtype_of(base).type(1), a), **_ROUNDING,
    }  # fmt: skip
    if op in ("bitand", "bitor", "bitxor") and base == "bool":
        return simple[op]
    if op in simple:
        return simple[op]
    if op == "div":
        return np.divide if base in REAL else _divide(base)
    if op == "mod":
        return _remainder(base)
    if op in ("shl", "shr"):
        return _shift(np.left_shift if op == "shl" else np.right_shift, base)
    if op in CONVERSIONS:
        return _conversion(base, CONVERSIONS[op])
    if op in BIT_CASTS:
        return _bit_cast(base, BIT_CASTS[op][0])
    return _elements(scalar_version(op, base), base, base)


def _bit_cast(source: str, target: str) -> Callable[[Array], Array]:
    """All NaN have the same bits (see `lang.constants.bits_of`)."""
    dtype = dtype_of(target)
    if source not in REAL:
        return lambda a: a.view(dtype).copy()
    return lambda a: np.where(np.isnan(a), dtype_of(source).type(np.nan), a).view(dtype)


def _conversion(source: str, target: str) -> Callable[[Array], Array]:
    dtype = dtype_of(target)
    if target == "bool":
        return lambda a: np.not_equal(a, 0)
    if source in REAL and target not in REAL:
        return _real_to_integer(target)
    return lambda a: a.astype(dtype)


@cache
def scalar_version(op: str, base: str) -> Callable[..., Any]:
    """The scalar version as a function."""
    arity = len(PRIMITIVES[op].args)
    names = ["a", "b"][:arity]
    from sacpy.interp.scalar_text import scalar

    text = scalar(op, base, names)
    if text is None:
        raise KeyError(f"{op} of {base}")
    function: Callable[..., Any] = eval(f"lambda {', '.join(names)}: {text}", dict(arithmetic.HELPERS))
    return function


_WORDS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "mod": "%",
    "eq": "==",
    "neq": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
}


def peak(op: str, base: str) -> int:
    """The bytes that the array version takes for each element while it works, its result included; 0 where it asks for
    room itself."""
    size = dtype_of(base).itemsize
    integer = base not in REAL
    match op:
        case "eq" | "neq" | "lt" | "le" | "gt" | "ge" | "and" | "or" | "not" | "isnan" | "isinf" | "isfinite":
            return 1
        case (
            "add"
            | "sub"
            | "mul"
            | "bitand"
            | "bitor"
            | "bitxor"
            | "bitnot"
            | "neg"
            | "abs"
            | "copysign"
            | "reciproc"
            | "floor"
            | "ceil"
            | "rint"
            | "trunc"
        ):
            return size
        case "min" | "max":
            return size + 1
        case "aplmod":
            return 3 * size + 2
        case "div":
            return 2 * size + 3 if integer and base in SIGNED else size
        case "mod":
            return size
        case "shl" | "shr":
            return size + 2
    if op in BIT_CASTS:
        return size + (base in REAL)
    if op in CONVERSIONS:
        target = CONVERSIONS[op]
        if target == "bool" or integer or target in REAL:
            return dtype_of(target).itemsize
        return 2 * size + 2 * dtype_of(target).itemsize + 12
    return 0


@cache
def elementwise(op: str, base: str) -> Callable[..., Value]:
    """The primitive on values of any rank."""
    scalars, version, each = scalar_version(op, base), _array_version(op, base), peak(op, base)

    def arrays(a: Value, *others: Value) -> Array:
        shaped = a if type(a) is ndarray else others[0]
        if shaped.size * each > memory.SMALL:
            memory.reserve(shaped.size * each)
        return version(a, *others)

    if len(PRIMITIVES[op].args) == 1:
        return lambda a: arrays(a) if type(a) is ndarray else scalars(a)
    what = _WORDS.get(op, op)
    lift = DTYPES[base].type  # NumPy's own rules for Python scalars do for all types but these functions of two scalars
    whole = op in ("min", "max", "aplmod", "copysign", "shl", "shr", "div", "mod")

    def apply(a: Value, b: Value) -> Value:
        if type(a) is ndarray:
            if type(b) is ndarray:
                if a.shape != b.shape:
                    raise shape_mismatch(what, a.shape, b.shape)
            elif whole:
                b = lift(b)
            return arrays(a, b)
        if type(b) is ndarray:
            return arrays(lift(a) if whole else a, b)
        return scalars(a, b)

    return apply


REUSING = {"add": np.add, "sub": np.subtract, "mul": np.multiply}
REAL_REUSING = {**REUSING, "div": np.divide}


def reusing(op: str, base: str, at: int) -> Callable[[Value, Value], Value] | None:
    """The primitive where argument `at`, if it is an array, is a new one that nobody else holds: it takes up the
    result. None where there is no such version."""
    ufunc = (REAL_REUSING if base in REAL else REUSING).get(op)
    if ufunc is None:
        return None
    function = elementwise(op, base)

    def apply(a: Value, b: Value) -> Value:
        target, other = (b, a) if at else (a, b)
        if type(target) is ndarray and (type(other) is not ndarray or other.shape == target.shape):
            return ufunc(a, b, out=target)
        return function(a, b)

    return apply

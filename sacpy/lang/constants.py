"""Evaluation of element-wise primitives on single elements, exactly as the compiled C does it.

In: an operation, the base type of its arguments, and Python scalars (int for integers and char, float, bool). Out: a
Python scalar. Constant folding uses it, and it is the reference for every other evaluator.

- Integers wrap to the width of their type. `div` truncates towards zero, `mod` is C's remainder (sign of the dividend),
  `aplmod` is floored and gives x for divisor 0. The smallest int divided by -1 wraps to itself.
- Division and remainder by zero, and shifts by a negative count or by the width or more, raise `Undefined`.
- `float` results are rounded to 32 bits after each operation. Division of reals by zero gives inf or nan.
- Comparisons with NaN are false, but for `neq`. `min(a, b)` is `a < b ? a : b` and `max(a, b)` is `a > b ? a : b`, as
  the macros of the compiler's run-time system have it: with a NaN, both give b.
- A real is converted to an integer as x86-64 does it: truncated; out of range (or NaN) it is the smallest int of the
  instruction's width, 32 bits for int and less, else 64; then it is cut to the width of the type.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from functools import partial
from typing import Any

from sacpy.lang import reals
from sacpy.lang.primitives import CONVERSIONS
from sacpy.lang.types import BITS, SIGNED, UNSIGNED, WORDS, Scalar


class Undefined(ArithmeticError):
    """The operation has no result for these operands: `kind` is "division" or "shift"."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


# ---------------------------------------------------------------- base types

_LIMITS: dict[str, tuple[int, int]] = {
    **{base: (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) for base, bits in SIGNED.items()},
    **{base: (0, (1 << bits) - 1) for base, bits in UNSIGNED.items()},
    "char": (0, 255),
}
_FLOAT = struct.Struct("<f")
FLOAT_MAX = 3.4028234663852886e38
DOUBLE_MAX = 1.7976931348623157e308


def wrap(base: str, value: int) -> int:
    """An integer reduced to the width of its base type."""
    low, high = _LIMITS[base]
    return value if low <= value <= high else (value - low) % (high - low + 1) + low


def to_float(value: float) -> float:
    """A double rounded to 32 bits."""
    try:
        return float(_FLOAT.unpack(_FLOAT.pack(value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def integer_to_single(value: int) -> float:
    """An integer rounded to 32 bits once: to nearest, ties to even, without a detour over 53 bits."""
    excess = abs(value).bit_length() - 24
    if excess <= 0:
        return float(value)
    quotient, rest = divmod(abs(value), 1 << excess)
    half = 1 << (excess - 1)
    quotient += rest > half or (rest == half and quotient & 1)
    return math.copysign(float(quotient << excess), value)


def real_to_integer(base: str, value: float) -> int:
    """C's conversion on x86-64. The unsigned types of 64 bits have a case of their own for the upper half of their
    range."""
    if base in ("ulong", "ulonglong") and 2.0**63 <= value < 2.0**64:
        return int(value)
    smallest_int = -(1 << (63 if base == "uint" or BITS.get(base, 8) == 64 else 31))
    whole = math.trunc(value) if math.isfinite(value) else smallest_int
    return wrap(base, whole if smallest_int <= whole < -smallest_int else smallest_int)


def convert(base: str, value: Scalar) -> Scalar:
    """A value converted to another base type (`toi`, `tod`, ...)."""
    if base == "bool":
        return bool(value)
    if base == "double":
        return float(value)
    if base == "float":
        return to_float(value) if isinstance(value, float) else integer_to_single(int(value))
    if isinstance(value, float):
        return real_to_integer(base, value)
    return wrap(base, int(value))


def zero(base: str) -> Scalar:
    """The zero of a base type."""
    return convert(base, 0)


def one(base: str) -> Scalar:
    """The one of a base type."""
    return convert(base, 1)


def smallest(base: str) -> Scalar:
    """The smallest (finite) value of a base type."""
    if base in _LIMITS:
        return _LIMITS[base][0]
    return {"float": -FLOAT_MAX, "double": -DOUBLE_MAX, "bool": False}[base]


def largest(base: str) -> Scalar:
    """The largest (finite) value of a base type."""
    if base in _LIMITS:
        return _LIMITS[base][1]
    return {"float": FLOAT_MAX, "double": DOUBLE_MAX, "bool": True}[base]


# ---------------------------------------------------------------- two arguments


def _int_div(a: int, b: int) -> int:
    if b == 0:
        raise Undefined("division")
    return abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1)


def _int_mod(a: int, b: int) -> int:
    if b == 0:
        raise Undefined("division")
    return abs(a) % abs(b) * (-1 if a < 0 else 1)


def _real_div(a: float, b: float) -> float:
    if b != 0:
        return a / b
    return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, math.copysign(1, a) * math.copysign(1, b))


def _shift(base: str, op: str, a: int, b: int) -> int:
    if not 0 <= b < BITS[base]:
        raise Undefined("shift")
    return wrap(base, a << b) if op == "shl" else a >> b


_INTS: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": _int_div,
    "mod": _int_mod,
    "aplmod": lambda a, b: a % b if b else a,
    "bitand": operator.and_,
    "bitor": operator.or_,
    "bitxor": operator.xor,
}
_REALS: dict[str, Callable[[float, float], float]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": _real_div,
}
_COMPARISONS: dict[str, Callable[[Scalar, Scalar], bool]] = {
    "eq": operator.eq,
    "neq": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


BINARY = frozenset({*_INTS, *_COMPARISONS, *reals.BINARY, "shl", "shr", "min", "max", "and", "or"})


def binary(op: str, base: str, a: Scalar, b: Scalar) -> Scalar:
    """An element-wise primitive of two arguments of one base type. Raises `Undefined`."""
    if op in _COMPARISONS:
        return _COMPARISONS[op](a, b)
    if op == "min":
        return a if a < b else b
    if op == "max":
        return a if a > b else b
    if base == "bool":
        return (a and b) if op == "and" else (a or b)
    if base in ("double", "float"):
        result = (_REALS.get(op) or reals.BINARY[op])(float(a), float(b))
        return to_float(result) if base == "float" else result
    if op in ("shl", "shr"):
        return _shift(base, op, int(a), int(b))
    return wrap(base, _INTS[op](int(a), int(b)))


# ---------------------------------------------------------------- one argument


def bits_of(real: str, x: float) -> int:
    """The bits of a real, of any NaN those of the quiet and positive one."""
    return int.from_bytes(struct.pack(_FORMATS[real], math.nan if math.isnan(x) else x), "little")


def from_bits(real: str, bits: int) -> float:
    """The real of some bits. A NaN is a NaN, whatever else its bits say."""
    (value,) = struct.unpack(_FORMATS[real], bits.to_bytes(BITS[WORDS[real]] // 8, "little"))
    return float(value)


def type_of(op: str, base: str) -> str:
    """The base type of an element-wise primitive's result that is not a bool."""
    return CONVERSIONS.get(op) or (BIT_CASTS[op][0] if op in BIT_CASTS else base)


_FORMATS = {"float": "<f", "double": "<d"}
BIT_CASTS: dict[str, tuple[str, Callable[[Any], Scalar]]] = {
    **{f"bits_of_{real}": (word, partial(bits_of, real)) for real, word in WORDS.items()},
    **{f"{real}_of_bits": (real, partial(from_bits, real)) for real in WORDS},
}  # the type of the result, and how it is computed
_TESTS: dict[str, Callable[[float], bool]] = {"isnan": math.isnan, "isinf": math.isinf, "isfinite": math.isfinite}
UNARY = frozenset({*CONVERSIONS, *BIT_CASTS, *reals.UNARY, *_TESTS, "neg", "abs", "not", "bitnot", "reciproc"})


def unary(op: str, base: str, a: Scalar) -> Scalar:
    """An element-wise primitive of one argument."""
    if op in CONVERSIONS:
        return convert(CONVERSIONS[op], a)
    if op in BIT_CASTS:
        return BIT_CASTS[op][1](a)
    if op == "not":
        return not a
    if op in _TESTS:
        return _TESTS[op](a)
    if base in ("double", "float"):
        return _real_unary(op, base, float(a))
    value = int(a)
    return wrap(base, {"neg": -value, "abs": abs(value), "bitnot": ~value}[op])


def _real_unary(op: str, base: str, a: float) -> float:
    if op == "neg":
        return -a
    if op == "abs":
        return abs(a)
    result = _real_div(1.0, a) if op == "reciproc" else reals.UNARY[op](a)
    return to_float(result) if base == "float" else result


def is_exact(op: str, base: str) -> bool:
    """Whether folding gives what any libm gives: transcendental functions of `float` are left to the run-time's own
    (`sinf` is not `sin`, rounded)."""
    return base != "float" or op in reals.EXACT or op not in reals.FUNCTIONS

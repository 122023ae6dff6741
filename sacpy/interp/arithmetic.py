"""Scalar arithmetic with C's meaning: the functions that the interpreter's code calls.

In: Python's numbers. Out: numbers: integers wrap to their width, floats are rounded to 32 bits after each operation,
nothing but a division by zero or a shift out of range raises. `HELPERS` are the names that expressions (`scalar_text`)
use for these; generated functions have them as globals.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable
from typing import Any

import numpy as np

from sacpy.interp.errors import Fault
from sacpy.lang.constants import BIT_CASTS
from sacpy.lang.types import BITS, REAL, SIGNED

HELPERS: dict[str, Any] = {"_nan": math.nan, "_inf": math.inf}

_single = array("f", [0.0])


def _round_single(x: float) -> float:
    _single[0] = x
    return _single[0]


HELPERS["_f32"] = _round_single


def limits(base: str) -> tuple[int, int]:
    """Smallest and largest value of an integer base type (char included)."""
    bits = BITS.get(base, 8)
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if base in SIGNED else (0, (1 << bits) - 1)


def wrap(value: int, base: str) -> int:
    """An integer reduced to the width of its base type, as C does."""
    bits = BITS.get(base, 8)
    if base in SIGNED:
        half = 1 << bits - 1
        return ((value + half) & ((1 << bits) - 1)) - half
    return value & ((1 << bits) - 1)


def _wrapper(base: str) -> Callable[[int], int]:
    bits, half = BITS[base], 1 << BITS[base] - 1
    mask = (1 << bits) - 1
    return lambda value: ((value + half) & mask) - half


def division_by_zero(base: str) -> Fault:
    """The fault of an integer division by zero."""
    return Fault(
        "E0603", f"division by zero: the divisor of this {base} division is 0", help="test the divisor before dividing"
    )


def _divide(a: int, b: int, base: str = "int") -> int:
    if b == 0:
        raise division_by_zero(base)
    return wrap(a // b if (a >= 0) == (b > 0) else -(-a // b) if a < 0 else -(a // -b), base)


def _remainder(a: int, b: int, base: str = "int") -> int:
    if b == 0:
        raise division_by_zero(base)
    r = abs(a) % abs(b)
    return -r if a < 0 else r


def _check_shift(b: int, base: str) -> None:
    if not 0 <= b < BITS[base]:
        raise Fault("E0604", f"shift by {b}, but {base} has {BITS[base]} bits", help=f"shift by 0 to {BITS[base] - 1}")


def _shift_left(a: int, b: int, base: str = "int") -> int:
    _check_shift(b, base)
    return wrap(a << b, base)


def _shift_right(a: int, b: int, base: str = "int") -> int:
    _check_shift(b, base)
    return a >> b


def _float_divide(a: float, b: float) -> float:
    """IEEE division by a zero."""
    if a == 0 or a != a:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


HELPERS |= {"_fdiv0": _float_divide, "_fdiv": lambda a, b: a / b if b else _float_divide(a, b)}
HELPERS |= {"_min": min, "_abs": abs}
HELPERS |= {"_min2": lambda a, b: a if a < b else b, "_max2": lambda a, b: a if a > b else b}
HELPERS["_aplmod"] = lambda a, b: a % b if b else a
for _base in BITS:
    HELPERS |= {
        f"_w_{_base}": _wrapper(_base),
        f"_div_{_base}": lambda a, b, base=_base: _divide(a, b, base),
        f"_mod_{_base}": lambda a, b, base=_base: _remainder(a, b, base),
        f"_shl_{_base}": lambda a, b, base=_base: _shift_left(a, b, base),
        f"_shr_{_base}": lambda a, b, base=_base: _shift_right(a, b, base),
    }

# ---------------------------------------------------------------- the mathematical functions


def _total(function: Callable[..., float], pole: Callable[..., float]) -> Callable[..., float]:
    """libm's function without exceptions: `pole` gives the value where Python refuses the argument."""

    def call(*args: float) -> float:
        try:
            return function(*args)
        except (ValueError, OverflowError, ZeroDivisionError):
            return pole(*args)

    return call


def _nan(*_: float) -> float:
    return math.nan


def _log_pole(x: float) -> float:
    return -math.inf if x == 0 else math.nan


def _pow_pole(x: float, y: float) -> float:
    with np.errstate(all="ignore"):
        return float(np.power(np.float64(x), np.float64(y)))


def _gamma_pole(x: float) -> float:
    if x == 0 or -1 < x < 0:  # between the poles only overflow leads here
        return math.copysign(math.inf, x)
    return math.inf if x > 0 else math.nan


def _integral(function: Callable[[float], float]) -> Callable[[float], float]:
    """A rounding function that keeps infinities, NaN, and the sign of zero."""
    return lambda x: math.copysign(float(function(x)), x) if abs(x) < 4503599627370496.0 else x


def _half_away(x: float) -> float:
    whole = math.floor(abs(x))
    return float(whole + (abs(x) - whole >= 0.5))


REAL_FUNCTIONS: dict[str, Callable[..., float]] = {
    name: getattr(math, name) for name in ("asinh", "atan", "cbrt", "tanh", "erf", "erfc", "atan2", "hypot", "copysign")
}
REAL_FUNCTIONS |= {
    name: _total(getattr(math, name), _nan) for name in ("sin", "cos", "tan", "asin", "acos", "acosh", "sqrt", "fmod")
}
REAL_FUNCTIONS |= {
    name: _total(getattr(math, name), lambda x: math.inf) for name in ("exp", "exp2", "expm1", "cosh", "lgamma")
}
REAL_FUNCTIONS |= {name: _total(getattr(math, name), _log_pole) for name in ("log", "log2", "log10")}
REAL_FUNCTIONS |= {
    "sinh": _total(math.sinh, lambda x: math.copysign(math.inf, x)),
    "log1p": _total(math.log1p, lambda x: -math.inf if x == -1 else math.nan),
    "atanh": _total(math.atanh, lambda x: math.copysign(math.inf, x) if abs(x) == 1 else math.nan),
    "pow": _total(math.pow, _pow_pole),
    "tgamma": _total(math.gamma, _gamma_pole),
    "floor": _integral(math.floor),
    "ceil": _integral(math.ceil),
    "trunc": _integral(math.trunc),
    "rint": _integral(round),
    "round": _integral(_half_away),
}
HELPERS |= {f"_m_{name}": function for name, function in REAL_FUNCTIONS.items()}
HELPERS |= {"_m_isnan": math.isnan, "_m_isinf": math.isinf, "_m_isfinite": math.isfinite}

# ---------------------------------------------------------------- conversions

CONVERSIONS = {
    "tob": "byte", "tos": "short", "toi": "int", "tol": "long", "toll": "longlong", "toub": "ubyte", "tous": "ushort",
    "toui": "uint", "toul": "ulong", "toull": "ulonglong", "tof": "float", "tod": "double",
    "tobool": "bool", "toc": "char",
}  # fmt: skip


def real_to_integer(x: float, base: str) -> int:
    """C's conversion as x86-64 does it: out of range gives the smallest int of the instruction's width (32 bits for int
    and less, else 64), then cut to the type's width."""
    if base in ("ulong", "ulonglong") and 2.0**63 <= x < 2.0**64:
        return int(x)
    half = 1 << (63 if base in ("uint", "long", "longlong", "ulong", "ulonglong") else 31)
    whole = int(x) if math.isfinite(x) else half
    return wrap(whole if -half <= whole < half else -half, base)


def integer_to_single(x: int) -> float:
    """Rounded once, to 32 bits."""
    return (
        _round_single(float(x))
        if -(1 << 53) <= x <= 1 << 53
        else float(np.float32(np.uint64(x) if x > 0 else np.int64(x)))
    )


HELPERS["_i2f"] = integer_to_single
for _base in (*BITS, "char"):
    HELPERS[f"_r2i_{_base}"] = lambda x, base=_base: real_to_integer(x, base)
    HELPERS.setdefault(f"_cut_{_base}", lambda x, base=_base: wrap(x, base))


HELPERS |= {f"_{op}": function for op, (_, function) in BIT_CASTS.items()}


# ---------------------------------------------------------------- constants


def constant_of(op: str, base: str) -> str:
    """Zero, one, smallest and largest value of a base type."""
    if base in REAL:
        largest = "1.7976931348623157e+308" if base == "double" else "3.4028234663852886e+38"
        return {"zero": "0.0", "one": "1.0", "minval": f"(-{largest})", "maxval": largest}[op]
    if base == "bool":
        return "False" if op in ("zero", "minval") else "True"
    low, high = limits(base)
    return {"zero": "0", "one": "1", "minval": f"({low})", "maxval": str(high)}[op]

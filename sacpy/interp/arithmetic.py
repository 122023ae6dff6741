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

from sacpy.interp.errors import Fault
from sacpy.lang import reals
from sacpy.lang.constants import BIT_CASTS, integer_to_single, real_to_integer
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

HELPERS |= {f"_m_{name}": function for name, function in reals.FUNCTIONS.items()}
HELPERS |= {"_m_isnan": math.isnan, "_m_isinf": math.isinf, "_m_isfinite": math.isfinite}

HELPERS["_i2f"] = integer_to_single
for _base in (*BITS, "char"):
    HELPERS[f"_r2i_{_base}"] = lambda x, base=_base: real_to_integer(base, x)
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

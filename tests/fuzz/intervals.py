"""Reals as the default mode may have them: exact, or somewhere in an interval, or nobody knows where.

In: an operation and its operands. Out: what it may give when floating point is not strict. A value is a Python number
where it is certain to the last bit, an `Interval` of finite numbers, or `UNKNOWN`. What the documentation of the
compiler allows is what makes intervals:

- A product may stay unrounded, in an addition that it becomes one instruction with.
- A sum of n numbers that a fold adds up may be off by n * eps * the sum of their absolute values; a product likewise,
  relatively.
- The mathematical functions may be off by a few units in the last place, the logarithm of the gamma function near its
  zeros by as much as it may be at 1. Where they are exact (at zeros, infinities, NaN) they are so in every library.

All else is as in the interpreter; so operations on intervals give the interval of all that they might give, rounded
outwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any, Final, NamedTuple

from sacpy.interp.arithmetic import HELPERS
from sacpy.interp.errors import Fault
from sacpy.interp.scalar_text import scalar
from sacpy.lang import reals
from sacpy.lang.primitives import CONVERSIONS
from sacpy.lang.types import REAL

LARGEST = {"double": 1.7976931348623157e308, "float": 3.4028234663852886e38}
EPSILON = {"double": 2.0**-52, "float": 2.0**-23}
ULPS = 8  # that a function of the C library, or of its vector version, may be off
GAMMA = 20  # that the gamma function may be off: the C library and Python are off by up to ten each
ROUNDING = frozenset(reals.ROUNDINGS)
RISING = frozenset(
    (
        "exp",
        "exp2",
        "expm1",
        "log",
        "log2",
        "log10",
        "log1p",
        "cbrt",
        "asin",
        "atan",
        "sinh",
        "tanh",
        "asinh",
        "acosh",
        "atanh",
        "erf",
        "sqrt",
    )
)
FALLING = frozenset(("acos", "erfc"))
LIBRARY = frozenset(reals.FUNCTIONS) - ROUNDING - {"sqrt", "fmod", "copysign"}


class Interval(NamedTuple):
    """Finite bounds, both of them possible."""

    low: float
    high: float


class Unknown:
    """Any value."""

    def __repr__(self) -> str:
        return "unknown"


UNKNOWN: Final = Unknown()
Number = Any  # int, bool, float, Interval or Unknown


def ulp(x: float, base: str) -> float:
    """The distance of the numbers of a base type near x."""
    exponent = math.frexp(x)[1] if x else -2000
    return math.ldexp(1.0, max(exponent - 53, -1074) if base == "double" else max(exponent - 24, -149))


def around(low: float, high: float, base: str, ulps: float = 1.0) -> Interval | Unknown:
    """The interval with bounds rounded outwards."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return UNKNOWN
    low, high = low - ulps * ulp(low, base), high + ulps * ulp(high, base)
    return Interval(low, high) if -LARGEST[base] < low and high < LARGEST[base] else UNKNOWN


def bounds(x: Number) -> tuple[float, float]:
    """The bounds of a known number."""
    return (x.low, x.high) if isinstance(x, Interval) else (x, x)


@cache
def exactly(code: str, base: str, arity: int) -> Callable[..., Any]:
    """The interpreter's operation on scalars."""
    names = [f"a{k}" for k in range(arity)]
    text = scalar(code, base, names)
    assert text is not None
    # the same text as in generated functions
    function: Callable[..., Any] = eval(f"lambda {', '.join(names)}: {text}", dict(HELPERS))
    return function


def operation(code: str, base: str, args: Sequence[Number]) -> Number:
    """What an operation on operands of a base type may give."""
    if code == "select":
        return chosen(args[0], args[1], args[2])
    if code in ("and", "or") and any(a is (code == "or") for a in args):
        return code == "or"
    if any(a is UNKNOWN for a in args):
        return UNKNOWN
    if not any(isinstance(a, Interval) for a in args):
        try:
            found = exactly(code, base, len(args))(*args)
        except Fault:
            return UNKNOWN  # an operation that is carried out before it is checked
        return _slack(code, base, args, found)
    if any(isinstance(a, float) and not math.isfinite(a) for a in args):
        return _beside_special(code, args)
    return _on_intervals(code, base, args)


def chosen(condition: Number, then: Number, otherwise: Number) -> Number:
    """One of two values."""
    if condition is not UNKNOWN:
        return then if condition else otherwise
    if repr(then) == repr(otherwise):
        return then
    if all(isinstance(x, Interval) or (isinstance(x, float) and math.isfinite(x)) for x in (then, otherwise)):
        (a, b), (c, d) = bounds(then), bounds(otherwise)
        return Interval(min(a, c), max(b, d))
    return UNKNOWN


def _slack(code: str, base: str, args: Sequence[Any], found: Any) -> Number:
    """What may come out instead of `found`, for exact operands."""
    if base not in REAL or not isinstance(found, float):
        return found
    if code == "mul" and math.isinf(found) and all(map(math.isfinite, args)):
        return UNKNOWN  # what is too large once it is rounded need not be so before
    if not math.isfinite(found):
        return found
    if code == "mul":
        if found == 0 and 0 in args:
            return found
        return found if Fraction(args[0]) * Fraction(args[1]) == Fraction(found) else around(found, found, base)
    if code in LIBRARY and not (found == 0 and args[0] == 0) and all(map(math.isfinite, args)):
        return _off(code, found, found, base)
    return found


def _off(code: str, low: float, high: float, base: str) -> Number:
    """Results of a library function, each of which may be off."""
    if code == "lgamma":  # near its zeros only the absolute error is small
        return around(min(low, low - ULPS * EPSILON[base]), max(high, high + ULPS * EPSILON[base]), base, ULPS)
    return around(low, high, base, GAMMA if code == "tgamma" else ULPS)


def _beside_special(code: str, args: Sequence[Number]) -> Number:
    """An interval with an infinity or NaN."""
    special = next(a for a in args if isinstance(a, float) and not math.isfinite(a))
    if code in ("add", "sub", "mul", "div") and special != special:
        return math.nan
    middle = [
        a
        if isinstance(a, float)
        else (a.low + a.high) / 2
        if a.low > 0 or a.high < 0 or code in ("add", "sub")
        else math.nan
        for a in args
    ]
    if code in ("add", "sub", "lt", "le", "eq", "neq", "min", "max"):
        found = exactly(code, "double", 2)(*[(a.low + a.high) / 2 if isinstance(a, Interval) else a for a in args])
        return next(
            (a for a in args if isinstance(a, Interval) and code in ("min", "max") and found == (a.low + a.high) / 2),
            found,
        )
    if code in ("mul", "div") and not any(map(math.isnan, middle)):
        return exactly(code, "double", 2)(*middle)
    return UNKNOWN


def _on_intervals(code: str, base: str, args: Sequence[Number]) -> Number:
    a = bounds(args[0])
    b = bounds(args[1]) if len(args) > 1 else a
    match code:
        case "neg":
            return Interval(-a[1], -a[0])
        case "abs":
            return Interval(0.0 if a[0] <= 0 <= a[1] else min(abs(a[0]), abs(a[1])), max(abs(a[0]), abs(a[1])))
        case "min" | "max":
            pick = min if code == "min" else max
            return Interval(pick(a[0], b[0]), pick(a[1], b[1]))
        case "add":
            return around(a[0] + b[0], a[1] + b[1], base)
        case "sub":
            return around(a[0] - b[1], a[1] - b[0], base)
        case "mul":
            return _hull([x * y for x, y in product(a, b)], base, 2.0)
        case "div" | "reciproc":
            over, under = (a, b) if code == "div" else ((1.0, 1.0), a)
            return UNKNOWN if under[0] <= 0 <= under[1] else _hull([x / y for x, y in product(over, under)], base)
        case "lt" | "le" | "eq" | "neq":
            return _compared(code, a, b)
        case "isnan" | "isinf" | "isfinite":
            return code == "isfinite"
    if code in CONVERSIONS:
        return _converted(code, base, a)
    return _function(code, base, args, a, b)


def _hull(corners: list[float], base: str, ulps: float = 1.0) -> Number:
    return around(min(corners), max(corners), base, ulps) if all(map(math.isfinite, corners)) else UNKNOWN


def _compared(code: str, a: tuple[float, float], b: tuple[float, float]) -> Number:
    if code in ("eq", "neq"):
        return (code == "neq") if a[1] < b[0] or b[1] < a[0] else UNKNOWN
    if a[1] < b[0]:
        return True
    return False if a[0] > b[1] else UNKNOWN


def _converted(code: str, base: str, a: tuple[float, float]) -> Number:
    if code == "tod":
        return Interval(*a)
    if code == "tof":
        return around(a[0], a[1], "float")
    if code == "tobool":
        return UNKNOWN if a[0] <= 0 <= a[1] else True
    ends = [exactly(code, base, 1)(x) for x in a]
    return ends[0] if ends[0] == ends[1] and abs(a[0]) < 2.0**31 else UNKNOWN


def _function(code: str, base: str, args: Sequence[Number], a: tuple[float, float], b: tuple[float, float]) -> Number:
    """A mathematical function of intervals, where it is monotone on them."""
    f = reals.FUNCTIONS[code]
    if code in ROUNDING:
        low, high = f(a[0]), f(a[1])
        return low if low == high != 0 else Interval(low, high)
    if code in RISING or code in FALLING:
        return _hull([f(a[0]), f(a[1])], base, ULPS)
    if code == "cosh":
        return _hull([f(x) for x in (*a, 0.0 if a[0] <= 0 <= a[1] else a[0])], base, ULPS)
    if code in ("sin", "cos"):
        middle, half = f((a[0] + a[1]) / 2), (a[1] - a[0]) / 2
        return (
            _hull([middle - half, middle + half], base, ULPS)
            if half < 1
            else Interval(-1.0 - EPSILON[base], 1.0 + EPSILON[base])
        )
    if code == "tan":
        return (
            _hull([f(x) for x in a], base, ULPS)
            if a[1] - a[0] < 1 and math.floor(a[0] / math.pi - 0.5) == math.floor(a[1] / math.pi - 0.5)
            else UNKNOWN
        )
    if code in ("lgamma", "tgamma"):
        return _off(code, f(a[0]), f(a[1]), base) if a[0] > 2 and math.isfinite(f(a[1])) else UNKNOWN
    if code == "hypot" or (code == "pow" and a[0] > 0) or (code == "atan2" and b[0] > 0):
        near = [(0.0 if code == "hypot" and x[0] <= 0 <= x[1] else x[0], *x) for x in (a, b)]
        return _hull([f(x, y) for x, y in product(*near)], base, ULPS)
    if code == "copysign" and (b[0] > 0 or b[1] < 0):
        low, high = sorted(abs(x) for x in a) if a[0] > 0 or a[1] < 0 else (0.0, max(map(abs, a)))
        return Interval(low, high) if b[0] > 0 else Interval(-high, -low)
    if code == "fmod" and not isinstance(args[1], Interval) and math.trunc(a[0] / b[0]) == math.trunc(a[1] / b[0]):
        return _hull([f(x, b[0]) for x in a], base)
    return UNKNOWN


# ---------------------------------------------------------------- folds that may be regrouped


def total(terms: Sequence[Number], base: str) -> Number:
    """The sum of some terms in any order."""
    certain = _special(terms)
    if certain is not None:
        return certain
    ends = [bounds(t) for t in terms]
    size = sum(max(abs(low), abs(high)) for low, high in ends)
    if not size < LARGEST[base]:
        return UNKNOWN
    error = len(terms) * EPSILON[base] * size
    return around(math.fsum(low for low, _ in ends) - error, math.fsum(high for _, high in ends) + error, base)


def multiplied(terms: Sequence[Number], base: str) -> Number:
    """The product of some factors in any order."""
    certain = _special(terms)
    if certain is not None:
        return certain
    result: Number = 1.0
    sizes = [math.log2(max(map(abs, bounds(t)))) for t in terms if any(bounds(t))]
    limit = math.log2(LARGEST[base]) - 1
    if (
        math.fsum(max(s, 0) for s in sizes) > limit
        or any(low <= 0 <= high for low, high in map(bounds, terms))
        or math.fsum(min(s, 0) for s in sizes) < -limit + 10
    ):
        return UNKNOWN
    for t in terms:
        result = operation("mul", "double", (Interval(*bounds(result)), t))
        if result is UNKNOWN:
            return UNKNOWN
    error = 1 + 2 * len(terms) * EPSILON[base]
    low, high = bounds(result)
    return around(min(low * error, low / error), max(high * error, high / error), base)


def _special(terms: Sequence[Number]) -> Number | None:
    """What comes out for certain whatever the order: NaN. None where it must be computed."""
    if any(t is UNKNOWN for t in terms):
        return UNKNOWN
    if any(isinstance(t, float) and t != t for t in terms):
        return math.nan
    return UNKNOWN if any(isinstance(t, float) and math.isinf(t) for t in terms) else None

"""The functions of reals: each as the C library computes it, without exceptions.

In: Python's floats. Out: floats: NaN outside a function's domain, infinities at its poles and where it overflows.
Constant folding, the interpreter and what compiled code calls back take them from here, so that all give the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable

Real = Callable[..., float]
WHOLE = 2.0**52  # from here on every double is whole


def _total(function: Real, pole: Real) -> Real:
    """Python's function, with `pole` in place of its exceptions."""

    def call(*args: float) -> float:
        try:
            return function(*args)
        except (ValueError, OverflowError, ZeroDivisionError):
            return pole(*args)

    return call


def _log_pole(x: float) -> float:
    return -math.inf if x == 0 else math.nan


def _gamma_pole(x: float) -> float:
    if x == 0 or -1 < x < 0:  # between the poles only overflow leads here
        return math.copysign(math.inf, x)
    return math.inf if x > 0 else math.nan


def _pow_pole(a: float, b: float) -> float:
    odd = b % 2 == 1
    if a == 0:  # to a negative power
        return math.copysign(math.inf, a) if odd else math.inf
    if abs(b) != math.inf and b != math.floor(b) and a < 0:
        return math.nan
    return -math.inf if a < 0 and odd else math.inf


def _rounding(function: Callable[[float], float]) -> Real:
    """A rounding function that keeps infinities, NaN, and the sign of zero."""
    return lambda x: math.copysign(float(function(x)), x) if abs(x) < WHOLE else x


def _half_away(x: float) -> float:
    whole = math.floor(abs(x))
    return float(whole + (abs(x) - whole >= 0.5))


def _by_name(names: str, pole: Real | None = None) -> dict[str, Real]:
    found = {name: getattr(math, name) for name in names.split()}
    return found if pole is None else {name: _total(function, pole) for name, function in found.items()}


ROUNDINGS: dict[str, Real] = {
    "floor": _rounding(math.floor),
    "ceil": _rounding(math.ceil),
    "trunc": _rounding(math.trunc),
    "rint": _rounding(round),
    "round": _rounding(_half_away),
}
EXACT: dict[str, Real] = ROUNDINGS | _by_name("sqrt", lambda x: math.nan)  # what any C library gives
TRANSCENDENTAL: dict[str, Real] = {
    **_by_name("asinh atan cbrt tanh erf erfc"),
    **_by_name("sin cos tan asin acos acosh", lambda x: math.nan),
    **_by_name("exp exp2 expm1 cosh lgamma", lambda x: math.inf),
    **_by_name("log log2 log10", _log_pole),
    **_by_name("sinh", lambda x: math.copysign(math.inf, x)),
    "log1p": _total(math.log1p, lambda x: -math.inf if x == -1 else math.nan),
    "atanh": _total(math.atanh, lambda x: math.copysign(math.inf, x) if abs(x) == 1 else math.nan),
    "tgamma": _total(math.gamma, _gamma_pole),
}
UNARY: dict[str, Real] = TRANSCENDENTAL | EXACT
BINARY: dict[str, Real] = {
    **_by_name("atan2 hypot copysign"),
    **_by_name("fmod", lambda x, y: math.nan),
    **_by_name("pow", _pow_pole),
}
FUNCTIONS: dict[str, Real] = UNARY | BINARY

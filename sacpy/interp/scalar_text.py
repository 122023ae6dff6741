"""Scalar arithmetic as Python expressions with C's meaning.

In: a primitive, a base type and the texts of its operands (Python expressions of scalars), with the intervals that
integers lie in. Out: the text of an expression, which calls functions of `arithmetic` where Python's operators do not
do. The temporary `_t` is set and read at once, so that all expressions of a function share it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sacpy.interp.arithmetic import constant_of, limits
from sacpy.interp.intervals import Interval, result, within
from sacpy.lang import reals
from sacpy.lang.constants import BIT_CASTS
from sacpy.lang.primitives import CONVERSIONS
from sacpy.lang.types import REAL, SIGNED

_INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "eq": "==",
    "neq": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "bitand": "&",
    "bitor": "|",
    "bitxor": "^",
    "and": "and",
    "or": "or",
}
# Python compares ints up to here with each other at once, larger ones by a function
DIGIT = (1 << 30) - 1
FAULTY = frozenset({"div", "mod", "shl", "shr"})  # those that may raise on integers


def fit(text: str, base: str, range_: Interval) -> str:
    """The integer `text`, which lies in an interval, wrapped to `base`."""
    lowest, highest = limits(base)
    if within(range_, (lowest, highest)):
        return f"({text})"
    if base not in SIGNED:
        return f"({text} & {highest})"
    above, below = range_[1] > highest, range_[0] < lowest
    low, high = lowest if below else None, highest if above else None
    if highest <= DIGIT:
        test = _between(f"(_t := {text})", low, high)
    else:
        small = [f"(_t := {text}) < {DIGIT}"] if above else []
        small += [f"{'_t' if above else f'(_t := {text})'} > -{DIGIT}"] if below else []
        test = f"{' and '.join(small)} or {_between('_t', low, high)}"
    return f"(_t if {test} else _w_{base}(_t))"


def _between(text: str, lowest: int | None, highest: int | None) -> str:
    """The test that a value lies in a range."""
    if lowest is None:
        return f"{text} <= {highest}"
    return f"{text} >= {lowest}" if highest is None else f"{lowest} <= {text} <= {highest}"


def _range_of(text: str, base: str) -> Interval:
    """What an operand of which nothing but its text is known lies in."""
    constant = _constant(text)
    return limits(base) if constant is None else (constant, constant)


def _constant(text: str) -> int | None:
    try:
        return int(text.strip("()"))
    except ValueError:
        return None


def scalar(op: str, base: str, args: list[str], ranges: Sequence[Interval] | None = None) -> str | None:
    """The expression of an element-wise primitive on scalars of base type `base`; None for structural primitives.
    `ranges`: what integer operands lie in; without, what their texts tell."""
    if ranges is None:
        ranges = [_range_of(a, base) for a in args]
    if op in CONVERSIONS:
        return _convert(base, CONVERSIONS[op], args[0], ranges[0])
    if op in ("zero", "one", "minval", "maxval"):
        return constant_of(op, base)
    if op in BIT_CASTS:
        return f"_{op}({args[0]})"
    if base in REAL:
        text = _real(op, args)
        return f"_f32({text})" if text is not None and base == "float" and op not in _EXACT else text
    return _integer(op, base, args, ranges)


_EXACT = frozenset(
    [
        "neg",
        "abs",
        "min",
        "max",
        "eq",
        "neq",
        "lt",
        "le",
        "gt",
        "ge",
        "isnan",
        "isinf",
        "isfinite",
        "floor",
        "ceil",
        "rint",
        "round",
        "trunc",
        "copysign",
    ]
)


def _convert(source: str, target: str, a: str, range_: Interval) -> str:
    if source == target:
        return a
    if target == "bool":
        return f"({a} != 0)"
    if target == "double":
        return a if source == "float" else f"float({a})"
    if target == "float":
        return f"_f32({a})" if source == "double" else f"_i2f({a})"
    if source in REAL:
        return f"_r2i_{target}({a})"
    if source == "bool":
        return f"int({a})"
    return a if within(range_, limits(target)) else f"_cut_{target}({a})"


def _common(op: str, args: list[str]) -> str | None:
    if op in ("min", "max"):
        a, b = args
        return (
            f"({a} if {a} {'<' if op == 'min' else '>'} {b} else {b})"
            if a.isidentifier() and b.isidentifier()
            else f"_{op}2({a}, {b})"
        )
    if op in _INFIX:
        return f"({args[0]} {_INFIX[op]} {args[1]})"
    return None


def _real(op: str, args: list[str]) -> str | None:
    if op == "div":
        a, b = args
        try:
            if float(b) != 0:
                return f"({a} / {b})"
        except ValueError:
            pass
        return (
            f"({a} / {b} if {b} else _fdiv0({a}, {b}))" if a.isidentifier() and b.isidentifier() else f"_fdiv({a}, {b})"
        )
    if op == "neg":
        return f"(-{args[0]})"
    if op == "abs":
        return f"_abs({args[0]})"
    if op == "reciproc":
        return f"_fdiv(1.0, {args[0]})"
    if op in reals.FUNCTIONS or op in ("isnan", "isinf", "isfinite"):
        return f"_m_{op}({', '.join(args)})"
    return _common(op, args)


def _integer(op: str, base: str, args: list[str], ranges: Sequence[Interval]) -> str | None:
    found = result(op, ranges)
    if op in ("add", "sub", "mul"):
        return fit(f"{args[0]} {_INFIX[op]} {args[1]}", base, found or limits(base))
    if op == "div" or op == "mod":
        sign, divisor = "//" if op == "div" else "%", _constant(args[1])
        if ranges[0][0] >= 0 and ranges[1][0] > 0:
            return f"({args[0]} {sign} {args[1]})"
        if divisor is not None and divisor > 0:
            return f"(_t {sign} {divisor} if (_t := {args[0]}) >= 0 else -(-_t {sign} {divisor}))"
        return f"_{op}_{base}({args[0]}, {args[1]})"
    if op in ("shl", "shr"):
        return f"_{op}_{base}({args[0]}, {args[1]})"
    if op == "aplmod" and ranges[1][0] > 0:
        return f"({args[0]} % {args[1]})"
    if op == "aplmod":
        # the first text stands twice, but is evaluated once
        simple = _REPEATABLE(args[1]) is not None and len(args[0]) < 200
        return f"({args[0]} % {args[1]} if {args[1]} else {args[0]})" if simple else f"_aplmod({args[0]}, {args[1]})"
    if op == "neg":
        return fit(f"-{args[0]}", base, found or limits(base))
    if op == "abs":
        return fit(f"_abs({args[0]})", base, found or limits(base))
    if op == "not":
        return f"(not {args[0]})"
    if op == "bitnot":
        return f"(~{args[0]})" if base in SIGNED else f"({args[0]} ^ {limits(base)[1]})"
    return _common(op, args)


_REPEATABLE = re.compile(r"[\w.\[\]]+").fullmatch

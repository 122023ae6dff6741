"""Twins of the functions that work element by element: each is the primitive of the same meaning, on whole arrays.

A twin with an attribute `in_place` can also write its result into an argument: `in_place(*arguments, argument)`.
"""

from __future__ import annotations

import numpy as np

from sacpy.interp.runtime.elementwise import elementwise
from sacpy.interp.twins.tables import Factory, Twin
from sacpy.interp.values import Value
from sacpy.lang.types import REAL

BINARY = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "%": "mod", "mod": "aplmod", "min": "min", "max": "max",
    "^": "bitxor", "<<": "shl", ">>": "shr", "==": "eq", "!=": "neq", "<": "lt", "<=": "le", ">": "gt", ">=": "ge",
}  # fmt: skip
LOGICAL = {"&": ("bitand", "and"), "|": ("bitor", "or")}
UNARY = {"abs": "abs", "-": "neg", "!": "not"}
STEPS = {"++": "add", "--": "sub"}
_SAME = "tob toi tol toll toub tous toui toul toull tof tod tobool"
CONVERSIONS = {"tosh": "tos"} | {name: name for name in _SAME.split()}
REAL1 = (
    "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp expm1 log log2 log10 log1p sqrt cbrt floor "
    "ceil rint isnan isinf"
)
REAL2 = "atan2 pow hypot fmod copysign"


UFUNCS = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "neg": np.negative, "abs": np.absolute}
REAL_UFUNCS = {"div": np.divide, "sqrt": np.sqrt, "floor": np.floor, "ceil": np.ceil, "rint": np.rint}


def _of(op: str) -> Factory:
    def make(bases: tuple[str, ...], cell: int) -> Twin:
        function = elementwise(op, bases[0])
        ufunc = UFUNCS.get(op) or (REAL_UFUNCS.get(op) if bases[0] in REAL else None)
        if ufunc is None:
            return function

        def twin(*args: Value) -> Value:
            return function(*args)

        twin.in_place = ufunc  # type: ignore[attr-defined]
        return twin

    return make


def _logical(on_ints: str, on_bools: str) -> Factory:
    return lambda bases, cell: elementwise(on_bools if bases[0] == "bool" else on_ints, bases[0])


def _step(op: str) -> Factory:
    def make(bases: tuple[str, ...], cell: int) -> Twin:
        function = elementwise(op, bases[0])
        return lambda a: function(a, 1)

    return make


TWINS: dict[str, Factory] = {f"ArrayArith::{name}/2": _of(op) for name, op in BINARY.items()}
TWINS |= {f"ArrayArith::{name}/2": _logical(*ops) for name, ops in LOGICAL.items()}
TWINS |= {f"ArrayArith::{name}/1": _of(op) for name, op in (UNARY | CONVERSIONS).items()}
TWINS |= {f"ArrayArith::{name}/1": _step(op) for name, op in STEPS.items()}
TWINS |= {f"MathArray::{name}/1": _of(name) for name in REAL1.split()} | {
    "MathArray::fabs/1": _of("abs"),
    "MathArray::finite/1": _of("isfinite"),
}
TWINS |= {f"MathArray::{name}/2": _of(name) for name in REAL2.split()}
TWINS |= {"Char::tochar/1": _of("toc")}

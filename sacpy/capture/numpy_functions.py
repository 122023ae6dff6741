"""NumPy's functions of elements and reductions, one row for each.

In: calls of `np.f`, and methods of arrays. Out: calls of the SaC library with NumPy's meaning: sums of whole numbers
are `int` (64 bits), means of whole numbers are real, a NaN among what is compared comes through, and the smallest of
nothing is an error.
"""

from __future__ import annotations

import ast as py
from collections.abc import Callable
from typing import Any

import numpy as np

from sacpy.capture import build
from sacpy.capture.calls import METHODS, NUMPY, absolute
from sacpy.capture.conditions import alike, compared, truth_of
from sacpy.capture.frame import NOTHING, Frame, Val
from sacpy.capture.indexing import static_int
from sacpy.capture.kinds import INTS, LONG, Num, array
from sacpy.capture.numbers import combined, common, converted, elementwise
from sacpy.capture.places import ARGUMENTS, DIFFER, RANGE
from sacpy.lang import ast
from sacpy.nodes import replace

Given = dict[str, py.expr]


def given(frame: Frame, node: py.Call, names: str, required: int = 1, first: int = 0) -> Given:
    """The arguments of a call by the names of the parameters. `first`: how many of them the method's array is."""
    parameters = names.split()[first:]
    shown = py.unparse(node.func)
    found: Given = dict(zip(parameters, node.args))
    if len(node.args) > len(parameters):
        message = f"{shown} takes at most {len(parameters)} arguments here, not {len(node.args)}"
        raise frame.refused(node, message, "", ARGUMENTS)
    for keyword in node.keywords:
        if keyword.arg not in parameters or keyword.arg in found:
            help = f"it takes {', '.join(parameters)}"
            raise frame.refused(keyword.value, f"{shown} has no argument {keyword.arg} here", help, ARGUMENTS)
        found[str(keyword.arg)] = keyword.value
    for name in parameters[: required - first]:
        if name not in found:
            raise frame.refused(node, f"{shown} needs the argument {name}", "", ARGUMENTS)
    return found


def array_of(frame: Frame, node: py.expr) -> Val:
    """An argument that is a number or an array; a tuple of alike ones becomes one."""
    found = frame.value(node)
    if found.items is not None:
        from sacpy.capture.expressions import stacked

        return stacked(frame, node, list(found.items))
    if found.kind == NOTHING:
        raise frame.refused(node, "this gives nothing", "", DIFFER)
    return found


# ---------------------------------------------------------------- of elements


def _real(sac: str) -> Callable[[Frame, py.Call], Val]:
    def row(frame: Frame, node: py.Call) -> Val:
        found = array_of(frame, given(frame, node, "x")["x"])
        if found.kind.base in (*INTS, "bool"):
            found = converted(frame, found, "double")
        base = found.kind.base
        span = frame.span(node)
        if base == "complex" and sac not in ("exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh"):
            raise frame.refused(node, f"complex numbers have no {sac} here", "", DIFFER)
        result = "bool" if sac in ("isnan", "isinf", "finite") else base
        return elementwise(frame, node, [found], lambda e: build.call(sac, e, span), result, direct=base != "complex")

    return row


def _two_reals(sac: str) -> Callable[[Frame, py.Call], Val]:
    def row(frame: Frame, node: py.Call) -> Val:
        found = given(frame, node, "x1 x2", 2)
        a, b = array_of(frame, found["x1"]), array_of(frame, found["x2"])
        base = common(frame, node, a, b)
        base = base if base == "float" else "double"
        a, b = converted(frame, a, base), converted(frame, b, base)
        return elementwise(frame, node, [a, b], lambda e: build.call(sac, e, frame.span(node)), base)

    return row


def _operator(symbol: str) -> Callable[[Frame, py.Call], Val]:
    def row(frame: Frame, node: py.Call) -> Val:
        found = given(frame, node, "x1 x2", 2)
        a, b = array_of(frame, found["x1"]), array_of(frame, found["x2"])
        compare = symbol in ("==", "!=", "<", "<=", ">", ">=")
        return compared(frame, node, symbol, a, b) if compare else combined(frame, node, symbol, a, b)

    return row


def _extreme(sac: str) -> Callable[[Frame, py.Call], Val]:
    """`np.minimum`, `np.maximum`: a NaN comes through."""

    def row(frame: Frame, node: py.Call) -> Val:
        found = given(frame, node, "x1 x2", 2)
        return extreme(frame, node, sac, array_of(frame, found["x1"]), array_of(frame, found["x2"]))

    return row


def extreme(frame: Frame, node: py.AST, sac: str, a: Val, b: Val) -> Val:
    """The lesser or the greater, element by element."""
    base = common(frame, node, a, b)
    if base in ("complex", "bool"):
        raise frame.refused(node, f"{a.kind} has no order here", "", DIFFER)
    a, b = converted(frame, a, base), converted(frame, b, base)
    span = frame.span(node)
    found = elementwise(frame, node, [a, b], lambda e: frame.support(sac, e, span), base, direct=False)
    return replace(found, kind=replace(found.kind, low=LONG.low, high=LONG.high)) if base == "long" else found


def _clip(frame: Frame, node: py.Call, of: Val | None = None) -> Val:
    found = given(frame, node, "a a_min a_max", 3, of is not None)
    value = of if of is not None else array_of(frame, found["a"])
    raised = extreme(frame, node, "greater", value, array_of(frame, found["a_min"]))
    return extreme(frame, node, "lesser", raised, array_of(frame, found["a_max"]))


def _abs(frame: Frame, node: py.Call) -> Val:
    return absolute(frame, node, array_of(frame, given(frame, node, "x")["x"]))


def _square(frame: Frame, node: py.Call) -> Val:
    found = array_of(frame, given(frame, node, "x")["x"])
    found = frame.kept(found, node)
    return combined(frame, node, "*", found, found)


def _sign(frame: Frame, node: py.Call) -> Val:
    found = array_of(frame, given(frame, node, "x")["x"])
    if found.kind.base != "double":
        raise frame.refused(node, f"np.sign takes Double here, and this is {found.kind}", "convert it: x * 1.0", DIFFER)
    span = frame.span(node)
    return elementwise(frame, node, [found], lambda e: frame.support("signum", e, span), "double", direct=False)


def _not(frame: Frame, node: py.Call) -> Val:
    found = array_of(frame, given(frame, node, "x")["x"])
    if found.kind.base != "bool":
        raise frame.refused(node, f"np.logical_not takes bool, and this is {found.kind}", "compare it first", DIFFER)
    span = frame.span(node)
    return elementwise(frame, node, [found], lambda e: ast.Unary(ast.QName(None, "!", span), e[0], span), "bool")


def _where(frame: Frame, node: py.Call) -> Val:
    found = given(frame, node, "condition x y")
    test = array_of(frame, found["condition"])
    span = frame.span(node)
    if "x" not in found or "y" not in found:
        help = "write np.where(condition, x, y); for the places, np.flatnonzero(condition)"
        raise frame.refused(node, "np.where takes three arguments here", help, ARGUMENTS)
    a, b = array_of(frame, found["x"]), array_of(frame, found["y"])
    base = common(frame, node, a, b)
    a, b = converted(frame, a, base), converted(frame, b, base)
    if test.kind.rank == 0:
        expr = truth_of(frame, found["condition"], test)
        a, b = alike(frame, node, a, b)
        return elementwise(frame, node, [a, b], lambda e: ast.Conditional(expr, e[0], e[1], span), base,
                           direct=a.kind.rank == b.kind.rank)  # fmt: skip
    if test.kind.base != "bool":
        raise frame.refused(found["condition"], f"a condition is bool, and this is {test.kind}", "compare it", DIFFER)

    ranks = {v.kind.rank for v in (a, b) if v.kind.rank != 0}
    direct = ranks <= {test.kind.rank} and len({v.kind.ones for v in (test, a, b) if v.kind.rank}) == 1

    def make(e: list[ast.Expr]) -> ast.Expr:
        return build.call("where", e, span) if direct else ast.Conditional(e[0], e[1], e[2], span)

    return elementwise(frame, node, [test, a, b], make, base, direct=direct)


# ---------------------------------------------------------------- reductions

_SAC = {
    "sum": "sum", "prod": "prod", "min": "least", "max": "most", "any": "any", "all": "all",
    "mean": "Statistics::mean", "var": "Statistics::var", "std": "Statistics::std", "median": "Statistics::median",
}  # fmt: skip
_ALONG = {"sum": "Statistics::sum", "prod": "Statistics::prod", "any": "Statistics::any", "all": "Statistics::all",
          "min": "least_along", "max": "most_along"}  # fmt: skip


def axis_of(frame: Frame, node: py.expr | None, rank: int | None) -> int | None:
    """An axis, counted from 0; None for all."""
    if node is None or (isinstance(node, py.Constant) and node.value is None):
        return None
    axis = static_int(frame, node)
    if axis is None:
        raise frame.refused(node, "an axis is a number in the text", "write a call for each axis", RANGE)
    if rank is None:
        help = 'say how many axes it has, as in Double["n", "m"]'
        raise frame.refused(node, "the array's number of axes is not known", help, DIFFER)
    if not -rank <= axis < rank:
        raise frame.refused(node, f"there is no axis {axis}: the array has {rank}", f"use 0 to {rank - 1}", RANGE)
    return axis % rank


def axes_of(frame: Frame, node: py.expr | None, rank: int | None) -> list[int] | None:
    """One or several axes, counted from 0; None for all."""
    if isinstance(node, py.Tuple | py.List):
        found = [axis_of(frame, e, rank) for e in node.elts]
        return [axis for axis in found if axis is not None]
    axis = axis_of(frame, node, rank)
    return None if axis is None else [axis]


def _reduction(name: str) -> Callable[..., Val]:
    def row(frame: Frame, node: py.Call, of: Val | None = None) -> Val:
        found = given(frame, node, "a axis keepdims", 1, of is not None)
        value = of if of is not None else array_of(frame, found["a"])
        axes = axes_of(frame, found.get("axis"), value.kind.rank)
        keep = found.get("keepdims")
        kept = isinstance(keep, py.Constant) and keep.value is True
        if axes is None or len(axes) == 1:
            return reduced(frame, node, name, value, None if axes is None else axes[0], kept)
        if name not in ("sum", "prod", "min", "max", "mean", "any", "all") or len(set(axes)) != len(axes) or not axes:
            raise frame.refused(found["axis"], f"np.{name} takes one axis here", "use reshape, or one call each", RANGE)
        for axis in sorted(axes, reverse=True):  # the last first, so that the others keep their numbers
            value = reduced(frame, node, name, value, axis, kept)
        return value

    return row


def reduced(frame: Frame, node: py.AST, name: str, value: Val, axis: int | None, keep: bool = False) -> Val:
    """A reduction over all axes, or one."""
    base, rank, span = value.kind.base, value.kind.rank, frame.span(node)
    if name in ("any", "all") and base != "bool":
        raise frame.refused(node, f"np.{name} takes bool, and this is {value.kind}", "compare it: a != 0", DIFFER)
    if base == "complex" and name != "sum":
        raise frame.refused(node, f"complex numbers have no {name} here", "take .real and .imag", DIFFER)
    if rank == 0:
        raise frame.refused(node, f"np.{name} takes an array, and this is {value.kind}", "", DIFFER)
    if name in ("sum", "prod") and base in (*INTS, "bool"):
        value = converted(frame, converted(frame, value, "int") if base == "bool" else value, "long")
    elif base == "bool" and name not in ("any", "all"):
        value = converted(frame, value, "double" if name not in ("min", "max") else "int")
    elif base in INTS and name in ("mean", "var", "std", "median"):
        value = converted(frame, value, "double")
    base = value.kind.base
    if axis is None or rank == 1:
        sac = _SAC[name]
        expr = (
            frame.support(sac, [value.expr], span) if sac in ("least", "most") else build.call(sac, [value.expr], span)
        )
        found = Val(expr, array(base, 0))
    else:
        sac = _ALONG.get(name, _SAC[name])
        args = [build.integer(axis, span), value.expr]
        expr = frame.support(sac, args, span) if sac in ("least_along", "most_along") else build.call(sac, args, span)
        found = Val(expr, array(base, None if rank is None else rank - 1))
    if not keep:
        return found
    if rank is None:
        raise frame.refused(node, "keepdims needs an array of known rank", 'annotate it: Double["n", "m"]', DIFFER)
    gone = set(range(rank)) if axis is None else {axis}
    value = frame.kept(value, node)
    shape = [build.integer(1, span) if i in gone else build.extent(value.expr, i, span) for i in range(rank)]
    inner = build.array([found.expr], span) if found.kind.rank == 0 else found.expr
    return Val(build.call("reshape", [build.array(shape, span), inner], span), array(base, rank, frozenset(gone)))


def _best(name: str) -> Callable[..., Val]:
    """`argmin`, `argmax`, over all elements."""

    def row(frame: Frame, node: py.Call, of: Val | None = None) -> Val:
        found = given(frame, node, "a axis", 1, of is not None)
        value = of if of is not None else array_of(frame, found["a"])
        axis = axis_of(frame, found.get("axis"), value.kind.rank)
        span = frame.span(node)
        if value.kind.rank == 0:
            raise frame.refused(node, f"np.{name} takes an array, and this is {value.kind}", "", DIFFER)
        if axis is not None and value.kind.rank != 1:
            expr = build.call(f"Select::{name}", [build.integer(axis, span), value.expr], span)
            return Val(build.call("tol", [expr], span), array("long", (value.kind.rank or 1) - 1))
        flat = build.call("reshape", [build.call("shape", [value.expr], span), value.expr], span)
        if value.kind.rank != 1:
            value = frame.kept(value, node)
            total = build.call("prod", [build.call("shape", [value.expr], span)], span)
            flat = build.call("reshape", [build.array([total], span), value.expr], span)
        else:
            flat = value.expr
        return Val(build.call(f"Select::{name}", [flat], span), Num("int", 0, 0, (1 << 31) - 1))

    return row


def _norm(frame: Frame, node: py.Call) -> Val:
    found = array_of(frame, given(frame, node, "x")["x"])
    if found.kind.base != "double" or found.kind.rank not in (1, 2):
        raise frame.refused(node, f"np.linalg.norm takes Double with 1 or 2 axes, not {found.kind}", "", DIFFER)
    found = frame.kept(found, node)
    span = frame.span(node)
    total = build.call("sum", [build.binary("*", found.expr, found.expr, span)], span)
    return Val(build.call("sqrt", [total], span), Num("double", 0))


_UNARY = {
    "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "sinh": "sinh",
    "cosh": "cosh", "tanh": "tanh", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh", "exp": "exp",
    "expm1": "expm1", "log": "log", "log2": "log2", "log10": "log10", "log1p": "log1p", "sqrt": "sqrt", "cbrt": "cbrt",
    "floor": "floor", "ceil": "ceil", "rint": "rint", "isnan": "isnan", "isinf": "isinf", "isfinite": "finite",
}  # fmt: skip
_BINARY = {"arctan2": "atan2", "hypot": "hypot", "fmod": "fmod", "copysign": "copysign"}
_OPERATORS = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "floor_divide": "//", "mod": "%", "power": "**",
    "equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=",
    "logical_and": "&", "logical_or": "|", "logical_xor": "^", "bitwise_and": "&", "bitwise_or": "|",
    "bitwise_xor": "^",
}  # fmt: skip


def _table() -> dict[Any, Callable[[Frame, py.Call], Val]]:
    rows: dict[Any, Callable[[Frame, py.Call], Val]] = {}
    rows |= {getattr(np, name): _real(sac) for name, sac in _UNARY.items()}
    rows |= {getattr(np, name): _two_reals(sac) for name, sac in _BINARY.items()}
    rows |= {getattr(np, name): _operator(sac) for name, sac in _OPERATORS.items()}
    rows |= {getattr(np, name): _reduction(name) for name in _SAC}
    rows |= {np.argmin: _best("argmin"), np.argmax: _best("argmax"), np.minimum: _extreme("lesser")}
    rows |= {np.maximum: _extreme("greater"), np.clip: _clip, np.abs: _abs, np.fabs: _abs, np.square: _square}
    return rows | {np.sign: _sign, np.logical_not: _not, np.where: _where, np.linalg.norm: _norm}


NUMPY.update(_table())
METHODS.update({name: _reduction(name) for name in _SAC if name != "median"})
METHODS.update({"argmin": _best("argmin"), "argmax": _best("argmax"), "clip": _clip})

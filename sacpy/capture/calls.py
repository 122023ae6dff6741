"""Calls: of Python's own functions, of `math`, and methods and attributes of arrays.

In: the arguments as Python's tree. Out: values. Each function is a row in a table.
"""

from __future__ import annotations

import ast as py
import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from sacpy.capture import build
from sacpy.capture.comprehensions import folded, listed
from sacpy.capture.conditions import alike, truth_of
from sacpy.capture.frame import NOTHING, Frame, Val, handles
from sacpy.capture.kinds import BOOL, DOUBLE, EXTENT, INTS, LONG, Num, array, element, whole
from sacpy.capture.numbers import combined, converted, elementwise, literal_int
from sacpy.capture.places import ARGUMENTS, DIFFER, UNKNOWN
from sacpy.nodes import replace

Arguments = tuple[list[py.expr], dict[str, py.expr]]
Row = Callable[[Frame, py.Call, list[py.expr]], Val]
BUILTINS: dict[Any, Row] = {}
NUMPY: dict[Any, Callable[[Frame, py.Call], Val]] = {}
METHODS: dict[str, Callable[[Frame, py.Call, Val], Val]] = {}


@handles(py.Call)
def _call(frame: Frame, node: py.Call) -> Val:
    for argument in node.args:
        if isinstance(argument, py.Starred):
            raise frame.refused(argument, "'*' in a call is not taken", "write the arguments one by one")
    for keyword in node.keywords:
        if keyword.arg is None:
            raise frame.refused(keyword, "'**' in a call is not taken", "write the arguments one by one")
    function = frame.unit.resolve(frame, node.func)
    if frame.unit.is_captured(function):
        return frame.unit.call(frame, node, function)  # type: ignore[no-any-return]
    try:
        row, own = BUILTINS.get(function), NUMPY.get(function)
    except TypeError:
        row = own = None
    if own is not None:
        return own(frame, node)
    if row is not None:
        if node.keywords:
            name = py.unparse(node.func)
            raise frame.refused(node, f"{name} takes its arguments by position here", "", ARGUMENTS)
        return row(frame, node, node.args)
    if isinstance(node.func, py.Attribute) and frame.unit.is_missing(function):
        return _method(frame, node, node.func)
    shown = py.unparse(node.func)
    if frame.unit.is_missing(function):
        if isinstance(node.func, py.Name) and node.func.id not in frame.locals:
            raise frame.refused(node.func, f"{shown} is not defined", "", UNKNOWN)
        raise frame.refused(node.func, f"{shown} is no function", "", UNKNOWN)
    module = getattr(function, "__module__", "") or ""
    if module.partition(".")[0] in ("numpy", "math", "cmath", "builtins", "random") or isinstance(function, np.ufunc):
        help = "compute it in Python, and pass the result; docs/capture.md lists what there is"
        raise frame.refused(node.func, f"{shown} is not among the functions that are captured", help, UNKNOWN)
    help = f"decorate it: @sacpy.function above {shown}"
    raise frame.refused(node.func, f"{shown} is a Python function that is not captured", help, UNKNOWN)


def _method(frame: Frame, node: py.Call, function: py.Attribute) -> Val:
    found = frame.value(function.value)
    row = METHODS.get(function.attr)
    if row is None or found.items is not None or found.kind == NOTHING:
        if function.attr == "append":
            help = "make it whole: [.. for ..], or np.zeros(n) and a[i] = x"
            raise frame.refused(node, "an array does not grow by append", help)
        raise frame.refused(node, f"{frame.shown(found)} has no method {function.attr}", "", UNKNOWN)
    return row(frame, node, found)


def attribute(frame: Frame, node: py.Attribute) -> Val:
    """An attribute of a value."""
    found = frame.value(node.value)
    span, kind = frame.span(node), found.kind
    if found.items is not None or kind == NOTHING:
        raise frame.refused(node, f"{frame.shown(found)} has no attribute {node.attr}", "", UNKNOWN)
    match node.attr:
        case "shape" | "ndim" if kind.rank is None:
            help = 'say how many axes it has, as in Double["n", "m"], or use len(a) and a.size'
            raise frame.refused(node, "this array's number of axes is not known", help, DIFFER)
        case "shape":
            assert kind.rank is not None
            found = frame.kept(found, node) if frame.pre is not None else found
            return Val(build.truth(True, span), NOTHING, tuple(extent_of(found, i, span) for i in range(kind.rank)))
        case "ndim":
            return literal_int(frame, node, kind.rank or 0)
        case "size":
            return size_of(frame, node, found)
        case "T":
            return replace(transposed(frame, node, found), shares=found.shares)
        case "real" | "imag":
            if kind.base != "complex":
                help = "of a real number, x itself and 0.0"
                raise frame.refused(node, f"{kind} is not complex", help, DIFFER)
            part = elementwise(frame, node, [found], lambda e: build.call(node.attr, e, span), "double", direct=False)
            return replace(part, shares=found.shares)
    raise frame.refused(node, f"{kind} has no attribute {node.attr}", "", UNKNOWN)


def extent_of(found: Val, axis: int, span: Any) -> Val:
    """The extent of an axis."""
    if axis in found.kind.ones:
        return Val(build.integer(1, span), whole(1, 1))
    return Val(build.extent(found.expr, axis, span), EXTENT)


def size_of(frame: Frame, node: py.AST, found: Val) -> Val:
    """How many elements an array has."""
    span = frame.span(node)
    if found.kind.rank == 1:
        return extent_of(found, 0, span)
    return Val(build.call("prod", [build.call("shape", [found.expr], span)], span), EXTENT)


def transposed(frame: Frame, node: py.AST, found: Val) -> Val:
    """The axes in reverse order."""
    if found.kind.rank in (0, 1):
        return found
    return Val(build.call("transpose", [found.expr], frame.span(node)), array(found.kind.base, found.kind.rank))


# ---------------------------------------------------------------- Python's own


def count(frame: Frame, node: py.Call, wanted: int, most: int = 0) -> None:
    """Sees that there are so many arguments."""
    most = most or wanted
    if not wanted <= len(node.args) <= most:
        many = f"{wanted}" if wanted == most else f"{wanted} to {most}"
        shown = py.unparse(node.func)
        message = f"{shown} takes {many} argument{'s' * (most != 1)}, not {len(node.args)}"
        raise frame.refused(node, message, "", ARGUMENTS)


def _len(frame: Frame, node: py.Call, args: list[py.expr]) -> Val:
    count(frame, node, 1)
    found = frame.value(args[0])
    if found.items is not None:
        return literal_int(frame, node, len(found.items))
    if found.kind.rank == 0 or found.kind == NOTHING:
        raise frame.refused(node, f"{frame.shown(found)} has no length", "", DIFFER)
    return extent_of(found, 0, frame.span(node))


def absolute(frame: Frame, node: py.AST, found: Val) -> Val:
    """`abs`, `np.abs`."""
    span, kind = frame.span(node), found.kind
    if kind.base == "bool":
        found = converted(frame, found, "int") if kind.rank == 0 else found
    if kind.base == "complex":
        return elementwise(frame, node, [found], lambda e: build.call("norm", e, span), "double", direct=False)
    if found.kind.is_int:
        kind = found.kind
        if kind.low >= 0:
            return found
        high = max(-kind.low, kind.high)
        if not whole(0, high).is_small:
            found = frame.coerced(found, "long")
        return Val(build.call("abs", [found.expr], span), replace(whole(0, high), base=found.kind.base))
    return elementwise(frame, node, [found], lambda e: build.call("abs", e, span), kind.base)


def _abs(frame: Frame, node: py.Call, args: list[py.expr]) -> Val:
    count(frame, node, 1)
    found = frame.value(args[0])
    if found.items is not None or found.kind == NOTHING:
        raise frame.refused(node, f"{frame.shown(found)} has no absolute value", "", DIFFER)
    return absolute(frame, node, found)


def _extreme(name: str) -> Row:
    """`min` and `max`: of several numbers, of an array, of a generator."""

    def row(frame: Frame, node: py.Call, args: list[py.expr]) -> Val:
        span = frame.span(node)
        if len(args) == 1:
            found = listed(frame, args[0]) if isinstance(args[0], py.GeneratorExp) else frame.value(args[0])
            if found.items is not None:
                return best(frame, node, list(found.items))
            if found.kind.rank not in (1, None) or found.kind == NOTHING or found.kind.base not in ORDERED:
                message = f"{name} takes numbers or an array with one axis, not {frame.shown(found)}"
                raise frame.refused(node, message, f"use np.{name}(a)", DIFFER)
            return Val(frame.support(f"python_{name}", [found.expr], span), element(found.kind.base))
        if not args:
            raise frame.refused(node, f"{name} takes at least one argument", "", ARGUMENTS)
        return best(frame, node, [frame.scalar(a) for a in args])

    def best(frame: Frame, node: py.Call, items: list[Val]) -> Val:
        span = frame.span(node)
        result = items[0]
        for item in items[1:]:
            a, b = alike(frame, node, result, item)
            if a.kind.base not in ORDERED:
                raise frame.refused(node, f"{a.kind} has no order", "", DIFFER)
            ends = (min, max)[name == "max"]
            kind = replace(whole(ends(a.kind.low, b.kind.low), ends(a.kind.high, b.kind.high)), base=a.kind.base)
            called = name if a.kind.is_int else f"first_{name}"
            expr = (
                build.call(name, [a.expr, b.expr], span)
                if a.kind.is_int
                else frame.support(called, [a.expr, b.expr], span)
            )
            result = Val(expr, kind if a.kind.is_int else replace(a.kind, literal=False))
        return result

    return row


ORDERED = ("ubyte", "int", "long", "float", "double")


def _reduced(name: str) -> Row:
    def row(frame: Frame, node: py.Call, args: list[py.expr]) -> Val:
        count(frame, node, 1, 2 if name == "sum" else 1)
        if isinstance(args[0], py.GeneratorExp):
            found = folded(frame, node, args[0], name)
        else:
            of = frame.value(args[0])
            if of.items is not None:
                found = of.items[0]
                for item in of.items[1:]:
                    found = combined(frame, node, "+", found, item)
                return found
            if of.kind.rank != 1:
                message = f"{name} takes a generator or an array with one axis, not {frame.shown(of)}"
                raise frame.refused(node, message, f"use np.{name}(a), or np.{name}(a, axis=0)", DIFFER)
            found = NUMPY[{"sum": np.sum, "any": np.any, "all": np.all}[name]](frame, node)
        return found if len(args) == 1 else combined(frame, node, "+", frame.scalar(args[1]), found)

    return row


def _int(frame: Frame, node: py.Call, args: list[py.expr]) -> Val:
    count(frame, node, 1)
    found = frame.scalar(args[0])
    if found.kind.base == "complex":
        raise frame.refused(node, "a complex number is no int", "take z.real", DIFFER)
    if found.kind.is_int:
        return found
    if found.kind.base == "bool":
        return converted(frame, found, "int")
    return integer(frame, node, found)


def integer(frame: Frame, node: py.AST, found: Val) -> Val:
    """A real without its fraction, as an int."""
    return Val(frame.support("integer_of", [converted_real(frame, found).expr], frame.span(node)), LONG)


def converted_real(frame: Frame, found: Val) -> Val:
    """As a double."""
    if found.kind.base == "float":
        return Val(build.call("tod", [found.expr], found.span), replace(found.kind, base="double"))
    return converted(frame, found, "double")


def _float(frame: Frame, node: py.Call, args: list[py.expr]) -> Val:
    count(frame, node, 1)
    if isinstance(args[0], py.Constant) and isinstance(args[0].value, str):
        return frame.unit.constant(frame, node, float(args[0].value))  # type: ignore[no-any-return]
    found = frame.scalar(args[0])
    if found.kind.base == "complex":
        raise frame.refused(node, "a complex number is no float", "take z.real", DIFFER)
    return replace(converted_real(frame, found), shares=frozenset())


def _bool(frame: Frame, node: py.Call, args: list[py.expr]) -> Val:
    count(frame, node, 1)
    return Val(truth_of(frame, node, frame.value(args[0])), BOOL)


def _complex(frame: Frame, node: py.Call, args: list[py.expr]) -> Val:
    count(frame, node, 1, 2)
    found = [frame.scalar(a) for a in args]
    if len(found) == 1:
        return converted(
            frame, converted_real(frame, found[0]) if found[0].kind.base == "float" else found[0], "complex"
        )
    parts = [converted_real(frame, f).expr for f in found]
    return Val(build.call("toc", parts, frame.span(node)), Num("complex", 0))


def _round(frame: Frame, node: py.Call, args: list[py.expr]) -> Val:
    if len(args) == 2:
        raise frame.refused(node, "round to digits is not taken", "write round(x * 100.0) / 100.0")
    count(frame, node, 1)
    found = frame.scalar(args[0])
    if found.kind.is_int or found.kind.base == "bool":
        return found
    return integer(frame, node, Val(build.call("rint", [converted_real(frame, found).expr], frame.span(node)), DOUBLE))


def _divmod(frame: Frame, node: py.Call, args: list[py.expr]) -> Val:
    count(frame, node, 2)
    a, b = (frame.scalar(x) for x in args)
    if frame.pre is not None:
        a, b = frame.kept(a, node), frame.kept(b, node)
    items = (combined(frame, node, "//", a, b), combined(frame, node, "%", a, b))
    return Val(build.truth(True, frame.span(node)), NOTHING, items)


def _pow(frame: Frame, node: py.Call, args: list[py.expr]) -> Val:
    count(frame, node, 2)
    return combined(frame, node, "**", frame.scalar(args[0]), frame.scalar(args[1]))


def _list(frame: Frame, node: py.Call, args: list[py.expr]) -> Val:
    count(frame, node, 1)
    if isinstance(args[0], py.GeneratorExp):
        return listed(frame, args[0])
    if isinstance(args[0], py.Call) and frame.unit.resolve(frame, args[0].func) is range:
        name = py.copy_location(py.Name("_", py.Store()), node)
        read = py.copy_location(py.Name("_", py.Load()), node)
        made = py.copy_location(py.ListComp(read, [py.comprehension(name, args[0], [], 0)]), node)
        return listed(frame, made)
    return replace(frame.value(args[0]), shares=frozenset())


def _sorted(frame: Frame, node: py.Call, args: list[py.expr]) -> Val:
    count(frame, node, 1)
    return NUMPY[np.sort](frame, node)


def _not_alone(frame: Frame, node: py.Call, args: list[py.expr]) -> Val:
    name = py.unparse(node.func)
    raise frame.refused(node, f"{name} stands behind 'in' only", f"write: for .. in {name}(..)")


def _print(frame: Frame, node: py.Call, args: list[py.expr]) -> Val:
    raise frame.refused(node, "captured functions print nothing", "return the value, and print it in Python")


BUILTINS.update(
    {
        len: _len, abs: _abs, min: _extreme("min"), max: _extreme("max"), sum: _reduced("sum"), any: _reduced("any"),
        all: _reduced("all"), int: _int, float: _float, bool: _bool, complex: _complex, round: _round, divmod: _divmod,
        pow: _pow, list: _list, tuple: _list, sorted: _sorted, range: _not_alone, enumerate: _not_alone,
        zip: _not_alone, reversed: _not_alone, print: _print, np.float64: _float, np.int64: _int,
    }
)  # fmt: skip


# ---------------------------------------------------------------- math


def _real(name: str) -> Row:
    """A function of one or more reals."""
    arity = 2 if name in ("atan2", "pow", "hypot", "fmod", "copysign") else 1

    def row(frame: Frame, node: py.Call, args: list[py.expr]) -> Val:
        count(frame, node, arity)
        found = [converted_real(frame, frame.scalar(a)).expr for a in args]
        return Val(build.call(name, found, frame.span(node)), DOUBLE)

    return row


def _rounded(name: str) -> Row:
    """`floor`, `ceil`, `trunc`: to an int."""

    def row(frame: Frame, node: py.Call, args: list[py.expr]) -> Val:
        count(frame, node, 1)
        found = frame.scalar(args[0])
        if found.kind.is_int:
            return found
        found = converted_real(frame, found)
        inner = build.call(name, [found.expr], frame.span(node)) if name != "trunc" else found.expr
        return integer(frame, node, Val(inner, DOUBLE))

    return row


def _tested(name: str) -> Row:
    def row(frame: Frame, node: py.Call, args: list[py.expr]) -> Val:
        count(frame, node, 1)
        found = converted_real(frame, frame.scalar(args[0]))
        return Val(build.call(name, [found.expr], frame.span(node)), BOOL)

    return row


def _isqrt(frame: Frame, node: py.Call, args: list[py.expr]) -> Val:
    count(frame, node, 1)
    found = frame.scalar(args[0])
    if not found.kind.is_int:
        raise frame.refused(node, f"isqrt takes a whole number, and this is {frame.shown(found)}", "", DIFFER)
    return Val(frame.support("int_root", [frame.coerced(found, "long").expr], frame.span(node)), whole(0, 3037000499))


def _gcd(frame: Frame, node: py.Call, args: list[py.expr]) -> Val:
    count(frame, node, 2)
    found = [frame.scalar(a) for a in args]
    if not all(f.kind.is_int for f in found):
        raise frame.refused(node, "gcd takes whole numbers", "", DIFFER)
    return Val(frame.support("gcd_of", [frame.coerced(f, "long").expr for f in found], frame.span(node)), LONG)


def _scaled(factor: float) -> Row:
    def row(frame: Frame, node: py.Call, args: list[py.expr]) -> Val:
        count(frame, node, 1)
        found = converted_real(frame, frame.scalar(args[0]))
        span = frame.span(node)
        return Val(build.binary("*", found.expr, build.real(factor, span), span), DOUBLE)

    return row


_SAME = ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp", "expm1",
         "log2", "log10", "log1p", "sqrt", "atan2", "pow", "hypot", "fmod", "copysign", "fabs")  # fmt: skip


def _log(frame: Frame, node: py.Call, args: list[py.expr]) -> Val:
    count(frame, node, 1, 2)
    one, *base = [build.call("log", [converted_real(frame, frame.scalar(a)).expr], frame.span(node)) for a in args]
    return Val(build.binary("/", one, base[0], frame.span(node)) if base else one, DOUBLE)


BUILTINS.update({getattr(math, name): _real(name) for name in _SAME})
BUILTINS.update(
    {
        math.log: _log, math.floor: _rounded("floor"), math.ceil: _rounded("ceil"), math.trunc: _rounded("trunc"),
        math.isnan: _tested("isnan"), math.isinf: _tested("isinf"), math.isfinite: _tested("finite"),
        math.isqrt: _isqrt, math.gcd: _gcd, math.degrees: _scaled(180.0 / math.pi),
        math.radians: _scaled(math.pi / 180.0),
    }
)  # fmt: skip
if hasattr(math, "cbrt"):
    BUILTINS[math.cbrt] = _real("cbrt")


def _complex_function(name: str) -> Row:
    def row(frame: Frame, node: py.Call, args: list[py.expr]) -> Val:
        count(frame, node, 1)
        found = converted(frame, frame.scalar(args[0]), "complex")
        return Val(build.call(name, [found.expr], frame.span(node)), Num("complex", 0))

    return row


BUILTINS.update({getattr(cmath, name): _complex_function(name) for name in ("exp", "log", "sqrt", "sin", "cos")})
__all__ = ["BUILTINS", "INTS", "METHODS", "NUMPY", "absolute", "attribute", "count"]

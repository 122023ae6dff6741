"""NumPy's functions that make arrays and move their elements, one row for each.

In: calls of `np.f`, and methods of arrays. Out: comprehensions and calls of the SaC library.
"""

from __future__ import annotations

import ast as py
from collections.abc import Callable
from typing import Any

import numpy as np

from sacpy.capture import build
from sacpy.capture.calls import METHODS, NUMPY, converted_real, integer
from sacpy.capture.frame import Frame, Val
from sacpy.capture.kinds import INTS, Num, array
from sacpy.capture.numbers import converted
from sacpy.capture.numpy_functions import array_of, given
from sacpy.capture.places import DIFFER
from sacpy.capture.spaces import bound
from sacpy.lang import ast
from sacpy.nodes import replace

_TYPES: dict[Any, str] = {
    float: "double", int: "long", bool: "bool", complex: "complex", np.float64: "double", np.int64: "long",
    np.int32: "int", np.float32: "float", np.uint8: "ubyte", np.bool_: "bool", np.complex128: "complex",
}  # fmt: skip


def dtype(frame: Frame, node: py.expr | None, otherwise: str) -> str:
    """The base type that a dtype argument means."""
    if node is None:
        return otherwise
    found = frame.unit.resolve(frame, node)
    try:
        base = _TYPES.get(found)
    except TypeError:
        base = None
    if base is None and isinstance(node, py.Attribute) and node.attr == "dtype":
        return array_of(frame, node.value).kind.base
    if base is None:
        names = "float, int, bool, complex, np.float32, np.int32, np.uint8"
        raise frame.refused(node, f"{py.unparse(node)} is no type of elements here", f"use one of {names}", DIFFER)
    return base


def extents(frame: Frame, node: py.expr) -> list[Val]:
    """A shape: a number, or a tuple of them."""
    found = frame.value(node)
    items = [found] if found.items is None else list(found.items)
    return [bound(frame, node, item) for item in items]


def number(frame: Frame, node: py.AST, value: float, base: str) -> ast.Expr:
    """A number of a base type."""
    span = frame.span(node)
    if base == "bool":
        return build.truth(bool(value), span)
    if base == "ubyte":
        return ast.Literal("ubyte", int(value), f"{int(value)}ub", span)
    if base == "complex":
        return build.call("toc", [build.real(value, span), build.real(0.0, span)], span)
    return build.integer(int(value), span, base) if base in INTS else build.real(value, span, base)


def _filled(frame: Frame, node: py.AST, sizes: list[Val], value: ast.Expr, base: str) -> Val:
    span = frame.span(node)
    ones = frozenset(i for i, n in enumerate(sizes) if n.kind.low == n.kind.high == 1)
    if not sizes:
        return Val(value, array(base, 0))
    expr = build.call("genarray", [build.array([n.expr for n in sizes], span), value], span)
    return Val(expr, array(base, len(sizes), ones))


def _constant(value: float) -> Callable[[Frame, py.Call], Val]:
    def row(frame: Frame, node: py.Call) -> Val:
        found = given(frame, node, "shape dtype")
        base = dtype(frame, found.get("dtype"), "double")
        return _filled(frame, node, extents(frame, found["shape"]), number(frame, node, value, base), base)

    return row


def _constant_like(value: float) -> Callable[[Frame, py.Call], Val]:
    def row(frame: Frame, node: py.Call) -> Val:
        found = given(frame, node, "a dtype")
        of = array_of(frame, found["a"])
        base = dtype(frame, found.get("dtype"), of.kind.base)
        return _like(frame, node, of, number(frame, node, value, base), base)

    return row


def _like(frame: Frame, node: py.AST, of: Val, value: ast.Expr, base: str) -> Val:
    span = frame.span(node)
    if of.kind.rank == 0:
        return Val(value, array(base, 0))
    return Val(build.call("genarray", [build.call("shape", [of.expr], span), value], span),
               array(base, of.kind.rank, of.kind.ones))  # fmt: skip


def _full(frame: Frame, node: py.Call) -> Val:
    found = given(frame, node, "shape fill_value dtype", 2)
    value = frame.scalar(found["fill_value"])
    base = dtype(frame, found.get("dtype"), "long" if value.kind.is_int else value.kind.base)
    return _filled(frame, node, extents(frame, found["shape"]), cast(frame, node, value, base).expr, base)


def _full_like(frame: Frame, node: py.Call) -> Val:
    found = given(frame, node, "a fill_value dtype", 2)
    of = array_of(frame, found["a"])
    base = dtype(frame, found.get("dtype"), of.kind.base)
    return _like(frame, node, of, cast(frame, node, frame.scalar(found["fill_value"]), base).expr, base)


def cast(frame: Frame, node: py.AST, found: Val, base: str) -> Val:
    """A value with another type of elements, as `astype` gives it."""
    given, span = found.kind, frame.span(node)
    if given.base == base:
        return replace(found, shares=frozenset())
    if base in INTS and given.base in ("double", "float"):
        if given.rank == 0 and base == "long":
            return integer(frame, node, found)
        name = {"long": "tol", "int": "toi", "ubyte": "toub"}[base]
        return Val(build.call(name, [found.expr], span), array(base, given.rank, given.ones))
    if base == "bool":
        zero = number(frame, node, 0, given.base if given.base != "ubyte" else "ubyte")
        return Val(build.binary("!=", found.expr, zero, span), array(base, given.rank, given.ones))
    if given.base == "complex":
        raise frame.refused(node, "complex numbers do not become real by themselves", "take .real", DIFFER)
    if given.base == "double" and base == "float":
        return Val(build.call("tof", [found.expr], span), array(base, given.rank, given.ones))
    if given.base == "bool" and base != "complex" and given.rank != 0:
        name = {"long": "tol", "int": "toi", "double": "tod", "float": "tof", "ubyte": "toub"}[base]
        return Val(build.call(name, [found.expr], span), array(base, given.rank, given.ones))
    if given.base == "float" and base == "complex":
        found = converted_real(frame, found)
    return converted(frame, found, base)


def _astype(frame: Frame, node: py.Call, of: Val) -> Val:
    found = given(frame, node, "a dtype", 2, 1)
    return cast(frame, node, of, dtype(frame, found["dtype"], ""))


def _array(shared: bool) -> Callable[[Frame, py.Call], Val]:
    """`np.array`, and `np.asarray`, which copies nothing that is an array of that type already."""

    def row(frame: Frame, node: py.Call) -> Val:
        found = given(frame, node, "a dtype")
        of = array_of(frame, found["a"])
        base = dtype(frame, found.get("dtype"), of.kind.base)
        return replace(cast(frame, node, of, base), shares=of.shares if shared else frozenset())

    return row


def _scalar_of(base: str) -> Callable[[Frame, py.Call], Val]:
    def row(frame: Frame, node: py.Call) -> Val:
        return cast(frame, node, array_of(frame, given(frame, node, "x")["x"]), base)

    return row


def _copy(frame: Frame, node: py.Call, of: Val | None = None) -> Val:
    found = given(frame, node, "a", 1, of is not None)
    return replace(of if of is not None else array_of(frame, found["a"]), shares=frozenset())


def _arange(frame: Frame, node: py.Call) -> Val:
    found = given(frame, node, "start stop step dtype")
    span = frame.span(node)
    ends = [frame.scalar(found[n]) for n in ("start", "stop", "step") if n in found]
    if len(ends) == 1:
        ends = [Val(build.integer(0, span), Num("int", 0, 0, 0, literal=True)), *ends]
    name = frame.fresh("k")
    k = build.var(name, span)
    if all(e.kind.is_int for e in ends):
        low, high, *step = [frame.kept(bound(frame, node, e), node) for e in ends]
        by = step[0].expr if step else build.integer(1, span)
        count = frame.support("range_count", [low.expr, high.expr, by], span)
        if not step and low.kind.low == low.kind.high == 0:
            count, value = build.call("max", [high.expr, build.integer(0, span)], span), k
        else:
            value = build.binary("+", low.expr, build.binary("*", k, by, span) if step else k, span)
        made = Val(build.comprehension([name], build.call("tol", [value], span), [count], span), array("long", 1))
    else:
        reals = [frame.kept(converted_real(frame, e), node) for e in ends]
        by = reals[2].expr if len(reals) > 2 else build.real(1.0, span)
        count = frame.support("steps", [reals[0].expr, reals[1].expr, by], span)
        scaled = build.binary("*", build.call("tod", [k], span), by, span)
        made = Val(
            build.comprehension([name], build.binary("+", reals[0].expr, scaled, span), [count], span),
            array("double", 1),
        )
    return cast(frame, node, made, dtype(frame, found["dtype"], "")) if "dtype" in found else made


def _linspace(frame: Frame, node: py.Call) -> Val:
    found = given(frame, node, "start stop num", 2)
    span = frame.span(node)
    ends = [converted_real(frame, frame.scalar(found[n])).expr for n in ("start", "stop")]
    number = bound(frame, node, frame.scalar(found["num"])).expr if "num" in found else build.integer(50, span)
    return Val(frame.support("spaced", [*ends, number], span), array("double", 1))


def _eye(frame: Frame, node: py.Call) -> Val:
    found = given(frame, node, "n dtype")
    base = dtype(frame, found.get("dtype"), "double")
    span, n = frame.span(node), frame.kept(bound(frame, node, frame.scalar(found["n"])), node).expr
    i, j = frame.fresh("k"), frame.fresh("k")
    same = build.binary("==", build.var(i, span), build.var(j, span), span)
    value = ast.Conditional(same, number(frame, node, 1, base), number(frame, node, 0, base), span)
    return Val(build.comprehension([i, j], value, [n, n], span), array(base, 2))


NUMPY.update(
    {
        np.zeros: _constant(0), np.ones: _constant(1), np.empty: _constant(0), np.zeros_like: _constant_like(0),
        np.ones_like: _constant_like(1), np.empty_like: _constant_like(0), np.full: _full, np.full_like: _full_like,
        np.array: _array(False), np.asarray: _array(True), np.copy: _copy, np.arange: _arange, np.linspace: _linspace,
        np.eye: _eye, np.identity: _eye, np.float32: _scalar_of("float"), np.int32: _scalar_of("int"),
        np.uint8: _scalar_of("ubyte"),
    }
)  # fmt: skip
METHODS.update({"copy": _copy, "astype": _astype})

"""Literals, names, constants, tuples and lists.

In: expressions without operators. Out: their values. A name that is no variable of the function is a constant: its
value at the function's first use becomes a part of the SaC, so a later change of it has no effect.
"""

from __future__ import annotations

import ast as py
from typing import Any

import numpy as np

from sacpy.capture import build
from sacpy.capture.conditions import alike
from sacpy.capture.frame import NOTHING, Frame, Val, handles
from sacpy.capture.kinds import BOOL, Num, array
from sacpy.capture.numbers import converted, literal_int
from sacpy.capture.places import CANNOT, DIFFER, UNKNOWN
from sacpy.interp.values import DTYPES
from sacpy.lang import ast
from sacpy.nodes import replace

LARGEST = 4096  # elements of a constant array
_BASES = {np.dtype(DTYPES[b]): b for b in ("double", "float", "long", "int", "ubyte", "bool")}


@handles(py.Constant)
def _constant(frame: Frame, node: py.Constant) -> Val:
    return constant(frame, node, node.value)


def constant(frame: Frame, node: py.AST, value: Any, name: str = "") -> Val:
    """A value that is known now. Raises `SacError` for one that SaC has not."""
    span = frame.span(node)
    if isinstance(value, bool | np.bool_):
        return Val(build.truth(bool(value), span), BOOL)
    if isinstance(value, np.float32):
        return Val(build.real(float(value), span, "float"), Num("float", 0))
    if isinstance(value, int | np.integer):
        return literal_int(frame, node, int(value))
    if isinstance(value, float):
        return Val(build.real(float(value), span), Num("double", 0, literal=True))
    if isinstance(value, complex):
        parts = [build.real(value.real, span), build.real(value.imag, span)]
        return Val(build.call("toc", parts, span), Num("complex", 0))
    if isinstance(value, tuple):
        return Val(build.truth(True, span), NOTHING, tuple(constant(frame, node, item) for item in value))
    if isinstance(value, list | np.ndarray):
        return _array(frame, node, value, name)
    if isinstance(value, str | bytes):
        raise frame.refused(node, "text is not taken", "compute with numbers, and format in Python")
    if value is None:
        raise frame.refused(node, "None is no value here", "use a number that stands for it, such as -1 or np.nan")
    what = name or "this"
    kind = type(value).__name__
    raise frame.refused(node, f"{what} is a {kind}, which cannot be used here", "pass numbers or arrays", UNKNOWN)


def _array(frame: Frame, node: py.AST, value: Any, name: str) -> Val:
    span = frame.span(node)
    try:
        found = np.asarray(value)
    except ValueError:
        found = np.asarray([], object)
    base = "complex" if found.dtype == np.complex128 else _BASES.get(found.dtype.newbyteorder("="), "")
    what = name or "this"
    if not base:
        raise frame.refused(
            node, f"{what} is no array of numbers of one type", "convert it: np.array(.., float)", DIFFER
        )
    if found.size > LARGEST:
        message = f"{what} has {found.size} elements, and constants have at most {LARGEST}"
        raise frame.refused(node, message, "pass it as an argument")
    if found.ndim == 0:
        return constant(frame, node, found[()])

    def nested(part: Any) -> ast.Expr:
        if isinstance(part, np.ndarray):
            return build.array([nested(item) for item in part], span)
        if base == "complex":
            return build.call("toc", [build.real(part.real, span), build.real(part.imag, span)], span)
        if base == "bool":
            return build.truth(bool(part), span)
        if base in ("double", "float"):
            return build.real(float(part), span, base)
        return build.integer(int(part), span, base) if base != "ubyte" else _ubyte(int(part))

    def _ubyte(number: int) -> ast.Expr:
        return ast.Literal("ubyte", number, f"{number}ub", span)

    kind = array(base, found.ndim, frozenset(i for i, n in enumerate(found.shape) if n == 1))
    shares = frozenset((name,)) if name and isinstance(value, np.ndarray) else frozenset()
    expr = nested(found) if found.size else empty(base, found.shape, span)
    return Val(expr, kind, None, shares)


def empty(base: str, shape: tuple[int, ...], span: Any) -> ast.Expr:
    """An array without elements."""
    extents = tuple(ast.FixedExtent(n, span) for n in shape)
    return ast.EmptyArray(build.sac_type(base, extents, span), span)


@handles(py.Name)
def _name(frame: Frame, node: py.Name) -> Val:
    if node.id in frame.renamed or node.id in frame.locals:
        return frame.read(node.id, node)
    found = frame.look(node.id)
    if found is MISSING:
        from sacpy.base.spelling import closest

        near = closest(node.id, list(frame.locals))
        raise frame.refused(node, f"{node.id} is not defined", f"did you mean {near[0]}?" if near else "", UNKNOWN)
    if callable(found) or isinstance(found, type(np)):
        message = f"{node.id} is no value here, but a {type(found).__name__}"
        raise frame.refused(node, message, "call it, or use what it holds", UNKNOWN)
    return constant(frame, node, found, node.id)


MISSING = object()


@handles(py.Attribute)
def _attribute(frame: Frame, node: py.Attribute) -> Val:
    found = frame.unit.resolve(frame, node)
    if found is not MISSING:
        if callable(found):
            raise frame.refused(node, f"{py.unparse(node)} is a function", "call it", UNKNOWN)
        return constant(frame, node, found, py.unparse(node))
    return frame.unit.attribute(frame, node)  # type: ignore[no-any-return]


@handles(py.Tuple)
def _tuple(frame: Frame, node: py.Tuple) -> Val:
    return Val(build.truth(True, frame.span(node)), NOTHING, tuple(frame.value(e) for e in node.elts))


@handles(py.List)
def _list(frame: Frame, node: py.List) -> Val:
    if not node.elts:
        help = "say what it is to hold: np.zeros(0), or fill it with a comprehension"
        raise frame.refused(node, "an empty list has no type", help, DIFFER)
    return stacked(frame, node, [frame.value(e) for e in node.elts])


def stacked(frame: Frame, node: py.AST, items: list[Val]) -> Val:
    """The array with these elements."""
    first = items[0]
    for item in items:
        if item.items is not None or item.kind == NOTHING or item.kind.rank != first.kind.rank:
            message = f"the elements of an array are alike, and these are {frame.shown(first)} and {frame.shown(item)}"
            if item is first:
                message = f"{frame.shown(item)} is no element of an array"
            raise frame.refused(node, message, "", DIFFER)
    for _ in range(2):  # what the last ones are, the first ones become
        for i in range(1, len(items)):
            items[i - 1], items[i] = alike(frame, node, items[i - 1], items[i])
        items.reverse()
    if items[0].kind.is_int:
        items = [converted(frame, item, "long") for item in items]
    kind = items[0].kind
    expr = build.array([item.expr for item in items], frame.span(node))
    rank = None if kind.rank is None else kind.rank + 1
    return Val(expr, array(kind.base, rank))


__all__ = ["CANNOT", "MISSING", "constant", "empty", "replace", "stacked"]

"""NumPy's functions that move, order and combine the elements of arrays, one row for each.

In: calls of `np.f`, and methods of arrays. Out: comprehensions and calls of the SaC library.
"""

from __future__ import annotations

import ast as py
from collections.abc import Callable

import numpy as np

from sacpy.capture import build
from sacpy.capture.calls import METHODS, NUMPY, size_of
from sacpy.capture.conditions import alike
from sacpy.capture.frame import Frame, Val
from sacpy.capture.indexing import static_int
from sacpy.capture.kinds import INTS, Num, array
from sacpy.capture.linear import product
from sacpy.capture.numbers import converted
from sacpy.capture.numpy_arrays import cast, number
from sacpy.capture.numpy_functions import array_of, axis_of, given
from sacpy.capture.places import ARGUMENTS, DIFFER, RANGE
from sacpy.capture.spaces import bound
from sacpy.lang import ast
from sacpy.nodes import replace


def _reshape(frame: Frame, node: py.Call, of: Val | None = None) -> Val:
    if of is not None:
        parts = list(node.args[0].elts) if len(node.args) == 1 and isinstance(node.args[0], py.Tuple) else node.args
        value = of
    else:
        found = given(frame, node, "a newshape", 2)
        value, shape = array_of(frame, found["a"]), found["newshape"]
        parts = list(shape.elts) if isinstance(shape, py.Tuple) else [shape]
    span = frame.span(node)
    value = frame.kept(value, node)
    sizes = [frame.scalar(p) for p in parts]
    free = [i for i, n in enumerate(sizes) if n.kind.low == n.kind.high == -1]
    if len(free) > 1:
        raise frame.refused(node, "only one extent of a new shape can be -1", "", RANGE)
    exprs = [bound(frame, node, n).expr for n in sizes]
    if free:
        rest: ast.Expr = build.integer(1, span)
        for i, e in enumerate(exprs):
            if i not in free:
                rest = e if isinstance(rest, ast.Literal) else build.binary("*", rest, e, span)
        total = size_of(frame, node, value).expr
        exprs[free[0]] = total if len(exprs) == 1 else frame.support("share_of", [total, rest], span)
    ones = frozenset(i for i, n in enumerate(sizes) if n.kind.low == n.kind.high == 1)
    expr = build.call("reshape", [build.array(exprs, span), value.expr], span)
    return Val(expr, array(value.kind.base, len(exprs), ones), None, value.shares)


def _flat(shared: bool) -> Callable[..., Val]:
    def row(frame: Frame, node: py.Call, of: Val | None = None) -> Val:
        found = given(frame, node, "a", 1, of is not None)
        value = flattened(frame, node, of if of is not None else array_of(frame, found["a"]))
        return value if shared else replace(value, shares=frozenset())

    return row


def flattened(frame: Frame, node: py.AST, value: Val) -> Val:
    """The elements in one row."""
    if value.kind.rank == 1:
        return value
    value, span = frame.kept(value, node), frame.span(node)
    size = size_of(frame, node, value).expr
    expr = build.call("reshape", [build.array([size], span), value.expr], span)
    return Val(expr, array(value.kind.base, 1), None, value.shares)


def _roll(frame: Frame, node: py.Call) -> Val:
    found = given(frame, node, "a shift axis", 2)
    value = array_of(frame, found["a"])
    axis = axis_of(frame, found.get("axis"), value.kind.rank)
    span = frame.span(node)
    if axis is None and value.kind.rank != 1:
        help = "say along which axis: np.roll(a, 1, axis=0)"
        raise frame.refused(node, "np.roll without an axis is for arrays with one axis here", help, ARGUMENTS)
    count = bound(frame, found["shift"], frame.scalar(found["shift"])).expr
    expr = build.call("rotate", [build.integer(axis or 0, span), count, value.expr], span)
    return Val(expr, array(value.kind.base, value.kind.rank))


def _flip(frame: Frame, node: py.Call) -> Val:
    found = given(frame, node, "a axis")
    value = array_of(frame, found["a"])
    axis = axis_of(frame, found.get("axis"), value.kind.rank)
    span, expr = frame.span(node), value.expr
    if value.kind.rank is None:
        raise frame.refused(node, "the array's number of axes is not known", 'annotate it: Double["n", "m"]', DIFFER)
    for i in range(value.kind.rank) if axis is None else (axis,):
        expr = build.call("reverse", [build.integer(i, span), expr], span)
    return Val(expr, array(value.kind.base, value.kind.rank), None, value.shares)


def sequence(frame: Frame, node: py.expr) -> list[Val]:
    """Arrays in a tuple or a list."""
    if isinstance(node, py.Tuple | py.List):
        return [array_of(frame, e) for e in node.elts]
    found = frame.value(node)
    if found.items is None:
        raise frame.refused(node, "a tuple or list of arrays is needed here", "write (a, b)", ARGUMENTS)
    return list(found.items)


def _concatenate(frame: Frame, node: py.Call) -> Val:
    found = given(frame, node, "arrays axis")
    items = sequence(frame, found["arrays"])
    return joined(frame, node, items, axis_of(frame, found.get("axis"), items[0].kind.rank) or 0)


def joined(frame: Frame, node: py.AST, items: list[Val], axis: int) -> Val:
    """Arrays one behind the other along an axis."""
    result, span = items[0], frame.span(node)
    for item in items[1:]:
        a, b = alike(frame, node, result, item)
        if not a.kind.rank or a.kind.rank != b.kind.rank:
            raise frame.refused(node, f"{a.kind} and {b.kind} cannot be joined", "give both the same axes", DIFFER)
        expr: ast.Expr
        if axis == 0:
            expr = ast.Binary(ast.QName(None, "++", span), a.expr, b.expr, span)
        elif axis == a.kind.rank - 1:
            expr = build.call("catenate", [a.expr, b.expr], span)
        else:
            raise frame.refused(node, "arrays are joined along the first or the last axis here", "", RANGE)
        result = Val(expr, array(a.kind.base, a.kind.rank))
    return replace(result, shares=frozenset())


def _pad(frame: Frame, node: py.Call) -> Val:
    found = given(frame, node, "a pad_width mode constant_values", 2)
    value = frame.kept(array_of(frame, found["a"]), node)
    mode = found.get("mode")
    name = mode.value if isinstance(mode, py.Constant) else "constant" if mode is None else ""
    if name not in ("constant", "edge", "wrap", "reflect") or value.kind.rank in (None, 0):
        raise frame.refused(mode or node, "np.pad takes the modes constant, edge, wrap and reflect here", "", ARGUMENTS)
    assert value.kind.rank is not None
    rank, span = value.kind.rank, frame.span(node)
    widths = _widths(frame, found["pad_width"], rank)
    fill = frame.scalar(found["constant_values"]) if "constant_values" in found else None
    base = value.kind.base
    other = number(frame, node, 0, base) if fill is None else cast(frame, node, fill, base).expr
    names = [frame.fresh("k") for _ in range(rank)]
    upper: list[ast.Expr] = []
    places: list[ast.Expr] = []
    inside: ast.Expr | None = None
    for axis, (name_, (before, after)) in enumerate(zip(names, widths)):
        n = build.extent(value.expr, axis, span)
        upper.append(build.binary("+", n, build.integer(before + after, span), span))
        place: ast.Expr = build.binary("-", build.var(name_, span), build.integer(before, span), span)
        if name != "constant":
            place = frame.support(f"place_{name}", [place, n], span)
        else:
            for test in (build.binary(">=", place, build.integer(0, span), span), build.binary("<", place, n, span)):
                inside = test if inside is None else ast.Logical("&&", inside, test, span)
        places.append(place)
    cell: ast.Expr = ast.Select(value.expr, tuple(places), span)
    if inside is not None:
        cell = ast.Conditional(inside, cell, other, span)
    return Val(build.comprehension(names, cell, upper, span), array(base, rank))


def _widths(frame: Frame, node: py.expr, rank: int) -> list[tuple[int, int]]:
    def number(part: py.expr) -> int:
        found = static_int(frame, part)
        if found is None or found < 0:
            raise frame.refused(part, "a width of np.pad is a number from 0 on in the text", "", RANGE)
        return found

    if not isinstance(node, py.Tuple):
        return [(number(node),) * 2] * rank
    if not any(isinstance(e, py.Tuple) for e in node.elts) and len(node.elts) == 2:
        return [(number(node.elts[0]), number(node.elts[1]))] * rank
    pairs = [e for e in node.elts if isinstance(e, py.Tuple) and len(e.elts) == 2]
    if len(pairs) != rank or len(node.elts) != rank:
        raise frame.refused(node, f"np.pad takes a pair of widths for each of {rank} axes", "", ARGUMENTS)
    return [(number(p.elts[0]), number(p.elts[1])) for p in pairs]


def _along(sac: str, base: str = "") -> Callable[..., Val]:
    """`cumsum`, `sort`, `argsort`: along an axis, by default the last one of `sort`, and of one axis only else."""

    def row(frame: Frame, node: py.Call, of: Val | None = None) -> Val:
        found = given(frame, node, "a axis", 1, of is not None)
        value = of if of is not None else array_of(frame, found["a"])
        rank, span = value.kind.rank, frame.span(node)
        axis = axis_of(frame, found.get("axis"), rank)
        if not rank or value.kind.base == "complex":
            raise frame.refused(
                node, f"this takes an array of real numbers with known axes, not {value.kind}", "", DIFFER
            )
        if axis is None and rank > 1:
            if sac.startswith("Scan"):
                value = flattened(frame, node, frame.kept(value, node))
                rank = 1
            axis = rank - 1
        own = value.kind.base
        if sac.startswith("Scan") and own in (*INTS, "bool"):
            value, own = converted(frame, converted(frame, value, "int") if own == "bool" else value, "long"), "long"
        args = [value.expr] if rank == 1 else [build.integer(axis or 0, span), value.expr]
        expr = build.call(sac, args, span)
        return Val(build.call("tol", [expr], span) if base == "long" else expr, array(base or own, rank))

    return row


def _dot(frame: Frame, node: py.Call, of: Val | None = None) -> Val:
    found = given(frame, node, "a b", 2, of is not None)
    value = of if of is not None else array_of(frame, found["a"])
    return product(frame, node, value, array_of(frame, found["b"]))


def _outer(frame: Frame, node: py.Call) -> Val:
    found = given(frame, node, "a b", 2)
    a, b = alike(frame, node, array_of(frame, found["a"]), array_of(frame, found["b"]))
    if a.kind.rank != 1 or b.kind.rank != 1:
        raise frame.refused(node, "np.outer takes two arrays with one axis", "", DIFFER)
    a, b = frame.kept(a, node), frame.kept(b, node)
    span, i, j = frame.span(node), frame.fresh("k"), frame.fresh("k")
    parts = [ast.Select(v.expr, (build.var(n, span),), span) for v, n in ((a, i), (b, j))]
    upper = [build.extent(v.expr, 0, span) for v in (a, b)]
    return Val(
        build.comprehension([i, j], build.binary("*", parts[0], parts[1], span), upper, span), array(a.kind.base, 2)
    )


def _diff(frame: Frame, node: py.Call) -> Val:
    found = given(frame, node, "a n axis")
    value = array_of(frame, found["a"])
    rank = value.kind.rank
    if not rank or value.kind.base == "bool":
        raise frame.refused(node, f"np.diff takes numbers with known axes here, not {value.kind}", "", DIFFER)
    axis = axis_of(frame, found.get("axis"), rank) if "axis" in found else rank - 1
    times = static_int(frame, found["n"]) if "n" in found else 1
    if times is None or times < 0 or axis is None:
        raise frame.refused(found.get("n", node), "how often is a number from 0 on in the text", "", RANGE)
    for _ in range(times):
        value = _differences(frame, node, value, axis, rank)
    return value


def _differences(frame: Frame, node: py.AST, value: Val, axis: int, rank: int) -> Val:
    value, span = frame.kept(value, node), frame.span(node)
    names = [frame.fresh("k") for _ in range(rank)]
    upper = [build.extent(value.expr, k, span) for k in range(rank)]
    one = build.integer(1, span)
    before: list[ast.Expr] = [build.var(k, span) for k in names]
    after = [build.binary("+", e, one, span) if k == axis else e for k, e in enumerate(before)]
    less = build.binary("-", upper[axis], one, span)
    upper[axis] = build.call("max", [less, build.integer(0, span)], span)
    later, earlier = (ast.Select(value.expr, tuple(at), span) for at in (after, before))
    cell = build.binary("-", later, earlier, span)
    return Val(build.comprehension(names, cell, upper, span), array(value.kind.base, rank))


def _searchsorted(frame: Frame, node: py.Call) -> Val:
    found = given(frame, node, "a v side", 2)
    side = found.get("side")
    right = isinstance(side, py.Constant) and side.value == "right"
    a, v = alike(frame, node, array_of(frame, found["a"]), array_of(frame, found["v"]))
    name = "Sort::searchsorted_right" if right else "Sort::searchsorted"
    expr = build.call(name, [a.expr, v.expr], frame.span(node))
    if v.kind.rank == 0:
        return Val(expr, Num("int", 0, 0, (1 << 31) - 1))
    return Val(build.call("tol", [expr], frame.span(node)), array("long", v.kind.rank))


def _places(frame: Frame, node: py.Call) -> Val:
    value = array_of(frame, given(frame, node, "a")["a"])
    if value.kind.base != "bool" or value.kind.rank != 1:
        message = f"np.flatnonzero takes bool with one axis, not {value.kind}"
        raise frame.refused(node, message, "compare it: a != 0", DIFFER)
    span = frame.span(node)
    return Val(build.call("tol", [build.call("Select::nonzero", [value.expr], span)], span), array("long", 1))


def _bincount(frame: Frame, node: py.Call) -> Val:
    found = given(frame, node, "x minlength")
    value = array_of(frame, found["x"])
    if value.kind.rank != 1 or value.kind.base not in INTS:
        raise frame.refused(node, f"np.bincount takes whole numbers with one axis, not {value.kind}", "", DIFFER)
    span = frame.span(node)
    value = frame.kept(cast(frame, node, value, "int"), node)
    least = (
        bound(frame, node, frame.scalar(found["minlength"])).expr if "minlength" in found else build.integer(0, span)
    )
    return Val(frame.support("counts", [value.expr, least], span), array("long", 1))


NUMPY.update(
    {
        np.reshape: _reshape, np.ravel: _flat(True), np.roll: _roll, np.flip: _flip,
        np.concatenate: _concatenate, np.pad: _pad, np.cumsum: _along("Scan::cumsum"),
        np.cumprod: _along("Scan::cumprod"), np.sort: _along("Sort::sort"),
        np.argsort: _along("Sort::argsort", "long"), np.dot: _dot, np.matmul: _dot, np.outer: _outer, np.diff: _diff,
        np.searchsorted: _searchsorted, np.flatnonzero: _places, np.bincount: _bincount,
    }
)  # fmt: skip
METHODS.update(
    {
        "reshape": _reshape, "ravel": _flat(True), "flatten": _flat(False), "dot": _dot,
        "cumsum": _along("Scan::cumsum"), "cumprod": _along("Scan::cumprod"),
        "argsort": _along("Sort::argsort", "long"),
    }
)  # fmt: skip

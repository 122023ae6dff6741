"""NumPy's functions that repeat elements or take some of them, that join matrices, and that compare or count.

In: calls of `np.f`, and methods of arrays. Out: comprehensions, and calls of what capture brings along.
"""

from __future__ import annotations

import ast as py
from collections.abc import Callable

import numpy as np

from sacpy.capture import build
from sacpy.capture.calls import METHODS, NUMPY
from sacpy.capture.conditions import alike
from sacpy.capture.frame import Frame, Val
from sacpy.capture.indexing import static_int
from sacpy.capture.kinds import Num, array
from sacpy.capture.numbers import combined, converted, elementwise
from sacpy.capture.numpy_arrays import cast, number
from sacpy.capture.numpy_axes import ranked
from sacpy.capture.numpy_functions import array_of, axes_of, axis_of, given, reduced
from sacpy.capture.numpy_moves import flattened, joined, sequence
from sacpy.capture.places import ARGUMENTS, DIFFER, RANGE
from sacpy.capture.spaces import bound
from sacpy.lang import ast
from sacpy.nodes import replace


def _of(frame: Frame, node: py.Call, names: str, required: int, of: Val | None) -> tuple[dict[str, py.expr], Val]:
    """The arguments of a function or method, and the array."""
    found = given(frame, node, names, required, of is not None)
    return found, of if of is not None else array_of(frame, found[names.split()[0]])


def _whole(frame: Frame, node: py.expr | None, what: str) -> int:
    """A whole number in the text, 0 where there is none."""
    found = 0 if node is None else static_int(frame, node)
    if found is None:
        raise frame.refused(node or py.Constant(0), f"{what} is a number in the text", "write a call for each", RANGE)
    return found


def _with_axes(frame: Frame, node: py.AST, value: Val, rank: int) -> Val:
    """An array that must have so many axes, to be read several times."""
    if value.kind.rank != rank:
        message = f"{py.unparse(node.func) if isinstance(node, py.Call) else 'this'} takes an array with "
        message += f"{rank} {'axis' if rank == 1 else 'axes'} here, not {value.kind}"
        raise frame.refused(node, message, 'annotate it: Double["n", "m"]' if rank == 2 else "", DIFFER)
    return frame.kept(value, node)


# ---------------------------------------------------------------- repeated


def _tile(frame: Frame, node: py.Call) -> Val:
    found, value = _of(frame, node, "a reps", 2, None)
    value = frame.kept(value, node)
    rank, span = ranked(frame, node, value), frame.span(node)
    given_reps = frame.value(found["reps"])
    parts = [given_reps] if given_reps.items is None else list(given_reps.items)
    reps = [bound(frame, found["reps"], part).expr for part in parts]
    whole = max(rank, len(reps))
    reps = [build.integer(1, span)] * (whole - len(reps)) + reps
    names = [frame.fresh("k") for _ in range(whole)]
    extents: list[ast.Expr] = [build.integer(1, span)] * (whole - rank)
    extents += [build.extent(value.expr, axis, span) for axis in range(rank)]
    upper = [build.binary("*", n, build.call("max", [r, build.integer(0, span)], span), span)
             for n, r in zip(extents, reps)]  # fmt: skip
    at = tuple(build.binary("%", build.var(k, span), n, span) for k, n in zip(names[whole - rank :], extents[-rank:]))
    cell = ast.Select(value.expr, at, span) if rank else value.expr
    return Val(build.comprehension(names, cell, upper, span), array(value.kind.base, whole))


def _repeat(frame: Frame, node: py.Call, of: Val | None = None) -> Val:
    found, value = _of(frame, node, "a repeats axis", 2, of)
    value = frame.kept(value, node)
    rank, span = ranked(frame, node, value), frame.span(node)
    axis = axis_of(frame, found.get("axis"), rank)
    if axis is None:
        value = frame.kept(flattened(frame, node, value) if rank else _row(frame, node, value), node)
        axis, rank = 0, 1
    times = frame.kept(bound(frame, found["repeats"], frame.scalar(found["repeats"])), node)
    times = replace(times, expr=frame.support("times", [times.expr], span))
    names = [frame.fresh("k") for _ in range(rank)]
    upper = [build.extent(value.expr, k, span) for k in range(rank)]
    at: list[ast.Expr] = [build.var(k, span) for k in names]
    upper[axis], at[axis] = (build.binary(o, v, times.expr, span) for o, v in (("*", upper[axis]), ("/", at[axis])))
    expr = build.comprehension(names, ast.Select(value.expr, tuple(at), span), upper, span)
    return Val(expr, array(value.kind.base, rank))


def _row(frame: Frame, node: py.AST, value: Val) -> Val:
    """A number as an array with one element."""
    return Val(build.array([value.expr], frame.span(node)), array(value.kind.base, 1))


# ---------------------------------------------------------------- some of the elements


def _squeeze(frame: Frame, node: py.Call, of: Val | None = None) -> Val:
    found, value = _of(frame, node, "a axis", 1, of)
    value = frame.kept(value, node)
    rank, span = ranked(frame, node, value), frame.span(node)
    axes = axes_of(frame, found.get("axis"), rank)
    if axes is None:
        help = f"say which axis it is that has one element: {py.unparse(node.func)}(.., axis=0)"
        raise frame.refused(node, "which axes have one element is not known before it runs", help, ARGUMENTS)
    rest = [k for k in range(rank) if k not in axes]
    ones = frozenset(i for i, k in enumerate(rest) if k in value.kind.ones)
    if not rest:
        first = ast.Select(value.expr, (build.integer(0, span),) * rank, span)
        sizes = [build.extent(value.expr, k, span) for k in range(rank)]
        return Val(frame.support("only", [build.array(sizes, span), first], span), array(value.kind.base, 0))
    shape = [build.extent(value.expr, k, span) for k in rest]
    for axis in sorted(set(axes) - value.kind.ones):
        one = frame.support("single", [build.extent(value.expr, axis, span)], span)
        shape[0] = build.binary("*", shape[0], one, span)
    expr = build.call("reshape", [build.array(shape, span), value.expr], span)
    return Val(expr, array(value.kind.base, len(rest), ones), None, value.shares)


def _diagonal(frame: Frame, node: py.Call, of: Val | None = None) -> Val:
    found, value = _of(frame, node, "a offset", 1, of)
    return _line(frame, node, value, _whole(frame, found.get("offset"), "an offset"))


def _line(frame: Frame, node: py.AST, value: Val, offset: int) -> Val:
    """A diagonal of a matrix."""
    value = _with_axes(frame, node, value, 2)
    span, name = frame.span(node), frame.fresh("k")
    starts = [max(-offset, 0), max(offset, 0)]
    rests = [build.binary("-", build.extent(value.expr, k, span), build.integer(s, span), span)
             for k, s in enumerate(starts)]  # fmt: skip
    least = build.call("max", [build.call("min", rests, span), build.integer(0, span)], span)
    at = tuple(build.binary("+", build.var(name, span), build.integer(s, span), span) for s in starts)
    expr = build.comprehension([name], ast.Select(value.expr, at, span), [least], span)
    return Val(expr, array(value.kind.base, 1))


def _diag(frame: Frame, node: py.Call) -> Val:
    found, value = _of(frame, node, "v k", 1, None)
    offset = _whole(frame, found.get("k"), "a diagonal's number")
    if value.kind.rank == 2:
        return _line(frame, node, value, offset)
    value = _with_axes(frame, node, value, 1)
    span, i, j = frame.span(node), frame.fresh("k"), frame.fresh("k")
    size = build.binary("+", build.extent(value.expr, 0, span), build.integer(abs(offset), span), span)
    on = build.binary("==", build.binary("-", build.var(j, span), build.var(i, span), span),
                      build.integer(offset, span), span)  # fmt: skip
    cell = ast.Select(value.expr, (build.var(i if offset >= 0 else j, span),), span)
    choice = ast.Conditional(on, cell, number(frame, node, 0, value.kind.base), span)
    return Val(build.comprehension([i, j], choice, [size, size], span), array(value.kind.base, 2))


def _trace(frame: Frame, node: py.Call, of: Val | None = None) -> Val:
    found, value = _of(frame, node, "a offset", 1, of)
    return reduced(frame, node, "sum", _line(frame, node, value, _whole(frame, found.get("offset"), "an offset")), None)


def _triangle(symbol: str) -> Callable[[Frame, py.Call], Val]:
    """`np.triu`, `np.tril`."""

    def row(frame: Frame, node: py.Call) -> Val:
        found, value = _of(frame, node, "m k", 1, None)
        value = _with_axes(frame, node, value, 2)
        offset = _whole(frame, found.get("k"), "a diagonal's number")
        span, i, j = frame.span(node), frame.fresh("k"), frame.fresh("k")
        place = build.binary("-", build.var(j, span), build.var(i, span), span)
        inside = build.binary(symbol, place, build.integer(offset, span), span)
        cell = ast.Select(value.expr, (build.var(i, span), build.var(j, span)), span)
        choice = ast.Conditional(inside, cell, number(frame, node, 0, value.kind.base), span)
        upper = [build.extent(value.expr, k, span) for k in range(2)]
        return Val(build.comprehension([i, j], choice, upper, span), array(value.kind.base, 2))

    return row


def _mirrored(axis: int) -> Callable[[Frame, py.Call], Val]:
    """`np.flipud`, `np.fliplr`."""

    def row(frame: Frame, node: py.Call) -> Val:
        _, value = _of(frame, node, "m", 1, None)
        if ranked(frame, node, value) <= axis:
            message = f"{py.unparse(node.func)} takes an array with {axis + 1} axes or more, not {value.kind}"
            raise frame.refused(node, message, "", DIFFER)
        span = frame.span(node)
        expr = build.call("reverse", [build.integer(axis, span), value.expr], span)
        return replace(value, expr=expr, items=None)

    return row


def _unique(frame: Frame, node: py.Call) -> Val:
    _, value = _of(frame, node, "ar", 1, None)
    if value.kind.base in ("complex", "bool"):
        raise frame.refused(node, f"np.unique takes real or whole numbers here, not {value.kind}", "", DIFFER)
    rank, span = ranked(frame, node, value), frame.span(node)
    value = flattened(frame, node, value) if rank else _row(frame, node, value)
    return Val(frame.support("each_once", [value.expr], span), array(value.kind.base, 1))


# ---------------------------------------------------------------- joined


def _joined(axis: int, columns: bool = False) -> Callable[[Frame, py.Call], Val]:
    """`np.vstack`, `np.hstack`, `np.column_stack`: vectors are rows, stay as they are, or are columns."""

    def row(frame: Frame, node: py.Call) -> Val:
        items = sequence(frame, given(frame, node, "tup")["tup"])
        items = [_row(frame, node, v) if v.kind.rank == 0 else v for v in items]
        if axis == 1 and not columns and all(v.kind.rank == 1 for v in items):
            return joined(frame, node, items, 0)
        if axis == 0 or columns:
            items = [_matrix(frame, node, v, columns) if v.kind.rank == 1 else v for v in items]
        return joined(frame, node, items, axis)

    return row


def _matrix(frame: Frame, node: py.AST, value: Val, column: bool) -> Val:
    """A vector as a matrix with one row or column."""
    value, span = frame.kept(value, node), frame.span(node)
    shape = [build.integer(1, span), build.extent(value.expr, 0, span)]
    expr = build.call("reshape", [build.array(shape[::-1] if column else shape, span), value.expr], span)
    return Val(expr, array(value.kind.base, 2))


# ---------------------------------------------------------------- counted, compared, combined


def _count_nonzero(frame: Frame, node: py.Call) -> Val:
    found, value = _of(frame, node, "a axis", 1, None)
    axis = axis_of(frame, found.get("axis"), value.kind.rank)
    value = cast(frame, node, value, "bool")
    if value.kind.rank == 0:
        return converted(frame, converted(frame, value, "int"), "long")
    return reduced(frame, node, "sum", value, axis)


def _range(frame: Frame, node: py.Call) -> Val:
    """`np.ptp`."""
    found, value = _of(frame, node, "a axis", 1, None)
    axis = axis_of(frame, found.get("axis"), value.kind.rank)
    if value.kind.base == "bool":
        raise frame.refused(node, "np.ptp takes numbers, and this is bool", "", DIFFER)
    value = frame.kept(value, node)
    ends = [reduced(frame, node, name, value, axis) for name in ("max", "min")]
    return combined(frame, node, "-", *ends)


def _is_close(frame: Frame, node: py.Call) -> Val:
    found = given(frame, node, "a b rtol atol", 2)
    a, b = (converted(frame, array_of(frame, found[n]), "double") for n in ("a", "b"))
    ends = [("rtol", 1e-5), ("atol", 1e-8)]
    span = frame.span(node)
    more = [
        converted(frame, frame.scalar(found[n]), "double").expr if n in found else build.real(v, span) for n, v in ends
    ]
    return elementwise(
        frame, node, [a, b], lambda e: frame.support("is_close", [*e, *more], span), "bool", direct=False
    )


def _all_close(frame: Frame, node: py.Call) -> Val:
    found = _is_close(frame, node)
    return found if found.kind.rank == 0 else reduced(frame, node, "all", found, None)


def _interpolated(frame: Frame, node: py.Call) -> Val:
    """`np.interp`: by straight lines between points, and their ends' values beyond them."""
    found = given(frame, node, "x xp fp", 3)
    x, xp, fp = (converted(frame, array_of(frame, found[n]), "double") for n in ("x", "xp", "fp"))
    xp, fp = _with_axes(frame, node, xp, 1), _with_axes(frame, node, fp, 1)
    span = frame.span(node)

    def make(e: list[ast.Expr]) -> ast.Expr:
        return frame.support("interpolated", [e[0], xp.expr, fp.expr], span)

    return elementwise(frame, node, [x], make, "double", direct=False)


def _convolved(frame: Frame, node: py.Call) -> Val:
    found = given(frame, node, "a v mode", 2)
    a, v = alike(frame, node, array_of(frame, found["a"]), array_of(frame, found["v"]))
    a, v = _with_axes(frame, node, a, 1), _with_axes(frame, node, v, 1)
    mode = found.get("mode")
    name = mode.value if isinstance(mode, py.Constant) else "full" if mode is None else ""
    if name not in ("full", "same", "valid") or a.kind.base in ("bool", "complex"):
        message = "np.convolve takes real or whole numbers and the modes full, same and valid here"
        raise frame.refused(mode or node, message, "", ARGUMENTS)
    return Val(frame.support(f"convolved_{name}", [a.expr, v.expr], frame.span(node)), array(a.kind.base, 1))


def _area(frame: Frame, node: py.Call) -> Val:
    """`np.trapezoid`."""
    found = given(frame, node, "y x dx")
    y = _with_axes(frame, node, converted(frame, array_of(frame, found["y"]), "double"), 1)
    span = frame.span(node)
    if "x" in found:
        x = _with_axes(frame, node, converted(frame, array_of(frame, found["x"]), "double"), 1)
        return Val(frame.support("area", [y.expr, x.expr], span), Num("double", 0))
    by = converted(frame, frame.scalar(found["dx"]), "double").expr if "dx" in found else build.real(1.0, span)
    return Val(frame.support("area", [y.expr, by], span), Num("double", 0))


def _inner(frame: Frame, node: py.Call) -> Val:
    found = given(frame, node, "a b", 2)
    a, b = alike(frame, node, array_of(frame, found["a"]), array_of(frame, found["b"]))
    if a.kind.rank != 1 or b.kind.rank != 1 or a.kind.base in ("bool", "complex"):
        message = "np.inner takes two arrays of real or whole numbers with one axis here"
        raise frame.refused(node, message, "of matrices write a @ b.T", DIFFER)
    return Val(frame.support("inner_product", [a.expr, b.expr], frame.span(node)), array(a.kind.base, 0))


NUMPY.update(
    {
        np.tile: _tile, np.repeat: _repeat, np.squeeze: _squeeze, np.diagonal: _diagonal, np.diag: _diag,
        np.trace: _trace, np.triu: _triangle(">="), np.tril: _triangle("<="), np.flipud: _mirrored(0),
        np.fliplr: _mirrored(1), np.unique: _unique, np.vstack: _joined(0), np.hstack: _joined(1),
        np.column_stack: _joined(1, columns=True), np.count_nonzero: _count_nonzero, np.ptp: _range,
        np.isclose: _is_close, np.allclose: _all_close, np.interp: _interpolated, np.convolve: _convolved,
        np.trapezoid: _area, np.inner: _inner,
    }
)  # fmt: skip
METHODS.update({"repeat": _repeat, "squeeze": _squeeze, "diagonal": _diagonal, "trace": _trace})

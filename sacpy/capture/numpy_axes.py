"""NumPy's functions that put the axes of arrays in another order, or add some.

In: calls of `np.f`, and methods of arrays. Out: comprehensions over the axes in their new order.
"""

from __future__ import annotations

import ast as py
from collections.abc import Callable, Sequence

import numpy as np

from sacpy.capture import build
from sacpy.capture.calls import METHODS, NUMPY, transposed
from sacpy.capture.expressions import stacked
from sacpy.capture.frame import Frame, Val
from sacpy.capture.kinds import array
from sacpy.capture.numbers import elementwise
from sacpy.capture.numpy_functions import array_of, axes_of, axis_of, given
from sacpy.capture.numpy_moves import sequence
from sacpy.capture.places import DIFFER, RANGE
from sacpy.lang import ast
from sacpy.nodes import replace


def permuted(frame: Frame, node: py.AST, value: Val, axes: Sequence[int]) -> Val:
    """An array with its axes in another order: the k-th is what was `axes[k]`."""
    if list(axes) == list(range(len(axes))):
        return value
    if list(axes) == list(range(len(axes)))[::-1]:
        return transposed(frame, node, value)
    value, span = frame.kept(value, node), frame.span(node)
    names = [frame.fresh("k") for _ in axes]
    upper = [build.extent(value.expr, axis, span) for axis in axes]
    at = tuple(build.var(names[axes.index(axis)], span) for axis in range(len(axes)))
    ones = frozenset(k for k, axis in enumerate(axes) if axis in value.kind.ones)
    expr = build.comprehension(names, ast.Select(value.expr, at, span), upper, span)
    return Val(expr, array(value.kind.base, len(axes), ones))


def ranked(frame: Frame, node: py.AST, value: Val) -> int:
    """How many axes an array has, where that must be known."""
    if value.kind.rank is None:
        help = 'annotate it: Double["n", "m"]'
        raise frame.refused(node, "the array's number of axes is not known", help, DIFFER)
    return value.kind.rank


def _transpose(frame: Frame, node: py.Call, of: Val | None = None) -> Val:
    if of is not None and len(node.args) > 1:  # a.transpose(1, 0)
        each = py.copy_location(py.Tuple(list(node.args), py.Load()), node)
        node = py.copy_location(py.Call(node.func, [each], node.keywords), node)
    found = given(frame, node, "a axes", 1, of is not None)
    value = of if of is not None else array_of(frame, found["a"])
    axes = axes_of(frame, found.get("axes"), value.kind.rank)
    if axes is None:
        return replace(transposed(frame, node, value), shares=value.shares)
    if sorted(axes) != list(range(ranked(frame, node, value))):
        raise frame.refused(found["axes"], "each axis stands once in a new order", "", RANGE)
    return replace(permuted(frame, node, value, axes), shares=value.shares)


def _exchanged(names: str) -> Callable[..., Val]:
    """`np.swapaxes`, `np.moveaxis`."""

    def row(frame: Frame, node: py.Call, of: Val | None = None) -> Val:
        found = given(frame, node, f"a {names}", 3, of is not None)
        value = of if of is not None else array_of(frame, found["a"])
        rank = ranked(frame, node, value)
        one, other = (axis_of(frame, found[n], rank) or 0 for n in names.split())
        axes = list(range(rank))
        if names.startswith("axis1"):
            axes[one], axes[other] = axes[other], axes[one]
        else:
            axes.insert(other, axes.pop(one))
        return replace(permuted(frame, node, value, axes), shares=value.shares)

    return row


def _stack(frame: Frame, node: py.Call) -> Val:
    found = given(frame, node, "arrays axis")
    value = stacked(frame, node, sequence(frame, found["arrays"]))
    axis = axis_of(frame, found.get("axis"), value.kind.rank)
    if not axis:
        return value
    axes = list(range(ranked(frame, node, value)))
    axes.insert(axis, axes.pop(0))
    return permuted(frame, node, value, axes)


def _expand_dims(frame: Frame, node: py.Call) -> Val:
    found = given(frame, node, "a axis", 2)
    value = frame.kept(array_of(frame, found["a"]), node)
    rank, span = ranked(frame, node, value) + 1, frame.span(node)
    axis = axis_of(frame, found["axis"], rank) or 0
    old = [k for k in range(rank) if k != axis]
    shape = [build.integer(1, span) if k == axis else build.extent(value.expr, old.index(k), span) for k in range(rank)]
    ones = frozenset((axis, *(old[k] for k in value.kind.ones)))
    inner = build.array([value.expr], span) if value.kind.rank == 0 else value.expr
    expr = build.call("reshape", [build.array(shape, span), inner], span)
    return Val(expr, array(value.kind.base, rank, ones), None, value.shares)


def _conj(frame: Frame, node: py.Call, of: Val | None = None) -> Val:
    found = given(frame, node, "x", 1, of is not None)
    value = of if of is not None else array_of(frame, found["x"])
    if value.kind.base != "complex":
        return value
    return elementwise(frame, node, [value], lambda e: build.call("conj", e, frame.span(node)), "complex")


NUMPY.update(
    {
        np.transpose: _transpose, np.swapaxes: _exchanged("axis1 axis2"), np.stack: _stack, np.conj: _conj,
        np.moveaxis: _exchanged("source destination"), np.expand_dims: _expand_dims,
    }
)  # fmt: skip
METHODS.update(
    {"transpose": _transpose, "swapaxes": _exchanged("axis1 axis2"), "conj": _conj, "conjugate": _conj}
)  # fmt: skip

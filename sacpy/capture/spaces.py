"""What loops and comprehensions run over: `range`, arrays, `enumerate`, `zip`.

In: the expression behind `in`, and the target before it. Out: a `Space`: how many rounds there are, and what the target
is in each, as a function of the round's number.
"""

from __future__ import annotations

import ast as py
from collections.abc import Callable

from sacpy.capture import build
from sacpy.capture.expressions import stacked
from sacpy.capture.frame import NOTHING, Frame, Val
from sacpy.capture.indexing import static_int
from sacpy.capture.kinds import EXTENT, INT_HIGH, INT_LOW, array, whole
from sacpy.capture.numbers import converted
from sacpy.capture.places import ARGUMENTS, DIFFER, RANGE
from sacpy.lang import ast
from sacpy.nodes import Record, replace


class Range(Record):
    """`range(low, high, step)`; `count` where the step is known only while the function runs."""

    low: Val
    high: Val
    step: int
    count: ast.Expr | None = None


class Space(Record):
    """`count` rounds; `bind` gives each target's value in the round of that number. `range` where it is one."""

    count: ast.Expr
    bind: Callable[[ast.Expr], list[tuple[py.expr, Val]]]
    range: Range | None = None


def bound(frame: Frame, node: py.AST, found: Val) -> Val:
    """A whole number as an end of a range or an extent: a SaC `int`."""
    if not found.kind.is_int and not (found.kind.base == "bool" and found.kind.rank == 0):
        help = (
            "use np.arange(..), or convert it: int(x)"
            if found.kind.rank == 0
            else "take an element of it, or its extent: x.shape[0]; a parameter that is one whole number is an `int`"
        )
        raise frame.refused(node, f"a whole number is needed here, and this is {frame.shown(found)}", help, DIFFER)
    if found.kind.base == "int" or found.kind.is_small or found.kind.base == "bool":
        return converted(frame, found, "int")
    low, high = max(found.kind.low, INT_LOW), min(found.kind.high, INT_HIGH)
    return Val(frame.support("bound_of", [found.expr], found.span), whole(low, high))


def is_call_of(frame: Frame, node: py.expr, function: object) -> bool:
    """Whether it is a call of that builtin."""
    return isinstance(node, py.Call) and frame.unit.resolve(frame, node.func) is function


def space(frame: Frame, target: py.expr, node: py.expr) -> Space:
    """What a target runs over. Raises `SacError` for what has no such space."""
    if isinstance(node, py.Call):
        for function, make in ((range, _range), (enumerate, _enumerated), (zip, _zipped), (reversed, _reversed)):
            if is_call_of(frame, node, function):
                if node.keywords or any(isinstance(a, py.Starred) for a in node.args):
                    raise frame.refused(
                        node, f"{function.__name__} takes its arguments by position here", "", ARGUMENTS
                    )
                return make(frame, target, node)
    rows = [e.elts for e in node.elts if isinstance(e, py.Tuple)] if isinstance(node, py.Tuple | py.List) else []
    if rows and isinstance(target, py.Tuple) and {len(row) for row in rows} == {len(target.elts)}:
        return _columns(frame, target, node, rows)
    found = frame.value(node)
    if found.items:
        found = stacked(frame, node, list(found.items))
    if found.items is not None or found.kind.rank == 0 or found.kind == NOTHING:
        help = "write range(n)" if found.kind.is_int else "loop over range(..), or an array"
        raise frame.refused(node, f"{frame.shown(found)} cannot be gone through", help, DIFFER)
    found = frame.kept(found, node)
    return Space(build.extent(found.expr, 0, frame.span(node)), lambda k: [(target, _item(frame, found, k))])


def _columns(frame: Frame, target: py.Tuple, node: py.expr, rows: list[list[py.expr]]) -> Space:
    """`for i, j in ((0, 1), (1, 2))`: an array for each of the targets."""
    columns = [stacked(frame, node, [frame.value(row[i]) for row in rows]) for i in range(len(target.elts))]
    kept = [frame.kept(column, node) for column in columns]

    def bind(k: ast.Expr) -> list[tuple[py.expr, Val]]:
        return [(t, _item(frame, v, k)) for t, v in zip(target.elts, kept)]

    return Space(build.integer(len(rows), frame.span(node)), bind)


def _item(frame: Frame, found: Val, k: ast.Expr) -> Val:
    """An element of an array, in the round of that number."""
    kind = found.kind
    rank = None if kind.rank is None else kind.rank - 1
    shares = found.shares if rank != 0 else frozenset()
    one = Val(ast.Select(found.expr, (k,), k.span), array(kind.base, rank), None, shares)
    return converted(frame, one, "int") if rank == 0 and kind.base == "ubyte" else one


def _range(frame: Frame, target: py.expr, node: py.Call) -> Space:
    span = frame.span(node)
    if not 1 <= len(node.args) <= 3:
        raise frame.refused(node, f"range takes 1 to 3 numbers, not {len(node.args)}", "", ARGUMENTS)
    ends = [bound(frame, a, frame.value(a)) for a in node.args[:2]]
    zero = Val(build.integer(0, span), whole(0, 0, literal=True))
    low, high = (zero, ends[0]) if len(ends) == 1 else (ends[0], ends[1])
    step = 1 if len(node.args) < 3 else static_int(frame, node.args[2])
    if step == 0:
        raise frame.refused(node.args[2], "a range with a step of 0 has no end", "use a step above or below 0", RANGE)
    if step is None:
        return _any_step(frame, target, node, low, high)
    low, high = (v if build.is_simple(v.expr) or frame.pre is None else frame.kept(v, node) for v in (low, high))
    zero_, up = build.integer(0, span), step > 0
    first, last = (low, high) if up else (high, low)
    count = last.expr if first.kind.low == first.kind.high == 0 else build.binary("-", last.expr, first.expr, span)
    if not (up and first.kind.low == first.kind.high == 0 and step == 1 and last.kind.low >= 0):
        count = build.call("max", [count, zero_], span)
    if abs(step) != 1:
        more = build.binary("+", count, build.integer(abs(step) - 1, span), span)
        count = build.binary("/", more, build.integer(abs(step), span), span)
    if up:
        kind = whole(low.kind.low, max(high.kind.high - 1, low.kind.low))
    else:
        kind = whole(min(high.kind.low + 1, low.kind.high), low.kind.high)
    kind = replace(kind, base="int")

    def bind(k: ast.Expr) -> list[tuple[py.expr, Val]]:
        value = k if abs(step) == 1 else build.binary("*", k, build.integer(abs(step), k.span), k.span)
        if not (low.kind.low == low.kind.high == 0 and up):
            value = build.binary("+" if up else "-", low.expr, value, k.span)
        return [(target, Val(value, kind))]

    return Space(count, bind, Range(low, high, step))


def _any_step(frame: Frame, target: py.expr, node: py.Call, low: Val, high: Val) -> Space:
    span = frame.span(node)
    low = frame.kept(low, node)
    step = frame.kept(bound(frame, node.args[2], frame.value(node.args[2])), node)
    count = frame.support("range_count", [low.expr, high.expr, step.expr], span)

    def bind(k: ast.Expr) -> list[tuple[py.expr, Val]]:
        value = build.binary("+", low.expr, build.binary("*", k, step.expr, span), span)
        return [(target, Val(value, whole(INT_LOW, INT_HIGH)))]

    return Space(count, bind)


def _enumerated(frame: Frame, target: py.expr, node: py.Call) -> Space:
    if len(node.args) != 1:
        raise frame.refused(node, "enumerate takes one argument here", "add the start to the number", ARGUMENTS)
    if not isinstance(target, py.Tuple) or len(target.elts) != 2:
        raise frame.refused(target, "enumerate gives two values", "write: for i, x in enumerate(a)", ARGUMENTS)
    inner = space(frame, target.elts[1], node.args[0])
    number = target.elts[0]
    high = whole(0, EXTENT.high - 1)
    return Space(inner.count, lambda k: [(number, Val(k, high)), *inner.bind(k)])


def _zipped(frame: Frame, target: py.expr, node: py.Call) -> Space:
    if not isinstance(target, py.Tuple) or len(target.elts) != len(node.args) or not node.args:
        help = "write: for x, y in zip(a, b)"
        raise frame.refused(target, f"zip gives {len(node.args)} values here", help, ARGUMENTS)
    inner = [space(frame, t, a) for t, a in zip(target.elts, node.args)]
    count = inner[0].count
    for other in inner[1:]:
        count = build.call("min", [count, other.count], frame.span(node))
    return Space(count, lambda k: [pair for one in inner for pair in one.bind(k)])


def _reversed(frame: Frame, target: py.expr, node: py.Call) -> Space:
    if len(node.args) != 1:
        raise frame.refused(node, "reversed takes one argument", "", ARGUMENTS)
    inner = space(frame, target, node.args[0])
    count = inner.count
    if not build.is_simple(count) and frame.pre is not None:
        count = frame.kept(Val(count, EXTENT), node).expr

    def bind(k: ast.Expr) -> list[tuple[py.expr, Val]]:
        last = build.binary("-", count, build.integer(1, k.span), k.span)
        return inner.bind(build.binary("-", last, k, k.span))

    return Space(count, bind)

"""Comparisons, and what depends on conditions; operators with one operand.

In: comparisons, `and`, `or`, `not`, conditional expressions. Out: SaC's, with Python's meaning. A condition is a bool,
or a number that is compared with 0; `and` and `or` take bool alone.
"""

from __future__ import annotations

import ast as py

from sacpy.capture import build
from sacpy.capture.frame import NOTHING, Frame, Val, handles
from sacpy.capture.kinds import BOOL, INTS, whole
from sacpy.capture.numbers import combined, common, converted, elementwise, literal_int
from sacpy.capture.places import DIFFER
from sacpy.lang import ast
from sacpy.nodes import replace

COMPARISONS: dict[type, str] = {
    py.Eq: "==", py.NotEq: "!=", py.Lt: "<", py.LtE: "<=", py.Gt: ">", py.GtE: ">=",
}  # fmt: skip


@handles(py.UnaryOp)
def _unary(frame: Frame, node: py.UnaryOp) -> Val:
    span = frame.span(node)
    if isinstance(node.op, py.Not):
        inner = condition(frame, node.operand)
        return Val(ast.Unary(ast.QName(None, "!", span), inner, span), BOOL)
    found = frame.value(node.operand)
    if found.items is not None or found.kind == NOTHING:
        raise frame.refused(node, f"{frame.shown(found)} is no operand here", "", DIFFER)
    kind = found.kind
    if isinstance(node.op, py.Invert):
        if kind.base == "bool":
            if kind.rank == 0:
                raise frame.refused(node, "'~' of a bool is a whole number in Python", "write not x", DIFFER)
            return Val(ast.Unary(ast.QName(None, "!", span), found.expr, span), kind)
        if kind.base not in INTS:
            raise frame.refused(node, f"{kind} has no '~'", "", DIFFER)
        ones = 255 if kind.base == "ubyte" and kind.rank != 0 else -1
        return combined(frame, node, "-", literal_int(frame, node, ones), found)
    if kind.base == "bool" and kind.rank == 0:
        found = converted(frame, found, "int")
        kind = found.kind
    if isinstance(node.op, py.UAdd):
        return found
    if isinstance(found.expr, ast.Literal) and kind.literal:
        value = found.expr.value
        if isinstance(value, float):
            return Val(build.real(-value, span, kind.base), kind)
        return literal_int(frame, node, -int(value))
    if kind.is_int:
        return combined(frame, node, "-", literal_int(frame, node, 0), found)
    return Val(ast.Unary(ast.QName(None, "-", span), found.expr, span), replace(kind, literal=False))


# ---------------------------------------------------------------- comparisons and conditions


@handles(py.Compare)
def _compare(frame: Frame, node: py.Compare) -> Val:
    left = frame.value(node.left)
    found: Val | None = None
    for i, (op, right_node) in enumerate(zip(node.ops, node.comparators)):
        symbol = COMPARISONS.get(type(op))
        if symbol is None:
            word = {py.In: "in", py.NotIn: "not in", py.Is: "is", py.IsNot: "is not"}[type(op)]
            help = "write any(x == y for y in a)" if "in" in word else "compare with =="
            raise frame.refused(node, f"'{word}' is not taken", help)
        right = frame.value(right_node)
        if i + 1 < len(node.ops):
            right = frame.kept(right, node)
        one = compared(frame, node, symbol, left, right)
        if found is None:
            found = one
        elif found.kind.rank != 0 or one.kind.rank != 0:
            help = "write (a < b) & (b < c)"
            raise frame.refused(node, "a chain of comparisons of arrays has no truth value", help, DIFFER)
        else:
            found = Val(ast.Logical("&&", found.expr, one.expr, frame.span(node)), BOOL)
        left = right
    assert found is not None
    return found


def compared(frame: Frame, node: py.AST, symbol: str, left: Val, right: Val) -> Val:
    """A comparison."""
    span = frame.span(node)
    base = common(frame, node, left, right)
    if base == "complex" and symbol not in ("==", "!="):
        raise frame.refused(node, "complex numbers have no order", "compare abs(z), or z.real", DIFFER)
    if base in INTS and left.kind.rank == 0 and right.kind.rank == 0:
        base = "int" if left.kind.base != "long" and right.kind.base != "long" else "long"
        small = left.kind.base in ("int", "long") and right.kind.base in ("int", "long")
        if small and left.kind.is_small and right.kind.is_small:
            base = "int"
    elif base == "bool" and symbol not in ("==", "!="):
        base = "int"
    left, right = converted(frame, left, base), converted(frame, right, base)
    return elementwise(frame, node, [left, right], lambda e: build.binary(symbol, e[0], e[1], span), "bool")


def condition(frame: Frame, node: py.expr) -> ast.Expr:
    """What a value says as a condition."""
    return truth_of(frame, node, frame.value(node))


def truth_of(frame: Frame, node: py.AST, found: Val) -> ast.Expr:
    """Whether a value counts as true."""
    kind = found.kind
    if found.items is not None or kind.rank != 0 or kind == NOTHING:
        help = "say np.any(..) or np.all(..)" if kind.rank != 0 else "compare a number"
        raise frame.refused(node, f"{frame.shown(found)} is no condition", help, DIFFER)
    if kind.base == "bool":
        return found.expr
    zero = literal_int(frame, node, 0)
    return compared(frame, node, "!=", found, zero).expr


@handles(py.BoolOp)
def _logical(frame: Frame, node: py.BoolOp) -> Val:
    word = "&&" if isinstance(node.op, py.And) else "||"
    found: ast.Expr | None = None
    for operand in node.values:
        if found is None:
            val = frame.value(operand)
        else:
            with frame.conditional():
                val = frame.value(operand)
        if val.kind.base != "bool" or val.kind.rank != 0 or val.items is not None:
            python = "and" if word == "&&" else "or"
            help = "combine arrays with & or |" if val.kind.rank != 0 else "compare it, as in x != 0"
            raise frame.refused(operand, f"'{python}' takes bool, and this is {frame.shown(val)}", help, DIFFER)
        found = val.expr if found is None else ast.Logical(word, found, val.expr, frame.span(node))
    assert found is not None
    return Val(found, BOOL)


@handles(py.IfExp)
def _conditional(frame: Frame, node: py.IfExp) -> Val:
    test = condition(frame, node.test)
    with frame.conditional():
        then, other = frame.value(node.body), frame.value(node.orelse)
    return chosen(frame, node, test, then, other)


def chosen(frame: Frame, node: py.AST, test: ast.Expr, then: Val, other: Val) -> Val:
    """One of two values, by a scalar condition."""
    span = frame.span(node)
    if then.items is not None and other.items is not None and len(then.items) == len(other.items):
        items = tuple(chosen(frame, node, test, a, b) for a, b in zip(then.items, other.items))
        return Val(test, NOTHING, items)
    then, other = alike(frame, node, then, other)
    if then.kind.rank != other.kind.rank:
        message = f"this is {then.kind} or {other.kind}"
        raise frame.refused(node, message, "give both ways the same number of axes", DIFFER)
    kind = replace(then.kind, literal=False, ones=then.kind.ones & other.kind.ones)
    if kind.is_int:
        low, high = min(then.kind.low, other.kind.low), max(then.kind.high, other.kind.high)
        kind = replace(whole(low, high), base=then.kind.base)
    return Val(ast.Conditional(test, then.expr, other.expr, span), kind, None, then.shares | other.shares)


def alike(frame: Frame, node: py.AST, a: Val, b: Val) -> tuple[Val, Val]:
    """Two values with one base type."""
    base = common(frame, node, a, b)
    if (a.kind.base in INTS) != (b.kind.base in INTS) and not (a.kind.literal or b.kind.literal):
        message = f"this is {a.kind} on one way and {b.kind} on the other"
        raise frame.refused(node, message, "convert one: float(x) or int(x)", DIFFER)
    if base in INTS and a.kind.rank == 0 and b.kind.rank == 0:
        base = "long" if "long" in (a.kind.base, b.kind.base) else "int"
    return converted(frame, a, base), converted(frame, b, base)

"""Small makers of SaC's tree, for what capture writes all the time."""

from __future__ import annotations

import math

from sacpy.interp.arithmetic import HELPERS
from sacpy.lang import ast
from sacpy.lang.source import Span

Expr = ast.Expr


def qname(name: str, span: Span) -> ast.QName:
    """`f`, `M::f`."""
    module, mark, own = name.rpartition("::")
    return ast.QName(module if mark else None, own, span)


def var(name: str, span: Span) -> Expr:
    """A variable."""
    return ast.Name(ast.QName(None, name, span), span)


def call(name: str, args: tuple[Expr, ...] | list[Expr], span: Span) -> Expr:
    """A call."""
    return ast.Call(qname(name, span), tuple(args), span)


def binary(operator: str, left: Expr, right: Expr, span: Span) -> Expr:
    """An infix operator."""
    return ast.Binary(ast.QName(None, operator, span), left, right, span)


def integer(value: int, span: Span, base: str = "int") -> Expr:
    """A whole number."""
    return ast.Literal(base, value, f"{value}L" if base == "long" else str(value), span)


def real(value: float, span: Span, base: str = "double") -> Expr:
    """A number of base "double" or "float"."""
    value, suffix = float(value), "f" if base == "float" else ""
    if base == "float":
        value = HELPERS["_f32"](value)
    if math.isnan(value):
        infinite = ast.Literal(base, math.inf, f"1e999{suffix}", span)
        return binary("-", infinite, infinite, span)
    text = ("-" if value < 0 else "") + "1e999" if math.isinf(value) else repr(value)
    return ast.Literal(base, value, text + suffix, span)


def truth(value: bool, span: Span) -> Expr:
    """true or false."""
    return ast.Literal("bool", value, "true" if value else "false", span)


def array(elements: list[Expr] | tuple[Expr, ...], span: Span) -> Expr:
    """`[a, b]`; without elements, no axes' extents."""
    if not elements:
        return ast.EmptyArray(
            ast.TypeExpr(ast.QName(None, "int", span), (ast.FixedExtent(0, span),), False, span), span
        )
    return ast.ArrayLiteral(tuple(elements), span)


def extent(value: Expr, axis: int, span: Span) -> Expr:
    """The extent of an axis."""
    return ast.Select(call("shape", [value], span), (integer(axis, span),), span)


def is_simple(expr: Expr) -> bool:
    """Whether writing an expression twice costs nothing."""
    return isinstance(expr, ast.Name | ast.Literal)


def assign(name: str, value: Expr, span: Span) -> ast.Stmt:
    """`name = value;`"""
    return ast.Assign((ast.Target(name, (), span, span),), None, value, span)


def sac_type(base: str, pattern: tuple[ast.Feature, ...] | None, span: Span) -> ast.TypeExpr:
    """A type."""
    return ast.TypeExpr(ast.QName(None, base, span), pattern, False, span)


def comprehension(names: list[str], value: Expr, upper: list[Expr], span: Span) -> Expr:
    """`{ [i,j] -> value | [i,j] < [n,m] }`."""
    bound = ast.TensorRange(None, True, ast.ArrayLiteral(tuple(upper), span), False, None, None, span)
    return ast.Tensor((ast.TensorPart(None, tuple(names), value, bound, span, span),), span)


def withloop(
    names: list[str],
    upper: list[Expr],
    body: list[ast.Stmt],
    value: Expr,
    operator: ast.WithOp,
    span: Span,
    lower: list[Expr] | None = None,
    step: list[Expr] | None = None,
) -> Expr:
    """A with-loop with one partition, from 0 or `lower` on."""
    low = lower or [integer(0, span)] * len(names)
    generator = ast.Generator(
        ast.ArrayLiteral(tuple(low), span), True, None, tuple(names), False, ast.ArrayLiteral(tuple(upper), span),
        ast.ArrayLiteral(tuple(step), span) if step else None, None, span, span,
    )  # fmt: skip
    return ast.With((), (ast.Part(generator, (), tuple(body), (value,), span),), (operator,), span)

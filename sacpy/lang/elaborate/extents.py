"""The types of arrays whose inner extents depend on outer positions, `float[i<n, i+1]`: from the text to a normal form.

In: a type as written, or the bounds of a comprehension. Out: the base type of the packed array, and its *sizes*, what
the variables of the normal form stand for. The first extent is always the size `p0`; a part of another extent that
mentions no position is a size of its own, or a function of `p0` where the program says so (`float[i<n, n-i]`), or a
number. So `float[i<n, i+1]`, `float[k<2*m, 1+k]` and `float[i<4, i+1]` are one type, with other sizes; `n-i` is
another.

A value of such a type is its elements, packed in one vector, and its sizes, side by side as the fields of a struct are;
where offsets have no closed form, also the table of the offsets of its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn

from sacpy.lang import ast
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.elaborate.usertypes import BUILTINS, BaseType, Component
from sacpy.lang.source import NOWHERE, Span
from sacpy.nodes import Node
from sacpy.withloop import piecewise as pw
from sacpy.withloop.piecewise import ONE, ZERO, Poly
from sacpy.withloop.sums import Extents, lowest, position

MOST = 5  # axes
LETTERS = "ijklq"  # how messages call positions
SIZES = ("n", "m", "p", "r", "s", "u")
FREE = "."  # what names of the program begin with in functions, so that they are not taken for positions and sizes


class Packed(Node):
    """The type of a packed array, and what each size `p0`, `p1`, .. is, as a function of names of the program."""

    type: BaseType
    sizes: tuple[Poly, ...]


def refuse(code: str, message: str, span: Span, label: str, help: str, *, notes: tuple[str, ...] = ()) -> NoReturn:
    """A type that cannot be."""
    raise SacError(Diagnostic(code, message, span, label, notes=notes, help=help))


def written(type: ast.TypeExpr, element: BaseType) -> Packed:
    """A type as written. Its names are free variables with `FREE` before them. Raises `SacError`."""
    pattern = type.pattern or ()
    if element.key not in BUILTINS:
        refuse(
            "E0440",
            f"an array with extents that depend on positions has elements of a built-in type, not {element.shown}",
            type.base.span,
            "not a built-in type",
            "keep one such array for each part: double[i<n, i+1] re, double[i<n, i+1] im",
        )
    axes: list[Poly] = []
    positions: dict[str, Poly] = {}
    for axis, feature in enumerate(pattern):
        match feature:
            case ast.PositionExtent(name=name, extent=extent):
                axes.append(function(extent, positions, _leaf))
                positions[name] = pw.name(position(axis))
            case ast.ComputedExtent(extent=extent):
                axes.append(function(extent, positions, _leaf))
            case ast.FixedExtent(value=value):
                axes.append(pw.number(value))
            case ast.NamedExtent(name=name):
                axes.append(pw.name(FREE + name))
            case _:
                refuse(
                    "E0441",
                    "an extent beside one that depends on positions must be a number, a name or computed",
                    feature.span,
                    "open",
                    "write the extent, as in float[i<n, i+1]",
                )
    return packed(element, axes, type.span)


def packed(element: BaseType, axes: Sequence[Poly], span: Span) -> Packed:
    """The type of an array with these extents, functions of positions `x0`, `x1`, .. and of free variables. Raises
    `SacError`."""
    if not any(n[0] == "x" for e in axes for n in pw.names(e)):
        text = ",".join(pw.shown(e, lambda n: n.removeprefix(FREE)) for e in axes)
        refuse(
            "E0442",
            "no extent of this array depends on a position",
            span,
            "a regular array",
            f"write it as one: {element.shown}[{text}]",
        )
    if len(axes) > MOST:
        refuse(
            "E0443",
            f"an array with extents that depend on positions has at most {MOST} axes, not {len(axes)}",
            span,
            "too many axes",
            "select the outer axes by hand: keep several arrays, or one vector and offsets",
        )
    extents, sizes = normal(axes)
    for axis, extent in enumerate(extents.axes):
        least = lowest(extents, axis)
        if least is not None and least.constant is not None and least.constant < 0:
            refuse(
                "E0444",
                f"the extent {shown(extent)} becomes negative: it is as small as {least.constant}",
                span,
                f"axis {axis} has a negative length there",
                f"cut it off at 0: max(0, {shown(extent)})",
            )
    return Packed(_type(element, extents, len(sizes), span), tuple(sizes))


def _type(element: BaseType, extents: Extents, sizes: int, span: Span) -> BaseType:
    closed = extents.closed
    if not closed and extents.rank > 2:
        refuse(
            "E0445",
            "there is no closed form for the offsets of this array",
            span,
            "no closed form",
            "with more than two axes write extents with + - * << and minima, maxima and conditions in one position "
            "each; or keep one array for each position of the first axis",
        )
    components = [Component("data", element.core, (None,))]
    components += [Component(f"p{k}", "int", ()) for k in range(sizes)]
    if not closed:
        components.append(Component("rows", "int", (None,)))
    key = f"{element.shown}[{', '.join(_axis(e, k, extents.rank) for k, e in enumerate(extents.axes))}]"
    return BaseType(key, "packed", tuple(components), (), False, element, extents)


def with_element(type: BaseType, element: BaseType) -> BaseType:
    """The packed array with the same extents and elements of another type."""
    assert type.extents is not None, "a packed type has extents"
    sizes = sum(c.path[0] == "p" for c in type.components)
    return _type(element, type.extents, sizes, NOWHERE)


def _axis(extent: Poly, axis: int, rank: int) -> str:
    return shown(extent) if axis == rank - 1 else f"{LETTERS[axis]}<{shown(extent)}"


def shown(of: Poly) -> str:
    """A function of positions and sizes in the letters of messages."""
    return pw.shown(of, _called)


def _called(text: str) -> str:
    if text[0] == "x":
        return LETTERS[int(text[1:])]
    return SIZES[int(text[1:])] if text[0] == "p" and text[1:].isdigit() else text.removeprefix(FREE)


# ---------------------------------------------------------------- the normal form


def normal(axes: Sequence[Poly]) -> tuple[Extents, list[Poly]]:
    """Extents over sizes only, and the sizes as functions of the free variables."""
    first = axes[0]
    sizes = [first]
    p0 = pw.name("p0")
    rest = list(axes[1:])
    solved = _solved(first, p0)
    if solved is not None:
        rest = [pw.substituted(e, solved) for e in rest]
    found: list[Poly] = [p0]
    for extent in rest:
        found.append(_sized(extent, sizes))
    return Extents(tuple(found)), sizes


def _solved(first: Poly, p0: Poly) -> dict[str, Poly] | None:
    """A free variable of the first extent as a function of `p0`, where the extent is that variable and a number."""
    for name in pw.names(first):
        parts = pw.coefficient_of(first, name)
        if parts is not None and parts[0] in (ONE, -ONE) and parts[1].constant is not None:
            return {name: (p0 - parts[1]) * parts[0]}
    return None


def _sized(of: Poly, sizes: list[Poly]) -> Poly:
    """With sizes in the place of parts that mention no position."""
    fixed, moving = ZERO, ZERO
    for monomial, coefficient in of.terms:
        term = Poly(((monomial, coefficient),))
        if any(n[0] == "x" or n == "p0" for n in pw.names(term)):
            product = pw.number(coefficient)
            for factor, exponent in monomial:
                new = _sized_factor(factor, sizes)
                for _ in range(exponent):
                    product = product * new
            moving = moving + product
        else:
            fixed = fixed + term
    constant = pw.number(sum(c for m, c in fixed.terms if not m))
    fixed = fixed - constant
    plain = {
        n: pw.name(f"p{k}")
        for k, s in enumerate(sizes)
        if k and len(n_ := pw.names(s)) == 1
        for n in n_
        if s == pw.name(n)
    }
    if fixed.terms and set(pw.names(fixed)) <= set(plain):  # of sizes that there are already
        return moving + constant + pw.substituted(fixed, plain)
    return moving + constant + (_size(fixed, sizes) if fixed.terms else ZERO)


def _sized_factor(factor: pw.Factor, sizes: list[Poly]) -> Poly:
    match factor:
        case pw.Variable(name=name):
            return pw.name(name) if name[0] == "x" or name == "p0" else _size(pw.name(name), sizes)
        case pw.Step(of=inner):
            return pw.step(_sized(inner, sizes))
        case pw.Power(base=base, of=inner):
            new = pw.power(base, _sized(inner, sizes))
            assert new is not None, "what is affine stays affine"
            return new
        case pw.Quotient(op=op, left=left, right=right):
            return pw.quotient(op, _sized(left, sizes), _sized(right, sizes))


def _size(of: Poly, sizes: list[Poly]) -> Poly:
    """The size that has this value, or its negation."""
    for k, known in enumerate(sizes[1:], 1):
        if known == of:
            return pw.name(f"p{k}")
        if known == -of:
            return -pw.name(f"p{k}")
    if next(iter(of.terms))[1] < 0:
        sizes.append(-of)
        return -pw.name(f"p{len(sizes) - 1}")
    sizes.append(of)
    return pw.name(f"p{len(sizes) - 1}")


# ---------------------------------------------------------------- expressions

Leaf = Callable[[ast.Expr], Poly]


def _leaf(expr: ast.Expr) -> Poly:
    if isinstance(expr, ast.Name) and expr.name.module is None:
        return pw.name(FREE + expr.name.name)
    refuse(
        "E0441",
        "an extent in a type is computed from positions, names and numbers",
        expr.span,
        "not possible here",
        "the operations are + - * / % << >>, min, max and `? :`; give anything else a name before",
    )


def function(expr: ast.Expr, positions: dict[str, Poly], leaf: Leaf) -> Poly:
    """An extent as a function. `leaf`: what is made of an expression that is no operation. Raises `SacError`."""
    try:
        return _function(expr, positions, leaf)
    except pw.TooLarge:
        refuse("E0445", "this extent has too many cases", expr.span, "too large", "write fewer minima and maxima")


def _function(expr: ast.Expr, positions: dict[str, Poly], leaf: Leaf) -> Poly:
    def of(e: ast.Expr) -> Poly:
        return _function(e, positions, leaf)

    match expr:
        case ast.Paren(inner=inner):
            return of(inner)
        case ast.Literal(base="int", value=int(value)):
            return pw.number(value)
        case ast.Name(name=ast.QName(module=None, name=name)) if name in positions:
            return positions[name]
        case ast.Unary(operator=ast.QName(module=None, name="-"), operand=operand):
            return -of(operand)
        case ast.Binary(operator=ast.QName(module=None, name=op)) if op in _BINARY:
            found = _BINARY[op](of(expr.left), of(expr.right))
            if found is None:
                refuse("E0441", "the number of bits to shift by must be a sum here", expr.span, "not a sum", "")
            return found
        case ast.Call(function=ast.QName(module=None, name="min"), args=(a, b)):
            return pw.minimum(of(a), of(b))
        case ast.Call(function=ast.QName(module=None, name="max"), args=(a, b)):
            return pw.maximum(of(a), of(b))
        case ast.Conditional(condition=condition, then=a, otherwise=b):
            return pw.choice(_condition(condition, of), of(a), of(b))
    return leaf(expr)


_BINARY: dict[str, Callable[[Poly, Poly], Poly | None]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: pw.quotient("div", a, b),
    "%": lambda a, b: pw.quotient("mod", a, b),
    "<<": lambda a, b: None if (p := pw.power(2, b)) is None else a * p,
    ">>": lambda a, b: None if (p := pw.power(2, b)) is None else pw.quotient("div", a, p),
}


def _condition(expr: ast.Expr, of: Leaf) -> Poly:
    """1 where a condition holds, else 0."""
    match expr:
        case ast.Paren(inner=inner):
            return _condition(inner, of)
        case ast.Logical(operator=op, left=left, right=right):
            a, b = _condition(left, of), _condition(right, of)
            return a * b if op == "&&" else a + b - a * b
        case ast.Unary(operator=ast.QName(module=None, name="!"), operand=operand):
            return ONE - _condition(operand, of)
        case ast.Binary(operator=ast.QName(module=None, name=op), left=left, right=right) if op in _COMPARISONS:
            return _COMPARISONS[op](of(left) - of(right))
    refuse("E0441", "a condition in an extent compares", expr.span, "no comparison", "write < <= > >= == != && || or !")


_COMPARISONS: dict[str, Callable[[Poly], Poly]] = {
    "<": lambda d: ONE - pw.step(d),
    "<=": lambda d: pw.step(-d),
    ">": lambda d: ONE - pw.step(-d),
    ">=": pw.step,
    "==": lambda d: pw.step(d) * pw.step(-d),
    "!=": lambda d: ONE - pw.step(d) * pw.step(-d),
}

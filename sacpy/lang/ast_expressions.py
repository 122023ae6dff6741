"""Expressions of the abstract syntax tree, with the names and types in them. `ast`, where statements and definitions
are, has these too: what is said there goes for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sacpy.lang.source import Span
from sacpy.nodes import Node, field

if TYPE_CHECKING:
    from sacpy.lang.ast import Stmt

# ---------------------------------------------------------------- names and types


class QName(Node):
    """A possibly qualified name: `M::f`, `f`, `+`, `M::+`."""

    module: str | None
    name: str
    span: Span

    def __str__(self) -> str:
        return f"{self.module}::{self.name}" if self.module else self.name


class AnyExtent(Node):
    """`.`: one axis of any extent."""

    span: Span


class FixedExtent(Node):
    """A number: one axis of that extent."""

    value: int
    span: Span


class NamedExtent(Node):
    """A name: one axis whose extent the name binds or checks; `_` ignores it."""

    name: str
    span: Span


class AnyShape(Node):
    """`*`: any number of axes."""

    span: Span


class SomeShape(Node):
    """`+`: at least one axis."""

    span: Span


class RankSlice(Node):
    """`2:shp`, `d:shp` or `d>0:shp`: `rank` axes whose extents are the vector `shape`; in the last form at least
    `minimum + 1` of them (written `d > minimum : shp`)."""

    rank: int | str
    shape: str
    minimum: int | None
    span: Span


class PositionExtent(Node):
    """`i<n`: one axis whose positions are called `name`; `extent`, a function of the names before it, is its length."""

    name: str
    extent: Expr
    span: Span


class ComputedExtent(Node):
    """`i+1`: one axis, behind at least one with a position, whose length is a function of positions."""

    extent: Expr
    span: Span


Feature = AnyExtent | FixedExtent | NamedExtent | AnyShape | SomeShape | RankSlice | PositionExtent | ComputedExtent


class TypeExpr(Node):
    """A type as written: base name, and the pattern in brackets (`None`: no brackets, a scalar). `struct` where the
    word stands before the name."""

    base: QName
    pattern: tuple[Feature, ...] | None
    struct: bool
    span: Span


# ---------------------------------------------------------------- expressions


class Literal(Node):
    """A number, `true`, `false` or a char. `base` is a base type's name; `value` an int (char: its code), float or
    bool; `text` the spelling."""

    base: str
    value: int | float | bool
    text: str
    span: Span


class StringLiteral(Node):
    """Adjacent literals are joined; `value` has escapes resolved, one character per byte (latin-1); `text` is the
    spelling."""

    value: str
    text: str
    span: Span


class Name(Node):
    """A variable or global object."""

    name: QName
    span: Span


class Dot(Node):
    """`.` as an index or on the left of a comprehension: keeps one axis."""

    span: Span


class Dots(Node):
    """`...` as an index or on the left of a comprehension: keeps all remaining axes."""

    span: Span


class ArrayLiteral(Node):
    """`[a, b]`; elements may be `Dot` and `Dots` where it is an index."""

    elements: tuple[Expr, ...]
    span: Span


class EmptyArray(Node):
    """`[:int]`, `[:double[0,3]]`."""

    type: TypeExpr
    span: Span


class Call(Node):
    """`f(a, b)`, `M::f(a)`, `+(a, b)`, `_add_SxS_(a, b)` (a primitive: underscore first and last, no module)."""

    function: QName
    args: tuple[Expr, ...]
    span: Span


class Binary(Node):
    """Infix use of an operator or two-argument function."""

    operator: QName
    left: Expr
    right: Expr
    span: Span


class Unary(Node):
    """Prefix use of an operator or one-argument operator function."""

    operator: QName
    operand: Expr
    span: Span


class Logical(Node):
    """`&&` or `||`."""

    operator: str
    left: Expr
    right: Expr
    span: Span


class Conditional(Node):
    """`c ? a : b`."""

    condition: Expr
    then: Expr
    otherwise: Expr
    span: Span


class Cast(Node):
    """`(complex) e`, `(int[3,2]) e`."""

    type: TypeExpr
    operand: Expr
    span: Span


class Paren(Node):
    """`(e)`: kept for printing and precise spans."""

    inner: Expr
    span: Span


class Select(Node):
    """`a[i]`, `a[i,j]`, `a[[i,j]]` (one index, an `ArrayLiteral`), with `Dot` and `Dots` among the indices. `a[]` has
    none."""

    array: Expr
    indices: tuple[Expr, ...]
    span: Span


class Field(Node):
    """`e.name`."""

    value: Expr
    name: str
    name_span: Span
    span: Span


class StructLiteral(Node):
    """`Body{p, v}` (positional) or `Body{.pos = p}` (named; the others zero); `Body{}`."""

    name: QName
    positional: tuple[Expr, ...]
    named: tuple[tuple[str, Expr], ...]
    span: Span


class Pragma(Node):
    """`#pragma ...`: the text behind the word `pragma`, joined over continuation lines, with its span. `words`: where
    in `text` each of its tokens starts, and the token's own span."""

    text: str
    span: Span
    words: tuple[tuple[int, Span], ...] = field(default=(), compare=False, repr=False)

    def place(self, start: int, end: int) -> Span:
        """The span of a part of the text: of the tokens that it touches; of no token, as at the end of the text, what
        is right behind the last one."""
        touched = [
            span
            for i, (at, span) in enumerate(self.words)
            if at < end and start < (self.words[i + 1][0] if i + 1 < len(self.words) else len(self.text))
        ]
        if touched:
            return _over(touched)
        if not self.words:
            return self.span
        last = self.words[-1][1]
        return Span(
            last.source, last.end, last.end, last.macro and Span(last.macro.source, last.macro.end, last.macro.end)
        )


def _over(spans: list[Span]) -> Span:
    """From the first to the last span; inside of a macro's definition too, where they come from one."""
    first, last = spans[0], spans[-1]
    if last.source is not first.source or last.end < first.end:
        return first
    inner = first.macro
    if first.macro is not None and last.macro is not None and (last.start, last.end) == (first.start, first.end):
        inner = first.macro.to(last.macro)
    return Span(first.source, first.start, last.end, inner)


class Generator(Node):
    """`lb <= iv < ub step s width w`. A dot bound is None. Index names: `vector` (`iv`), `scalars` (`[i,j]`), or both
    (`iv=[i,j]`)."""

    lower: Expr | None
    lower_inclusive: bool
    vector: str | None
    scalars: tuple[str, ...] | None
    upper_inclusive: bool
    upper: Expr | None
    step: Expr | None
    width: Expr | None
    span: Span
    index_span: Span


class Part(Node):
    """One partition. `results` is one expression per operator; None where void or absent."""

    generator: Generator
    pragmas: tuple[Pragma, ...]
    body: tuple[Stmt, ...]
    results: tuple[Expr, ...] | None
    span: Span


class GenarrayOp(Node):
    shape: Expr
    default: Expr | None
    span: Span


class ModarrayOp(Node):
    array: Expr
    span: Span


class FoldOp(Node):
    """`fold(f, n)`, `fold(f(a, b), n)`, `foldfix(f, n, stop)`."""

    function: QName
    args: tuple[Expr, ...]
    neutral: Expr
    stop: Expr | None
    span: Span


class PropagateOp(Node):
    object: Expr
    span: Span


class ScanOp(Node):
    """`scan(f, n)`, `exscan(f, n)`, `scan(f(a, b), n)`."""

    function: QName
    args: tuple[Expr, ...]
    neutral: Expr
    exclusive: bool
    span: Span


class IntoOp(Node):
    """`into(array, f)`, `into(array, f(a, b))`."""

    array: Expr
    function: QName
    args: tuple[Expr, ...]
    span: Span


WithOp = GenarrayOp | ModarrayOp | FoldOp | PropagateOp | ScanOp | IntoOp


class With(Node):
    pragmas: tuple[Pragma, ...]
    parts: tuple[Part, ...]
    operators: tuple[WithOp, ...]
    span: Span


class TensorRange(Node):
    """The part behind `|`; `lower` or `upper` may be missing."""

    lower: Expr | None
    lower_inclusive: bool
    upper: Expr | None
    upper_inclusive: bool
    step: Expr | None
    width: Expr | None
    span: Span


class TensorPart(Node):
    """`lhs -> value | range`. `vector` is set for `iv -> ..`, else `items`: names, `Dot`, `Dots`."""

    vector: str | None
    items: tuple[str | Dot | Dots, ...]
    value: Expr
    range: TensorRange | None
    span: Span
    lhs_span: Span


class Tensor(Node):
    parts: tuple[TensorPart, ...]
    span: Span


class BadExpr(Node):
    """Stands where the parser reported an error and went on."""

    span: Span


Expr = (
    Literal | StringLiteral | Name | Dot | Dots | ArrayLiteral | EmptyArray | Call | Binary | Unary | Logical
    | Conditional | Cast | Paren | Select | Field | StructLiteral | With | Tensor | BadExpr
)  # fmt: skip

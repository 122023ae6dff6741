"""The abstract syntax tree: what the parser builds, the printer prints and elaboration turns into core.

It keeps everything the programmer wrote that matters for printing it again (infix or prefix use, parentheses through
`Paren`, literal spelling); comments and preprocessor lines are kept beside the tree, by offset (`Module.trivia`). All
nodes are frozen; each carries its span.
"""

from __future__ import annotations

from sacpy.lang.ast_expressions import (
    AnyExtent,
    AnyShape,
    ArrayLiteral,
    BadExpr,
    Binary,
    Call,
    Cast,
    ComputedExtent,
    Conditional,
    Dot,
    Dots,
    EmptyArray,
    Expr,
    Feature,
    Field,
    FixedExtent,
    FoldOp,
    GenarrayOp,
    Generator,
    IntoOp,
    Literal,
    Logical,
    ModarrayOp,
    Name,
    NamedExtent,
    Paren,
    Part,
    PositionExtent,
    Pragma,
    PropagateOp,
    QName,
    RankSlice,
    ScanOp,
    Select,
    SomeShape,
    StringLiteral,
    StructLiteral,
    Tensor,
    TensorPart,
    TensorRange,
    TypeExpr,
    Unary,
    With,
    WithOp,
)
from sacpy.lang.source import Span
from sacpy.nodes import Node

# ---------------------------------------------------------------- statements


class IndexStep(Node):
    """`[i,j]` on the left of an assignment."""

    indices: tuple[Expr, ...]
    span: Span


class FieldStep(Node):
    """`.name` on the left of an assignment."""

    name: str
    span: Span


class Target(Node):
    """What an assignment sets: a variable, or a part of it through `path`. The name `_` ignores the value."""

    name: str
    path: tuple[IndexStep | FieldStep, ...]
    span: Span
    name_span: Span


class Assign(Node):
    """`x = e;` `a, b = f(x);` `x += e;` (`operator` is the function `+`)."""

    targets: tuple[Target, ...]
    operator: QName | None
    value: Expr
    span: Span


class Step(Node):
    """`x++;` `x--;` `++x;`: `operator` is the function `++` or `--`."""

    target: Target
    operator: QName
    span: Span


class CallStmt(Node):
    """An expression for its effect; usually a call, a with-loop for `void`."""

    call: Expr
    span: Span


class VarDecl(Node):
    type: TypeExpr
    names: tuple[tuple[str, Span], ...]
    span: Span


class If(Node):
    condition: Expr
    then: tuple[Stmt, ...]
    otherwise: tuple[Stmt, ...]
    span: Span


class While(Node):
    condition: Expr
    body: tuple[Stmt, ...]
    span: Span


class DoWhile(Node):
    body: tuple[Stmt, ...]
    condition: Expr
    span: Span


class For(Node):
    init: tuple[Stmt, ...]
    condition: Expr
    update: tuple[Stmt, ...]
    body: tuple[Stmt, ...]
    span: Span


class Return(Node):
    values: tuple[Expr, ...]
    span: Span


Stmt = Assign | Step | CallStmt | VarDecl | If | While | DoWhile | For | Return

# ---------------------------------------------------------------- definitions


class Param(Node):
    """A parameter. `takes`: of one that is a function (`bool before(double, double)`, whose `type` is that of its
    result), the types of its parameters."""

    type: TypeExpr
    name: str
    by_reference: bool
    span: Span
    takes: tuple[TypeExpr, ...] | None = None


class TypeVar(Node):
    """`<T: num>` before a library function's result types: one definition for every base type of a kind ("num", "int",
    "signed", "real", "builtin", "any")."""

    name: str
    kind: str
    span: Span


class FunDef(Node):
    """A function definition or declaration. `linkage`: "" (defined here), "external" or "specialize". `results` empty:
    void. `varargs`: `...` ends the parameters; `varresults`: `...` ends the results. `doc` is the text of the comment
    right above, "" without one. `conditions` stand behind the head's `|`."""

    typevars: tuple[TypeVar, ...]
    inlining: str
    linkage: str
    results: tuple[TypeExpr, ...]
    varresults: bool
    name: str
    params: tuple[Param, ...]
    varargs: bool
    conditions: tuple[Expr, ...]
    body: tuple[Stmt, ...] | None
    pragmas: tuple[Pragma, ...]
    doc: str
    span: Span
    name_span: Span

    @property
    def is_generic(self) -> bool:
        """Whether instances are made for calls: for their types, or for functions that are given."""
        return bool(self.typevars) or any(p.takes is not None for p in self.params)


class TypeDef(Node):
    """`typedef double[2] complex;`, `external typedef string;` (`type` is None)."""

    name: str
    type: TypeExpr | None
    pragmas: tuple[Pragma, ...]
    span: Span


class StructDef(Node):
    name: str
    fields: tuple[tuple[TypeExpr, str, Span], ...]
    span: Span


class ObjDef(Node):
    type: TypeExpr
    name: str
    value: Expr
    span: Span


class Interface(Node):
    """`use`, `import` (with `module`), `export`, `provide` (without). `all` with the exceptions in `symbols`, or just
    `symbols`."""

    kind: str
    module: str
    all: bool
    symbols: tuple[tuple[str, Span], ...]
    span: Span
    module_span: Span


Definition = FunDef | TypeDef | StructDef | ObjDef | Interface


class Module(Node):
    """A whole file. `kind`: "program", "module" or "class". For a class, `classtype` is the implementing type, None
    where external. `trivia`: comments and preprocessor lines, by offset."""

    kind: str
    name: str
    deprecated: str | None
    classtype: TypeExpr | None
    definitions: tuple[Definition, ...]
    pragmas: tuple[Pragma, ...]
    trivia: tuple[tuple[int, str], ...]
    span: Span


__all__ = [
    "AnyExtent",
    "AnyShape",
    "ArrayLiteral",
    "Assign",
    "BadExpr",
    "Binary",
    "Call",
    "CallStmt",
    "Cast",
    "ComputedExtent",
    "Conditional",
    "Definition",
    "DoWhile",
    "Dot",
    "Dots",
    "EmptyArray",
    "Expr",
    "Feature",
    "Field",
    "FieldStep",
    "FixedExtent",
    "FoldOp",
    "For",
    "FunDef",
    "GenarrayOp",
    "Generator",
    "If",
    "IndexStep",
    "Interface",
    "IntoOp",
    "Literal",
    "Logical",
    "ModarrayOp",
    "Module",
    "Name",
    "NamedExtent",
    "ObjDef",
    "Param",
    "Paren",
    "Part",
    "PositionExtent",
    "Pragma",
    "PropagateOp",
    "QName",
    "RankSlice",
    "Return",
    "ScanOp",
    "Select",
    "SomeShape",
    "Step",
    "Stmt",
    "StringLiteral",
    "StructDef",
    "StructLiteral",
    "Target",
    "Tensor",
    "TensorPart",
    "TensorRange",
    "TypeDef",
    "TypeExpr",
    "TypeVar",
    "Unary",
    "VarDecl",
    "While",
    "With",
    "WithOp",
]  # fmt: skip

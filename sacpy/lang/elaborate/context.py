"""The state while one function is elaborated: its variables, the statements so far, fresh names, and what went wrong.

Expression kinds register themselves in `EXPRESSIONS` (node class -> function giving the values of the expression; most
give one, a call or with-loop may give several).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from sacpy.lang import ast, core
from sacpy.lang.diagnostics import Diagnostic, Edit, Label, SacError
from sacpy.lang.elaborate.usertypes import BaseType, bound_name
from sacpy.lang.source import Span
from sacpy.nodes import Node, Record, field

if TYPE_CHECKING:
    from sacpy.lang.elaborate.program import ElaboratedProgram
    from sacpy.lang.elaborate.scope import Scope


class Failed(Exception):
    """An expression or statement cannot be elaborated; why has been said."""


class Value(Node):
    """What an expression stands for: its base type, and one core atom per component."""

    type: BaseType
    atoms: tuple[core.Atom, ...]
    span: Span

    @property
    def atom(self) -> core.Atom:
        """The atom of a value with a single component."""
        return self.atoms[0]


class Lost(Node):
    """A name that has no value here although it is set somewhere: `reason` says why."""

    reason: str
    span: Span


class Torn(Node):
    """A name that has a value of one type on one way to here, and of another on the other. Only whoever uses it
    minds."""

    first: Value
    second: Value

    @property
    def span(self) -> Span:
        """Where it was set last."""
        return self.second.span


Variables = dict[
    str, "Value | Lost | Torn | None"
]  # None: set by a statement that failed, so nothing more is said about it


class Inside(Node):
    """The comprehension of a packed array whose body is elaborated: its type, the atoms of the components behind the
    elements, the index vector of the element, and its position."""

    type: BaseType
    sizes: tuple[core.Atom, ...]
    index: core.Atom
    positions: tuple[core.Atom, ...]


class Context(Record, repr=False):
    """One function under elaboration. `statements` is the block being filled."""

    program: ElaboratedProgram
    scope: Scope
    typevars: dict[str, BaseType]
    diagnostics: list[Diagnostic]
    names: core.Names = field(default_factory=core.Names)
    statements: list[core.Stmt] = field(default_factory=list)
    variables: Variables = field(default_factory=dict)
    declared: dict[str, tuple[BaseType, ast.TypeExpr]] = field(default_factory=dict)
    comprehension: Inside | None = None
    widened: dict[str, core.Atom] = field(default_factory=dict)  # ints by their names in 64 bits

    # ------------------------------------------------------------ diagnostics

    def note(self, diagnostic: Diagnostic) -> None:
        """Keeps a diagnostic, once for each code and place."""
        if not any(d.code == diagnostic.code and d.span == diagnostic.span for d in self.diagnostics):
            self.diagnostics.append(diagnostic)

    def fail(
        self,
        code: str,
        message: str,
        span: Span,
        label: str = "",
        *,
        labels: Sequence[Label] = (),
        notes: Sequence[str] = (),
        help: str = "",
        edit: Any = None,
    ) -> NoReturn:
        """Keeps an error and gives up the present expression."""
        self.note(Diagnostic(code, message, span, label, tuple(labels), tuple(notes), help, edit))
        raise Failed

    def conversion(self, span: Span, found: BaseType, wanted: BaseType) -> tuple[str, Edit | None]:
        """What to say where a value of one type stands and one of another is wanted, and the change."""
        from sacpy.lang.elaborate.conversions import conversion  # loaded when something is wrong

        return conversion(span, found, wanted)

    def expect(self, value: Value, wanted: BaseType, code: str, message: str, declared: Span) -> None:
        """Notes a value that is not of the type that was declared for it."""
        if value.type != wanted:
            help, edit = self.conversion(value.span, value.type, wanted)
            labels = (Label(declared, "declared here"),)
            self.fail(code, message, value.span, f"this is {value.type.shown}", labels=labels, help=help, edit=edit)

    def note_types(self, name: str, torn: Torn, use: Span | None = None) -> None:
        """Notes that a variable has one type on one way and another on the other. `use`: where it is used, None: on the
        way back to the head of a loop."""
        first, second = torn.first, torn.second
        where = "here" if use is None else "its use"
        message = f"{name} is {first.type.shown} on one way to {where} and {second.type.shown} on the other"
        labels = [Label(first.span, f"{first.type.shown} here")]
        if use is not None:
            labels.append(Label(use, "used here"))
        help = f"{self.conversion(second.span, second.type, first.type)[0]}; or use two variables"
        self.note(Diagnostic("E0423", message, second.span, f"{second.type.shown} here", tuple(labels), help=help))

    def refuse_packed(self, type: BaseType, span: Span) -> None:
        """Refuses a packed array as an element of an array: each may be of another size."""
        if type.kind == "packed":
            self.fail(
                "E0453",
                "an array cannot hold arrays whose extents depend on positions: each may be of another size",
                span,
                f"this is {type.shown}",
                help="one array with an axis more holds several of one size: int[b, i<n, i+1]",
            )

    def guarded(self, action: Callable[[], None]) -> bool:
        """Runs `action`; tells whether it succeeded. Errors are kept."""
        try:
            action()
        except Failed:
            return False
        except SacError as error:
            for diagnostic in error.diagnostics:
                self.note(diagnostic)
            return False
        return True

    # ------------------------------------------------------------ building core

    def emit(self, statement: core.Stmt) -> None:
        """Appends a statement to the present block."""
        self.statements.append(statement)

    def bind(self, name: str, base: str, span: Span, source: str = "") -> core.Bind:
        """A fresh variable."""
        return core.Bind(self.names.fresh(name), base, source, span)

    def let(self, base: str, rhs: core.Rhs, span: Span, name: str = "t") -> core.Var:
        """Sets a fresh temporary."""
        target = self.bind(name, base, span)
        self.emit(core.Let((target,), rhs, span))
        return core.Var(target.name, span)

    def prim(
        self,
        base: str,
        op: str,
        *args: core.Atom,
        span: Span,
        cell: int = 0,
        form: str = "",
        attrs: tuple[object, ...] = (),
    ) -> core.Var:
        """Sets a fresh temporary to a primitive's result."""
        return self.let(base, core.Prim(op, args, form, cell, attrs), span)

    def binds(self, name: str, type: BaseType, span: Span, source: str = "") -> tuple[core.Bind, ...]:
        """Fresh variables for all components of a type."""
        return tuple(
            self.bind(
                f"{name}.{c.path}" if c.path else name,
                c.base,
                span,
                f"{source}.{c.path}" if c.path and source else source,
            )
            for c in type.components
        )

    def block(self, fill: Callable[[], None], variables: Variables | None = None) -> core.Block:
        """Runs `fill` with a new block and (a copy of) the variables, and gives the block. The variables are as before
        afterwards."""
        outer_statements, outer_variables = self.statements, self.variables
        self.statements = []
        self.variables = dict(outer_variables if variables is None else variables)
        try:
            fill()
            return core.Block(tuple(self.statements))
        finally:
            self.statements, self.variables = outer_statements, outer_variables

    # ------------------------------------------------------------ types

    def base_type(self, type: ast.TypeExpr) -> BaseType:
        """The base type that is written there; type variables stand for what they are bound to."""
        if type.base.module is None and type.base.name in self.typevars:
            return self.typevars[type.base.name]
        return self.scope.type_of(type)

    def function_named(self, name: ast.QName) -> BaseType | None:
        """The function that a name means as a parameter of the present instance; None: it is none."""
        return self.typevars.get(bound_name(name.name)) if name.module is None and self.typevars else None

    # ------------------------------------------------------------ expressions

    def values(self, expr: ast.Expr, wanted: int | None = None) -> tuple[Value, ...]:
        """The values of an expression, of which a call or with-loop may give any number. `wanted`: how many are asked
        for, where that is known."""
        return EXPRESSIONS[type(expr)](self, expr, wanted)

    def value(self, expr: ast.Expr) -> Value:
        """The single value of an expression."""
        found = self.values(expr, 1)
        if len(found) != 1:
            what = "no value" if not found else f"{len(found)} values"
            help = "call it as a statement of its own" if not found else "give every value a name: a, b = ...;"
            self.fail("E0401", f"this gives {what} where one value is wanted", expr.span, f"gives {what}", help=help)
        return found[0]

    def scalar(self, expr: ast.Expr, type: BaseType, what: str) -> core.Atom:
        """The atom of an expression that must have the given single-component base type."""
        value = self.value(expr)
        if value.type != type:
            help, edit = self.conversion(expr.span, value.type, type)
            self.fail(
                "E0402",
                f"{what} must be {type.shown}, not {value.type.shown}",
                expr.span,
                f"this is {value.type.shown}",
                help=help,
                edit=edit,
            )
        return value.atom


Elaborate = Callable[[Context, Any, "int | None"], tuple[Value, ...]]
EXPRESSIONS: dict[type, Elaborate] = {}


def expression(*nodes: type) -> Callable[[Elaborate], Elaborate]:
    """Registers the elaboration of one or more kinds of expression."""

    def register(function: Elaborate) -> Elaborate:
        for node in nodes:
            EXPRESSIONS[node] = function
        return function

    return register

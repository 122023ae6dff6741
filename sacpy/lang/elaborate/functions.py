"""Function heads and the frame around bodies: parameters and their patterns, conditions, results, reference parameters
handed back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sacpy.lang import ast, core
from sacpy.lang.diagnostics import Diagnostic, Edit, Label, SacError
from sacpy.lang.elaborate.context import Context, Torn, Value, Variables
from sacpy.lang.elaborate.expressions import type_text
from sacpy.lang.elaborate.freenames import mentioned
from sacpy.lang.elaborate.scope import Entry
from sacpy.lang.elaborate.statements import statements
from sacpy.lang.elaborate.usertypes import BOOL, INT, BaseType
from sacpy.lang.printer import print_expr, print_param
from sacpy.lang.source import Span
from sacpy.nodes import Node, replace

if TYPE_CHECKING:
    from sacpy.withloop.piecewise import Poly


class Agreement(Node):
    """The size of a packed parameter, and what the head says that it is."""

    size: core.Var
    is_: Poly
    text: str
    span: Span


class Head(Node):
    """A signature with what elaborating the body needs: the values of the parameters by name, the names bound by
    results only, and the names already taken."""

    signature: core.Signature
    parameters: dict[str, Value]
    exit_values: dict[str, Value]
    names: core.Names
    agreements: tuple[Agreement, ...] = ()


def head(cx: Context, key: str, entry: Entry) -> Head:
    """The signature of a function instance. Raises `SacError` where the head is wrong."""
    try:
        return _head(cx, key, entry)
    except SacError as error:
        raise SacError(*_all_unknown_types(cx, entry, error)) from None


def _all_unknown_types(cx: Context, entry: Entry, first: SacError) -> list[Diagnostic]:
    """What is wrong with a head, and with all other types in it."""
    found: list[Diagnostic] = []
    for type in (*entry.definition.results, *(p.type for p in entry.definition.params)):
        try:
            cx.base_type(type)
        except SacError as error:
            found += error.diagnostics
    return found + [d for d in first.diagnostics if d not in found]


def _head(cx: Context, key: str, entry: Entry) -> Head:
    definition = entry.definition
    slots: list[core.Slot] = []
    references: list[core.Slot] = []
    parameters: dict[str, Value] = {}
    agreements: list[Agreement] = []
    values = [p for p in definition.params if p.takes is None]
    for number, parameter in enumerate(definition.params):
        earlier = {p.name for p in definition.params[:number]}
        if parameter.name in earlier and parameter.name != "_":
            end = parameter.span.end
            name_span = Span(parameter.span.source, end - len(parameter.name), end, parameter.span.macro)
            raise SacError(
                Diagnostic(
                    "E0434",
                    f"two parameters are called {parameter.name}",
                    name_span,
                    "again",
                    help="rename one of them",
                )
            )
        if parameter.takes is not None:
            continue
        type = cx.base_type(parameter.type)
        own = _slots(cx, parameter.name, type, parameter.type, parameter.span)
        if type.kind == "packed":
            from sacpy.lang.elaborate.packed_heads import agreements_of  # loaded where a program has such arrays

            own, new = agreements_of(cx, definition, parameter, own, parameters)
            agreements += new
        slots += own
        if parameter.by_reference:
            references += own
        parameters[parameter.name] = Value(
            type, tuple(core.Var(s.bind.name, parameter.span) for s in own), parameter.span
        )
    pattern_names = _bind_names(cx, [p.type for p in values], parameters)
    results = [
        s for i, t in enumerate(definition.results) for s in _slots(cx, f"result{i}", cx.base_type(t), t, t.span)
    ]
    exit_names = _bind_names(cx, list(definition.results), parameters, keep=False)
    exit_values = {n: Value(INT, (core.Var(v, definition.name_span),), definition.name_span) for n, v in exit_names}
    native = _native(entry) if definition.linkage == "external" or definition.body is None else None
    signature = core.Signature(
        key,
        entry.qualified,
        tuple(slots),
        (*results, *references),
        tuple(pattern_names),
        definition.inlining,
        native,
        head_text(definition, cx),
        definition.name_span,
    )
    return Head(signature, parameters, exit_values, cx.names, tuple(agreements))


def _slots(cx: Context, name: str, type: BaseType, written: ast.TypeExpr, span: Span) -> list[core.Slot]:
    binds = cx.binds(name, type, span, name)
    text = instance_text(cx, written)
    if type.kind == "packed":
        axis = (ast.AnyExtent(span),)
        return [core.Slot(b, axis if c.cell else None, (), text) for b, c in zip(binds, type.components, strict=True)]
    if type.any_cell:
        return [core.Slot(binds[0], (ast.AnyShape(span),), (), text)]
    return [core.Slot(b, written.pattern, c.cell, text) for b, c in zip(binds, type.components, strict=True)]


def instance_text(cx: Context, written: ast.TypeExpr) -> str:
    """A type as one writes it, with the actual type in the place of a type variable."""
    type = cx.typevars.get(written.base.name) if written.base.module is None else None
    return type_text(written if type is None else replace(written, base=ast.QName(None, type.shown, written.base.span)))


def _bind_names(
    cx: Context, types: list[ast.TypeExpr], parameters: dict[str, Value], keep: bool = True
) -> list[tuple[str, str]]:
    """A variable for each name that patterns bind and that is not a parameter itself (there the pattern checks against
    the argument). With `keep` they count as parameters from then on."""
    found: list[tuple[str, str]] = []
    for name, span in pattern_names(types):
        if name in parameters or any(n == name for n, _ in found):
            continue
        bind = cx.bind(name, "int", span, name)
        found.append((name, bind.name))
        if keep:
            parameters[name] = Value(INT, (core.Var(bind.name, span),), span)
    return found


def pattern_names(types: list[ast.TypeExpr]) -> Iterator[tuple[str, Span]]:
    """The names in patterns, in order."""
    for type in types:
        for feature in type.pattern or ():
            if isinstance(feature, ast.NamedExtent) and feature.name != "_":
                yield feature.name, feature.span
            elif isinstance(feature, ast.RankSlice):
                if isinstance(feature.rank, str) and feature.rank != "_":
                    yield feature.rank, feature.span
                if feature.shape != "_":
                    yield feature.shape, feature.span


def _native(entry: Entry) -> core.Native:
    d = entry.definition
    linkname = next(
        (p.text.split(None, 1)[1].strip().strip('"') for p in d.pragmas if p.text.startswith("linkname ")), ""
    )
    return core.Native(
        f"{entry.qualified}/{len(d.params)}{'...' if d.varargs or d.varresults else ''}",
        linkname,
        d.varargs,
        d.varresults,
        d.pragmas,
    )


def head_text(definition: ast.FunDef, cx: Context | None = None) -> str:
    """The head of a function on one line, for messages; with a context, of the instance there."""

    def text(type: ast.TypeExpr) -> str:
        return type_text(type) if cx is None else instance_text(cx, type)

    results = ", ".join(text(t) for t in definition.results) or "void"
    params = ", ".join(print_param(p, text) for p in definition.params)
    dots = ", ..." if definition.varargs else ""
    conditions = " | " + ", ".join(print_expr(c) for c in definition.conditions) if definition.conditions else ""
    return f"{results} {definition.name}({params}{dots}){conditions}"


# ---------------------------------------------------------------- bodies


def function(cx: Context, made: Head, entry: Entry) -> core.Function:
    """The function with its body. Diagnostics are kept in the context."""
    definition = entry.definition
    cx.names = made.names
    cx.variables = dict(made.parameters)
    bound_by_results = set(made.exit_values)
    conditions = [
        c for c in (_condition(cx, e, made, bound_by_results) for e in definition.conditions) if c is not None
    ]
    if made.agreements:
        from sacpy.lang.elaborate.packed_heads import conditions_of

        conditions = [*conditions_of(cx, made), *conditions]
    returns: list[core.Atom] = []
    ends: Variables = {}
    block = cx.block(lambda: returns.extend(_body(cx, definition, made, ends)))
    conditions += [
        _agreement(cx, name, value, end)
        for name, value in made.exit_values.items()
        if isinstance(end := ends.get(name), Value) and end.type == INT
    ]
    exit_names = tuple((n, v.atom.name) for n, v in made.exit_values.items() if isinstance(v.atom, core.Var))
    return core.Function(made.signature, tuple(conditions), block, tuple(returns), exit_names)


def _condition(cx: Context, expr: ast.Expr, made: Head, bound_by_results: set[str]) -> core.Condition | None:
    on_exit = bool(mentioned(expr) & bound_by_results)
    variables = {**made.parameters, **(made.exit_values if on_exit else {})}
    atoms: list[core.Atom] = []
    blocks: list[core.Block] = []
    if not cx.guarded(
        lambda: blocks.append(cx.block(lambda: atoms.append(cx.scalar(expr, BOOL, "a condition")), dict(variables)))
    ):
        return None
    return core.Condition(blocks[0], atoms[0], on_exit, print_expr(expr), expr.span)


def _agreement(cx: Context, name: str, bound: Value, own: Value) -> core.Condition:
    """A name that the result's pattern binds, and to which the body gives a value itself, must agree with the
    result."""
    span = own.span
    atoms: list[core.Atom] = []

    def fill() -> None:
        both = [cx.prim("int", "ravel", v.atom, span=span) for v in (bound, own)]
        atoms.append(cx.prim("bool", "all", cx.prim("bool", "eq", *both, span=span), span=span))

    return core.Condition(cx.block(fill), atoms[0], True, f"{name} of the result == {name} of the body", span)


def _body(cx: Context, definition: ast.FunDef, made: Head, ends: Variables) -> list[core.Atom]:
    """The returned atoms; `ends` receives the variables as they are at the end."""
    body = definition.body or ()
    last = body[-1] if body and isinstance(body[-1], ast.Return) else None
    statements(cx, body[:-1] if last is not None else body)
    returns: list[core.Atom] = []
    cx.guarded(lambda: returns.extend(_returns(cx, definition, last, made.parameters)))
    for parameter in definition.params:
        if parameter.by_reference:
            value = cx.variables.get(parameter.name)
            if isinstance(value, Torn):
                cx.note_types(parameter.name, value, parameter.span)
            if isinstance(value, Value):
                returns += value.atoms
    ends |= cx.variables
    return returns


def _return_of(definition: ast.FunDef) -> tuple[str, Edit | None]:
    """What to do where a body ends without returning: its last statement may have the value."""
    match (definition.body or ())[-1:]:
        case (ast.CallStmt(span=span),) if len(definition.results) == 1:
            at, text = span.start, "return "
        case (ast.Assign(targets=(target,), span=span),) if len(definition.results) == 1 and not target.path:
            at, text = span.source.text.find(";", span.end) + 1, f" return {target.name};"
        case _:
            return "end the body with 'return ..;'", None
    return "return what its last statement gives", Edit(Span(span.source, at, at, span.macro), text)


def _returns(
    cx: Context, definition: ast.FunDef, node: ast.Return | None, parameters: dict[str, Value]
) -> list[core.Atom]:
    wanted = [cx.base_type(t) for t in definition.results]
    if node is None:
        if wanted:
            end = Span(definition.span.source, definition.span.end - 1, definition.span.end, definition.span.macro)
            help, edit = _return_of(definition)
            cx.fail(
                "E0435",
                f"{definition.name} ends without returning a value",
                end,
                f"should give {', '.join(type_text(t) for t in definition.results)}",
                help=help,
                edit=edit,
            )
        return []
    if len(node.values) == 1 and len(wanted) != 1:
        values = list(cx.values(node.values[0], len(wanted)))
    else:
        values = [cx.value(e) for e in reversed(node.values)][::-1]
    if len(values) != len(wanted):
        n, m = len(values), len(wanted)
        cx.fail(
            "E0436",
            f"{definition.name} gives {m} value{'s' * (m != 1)}, {n} {'is' if n == 1 else 'are'} returned",
            node.values[0].span.to(node.values[-1].span) if n else node.span,
            f"returns {n}",
            labels=(Label(definition.name_span, f"declared to give {m}"),),
            help="return as many values as the head says",
        )
    atoms: list[core.Atom] = []
    for value, type, written in zip(values, wanted, definition.results, strict=True):
        message = f"{definition.name} should give {type.shown}, this is {value.type.shown}"
        cx.expect(value, type, "E0437", message, written.span)
        if type.kind == "packed":
            from sacpy.lang.elaborate.packed_heads import agreed

            value = agreed(cx, definition, written, value, parameters)
        atoms += value.atoms
    return atoms

"""Calls: which instances of a name take arguments of these base types, primitives called directly, reference
parameters, natives with `...`.

Base types decide here; shapes decide later. Of the definitions that take the arguments, the module's own and imported
ones win over used ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sacpy.lang import ast, core
from sacpy.lang.diagnostics import Label
from sacpy.lang.elaborate.context import Context, Value
from sacpy.lang.elaborate.overlaps import rivals
from sacpy.lang.elaborate.scope import Entry
from sacpy.lang.elaborate.usertypes import BUILTINS, INT, STRING, BaseType, FunctionParameter, bound_name
from sacpy.lang.primitives import PRIMITIVES, Primitive, parse
from sacpy.lang.source import Span
from sacpy.lang.types import KINDS
from sacpy.nodes import Node

if TYPE_CHECKING:
    from sacpy.lang.elaborate.program import ElaboratedProgram


class Match(Node):
    """A definition that takes the arguments, with what its type variables stand for."""

    entry: Entry
    typevars: tuple[tuple[str, BaseType], ...]


# ---------------------------------------------------------------- calls as written


def call(cx: Context, node: ast.Call, wanted: int | None) -> tuple[Value, ...]:
    """The results of a call."""
    primitive = parse(node.function.name) if node.function.module is None else None
    if primitive is not None:
        return (_primitive(cx, node, *primitive),)
    special = _class_conversion(cx, node)
    if special is not None:
        return (special,)
    arguments = [_argument(cx, node.function, i, a) for i, a in reversed(list(enumerate(node.args)))][::-1]
    if any(a.type.kind == "packed" for a in arguments):
        from sacpy.lang.elaborate.packed_calls import packed_call  # loaded where a program has such arrays

        found = packed_call(cx, node, arguments)
        if found is not None:
            return found
    matches = candidates(cx, node.function, [a.type for a in arguments], node.span, node.args)
    formats = [a.value for a in node.args if isinstance(a, ast.StringLiteral)]
    _check_format(cx, matches, arguments)
    results, references = apply(
        cx, matches, arguments, node.span, str(node.function), formats[-1] if formats else None, wanted
    )
    for position, value in references:
        set_reference(cx, node.args[position], value)
    return results


def _argument(cx: Context, function: ast.QName, position: int, expr: ast.Expr) -> Value:
    """A value; or the function of a name that is no variable."""
    if isinstance(expr, ast.Name) and not (expr.name.module is None and expr.name.name in cx.variables):
        from sacpy.lang.elaborate.function_parameters import function_given

        given = function_given(cx, function, position, expr)
        if given is not None:
            return given
    return cx.value(expr)


def operation(
    cx: Context, function: ast.QName, operands: list[Value], span: Span, written: tuple[ast.Expr, ...] = ()
) -> tuple[Value, ...]:
    """The results of a function of operands that are values already."""
    if any(o.type.kind == "packed" for o in operands):
        from sacpy.lang.elaborate.packed_calls import packed_call

        found = packed_call(cx, ast.Call(function, written, span), operands)
        if found is not None:
            return found
    return apply(
        cx, candidates(cx, function, [o.type for o in operands], span, written), operands, span, str(function)
    )[0]


def _check_format(cx: Context, matches: list[Match], arguments: list[Value]) -> None:
    """The conversions of a literal format against the arguments, for the library's natives that take `...`."""
    entry = matches[0].entry
    if not (entry.definition.varargs and entry.scope.info.library):
        return
    at = len(entry.definition.params) - 1
    format = arguments[at]
    if not isinstance(format.atom, core.Const) or not isinstance(format.atom.value[0], bytes):
        return
    given = arguments[at + 1 :]
    if any(len(v.atoms) != 1 for v in given):
        wrong_one = next(v for v in given if len(v.atoms) != 1)
        cx.fail(
            "E0429",
            f"{entry.definition.name} cannot take {wrong_one.type.shown}",
            wrong_one.span,
            f"this is {wrong_one.type.shown}",
            help="give its fields one by one" if wrong_one.type.has_parts else "call it, and give what that gives",
        )
    from sacpy.lang.printf_formats import problem, read

    wrong = problem(read(format.atom.value[0]), [v.type.core for v in given])
    if wrong is not None:
        span = format.span if wrong.argument is None else given[wrong.argument].span
        label = "this format" if wrong.argument is None else f"this is {given[wrong.argument].type.shown}"
        labels = () if wrong.argument is None else (Label(format.span, "the format"),)
        cx.fail("E0429", wrong.message, span, label, labels=labels, help=wrong.help)


def set_reference(cx: Context, argument: ast.Expr, value: Value) -> None:
    """Gives a reference argument, a variable or a global object, its new value."""
    while isinstance(argument, ast.Paren):
        argument = argument.inner
    if not isinstance(argument, ast.Name):
        cx.fail(
            "E0414",
            "a reference parameter needs a variable that can take the new value",
            argument.span,
            "not a variable",
            help="give the value a name first",
        )
    name = argument.name
    if name.module is None and name.name in cx.variables:
        cx.variables[name.name] = Value(value.type, value.atoms, argument.span)
        return
    found = cx.scope.global_object(name)
    if found is not None:
        cx.emit(core.GlobalSet(cx.program.global_key(*found)[0], value.atom, argument.span))


def references(cx: Context, node: ast.Call) -> set[str]:
    """The variables that a call may set through reference parameters."""
    found: set[str] = set()
    if not any(isinstance(a, ast.Name) for a in node.args):
        return found
    entries = entries_of(cx, node.function)
    for i, argument in enumerate(node.args):
        by_reference = any(i < len(e.definition.params) and e.definition.params[i].by_reference for e in entries)
        if by_reference and isinstance(argument, ast.Name) and argument.name.module is None:
            found.add(argument.name.name)
    return found


# ---------------------------------------------------------------- candidates


def entries_of(cx: Context, function: ast.QName) -> tuple[Entry, ...]:
    """All functions of a name, nearest first."""
    given = cx.function_named(function)
    if given is not None:
        from sacpy.lang.elaborate.function_parameters import tiers

        return tuple(e for tier in tiers(cx.program, given) for e in tier)
    if function.module is not None:
        return cx.scope.qualified(function.module, function.name, function.span)
    near, used = cx.scope.tiers(function.name)
    return near + used


def candidates(
    cx: Context, function: ast.QName, types: list[BaseType], span: Span, args: tuple[ast.Expr, ...] = ()
) -> list[Match]:
    """The definitions that take arguments of these base types; of those with and without type variables, the former
    first."""
    given = cx.function_named(function)
    found: tuple[tuple[Entry, ...], ...]
    if given is not None:
        from sacpy.lang.elaborate.function_parameters import tiers

        found = tiers(cx.program, given)
    elif function.module:
        found = (cx.scope.qualified(function.module, function.name, function.span),)
    else:
        found = cx.scope.tiers(function.name)
    for tier in found:
        matches = own_first(cx, [m for m in (match(cx.program, e, types) for e in tier) if m is not None])
        if matches:
            _refuse_rivals(cx, function, matches, span)
            return sorted(matches, key=lambda m: not m.typevars)
    from sacpy.lang.elaborate.refusals import no_instance, unknown_function

    everything = [e for tier in found for e in tier]
    if not everything:
        unknown_function(cx, function, span)
    no_instance(cx, function, types, span, everything, args)


def own_first(cx: Context, matches: list[Match]) -> list[Match]:
    """Generic definitions step back where one made for these very types gives something else: `sel` of a string gives a
    char."""
    own = [m for m in matches if not m.typevars]
    if not own or len(own) == len(matches):
        return matches
    given = cx.program.result_types(own[0].entry, own[0].typevars)
    return [m for m in matches if not m.typevars or cx.program.result_types(m.entry, m.typevars) == given]


def _refuse_rivals(cx: Context, function: ast.QName, matches: list[Match], span: Span) -> None:
    if len({m.entry.module for m in matches}) < 2:
        return
    found = rivals(cx.program, cx.scope, [(m.entry, cx.program.key(m.entry, m.typevars)) for m in matches])
    if found is not None:
        labels = [Label(e.definition.name_span, f"one in {e.module}") for e in found]
        cx.fail(
            "E0315",
            f"{function} is ambiguous: {found[0].module} and {found[1].module} define it for the same types",
            span,
            "which one?",
            labels=labels,
            help=f"write {found[0].module}::{function.name} or {found[1].module}::{function.name}",
        )


def match(program: ElaboratedProgram, entry: Entry, types: Sequence[BaseType]) -> Match | None:
    """Whether a definition takes these base types."""
    definition = entry.definition
    if len(types) < len(definition.params) or (len(types) > len(definition.params) and not definition.varargs):
        return None
    bound: dict[str, BaseType] = {}
    functions: list[tuple[FunctionParameter, BaseType]] = []
    for parameter, type in zip(program.parameter_types(entry), types, strict=False):
        if isinstance(parameter, BaseType):
            if parameter != type:
                return None
        elif isinstance(parameter, FunctionParameter):
            functions.append((parameter, type))
        elif bound.setdefault(parameter.name, type) != type or not in_kind(type, parameter.kind):
            return None
    if functions:
        from sacpy.lang.elaborate.function_parameters import fits

        if not all(fits(program, wanted, given, bound) for wanted, given in functions):
            return None
        bound |= {bound_name(wanted.name): given for wanted, given in functions}
    return Match(entry, tuple(sorted(bound.items())))


def in_kind(type: BaseType, kind: str) -> bool:
    """Whether a type is one of those that a type variable of this kind may stand for."""
    # "any" is every type whose values are arrays: files and strings have no shape of their own.
    return any(
        (part == "any" and type.kind not in ("opaque", "class", "packed", "function"))
        or type.key in KINDS.get(part, (part,))
        for part in kind.replace(" ", "").split("+")
    )


# ---------------------------------------------------------------- applying


def apply(
    cx: Context,
    matches: list[Match],
    arguments: list[Value],
    span: Span,
    shown: str,
    format: str | None = None,
    wanted: int | None = None,
) -> tuple[tuple[Value, ...], list[tuple[int, Value]]]:
    """Emits the call. Gives the results, and the new value of each reference argument with its position."""
    first = matches[0].entry.definition
    types = result_types(cx, matches, span, shown)
    if first.varresults:
        types = [*types, *_scanned(format, (wanted or 1) - len(types))]
    by_reference = [i for i, p in enumerate(first.params) if p.by_reference]
    results = [cx.binds("t", t, span) for t in types]
    changed = [(i, cx.binds("t", arguments[i].type, span)) for i in by_reference]
    targets = tuple(b for group in (*results, *(g for _, g in changed)) for b in group)
    atoms = tuple(a for v in arguments for a in v.atoms)
    bases = tuple(c.base for v in arguments for c in v.type.components)
    keys = tuple(dict.fromkeys(cx.program.key(m.entry, m.typevars) for m in matches))
    cx.emit(core.Let(targets, core.Call(shown, keys, atoms, bases), span))
    return (
        tuple(_bound(t, g, span) for t, g in zip(types, results, strict=True)),
        [(i, _bound(arguments[i].type, g, span)) for i, g in changed],
    )


def _bound(type: BaseType, binds: tuple[core.Bind, ...], span: Span) -> Value:
    return Value(type, tuple(core.Var(b.name, span) for b in binds), span)


def result_types(cx: Context, matches: list[Match], span: Span, shown: str) -> list[BaseType]:
    """The declared results, which all candidates must agree on."""
    all_types = [cx.program.result_types(m.entry, m.typevars) for m in matches]
    for other, found in zip(matches, all_types, strict=True):
        if found != all_types[0]:
            a, b = (", ".join(t.shown for t in ts) or "nothing" for ts in (all_types[0], found))
            labels = [Label(m.entry.definition.name_span, f"gives {t}") for m, t in ((matches[0], a), (other, b))]
            cx.fail(
                "E0416",
                f"instances of {shown} that differ only in shape give different types: {a} and {b}",
                span,
                "called here",
                labels=labels,
                help="give them the same result types, or different names",
            )
    return all_types[0]


def _scanned(format: str | None, count: int) -> list[BaseType]:
    from sacpy.lang.scan_formats import scan_bases

    bases = scan_bases(format) if format is not None else ()
    types = [STRING if b == STRING.key else BUILTINS[b] for b in bases]
    return types if format is not None else [INT] * max(count, 0)


# ---------------------------------------------------------------- primitives


def _primitive(cx: Context, node: ast.Call, op: str, form: str) -> Value:
    row = PRIMITIVES[op]
    if len(node.args) != len(row.args):
        cx.fail(
            "E0415",
            f"{node.function} takes {len(row.args)} arguments, not {len(node.args)}",
            node.span,
            f"{len(node.args)} given",
            help=f"give {len(row.args)}",
        )
    arguments = [cx.value(a) for a in reversed(node.args)][::-1]
    shared = _shared_type(cx, row, arguments, node)
    return primitive(cx, op, arguments, shared, node.span, form)


def _shared_type(cx: Context, row: Primitive, arguments: list[Value], node: ast.Call) -> BaseType | None:
    shared: BaseType | None = None
    for kind, value in zip(row.args, arguments, strict=True):
        if kind != "T":
            if value.type.key != kind:
                wanted = BUILTINS[kind]
                help, edit = cx.conversion(value.span, value.type, wanted)
                cx.fail(
                    "E0402",
                    f"this argument of {node.function} must be {kind}, not {value.type.shown}",
                    value.span,
                    f"this is {value.type.shown}",
                    help=help,
                    edit=edit,
                )
            continue
        if shared is not None and value.type != shared:
            help, edit = cx.conversion(value.span, value.type, shared)
            cx.fail(
                "E0404", f"the arguments of {node.function} must have one type: {shared.shown} and {value.type.shown}",
                value.span, f"this is {value.type.shown}",
                help=help, edit=edit,
            )  # fmt: skip
        shared = value.type
        if shared.key not in row.over and not row.structural:
            cx.fail(
                "E0417",
                f"{node.function} does not work on {shared.shown}",
                value.span,
                f"this is {shared.shown}",
                help="it works on " + ", ".join(row.over),
            )
    return shared


def primitive(
    cx: Context,
    op: str,
    arguments: list[Value],
    shared: BaseType | None,
    span: Span,
    form: str = "",
    attrs: tuple[object, ...] = (),
) -> Value:
    """Emits a primitive, for each component of a typedef or struct."""
    row = PRIMITIVES[op]
    result = shared if row.result == "T" else BUILTINS[row.result]
    assert result is not None
    if shared is None or shared.kind == "builtin" or not row.structural:
        return Value(
            result, (cx.prim(result.core, op, *(a.atom for a in arguments), span=span, form=form, attrs=attrs),), span
        )
    if shared.any_cell or not shared.components:
        cx.fail(
            "E0418",
            f"values of type {shared.shown} have no shape of their own",
            span,
            "not possible here",
            help="use the functions of its module",
        )
    # A vector of cells has a longer shape underneath, so the ranks that the name demands are those of the source
    # language: left to the shapes.
    parts = range(1 if op in ("dim", "shape") else len(shared.components))
    atoms: list[core.Atom] = []
    for i in parts:
        component = shared.components[i]
        own = [
            a.atoms[i] if a.type == shared and kind in ("T", "...") else a.atom
            for a, kind in zip(arguments, _kinds(row, arguments), strict=True)
        ]
        base = component.base if row.result == "T" else row.result
        atoms.append(cx.prim(base, op, *own, span=span, cell=len(component.cell), attrs=attrs))
    return Value(result, tuple(atoms), span)


def _kinds(row: Primitive, arguments: list[Value]) -> tuple[str, ...]:
    if row.args[-1] == "...":
        return (*row.args[:-1], *("int" for _ in range(len(arguments) - len(row.args) + 1)))
    return row.args


# ---------------------------------------------------------------- classes


def _class_conversion(cx: Context, node: ast.Call) -> Value | None:
    """`to_C(v)` and `from_C(c)` inside class C."""
    info = cx.scope.info
    name = node.function.name
    if (
        info.kind != "class"
        or info.classtype is None
        or name not in (f"to_{info.name}", f"from_{info.name}")
        or len(node.args) != 1
        or cx.scope.own(name)
    ):
        return None
    own = cx.scope.own_type(info.name)
    assert own is not None
    underlying = cx.base_type(info.classtype)
    value = cx.value(node.args[0])
    wanted, result = (underlying, own) if name.startswith("to_") else (own, underlying)
    if value.type != wanted:
        help, edit = cx.conversion(value.span, value.type, wanted)
        cx.fail(
            "E0402",
            f"{name} takes {wanted.shown}, not {value.type.shown}",
            value.span,
            f"this is {value.type.shown}",
            help=help,
            edit=edit,
        )
    return Value(result, value.atoms, node.span)


__all__ = ["Match", "apply", "call", "candidates", "primitive", "references", "set_reference"]

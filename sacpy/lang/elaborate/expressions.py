"""Expressions: literals, names, operators, casts, structs and their fields, conditionals."""

from __future__ import annotations

from typing import NoReturn

from sacpy.base.spelling import closest
from sacpy.lang import ast, core
from sacpy.lang.diagnostics import Edit, Label
from sacpy.lang.elaborate.calls import call
from sacpy.lang.elaborate.context import Context, Failed, Lost, Torn, Value, expression
from sacpy.lang.elaborate.usertypes import BOOL, BUILTINS, INT, STRING, BaseType, field_slice
from sacpy.lang.source import Span
from sacpy.lang.types import Scalar
from sacpy.nodes import replace

# ---------------------------------------------------------------- literals and names


@expression(ast.BadExpr)
def _bad(cx: Context, node: ast.BadExpr, wanted: int | None) -> tuple[Value, ...]:
    raise Failed


@expression(ast.Literal)
def _literal(cx: Context, node: ast.Literal, wanted: int | None) -> tuple[Value, ...]:
    return (Value(BUILTINS[node.base], (core.Const(node.base, (), (node.value,), node.span),), node.span),)


@expression(ast.StringLiteral)
def _string(cx: Context, node: ast.StringLiteral, wanted: int | None) -> tuple[Value, ...]:
    return (Value(STRING, (core.Const(STRING.key, (), (node.value.encode("latin-1"),), node.span),), node.span),)


@expression(ast.Paren)
def _paren(cx: Context, node: ast.Paren, wanted: int | None) -> tuple[Value, ...]:
    return cx.values(node.inner, wanted)


@expression(ast.Name)
def _name(cx: Context, node: ast.Name, wanted: int | None) -> tuple[Value, ...]:
    name = node.name
    if name.module is None and name.name in cx.variables:
        found = cx.variables[name.name]
        if found is None:
            raise Failed
        if isinstance(found, Lost):
            cx.fail(
                "E0306",
                f"{name} has no value here: {found.reason}",
                node.span,
                "not defined here",
                labels=(Label(found.span, "set only here"),),
                help=f"give {name} a value before",
            )
        if isinstance(found, Torn):
            cx.note_types(name.name, found, node.span)
            raise Failed
        return (Value(found.type, tuple(_at(a, node.span) for a in found.atoms), node.span),)
    found_object = cx.scope.global_object(name)
    if found_object is not None:
        key, type = cx.program.global_key(*found_object)
        return (Value(type, (cx.let(type.core, core.GlobalGet(key), node.span, name.name),), node.span),)
    from sacpy.lang.suggest import macros

    near = closest(name.name, [*(n for n in cx.variables if n != name.name), *macros(node.span.source, False)])
    help = f"did you mean {near[0]}?" if near else "set it before, or make it a parameter"
    if name.module is None and (cx.scope.tiers(name.name) != ((), ()) or cx.function_named(name) is not None):
        help = f"{name} is a function: call it as {name}(..)"
    cx.fail(
        "E0305",
        f"{name} is not defined",
        node.span,
        "unknown name",
        help=help,
        edit=Edit(node.span, near[0]) if near else None,
    )


def _at(atom: core.Atom, span: Span) -> core.Atom:
    return core.Var(atom.name, span) if isinstance(atom, core.Var) else atom


@expression(ast.Dot, ast.Dots)
def _dots(cx: Context, node: ast.Dot | ast.Dots, wanted: int | None) -> tuple[Value, ...]:
    cx.fail(
        "E0409",
        "a dot keeps an axis in a selection; it has no value of its own",
        node.span,
        "not a value",
        help="write dots only as indices, as in a[., 1]",
    )


# ---------------------------------------------------------------- arrays


@expression(ast.ArrayLiteral)
def _array(cx: Context, node: ast.ArrayLiteral, wanted: int | None) -> tuple[Value, ...]:
    if not node.elements:
        return (Value(INT, (core.Const("int", (0,), (), node.span),), node.span),)
    elements = [cx.value(e) for e in reversed(node.elements)][::-1]
    return (array_of(cx, elements, node.span),)


def array_of(cx: Context, elements: list[Value], span: Span) -> Value:
    """The array with the given elements, of equal base type and shape."""
    first = elements[0]
    cx.refuse_packed(first.type, first.span)
    for other in elements[1:]:
        if other.type != first.type:
            from sacpy.lang.elaborate.conversions import all_converted, widest

            help, edit = all_converted([(e.span, e.type) for e in elements], widest([e.type for e in elements]))
            cx.fail(
                "E0404", f"the elements of an array must have one type: {first.type.shown} and {other.type.shown}",
                other.span, f"this is {other.type.shown}",
                labels=(Label(first.span, f"this is {first.type.shown}"),), help=help, edit=edit,
            )  # fmt: skip
    atoms: list[core.Atom] = []
    for i, component in enumerate(first.type.components):
        parts = tuple(e.atoms[i] for e in elements)
        atoms.append(_constant(parts, span) or cx.let(component.base, core.ArrayCons(parts), span))
    return Value(first.type, tuple(atoms), span)


DEEPEST_CONSTANT = 32  # axes; deeper literals are put together at run time, which may refuse them


def _constant(parts: tuple[core.Atom, ...], span: Span) -> core.Const | None:
    first = parts[0]
    if (
        not isinstance(first, core.Const)
        or len(first.shape) >= DEEPEST_CONSTANT
        or any(not isinstance(p, core.Const) or p.shape != first.shape for p in parts)
        or first.base not in BUILTINS
    ):
        return None
    value = tuple(v for p in parts if isinstance(p, core.Const) for v in p.value)
    return core.Const(first.base, (len(parts), *first.shape), value, span)


@expression(ast.EmptyArray)
def _empty(cx: Context, node: ast.EmptyArray, wanted: int | None) -> tuple[Value, ...]:
    type = cx.base_type(node.type)
    own: list[int] = []
    for feature in node.type.pattern or ():
        if not isinstance(feature, ast.FixedExtent):
            cx.fail(
                "E0405",
                "the element type of an empty array needs a known shape",
                feature.span,
                "not a number",
                help="write numbers, as in [:double[0,3]]",
            )
        own.append(feature.value)
    atoms = tuple(core.Const(c.base, (0, *own, *(e or 0 for e in c.cell)), (), node.span) for c in type.components)
    return (Value(type, atoms, node.span),)


def zero(cx: Context, type: BaseType, extents: tuple[int | None, ...], span: Span) -> Value:
    """A zero of a type with the given outer extents, each component for itself."""
    atoms: list[core.Atom] = []
    for c in type.components:
        if c.base not in BUILTINS:
            cx.fail(
                "E0406",
                f"there is no zero of type {c.base.rpartition('::')[2]}",
                span,
                "needs a value",
                help="give every field of such a type a value",
            )
        shape = tuple(e or 0 for e in (*extents, *c.cell))
        size = 1
        for e in shape:
            size *= e
        nothing: Scalar = False if c.base == "bool" else 0.0 if c.base in ("float", "double") else 0
        if size <= 64:
            atoms.append(core.Const(c.base, shape, (nothing,) * size, span))
        else:
            default = core.Const(c.base, (), (nothing,), span)
            lengths = core.Const("int", (len(shape),), shape, span)
            atoms.append(cx.let(c.base, core.WithLoop((), (core.Genarray(lengths, default),), ()), span))
    return Value(type, tuple(atoms), span)


# ---------------------------------------------------------------- operators


@expression(ast.Call)
def _call(cx: Context, node: ast.Call, wanted: int | None) -> tuple[Value, ...]:
    return call(cx, node, wanted)


@expression(ast.Binary)
def _binary(cx: Context, node: ast.Binary, wanted: int | None) -> tuple[Value, ...]:
    return call(cx, ast.Call(node.operator, (node.left, node.right), node.span), wanted)


@expression(ast.Unary)
def _unary(cx: Context, node: ast.Unary, wanted: int | None) -> tuple[Value, ...]:
    operand = node.operand
    while isinstance(operand, ast.Paren):
        operand = operand.inner
    # -2147483648 is a literal although 2147483648 is not; the sign of any literal number is its own, so that -0.0 and
    # -1ub need no function.
    if (
        node.operator.module is None
        and node.operator.name == "-"
        and isinstance(operand, ast.Literal)
        and operand.base in ("int", "long", "longlong", "float", "double")
    ):
        return _literal(cx, ast.Literal(operand.base, -operand.value, f"-{operand.text}", node.span), wanted)
    return call(cx, ast.Call(node.operator, (node.operand,), node.span), wanted)


@expression(ast.Logical)
def _logical(cx: Context, node: ast.Logical, wanted: int | None) -> tuple[Value, ...]:
    left = cx.scalar(node.left, BOOL, f"the left side of {node.operator}")
    right: list[core.Atom] = []
    block = cx.block(lambda: right.append(cx.scalar(node.right, BOOL, f"the right side of {node.operator}")))
    decided = core.Const("bool", (), (node.operator == "||",), node.span)
    target = cx.bind("t", "bool", node.span)
    then, otherwise = (block, core.EMPTY) if node.operator == "&&" else (core.EMPTY, block)
    merge = core.Merge(target, right[0], decided) if node.operator == "&&" else core.Merge(target, decided, right[0])
    cx.emit(core.If(left, then, otherwise, (merge,), node.span))
    return (Value(BOOL, (core.Var(target.name, node.span),), node.span),)


@expression(ast.Conditional)
def _conditional(cx: Context, node: ast.Conditional, wanted: int | None) -> tuple[Value, ...]:
    condition = cx.scalar(node.condition, BOOL, "the condition")
    branches: list[tuple[Value, ...]] = []
    blocks = [cx.block(lambda e=e: branches.append(cx.values(e, wanted))) for e in (node.then, node.otherwise)]  # type: ignore[misc]
    then, otherwise = branches
    if len(then) != len(otherwise) or any(a.type != b.type for a, b in zip(then, otherwise, strict=False)):
        shown = [", ".join(v.type.shown for v in branch) or "nothing" for branch in branches]
        from sacpy.lang.elaborate.conversions import all_converted, widest

        pair = (
            [(node.then.span, then[0].type), (node.otherwise.span, otherwise[0].type)]
            if len(then) == len(otherwise) == 1
            else []
        )
        help, edit = (
            all_converted(pair, widest([t for _, t in pair]))
            if pair
            else ("let both give as many values, of the same types", None)
        )
        cx.fail(
            "E0407", f"the two branches have different types: {shown[0]} and {shown[1]}", node.otherwise.span,
            f"this is {shown[1]}",
            labels=(Label(node.then.span, f"this is {shown[0]}"),), help=help, edit=edit,
        )  # fmt: skip
    merges: list[core.Merge] = []
    results: list[Value] = []
    for a, b in zip(then, otherwise, strict=True):
        targets = cx.binds("t", a.type, node.span)
        merges += [core.Merge(t, x, y) for t, x, y in zip(targets, a.atoms, b.atoms, strict=True)]
        results.append(Value(a.type, tuple(core.Var(t.name, node.span) for t in targets), node.span))
    cx.emit(core.If(condition, blocks[0], blocks[1], tuple(merges), node.span))
    return tuple(results)


# ---------------------------------------------------------------- casts


@expression(ast.Cast)
def _cast(cx: Context, node: ast.Cast, wanted: int | None) -> tuple[Value, ...]:
    target = cx.base_type(node.type)
    value = cx.value(node.operand)
    if "packed" in (target.kind, value.type.kind):
        from sacpy.lang.elaborate import packed  # loaded where a program has such arrays

        return (packed.cast(cx, node, target, value),)
    if value.type != target and not _castable(value.type, target):
        help, edit = cx.conversion(node.operand.span, value.type, target)
        cx.fail(
            "E0408",
            f"a cast cannot turn {value.type.shown} into {target.shown}",
            node.span,
            f"the operand is {value.type.shown}",
            help=help,
            edit=edit and replace(edit, span=node.span),
        )
    text = type_text(node.type)
    for atom, component in zip(value.atoms, target.components, strict=True):
        if not target.any_cell and not (
            target == value.type
            and node.type.pattern is not None
            and any(isinstance(f, ast.AnyShape) for f in node.type.pattern)
        ):
            cx.emit(core.Check(atom, node.type.pattern, component.cell, text, "this cast", node.span))
    return (Value(target, value.atoms, node.span),)


def _castable(found: BaseType, wanted: BaseType) -> bool:
    """Whether the two are a typedef and what it stands for (or two typedefs of the same)."""
    if "typedef" not in (found.kind, wanted.kind) or "class" in (found.kind, wanted.kind):
        return False
    return [c.base for c in found.components] == [c.base for c in wanted.components]


def type_text(type: ast.TypeExpr) -> str:
    """A type as one writes it."""
    from sacpy.lang.printer import print_type

    return print_type(type)


# ---------------------------------------------------------------- structs


@expression(ast.Field)
def _field(cx: Context, node: ast.Field, wanted: int | None) -> tuple[Value, ...]:
    value = cx.value(node.value)
    return (field_of(cx, value, node.name, node.name_span, node.span),)


def field_of(cx: Context, value: Value, name: str, name_span: Span, span: Span) -> Value:
    """A field of a struct, or the array of that field of an array of structs."""
    found = field_slice(value.type, name) if value.type.is_struct else None
    if found is None:
        unknown_field(cx, value.type, name, name_span)
    base, _, where = found
    return Value(base, value.atoms[where], span)


def unknown_field(cx: Context, type: BaseType, name: str, span: Span) -> NoReturn:
    """Reports a field that is not there."""
    if not type.is_struct:
        cx.fail(
            "E0411", f"{type.shown} has no fields", span, "not a struct", help="a dot selects the field of a struct"
        )
    near = closest(name, [f for f, _, _ in type.fields])
    fields = ", ".join(f for f, _, _ in type.fields)
    cx.fail(
        "E0410", f"{type.shown} has no field {name}", span, "no such field", notes=(f"its fields: {fields}",),
        help=f"did you mean {near[0]}?" if near else f"add the field to {type.shown}, or select one that it has",
        edit=Edit(span, near[0]) if near else None,
    )  # fmt: skip


@expression(ast.StructLiteral)
def _struct_literal(cx: Context, node: ast.StructLiteral, wanted: int | None) -> tuple[Value, ...]:
    type = cx.scope.base_type(node.name, True)
    given = dict(zip((f for f, _, _ in type.fields), node.positional, strict=False))
    if node.positional and len(node.positional) != len(type.fields):
        cx.fail(
            "E0412", f"{type.shown} has {len(type.fields)} fields, {len(node.positional)} values are given", node.span,
            "wrong number of values",
            notes=("its fields: " + ", ".join(f for f, _, _ in type.fields),),
            help="give one value per field, or name the fields: {.x = ..}",
        )  # fmt: skip
    for name, expr in node.named:
        if field_slice(type, name) is None:
            unknown_field(cx, type, name, expr.span)
        if name in given:
            cx.fail("E0413", f"the field {name} is given twice", expr.span, "again", help="remove one of the two")
        given[name] = expr
    parts: dict[str, Value] = {}
    for name, expr in reversed(given.items()):
        field = field_slice(type, name)
        assert field is not None
        base, extents, _ = field
        value = cx.value(expr)
        if value.type != base:
            help, edit = cx.conversion(expr.span, value.type, base)
            cx.fail(
                "E0402",
                f"the field {name} must be {base.shown}, not {value.type.shown}",
                expr.span,
                f"this is {value.type.shown}",
                help=help,
                edit=edit,
            )
        check_extents(cx, value, base, extents, f"the field {name}", expr.span)
        parts[name] = value
    atoms: list[core.Atom] = []
    for name, base, extents in type.fields:
        atoms += (parts[name] if name in parts else zero(cx, base, extents, node.span)).atoms
    return (Value(type, tuple(atoms), node.span),)


def check_extents(
    cx: Context, value: Value, base: BaseType, extents: tuple[int | None, ...], what: str, span: Span
) -> None:
    """Asserts that a value has the extents of a field."""
    pattern = tuple(ast.AnyExtent(span) if e is None else ast.FixedExtent(e, span) for e in extents)
    text = base.shown + (f"[{','.join('.' if e is None else str(e) for e in extents)}]" if extents else "")
    for atom, component in zip(value.atoms, base.components, strict=True):
        if not base.any_cell and not (isinstance(atom, core.Const) and atom.shape == (*extents, *component.cell)):
            cx.emit(core.Check(atom, pattern or None, component.cell, text, what, span))


__all__ = ["array_of", "check_extents", "field_of", "type_text", "unknown_field", "zero"]

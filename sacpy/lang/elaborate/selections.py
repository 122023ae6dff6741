"""Selections, with and without dots, and updates of parts of a variable.

`a[i,j]` calls whatever `sel` is in scope; the library's own is the primitive. `x.f[i].g[j] = e` is a `modarray` of the
fields concerned: an array of structs is one array per field, so the indices of all steps join to one.
"""

from __future__ import annotations

from collections.abc import Iterator

from sacpy.lang import ast, core
from sacpy.lang.elaborate.calls import Match, apply, candidates, match, own_first, primitive
from sacpy.lang.elaborate.context import Context, Value, expression
from sacpy.lang.elaborate.expressions import array_of, unknown_field
from sacpy.lang.elaborate.usertypes import INT, BaseType, field_slice
from sacpy.lang.source import Span

# ---------------------------------------------------------------- reading


@expression(ast.Select)
def _select(cx: Context, node: ast.Select, wanted: int | None) -> tuple[Value, ...]:
    array = cx.value(node.array)
    return (select(cx, array, node.indices, node.span),)


def select(cx: Context, array: Value, indices: tuple[ast.Expr, ...], span: Span) -> Value:
    """The element or sub-array at an index as written."""
    if array.type.kind == "packed":
        from sacpy.lang.elaborate import packed  # loaded where a program has such arrays

        return packed.select(cx, array, packed.indices_of(cx, indices), span)
    items = _spread(indices)
    if any(isinstance(i, ast.Dot | ast.Dots) for i in items):
        return _slice(cx, array, items, span)
    return select_at(cx, array, index_value(cx, indices, span), span)


def select_at(cx: Context, array: Value, index: Value, span: Span) -> Value:
    """The element or sub-array at an index value."""
    matches = _library_or_own(cx, "sel", [index.type, array.type])
    if matches is not None:
        results, _ = apply(cx, matches, [index, array], span, "sel")
        return results[0]
    _must_be_int(cx, index)
    return primitive(cx, "sel", [index, array], array.type, span)


def _library_or_own(cx: Context, name: str, types: list[BaseType]) -> list[Match] | None:
    """The visible instances of `sel` or `modarray` for these types; None where they are the library's (a primitive) or
    there is none."""
    for tier in cx.scope.tiers(name):
        matches = own_first(cx, [m for m in (match(cx.program, e, types) for e in tier) if m is not None])
        if matches:
            return None if all(m.entry.module == "ArrayBasics" for m in matches) else matches
    return None


def _spread(indices: tuple[ast.Expr, ...]) -> tuple[ast.Expr, ...]:
    """`a[[i, .]]` is `a[i, .]`."""
    only = indices[0] if len(indices) == 1 else None
    while isinstance(only, ast.Paren):
        only = only.inner
    if isinstance(only, ast.ArrayLiteral) and any(isinstance(e, ast.Dot | ast.Dots) for e in only.elements):
        return only.elements
    return indices


def index_value(cx: Context, indices: tuple[ast.Expr, ...], span: Span) -> Value:
    """The index that is written: one expression, or a list of them."""
    if len(indices) == 1:
        return cx.value(indices[0])
    if not indices:
        return Value(INT, (core.Const("int", (0,), (), span),), span)
    return array_of(cx, [cx.value(i) for i in reversed(indices)][::-1], span)


def _must_be_int(cx: Context, index: Value) -> None:
    if index.type != INT:
        help, edit = cx.conversion(index.span, index.type, INT)
        cx.fail(
            "E0419",
            f"an index must be int, not {index.type.shown}",
            index.span,
            f"this is {index.type.shown}",
            help=help,
            edit=edit,
        )


def _slice(cx: Context, array: Value, items: tuple[ast.Expr, ...], span: Span) -> Value:
    if sum(isinstance(i, ast.Dots) for i in items) > 1:
        second = [i for i in items if isinstance(i, ast.Dots)][1]
        cx.fail(
            "E0420",
            "'...' may stand only once in an index",
            second.span,
            "again",
            help="write a single dot for each further axis",
        )
    spec = "".join("." if isinstance(i, ast.Dot) else "*" if isinstance(i, ast.Dots) else "i" for i in items)
    scalars = [cx.value(i) for i in reversed(items) if not isinstance(i, ast.Dot | ast.Dots)][::-1]
    for scalar in scalars:
        _must_be_int(cx, scalar)
    return primitive(cx, "slice", [array, *scalars], array.type, span, attrs=(spec,))


# ---------------------------------------------------------------- updating


def update(
    cx: Context,
    base: Value,
    path: tuple[ast.IndexStep | ast.FieldStep, ...],
    value: ast.Expr | Value | None,
    operator: ast.QName | None,
    span: Span,
) -> Value:
    """The value of a variable after `variable<path> = value`, or with `operator`, `variable<path> op= value`; without a
    value, `op variable<path>`."""
    given = value if value is None or isinstance(value, Value) else cx.value(value)
    if any(_reaches_packed(base.type, path)):
        from sacpy.lang.elaborate.packed_updates import update_packed  # loaded where a program has such arrays

        return update_packed(cx, base, path, given, operator, span)
    type, where, indices = _locate(cx, base, path)
    part = Value(type, base.atoms[where], span)
    index = _joined(cx, indices, span)
    if operator is not None:
        old = part if index is None else select_at(cx, part, index, span)
        operands = [old] if given is None else [old, given]
        results, _ = apply(
            cx, candidates(cx, operator, [o.type for o in operands], span), operands, span, str(operator)
        )
        given = results[0]
    assert given is not None
    if given.type != type:
        help, edit = cx.conversion(given.span, given.type, type)
        cx.fail(
            "E0402",
            f"this part is {type.shown}, the new value is {given.type.shown}",
            given.span,
            f"this is {given.type.shown}",
            help=help,
            edit=edit,
        )
    new = given if index is None else _modarray(cx, part, index, given, span)
    if index is None and path and base.type.is_struct:
        new = _same_shape(cx, new, part, "the new value of this field", span)
    atoms = list(base.atoms)
    atoms[where] = new.atoms
    return Value(base.type, tuple(atoms), span)


def _reaches_packed(type: BaseType, path: tuple[ast.IndexStep | ast.FieldStep, ...]) -> Iterator[bool]:
    """For each index of a path, whether it is one into a packed array."""
    for step in path:
        if isinstance(step, ast.IndexStep):
            yield type.kind == "packed"
        else:
            found = field_slice(type, step.name) if type.is_struct else None
            if found is None:
                return
            type = found[0]


def _locate(
    cx: Context, base: Value, path: tuple[ast.IndexStep | ast.FieldStep, ...]
) -> tuple[BaseType, slice, list[Value]]:
    """The type of the part that a path leads to, which components it has, and the indices on the way."""
    type, start, end = base.type, 0, len(base.atoms)
    indices: list[Value] = []
    for step in path:
        if isinstance(step, ast.FieldStep):
            found = field_slice(type, step.name) if type.is_struct else None
            if found is None:
                unknown_field(cx, type, step.name, step.span)
            type, _, where = found
            start, end = start + where.start, start + where.stop
        else:
            dots = [i for i in _spread(step.indices) if isinstance(i, ast.Dot | ast.Dots)]
            if dots:
                cx.fail(
                    "E0421",
                    "an update needs a full index: no dots on the left of '='",
                    dots[0].span,
                    "a dot",
                    help="update with a with-loop: with { .. } : modarray(a)",
                )
            indices.append(index_value(cx, step.indices, step.span))
    return type, slice(start, end), indices


def _joined(cx: Context, indices: list[Value], span: Span) -> Value | None:
    if not indices:
        return None
    if len(indices) == 1:
        return indices[0]
    for index in indices:
        _must_be_int(cx, index)
    vectors = [cx.prim("int", "ravel", i.atom, span=span) for i in indices]
    joined = vectors[0]
    for vector in vectors[1:]:
        joined = cx.prim("int", "cat", joined, vector, span=span)
    return Value(INT, (joined,), span)


def _modarray(cx: Context, array: Value, index: Value, value: Value, span: Span) -> Value:
    matches = _library_or_own(cx, "modarray", [array.type, index.type, value.type])
    if matches is not None:
        results, _ = apply(cx, matches, [array, index, value], span, "modarray")
        return results[0]
    _must_be_int(cx, index)
    return primitive(cx, "modarray", [array, index, value], array.type, span)


def _same_shape(cx: Context, new: Value, old: Value, what: str, span: Span) -> Value:
    """A field keeps its shape, or the fields of a struct would not lie side by side any more."""
    atoms = tuple(
        cx.prim(c.base, "like", a, b, span=span, attrs=(what,))
        for c, a, b in zip(new.type.components, new.atoms, old.atoms, strict=True)
    )
    return Value(new.type, atoms, span)


__all__ = ["index_value", "select", "select_at", "update"]

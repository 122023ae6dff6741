"""Updates of rows and elements of packed arrays: `t[i,j] = e`, `t[i] = row`, `s.t[i,j] += e`.

In: a variable and the path to a part of it. Out: its new value, a `modarray` of the vector of elements; so it happens
in place where nobody else holds the array, as other updates do.
"""

from __future__ import annotations

from sacpy.lang import ast, core
from sacpy.lang.elaborate.calls import apply, candidates
from sacpy.lang.elaborate.context import Context, Value
from sacpy.lang.elaborate.expressions import unknown_field
from sacpy.lang.elaborate.packed import indices_of, located, select
from sacpy.lang.elaborate.packed_functions import element_of, extents_of, int_of
from sacpy.lang.elaborate.usertypes import BaseType, field_slice
from sacpy.lang.source import Span

Path = tuple[ast.IndexStep | ast.FieldStep, ...]


def update_packed(
    cx: Context, base: Value, path: Path, given: Value | None, operator: ast.QName | None, span: Span
) -> Value:
    """The value of a variable after the update."""
    type, start = base.type, 0
    indices: list[ast.Expr] = []
    for step in path:
        if isinstance(step, ast.IndexStep):
            if type.kind != "packed":
                cx.refuse_packed(_last(base.type, path), step.span)
            indices += step.indices
        else:
            found = field_slice(type, step.name) if type.is_struct else None
            if found is None or indices:
                unknown_field(cx, type, step.name, step.span)
            type, start = found[0], start + found[2].start
    array = Value(type, base.atoms[start : start + len(type.components)], span)
    at = indices_of(cx, tuple(indices))
    old = select(cx, array, at, span)
    if operator is not None:
        operands = [old] if given is None else [old, given]
        results, _ = apply(
            cx, candidates(cx, operator, [o.type for o in operands], span), operands, span, str(operator)
        )
        given = results[0]
    assert given is not None, "an update without an operator has a value"
    if given.type != old.type:
        help, edit = cx.conversion(given.span, given.type, old.type)
        cx.fail(
            "E0402",
            f"this part is {old.type.shown}, the new value is {given.type.shown}",
            given.span,
            f"this is {given.type.shown}",
            help=help,
            edit=edit,
        )
    atoms = list(base.atoms)
    atoms[start] = _changed(cx, array, at, given, old, span)
    return Value(base.type, tuple(atoms), span)


def _last(type: BaseType, path: Path) -> BaseType:
    """The type that the fields of a path lead to."""
    for step in path:
        found = field_slice(type, step.name) if isinstance(step, ast.FieldStep) else None
        type = type if found is None else found[0]
    return type


def _changed(cx: Context, array: Value, at: list[Value], new: Value, old: Value, span: Span) -> core.Atom:
    element = element_of(array.type).core
    begin, values = located(cx, array, [i.atom for i in at], span)
    first = cx.prim("int", "toi", begin, span=span)
    if len(at) == extents_of(array.type).rank:
        last = at[-1].atom
        flat = cx.prim("int", "ravel", cx.prim("int", "add", first, last, span=span), span=span)
        cx.emit(core.Check(new.atom, None, (), new.type.shown, "the new value of an element", span))
        return cx.prim(element, "modarray", array.atoms[0], flat, new.atom, span=span)
    row = cx.prim(element, "like", new.atoms[0], old.atoms[0], span=span, attrs=("the row",))
    if old.type.kind != "packed" and extents_of(array.type).rank - len(at) > 1:  # a regular array of several axes
        count = extents_of(array.type).sizes()[len(at)]
        assert count is not None, "what has no closed form has two axes"
        size = cx.let("int", core.ArrayCons((int_of(cx, count, values, span),)), span)
        row = cx.prim(element, "reshape", size, row, span=span)
    lower = cx.let("int", core.ArrayCons((first,)), span)
    length = cx.prim("int", "shape", row, span=span)
    upper = cx.prim("int", "add", lower, length, span=span)
    index, k = cx.bind("iv", "int", span), cx.bind("k", "int", span)
    moved: list[core.Atom] = []

    def fill() -> None:
        inner = cx.prim("int", "sub", core.Var(index.name, span), lower, span=span)
        moved.append(cx.prim(element, "sel", inner, row, span=span))

    body = cx.block(fill)
    part = core.Partition(lower, True, upper, False, None, None, index, (k,), body, tuple(moved), (), span)
    return cx.let(element, core.WithLoop((part,), (core.Modarray(array.atoms[0]),), ()), span)


__all__ = ["update_packed"]

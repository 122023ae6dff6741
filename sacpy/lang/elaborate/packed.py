"""Values of packed arrays in core: offsets, rows and elements, casts, comprehensions.

In: values of `packed` types (`extents`) and syntax. Out: statements of core over the vector of elements. So whatever
runs core runs such arrays: an index is checked on its own axis against the extent there, which is a function of the
indices before it; then the offset, computed in 64 bits, selects from the vector. A comprehension is a with-loop over
the vector, whose body finds its position by the inverse of the offset.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.lang import ast, core
from sacpy.lang.elaborate.context import Context, Value
from sacpy.lang.elaborate.extents import FREE, Packed, packed, written
from sacpy.lang.elaborate.packed_functions import (
    LongMachine,
    element_of,
    extents_of,
    int_of,
    long_of,
    require,
    sizes_of,
)
from sacpy.lang.elaborate.packed_sizes import evaluated, total, value_of
from sacpy.lang.elaborate.usertypes import INT, BaseType
from sacpy.lang.printer import print_type
from sacpy.lang.source import Span
from sacpy.withloop import piecewise as pw
from sacpy.withloop.sums import position

# ---------------------------------------------------------------- selection


def located(
    cx: Context, array: Value, indices: Sequence[core.Atom], span: Span
) -> tuple[core.Atom, dict[str, core.Atom]]:
    """Where a row or an element begins, in 64 bits, and the variables of functions there; each index is checked on its
    own axis."""
    extents = extents_of(array.type)
    values = sizes_of(cx, array, span)
    machine = LongMachine(cx, span)
    for axis, index in enumerate(indices):
        extent = int_of(cx, extents.axes[axis], values, span)
        values[position(axis)] = long_of(cx, within(cx, index, extent, axis, array.type, span), span)
    total: core.Atom | None = None
    for axis in range(min(len(indices), extents.rank - 1)):
        found = extents.sums()[axis]
        part = (
            pw.computed(found, machine, values)
            if found is not None
            else long_of(
                cx,
                cx.prim(
                    "int",
                    "sel",
                    cx.prim("int", "ravel", _int(cx, values, axis, span), span=span),
                    array.atoms[-1],
                    span=span,
                ),
                span,
            )
        )
        total = part if total is None else machine.add(total, part)
    return (machine.whole(0) if total is None else total), values


def _int(cx: Context, values: dict[str, core.Atom], axis: int, span: Span) -> core.Atom:
    return cx.prim("int", "toi", values[position(axis)], span=span)


def within(cx: Context, index: core.Atom, extent: core.Atom, axis: int, type: BaseType, span: Span) -> core.Atom:
    """The index, checked against the extent of its axis."""
    zero = core.Const("int", (), (0,), span)
    low = cx.prim("bool", "le", zero, index, span=span)
    high = cx.prim("bool", "lt", index, extent, span=span)
    holds = cx.prim("bool", "and", low, high, span=span)
    where = "" if axis == 0 else " there"
    message = f"the index {{0}} is out of range: axis {axis} of {type.shown} has the extent {{1}}{where}"
    help = "test the index, or correct the bounds of the loop it comes from"
    return require(cx, index, extent, holds, span, "E0672", message, help)


def select(cx: Context, array: Value, indices: Sequence[Value], span: Span) -> Value:
    """A row or an element."""
    extents, element = extents_of(array.type), element_of(array.type)
    if len(indices) > extents.rank:
        cx.fail(
            "E0446",
            f"{array.type.shown} has {extents.rank} axes, not {len(indices)}",
            span,
            f"{len(indices)} indices",
            help="select with at most one index for each axis",
        )
    for index in indices:
        if index.type != INT:
            cx.fail("E0419", f"an index must be int, not {index.type.shown}", index.span, f"this is {index.type.shown}")
    if not indices:
        return array
    at = here(cx, array, indices)
    if at is not None:
        return Value(element, (cx.prim(element.core, "sel", at, array.atoms[0], span=span),), span)
    start, values = located(cx, array, [i.atom for i in indices], span)
    at = cx.prim("int", "toi", start, span=span)
    if len(indices) == extents.rank:  # what follows the row's beginning is a plain sum, which every analysis reads
        at = cx.prim("int", "add", at, cx.prim("int", "toi", values[position(extents.rank - 1)], span=span), span=span)
        data = cx.prim(element.core, "sel", cx.prim("int", "ravel", at, span=span), array.atoms[0], span=span)
        return Value(element, (data,), span)
    size = extents.sizes()[len(indices)]
    assert size is not None, "what has no closed form has two axes, and a row of it is a vector"
    length = int_of(cx, size, values, span)
    rest = cx.prim(element.core, "drop", cx.prim("int", "ravel", at, span=span), array.atoms[0], span=span)
    data = cx.prim(element.core, "take", cx.prim("int", "ravel", length, span=span), rest, span=span)
    for axis in range(len(indices)):
        extents = extents.row(pw.name(f"o{axis}"))
    if extents.rank == 1:
        return Value(element, (data,), span)
    outer = {f"o{axis}": values[position(axis)] for axis in range(len(indices))} | values
    renamed = {n: pw.name(FREE + n) for e in extents.axes for n in pw.names(e) if n[0] != "x"}
    free = [pw.substituted(e, renamed) for e in extents.axes]
    if not any(n[0] == "x" for e in free for n in pw.names(e)):
        shape = cx.let("int", core.ArrayCons(tuple(int_of(cx, e, outer, span) for e in extents.axes)), span)
        return Value(element, (cx.prim(element.core, "reshape", shape, data, span=span),), span)
    made = packed(element, free, span)
    named = {FREE + n: a for n, a in outer.items()}
    return Value(made.type, (data, *(int_of(cx, s, named, span) for s in made.sizes)), span)


def here(cx: Context, array: Value, indices: Sequence[Value]) -> core.Atom | None:
    """The index vector of the comprehension around, where the element at its own position is selected from an array
    with its own extents."""
    inside = cx.comprehension
    if inside is None or inside.type.extents != array.type.extents or len(indices) != len(inside.positions):
        return None
    own = zip((*array.atoms[1:], *(i.atom for i in indices)), (*inside.sizes, *inside.positions))
    return inside.index if all(_same(a, b) for a, b in own) else None


def _same(a: core.Atom, b: core.Atom) -> bool:
    if isinstance(a, core.Var):
        return isinstance(b, core.Var) and a.name == b.name
    return isinstance(b, core.Const) and a.value == b.value


def indices_of(cx: Context, indices: tuple[ast.Expr, ...]) -> list[Value]:
    """The indices as they are written, one for each axis: `t[i,j]` and `t[[i,j]]`."""
    only = indices[0] if len(indices) == 1 else None
    while isinstance(only, ast.Paren):
        only = only.inner
    items = only.elements if isinstance(only, ast.ArrayLiteral) else indices
    for item in items:
        if isinstance(item, ast.Dot | ast.Dots):
            cx.fail(
                "E0447",
                "a dot cannot stand for an axis whose extent depends on a position",
                item.span,
                "no axis to keep",
                help="the last axes are kept by leaving them out: t[i] is a row; a column is a comprehension over the "
                "rows that have it: { [i] -> t[i,j] | [i] < [n] }",
            )
    return [cx.value(i) for i in reversed(items)][::-1]


# ---------------------------------------------------------------- casts


def cast(cx: Context, node: ast.Cast, target: BaseType, value: Value) -> Value:
    """To a packed array, from one, or to the type that the value has with other sizes."""
    if target.kind == "packed":
        return partition(cx, written(node.type, cx.scope.base_type(node.type.base)), value, node.span)
    if target != element_of(value.type) or len(node.type.pattern or ()) != 1:
        cx.fail(
            "E0408",
            f"a cast cannot turn {value.type.shown} into {target.shown}",
            node.span,
            f"the operand is {value.type.shown}",
            help=f"its elements are one vector: ({element_of(value.type).shown}[.])",
        )
    joined = join(cx, value, node.span)
    cx.emit(core.Check(joined.atom, node.type.pattern, (), print_type(node.type), "this cast", node.span))
    return joined


def partition(cx: Context, made: Packed, vector: Value, span: Span) -> Value:
    """A vector seen as a packed array: its length is checked, and nothing is copied."""
    element = element_of(made.type)
    if vector.type != element:
        help, _ = cx.conversion(vector.span, vector.type, element)
        if vector.type.kind == "packed":
            help = f"join the elements first: ({element.shown}[.]) gives them as one vector"
        cx.fail(
            "E0408",
            f"a cast cannot turn {vector.type.shown} into {made.type.shown}",
            span,
            f"the operand is {vector.type.shown}",
            help=help,
        )
    pattern = (ast.AnyExtent(span),)
    cx.emit(core.Check(vector.atom, pattern, (), f"{element.shown}[.]", "this cast", span))
    sizes = evaluated(cx, made, lambda n: number_named(cx, n, span), span)
    elements, table = total(cx, made.type, sizes, span)
    length = cx.prim(
        "int", "sel", core.Const("int", (1,), (0,), span), cx.prim("int", "shape", vector.atom, span=span), span=span
    )
    holds = cx.prim("bool", "eq", length, elements, span=span)
    message = f"the vector has {{0}} elements, and {made.type.shown} of this size has {{1}}"
    checked = require(cx, length, elements, holds, span, "E0675", message, "take as many elements as the array has")
    shape = cx.let("int", core.ArrayCons((checked,)), span)
    data = cx.prim(element.core, "reshape", shape, vector.atom, span=span)
    return value_of(cx, made.type, data, sizes, table, span)


def join(cx: Context, array: Value, span: Span) -> Value:
    """The elements as a vector."""
    return Value(element_of(array.type), (array.atoms[0],), span)


def number_named(cx: Context, name: str, span: Span) -> core.Atom:
    """The int that a name in an extent stands for."""
    value = cx.value(ast.Name(ast.QName(None, name, span), span))
    if value.type != INT:
        cx.fail("E0402", f"an extent must be int, and {name} is {value.type.shown}", span, f"{name} is not int")
    return value.atom


__all__ = ["cast", "indices_of", "join", "partition", "select"]

"""How large a packed array is: its sizes, the number of its elements, and whether its extents are extents at all.

In: a packed type and its sizes. Out: the number of elements, checked to be one (no extent is negative, and an index can
say it), and the table of the offsets of rows where the type has no closed form for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sacpy.lang import core
from sacpy.lang.ast import AnyShape
from sacpy.lang.elaborate.context import Context, Value
from sacpy.lang.elaborate.extents import FREE, Packed, shown
from sacpy.lang.elaborate.packed_functions import (
    LongMachine,
    MagnitudeMachine,
    extents_of,
    int_of,
    long_of,
    require,
)
from sacpy.lang.elaborate.usertypes import BaseType
from sacpy.lang.source import Span
from sacpy.withloop import piecewise as pw
from sacpy.withloop.sums import is_never_negative, lowest, position

LARGEST = 2**31 - 1  # elements: what an index can say
EXACT = float(2**62)  # below this, sums of 64 bits are what they say


def evaluated(cx: Context, made: Packed, known: Callable[[str], core.Atom], span: Span) -> tuple[core.Atom, ...]:
    """The sizes of a type as ints; `known` gives the names of the program."""
    longs = {n: long_of(cx, known(n.removeprefix(FREE)), span) for s in made.sizes for n in pw.names(s)}
    return tuple(
        known(n[0].removeprefix(FREE)) if (n := pw.names(s)) and s == pw.name(n[0]) else int_of(cx, s, longs, span)
        for s in made.sizes
    )


def total(cx: Context, type: BaseType, sizes: Sequence[core.Atom], span: Span) -> tuple[core.Atom, core.Atom | None]:
    """The number of elements, checked, and the table of offsets where the type has one."""
    extents = extents_of(type)
    values = {f"p{k}": long_of(cx, a, span) for k, a in enumerate(sizes)}
    zero = core.Const("int", (), (0,), span)
    for axis in range(extents.rank):
        least = lowest(extents, axis)
        if axis == 0:
            holds = cx.prim("bool", "ge", sizes[0], zero, span=span)
            message = "the first extent is {0}, and an extent is at least 0"
            first = require(cx, sizes[0], zero, holds, span, "E0673", message, "make it at least 0")
            values["p0"] = long_of(cx, first, span)
        elif least is None and extents.rank > 2:
            cx.fail(
                "E0448",
                f"the extent {shown(extents.axes[axis])} may be negative",
                span,
                "perhaps negative",
                help=f"cut it off at 0: max(0, {shown(extents.axes[axis])})",
            )
        elif least is not None and not is_never_negative(least):
            lowest_ = int_of(cx, least, values, span)
            empty = cx.prim("bool", "eq", sizes[0], zero, span=span)
            holds = cx.prim("bool", "or", cx.prim("bool", "ge", lowest_, zero, span=span), empty, span=span)
            message = f"the extent {shown(extents.axes[axis])} becomes negative: the smallest is {{0}}"
            help = f"cut it off at 0: max(0, {shown(extents.axes[axis])})"
            values["p0"] = long_of(
                cx, require(cx, sizes[0], lowest_, holds, span, "E0673", message.replace("{0}", "{1}"), help), span
            )
    count = extents.sizes()[0]
    if count is None or any(lowest(extents, k) is None for k in range(1, extents.rank)):
        return _table(cx, type, values, span)
    elements = pw.computed(count, LongMachine(cx, span), values)
    doubles = {
        n: cx.prim("double", "abs", cx.prim("double", "tod", a, span=span), span=span) for n, a in values.items()
    }
    magnitude = pw.computed(count, MagnitudeMachine(cx, span), doubles)
    exact = cx.prim("bool", "lt", magnitude, core.Const("double", (), (EXACT,), span), span=span)
    fits = cx.prim("bool", "le", elements, core.Const("long", (), (LARGEST,), span), span=span)
    clamped = cx.prim(
        "int", "toi", cx.prim("long", "min", elements, core.Const("long", (), (LARGEST,), span), span=span), span=span
    )
    holds = cx.prim("bool", "and", exact, fits, span=span)
    message = f"an array {type.shown} of this size has more than {LARGEST} elements"
    return require(cx, clamped, zero, holds, span, "E0674", message, "keep it in several arrays"), None


def _table(cx: Context, type: BaseType, values: dict[str, core.Atom], span: Span) -> tuple[core.Atom, core.Atom]:
    """The number of elements and the offsets of the rows, added up row by row."""
    extents = extents_of(type)
    zero = core.Const("int", (), (0,), span)
    n = int_of(cx, extents.axes[0], values, span)
    index, row, before = cx.bind("iv", "int", span), cx.bind("row", "int", span), cx.bind("before", "int", span)
    after: list[core.Atom] = []

    def fill() -> None:
        inner = {**values, position(0): long_of(cx, core.Var(row.name, span), span)}
        wide = pw.computed(extents.axes[1], LongMachine(cx, span), inner)
        small = cx.prim("long", "min", wide, core.Const("long", (), (LARGEST,), span), span=span)
        least = cx.prim("long", "max", small, core.Const("long", (), (-1,), span), span=span)
        length: core.Atom = cx.prim("int", "toi", least, span=span)
        holds = cx.prim("bool", "ge", length, zero, span=span)
        message = f"the extent {shown(extents.axes[1])} is negative at i = {{1}}"
        help = f"cut it off at 0: max(0, {shown(extents.axes[1])})"
        length = require(cx, length, core.Var(row.name, span), holds, span, "E0673", message, help)
        room = cx.prim("int", "sub", core.Const("int", (), (LARGEST,), span), core.Var(before.name, span), span=span)
        holds = cx.prim("bool", "le", length, room, span=span)
        message = f"an array {type.shown} of this size has more than {LARGEST} elements"
        length = require(cx, length, room, holds, span, "E0674", message, "keep it in several arrays")
        after.append(cx.prim("int", "add", core.Var(before.name, span), length, span=span))

    body = cx.block(fill)
    shape = cx.let("int", core.ArrayCons((n,)), span)
    values_ = (core.Var(before.name, span), after[0])
    part = core.Partition(
        core.Const("int", (1,), (0,), span), True, shape, False, None, None, index, (row,), body, values_, (), span
    )
    table, sum_ = cx.bind("rows", "int", span), cx.bind("total", "int", span)
    operators = (core.Genarray(shape, zero), core.Propagate((zero,), (before,), "scan"))
    cx.emit(core.Let((table, sum_), core.WithLoop((part,), operators, ()), span))
    return core.Var(sum_.name, span), core.Var(table.name, span)


def has_table(type: BaseType) -> bool:
    """Whether values of the type carry a table of offsets."""
    return type.components[-1].path == "rows"


def value_of(
    cx: Context, type: BaseType, data: core.Atom, sizes: Sequence[core.Atom], table: core.Atom | None, span: Span
) -> Value:
    """The components together. The check says to whoever reads core, an editor say, what the vector is."""
    cx.emit(core.Check(data, (AnyShape(span),), (), type.shown, "the elements of an array", span))
    if has_table(type):
        assert table is not None, "a table was made"
        return Value(type, (data, *sizes, table), span)
    return Value(type, (data, *sizes), span)


__all__ = ["evaluated", "total", "value_of"]

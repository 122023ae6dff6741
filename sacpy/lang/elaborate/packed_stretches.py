"""Stretches of rows along which lengths grow by one number from row to row, as atoms of core.

In: a packed type whose rows have lengths defined by cases, as those of a band are, and its sizes. Out: where each
stretch begins and ends, in rows and in elements, and how long its rows are; all of them together have every element
once.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.lang import core
from sacpy.lang.elaborate.context import Context
from sacpy.lang.elaborate.packed_functions import LongMachine, extents_of, long_of
from sacpy.lang.elaborate.usertypes import BaseType
from sacpy.lang.source import Span
from sacpy.nodes import Node
from sacpy.withloop import piecewise as pw
from sacpy.withloop.breakpoints import cases
from sacpy.withloop.sums import inverse, position


class Stretch(Node):
    """The elements from `begin` below `end`, in `count` rows from row `first` on; each row has `growth` elements more
    than the one before it, the shortest `least`."""

    begin: core.Atom
    end: core.Atom
    first: core.Atom
    count: core.Atom
    least: core.Atom
    growth: int


def stretches(
    cx: Context, type: BaseType, sizes: Sequence[core.Atom], elements: core.Atom, span: Span
) -> list[Stretch]:
    """In order; none where rows are found at once, or only by a search."""
    extents = extents_of(type)
    starts, length = extents.sums()[0], extents.sizes()[1]
    if starts is None or length is None or inverse(starts, position(0), extents.axes[0]).kind != "search":
        return []
    found = cases(extents)
    if found is None:
        return []
    machine = LongMachine(cx, span)
    values = {f"p{k}": long_of(cx, a, span) for k, a in enumerate(sizes)}
    zero = core.Const("int", (), (0,), span)

    def op(base: str, code: str, *args: core.Atom) -> core.Atom:
        return cx.prim(base, code, *args, span=span)

    def between(a: core.Atom, low: core.Atom, high: core.Atom) -> core.Atom:
        """As an int, between two, the lower of which is not above the other."""
        wide = op("long", "max", op("long", "min", a, long_of(cx, high, span)), long_of(cx, low, span))
        return op("int", "max", op("int", "min", op("int", "toi", wide), high), low)  # which analyses see

    def at(of: pw.Poly, row: core.Atom) -> core.Atom:
        return pw.computed(of, machine, {**values, position(0): long_of(cx, row, span)})

    rows = [between(pw.computed(p, machine, values), zero, sizes[0]) for p in found.places]
    if len(rows) == 2:
        first, second = rows
        rows = [op("int", "min", first, second), op("int", "max", first, second)]
        if len(found.growths) > 3:
            rows.insert(1, second)
    result: list[Stretch] = []
    begin: core.Atom = zero
    row: core.Atom = zero
    for growth, to in zip(found.growths, (*rows, sizes[0]), strict=True):
        last = to is sizes[0]
        end = elements if last else between(at(starts, to), begin, elements)
        shortest = row if growth >= 0 else op("int", "sub", to, core.Const("int", (), (1,), span))
        least = op("int", "toi", at(length, shortest))
        result.append(Stretch(begin, end, row, op("int", "sub", to, row), least, growth))
        begin, row = end, to
    return result


__all__ = ["Stretch", "stretches"]

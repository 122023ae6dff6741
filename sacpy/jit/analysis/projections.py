"""Where a part lies in a larger array: for each axis of that either an index, or an axis of the part and where it
begins.

In: the partition of a with-loop that copies an array. Out: its `Projection`, the part's index function in the axes of
the whole; whether elements that lie side by side in the part do so in the whole.

    part [m] <= [j] < [t]           t = add! m, n; r has n elements        (Shift(0, m),)
        k = sub! j, m; load r[k]
    part [k,b] <= [i,j] < [k1,e]    k1 = add! k, 1; e = add! b, n          (k, Shift(0, b))
        l = sub! j, b; load r[l]
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.analysis.forms import Forms
from sacpy.jit.ir import graph as g
from sacpy.nodes import Node
from sacpy.withloop.linear import name


class Shift(Node):
    """The index along an axis of the part, plus `start`."""

    axis: int
    start: g.Atom


Projection = tuple[g.Atom | Shift, ...]


def copied_part(p: g.Partition, forms: Forms) -> tuple[g.Var, Projection | None] | None:
    """The array that a partition copies, and where to; None for the place if it is not all of the array, element by
    element; None altogether if the partition does something else."""
    if not p.body.statements or p.step is not None:
        return None
    *before, last = p.body.statements
    if (
        not isinstance(last, g.Let)
        or not isinstance(last.rhs, g.Load)
        or p.body.results != last.targets
        or not all(isinstance(s, g.Let) and isinstance(s.rhs, g.Op) for s in before)
    ):
        return None
    array, found, form = last.rhs.array, dict[int, Shift](), forms.form
    lower, upper = ([form(a) for a in bounds] for bounds in (p.lower, p.upper))
    for axis, (at, extent) in enumerate(zip(last.rhs.index, g.extents_of(array))):
        k = next((k for k, i in enumerate(p.index) if form(at) - name(i.name) + lower[k] == 0), None)
        if k is None or k in found or upper[k] - lower[k] != form(extent):
            return array, None
        found[k] = Shift(axis, p.lower[k])
    if any(upper[k] - lower[k] != 1 for k in range(p.rank) if k not in found):
        return array, None
    return array, tuple(found.get(k, low) for k, low in enumerate(p.lower))


def is_contiguous(at: Projection, whole: Sequence[g.Atom], part: Sequence[g.Atom], forms: Forms) -> bool:
    """Whether the elements of a part lie side by side, in its order."""
    form = forms.form
    fixed = next((k for k, a in enumerate(at) if isinstance(a, Shift)), len(at))
    first, *rest = at[fixed:] or (Shift(0, g.Const("int", 0)),)
    if not isinstance(first, Shift) or first.axis != 0 or len(at) - fixed != len(part):
        return False
    return all(
        isinstance(a, Shift) and a.axis == k and form(a.start) == 0 and form(n) == form(m)
        for k, (a, n, m) in enumerate(zip(rest, whole[fixed + 1 :], part[1:]), 1)
    )

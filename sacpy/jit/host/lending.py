"""Rows of an array that are handed to functions: not copied, but looked at where they are.

In: a block with calls, and which of its arrays have places. Out: `lent_rows`: the with-loops that only copy consecutive
rows of an array, and whose results are views of it, as those of `View` are.

    w = with [h] disjoint complete              the first rows of a
        part [0] <= [i] < [h]
            x = load a[i]
            yield x
    r = call f(h, w)                            r has a place, so it cannot be w: nobody sees w afterwards

That nobody sees the rows behind the statements that use them is what makes a view harmless: it keeps no large array
alive for a few rows of it, and none has to be copied because a view of it is left when it is changed.
"""

from __future__ import annotations

from collections.abc import Container

from sacpy.jit.analysis.ints import Ints
from sacpy.jit.analysis.makers import Destinations, Makers, only_loads
from sacpy.jit.host.growing import Kept, first_row, kept_rows
from sacpy.jit.host.memory import Array, elements
from sacpy.jit.host.writer import Writer
from sacpy.jit.ir import graph as g
from sacpy.jit.llvm.legal import size_of


def lent_rows(
    block: g.Block, makers: Makers, places: Container[str], known: Destinations, ints: Ints
) -> dict[int, Kept]:
    """The rows that are lent in a block, by the numbers of the statements that would copy them. `places`: the arrays
    that have a place; `known`: the functions that make results in such."""
    found: dict[int, Kept] = {}
    for number, s in enumerate(block.statements):
        if not isinstance(s, g.Let) or not isinstance(s.rhs, g.WithLoop) or len(s.rhs.partitions) != 1:
            continue
        if len(s.targets) != 1:  # none, where something may fail in what nobody uses
            continue
        name, users = s.targets[0].name, makers.users.get(s.targets[0].name, ())
        if name in places or not users or users[-1] == len(block.statements):
            continue
        kept = kept_rows(s.rhs, {p.name for p in _loaded(s.rhs)}, ints)
        if not kept or kept[0].load.array.name in places:
            continue
        array = kept[0].load.array.name
        last = max(makers.users[array])
        if number < last < users[-1] and not only_loads(block.statements[last], array):
            continue  # it is changed while its rows are needed
        using = [block.statements[k] for k in users]
        if any(_is_call(u) for u in using) and all(
            hands_back_nothing(u, places, known) or only_loads(u, name) for u in using
        ):
            found[number] = kept[0]
    return found


def _loaded(w: g.WithLoop) -> set[g.Var]:
    (p,) = w.partitions
    return {s.rhs.array for s in p.body.statements if isinstance(s, g.Let) and isinstance(s.rhs, g.Load)}


def _is_call(s: g.Stmt) -> bool:
    return isinstance(s, g.Let) and isinstance(s.rhs, g.Call)


def hands_back_nothing(s: g.Stmt, places: Container[str], known: Destinations) -> bool:
    """Whether a statement is a call whose results are no views of its arguments: arrays that it makes in places."""
    if not isinstance(s, g.Let) or not isinstance(s.rhs, g.Call):
        return False
    can = known.some.get(s.rhs.function, ())
    return all(k in can and t.name in places for k, t in enumerate(s.targets) if isinstance(t.type, g.ArrayType))


def lend(w: Writer, target: g.Var, kept: Kept, dying: set[str]) -> bool:
    """Sets an array to rows of another one; does nothing where that is not counted, so that somebody might change it
    meanwhile."""
    assert isinstance(target.type, g.ArrayType)
    if w.array_named(kept.load.array.name).borrowed:
        return False
    old = w.take(kept.load.array, dying)
    assert isinstance(old, Array)
    row = elements(w.code, (str(size_of(target.base)), *w.wides(target.type.extents[1:])))
    data, _ = first_row(w, kept, old, row)
    w.bind_array(target, data, old.header, old, unique=old.unique)
    return True

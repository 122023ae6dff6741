"""Columns: what the lanes of a loop load of an array far apart, again and again, is copied first, so that it lies side
by side.

    p = with fold from 0.0 by ..                        t = with [8,n]
      part [0] <= [i] < [m]                               part [0,0] <= [k,r] < [8,n]
        w = with [n]                                        u = load a[r,k]
          part [0] <= [j] < [n]               ->            yield u
            x = load a[j,0]                             p = with fold from 0.0 by ..
            y = load a[j,7]                               part [0] <= [i] < [m]
            ..                                              w = with [n]
                                                              part [0] <= [j] < [n]
                                                                x = load t[0,j]
                                                                y = load t[7,j]
                                                                ..

A copy takes as long as the loop once without it, so it is worth its while where a loop around goes on for long, and
that loads all of the columns' elements. Of cells of a few elements LLVM loads whole vectors and shuffles them.
"""

from __future__ import annotations

from collections.abc import Iterator

from sacpy.jit.analysis.facts import Sum
from sacpy.jit.analysis.straight import is_straight_cell
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import bound, new_arrays, rights
from sacpy.jit.passes.ranges import Ranges
from sacpy.jit.passes.simplify import Simplifier
from sacpy.jit.passes.units import on_functions
from sacpy.nodes import Node

SHUFFLED = 4  # elements of a cell at most of which vectors are shuffled
LANES = 8  # indices of a loop at least, as far as they are known: of less there are no vectors
AGAIN = 4  # rounds of a loop around at least, as far as they are known
COLUMNS = 64  # that are copied, at most

Key = tuple[str, tuple[str, ...]]  # an array, and the indices in front of the last


class _Axis(Node):
    """One of the loops around: its index, and what that stays below, if it begins at 0 and leaves out none."""

    index: str
    below: g.Atom | None


class _Columns(Node):
    """Those of an array that some loads need: from `first` on, `count` of them. `keys`: of these loads."""

    array: g.Var
    keys: frozenset[Key]
    first: int
    count: int


def _gathers(r: g.Rhs, around: tuple[_Axis, ...] = ()) -> Iterator[g.Load]:
    """The loads in a loop whose lanes load elements that lie apart, and the same as in other rounds of it."""
    if isinstance(r, g.WithLoop):
        for p in r.partitions:
            axes = (*around, *(_Axis(i.name, _whole(p, k)) for k, i in enumerate(p.index)))
            if p.rank and is_straight_cell(p.body, in_place=True):
                yield from (x for x in rights(p.body, g.Load) if _is_gather(x, axes))
            else:
                yield from _inside(p.body, axes)
        return
    if isinstance(r, g.For):
        forwards = r.step == 1 and r.lower == g.integer(0)
        around = (*around, _Axis(r.index.name, r.upper if forwards else None))
    elif isinstance(r, g.Loop):
        around = (*around, _Axis("", None))
    for b in g.blocks(r):
        yield from _inside(b, around)


def _inside(b: g.Block, around: tuple[_Axis, ...]) -> Iterator[g.Load]:
    for s in b.statements:
        if isinstance(s, g.Let) and g.is_nested(s.rhs):
            yield from _gathers(s.rhs, around)


def _whole(p: g.Partition, axis: int) -> g.Atom | None:
    return p.upper[axis] if p.step is None and p.lower[axis] == g.integer(0) else None


def _is_gather(load: g.Load, axes: tuple[_Axis, ...]) -> bool:
    """Whether a load in the innermost of some loops names a column, goes through all of it, and does so again in rounds
    of another one."""
    *frame, column = load.index
    *extents, cell = g.extents_of(load.array)
    if not isinstance(column, g.Const) or not frame or (isinstance(cell, g.Const) and cell.value <= SHUFFLED):
        return False
    names = [a.name for a in frame if isinstance(a, g.Var)]
    whole = {a.index: a.below for a in axes if a.index}
    if names[-1:] != [axes[-1].index] or len(set(names)) < len(frame):
        return False
    if any(whole.get(name) != extent for name, extent in zip(names, extents)) or _least(extents[-1]) < LANES:
        return False
    return any(a.index not in names and (a.below is None or _least(a.below) >= AGAIN) for a in axes)


def _least(a: g.Atom) -> float:
    """An extent, as far as it is known."""
    return a.value if isinstance(a, g.Const) else float("inf")


def _columns(r: g.Rhs) -> list[_Columns]:
    """Those that are to be copied in front of a loop, of arrays that are there."""
    loads: dict[str, list[g.Load]] = {}
    for x in _gathers(r):
        loads.setdefault(x.array.name, []).append(x)
    if not loads:
        return []
    made = bound(g.Block((g.Let((), r),)))
    found: list[_Columns] = []
    for name, many in loads.items():
        numbers = {int(x.index[-1].value) for x in many if isinstance(x.index[-1], g.Const)}
        first, count = min(numbers), max(numbers) + 1 - min(numbers)
        if name not in made and first >= 0 and count <= min(COLUMNS, 2 * len(numbers)):
            found.append(_Columns(many[0].array, frozenset(map(_key, many)), first, count))
    return found


def _key(load: g.Load) -> Key:
    return load.array.name, tuple(a.name for a in load.index[:-1] if isinstance(a, g.Var))


class _Copier:
    def __init__(self, function: g.Function) -> None:
        self.known = Ranges(Simplifier(function))
        self.walk = self.known.walk
        self.walk.take_over(rhs=self.rhs)
        self.copies: dict[Key, tuple[g.Var, int]] = {}  # and the first column that is there

    def rhs(self, r: g.Rhs) -> g.Rhs:
        if isinstance(r, g.Load) and isinstance(column := r.index[-1], g.Const) and _key(r) in self.copies:
            array, first = self.copies[_key(r)]
            return self.known.rhs(g.Load(array, (g.integer(int(column.value) - first), *r.index[:-1])))
        if isinstance(r, g.WithLoop | g.For | g.Loop):
            for c in _columns(r):
                if c.keys.isdisjoint(self.copies) and self.are_there(c):
                    self.copies |= dict.fromkeys(c.keys, (self.copy(c), c.first))
        return self.known.rhs(r)

    def are_there(self, c: _Columns) -> bool:
        """Whether an array has these columns, also where they are loaded under a condition alone."""
        last = g.extents_of(self.walk.var(c.array))[-1]
        return self.known.at_most(Sum(c.first + c.count), self.known.form(last))

    def copy(self, c: _Columns) -> g.Var:
        """Copies columns."""
        array, supply = self.walk.var(c.array), self.walk.supply
        *extents, _ = g.extents_of(array)
        frame = (g.integer(c.count), *extents)
        column, *rows = index = tuple(supply.var("at", g.INT) for _ in frame)
        number, element = supply.var("column", g.INT), supply.var("t", g.ScalarType(array.base))
        body = g.Block(
            (
                g.Let((number,), g.Op("add", (column, g.integer(c.first)), True)),
                g.Let((element,), g.Load(array, (*rows, number))),
            ),
            (element,),
        )
        target = supply.var(array.name, g.ArrayType(array.base, frame))
        self.walk.let(new_arrays((target,), index, body))
        return target


@on_functions
def run(function: g.Function) -> g.Function:
    """A unit whose lanes load columns from copies of them, where that pays."""
    loops = (s.rhs for s in g.statements(function.body) if isinstance(s, g.Let) and g.is_nested(s.rhs))
    return _Copier(function).walk.function(function) if any(map(_columns, loops)) else function

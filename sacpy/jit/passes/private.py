"""Scratch arrays: what every round of a loop fills anew before it reads it, and nobody reads after the loop, is the
round's own, where that lets rounds run in any order (`analysis/independence`).

    b, t = for i from 0 to n step 1 with a, s := x, y         b = for i from 0 to n step 1 with a := x
      u = for j from 0 to m step 1 with v := s                  s = with [m]: genarray default 0.0
        c = ..                                         ->       u = for j from 0 to m step 1 with v := s
        w = update v[j] with c                                    ..
        next w                                                    w = update v[j] with c
      ..                                                          next w
      d = update a[i] with ..                                   ..
      next d, u                                                 d = update a[i] with ..
                                                                next d

A round fills an array if the first thing that happens to it is a with-loop that replaces all of it, or loops that set
every element, each in a round of its own, and read none but that, after they have set it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sacpy.jit.analysis.independence import apart
from sacpy.jit.analysis.overwriting import sums_of
from sacpy.jit.ir.graph import (
    ArrayType,
    Atom,
    Block,
    Const,
    For,
    Function,
    Genarray,
    Let,
    Load,
    Modarray,
    Unit,
    Update,
    Var,
    WithLoop,
    extents_of,
    integer,
    statements,
)
from sacpy.jit.ir.rewrite import uses
from sacpy.jit.passes.units import per_function
from sacpy.jit.passes.walker import Walker
from sacpy.lang.constants import zero
from sacpy.nodes import replace


class _Owner(Walker):
    """`used`: how often the function uses each variable; `sums`: the operations without overflow that variables are set
    to."""

    def __init__(self, function: Function) -> None:
        super().__init__(function)
        self.used = uses(function.body)
        self.sums = sums_of(function)

    def let(self, s: Let) -> None:
        if isinstance(s.rhs, For):
            found = _private(s.targets, s.rhs, self.used)
            if found is not None and not apart(s.rhs, self.sums) and apart(found[1], self.sums):
                s = Let(*found, s.span)
        super().let(s)


def _private(targets: tuple[Var, ...], r: For, used: Counter[str]) -> tuple[tuple[Var, ...], For] | None:
    """A loop in which arrays that every round fills are its own, with its targets; None where it has no such arrays."""
    body, kept = r.body, []
    for k, p in enumerate(r.params):
        own = None if used[targets[k].name] or any(other in extents_of(p) for other in r.params) else _owning(body, p)
        if own is None:
            kept.append(k)
        else:
            body = own
    if len(kept) == len(r.params):
        return None
    body = replace(body, results=tuple(body.results[k] for k in kept))
    return tuple(targets[k] for k in kept), replace(
        r, params=tuple(r.params[k] for k in kept), initial=tuple(r.initial[k] for k in kept), body=body
    )


def _owning(b: Block, array: Var) -> Block | None:
    """A block that does not need the array that it gets, because the first thing that it does is to fill it; None if
    that is not so."""
    if not isinstance(array.type, ArrayType) or uses(b)[array.name] != 1:
        return None
    for at, s in enumerate(b.statements):
        if isinstance(s, Let) and isinstance(s.rhs, WithLoop) and s.rhs.complete and Modarray(array) in s.rhs.operators:
            new = _new(array, len(s.rhs.frame or ()))
            anew = replace(s.rhs, operators=tuple(new if o == Modarray(array) else o for o in s.rhs.operators))
            return replace(b, statements=(*b.statements[:at], replace(s, rhs=anew), *b.statements[at + 1 :]))
    found = _handed(b, array)
    if found is None or not _fills(*found, ()):
        return None
    made = Let((array,), WithLoop(array.type.extents, (), (_new(array, array.type.rank),), disjoint=True))
    return replace(b, statements=(made, *b.statements))


def _new(array: Var, frame: int) -> Genarray:
    """What makes a new array of a variable's type, for a frame of so many axes."""
    return Genarray(array.base, extents_of(array)[frame:], Const(array.base, zero(array.base)))


def _handed(b: Block, array: Var) -> tuple[Let, int] | None:
    """The loop of a block that an array is handed to, and which of its carried variables it becomes there; None where
    that is not all that happens to the array."""
    if uses(b)[array.name] != 1:
        return None
    return next(
        (
            (s, s.rhs.initial.index(array))
            for s in b.statements
            if isinstance(s, Let) and isinstance(s.rhs, For) and array in s.rhs.initial
        ),
        None,
    )


def _fills(s: Let, k: int, outer: tuple[For, ...]) -> bool:
    """Whether a loop, in some others, sets all elements of the array that is its carried variable number `k`, one in
    each round."""
    r = s.rhs
    assert isinstance(r, For)
    p = r.params[k]
    if r.step != 1 or r.lower != integer(0):
        return False
    loops = (*outer, r)
    inner = _handed(r.body, p)
    if inner is not None:
        result = inner[0].targets[inner[1]]
        return r.body.results[k] == result and uses(r.body)[result.name] == 1 and _fills(*inner, loops)
    return _sets_its_own(r.body, p, r.body.results[k], loops)


def _sets_its_own(b: Block, array: Var, result: Atom, loops: Sequence[For]) -> bool:
    """Whether a block sets the element that has the loops' counters as indices, for which they run over all of the
    array, and reads only that, afterwards."""
    assert isinstance(array.type, ArrayType)
    update = next((s.rhs for s in b.statements if isinstance(s, Let) and s.targets[0] == result), None)
    if not isinstance(update, Update) or update.array != array or not isinstance(result, Var):
        return False
    upper: dict[Atom, Atom] = {r.index: r.upper for r in loops}
    if (
        len(upper) != len(update.index)
        or set(update.index) != upper.keys()
        or tuple(upper[i] for i in update.index) != array.type.extents
    ):
        return False
    count = uses(b)
    loads = sum(isinstance(s, Let) and s.rhs == Load(result, update.index) for s in statements(b))
    return count[array.name] == 1 and count[result.name] == 1 + loads


def private(function: Function) -> Function:
    """A function whose loops do not carry scratch arrays where that keeps their rounds from running in any order;
    itself if it has no such loops."""
    used = uses(function.body)
    if not any(
        isinstance(s, Let) and isinstance(s.rhs, For) and _private(s.targets, s.rhs, used) is not None
        for s in statements(function.body)
    ):
        return function
    return _Owner(function).function(function)


def run(unit: Unit) -> Unit:
    """A unit whose loops do not carry scratch arrays where that keeps their rounds from running in any order."""
    return per_function(unit, private)

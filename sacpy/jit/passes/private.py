"""Scratch arrays: what every round of a loop fills anew before it reads it, and nobody reads after the loop, is the
round's own, where that lets rounds run in any order (`analysis/depends`).

    b, t = for i from 0 to n step 1 with a, s := x, y         b = for i from 0 to n step 1 with a := x
      u = for j from 0 to m step 1 with v := s                  s = with [m]: genarray default 0.0
        c = ..                                         ->       u = for j from 0 to m step 1 with v := s
        w = update v[j] with c                                    ..
        next w                                                    w = update v[j] with c
      ..                                                          next w
      d = update a[i] with ..                                   ..
      next d, u                                                 d = update a[i] with ..
                                                                next d
"""

from __future__ import annotations

from collections import Counter

from sacpy.jit.analysis.ints import Ints
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import uses
from sacpy.jit.passes.units import wherever
from sacpy.jit.passes.walker import Walker
from sacpy.lang.constants import zero
from sacpy.nodes import replace


class _Owner(Walker):
    """`used`: how often the function uses each variable."""

    def __init__(self, function: g.Function) -> None:
        super().__init__(function)
        self.used = uses(function.body)
        self.ints = Ints(function)

    def let(self, s: g.Let) -> None:
        if isinstance(s.rhs, g.For):
            from sacpy.jit.analysis.depends import independent

            found = _private(s.targets, s.rhs, self.used)
            if found is not None and not independent(s.rhs, self.ints) and independent(found[1], self.ints):
                s = g.Let(*found, s.span)
        super().let(s)


def _private(targets: tuple[g.Var, ...], r: g.For, used: Counter[str]) -> tuple[tuple[g.Var, ...], g.For] | None:
    """A loop in which arrays that every round fills are its own, with its targets; None where it has no such arrays."""
    body, kept = r.body, []
    for k, p in enumerate(r.params):
        own = None if used[targets[k].name] or any(other in g.extents_of(p) for other in r.params) else _owning(body, p)
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


def _owning(b: g.Block, array: g.Var) -> g.Block | None:
    """A block that makes the array that it got, because the first thing that it did was to fill it; None if that is not
    so."""
    from sacpy.jit.analysis.depends import filled_before_read

    if not filled_before_read(b, array):
        return None
    for at, s in enumerate(b.statements):
        if isinstance(s, g.Let) and isinstance(s.rhs, g.WithLoop) and g.Modarray(array) in s.rhs.operators:
            new = _new(array, len(s.rhs.frame or ()))
            anew = replace(s.rhs, operators=tuple(new if o == g.Modarray(array) else o for o in s.rhs.operators))
            return replace(b, statements=(*b.statements[:at], replace(s, rhs=anew), *b.statements[at + 1 :]))
    extents = g.extents_of(array)
    made = g.Let((array,), g.WithLoop(extents, (), (_new(array, len(extents)),), disjoint=True))
    return replace(b, statements=(made, *b.statements))


def _new(array: g.Var, frame: int) -> g.Genarray:
    """What makes a new array of a variable's type, for a frame of so many axes."""
    return g.Genarray(array.base, g.extents_of(array)[frame:], g.Const(array.base, zero(array.base)))


@wherever(lambda r: isinstance(r, g.For) and any(g.extents_of(p) for p in r.params))
def run(function: g.Function) -> g.Function:
    """A unit whose loops do not carry scratch arrays where that keeps their rounds from running in any order."""
    return _Owner(function).function(function)

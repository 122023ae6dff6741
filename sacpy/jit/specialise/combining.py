"""The functions by which scans combine values.

In: such a function of core. Out: the function as graphs keep it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sacpy.jit.failures import Unsupported
from sacpy.jit.ir.associative import Combine
from sacpy.jit.ir.graph import Var
from sacpy.jit.ir.rewrite import Rewriter, free
from sacpy.jit.specialise.kinds import apart, targets
from sacpy.jit.specialise.values import Fails, Kind, Ranks
from sacpy.lang import core

if TYPE_CHECKING:
    from sacpy.jit.specialise.walk import Walk


def associative(walk: Walk, function: core.Lambda, kinds: Sequence[Kind]) -> Combine | None:
    """The function of a scan of scalars; None if it needs anything from around it."""
    b = walk.b
    left, current = targets(b, kinds, ["left"] * len(kinds))
    right, new = targets(b, kinds, ["right"] * len(kinds))
    try:
        with b.inside(closed=True) as scope:
            b.declare((*left, *right))
            results = walk.applied(function, current, new)
        with b.again(scope):
            combined = [a for kind, r in zip(kinds, results) for a in apart(b, kind, r)]
    except (Fails, Ranks, Unsupported):  # whoever applies it in the body says so
        return None
    block = scope.block(combined)
    if free(block) - {v.name for v in (*left, *right)}:
        return None
    own = _Apart()
    return Combine(own.binds(left), own.binds(right), own.block(block))


class _Apart(Rewriter):
    """Gives variables names that no other code has, whatever becomes of that."""

    def bind(self, v: Var) -> Var:
        new = self.env[v.name] = Var(f"{v.name}'", v.type)
        return new

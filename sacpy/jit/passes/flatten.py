"""Flattening: a with-loop of which each cell is a with-loop becomes one of higher rank, so that no cell is made and
copied.

    a = with [n] genarray cell [m]               a = with [n,m] genarray
      part [0] <= [i] < [n]                        part [0,0] <= [i,j] < [n,m]
        x = load u[i]                                x = load u[i]
        row = with [m] genarray              ->      yield x
          part [0] <= [j] < [m]
            yield x
        yield row

What stands in front of the inner loop is done for every element then, so it must be cheap and must not be an array; the
inner bounds must not depend on the outer index; the inner partition must cover the cell.
"""

from __future__ import annotations

from sacpy.jit.analysis.costs import cost
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import bound
from sacpy.jit.passes.mappings import stands
from sacpy.jit.passes.repeated_work import CHEAP
from sacpy.jit.passes.simplify import Simplifier, whole
from sacpy.jit.passes.units import wherever
from sacpy.nodes import replace


class _Flattener:
    def __init__(self, function: g.Function) -> None:
        self.walk = Simplifier(function)
        self.walk.take_over(rhs=self.rhs)

    def rhs(self, r: g.Rhs) -> g.Rhs:
        new = Simplifier.rhs(self.walk, r)
        return flat(new) if isinstance(new, g.WithLoop) else new


def flat(w: g.WithLoop) -> g.WithLoop:
    """The with-loop with its cells' loops made its own, if it is of that kind."""
    if stands(w) or w.frame is None or len(w.operators) != 1 or len(w.partitions) != 1:
        return w
    operator, p = w.operators[0], w.partitions[0]
    if not isinstance(operator, g.Genarray) or not operator.cell or isinstance(operator.default.type, g.ArrayType):
        return w
    found = _inner(p.body)
    if found is None:
        return w
    before, loop = found
    inner = loop.partitions[0]
    step, width = (None if x is None else (*x, *(g.integer(1) for _ in inner.index)) for x in (p.step, p.width))
    body = g.Block((*before, *inner.body.statements), inner.body.results)
    merged = g.Partition(
        (*p.lower, *inner.lower),
        (*p.upper, *inner.upper),
        step,
        width,
        (*p.index, *inner.index),
        body,
        p.pragmas,
        p.span,
    )
    return replace(w, frame=(*w.frame, *operator.cell), operators=(replace(operator, cell=()),), partitions=(merged,))


def _inner(b: g.Block) -> tuple[tuple[g.Stmt, ...], g.WithLoop] | None:
    """What stands before the with-loop that gives the cell, and this with-loop."""
    if not b.statements:
        return None
    *before, last = b.statements
    if not (isinstance(last, g.Let) and isinstance(last.rhs, g.WithLoop) and last.targets == b.results):
        return None
    loop = last.rhs
    if loop.frame is None or len(loop.operators) != 1 or len(loop.partitions) != 1:
        return None
    operator, p = loop.operators[0], loop.partitions[0]
    if not isinstance(operator, g.Genarray) or operator.cell or not whole(p, loop.frame):
        return None
    if any(isinstance(e, g.Var) and e.name in bound(b) for e in loop.frame):
        return None
    cheap = g.Block(tuple(before))
    if not all(not isinstance(s, g.Let) or isinstance(s.rhs, g.Op | g.Load) for s in before) or cost(cheap) > CHEAP:
        return None
    return tuple(before), loop


@wherever(lambda r: isinstance(r, g.WithLoop) and flat(r) is not r)
def run(function: g.Function) -> g.Function:
    """A unit with its nested with-loops flattened."""
    return _Flattener(function).walk.function(function)

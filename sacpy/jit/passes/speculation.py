"""Speculation: what the cells of a loop that runs as vectors load under a condition is loaded without one, where it is
there in any case.

    part [0,0] <= [i,j] < [n,n]                     part [0,0] <= [i,j] < [n,n]
      p = load a[i,j]                                 p = load a[i,j]
      r = if p                                        x = load a[i,k]
        give true                              ->     y = load a[k,j]
      else                                            q = and x, y
        x = load a[i,k]                               r = or p, q
        y = load a[k,j]                               yield r
        q = and x, y
        give q
      yield r

Both sides of a condition are cheap operations. Else each lane would ask whether it may load; or, of small elements,
there would be no lanes.
"""

from __future__ import annotations

from sacpy.jit.analysis.straight import is_straight_cell
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import bound, rights
from sacpy.jit.passes.ranges import Ranges
from sacpy.jit.passes.simplify import SPECULATED, Simplifier
from sacpy.jit.passes.units import wherever

IN_VECTORS = 20  # operations in the branches of a conditional, at most: lanes go through both of them in any case


class _Speculator:
    def __init__(self, function: g.Function) -> None:
        self.known = Ranges(Simplifier(function))
        self.known.part = self.part
        self.walk = self.known.walk
        self.walk.take_over(is_there=self.is_there)

    def part(self, p: g.Partition, frame: tuple[g.Atom, ...] | None) -> g.Partition:
        outer = self.walk.speculated
        self.walk.speculated = IN_VECTORS if is_straight_cell(p.body, in_place=True) else SPECULATED
        new = self.known.within(p, frame)
        self.walk.speculated = outer
        return new

    def is_there(self, load: g.Load) -> bool:
        """Whether an element of what runs as vectors is there for all indices."""
        return self.walk.speculated == IN_VECTORS and self.known.is_there(load.index, load.array)


def _may_speculate(w: g.WithLoop) -> bool:
    """Whether a condition in a loop that may run as vectors stands in front of loads, and of little else."""
    return any(
        _guards(r) for p in w.partitions if is_straight_cell(p.body, in_place=True) for r in rights(p.body, g.If)
    )


def _guards(r: g.If) -> bool:
    both = g.Block((*r.then.statements, *r.otherwise.statements))
    loads, inside = list(rights(both, g.Load)), bound(both)
    return (
        len(both.statements) <= IN_VECTORS
        and bool(loads)
        and not any(isinstance(a, g.Var) and a.name in inside for load in loads for a in load.index)
    )


@wherever(lambda r: isinstance(r, g.WithLoop))
def run(function: g.Function) -> g.Function:
    """A unit whose vectors load what is there without asking whether it is needed."""
    here = any(map(_may_speculate, rights(function.body, g.WithLoop)))
    return _Speculator(function).walk.function(function) if here else function

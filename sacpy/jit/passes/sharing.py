"""Sharing: with-loops that load the same cells of an array, which takes more work than may be repeated, become one.
Then one body loads them, where they can be computed, and the array is not made (`fold_withloops`).

    w = with [n] genarray cell [2] ..           a, b = with [n]
    a = with [n]                                  modarray u
      modarray u                                  modarray v
      part [1] <= [i] < [m]             ->        part [1] <= [i] < [m]
        x = load w[i,0]                             x = load w[i,0]
        yield x                                     y = load w[i,1]
    b = with [n]                                    yield x, y
      modarray v
      part [1] <= [j] < [m]
        y = load w[j,1]
        yield y

Nothing else needs such an array than loads in different bodies. `fuse` comes later, and takes with-loops that read the
same arrays, whatever these are; here they may also replace cells of others: but the second not of what the first reads,
since that could not be replaced in place any more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sacpy.jit.analysis.costs import cost
from sacpy.jit.analysis.sites import sites
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import rights
from sacpy.jit.passes.fuse import Fuser, reads
from sacpy.jit.passes.repeated_work import CHEAP
from sacpy.jit.passes.units import on_functions
from sacpy.nodes import Node


class _Shared(Node):
    """An array that several bodies load: the first result of its with-loop, and how many components of an index choose
    a cell."""

    first: str
    rank: int


class _Sharer(Fuser):
    def __init__(self, shared: Mapping[str, _Shared]) -> None:
        super().__init__()
        self.shared = shared

    def admits(self, a: g.WithLoop, b: g.WithLoop, made: Collection[str]) -> bool:
        p, q = a.partitions[0], b.partitions[0]
        first, second = ([o.array for o in w.operators if isinstance(o, g.Modarray)] for w in (a, b))
        if any(len(g.extents_of(x)) > p.rank for x in (*first, *second)):  # cells that are arrays
            return False
        if not {x.name for x in second}.isdisjoint((*reads(p.body), *(x.name for x in first))):
            return False
        mine, theirs = self.cells(p.body, {}), self.cells(q.body, dict(zip(q.index, p.index)))
        return any(len(cells) == 1 and theirs.get(first) == cells for first, cells in mine.items())

    def cells(self, b: g.Block, env: Mapping[g.Atom, g.Atom]) -> dict[str, set[tuple[g.Atom, ...]]]:
        """The cells of shared arrays that a body loads."""
        found: dict[str, set[tuple[g.Atom, ...]]] = {}
        for r in rights(b, g.Load):
            if (array := self.shared.get(r.array.name)) is not None:
                found.setdefault(array.first, set()).add(tuple(env.get(a, a) for a in r.index[: array.rank]))
        return found


def _shared(function: g.Function) -> dict[str, _Shared]:
    """The arrays that with-loops make with some work, and that are loaded in several bodies, and not used otherwise."""
    loops = [
        (s.targets, s.rhs)
        for s in g.statements(function.body)
        if isinstance(s, g.Let) and isinstance(s.rhs, g.WithLoop) and s.rhs.frame is not None
    ]
    made = [(targets, w) for targets, w in loops if any(cost(p.body) > CHEAP for p in w.partitions)]
    if not made or len(loops) < 3:
        return {}
    uses = sites(function).uses
    found: dict[str, _Shared] = {}
    for targets, w in made:
        mine = [uses[t.name] for t in targets]
        if not any(use.otherwise for use in mine) and len({body for use in mine for body, _ in use.sites}) > 1:
            found.update((t.name, _Shared(targets[0].name, len(w.frame or ()))) for t in targets)
    return found


@on_functions
def run(function: g.Function) -> g.Function:
    """A unit with such with-loops fused."""
    shared = _shared(function)
    return _Sharer(shared).function(function) if shared else function

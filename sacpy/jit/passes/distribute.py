"""Loops that distribute values by counters (`analysis/distribution`), as with-loops, which a device runs.

    n, b = for i from l to u with next := s, c := g        n, b = with
      ...                                           ->         propagate next := s, c := g
      next next.1, c.1                                         part [l] <= [i] < [u]
                                                                 ..
                                                                 yield next.1, c.1

Where such a with-loop stays on the host after all it is the loop again (`stepping`).
"""

from __future__ import annotations

from sacpy.jit.ir import graph as g
from sacpy.jit.passes.units import wherever
from sacpy.jit.passes.walker import Walker

WORD = "distribute"


class _Distributor(Walker):
    def let(self, s: g.Let) -> None:
        super().let(s)
        last = self.out[-1]
        if isinstance(last, g.Let) and isinstance(last.rhs, g.For) and _distributes(last.rhs):
            r = last.rhs
            part = g.Partition((r.lower,), (r.upper,), None, None, (r.index,), r.body, (), last.span)
            handed = g.Propagate(r.initial, r.params, WORD)
            self.out[-1] = g.Let(last.targets, g.WithLoop(None, (part,), (handed,)), last.span)


def _distributes(r: g.For) -> bool:
    from sacpy.jit.analysis.distribution import distribution_of  # most loops do not

    return r.step == 1 and distribution_of(r.params, r.body) is not None


@wherever(lambda r: isinstance(r, g.For) and _distributes(r))
def run(function: g.Function) -> g.Function:
    """A function with such loops as with-loops."""
    return _Distributor(function).function(function)

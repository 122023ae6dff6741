"""Folds of arrays as loops: the accumulator is carried from round to round, so that what a round adds to it needs no
memory of its own.

    double[m] s = with                                 double[m] s = for j from 0 to n with a := z
        fold from z by a, b                                t = with [m]
            t = with [m]                                           genarray double
                    genarray double                                part [0] <= [c] < [m]
                    part [0] <= [c] < [m]      ->                      .. load a[c], load v[j,c]
                        .. load a[c], load b[c]            next t
            give t
        part [0] <= [j] < [n]
            r = view v[j]
            yield r

The order is that of the fold, from left to right. Folds of several partitions, with steps, or that stop early stay what
they are, as do those of scalars, whose parts may be computed side by side.
"""

from __future__ import annotations

from sacpy.jit.analysis.combine import in_order, loops_of, round_of
from sacpy.jit.ir import graph as g
from sacpy.jit.passes.units import wherever
from sacpy.jit.passes.walker import Walker


class _Sequencer(Walker):
    def rhs(self, r: g.Rhs) -> g.Rhs:
        found = _of_arrays(r)
        if found is not None:
            fold, p = found
            r = in_order(p, fold.accumulators, fold.neutrals, round_of(fold, p), self.supply)
        return super().rhs(r)


def _of_arrays(r: g.Rhs) -> tuple[g.Fold, g.Partition] | None:
    """A fold of arrays that is the same as loops in order."""
    found = loops_of(r) if isinstance(r, g.WithLoop) else None
    return found if found is not None and any(map(g.extents_of, found[0].accumulators)) else None


@wherever(_of_arrays)
def run(function: g.Function) -> g.Function:
    """A unit with its folds of arrays as loops."""
    return _Sequencer(function).function(function)

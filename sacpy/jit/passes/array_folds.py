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

from sacpy.jit.analysis.combine import loops_of, round_of
from sacpy.jit.ir import graph as g
from sacpy.jit.passes.units import wherever
from sacpy.jit.passes.walker import Walker


class _Sequencer(Walker):
    def rhs(self, r: g.Rhs) -> g.Rhs:
        if isinstance(r, g.WithLoop) and _is_fold_of_arrays(r):
            r = self.loop(r)
        return super().rhs(r)

    def loop(self, w: g.WithLoop) -> g.For:
        """The fold as loops, one inside the other, the last axis innermost."""
        found = loops_of(w)
        assert found is not None
        fold, p = found
        body = round_of(fold, p)
        params = fold.accumulators
        for axis in reversed(range(p.rank)):
            outer = fold.neutrals if axis == 0 else tuple(self.supply.var(a.name, a.type) for a in fold.accumulators)
            made = g.For(p.index[axis], p.lower[axis], p.upper[axis], 1, params, outer, body)
            if axis:
                results = tuple(self.supply.var(a.name, a.type) for a in fold.accumulators)
                body = g.Block((g.Let(results, made, p.span),), results)
                params = tuple(v for v in outer if isinstance(v, g.Var))
        return made


def _is_fold_of_arrays(w: g.WithLoop) -> bool:
    found = loops_of(w)
    return found is not None and any(isinstance(a.type, g.ArrayType) for a in found[0].accumulators)


@wherever(lambda r: isinstance(r, g.WithLoop) and _is_fold_of_arrays(r))
def run(function: g.Function) -> g.Function:
    """A unit with its folds of arrays as loops."""
    return _Sequencer(function).function(function)

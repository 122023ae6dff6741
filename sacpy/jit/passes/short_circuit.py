"""Array short-circuiting where a part's elements are spread over the array that it goes to: the loops that make the
part work on that array itself.

    w = with [b,b]                                      u = for i from 1 to b step 1 with v := a
      part [0,0] <= [i,j] < [b,b]                         k = add! r, i
        k = add! r, i; l = add! c, j                      ..
        x = load a[k,l]                                   l = add! c, j
        yield x                                           x = load v[k1,l]
    t = for i from 1 to b step 1 with s := w              y = .. x ..
      ..                                       ->         z = update v[k,l] with y
        x = load s[i1,j]                                  ..
        y = .. x ..
        z = update s[i,j] with y
    u = with [n,m]
      modarray a
      part [r,c] <= [i,j] < [r1,c1]
        k = sub! i, r; l = sub! j, c
        x = load t[k,l]
        yield x

`analysis/circuits` says which parts these are. Here the index function of a part is put into the indices; what is read
of the array meanwhile is read of the array as it has become, of elements that are what they were. The other parts, of
which the elements lie side by side, keep their loops, and get their memory when code is written (`host/places`).

What loops begin with, and read too, in another order than an array has that there is, they read of that one
(`layouts`): then they may change it.

That a partition is as large as the part may depend on a sum that does not overflow. That is checked, then.
"""

from __future__ import annotations

from sacpy.jit.ir import graph as g
from sacpy.jit.passes.units import on_functions


@on_functions
def run(function: g.Function) -> g.Function:
    """A unit in which what is spread over an array is made there."""
    lets = [s for s in g.statements(function.body) if isinstance(s, g.Let)]
    copies = {t for s in lets if _copies(s.rhs, g.Genarray) for t in s.targets}
    if any(isinstance(s.rhs, g.For | g.Loop) and not copies.isdisjoint(s.rhs.initial) for s in lets):
        from sacpy.jit.passes.layouts import layouts

        function = layouts(function)
    if any(_copies(s.rhs, g.Modarray) for s in lets):
        from sacpy.jit.passes.whole_for_part import Circuiter

        function = Circuiter(function).function(function)
    return function


def _copies(r: g.Rhs, operator: type) -> bool:
    """Whether a right-hand side makes or changes an array, as an operator says, and some of it is loaded."""
    return (
        isinstance(r, g.WithLoop)
        and len(r.operators) == 1
        and isinstance(r.operators[0], operator)
        and any(
            isinstance(s, g.Let) and isinstance(s.rhs, g.Load) and s.targets == p.body.results
            for p in r.partitions
            for s in p.body.statements[-1:]
        )
    )

"""What the arguments of a function tell of its results.

In: a function. Out: the scalar results that are computed of its parameters by a few operations, mostly extents.
"""

from __future__ import annotations

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import free, has_only, needed_for

MOST = 8  # operations

Told = dict[int, tuple[g.Let, ...]]  # by the number of a result: the operations that set it; none for a parameter


def told(f: g.Function) -> Told:
    """The scalar results of a function that its arguments tell."""
    params = {p.name for p in f.params}
    found: Told = {}
    for k, a in enumerate(f.body.results):
        ops = needed_for((a,), f.body) if isinstance(a.type, g.ScalarType) else ()
        needed = g.Block(ops, (a,))
        if isinstance(a.type, g.ScalarType) and len(ops) <= MOST and has_only(needed, g.Op) and free(needed) <= params:
            found[k] = ops
    return found

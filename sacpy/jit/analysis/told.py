"""What the arguments of a function tell of its results.

In: a function. Out: the scalar results that are computed of its parameters by a few operations, mostly extents.
"""

from __future__ import annotations

from sacpy.jit.ir import graph as g

MOST = 8  # operations

Told = dict[int, tuple[g.Let, ...]]  # by the number of a result: the operations that set it; none for a parameter


def told(f: g.Function) -> Told:
    """The scalar results of a function that its arguments tell."""
    params = {p.name for p in f.params}
    ops = {s.targets[0].name: s for s in f.body.statements if isinstance(s, g.Let) and isinstance(s.rhs, g.Op)}
    found: Told = {}
    for k, a in enumerate(f.body.results):
        if isinstance(a.type, g.ScalarType):
            needed: dict[str, g.Let] = {}
            if _of_params(a, params, ops, needed):
                found[k] = tuple(needed.values())
    return found


def _of_params(a: g.Atom, params: set[str], ops: dict[str, g.Let], needed: dict[str, g.Let]) -> bool:
    if isinstance(a, g.Const) or a.name in params or a.name in needed:
        return True
    s = ops.get(a.name)
    if s is None or len(needed) >= MOST or not isinstance(s.rhs, g.Op):
        return False
    if not all(_of_params(x, params, ops, needed) for x in s.rhs.args):
        return False
    needed[a.name] = s
    return len(needed) <= MOST

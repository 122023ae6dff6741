"""Recurrences of ints through minima and maxima: what of a round waits for the round before.

In: a counting loop. Out: the variables of it that are to be computed in a lane of a vector register.

    for j .. with int a := ..           b waits for a, c for b, e for c, the next round for e. An extreme of two ints
      b = max a, x                      in ordinary registers is a comparison and a move that waits for it, two cycles;
      c = add b, -3                     in a lane it is one. So a round takes three cycles and not five.
      e = max y, c
      next e
"""

from __future__ import annotations

from sacpy.jit.ir import graph as g

EXTREMES = frozenset({"min", "max"})
IN_LANES = EXTREMES | {"add", "sub"}  # what a lane computes in one cycle


def in_lanes(r: g.For) -> frozenset[str]:
    """The carried ints, and what leads from them to their next values, of recurrences through extremes and sums. What
    is nothing but an extreme of what rounds have is a reduction, which has vectors of its own."""
    found: set[str] = set()
    for k, p in enumerate(r.params):
        if p.type == g.INT:
            found |= _recurrence(r, p, r.body.results[k])
    return frozenset(found)


def _recurrence(r: g.For, p: g.Var, result: g.Atom) -> set[str]:
    behind = {p.name}
    ops: dict[str, g.Op] = {}
    for s in r.body.statements:
        if not isinstance(s, g.Let) or not isinstance(s.rhs, g.Op):
            continue
        if any(isinstance(a, g.Var) and a.name in behind for a in s.rhs.args):
            name = s.targets[0].name
            if s.rhs.code in IN_LANES and s.targets[0].type == g.INT:
                behind.add(name)
                ops[name] = s.rhs
    if not isinstance(result, g.Var) or result.name not in ops:
        return set()
    way, waiting = set[str](), [result.name]
    while waiting:
        name = waiting.pop()
        if name in ops and name not in way:
            way.add(name)
            waiting += [a.name for a in ops[name].args if isinstance(a, g.Var)]
    codes = {ops[name].code for name in way}
    if len(codes) < 2 or codes.isdisjoint(EXTREMES):
        return set()
    return {p.name, *way}

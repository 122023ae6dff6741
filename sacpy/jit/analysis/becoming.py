"""What functions make of a parameter where that lies, so that their callers need no second array.

In: a function, and what is known of those that it calls. Out: by the numbers of results, the parameters that they can
take the place of: nobody needs what was there once it is written to.

    function f(int n, double[n] a, int k)       r is a, or a with an element set: a call may make it where its argument
        r = if t                                lies, if the caller has given that up
          give a
        else
          u = update a[k] with x
          s = call f(n, u, k1)                  as f does with what it is given: that is believed while it is shown
          give s

A caller that has the argument elsewhere moves it to the place first (`host/calls`). Whether an argument is a part of
the array that the result goes to is seen by whoever makes the plan (`overwritten`).
"""

from __future__ import annotations

from collections.abc import Collection

from sacpy.jit.analysis.aliases import Aliases
from sacpy.jit.analysis.circuits import Outside, circuits
from sacpy.jit.analysis.depends import ALWAYS, may_share
from sacpy.jit.analysis.ints import Ints
from sacpy.jit.analysis.makers import Destinations, Makers, arrays_of, count_uses
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import bound
from sacpy.nodes import replace


def find_over(f: g.Function, told: Collection[int], found: Destinations) -> bool:
    """Notes what is made of parameters where these lie. Whether that is more than was known before."""
    before = dict(found.over.get(f.name, {}))
    for k in sorted(set(told) - before.keys()):
        result = f.body.results[k]
        for number, p in enumerate(f.params):
            if p.type != result.type or number in found.over.get(f.name, {}).values():
                continue
            # of itself a function may believe what is to be shown: a call that comes to an end calls itself less deep
            known = replace(found, over={**found.over, f.name: {**found.over.get(f.name, {}), k: number}})
            if _Over(f, p, known).block(f.body, result):
                found.over[f.name] = known.over[f.name]
                break
    return found.over.get(f.name, {}) != before


class _Over:
    """Whether blocks can make what they give where a parameter lies, of which nobody needs what was there."""

    def __init__(self, f: g.Function, p: g.Var, known: Destinations) -> None:
        self.p, self.known, self.ints = p, known, Ints(f)
        self.apart = {q.name for q in f.params if q != p}  # whoever calls it sees to that

    def block(self, b: g.Block, result: g.Atom) -> bool:
        """Whether a block can."""
        if result == self.p:
            return True
        makers = Makers(b, (self.p.name,), arrays_of, self.known)
        if not isinstance(result, g.Var) or result.name not in makers.makers or not makers.can_place(result.name):
            return False
        if any(isinstance(a, g.Var) and a != result and a.type == self.p.type for a in b.results):
            return False  # which might be the parameter, or a part of it
        chain = makers.chain(result.name)
        names, first = {self.p.name, result.name, *chain.names}, chain.first
        uses = makers.users.get(self.p.name, [])
        begins = first if chain.source is not None else self._begins(b, names, first)
        if any(k >= begins for name in self._seen(b, names) for k in makers.users.get(name, ())):
            return False
        if any(k > begins for k in uses):
            return False
        maker = b.statements[first]
        assert isinstance(maker, g.Let)
        at = [t.name for t in maker.targets].index(chain.names[-1] if chain.names else result.name)
        if isinstance(maker.rhs, g.If):
            return all(self.block(inner, inner.results[at]) for inner in g.blocks(maker.rhs))
        if chain.source is not None:
            return chain.source == self.p and makers.is_given_up(self.p.name, first)
        if begins not in uses:
            return chain.own
        if isinstance(maker.rhs, g.Call):
            return makers.may_become(maker.rhs, at) == self.p and count_uses(maker, self.p.name) == 1
        if not isinstance(maker.rhs, g.WithLoop) or not maker.rhs.complete or len(maker.rhs.operators) != 1:
            return False  # with an extreme beside it a loop may run a second time
        return begins == first and may_share(maker.rhs, self.p, self.ints) == ALWAYS

    def _begins(self, b: g.Block, names: set[str], first: int) -> int:
        """The number of the statement that is the first to write to what becomes an array: parts of it may be made
        before it is."""
        plan = circuits(b, (self.p.name,), arrays_of, self.ints, Outside(known=self.known))
        return min([first, *(o.first for o in plan.openings.values() if o.circuits[0].whole.name in names)])

    def _seen(self, b: g.Block, names: set[str]) -> set[str]:
        """The arrays that statements of a block have, and that may look into some, besides these."""
        near, found = Aliases(b).near, set(names)
        own = {t.name for s in b.statements if isinstance(s, g.Let) for t in s.targets}
        waiting = list(names)
        while waiting:
            new = near.get(waiting.pop(), set()) - found - self.apart
            found |= new
            waiting += new
        return found - names - (bound(b) - own)


__all__ = ["find_over"]

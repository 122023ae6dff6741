"""Which functions can make their results in a place that their callers give them.

In: a unit. Out: `Destinations`: the results, by the name of a function and their numbers.

    function f(int n, double[n] a)          r lies in a place of n elements that the caller knows of before the call:
        r = if t                            whoever calls f for a part of a larger array gives it that part
          v = with [n] ..
          give v
        else
          s = call f(h, b)                  in the first h elements of the same place
          w = with [n] ..
          give w
        return n, r

A result is made in its place where it is made anew, in one branch at least: what takes the memory of an array that dies
had better stay there. How long it is has to be told by the arguments. Of functions that call one another nothing is
believed before it is shown of those that do not.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sacpy.jit.analysis.aliases import Aliases
from sacpy.jit.analysis.circuits import Outside, circuits
from sacpy.jit.analysis.depends import ALWAYS, may_share
from sacpy.jit.analysis.ints import Ints
from sacpy.jit.analysis.makers import Destinations, Makers, arrays_of, count_uses
from sacpy.jit.analysis.told import told
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import bound, callees
from sacpy.nodes import replace

Results = Mapping[str, frozenset[int]]


def destinations(unit: g.Unit) -> Destinations:
    """Which results of the functions that a unit calls can be made in a given place."""
    called = set[str]().union(*map(callees, unit.functions))
    open_ = {f.name: (f, frozenset(_told_arrays(f))) for f in unit.functions if f.name in called}
    found = Destinations({name: frozenset() for name in open_}, {name: known for name, (_, known) in open_.items()})
    for table, every in ((found.some, False), (found.all, True)):
        while True:
            new = {
                name: frozenset(k for k in known if makes(f.body, f.body.results[k], table, every=every))
                for name, (f, known) in open_.items()
            }
            if new == table:
                break
            table.update(new)
    while any(_find_over(f, known, found) for f, known in open_.values()):
        pass
    return found


def _find_over(f: g.Function, told: Collection[int], found: Destinations) -> bool:
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
        if not isinstance(maker.rhs, g.WithLoop) or not maker.rhs.complete:
            return False
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


def _told_arrays(f: g.Function) -> list[int]:
    """The array results of a function whose extents its arguments tell."""
    known = {f.body.results[k] for k in told(f)}
    return [
        k
        for k, a in enumerate(f.body.results)
        if isinstance(a.type, g.ArrayType) and all(isinstance(e, g.Const) or e in known for e in a.type.extents)
    ]


def makes(b: g.Block, result: g.Atom, known: Results, *, every: bool) -> bool:
    """Whether a block makes one of its results anew, in one branch or in every one. `known`: the results of functions
    of which the same is known."""
    if not isinstance(result, g.Var):
        return False
    makers = Makers(b, frozenset().union(*map(arrays_of, b.statements)), arrays_of, Destinations(dict(known)))
    if result.name not in makers.makers or not makers.can_place(result.name):
        return False
    chain = makers.chain(result.name)
    last = chain.names[-1] if chain.names else result.name
    if not makers.can_place(last) or not (chain.own or chain.source is None or chain.source.name in makers.makers):
        return False  # it has the memory of what is there
    s = makers.let(last)
    if not isinstance(s.rhs, g.If):
        return True
    at = next(k for k, t in enumerate(s.targets) if t.name == last)
    both = [makes(inner, inner.results[at], known, every=every) for inner in g.blocks(s.rhs)]
    return all(both) if every else any(both)

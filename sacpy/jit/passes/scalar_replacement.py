"""Scalar replacement: what a round stores in an array and the next one loads is handed on, and not loaded.

    b = for i from 1 to n step 1 with a := x               c = less 1, n
      i.1 = add! i, -1                                     v = if c
      y = load a[i.1]                                          y.1 = load x[0]
      z = max y, w                               ->            give y.1
      u = update a[i] with z                               b, _ = for i from 1 to n step 1 with a, y := x, v
      next u                                                   z = max y, w
                                                               u = update a[i] with z
                                                               next u, z

Such rounds wait for one another. Through memory a value is there some five cycles after it was stored; in a register
at once. The index of the load is, as a linear form, that of the update in the round before, every other name in it
means the same in all rounds, and nothing else changes the array. Only the first round loads: where there is one, and
nothing is checked before the load. Scans (`analysis/scans`) run in chunks, and are left alone.

In: a function. Out: the same with such loops carrying one more scalar.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.analysis.ints import Ints
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import bound, copied, needed_for, rights
from sacpy.jit.passes.units import wherever
from sacpy.jit.passes.walker import Walker
from sacpy.lang.constants import zero
from sacpy.nodes import replace


class _Replacer(Walker):
    def __init__(self, function: g.Function) -> None:
        super().__init__(function)
        self.ints = Ints(function)

    def let(self, s: g.Let) -> None:
        r = s.rhs
        if isinstance(r, g.For) and r.step == 1 and not self.is_scan(r):
            for k, p in enumerate(r.params):
                found = self.handed_on(r, k) if isinstance(p.type, g.ArrayType) else None
                if found is not None:
                    self.carry(s, r, *found)
                    return
        super().let(s)

    # ---- which

    def is_scan(self, r: g.For) -> bool:
        """Whether a loop runs in chunks as it is."""
        from sacpy.jit.analysis.scans import scan_of

        return r.combine is not None or scan_of(r, self.ints.sums, strict=False) is not None

    def handed_on(self, r: g.For, k: int) -> tuple[g.Let, g.Atom] | None:
        """The load of a carried array that gives what the round before has stored, and what this one stores."""
        p = r.params[k]
        update = _only_update(r, k)
        if update is None:
            return None
        for s in r.body.statements:
            if isinstance(s, g.Check) or g.is_nested(s.rhs) or isinstance(s.rhs, g.Call | g.Update):
                return None  # what is behind these may never be loaded
            if isinstance(s.rhs, g.Load) and s.rhs.array == p and self.is_before(r, s.rhs.index, update.index):
                return s, update.value
        return None

    def is_before(self, r: g.For, load: Sequence[g.Atom], update: Sequence[g.Atom]) -> bool:
        """Whether an index is another one in the round before."""
        if len(load) != len(update):
            return False
        from sacpy.withloop.linear import Linear

        inside, form = bound(r.body), self.ints.forms.form
        for a, b in zip(load, update):
            now = form(b)
            names = now.terms if isinstance(now, Linear) else {}
            if not inside.isdisjoint(names) or form(a) != now - names.get(r.index.name, 0):
                return False
        return True

    # ---- how

    def carry(self, s: g.Let, r: g.For, load: g.Let, stored: g.Atom) -> None:
        """Emits a loop that carries what it stores."""
        (value,), body = load.targets, r.body
        assert isinstance(load.rhs, g.Load)
        array = next(a for p, a in zip(r.params, r.initial) if p == load.rhs.array)
        needed = needed_for(load.rhs.index, g.Block(body.statements, load.rhs.index))
        again = g.Let((value,), load.rhs, load.span)
        env = {r.index.name: r.lower, load.rhs.array.name: array}
        first = copied(g.Block((*needed, again), (value,)), env, self.supply)
        initial: g.Atom = self.supply.var(value.name, value.type)
        if isinstance(r.lower, g.Const) and isinstance(r.upper, g.Const) and int(r.lower.value) < int(r.upper.value):
            for one in first.statements:
                self.step(one)
            initial = first.results[0]
        else:
            some, nothing = self.supply.var("some", g.BOOL), g.Const(value.base, zero(value.base))
            self.step(g.Let((some,), g.Op("lt", (r.lower, r.upper)), s.span))
            self.step(g.Let((initial,), g.If(some, first, g.Block((), (nothing,))), s.span))  # type: ignore[arg-type]
        rest = tuple(t for t in body.statements if t is not load)
        looped = replace(
            r,
            params=(*r.params, value),
            initial=(*r.initial, initial),
            body=g.Block(rest, (*body.results, stored)),
        )
        last = self.supply.var(value.name, value.type)
        super().let(g.Let((*s.targets, last), looped, s.span))


def _only_update(r: g.For, k: int) -> g.Update | None:
    """The update of a scalar that is all that a round does to an array it carries, which every round does."""
    from sacpy.jit.analysis.versions import follow

    name = r.params[k].name
    followed = follow(r.body, [name])
    if followed is None or followed.results[k] != name or followed.results.count(name) != 1:
        return None
    changes = [u for u in followed.uses if u.update is not None]
    if len(changes) != 1 or not changes[0].access.element:
        return None
    update = changes[0].update
    return next((update for s in r.body.statements if isinstance(s, g.Let) and s.rhs is update), None)


@wherever(lambda r: isinstance(r, g.For) and any(rights(r.body, g.Update)))
def run(function: g.Function) -> g.Function:
    """A unit whose loops hand on what one round stores and the next one loads."""
    return _Replacer(function).function(function)

"""Invariant motion: what is the same in every round is done once, in front of the loop; a check of every index becomes
one of the worst index.

    part [0] <= [k] < [n]                      ok = le n, m - 10, or n <= 0
      j = add k, 10                            check ok
      ok = lt j, m                             part [0] <= [k] < [n]
      check ok                        ->         j = add k, 10
      x = load z[j]                              x = load z[j]
      yield x                                    yield x

Operations are total and move freely; a load moves if its index is known to be in range in front of the loop too; a
small array if the loop only loads from it, though not out of the outermost with-loop, which may become a kernel. A
check moves if it stands directly in the body, so that every round does it; an empty loop passes it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from typing import Any

from sacpy.jit.analysis.facts import HIGHEST, LOWEST, Sum
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.operations import ROUTINES
from sacpy.jit.ir.rewrite import bound, loaded_only
from sacpy.jit.passes.ranges import Ranges
from sacpy.jit.passes.simplify import Simplifier
from sacpy.jit.passes.summing import ZERO, is_moderate
from sacpy.jit.passes.units import is_loop, wherever
from sacpy.nodes import Node, replace

_DEAR = ROUTINES | {"div", "mod", "aplmod", "sqrt", "reciproc"}


class _Space(Node):
    """Indices by name, each with its least and greatest value; `inside`: all names that the loop sets; `empty`: the
    condition that there is no index."""

    ends: dict[str, tuple[Sum, Sum]]
    inside: set[str]
    empty: g.Atom


class _Mover:
    def __init__(self, function: g.Function) -> None:
        self.known = Ranges(Simplifier(function))
        self.walk = self.known.walk
        self.walk.take_over(with_loop=self.with_loop, rhs=self.rhs)
        self.known.part = self.within
        self.threaded: set[str] = set()  # what with-loops propagate
        self.partial: set[int] = set()  # partitions of which not every index need be computed
        self.depth = 0  # of loops around the code at hand

    def with_loop(self, w: g.WithLoop) -> g.WithLoop:
        self.threaded.update(p.name for o in w.operators if isinstance(o, g.Propagate) for p in o.params)
        if any(isinstance(o, g.Fold) and o.stop is not None for o in w.operators):
            self.partial.update(map(id, w.partitions))
        elif w.frame is not None and not w.disjoint:
            self.partial.update(map(id, w.partitions[1:]))
        return self.known.with_loop(w)

    def rhs(self, r: g.Rhs) -> g.Rhs:
        if isinstance(r, g.For):
            self.lift((r.body,), (r.index, *r.params), loaded_only(r.body))
            new = self.deeper(lambda: self.known.rhs(r))
            assert isinstance(new, g.For)
            ends = self.ends(new.lower, new.upper, new.step)
            low, high = (new.lower, new.upper) if r.step > 0 else (new.upper, new.lower)
            empty = self.walk.op("empty", "le", high, low)
            inside = bound(new.body) | {p.name for p in new.params} | {new.index.name}
            return replace(new, body=self.raised(new.body, _Space({new.index.name: ends}, inside, empty)))
        if isinstance(r, g.Loop):
            self.lift((r.condition, r.body), r.params, loaded_only(r.condition, r.body))
            looped: g.Rhs = self.deeper(lambda: self.known.rhs(r))
            return looped
        return self.known.rhs(r)

    def deeper(self, work: Callable[[], Any]) -> Any:
        """The result of work inside a loop."""
        self.depth += 1
        try:
            return work()
        finally:
            self.depth -= 1

    def within(self, p: g.Partition, frame: tuple[g.Atom, ...] | None) -> g.Partition:
        self.lift((p.body,), p.index, loaded_only(p.body) if self.depth else ())
        partial = id(p) in self.partial
        p = self.deeper(lambda: self.known.within(p, frame))
        if partial:
            return p
        empty: g.Atom = g.FALSE
        for lower, upper in zip(p.lower, p.upper):
            empty = self.walk.op("empty", "or", self.walk.op("empty", "le", upper, lower), empty)
        ends = {i.name: self.ends(lo, up, _step(p, k)) for k, (i, lo, up) in enumerate(zip(p.index, p.lower, p.upper))}
        return replace(p, body=self.raised(p.body, _Space(ends, bound(p.body) | set(ends) | self.threaded, empty)))

    def ends(self, lower: g.Atom, upper: g.Atom, step: int) -> tuple[Sum, Sum]:
        """The least and the greatest index of a loop that has one. With a step the last one may lie well before the
        bound: in `for (i = 0; i < n; i += 2)`, for an even n, i + 1 is an index too."""
        first, bound_ = self.known.form(lower), self.known.form(upper)
        distance = bound_ - first if step > 0 else first - bound_
        if abs(step) == 1 or not self.known.fits(distance):
            return (first, bound_.offset(-1)) if step > 0 else (bound_.offset(1), first)
        room = self.walk.op(
            "room", "sub", self.walk.op("room", "max", self.known.atom_of(distance), g.integer(1)), g.integer(1)
        )
        last = first + self.known.form(self.walk.op("rounds", "div", room, g.integer(abs(step)))).times(step)
        return (first, last) if step > 0 else (last, first)

    # ---- operations and loads

    def lift(self, bodies: Iterable[g.Block], binders: Iterable[g.Var], tables: Container[str] = ()) -> None:
        """Does here what a loop does again and again. `tables`: arrays that are used for nothing but loads."""
        bodies = tuple(bodies)
        inside = self.threaded.union((v.name for v in binders), *map(bound, bodies))
        for b in bodies:
            for s, conditional in _lets(b, False):
                rhs = s.rhs
                if isinstance(rhs, g.Op):
                    if any(isinstance(a, g.Var) and a.name in inside for a in rhs.args) or (
                        conditional and rhs.code in _DEAR
                    ):
                        continue
                    found = self.walk.emit(s.targets[0].name, g.Op(rhs.code, self.walk.atoms(rhs.args)), s.span)
                elif isinstance(rhs, g.Load):
                    if any(
                        isinstance(a, g.Var) and a.name in inside for a in (rhs.array, *rhs.index)
                    ) or not self.in_range(rhs):
                        continue
                    target = self.walk.supply.var(s.targets[0].name, s.targets[0].type)
                    self.walk.define((target,), g.Load(self.walk.var(rhs.array), self.walk.atoms(rhs.index)), s.span)
                    found = self.walk.atom(target)
                elif isinstance(rhs, g.Cons) and s.targets[0].name in tables and not conditional:
                    if any(isinstance(a, g.Var) and a.name in inside for a in rhs.elements):
                        continue
                    target = self.walk.supply.var(s.targets[0].name, s.targets[0].type)
                    self.walk.define((target,), g.Cons(rhs.base, rhs.extents, self.walk.atoms(rhs.elements)), s.span)
                    found = self.walk.atom(target)
                else:
                    continue
                inside.discard(s.targets[0].name)
                self.walk.alias(s.targets[0], found)

    def in_range(self, load: g.Load) -> bool:
        """Whether a load may be done here."""
        for i, extent in zip(load.index, g.extents_of(self.walk.var(load.array))):
            at = self.known.form(i)
            if not self.known.at_most(ZERO, at) or not self.known.at_most(at.offset(1), self.known.form(extent)):
                return False
        return True

    # ---- checks

    def raised(self, b: g.Block, space: _Space) -> g.Block:
        """The body of a loop without the checks that could be done in front of it, which are done."""
        kept: list[g.Stmt] = []
        for s in b.statements:
            if isinstance(s, g.Check):
                worst = self.worst(s.condition, space)
                if worst is not None:
                    condition = self.walk.op("ok", "or", worst, space.empty)
                    self.walk.check(g.Check(condition, s.what, s.span), condition)
                    continue
            kept.append(s)
        return replace(b, statements=tuple(kept)) if len(kept) < len(b.statements) else b

    def worst(self, condition: g.Atom, space: _Space) -> g.Atom | None:
        """A condition that holds only if another one holds for all indices; None if none is found."""
        if not isinstance(condition, g.Var) or condition.name not in space.inside:
            return condition
        rhs = self.walk.definition(condition)
        if not isinstance(rhs, g.Op):
            return None
        if rhs.code in ("and", "or"):
            parts = [self.worst(a, space) for a in rhs.args]
            return None if parts[0] is None or parts[1] is None else self.walk.op("ok", rhs.code, parts[0], parts[1])
        if rhs.code not in ("lt", "le") or rhs.args[0].base != "int":
            return None
        return self.all_at_least_0(
            (self.known.form(rhs.args[1]) - self.known.form(rhs.args[0])).offset(-1 if rhs.code == "lt" else 0), space
        )

    def all_at_least_0(self, s: Sum, space: _Space) -> g.Atom | None:
        """A condition under which a sum is at least 0 for all indices, and nothing in it wraps."""
        sums: list[Sum] = []
        waiting = [s]
        while waiting:
            x = waiting.pop()
            for name, c in x.terms.items():
                whole = self.known.wrapped.get(name) if name in space.inside else None
                if whole is not None:
                    waiting.append(x.plus(Sum(0, {name: 1}), -c).plus(whole, c))
                    waiting += [
                        y for y in (Sum(HIGHEST) - whole, whole.offset(-LOWEST)) if self.known.facts.least(y) < 0
                    ]
                    break
            else:
                sums.append(x)
        found: g.Atom = g.TRUE
        for x in sums:
            least = self.least_of(x, space)
            condition = None if least is None else self.not_negative(least)
            if condition is None:
                return None
            found = self.walk.op("ok", "and", condition, found)
        return found

    def least_of(self, s: Sum, space: _Space) -> Sum | None:
        """The least value of a sum over all indices, as a sum of what does not change."""
        least = Sum(s.constant)
        for name, c in s.terms.items():
            if name in space.ends:
                least = least.plus(space.ends[name][0 if c > 0 else 1], c)
            elif name in space.inside:
                return None
            else:
                least = least.plus(Sum(0, {name: 1}), c)
        return least

    def not_negative(self, s: Sum) -> g.Atom | None:
        """Code that tests whether a sum is at least 0: its positive against its negative terms, with the constant where
        nothing wraps; in 64 bits if that is nowhere."""
        more, less = (
            Sum(0, {n: c for n, c in s.terms.items() if c > 0}),
            Sum(0, {n: -c for n, c in s.terms.items() if c < 0}),
        )
        for a, b in ((more, less.offset(-s.constant)), (more.offset(s.constant), less)):
            if self.known.fits(a) and self.known.fits(b):
                return self.walk.op("ok", "le", self.known.atom_of(b), self.known.atom_of(a))
        if not is_moderate(s):
            return None
        return self.walk.op("ok", "le", self.known.long_of(less.offset(-s.constant)), self.known.long_of(more))


def _step(p: g.Partition, axis: int) -> int:
    """How far the indices of a partition are apart along an axis, where that is known."""
    step, width = g.stride(p, axis)
    return step if step is not None and width == 1 else 1


def _lets(b: g.Block, conditional: bool) -> Iterator[tuple[g.Let, bool]]:
    """The statements of a block, inner blocks included; and whether they are in a branch of a conditional."""
    for s in b.statements:
        if isinstance(s, g.Let):
            yield s, conditional
            for inner in g.blocks(s.rhs):
                yield from _lets(inner, conditional or isinstance(s.rhs, g.If))


@wherever(is_loop)
def run(function: g.Function) -> g.Function:
    """A unit with what its loops repeat in front of them."""
    return _Mover(function).walk.function(function)

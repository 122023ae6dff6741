"""Parity partitions: where a remainder of the sum of the indices decides whether a cell changes, only those cells are
computed that do, with a step. For the CPU.

    modarray u                                     modarray u
    part [1,1] <= [i,j] < [n,m]                    part [1,1] <= [i,j] < [n,m] step [2,2] width [1,1]
      s = add! i, j                                  x = ..
      t = mod s, 2                                   yield x
      c = eq t, 0                            ->    part [2,2] <= [k,l] < [n,m] step [2,2] width [1,1]
      x = if c                                       y = ..
        ..                                           yield y
      else
        y = load u[i,j]
        give y
      yield x

Partitions that copy the array, as those of a border do, are what a modarray of it keeps anyway.

A loop whose rounds do nothing but where such a condition holds gets a step of two in the same way. The red and the
black points of a chessboard are written so. What steps is updated in place where its neighbours keep their values
(`analysis/depends`).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from sacpy.jit.analysis.costs import size
from sacpy.jit.analysis.facts import Sum
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import again, bound, has_only
from sacpy.jit.passes.ranges import Ranges
from sacpy.jit.passes.simplify import Simplifier, whole
from sacpy.jit.passes.summing import ZERO
from sacpy.jit.passes.units import wherever
from sacpy.nodes import Node, replace

PIECES = 4  # of a partition
CODE = 300  # statements of all pieces together


class _Parity(Node):
    """What a condition says: a sum leaves a rest if it is divided by two. `signed`: only if it is not negative."""

    sum: Sum
    rest: int
    signed: bool


class _ParityCutter:
    """`changed`: whether it has found something."""

    changed = False

    def __init__(self, function: g.Function) -> None:
        self.known = Ranges(Simplifier(function))
        self.walk = self.known.walk
        self.walk.take_over(with_loop=self.with_loop, rhs=self.rhs)

    # ---- with-loops

    def with_loop(self, w: g.WithLoop) -> g.WithLoop:
        w = self.known.with_loop(w)
        if w.frame is None or len(w.operators) != 1:
            return w
        (operator,), parts = w.operators, w.partitions
        copy: tuple[g.Partition, ...] = ()
        kept: g.Var | None = None
        if isinstance(operator, g.Modarray):
            kept = operator.array
        elif isinstance(operator, g.Genarray) and not operator.cell and parts:
            sources = [self.copied(p) for p in parts]
            if whole(parts[-1], w.frame):
                kept, parts, copy = sources[-1], parts[:-1], parts[-1:]
            elif w.disjoint and w.complete:
                kept = max((source for source in sources if source is not None), key=sources.count, default=None)
                parts = tuple(p for p, source in zip(parts, sources) if source is None or source != kept)
        if kept is None or g.extents_of(kept) != w.frame or not (w.disjoint or len(parts) == 1):
            return w
        found = [piece for p in parts for piece in self.coloured(p, kept, w.frame)]
        if len(found) == len(parts) and all(a is b for a, b in zip(found, parts)):
            return w
        self.changed = True
        if isinstance(operator, g.Genarray) and not copy:
            return replace(w, operators=(g.Modarray(kept),), partitions=tuple(found), complete=False)
        return replace(w, partitions=(*found, *copy), complete=w.complete and bool(copy))

    def copied(self, p: g.Partition) -> g.Var | None:
        """The array whose cells a partition copies, each to its place."""
        load = self.walk.definition(p.body.results[0])
        if not isinstance(load, g.Load) or len(load.index) != p.rank or not has_only(p.body, g.Op, g.Load):
            return None
        own = all(
            at == i or (at == lower and self.known.at_most(self.known.form(upper), self.known.form(lower).offset(1)))
            for at, i, lower, upper in zip(load.index, p.index, p.lower, p.upper)
        )
        return self.walk.var(load.array) if own else None

    def low(self, lower: g.Atom, extent: g.Atom) -> int | None:
        """A bound of a partition as a number; one that the frame cuts off may lie behind it."""
        if isinstance(lower, g.Const):
            return int(lower.value)
        cut = self.walk.definition(lower)
        if isinstance(cut, g.Op) and cut.code == "min" and extent in cut.args:
            return next((int(a.value) for a in cut.args if isinstance(a, g.Const)), None)
        return None

    def coloured(self, p: g.Partition, kept: g.Var, frame: tuple[g.Atom, ...]) -> list[g.Partition]:
        """The pieces of a partition with the cells that change; itself if that is not known."""
        found = None if p.step is not None else self.chosen(p.body, lambda arm: self.keeps(arm, p, kept))
        if found is None:
            return [p]
        parity, body = found
        lows = [low for a, extent in zip(p.lower, frame) if (low := self.low(a, extent)) is not None]
        names = {i.name: low for i, low in zip(p.index, lows)}
        s = parity.sum
        if (
            len(lows) < p.rank
            or not s.terms.keys() <= names.keys()
            or (
                parity.signed
                and (
                    min(s.terms.values(), default=0) < 0
                    or s.constant + sum(c * names[n] for n, c in s.terms.items()) < 0
                )
            )
        ):
            return [p]
        places = [
            at
            for at in product(*(range(low, low + 2) for low in lows))
            if (s.constant + sum(s.terms.get(i.name, 0) * x for i, x in zip(p.index, at))) % 2 == parity.rest
        ]
        if not 1 <= len(places) <= PIECES or len(places) * size(body) > CODE or len(places) == 2**p.rank:
            return [p]
        p = replace(p, body=body, step=(g.integer(2),) * p.rank, width=(g.integer(1),) * p.rank)
        return [
            replace(again(p, self.walk.supply) if k else p, lower=tuple(map(g.integer, at)))
            for k, at in enumerate(places)
        ]

    def keeps(self, arm: g.Block, p: g.Partition, kept: g.Var) -> bool:
        """Whether code gives what a cell was before, and does nothing else."""
        (value,) = arm.results
        load = self.walk.definition(value)
        return isinstance(load, g.Load) and load.array == kept and load.index == p.index and has_only(arm, g.Op, g.Load)

    # ---- loops

    def rhs(self, r: g.Rhs) -> g.Rhs:
        new = self.known.rhs(r)
        return self.stepping(new) if isinstance(new, g.For) and new.step == 1 else new

    def stepping(self, r: g.For) -> g.For:
        """A loop with only the rounds that do something; itself if that is not known."""
        found = self.chosen(r.body, lambda arm: arm.results == r.params and has_only(arm, g.Op, g.Load))
        if found is None:
            return r
        parity, body = found
        s = parity.sum
        inside = bound(r.body)
        if abs(s.terms.get(r.index.name, 0)) != 1 or any(n in inside for n in s.terms):
            return r

        def positive() -> bool:
            self.known._between(r.index, r.lower, r.upper)
            return self.known.at_most(ZERO, s)

        if parity.signed and not self.walk.scoped(positive):
            return r
        rest = s.plus(Sum(0, {r.index.name: 1}), -s.terms[r.index.name]).plus(self.known.form(r.lower), 1)
        # a sum that wraps is even if it would be
        away = self.walk.op("away", "aplmod", self.known.atom_of(rest.offset(parity.rest)), g.integer(2))
        first = self.walk.op("first", "add", r.lower, away)
        some = self.walk.op("some", "lt", r.lower, r.upper)
        self.changed = True
        return replace(r, lower=self.walk.op("first", "select", some, first, r.lower), step=2, body=body)

    # ---- conditions

    def chosen(self, b: g.Block, keeps: Callable[[g.Block], bool]) -> tuple[_Parity, g.Block] | None:
        """The parity of the indices for which a block does more than to keep what there is, and what it does there. The
        other code of the block is only there for that."""
        at = next((k for k, s in enumerate(b.statements) if isinstance(s, g.Let) and s.targets == b.results), None)
        if at is None:
            return None
        choice = b.statements[at]
        assert isinstance(choice, g.Let)
        others = (*b.statements[:at], *b.statements[at + 1 :])
        if isinstance(choice.rhs, g.If):
            condition, arms = choice.rhs.condition, (choice.rhs.then, choice.rhs.otherwise)
        elif isinstance(choice.rhs, g.Op) and choice.rhs.code == "select":
            condition, *values = choice.rhs.args
            arms = tuple(g.Block((), (a,)) for a in values)  # type: ignore[assignment]
        else:
            return None
        parity = self.parity(condition)
        if parity is None or not has_only(g.Block(others), g.Op, g.Load):
            return None
        for holds, (arm, other) in ((True, arms), (False, arms[::-1])):
            if keeps(other):
                if not holds:
                    parity = replace(parity, rest=1 - parity.rest)
                return parity, g.Block((*others, *arm.statements), arm.results)
        return None

    def parity(self, condition: g.Atom) -> _Parity | None:
        """What a condition compares."""
        rhs = self.walk.definition(condition)
        if not isinstance(rhs, g.Op):
            return None
        if rhs.code == "not":
            found = self.parity(rhs.args[0])
            return None if found is None else replace(found, rest=1 - found.rest)
        if rhs.code not in ("eq", "neq") or rhs.args[0].base != "int":
            return None
        a, b = rhs.args
        remainder, rest = (self.walk.definition(a), b) if isinstance(b, g.Const) else (self.walk.definition(b), a)
        if (
            not isinstance(rest, g.Const)
            or rest.value not in (0, 1)
            or not isinstance(remainder, g.Op)
            or remainder.code not in ("mod", "aplmod")
            or remainder.args[1] != g.integer(2)
        ):
            return None
        wanted = int(rest.value) if rhs.code == "eq" else 1 - int(rest.value)
        return _Parity(self.known.form(remainder.args[0]), wanted, remainder.code == "mod" and rest.value == 1)


@wherever(lambda r: isinstance(r, g.Op) and r.code in ("mod", "aplmod") and r.args[1] == g.integer(2))
def run(function: g.Function) -> g.Function:
    """A unit that computes of cells of one parity only what changes."""
    cutter = _ParityCutter(function)
    new = cutter.walk.function(function)
    return new if cutter.changed else function

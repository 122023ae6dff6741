"""Counting loops that add to elements of an array wherever the data say, such as histograms: cut into pieces that each
fill an array of their own, so that they may run at the same time; then these are added up.

    h = for i from l to u step 1 with p := g          s = (u - l) / c, for a number c of pieces
      j, v = ...                                      w = with [c]: for k from 0 to s with z := zeros:
      a = load p[j]                           ->                    i = l + c * s + k; .. update z[j] ..
      b = add a, v                                    q = for k from 0 to c with p := g: with [m]: p + w[k]
      q = update p[j] with b                          h = for i from l + c * s to u with p := q: ...
      next q

A loop may do so to several arrays, of any rank, itself or by loops in it, of which each piece has all. What combines
may be taken in pieces: sums, products, bitwise and logical operations, extremes (of reals those in which NaN stays once
it came, see `analysis/scans`), pieces being combined in order; sums and products of reals are regrouped (`run_reals`)
as those of folds are, unless floating point is strict. Pieces have a number that depends on the extents only. There are
few of them, and none where the loop is short for the size of the arrays; then all is done by the last loop, as before.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from sacpy.jit.analysis.combine import function_of
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import Rewriter, copied, needed_for, uses
from sacpy.jit.passes.stepping import combines, combines_densely, each_partition, nested
from sacpy.jit.passes.units import wherever
from sacpy.jit.passes.walker import Walker
from sacpy.lang.constants import zero
from sacpy.lang.source import Span

if TYPE_CHECKING:
    from sacpy.jit.analysis.scatters import Collapsed, Scatter

PIECES = 16
ROUNDS = 4000  # of a piece, at least
PER_ELEMENT = 8  # rounds of a piece for each element of the array, at least


class _Cutter(Walker):
    """`reals`: sums of reals too."""

    def __init__(self, function: g.Function, reals: bool) -> None:
        super().__init__(function)
        self.reals = reals

    def let(self, s: g.Let) -> None:
        found = _found(s.rhs, self.reals) if isinstance(s.rhs, g.For) else []
        if not found:
            super().let(s)
            return
        r = Rewriter(dict(self.env)).rhs(s.rhs)  # the loops in it are cut with it
        assert isinstance(r, g.For)
        self.cut(s, r, _found(r, self.reals))

    def elements(self, extents: tuple[g.Atom, ...]) -> g.Atom:
        """How many elements there are, or as many as are too many."""
        if len(extents) == 1:
            return self.op("piece", "min", extents[0], g.integer(1 << 27))
        count: g.Atom = g.Const("double", 1.0)
        for e in extents:
            count = self.op("count", "mul", count, self.op("count", "tod", e))
        return self.op("piece", "toi", self.op("count", "min", count, g.Const("double", float(1 << 27))))

    def cut(self, s: g.Let, r: g.For, found: list[Scatter]) -> None:
        """Emits the pieces, their sums, and the loop over the rest."""
        start = self.op("start", "min", r.lower, r.upper)
        last, first = self.op("rounds", "max", r.upper, g.integer(0)), self.op("start", "max", start, g.integer(0))
        rounds = self.op("rounds", "sub", last, first, exact=True)
        wanted: g.Atom = g.integer(ROUNDS)
        for extents in dict.fromkeys(h.extents for h in found):
            most = self.op("piece", "mul", self.elements(extents), g.integer(PER_ELEMENT), exact=True)
            wanted = self.op("piece", "max", most, wanted)
        from sacpy.jit.analysis.scatters import collapsed

        inner = collapsed(r)
        for lower, upper in zip(inner.lower[1:], inner.upper[1:]):  # a round of the loop is that many
            each = self.op("each", "max", self.op("each", "sub", upper, lower, exact=True), g.integer(1))
            wanted = self.op("piece", "max", self.op("piece", "div", wanted, each), g.integer(1))
        pieces = self.op("pieces", "min", self.op("pieces", "div", rounds, wanted), g.integer(PIECES))
        length = self.op("length", "div", rounds, self.op("divisor", "max", pieces, g.integer(1)))
        parts = [self.supply.var("parts", g.ArrayType(h.param.base, (pieces, *h.extents))) for h in found]
        self.define(
            tuple(parts),
            g.WithLoop(
                (pieces,),
                (self.piece(r, found, pieces, length, start),),
                tuple(g.Genarray(h.param.base, h.extents, h.neutral) for h in found),
                disjoint=True,
                complete=True,
            ),
            s.span,
        )
        whole = [self.supply.var("whole", h.given.type) for h in found]
        for h, part, target in zip(found, parts, whole):
            self.define((target,), self.total(h, part, pieces), s.span)
        rest = self.op("rest", "add", start, self.op("done", "mul", pieces, length, exact=True), exact=True)
        self.define(s.targets, g.For(r.index, rest, r.upper, 1, r.params, tuple(whole), r.body, few=True), s.span)

    def piece(self, r: g.For, found: list[Scatter], pieces: g.Atom, length: g.Atom, start: g.Atom) -> g.Partition:
        """Fills arrays by a part of the rounds."""
        new = self.supply.var
        c, k, base, i = new("c", g.INT), new("k", g.INT), new("base", g.INT), new(r.index.name, g.INT)
        first = new("first", g.INT)
        zeros = tuple(new("zeros", h.param.type) for h in found)
        params = tuple(new(h.param.name, h.param.type) for h in found)
        filled = tuple(new("filled", h.param.type) for h in found)
        renamed: dict[str, g.Atom] = {h.param.name: p for h, p in zip(found, params)}
        body = copied(r.body, {r.index.name: i, **renamed}, self.supply)
        inner = g.Block((g.Let((i,), g.Op("add", (first, k), exact=True)), *body.statements), body.results)
        before: list[g.Stmt] = [
            g.Let((base,), g.Op("mul", (c, length), exact=True)),
            g.Let((first,), g.Op("add", (start, base), exact=True)),
            *(
                g.Let((z,), g.WithLoop(h.extents, (), (g.Genarray(h.param.base, (), h.neutral),), disjoint=True))
                for z, h in zip(zeros, found)
            ),
            g.Let(filled, g.For(k, g.integer(0), length, 1, params, zeros, inner)),
        ]
        return g.Partition((g.integer(0),), (pieces,), None, None, (c,), g.Block(tuple(before), filled))

    def total(self, h: Scatter, parts: g.Var, pieces: g.Atom) -> g.For:
        """The given array with all pieces added, one after the other: each lies side by side."""
        new, element = self.supply.var, g.ScalarType(h.param.base)
        c, index = new("c", g.INT), tuple(new("j", g.INT) for _ in h.extents)
        sofar, more = new("sum", h.param.type), new("sum", h.param.type)
        a, x = (new(stem, element) for stem in ("a", "x"))
        steps = copied(g.Block(tuple(function_of(h.step, a, x)), (h.step.new,)), {}, self.supply)
        body = g.Block(
            (g.Let((a,), g.Load(sofar, index)), g.Let((x,), g.Load(parts, (c, *index))), *steps.statements),
            steps.results,
        )
        part = g.Partition(tuple(g.integer(0) for _ in index), h.extents, None, None, index, body)
        adding = g.WithLoop(
            h.extents, (part,), (g.Genarray(h.param.base, (), h.neutral),), disjoint=True, complete=True
        )
        return g.For(c, g.integer(0), pieces, 1, (sofar,), (h.given,), g.Block((g.Let((more,), adding),), (more,)))


def _found(r: g.For, reals: bool) -> list[Scatter]:
    """What a loop does to each of its arrays, if it is such a loop."""
    from sacpy.jit.analysis.scatters import first_of, scatters  # most functions have no loops

    return first_of(scatters(r, reals))


@wherever(lambda r: isinstance(r, g.For) and _found(r, reals=False))
def run(function: g.Function) -> g.Function:
    """A unit with such loops cut."""
    return _Cutter(function, reals=False).function(function)


@wherever(lambda r: isinstance(r, g.For) and _found(r, reals=True))
def run_reals(function: g.Function) -> g.Function:
    """A unit with such loops cut, those on reals included whose sums are regrouped."""
    return _Cutter(function, reals=True).function(function)


class _Worded(Walker):
    """Puts with-loops with `into` in the place of such loops, and of those that set elements. `reals`: of sums of reals
    too."""

    def __init__(self, function: g.Function, reals: bool) -> None:
        super().__init__(function)
        self.reals = reals

    def let(self, s: g.Let) -> None:
        if isinstance(s.rhs, g.WithLoop) and combines(s.rhs) and len(s.rhs.partitions) > 1:
            for one in each_partition(s, s.rhs, self.supply):
                self.let(one)
            return
        nest = self.nest(s)
        if nest is not None:
            self.into(g.Let(s.targets, Rewriter(dict(self.env)).rhs(s.rhs), s.span), nest)
            return
        super().let(s)
        last = self.out[-1]
        assert isinstance(last, g.Let)
        if isinstance(last.rhs, g.For) and not self.reals and (found := _setting(last.rhs)) is not None:
            self.out.pop()
            self.last_ones(last, last.rhs, found)

    def nest(self, s: g.Let) -> Collapsed | None:
        """The loops of a statement, if they combine; rows that they combine with are loops, too."""
        rows = _has_rows(s.rhs)
        if not rows and not isinstance(s.rhs, g.For):
            return None
        loop = Rewriter(dict(self.env)).rhs(s.rhs)  # the loops in it go with it
        if rows:
            from sacpy.jit.passes.assigning import assigned

            loop = nested(loop, self.supply) if isinstance(loop, g.WithLoop) else loop
            loop = assigned(self.source, self.supply, g.Let(s.targets, loop, s.span)).rhs
        return _combining(loop, self.reals) if isinstance(loop, g.For) else None

    def into(self, s: g.Let, nest: Collapsed) -> None:
        """Emits the with-loop over the rounds of a nest. Where a loop in it has no rounds, checks around that loop are
        made all the same: then the loops stay."""
        if not nest.checks:
            self.define(s.targets, _with_loop(nest, s.span), s.span)
            return
        some: g.Atom = g.TRUE
        for lower, upper in zip(nest.lower[1:], nest.upper[1:]):
            some = self.op("some", "and", some, self.op("some", "lt", lower, upper))
        branches = []
        for rhs in (Rewriter({}, self.supply).rhs(_with_loop(nest, s.span)), s.rhs):
            targets = tuple(self.supply.var(t.name, t.type) for t in s.targets)
            branches.append(g.Block((g.Let(targets, rhs, s.span),), targets))
        self.define(s.targets, g.If(some, *branches), s.span)

    def last_ones(self, s: g.Let, r: g.For, update: g.Update) -> None:
        """Emits what finds for each element the last round that sets it, and what sets the elements."""
        (p,), (given,) = r.params, r.initial
        assert isinstance(p.type, g.ArrayType) and isinstance(given, g.Var)
        extents, none = p.type.extents, g.integer(-1)
        rounds = g.ArrayType("int", extents)
        from sacpy.jit.analysis.scatters import Collapsed

        start, param, new, last = (self.supply.var(stem, rounds) for stem in ("nobody", "last", "last", "last"))
        self.define((start,), g.WithLoop(extents, (), (g.Genarray("int", (), none),), disjoint=True), s.span)
        old, later = self.supply.var("before", g.INT), self.supply.var("later", g.INT)
        gone = {t.targets[0].name for t in r.body.statements if isinstance(t, g.Let) and t.rhs is update}
        others = (t for t in r.body.statements if isinstance(t, g.Check) or all(v.name not in gone for v in t.targets))
        kept = tuple(others)
        most = (
            g.Let((old,), g.Load(param, update.index)),
            g.Let((later,), g.Op("max", (old, r.index))),
            g.Let((new,), g.Update(param, update.index, later)),
        )
        body = copied(g.Block((*kept, *most), (new,)), {}, self.supply)
        index = self.supply.var(r.index.name, g.INT)
        body = Rewriter({r.index.name: index}).block(body)
        most_of = Collapsed((index,), (r.lower,), (r.upper,), (param,), (start,), body)
        self.define((last,), _with_loop(most_of, s.span), s.span)
        at = tuple(self.supply.var("j", g.INT) for _ in extents)
        k, there, element = (
            self.supply.var("k", g.INT),
            self.supply.var("t", g.BOOL),
            self.supply.var("x", g.ScalarType(p.base)),
        )
        value = g.Block(needed_for((update.value,), r.body), (update.value,))
        then = copied(value, {r.index.name: k}, self.supply)
        had = self.supply.var("x", g.ScalarType(p.base))
        choice = g.If(there, then, g.Block((g.Let((had,), g.Load(given, at)),), (had,)))
        steps = (
            g.Let((k,), g.Load(last, at)),
            g.Let((there,), g.Op("le", (g.integer(0), k))),
            g.Let((element,), choice),
        )
        part = g.Partition(tuple(g.integer(0) for _ in at), extents, None, None, at, g.Block(steps, (element,)))
        made = g.Genarray(p.base, (), g.Const(p.base, zero(p.base)))
        self.define(s.targets, g.WithLoop(extents, (part,), (made,), disjoint=True, complete=True), s.span)


def _setting(r: g.For) -> g.Update | None:
    """The update of a loop that sets elements of an array wherever the data say, and does nothing else."""
    if r.step != 1 or len(r.params) != 1 or not isinstance(r.lower, g.Const) or r.lower.value < 0:
        return None
    (p,), (result,), (given,) = r.params, r.body.results, r.initial
    lets = [s for s in r.body.statements if isinstance(s, g.Let)]
    update = next((s.rhs for s in lets if s.targets == (result,)), None)
    if not isinstance(update, g.Update) or not isinstance(p.type, g.ArrayType) or not isinstance(given, g.Var):
        return None
    if update.array != p or len(update.index) != p.type.rank or uses(r.body)[p.name] != 1:
        return None
    from sacpy.jit.analysis.scatters import is_plain

    return update if all(is_plain(s) or s.rhs is update for s in lets) else None


def _has_rows(r: g.Rhs) -> bool:
    """Whether a loop, or a with-loop with `into`, replaces rows of arrays."""
    if isinstance(r, g.WithLoop):
        bodies = [r.partitions[0].body] if combines_densely(r) else []
    else:
        bodies = [r.body] if isinstance(r, g.For) else []
    updates = (t.rhs for b in bodies for t in b.statements if isinstance(t, g.Let) and isinstance(t.rhs, g.Update))
    return any(g.extents_of(u.value) for u in updates)


def _combining(r: g.For, reals: bool) -> Collapsed | None:
    """A loop, with those in it, that combines elements wherever the data say. `reals`: sums of reals, too."""
    from sacpy.jit.analysis.scatters import collapsed, scatters_of

    nest = collapsed(r)
    found = r.step == 1 and scatters_of(nest.params, nest.initial, nest.body, reals, nest.index)
    return nest if found else None


def _with_loop(nest: Collapsed, span: Span) -> g.WithLoop:
    """The with-loop over a nest's rounds."""
    part = g.Partition(nest.lower, nest.upper, None, None, nest.index, nest.body, (), span)
    return g.WithLoop(None, (part,), (g.Propagate(nest.initial, nest.params, "into"),))


def _is_for_device(r: g.Rhs, reals: bool) -> bool:
    if isinstance(r, g.For) and (_combining(r, reals) is not None or not (reals or _setting(r) is None)):
        return True
    return _has_rows(r) or (isinstance(r, g.WithLoop) and combines(r) and len(r.partitions) > 1)


@wherever(partial(_is_for_device, reals=False))
def run_device(function: g.Function) -> g.Function:
    """A unit in which the same loops are with-loops, which a device runs. So are those that set elements: for each the
    last round that does is found by such a with-loop, and another one computes it."""
    return _Worded(function, reals=False).function(function)


@wherever(partial(_is_for_device, reals=True))
def run_device_reals(function: g.Function) -> g.Function:
    """The same for sums of reals, which a device regroups."""
    return _Worded(function, reals=True).function(function)

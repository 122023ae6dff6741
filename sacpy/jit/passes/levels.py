"""Scans of long vectors as with-loops, which a device runs: reduce, then scan, over levels.

    totals = with [m]: what the values k * R to k * R + R - 1 combine to          level 1, of R values each
    totals = with [m / R]: what R of those combine to                             level 2
    starts = with [m / R]: what comes of all totals before                        level 2, from the first on
    starts = with [m]: what comes of the start above and the totals before        level 1
    result = with [n] modarray: what comes of the start and the values up to i

Each index combines at most R elements, but those of the third with-loop, of which there are few; neighbours read the
same ones. Operands keep their order, so any associative operation will do, and what is combined depends on the extents
only. (Reduce-then-scan as in Dotsenko, Govindaraju, Sloan, Boyd, Manferdelli: Fast Scan Algorithms on Graphics
Processors, 2008.) Where a vector turns out to be short the loop stays a loop.

Values that cost more than a few operations are computed first, since each is needed several times.

What goes over a whole vector, up or down, is one with-loop instead, with the function of the scan, which has kernels of
its own: `kernels/scanned` where it is exact however it is grouped, else `kernels/grouped_scan`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.names import Names
from sacpy.jit.ir.rewrite import Rewriter, names_of
from sacpy.jit.passes.scan_elements import Code, Monoid, elements_of
from sacpy.jit.passes.stepping import around, scans_as_loops
from sacpy.lang.constants import zero

R = 32
LONG = 4096  # values from which on a scan goes over levels
DEAR = 8.0  # the cost of values that are computed once
Elements = Callable[[Code, g.Atom], list[g.Atom]]  # of an index the components of an element


class _Leveller(Rewriter):
    """`regroup`: scans that depend on how they are grouped, too."""

    def __init__(self, supply: Names, regroup: bool) -> None:
        super().__init__()
        self.supply, self.regroup = supply, regroup
        self.before: dict[str, tuple[g.Atom, ...]] = {}  # of variables that are 1 less than something, what that is

    def with_loop(self, w: g.WithLoop) -> g.WithLoop:
        return w  # what an index does it does alone

    def statement(self, s: g.Stmt) -> Sequence[g.Stmt]:
        if isinstance(s, g.Let) and isinstance(s.rhs, g.Op) and s.rhs.exact:
            self.note(s.targets[0], s.rhs)
        if isinstance(s, g.Check) or not isinstance(s.rhs, g.For):
            return tuple(super().statement(s))
        found = elements_of(s.rhs, True)
        exact = found is not None
        if found is None and self.regroup:
            found = elements_of(s.rhs, False)
        if found is None:
            return tuple(super().statement(s))
        code = Code(self.supply)
        r = s.rhs
        whole = self.whole(r)
        if whole is not None:
            if isinstance(whole, g.Const) and int(whole.value) < R:
                return tuple(super().statement(s))
            return _whole(self.supply, r, s, whole, regroups=not exact)
        n: g.Atom = r.upper
        if r.step < 0 or r.lower != g.integer(0):
            n = code.op("sub", *((r.upper, r.lower) if r.step > 0 else (r.lower, r.upper)))
        test = code.op("lt", n, g.integer(LONG))
        short = Rewriter({}, self.supply).statement(s)
        (loop,) = short
        assert isinstance(loop, g.Let)
        long = code.inside(lambda inner: _Levels(inner, r, found, n).results())
        branch = g.If(test, g.Block((loop,), loop.targets), long)
        return (*code.statements, g.Let(s.targets, branch, s.span))


    def note(self, target: g.Var, r: g.Op) -> None:
        """Remembers what is 1 less than something."""
        if (r.code, r.args[1:]) in (("add", (g.integer(-1),)), ("sub", (g.integer(1),))):
            self.before[target.name] = r.args[:1]

    def whole(self, r: g.For) -> g.Atom | None:
        """The extent of the vectors of a loop that goes over all of their elements, up or down."""
        vectors = [g.extents_of(p) for p in r.params if g.extents_of(p)]
        if r.step == 1:
            return r.upper if r.lower == g.integer(0) and all(e == (r.upper,) for e in vectors) else None
        if r.step != -1 or r.upper != g.integer(-1) or any(e != vectors[0] for e in vectors):
            return None
        (extent,) = vectors[0]
        last = (g.integer(int(r.lower.value) + 1),) if isinstance(r.lower, g.Const) else self.before.get(r.lower.name)
        return extent if last == (extent,) else None


def _whole(supply: Names, r: g.For, s: g.Let, extent: g.Atom, regroups: bool) -> tuple[g.Stmt, ...]:
    """A scan as one with-loop, which a device runs once through memory; short ones are weighed as others are."""
    lets = {t.name: s for s in r.body.statements if isinstance(s, g.Let) for t in s.targets}
    results = dict(zip(r.params, r.body.results))
    updates = {p: lets[a.name] for p, a in results.items() if g.extents_of(p) and isinstance(a, g.Var)}
    written = [s.rhs.value for s in updates.values() if isinstance(s.rhs, g.Update)]
    totals = [p for p in r.params if p not in updates]
    body = tuple(s for s in r.body.statements if s not in updates.values())
    block = g.Block(body, (*written, *(results[p] for p in totals)))
    part = g.Partition((g.integer(0),), (extent,), None, None, (r.index,), block, (), s.span)
    arrays = tuple(g.Genarray(p.base, (), g.Const(p.base, zero(p.base))) for p in updates)
    initial = tuple(a for p, a in zip(r.params, r.initial) if p in totals)
    handed = g.Propagate(initial, tuple(totals), "scan", r.combine, regroups, r.step < 0)
    whole = g.WithLoop((extent,), (part,), (*arrays, handed), disjoint=True, complete=True)
    before = {p.name: a for p, a in zip(r.params, r.initial) if p in updates}  # of which a round reads its own element
    targets = dict(zip(r.params, s.targets))
    ordered = tuple(targets[p] for p in (*updates, *totals))
    return (g.Let(ordered, Rewriter(before, supply).rhs(whole), s.span),)


class _Levels:
    """The with-loops of one scan. `n`: how many values there are."""

    def __init__(self, code: Code, r: g.For, monoid: Monoid, n: g.Atom) -> None:
        self.code, self.loop, self.n, self.monoid = code, r, n, monoid
        self.given = [a for a in r.initial if isinstance(a, g.Var) and g.extents_of(a)]

    def results(self) -> list[g.Atom]:
        """What the targets of the loop are."""
        code, r = self.code, self.loop
        initial = [a for p, a in zip(r.params, r.initial) if not g.extents_of(p)]
        values: Elements = self.values
        if self.monoid.cost > DEAR:
            values = self.of(self.vectors(self.n, values))
        first = self.length(self.n)
        below = self.totals(first, self.n, values)
        second = self.length(first)
        above = self.totals(second, first, self.of(below))
        starts = self.scanned(second, initial, above)
        starts = self.spread(first, starts, below)
        arrays = iter(self.last(starts, values))
        total = self.reduced(code, g.integer(0), second, self.monoid.started(initial), self.of(above))
        last = iter(self.monoid.result(total))
        return [next(arrays if g.extents_of(p) else last) for p in r.params]

    def length(self, n: g.Atom) -> g.Atom:
        """How many elements the next level has."""
        return self.code.op("div", self.code.op("add", n, g.integer(R - 1), exact=True), g.integer(R))

    def index(self, code: Code, p: g.Atom) -> g.Atom:
        """The index of value p."""
        r = self.loop
        if r.step > 0 and r.lower == g.integer(0):
            return p
        return code.op("add" if r.step > 0 else "sub", r.lower, p, exact=True)

    def position(self, code: Code, i: g.Atom) -> g.Atom:
        """Which value an index is that of."""
        r = self.loop
        if r.step > 0 and r.lower == g.integer(0):
            return i
        return code.op("sub", *((i, r.lower) if r.step > 0 else (r.lower, i)), exact=True)

    def values(self, code: Code, p: g.Atom) -> list[g.Atom]:
        """The element that value p is."""
        return self.monoid.values(code, self.index(code, p), self.given)

    def of(self, arrays: Sequence[g.Var]) -> Elements:
        """Elements whose components lie in arrays."""
        return lambda code, k: [code.let("x", g.ScalarType(a.base), g.Load(a, (k,))) for a in arrays]

    def reduced(
        self, code: Code, lower: g.Atom, upper: g.Atom, start: Sequence[g.Atom], values: Elements
    ) -> list[g.Atom]:
        """What elements from `lower` to below `upper` combine to, behind an element."""
        supply = self.code.supply
        k, params = supply.var("k", g.INT), tuple(supply.var("acc", g.ScalarType(a.base)) for a in start)
        body = code.inside(lambda inner: self.monoid.combined(inner, params, values(inner, k)))
        targets = tuple(supply.var("total", p.type) for p in params)
        code.statements.append(g.Let(targets, g.For(k, lower, upper, 1, params, tuple(start), body)))
        return list(targets)

    def vectors(self, n: g.Atom, write: Elements) -> list[g.Var]:
        """Vectors of components, one for each index."""
        supply, index = self.code.supply, self.code.supply.var("i", g.INT)
        body = self.code.inside(lambda inner: write(inner, index))
        part = g.Partition((g.integer(0),), (n,), None, None, (index,), body)
        bases = [a.base for a in body.results]
        operators = tuple(g.Genarray(b, (), c) for b, c in zip(bases, self.monoid.identities[-len(bases) :]))
        targets = tuple(supply.var("level", g.ArrayType(b, (n,))) for b in bases)
        self.code.statements.append(g.Let(targets, g.WithLoop((n,), (part,), operators, disjoint=True, complete=True)))
        return list(targets)

    def totals(self, n: g.Atom, below: g.Atom, values: Elements) -> list[g.Var]:
        """What R elements combine to, for each element of a level."""

        def total(code: Code, c: g.Atom) -> list[g.Atom]:
            first = code.op("mul", c, g.integer(R), exact=True)
            end = code.op("min", code.op("add", first, g.integer(R), exact=True), below)
            return self.reduced(code, first, end, self.monoid.identities, values)

        return self.vectors(n, total)

    def scanned(self, n: g.Atom, initial: Sequence[g.Atom], totals: Sequence[g.Var]) -> list[g.Var]:
        """What comes of all totals before each."""

        def start(code: Code, c: g.Atom) -> list[g.Atom]:
            element = self.reduced(code, g.integer(0), c, self.monoid.started(initial), self.of(totals))
            return self.monoid.result(element)

        return self.vectors(n, start)

    def begun(self, code: Code, c: g.Atom, end: g.Atom, starts: Sequence[g.Var], values: Elements) -> list[g.Atom]:
        """The result before element `end`, in the group of element c: from the start of the group on."""
        group = code.op("div", c, g.integer(R))
        first = code.op("mul", group, g.integer(R), exact=True)
        start = [code.let("start", g.ScalarType(v.base), g.Load(v, (group,))) for v in starts]
        return self.monoid.result(self.reduced(code, first, end, self.monoid.started(start), values))

    def spread(self, n: g.Atom, above: Sequence[g.Var], totals: Sequence[g.Var]) -> list[g.Var]:
        """What each element of a level starts with, from what those of the level above do."""
        return self.vectors(n, lambda code, c: self.begun(code, c, c, above, self.of(totals)))

    def last(self, starts: Sequence[g.Var], values: Elements) -> list[g.Var]:
        """The vectors of results."""
        r = self.loop
        index = self.code.supply.var("i", g.INT)

        def element(code: Code) -> list[g.Atom]:
            p = self.position(code, index)

            def begun(after: bool) -> list[g.Atom]:
                end = code.op("add", p, g.integer(1), exact=True) if after else p
                return self.begun(code, p, end, starts, values)

            return self.monoid.written(code, index, self.given, begun)

        lower, upper = r.lower, r.upper
        if r.step < 0:
            lower, upper = (self.code.op("add", a, g.integer(1), exact=True) for a in (r.upper, r.lower))
        part = g.Partition((lower,), (upper,), None, None, (index,), self.code.inside(element))
        frame = g.extents_of(self.given[0])
        complete = (lower, (upper,)) == (g.integer(0), frame)
        operators = tuple(
            g.Genarray(v.base, (), g.Const(v.base, zero(v.base))) if complete else g.Modarray(v) for v in self.given
        )
        targets = tuple(self.code.supply.var("scanned", v.type) for v in self.given)
        whole = g.WithLoop(frame, (part,), operators, disjoint=True, complete=complete)
        self.code.statements.append(g.Let(targets, whole))
        return list(targets)


def levels(function: g.Function, regroup: bool) -> g.Function:
    """A function with its scans as with-loops; itself if there are none. `regroup`: those of reals, too."""
    function = around(scans_as_loops(function))
    if not any(isinstance(s, g.Let) and isinstance(s.rhs, g.For) for s in g.statements(function.body)):
        return function
    return _Leveller(names_of(function), regroup).function(function)

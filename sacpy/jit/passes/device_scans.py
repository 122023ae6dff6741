"""Scans as with-loops, which a device runs.

    r = for i from l to u step 1              z, t = with [n]: part [0] <= [p] < [n]             n = u - l
        with s := v, a := x                          i = add l, p; y = load v[i]; b = add a, y
      y = load s[i]                                  yield b, b                   scan a := x
      b = add a, y                     ->     r = with [m]
      u = update s[i] with b                      modarray v
      next u, b                                   part [l] <= [i] < [u]: p = sub i, l; yield (load z[p])

The first with-loop has kernels of its own: `kernels/scanned` where it is exact however it is grouped, else
`kernels/grouped_scan`. Where the scan goes over a whole vector, up or down, it gives the result; one over a part is a
whole one in numbers of its own, whose results are put in place. Short ones are weighed as others are.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.names import Names
from sacpy.jit.ir.rewrite import Rewriter, names_of, rights, setters
from sacpy.jit.passes.scan_elements import Code, elements_of
from sacpy.jit.passes.stepping import around, scans_as_loops
from sacpy.lang.constants import zero

FEW = 32  # rounds that are no work for a device
LESS = (("add", (g.integer(-1),)), ("sub", (g.integer(1),)))  # operations that give 1 less


class _Scanner(Rewriter):
    """`regroup`: scans that depend on how they are grouped, too."""

    def __init__(self, supply: Names, regroup: bool) -> None:
        super().__init__()
        self.supply, self.regroup = supply, regroup
        self.above: dict[str, g.Atom] = {}  # of variables that are 1 less than something, what that is

    def with_loop(self, w: g.WithLoop) -> g.WithLoop:
        return w  # what an index does it does alone

    def statement(self, s: g.Stmt) -> Sequence[g.Stmt]:
        r = s.rhs if isinstance(s, g.Let) else None
        if isinstance(s, g.Let) and isinstance(r, g.Op) and r.exact and (r.code, r.args[1:]) in LESS:
            self.above[s.targets[0].name] = r.args[0]
        if not isinstance(s, g.Let) or not isinstance(r, g.For) or _has_few_rounds(r):
            return tuple(super().statement(s))
        exact = elements_of(r, True) is not None
        if not exact and not (self.regroup and elements_of(r, False) is not None):
            return tuple(super().statement(s))
        extent = self.extent(r)
        return self.part(s, r, not exact) if extent is None else self.whole(s, r, extent, not exact)

    def extent(self, r: g.For) -> g.Atom | None:
        """That of the vectors of a loop that goes over all of their elements, up or down."""
        found = r.upper
        if r.step < 0:
            last = g.integer(int(r.lower.value) + 1) if isinstance(r.lower, g.Const) else self.above.get(r.lower.name)
            if last is None:
                return None
            found = last
        first, end = (r.lower, g.integer(0)) if r.step == 1 else (r.upper, g.integer(-1))
        vectors = [g.extents_of(p) for p in r.params if g.extents_of(p)]
        return found if abs(r.step) == 1 and first == end and all(e == (found,) for e in vectors) else None

    def whole(self, s: g.Let, r: g.For, extent: g.Atom, regroups: bool) -> tuple[g.Stmt, ...]:
        """A scan over whole vectors as one with-loop."""
        lets, results = setters(r.body.statements), dict(zip(r.params, r.body.results))
        updates = {p: lets[a.name] for p, a in results.items() if g.extents_of(p) and isinstance(a, g.Var)}
        written = [u.rhs.value for u in updates.values() if isinstance(u.rhs, g.Update)]
        totals = [p for p in r.params if p not in updates]
        body = tuple(t for t in r.body.statements if t not in updates.values())
        block = g.Block(body, (*written, *(results[p] for p in totals)))
        part = g.Partition((g.integer(0),), (extent,), None, None, (r.index,), block, (), s.span)
        arrays = tuple(g.Genarray(p.base, (), g.Const(p.base, zero(p.base))) for p in updates)
        initial = tuple(a for p, a in zip(r.params, r.initial) if p in totals)
        handed = g.Propagate(initial, tuple(totals), "scan", r.combine, regroups, r.step < 0)
        made = g.WithLoop((extent,), (part,), (*arrays, handed), disjoint=True, complete=True)
        before = {p.name: a for p, a in zip(r.params, r.initial) if p in updates}  # a round reads its own element of it
        targets = dict(zip(r.params, s.targets))
        ordered = tuple(targets[p] for p in (*updates, *totals))
        return (g.Let(ordered, Rewriter(before, self.supply).rhs(made), s.span),)

    def part(self, s: g.Let, r: g.For, regroups: bool) -> tuple[g.Stmt, ...]:
        """One over a part as a whole one, and what puts its results in place."""
        code, zero_ = Code(self.supply), g.integer(0)
        lower, upper = (r.lower, r.upper) if r.step > 0 else (r.upper, r.lower)
        some = code.op("lt", lower, upper)
        count = code.op("select", some, code.op("sub", upper, lower), zero_)
        # of indices down from the upper end, the first one that has a round is the one behind the lower end
        first = code.op("select", some, lower if r.step > 0 else code.op("add", lower, g.integer(1)), zero_)
        end = code.op("add", first, count, exact=True)
        start, step = (first, "add") if r.step > 0 else (code.op("sub", end, g.integer(1), exact=True), "sub")

        number = self.supply.var("number", g.INT)
        body = (g.Let((r.index,), g.Op(step, (start, number), True)), *r.body.statements)
        loop = g.For(number, zero_, count, 1, r.params, r.initial, g.Block(body, r.body.results), combine=r.combine)
        targets = tuple(
            self.supply.var("scanned", g.ArrayType(t.base, (count,))) if g.extents_of(t) else t for t in s.targets
        )
        code.statements += self.whole(g.Let(targets, loop, s.span), loop, count, regroups)
        for target, scanned, given in zip(s.targets, targets, r.initial):
            if isinstance(given, g.Var) and g.extents_of(target):
                i = self.supply.var(r.index.name, g.INT)
                at, x = self.supply.var("number", g.INT), self.supply.var("x", g.ScalarType(target.base))
                place = g.Op("sub", (i, start) if r.step > 0 else (start, i), True)
                inside = g.Block((g.Let((at,), place), g.Let((x,), g.Load(scanned, (at,)))), (x,))
                put = g.Partition((first,), (end,), None, None, (i,), inside, (), s.span)
                made = g.WithLoop(g.extents_of(target), (put,), (g.Modarray(given),), disjoint=True)
                code.statements.append(g.Let((target,), made, s.span))
        return tuple(code.statements)


def _has_few_rounds(r: g.For) -> bool:
    """Whether there is known to be little to do."""
    if not isinstance(r.lower, g.Const) or not isinstance(r.upper, g.Const):
        return False
    return len(range(int(r.lower.value), int(r.upper.value), r.step)) < FEW


def scans_as_withloops(function: g.Function, regroup: bool) -> g.Function:
    """A function with its scans as with-loops; itself if there are none. `regroup`: those of reals, too."""
    function = around(scans_as_loops(function))
    if not any(rights(function.body, g.For)):
        return function
    return _Scanner(names_of(function), regroup).function(function)

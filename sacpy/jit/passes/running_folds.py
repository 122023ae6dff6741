"""Running folds: where each cell folds what lies before it, or behind it, a cell takes one step from its neighbour.

    r = with [n]                                     t0 = with [n] filled with 0.0
      part [0] <= [i] < [n]                          t = for i from 0 to n with u := t0, a := 0.0
        u = add i, 1                                   x = load v[i]
        s = with                                       a' = add a, x
          fold from 0.0 by add              ->         u' = update u[i] with a'
          part [0] <= [j] < [u]                        next u', a'
            x = load v[j]                            r = with [n]
            yield x                                    part [0] <= [i] < [n]
        yield s                                          s = load t[i]
                                                         yield s

So a running sum that is written as what it is, a sum for each index, takes time in proportion to n, and no longer to
its square. From the front, each accumulator has gone through the same steps as before, whatever the function; from the
end, the order is another one, which must not matter. The loop is a scan, and runs as such. What else a fold depends on
are more axes: each index of these has a row.
"""

from __future__ import annotations

from collections.abc import Iterator

from sacpy.jit.analysis.folds import recognised
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import copied, free, setters, uses
from sacpy.jit.passes.cell_folds import Stepper, Stepping, Way, ahead_of, are_apart, plain_folds
from sacpy.jit.passes.units import wherever
from sacpy.nodes import replace

FAR = 1 << 20  # what is added to an index at most, so that nothing wraps
FURTHEST = (1 << 31) - (1 << 22)  # a bound to which that is added, at most


class _Running(Stepping):
    """Folds of a cell, in one loop, over indices that begin or end `by` behind that of the cell along an axis, and the
    other axes that they depend on. `down`: they begin there. `loop`: what the statement has, over indices that do not
    begin anew in each cell."""

    loop: g.WithLoop
    by: int
    down: bool


def _running(p: g.Partition, regroups: bool) -> Iterator[_Running]:
    """Those of a partition's cells."""
    made = setters(p.body.statements)
    for s in plain_folds(p):
        found = _along_axis(p, s, made)
        if found is not None and (not found.down or all(_any_order(o, regroups) for o in found.folds)):
            yield found


def _any_order(o: g.Fold, regroups: bool) -> bool:
    """Whether a fold may begin with its last value."""
    r = recognised(o)
    return r is not None and not r.extremes and (r.exact or regroups)


def _along_axis(p: g.Partition, s: g.Let, made: dict[str, g.Let]) -> _Running | None:
    """A fold whose index begins or ends with one of the cell, on which nothing else of it depends."""
    assert isinstance(s.rhs, g.WithLoop)
    axes = {i.name: k for k, i in enumerate(p.index)}
    w = _counted_through(s.rhs, axes, made)
    (q,) = w.partitions
    (lower,), (upper,) = q.lower, q.upper
    for end, other, down in ((upper, lower, False), (lower, upper, True)):
        found = _shifted(_clear(end, p, axes, made), axes, made)
        if found is None or abs(found[1]) > FAR:
            continue
        rest = g.Let(s.targets, _with_bounds(w, other, other))
        names = free(g.Block((*ahead_of(rest, p.body), rest)))
        if p.index[found[0]].name in names:
            return None
        others = tuple(sorted(axes[name] for name in names if name in axes))
        return _Running(s, found[0], others, w, found[1], down)
    return None


def _counted_through(w: g.WithLoop, axes: dict[str, int], made: dict[str, g.Let]) -> g.WithLoop:
    """A fold over the same elements, whose index begins with that of the cell instead of being added to it:
    x[i + k] for k below n - i is x[k] for k from i on below n."""
    (q,) = w.partitions
    (j,), count = q.index, uses(q.body)
    for s in q.body.statements:
        match s:
            case g.Let(targets=(t,), rhs=g.Op(code="add", args=(g.Var() as a, g.Var() as b), exact=True)):
                i = a if b == j else b if a == j else None
                if i is None or i.name not in axes or count[j.name] != 1 or count[i.name] != 1:
                    continue
                lower, upper = (_sum(x, i, made) for x in (*q.lower, *q.upper))
                if lower is not None and upper is not None:
                    body = replace(q.body, statements=tuple(x for x in q.body.statements if x is not s))
                    shifted = replace(q, lower=(lower,), upper=(upper,), index=(t,), body=body)
                    return replace(w, partitions=(shifted,))
    return w


def _sum(a: g.Atom, i: g.Var, made: dict[str, g.Let]) -> g.Atom | None:
    """Something and an index, where that is a variable."""
    if a == g.integer(0):
        return i
    s = made.get(a.name) if isinstance(a, g.Var) else None
    match s.rhs if s is not None else None:
        case g.Op(code="sub", args=(b, c), exact=True) if c == i:
            return b
    return None


def _clear(a: g.Atom, p: g.Partition, axes: dict[str, int], made: dict[str, g.Let]) -> g.Atom:
    """Of two ends the one that comes from the index of the cell, where the other one is never within it."""
    s = made.get(a.name) if isinstance(a, g.Var) else None
    match s.rhs if s is not None else None:
        case g.Op(code="max" | "min" as code, args=(first, second)):
            for one, other in ((first, second), (second, first)):
                found = _shifted(one, axes, made)
                if found is not None:
                    axis, by = found
                    lower, upper = p.lower[axis], p.upper[axis]
                    if code == "min" and other == upper and by <= 1:
                        return one
                    known = isinstance(other, g.Const) and isinstance(lower, g.Const)
                    if code == "max" and known and other.value <= lower.value + by:  # type: ignore[union-attr]
                        return one
    return a


def _shifted(a: g.Atom, axes: dict[str, int], made: dict[str, g.Let]) -> tuple[int, int] | None:
    """The axis whose index something is, but for a number, and that."""
    if not isinstance(a, g.Var):
        return None
    if a.name in axes:
        return axes[a.name], 0
    s = made.get(a.name)
    match s.rhs if s is not None else None:
        case g.Op(code="add", args=(g.Var() as i, g.Const() as c), exact=True) if i.name in axes:
            return axes[i.name], int(c.value)
    return None


def _with_bounds(w: g.WithLoop, lower: g.Atom, upper: g.Atom) -> g.WithLoop:
    """A fold over other indices."""
    (q,) = w.partitions
    return replace(w, partitions=(replace(q, lower=(lower,), upper=(upper,)),))


def _has_running(r: g.Rhs) -> bool:
    return isinstance(r, g.WithLoop) and are_apart(r) and any(True for p in r.partitions for _ in _running(p, True))


class _InSteps(Way):
    def __init__(self, regroups: bool) -> None:
        self.regroups = regroups

    def found_in(self, p: g.Partition) -> Iterator[_Running]:
        return _running(p, self.regroups)

    def around(self, p: g.Partition, found: _Running) -> tuple[g.Let, ...]:
        """What a cell computes first for the fold, but for where it ends."""
        (q,) = found.loop.partitions
        (other,) = q.upper if found.down else q.lower
        return ahead_of(g.Let(found.statement.targets, _with_bounds(found.loop, other, other)), p.body)

    def row(self, walk: Stepper, length: g.Atom, p: g.Partition, found: _Running) -> tuple[g.Var, ...]:
        """Emits the loop that computes a row."""
        (q,) = found.loop.partitions
        lower, upper, (begin,), (end,) = p.lower[found.axis], p.upper[found.axis], q.lower, q.upper
        k = walk.supply.var(p.index[found.axis].name, g.INT)
        if found.down:
            last = walk.of_both("min", upper, walk.plus(self.moderate(walk, end), -found.by))
            initial = self.folded(walk, found, walk.plus(last, found.by), end)
            bounds = walk.plus(last, -1), walk.plus(lower, -1), -1
        else:
            first = walk.of_both("max", lower, walk.plus(self.moderate(walk, begin), 1 - found.by))
            initial = self.folded(walk, found, begin, walk.plus(first, found.by - 1))
            bounds = first, upper, 1
        filled = walk.all_filled(length, found)
        arrays, made, results = (tuple(walk.supply.var("run", v.type) for v in filled) for _ in range(3))
        totals, last_ones = (
            tuple(walk.supply.var(v.name, v.type) for o in found.folds for v in o.accumulators) for _ in range(2)
        )
        outer, walk.out = walk.out, []
        at = walk.plus(k, found.by if found.down else found.by - 1)
        body = copied(q.body, {q.index[0].name: at}, walk.supply)
        statements, sums = [*walk.out, *body.statements], list[g.Atom]()
        walk.out = outer
        for o in found.folds:
            here = slice(len(sums), len(sums) + len(o.neutrals))
            env = dict(zip((v.name for v in (*o.accumulators, *o.values)), (*totals[here], *body.results[here])))
            step = copied(o.combine, env, walk.supply)
            statements += step.statements
            sums += step.results
        statements += (g.Let((m,), g.Update(a, (k,), t)) for m, a, t in zip(made, arrays, sums))
        rounds = g.Block(tuple(statements), (*made, *sums))
        loop = g.For(k, *bounds, (*arrays, *totals), (*filled, *initial), rounds)
        walk.out.append(g.Let((*results, *last_ones), loop, found.statement.span))
        return results

    def folded(self, walk: Stepper, found: _Running, lower: g.Atom, upper: g.Atom) -> tuple[g.Atom, ...]:
        """What is folded before the first step."""
        if lower == upper:
            return tuple(n for o in found.folds for n in o.neutrals)
        targets = found.statement.targets
        code = copied(g.Block((g.Let(targets, _with_bounds(found.loop, lower, upper)),), targets), {}, walk.supply)
        walk.out += code.statements
        return code.results

    def moderate(self, walk: Stepper, a: g.Atom) -> g.Atom:
        """A bound that may be added to; what is further away is as good as that."""
        return walk.of_both("max", walk.of_both("min", a, g.integer(FURTHEST)), g.integer(-FURTHEST))


@wherever(_has_running)
def run_in_order(function: g.Function) -> g.Function:
    """A unit whose running folds take one step a cell, where the order of sums of reals stays."""
    return Stepper(function, _InSteps(regroups=False)).function(function)


@wherever(_has_running)
def run(function: g.Function) -> g.Function:
    """A unit whose running folds take one step a cell."""
    return Stepper(function, _InSteps(regroups=True)).function(function)

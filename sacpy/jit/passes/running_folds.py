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

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sacpy.jit.analysis.folds import recognised
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import copied, free, needed_for, setters, uses
from sacpy.jit.passes.units import wherever
from sacpy.jit.passes.walker import Walker
from sacpy.lang.constants import zero
from sacpy.nodes import Node, replace

FAR = 1 << 20  # what is added to an index at most, so that nothing wraps
FURTHEST = (1 << 31) - (1 << 22)  # a bound to which that is added, at most


class Stepping(Node):
    """Folds of a cell, in one loop: the statement, and along which axis cells have them in common; the other axes that
    they depend on."""

    statement: g.Let
    axis: int
    others: tuple[int, ...]

    @property
    def folds(self) -> list[g.Fold]:
        assert isinstance(self.statement.rhs, g.WithLoop)
        return [o for o in self.statement.rhs.operators if isinstance(o, g.Fold)]


class _Running(Stepping):
    """Folds of a cell, in one loop, over indices that begin or end `by` behind that of the cell along an axis, and the
    other axes that they depend on. `down`: they begin there. `loop`: what the statement has, over indices that do not
    begin anew in each cell."""

    loop: g.WithLoop
    by: int
    down: bool


def _running(p: g.Partition, regroups: bool) -> Iterator[_Running]:
    """Those of a partition's cells. What follows a check may depend on it."""
    if p.step is not None or p.pragmas:
        return
    made = setters(p.body.statements)
    for s in p.body.statements:
        if isinstance(s, g.Check):
            return
        if isinstance(s.rhs, g.WithLoop) and is_plain_fold(s.rhs):
            found = _along_axis(p, s, made)
            if found is not None and (not found.down or all(_any_order(o, regroups) for o in found.folds)):
                yield found


def is_plain_fold(w: g.WithLoop) -> bool:
    if w.frame is not None or w.pragmas or len(w.partitions) != 1:
        return False
    (q,) = w.partitions
    return q.step is None and q.rank == 1 and not q.pragmas and all(map(_is_of_scalars, w.operators))


def _is_of_scalars(o: g.Operator) -> bool:
    """Whether a fold is of scalars, and goes through all of them."""
    return isinstance(o, g.Fold) and o.stop is None and all(isinstance(v.type, g.ScalarType) for v in o.accumulators)


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
        rest = g.Block((g.Let(s.targets, _with_bounds(w, other, other)),))
        needed = needed_for((g.Var(name, g.INT) for name in free(rest)), p.body)
        names = free(g.Block((*needed, *rest.statements)))
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


def are_apart(w: g.WithLoop) -> bool:
    """Whether cells do not wait for each other."""
    return all(isinstance(o, g.Genarray | g.Modarray) for o in w.operators)


def _has_running(r: g.Rhs) -> bool:
    return isinstance(r, g.WithLoop) and are_apart(r) and any(True for p in r.partitions for _ in _running(p, True))


class Way:
    """What cells fold, and how a row of that is computed, which has `more` elements than there are cells."""

    more = 0

    def found_in(self, p: g.Partition) -> Iterator[Stepping]:
        """What a partition's cells fold."""
        raise NotImplementedError

    def around(self, p: g.Partition, found: Any) -> tuple[g.Let, ...]:
        """What a cell computes first for the fold."""
        raise NotImplementedError

    def row(self, walk: Stepper, length: g.Atom, p: g.Partition, found: Any) -> tuple[g.Var, ...]:
        """Emits the loop that computes a row."""
        raise NotImplementedError

    def arrays(self, walk: Stepper, frame: tuple[g.Atom, ...], p: g.Partition, found: Stepping) -> tuple[g.Var, ...]:
        """Arrays of what cells fold, with an axis for each of the others that they depend on, and then this one."""
        length = walk.plus(frame[found.axis], self.more)
        return walk.in_rows(length, tuple(frame[k] for k in found.others), p, found)


class Stepper(Walker):
    """Computes in front of with-loops, in loops in order, what their cells fold, and has them load it."""

    def __init__(self, function: g.Function, way: Way) -> None:
        super().__init__(function)
        self.way = way
        self.depth = 0  # of with-loops around

    def rhs(self, r: g.Rhs) -> g.Rhs:
        self.depth += isinstance(r, g.WithLoop)
        try:
            new = super().rhs(r)
        finally:
            self.depth -= isinstance(r, g.WithLoop)
        if not isinstance(new, g.WithLoop) or self.depth or new.frame is None or not are_apart(new):
            return new
        partitions = tuple(self.stepping(new.frame, p) for p in new.partitions)
        return _loaded(new.frame, partitions, new) or replace(new, partitions=partitions)

    def stepping(self, frame: tuple[g.Atom, ...], p: g.Partition) -> g.Partition:
        """A partition that loads what its cells folded, which is computed here."""
        loads: dict[int, tuple[g.Let, ...]] = {}
        for found in self.way.found_in(p):
            index = tuple(p.index[k] for k in (*found.others, found.axis))
            targets = found.statement.targets
            loads[id(found.statement)] = tuple(
                g.Let((t,), g.Load(array, index)) for t, array in zip(targets, self.way.arrays(self, frame, p, found))
            )
        if not loads:
            return p
        statements = tuple(t for s in p.body.statements for t in loads.get(id(s), (s,)))
        return replace(p, body=g.Block(statements, p.body.results))

    def in_rows(self, length: g.Atom, others: tuple[g.Atom, ...], p: g.Partition, found: Stepping) -> tuple[g.Var, ...]:
        """Arrays of what cells fold, with a row for each index of the other axes."""
        around = self.way.around(p, found)
        rows, code = self.emitted(lambda: self.way.row(self, length, p, found))
        missing = [(p.lower[k], p.upper[k]) for k in range(p.rank) if k not in (*found.others, found.axis)]
        if missing or around or sum(isinstance(s, g.Let) and g.is_nested(s.rhs) for s in code) > 1 + len(rows):
            # where there is no index, nobody may look at what there is for each
            bounds = [*missing, (p.lower[found.axis], p.upper[found.axis])]
            rows, code = self.emitted(lambda: self.unless_empty(bounds, length, found, g.Block((*around, *code), rows)))
        index = tuple(self.supply.var(p.index[k].name, g.INT) for k in found.others)
        row = copied(g.Block(code, rows), dict(zip((p.index[k].name for k in found.others), index)), self.supply)
        if not index:
            self.out += row.statements
            return tuple(v for v in row.results if isinstance(v, g.Var))
        arrays = tuple(self.supply.var("run", g.ArrayType(v.base, (*others, length))) for v in rows)
        inside = g.Partition(
            tuple(p.lower[k] for k in found.others),
            tuple(p.upper[k] for k in found.others),
            None,
            None,
            index,
            row,
            (),
            p.span,
        )
        operators = tuple(g.Genarray(v.base, (length,), g.Const(v.base, zero(v.base))) for v in rows)
        self.out.append(g.Let(arrays, g.WithLoop(others, (inside,), operators, disjoint=True), p.span))
        return arrays

    def emitted(self, work: Callable[[], tuple[g.Var, ...]]) -> tuple[tuple[g.Var, ...], tuple[g.Stmt, ...]]:
        """What work gives, and the statements for it."""
        outer, self.out = self.out, []
        found, code = work(), tuple(self.out)
        self.out = outer
        return found, code

    def unless_empty(
        self, bounds: Sequence[tuple[g.Atom, g.Atom]], length: g.Atom, found: Stepping, row: g.Block
    ) -> tuple[g.Var, ...]:
        """Emits a row, if there is an index within bounds at all."""
        some: g.Atom = g.TRUE
        for lower, upper in bounds:
            there = self.op("some", "lt", lower, upper)
            some = there if some == g.TRUE else self.op("some", "and", some, there)
        none, code = self.emitted(lambda: self.all_filled(length, found))
        arrays = tuple(self.supply.var("run", v.type) for v in none)
        self.out.append(g.Let(arrays, g.If(some, row, g.Block(code, none))))
        return arrays

    def all_filled(self, length: g.Atom, found: Stepping) -> tuple[g.Var, ...]:
        return tuple(self.filled(length, n) for o in found.folds for n in o.neutrals)

    def filled(self, length: g.Atom, value: g.Atom) -> g.Var:
        """An array of one value."""
        v = self.supply.var("run", g.ArrayType(value.base, (length,)))
        w = g.WithLoop((length,), (), (g.Genarray(value.base, (), value),), disjoint=True)
        self.out.append(g.Let((v,), w))
        return v

    def plus(self, a: g.Atom, by: int) -> g.Atom:
        """An index, and a number, which do not wrap."""
        if isinstance(a, g.Const):
            return g.integer(int(a.value) + by)
        return self.op("at", "add", a, g.integer(by), exact=True) if by else a

    def of_both(self, code: str, a: g.Atom, b: g.Atom) -> g.Atom:
        """The lesser of two ints, or the greater."""
        if isinstance(a, g.Const) and isinstance(b, g.Const):
            return g.integer((min if code == "min" else max)(int(a.value), int(b.value)))
        return a if a == b else self.op("end", code, a, b)


class _InSteps(Way):
    def __init__(self, regroups: bool) -> None:
        self.regroups = regroups

    def found_in(self, p: g.Partition) -> Iterator[_Running]:
        return _running(p, self.regroups)

    def around(self, p: g.Partition, found: _Running) -> tuple[g.Let, ...]:
        """What a cell computes first for the fold, but for where it ends."""
        (q,) = found.loop.partitions
        (other,) = q.upper if found.down else q.lower
        rest = g.Block((g.Let(found.statement.targets, _with_bounds(found.loop, other, other)),))
        return needed_for((g.Var(name, g.INT) for name in free(rest)), p.body)

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


def _loaded(frame: tuple[g.Atom, ...], partitions: tuple[g.Partition, ...], w: g.WithLoop) -> g.Var | None:
    """The array of which a with-loop is a copy."""
    if len(partitions) != 1 or len(w.operators) != 1 or not w.complete or not isinstance(w.operators[0], g.Genarray):
        return None
    (p,) = partitions
    (result,) = p.body.results
    for s in p.body.statements:
        if isinstance(s, g.Let) and s.targets == (result,) and isinstance(s.rhs, g.Load):
            array = s.rhs.array
            return array if s.rhs.index == p.index and g.extents_of(array) == frame else None
    return None


@wherever(_has_running)
def run_in_order(function: g.Function) -> g.Function:
    """A unit whose running folds take one step a cell, where the order of sums of reals stays."""
    return Stepper(function, _InSteps(regroups=False)).function(function)


@wherever(_has_running)
def run(function: g.Function) -> g.Function:
    """A unit whose running folds take one step a cell."""
    return Stepper(function, _InSteps(regroups=True)).function(function)

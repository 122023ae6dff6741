"""Folds by classes: where each cell folds what data say is its own, all cells are folded at once.

    r = with [b]                                        z = with [b + 1] filled with 0
      part [0] <= [k] < [b]                             t = for i from 0 to n with u := z
        s = with                                          c = load v[i]
          fold from 0 by add                              at = c if 0 <= c < b, else b
          part [0] <= [i] < [n]                           o = load u[at]
            c = load v[i]                    ->           a = add o, 1
            q = eq c, k                                   u' = update u[at] with a
            y = select q, 1, 0                            next u'
            yield y                                     r = with [b]
        yield s                                           part [0] <= [k] < [b]
                                                            s = load t[k]
                                                            yield s

So a histogram, or the sum of each group, that is written as what it is takes time in proportion to the data, and no
longer to the data times the groups. What is left out changes nothing, and each cell folds what is its own in the order
that it had. Of a few groups, vectors compare faster than elements are put where they belong; how many there are is
asked when the code runs.
"""

from __future__ import annotations

from collections.abc import Iterator

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import Rewriter, copied, free, needed_for, setters
from sacpy.jit.passes.cell_folds import Stepper, Stepping, Way, ahead_of, are_apart, plain_folds
from sacpy.jit.passes.fold_bounds import changes_nothing, guarded
from sacpy.jit.passes.units import wherever
from sacpy.lang.constants import zero
from sacpy.nodes import replace

FEW = 16  # groups for which all elements are compared


class _ByClass(Stepping):
    """`key`: the cell that an index of the fold belongs to. `values`: what give what it folds there, and what changes
    nothing; `inside`: what computes both first."""

    key: g.Atom
    values: tuple[tuple[g.Block, g.Atom], ...]
    inside: tuple[g.Let, ...]

    @property
    def code(self) -> g.Block:
        """All of it."""
        statements = (*self.inside, *(s for b, _ in self.values for s in b.statements))
        return g.Block(statements, (self.key, *(a for b, _ in self.values for a in b.results)))


def _by_class(p: g.Partition) -> Iterator[_ByClass]:
    """Those of a partition's cells."""
    for s in plain_folds(p):
        assert isinstance(s.rhs, g.WithLoop)
        found = _chosen(p, s, s.rhs)
        if found is not None:
            yield found


def _chosen(p: g.Partition, s: g.Let, w: g.WithLoop) -> _ByClass | None:
    """A fold of what is chosen by a comparison with an index of the cell, on which nothing else of it depends."""
    (q,) = w.partitions
    if any(isinstance(t, g.Check) for t in q.body.statements) or len(q.body.results) != len(w.operators):
        return None
    made, axes = setters(q.body.statements), {i.name: k for k, i in enumerate(p.index)}
    guards = [x for a in q.body.results if (x := guarded(made, a)) is not None]
    if len(guards) != len(w.operators) or not all(changes_nothing(o, x[2]) for o, x in zip(w.operators, guards)):
        return None
    conditions = {x[0] for x in guards}
    condition = conditions.pop()
    asked = made[condition.name].rhs if isinstance(condition, g.Var) and condition.name in made else None
    if conditions or not isinstance(asked, g.Op) or asked.code != "eq" or asked.args[0].base != "int":
        return None
    for key, i in (asked.args, asked.args[::-1]):
        if isinstance(i, g.Var) and i.name in axes:
            used = {name for x in guards for name in free(x[1])}
            inside = needed_for((key, *(g.Var(name, g.INT) for name in used)), q.body)
            found = _ByClass(s, axes[i.name], (), key, tuple((x[1], x[2]) for x in guards), inside)
            rest = _given(found)
            names = free(g.Block((*ahead_of(rest, p.body), rest)))
            others = tuple(sorted(axes[name] for name in names if name in axes))
            # all axes: where another one has no index, there may be nothing to load
            if i.name not in names and len(others) == p.rank - 1 and not _are_few(p, axes[i.name]):
                return replace(found, others=others)
    return None


def _given(found: _ByClass) -> g.Let:
    """A statement that mentions what a fold does, but for how its elements are chosen."""
    w = found.statement.rhs
    assert isinstance(w, g.WithLoop)
    (q,) = w.partitions
    return g.Let(found.statement.targets, replace(w, partitions=(replace(q, body=found.code),)))


def _are_few(p: g.Partition, axis: int) -> bool:
    """Whether there are known to be but a few groups."""
    lower, upper = p.lower[axis], p.upper[axis]
    return isinstance(lower, g.Const) and isinstance(upper, g.Const) and upper.value - lower.value <= FEW


class _ByClasses(Way):
    more = 1  # for what belongs to no cell

    def found_in(self, p: g.Partition) -> Iterator[_ByClass]:
        return _by_class(p)

    def around(self, p: g.Partition, found: _ByClass) -> tuple[g.Let, ...]:
        """What a cell computes first for the fold."""
        return ahead_of(_given(found), p.body)

    def arrays(self, walk: Stepper, frame: tuple[g.Atom, ...], p: g.Partition, found: Stepping) -> tuple[g.Var, ...]:
        """The same, if there are more than a few groups; else each cell by itself."""
        groups = walk.op("groups", "sub", p.upper[found.axis], p.lower[found.axis], exact=True)
        many = walk.op("many", "lt", g.integer(FEW), groups)
        length, outer = walk.plus(frame[found.axis], self.more), tuple(frame[k] for k in found.others)
        by_class, code = walk.emitted(lambda: walk.in_rows(length, outer, p, found))
        each, others = walk.emitted(lambda: self.each(walk, (*outer, length), p, found))
        made = tuple(walk.supply.var("group", v.type) for v in each)
        both = g.Block(code, by_class), g.Block(others, each)
        walk.out.append(g.Let(made, g.If(many, *both)))
        return made

    def each(self, walk: Stepper, extents: tuple[g.Atom, ...], p: g.Partition, found: Stepping) -> tuple[g.Var, ...]:
        """Emits what computes each cell by itself."""
        along = (*found.others, found.axis)
        index = tuple(walk.supply.var(p.index[k].name, g.INT) for k in along)
        targets = found.statement.targets
        code = g.Block(needed_for(targets, p.body), targets)
        body = copied(code, dict(zip((p.index[k].name for k in along), index)), walk.supply)
        lower, upper = (tuple(bounds[k] for k in along) for bounds in (p.lower, p.upper))
        inside = g.Partition(lower, upper, None, None, index, body, (), p.span)
        made = tuple(walk.supply.var("group", g.ArrayType(t.base, extents)) for t in targets)
        operators = tuple(g.Genarray(t.base, (), g.Const(t.base, zero(t.base))) for t in targets)
        walk.out.append(g.Let(made, g.WithLoop(extents, (inside,), operators, disjoint=True), p.span))
        return made

    def row(self, walk: Stepper, length: g.Atom, p: g.Partition, found: _ByClass) -> tuple[g.Var, ...]:
        """Emits the loop that computes a row."""
        assert isinstance(found.statement.rhs, g.WithLoop)
        (q,) = found.statement.rhs.partitions
        (begin,), (end,), lower, upper = q.lower, q.upper, p.lower[found.axis], p.upper[found.axis]
        filled = walk.all_filled(length, found)
        arrays, made, results = (tuple(walk.supply.var("group", v.type) for v in filled) for _ in range(3))
        i = walk.supply.var(q.index[0].name, g.INT)
        nobody = walk.plus(length, -1)

        def step() -> tuple[g.Var, ...]:
            env: dict[str, g.Atom] = {q.index[0].name: i}
            first = Rewriter(env, walk.supply).block(g.Block(found.inside, (found.key,)))
            walk.out += first.statements
            (key,) = first.results
            there = walk.op("there", "and", walk.op("there", "le", lower, key), walk.op("there", "lt", key, upper))
            at = walk.op("at", "select", there, key, nobody)
            for o, array, new, (code, nothing) in zip(found.folds, arrays, made, found.values):
                (total,), (value,) = o.accumulators, o.values
                mine = Rewriter(env, walk.supply).block(code)
                old, one = walk.supply.var(total.name, total.type), mine.results[0]
                if mine.statements:
                    one = walk.supply.var(value.name, value.type)
                    walk.out.append(g.Let((one,), g.If(there, mine, g.Block((), (nothing,)))))
                walk.out.append(g.Let((old,), g.Load(array, (at,))))
                step = copied(o.combine, {total.name: old, value.name: one}, walk.supply)
                walk.out += step.statements
                walk.out.append(g.Let((new,), g.Update(array, (at,), step.results[0])))
            return made

        _, code = walk.emitted(step)
        loop = g.For(i, begin, end, 1, arrays, filled, g.Block(code, made))
        walk.out.append(g.Let(results, loop, found.statement.span))
        return results


@wherever(
    lambda r: isinstance(r, g.WithLoop) and are_apart(r) and any(True for p in r.partitions for _ in _by_class(p))
)
def run(function: g.Function) -> g.Function:
    """A unit whose folds by classes go through the data once."""
    return Stepper(function, _ByClasses()).function(function)

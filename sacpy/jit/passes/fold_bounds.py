"""Bounds of folds: indices at which a fold combines with what changes nothing are left out.

    s = with                                         low = max 0, a; high = min n, b
      fold from 0.0 by add                           s = with
      part [0] <= [i] < [n]                            fold from 0.0 by add
        c = le a, i; d = lt i, b; e = and c, d   ->    part [low] <= [i] < [high]
        x = load v[i]                                    x = load v[i]
        y = select e, x, 0.0                             yield x
        yield y

An array that is summed up has zeros below the first index that its formula names: without this, a window that is summed
costs as much as all that lies before it.
"""

from __future__ import annotations

from collections.abc import Container

from sacpy.jit.analysis.folds import recognised
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import bound, copied, free, needed_for, rights, setters
from sacpy.jit.passes.units import wherever
from sacpy.jit.passes.walker import Walker
from sacpy.lang.constants import zero
from sacpy.lang.types import REAL
from sacpy.nodes import Node, replace

NEXT = 1 << 30  # what may be added to without wrapping, as far as numbers are known


_Bound = tuple[int, g.Atom, int]  # of an axis: what, and what is added to that


class _Tighter(Node):
    """A body without a condition on the index, and what of the condition bounds become: lower ones and upper ones."""

    body: g.Block
    lower: tuple[_Bound, ...]
    upper: tuple[_Bound, ...]


def _tighter(w: g.WithLoop, p: g.Partition, counted: Container[str]) -> _Tighter | None:
    """What there is to leave out of a partition of folds."""
    if p.step is not None or p.pragmas or any(isinstance(s, g.Check) for s in p.body.statements):
        return None
    made = setters(p.body.statements)
    results = [a for a in p.body.results if isinstance(a, g.Var)]
    guards = [x for a in results if (x := guarded(made, a)) is not None]
    if not guards or not len(guards) == len(p.body.results) == len(w.operators):
        return None
    if len({x[0] for x in guards}) != 1 or not all(changes_nothing(o, x[2]) for o, x in zip(w.operators, guards)):
        return None
    then = g.Block(tuple(s for x in guards for s in x[1].statements), tuple(a for x in guards for a in x[1].results))
    kept = tuple(s for s in p.body.statements if all(s is not made[a.name] for a in results))
    found = _bounds(made, guards[0][0], p, bound(p.body), counted)
    if (
        found is None
        or len(set(results)) != len(results)
        or not {a.name for a in results}.isdisjoint(free(g.Block(kept)))
    ):
        return None
    needed = needed_for((g.Var(name, g.INT) for name in free(then)), g.Block(kept))
    return _Tighter(g.Block((*needed, *then.statements), then.results), *found)


def guarded(made: dict[str, g.Let], a: g.Atom) -> tuple[g.Atom, g.Block, g.Atom] | None:
    """Of a value: the condition under which it is what a block gives, and what it is otherwise."""
    s = made.get(a.name) if isinstance(a, g.Var) else None
    match s.rhs if s is not None else None:
        case g.Op(code="select", args=(condition, value, other)):
            return condition, g.Block((), (value,)), other
        case g.If(condition=condition, then=then, otherwise=g.Block(statements=(), results=(other,))):
            return condition, then, other
    return None


def changes_nothing(o: g.Operator, value: g.Atom) -> bool:
    """Whether a value may be combined with what the fold has without changing it."""
    if not isinstance(o, g.Fold) or len(o.neutrals) != 1 or not isinstance(value, g.Const):
        return False
    reduction = recognised(o)
    if reduction is None:
        return False
    if value.base in REAL:  # a sum that begins at 0.0 never becomes -0.0; the least of a NaN and infinity is infinity
        return reduction.codes == ("add",) and value == o.neutrals[0] == g.Const(value.base, zero(value.base))
    return value == g.Const(value.base, reduction.neutral(0))


def _bounds(
    made: dict[str, g.Let], condition: g.Atom, p: g.Partition, inside: set[str], counted: Container[str]
) -> tuple[tuple[_Bound, ...], tuple[_Bound, ...]] | None:
    """What a condition says of an index, if it is all that it says. `counted`: as of `_counted`."""
    axes = {i.name: k for k, i in enumerate(p.index)}
    lower: list[_Bound] = []
    upper: list[_Bound] = []
    waiting = [condition]
    while waiting:
        a = waiting.pop()
        s = made.get(a.name) if isinstance(a, g.Var) else None
        op = s.rhs if s is not None else None
        if not isinstance(op, g.Op) or op.code not in ("and", "le", "lt"):
            return None
        if op.code == "and":
            waiting += op.args
            continue
        left, right = op.args
        known = [x for x in op.args if _is_outside(x, p, inside)]
        if len(known) != 1 or left.base != "int":
            return None
        (other,) = known
        index = right if other is left else left
        if not isinstance(index, g.Var) or index.name not in axes:
            return None
        by = (other is left) == (op.code == "lt")  # `lt other, i` and `le i, other` leave one more out, or in
        if by and not (other.value < NEXT if isinstance(other, g.Const) else other.name in counted):
            return None
        (lower if other is left else upper).append((axes[index.name], other, int(by)))
    return tuple(lower), tuple(upper)


def _is_outside(a: g.Atom, p: g.Partition, inside: set[str]) -> bool:
    """Whether something can be computed in front of the loop: by a few operations, if it is not there already."""
    if isinstance(a, g.Const):
        return True
    needed = needed_for((a,), p.body)
    ours = inside | {i.name for i in p.index}
    return all(isinstance(s.rhs, g.Op) for s in needed) and ours.isdisjoint(
        free(g.Block(needed)) if needed else {a.name}
    )


def _counted(function: g.Function) -> set[str]:
    """The indices that lie below something, so that there is a next number."""
    loops = list(rights(function.body, g.WithLoop))
    rounds = (r.index.name for r in rights(function.body, g.For) if r.step > 0)
    return {i.name for w in loops for p in w.partitions for i in p.index}.union(rounds)


class _Tightener(Walker):
    def __init__(self, function: g.Function) -> None:
        super().__init__(function)
        self.counted = _counted(function)

    def rhs(self, r: g.Rhs) -> g.Rhs:
        r = super().rhs(r)
        if isinstance(r, g.WithLoop) and r.frame is None:
            r = replace(r, partitions=tuple(self.tightened(r, p) for p in r.partitions))
        return r

    def tightened(self, w: g.WithLoop, p: g.Partition) -> g.Partition:
        found = _tighter(w, p, self.counted)
        if found is None:
            return p
        lower, upper = list(p.lower), list(p.upper)
        for axis, a, by in found.lower:
            lower[axis] = self.op("low", "max", lower[axis], self.plus(self.ahead(a, p), by))
        for axis, a, by in found.upper:
            upper[axis] = self.op("high", "min", upper[axis], self.plus(self.ahead(a, p), by))
        return replace(p, lower=tuple(lower), upper=tuple(upper), body=found.body)

    def ahead(self, a: g.Atom, p: g.Partition) -> g.Atom:
        """Something, computed in front of the loop."""
        code = copied(g.Block(needed_for((a,), p.body), (a,)), {}, self.supply)
        self.out += code.statements
        return code.results[0]

    def plus(self, a: g.Atom, by: int) -> g.Atom:
        """The next number, or the same."""
        if isinstance(a, g.Const):
            return g.integer(int(a.value) + by)
        return self.op("next", "add", a, g.integer(by), exact=True) if by else a


@wherever(lambda r: isinstance(r, g.WithLoop) and r.frame is None)
def run(function: g.Function) -> g.Function:
    """A unit whose folds leave out the indices that change nothing."""
    new = _Tightener(function).function(function)
    return function if new == function else new

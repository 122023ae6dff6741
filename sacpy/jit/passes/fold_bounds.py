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

from sacpy.jit.analysis.folds import recognised
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import bound, free, setters
from sacpy.jit.passes.units import wherever
from sacpy.jit.passes.walker import Walker
from sacpy.lang.constants import zero
from sacpy.lang.types import REAL
from sacpy.nodes import Node, replace

NEXT = 1 << 30  # what may be added to without wrapping, as far as numbers are known


class _Tighter(Node):
    """A body without a condition on the index, and what of the condition bounds become: for an axis, lower bounds and
    upper ones."""

    body: g.Block
    lower: tuple[tuple[int, g.Atom], ...]
    upper: tuple[tuple[int, g.Atom], ...]


def _tighter(w: g.WithLoop, p: g.Partition) -> _Tighter | None:
    """What there is to leave out of a partition of folds."""
    if (
        p.step is not None
        or p.pragmas
        or len(p.body.results) != 1
        or any(isinstance(s, g.Check) for s in p.body.statements)
    ):
        return None
    made = setters(p.body.statements)
    (result,) = p.body.results
    guarded = _guarded(made, result)
    if guarded is None or not isinstance(result, g.Var) or not _changes_nothing(w, guarded[2]):
        return None
    condition, then, _ = guarded
    kept = tuple(s for s in p.body.statements if s is not made[result.name])
    found = _bounds(made, condition, p, bound(p.body))
    if found is None or result.name in free(g.Block(kept)):
        return None
    return _Tighter(g.Block((*kept, *then.statements), then.results), *found)


def _guarded(made: dict[str, g.Let], a: g.Atom) -> tuple[g.Atom, g.Block, g.Atom] | None:
    """Of a value: the condition under which it is what a block gives, and what it is otherwise."""
    s = made.get(a.name) if isinstance(a, g.Var) else None
    match s.rhs if s is not None else None:
        case g.Op(code="select", args=(condition, value, other)):
            return condition, g.Block((), (value,)), other
        case g.If(condition=condition, then=then, otherwise=g.Block(statements=(), results=(other,))):
            return condition, then, other
    return None


def _changes_nothing(w: g.WithLoop, value: g.Atom) -> bool:
    """Whether a value may be combined with what the fold has without changing it."""
    (o,) = w.operators if len(w.operators) == 1 else (None,)
    if not isinstance(o, g.Fold) or len(o.neutrals) != 1 or not isinstance(value, g.Const):
        return False
    reduction = recognised(o)
    if reduction is None:
        return False
    if value.base in REAL:  # a sum that begins at 0.0 never becomes -0.0; the least of a NaN and infinity is infinity
        return reduction.codes == ("add",) and value == o.neutrals[0] == g.Const(value.base, zero(value.base))
    return value == g.Const(value.base, reduction.neutral(0))


def _bounds(
    made: dict[str, g.Let], condition: g.Atom, p: g.Partition, inside: set[str]
) -> tuple[tuple[tuple[int, g.Atom], ...], tuple[tuple[int, g.Atom], ...]] | None:
    """What a condition says of an index, if it is all that it says."""
    axes = {i.name: k for k, i in enumerate(p.index)}
    lower: list[tuple[int, g.Atom]] = []
    upper: list[tuple[int, g.Atom]] = []
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
        known = [x for x in op.args if isinstance(x, g.Const) or (x.name not in inside and x.name not in axes)]
        if len(known) != 1 or left.base != "int":
            return None
        if isinstance(right, g.Var) and right.name in axes and op.code == "le":
            lower.append((axes[right.name], left))
        elif isinstance(left, g.Var) and left.name in axes and op.code == "lt":
            upper.append((axes[left.name], right))
        elif isinstance(right, g.Var) and right.name in axes and isinstance(left, g.Const) and left.value < NEXT:
            lower.append((axes[right.name], g.integer(int(left.value) + 1)))
        elif isinstance(left, g.Var) and left.name in axes and isinstance(right, g.Const) and right.value < NEXT:
            upper.append((axes[left.name], g.integer(int(right.value) + 1)))
        else:
            return None
    return tuple(lower), tuple(upper)


class _Tightener(Walker):
    def rhs(self, r: g.Rhs) -> g.Rhs:
        r = super().rhs(r)
        if isinstance(r, g.WithLoop) and r.frame is None:
            r = replace(r, partitions=tuple(self.tightened(r, p) for p in r.partitions))
        return r

    def tightened(self, w: g.WithLoop, p: g.Partition) -> g.Partition:
        found = _tighter(w, p)
        if found is None:
            return p
        lower, upper = list(p.lower), list(p.upper)
        for axis, a in found.lower:
            lower[axis] = self.op("low", "max", lower[axis], a)
        for axis, a in found.upper:
            upper[axis] = self.op("high", "min", upper[axis], a)
        return replace(p, lower=tuple(lower), upper=tuple(upper), body=found.body)


def _is_fold(r: g.Rhs) -> bool:
    return isinstance(r, g.WithLoop) and r.frame is None and any(_tighter(r, p) for p in r.partitions)


@wherever(_is_fold)
def run(function: g.Function) -> g.Function:
    """A unit whose folds leave out the indices that change nothing."""
    return _Tightener(function).function(function)

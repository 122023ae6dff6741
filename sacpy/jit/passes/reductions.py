"""Counting loops that only accumulate become folds, which the target may then vectorise, and spread over threads.

    q = for k from 0 to n step 1 with p := x        q = with
      a = load z[k]                                   fold from x by (p), (v)
      b = add p, a                          ->          b = add p, v
      next b                                            give b
                                                      part [0] <= [k] < [n]
                                                        a = load z[k]
                                                        yield a

Every carried variable is a scalar that each round combines with a value that depends on no carried variable. A difference is the sum with the negative.
"""

from __future__ import annotations

from collections.abc import Iterable

from sacpy.jit.graph import Atom, Block, Fold, For, Function, Let, Op, Partition, ScalarType, Unit, Var, WithLoop, statements
from sacpy.jit.passes.units import per_function
from sacpy.jit.passes.walker import Walker
from sacpy.jit.rewrite import uses
from sacpy.lang.types import REAL
from sacpy.nodes import Node

_CODES = frozenset(["add", "mul", "min", "max", "bitand", "bitor", "bitxor", "and", "or"])


class _Step(Node):
    """What a round does with a carried variable: the statement that combines it with `value`."""

    let: Let
    value: Atom


class _Reducer(Walker):
    def let(self, s: Let) -> None:
        if isinstance(s.rhs, For) and s.rhs.step == 1:
            steps = _steps(s.rhs)
            if steps is not None:
                super().let(Let(s.targets, self.fold(s.rhs, steps), s.span))
                return
        super().let(s)

    def fold(self, r: For, steps: list[_Step]) -> WithLoop:
        """The fold that a loop is."""
        values = tuple(self.supply.var("val", p.type) for p in r.params)
        combine: list[Let] = []
        negated: list[Let] = []
        results: list[Atom] = []
        for p, v, step in zip(r.params, values, steps):
            op = step.let.rhs
            assert isinstance(op, Op)
            value = step.value
            if op.code == "sub":
                minus = self.supply.var("minus", p.type)
                negated.append(Let((minus,), Op("neg", (value,)), step.let.span))
                value = minus
            args = (v, p) if op.code in ("min", "max") and op.args[1] == p else (p, v)  # NaN and signed zeros make this matter
            combine.append(Let(step.let.targets, Op("add" if op.code == "sub" else op.code, args), step.let.span))
            results.append(value)
        mine = {step.let.targets for step in steps}
        rest = tuple(s for s in r.body.statements if not (isinstance(s, Let) and s.targets in mine))
        body = Block((*rest, *negated), tuple(results))
        part = Partition((r.lower,), (r.upper,), None, None, (r.index,), body)
        return WithLoop(None, (part,), (Fold(r.initial, r.params, values, Block(tuple(combine), tuple(s.let.targets[0] for s in steps))),), disjoint=True)


def _steps(r: For) -> list[_Step] | None:
    """What the rounds of a loop do with its carried variables, if they only accumulate."""
    if not r.params or not all(isinstance(p.type, ScalarType) for p in r.params):
        return None
    count = uses(r.body)
    if any(count[p.name] != 1 for p in r.params):
        return None
    made = {s.targets[0]: s for s in r.body.statements if isinstance(s, Let) and isinstance(s.rhs, Op)}
    found = []
    for p, result in zip(r.params, r.body.results):
        s = made.get(result) if isinstance(result, Var) else None
        if s is None or count[s.targets[0].name] != 1:
            return None
        value = _value(s, p)
        if value is None:
            return None
        found.append(_Step(s, value))
    return found if _are_first(found, r.params) else None


def _value(s: Let, p: Var) -> Atom | None:
    """What a statement combines a carried variable with."""
    op = s.rhs
    assert isinstance(op, Op)
    if op.code == "sub" and p.base in REAL:
        return op.args[1] if op.args[0] == p else None
    if op.code in _CODES:
        a, b = op.args
        return b if a == p else a if b == p else None
    return None


def _are_first(steps: Iterable[_Step], params: tuple[Var, ...]) -> bool:
    """Whether no value is itself a carried variable; what is computed from one cannot be, since each is used but once."""
    return not any(step.value in params for step in steps)


def reductions(function: Function) -> Function:
    """A function with its accumulating loops as folds; itself if it has none."""
    if not any(isinstance(s, Let) and isinstance(s.rhs, For) and s.rhs.step == 1 and _steps(s.rhs) is not None for s in statements(function.body)):
        return function
    return _Reducer(function).function(function)


def run(unit: Unit) -> Unit:
    """A unit with its accumulating loops as folds."""
    return per_function(unit, reductions)

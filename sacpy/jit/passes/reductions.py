"""Counting loops that only accumulate become folds, which the target may then vectorise, and spread over threads.

    q = for k from 0 to n step 1 with p := x        q = with
      a = load z[k]                                   fold from x by (p), (v)
      b = add p, a                          ->          b = add p, v
      next b                                            give b
                                                      part [0] <= [k] < [n]
                                                        a = load z[k]
                                                        yield a

Every carried variable is a scalar that each round combines with a value that depends on no carried variable. A
difference is the sum with the negative, a choice of the lesser one a minimum.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sacpy.jit.ir.graph import (
    Atom,
    Block,
    Fold,
    For,
    Function,
    Let,
    Op,
    Partition,
    ScalarType,
    Stmt,
    Unit,
    Var,
    WithLoop,
    statements,
)
from sacpy.jit.ir.names import Names
from sacpy.jit.ir.rewrite import uses
from sacpy.jit.passes.units import per_function
from sacpy.jit.passes.walker import Walker
from sacpy.lang.types import REAL
from sacpy.nodes import Node

_CODES = frozenset(["add", "mul", "min", "max", "bitand", "bitor", "bitxor", "and", "or"])


class Step(Node):
    """What a round does with a carried variable: `op` combines it with `value`. `lets`: the statements of the round
    that do that, the last of which sets the next value."""

    param: Var
    op: Op
    value: Atom
    lets: tuple[Let, ...]

    @property
    def is_inexact_extreme(self) -> bool:
        """Whether it is an extreme of reals, which a target may compute twice."""
        return self.op.code in ("min", "max") and self.param.base in REAL


def without(body: Block, steps: Sequence[Step]) -> tuple[Stmt, ...]:
    """The statements of a round without those of its steps."""
    mine = {let.targets for step in steps for let in step.lets}
    return tuple(s for s in body.statements if not (isinstance(s, Let) and s.targets in mine))


class _Reducer(Walker):
    def let(self, s: Let) -> None:
        if isinstance(s.rhs, For) and s.rhs.step == 1:
            steps = steps_of(s.rhs.body, s.rhs.params, s.rhs.body.results)
            if steps is not None:
                super().let(Let(s.targets, self.fold(s.rhs, steps), s.span))
                return
        super().let(s)

    def fold(self, r: For, steps: list[Step]) -> WithLoop:
        """The fold that a loop is."""
        fold, terms = fold_of(steps, r.initial, self.supply)
        body = Block((*without(r.body, steps), *terms.statements), terms.results)
        part = Partition((r.lower,), (r.upper,), None, None, (r.index,), body)
        return WithLoop(None, (part,), (fold,), disjoint=True)


def fold_of(steps: Sequence[Step], initial: tuple[Atom, ...], supply: Names) -> tuple[Fold, Block]:
    """The fold that makes such steps, and what its values are in each round."""
    values = tuple(supply.var("val", step.param.type) for step in steps)
    combine: list[Let] = []
    negated: list[Let] = []
    results: list[Atom] = []
    for v, step in zip(values, steps):
        p, op, value, let = step.param, step.op, step.value, step.lets[-1]
        if op.code == "sub":
            minus = supply.var("minus", p.type)
            negated.append(Let((minus,), Op("neg", (value,)), let.span))
            value = minus
        # NaN and signed zeros make this matter
        args = (v, p) if op.code in ("min", "max") and op.args[1] == p else (p, v)
        combine.append(Let(let.targets, Op("add" if op.code == "sub" else op.code, args), let.span))
        results.append(value)
    fold = Fold(
        initial,
        tuple(step.param for step in steps),
        values,
        Block(tuple(combine), tuple(step.lets[-1].targets[0] for step in steps)),
    )
    return fold, Block(tuple(negated), tuple(results))


def steps_of(body: Block, params: Sequence[Var], results: Sequence[Atom]) -> list[Step] | None:
    """What the rounds of a loop do with some of its carried variables, if these are scalars and they only
    accumulate."""
    if not params or not all(isinstance(p.type, ScalarType) for p in params):
        return None
    count = uses(body)
    made = {s.targets[0]: s for s in body.statements if isinstance(s, Let) and isinstance(s.rhs, Op)}
    found = []
    for p, result in zip(params, results):
        s = made.get(result) if isinstance(result, Var) else None
        if s is None or count[s.targets[0].name] != 1:
            return None
        step = _step(s, p) if count[p.name] == 1 else _extreme(s, p, made, count) if count[p.name] == 2 else None
        if step is None:
            return None
        found.append(step)
    return found if _are_first(found, params) else None


def _step(s: Let, p: Var) -> Step | None:
    """What a statement that uses a carried variable does with it."""
    op = s.rhs
    assert isinstance(op, Op)
    if op.code == "sub" and p.base in REAL:
        return Step(p, op, op.args[1], (s,)) if op.args[0] == p else None
    if op.code in _CODES and p in op.args:
        return Step(p, op, op.args[1] if op.args[0] == p else op.args[0], (s,))
    return None


def _extreme(s: Let, p: Var, made: Mapping[Var, Let], count: Mapping[str, int]) -> Step | None:
    """The least or the greatest, as C has it: `x < p ? x : p` is what min(x, p) is, for zeros of both signs and NaN
    too."""
    op = s.rhs
    assert isinstance(op, Op)
    condition = op.args[0] if op.code == "select" else None
    test = made.get(condition) if isinstance(condition, Var) and count[condition.name] == 1 else None
    if (
        test is None
        or not isinstance(test.rhs, Op)
        or test.rhs.code != "lt"
        or p not in op.args
        or set(test.rhs.args) != set(op.args[1:])
    ):
        return None
    value = op.args[2] if op.args[1] == p else op.args[1]
    code = "min" if test.rhs.args == op.args[1:] else "max"
    return Step(p, Op(code, op.args[1:]), value, (test, s)) if value != p else None


def _are_first(steps: Iterable[Step], params: Sequence[Var]) -> bool:
    """Whether no value is itself a carried variable; what is computed from one cannot be, since each is used but
    once."""
    return not any(step.value in params for step in steps)


def reductions(function: Function) -> Function:
    """A function with its accumulating loops as folds; itself if it has none."""
    if not any(
        isinstance(s, Let)
        and isinstance(s.rhs, For)
        and s.rhs.step == 1
        and steps_of(s.rhs.body, s.rhs.params, s.rhs.body.results) is not None
        for s in statements(function.body)
    ):
        return function
    return _Reducer(function).function(function)


def run(unit: Unit) -> Unit:
    """A unit with its accumulating loops as folds."""
    return per_function(unit, reductions)

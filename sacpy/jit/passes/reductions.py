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

from collections.abc import Sequence

from sacpy.jit.analysis.combine import Step, function_of, steps_of, without
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.names import Names
from sacpy.jit.passes.units import wherever
from sacpy.jit.passes.walker import Walker


class _Reducer(Walker):
    def let(self, s: g.Let) -> None:
        if isinstance(s.rhs, g.For) and s.rhs.step == 1:
            steps = steps_of(s.rhs.body, s.rhs.params, s.rhs.body.results)
            if steps is not None:
                super().let(g.Let(s.targets, self.fold(s.rhs, steps), s.span))
                return
        super().let(s)

    def fold(self, r: g.For, steps: list[Step]) -> g.WithLoop:
        """The fold that a loop is."""
        fold, terms = fold_of(steps, r.initial, self.supply)
        body = g.Block((*without(r.body, steps), *terms.statements), terms.results)
        part = g.Partition((r.lower,), (r.upper,), None, None, (r.index,), body)
        return g.WithLoop(None, (part,), (fold,), disjoint=True)


def fold_of(steps: Sequence[Step], initial: tuple[g.Atom, ...], supply: Names) -> tuple[g.Fold, g.Block]:
    """The fold that makes such steps, and what its values are in each round."""
    values = tuple(supply.var("val", step.old.type) for step in steps)
    combine: list[g.Let] = []
    negated: list[g.Let] = []
    results: list[g.Atom] = []
    for v, step in zip(values, steps):
        value = step.value
        if step.negative:
            minus = supply.var("minus", v.type)
            negated.append(g.Let((minus,), g.Op("neg", (value,)), step.lets[-1].span))
            value = minus
        combine += function_of(step, step.old, v)
        results.append(value)
    fold = g.Fold(
        initial, tuple(step.old for step in steps), values, g.Block(tuple(combine), tuple(step.new for step in steps))
    )
    return fold, g.Block(tuple(negated), tuple(results))


@wherever(lambda r: isinstance(r, g.For) and r.step == 1 and steps_of(r.body, r.params, r.body.results) is not None)
def run(function: g.Function) -> g.Function:
    """A unit with its accumulating loops as folds."""
    return _Reducer(function).function(function)

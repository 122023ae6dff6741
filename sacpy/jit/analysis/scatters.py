"""Loops that combine elements of arrays with values, wherever the data say, and do nothing else: reductions by index.

In: a counting loop. Out: for each array that it carries what a round does to it, or nothing.

    for i from l to u with p := g
      j, v = ...
      a = load p[j]; b = add a, v
      q = update p[j] with b
      next q
"""

from __future__ import annotations

from collections.abc import Mapping

from sacpy.jit.analysis.combine import Lets, Step, lets_of, step_of
from sacpy.jit.analysis.folds import Reduction
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import uses
from sacpy.nodes import Node

_EXACT = frozenset(["add", "bitand", "bitor", "bitxor", "min", "max", "or", "and"])


class Scatter(Node):
    """What a round does to an array: `step` combines an element, at `index`, with a value. `updated`: the array
    after."""

    step: Step
    param: g.Var
    given: g.Var
    updated: g.Var
    index: tuple[g.Atom, ...]

    @property
    def extents(self) -> tuple[g.Atom, ...]:
        assert isinstance(self.param.type, g.ArrayType)
        return self.param.type.extents

    @property
    def neutral(self) -> g.Const:
        """What combines with anything to that."""
        return g.Const(self.step.base, Reduction((self.step.code,), (self.step.base,)).neutral(0))


def is_plain(s: g.Stmt) -> bool:
    """Whether a statement computes scalars from scalars and elements, perhaps by a condition."""
    if not isinstance(s, g.Let):
        return False
    if isinstance(s.rhs, g.If):
        return all(map(is_plain, (*s.rhs.then.statements, *s.rhs.otherwise.statements)))
    return isinstance(s.rhs, g.Op | g.Load | g.Const) or (
        isinstance(s.rhs, g.Var) and isinstance(s.rhs.type, g.ScalarType)
    )


def scatters(r: g.For, reals: bool) -> list[Scatter]:
    """What a loop adds to its arrays, if that is all it does."""
    if r.step != 1 or not r.params:
        return []
    lets, count = lets_of(r.body.statements), uses(r.body)
    results = set(r.body.results)
    if not all(isinstance(s, g.Check) or is_plain(s) or not results.isdisjoint(s.targets) for s in r.body.statements):
        return []
    found = [_scatter(r, k, lets, count, reals) for k in range(len(r.params))]
    if reals and not any(h is not None and not h.step.exact for h in found):
        return []  # cut already
    return [h for h in found if h is not None] if all(found) else []


def _scatter(r: g.For, k: int, lets: Lets, count: Mapping[str, int], reals: bool) -> Scatter | None:
    """What a loop adds to one of its arrays."""
    p, result, given = r.params[k], r.body.results[k], r.initial[k]
    if not isinstance(p.type, g.ArrayType) or not isinstance(given, g.Var) or not isinstance(result, g.Var):
        return None
    update = lets[result.name].rhs if result.name in lets else None
    if (
        not isinstance(update, g.Update)
        or update.array != p
        or len(update.index) != p.type.rank
        or r.index in update.index
        or count[p.name] != 2
    ):
        return None
    load = g.Load(p, update.index)
    step = step_of(update.value, lets, lambda a: isinstance(a, g.Var) and a.name in lets and lets[a.name].rhs == load)
    if step is None or not step.alone(count) or not (step.exact or (reals and step.code == "add")):
        return None
    if step.code not in _EXACT or (p.base == "bool" and step.code not in ("and", "or")):
        return None
    return Scatter(step, p, given, result, update.index)

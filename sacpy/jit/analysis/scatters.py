"""Loops that combine elements of arrays with values, wherever the data say, and do nothing else: reductions by index.

In: a counting loop, perhaps with others in it, or a body that is run for many indices. Out: for each array that is
carried what a round does to it, or nothing.

    for i from l to u with p := g
      j, v = ...
      a = load p[j]; b = add a, v
      q = update p[j] with b
      next q
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from sacpy.jit.analysis.combine import Lets, Step, lets_of, step_of
from sacpy.jit.analysis.folds import Reduction
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import bound, uses
from sacpy.nodes import Node, replace

_EXACT = frozenset(["add", "mul", "bitand", "bitor", "bitxor", "min", "max", "or", "and"])


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
    """What a loop adds to its arrays, itself or by the loops in it, if that is all it does. Rounds of the loop meet in
    elements that the data tell: none of its own index. `reals`: sums and products of reals too, and only if there is
    one."""
    found = _of_loops(r, (r.index,), (r.index,), reals)
    if reals and all(h.step.exact for h in found):
        return []  # cut already
    return found


class Nest(Node):
    """Counting loops in one another, in steps of 1, as one body over several indices. `checks`: whether there is one
    that is not for the innermost loop alone."""

    index: tuple[g.Var, ...]
    lower: tuple[g.Atom, ...]
    upper: tuple[g.Atom, ...]
    params: tuple[g.Var, ...]
    initial: tuple[g.Atom, ...]
    body: g.Block
    checks: bool = False


def nest_of(r: g.For) -> Nest:
    """A loop with those in it whose bounds do not depend on the round."""
    only = Nest((r.index,), (r.lower,), (r.upper,), r.params, r.initial, r.body)
    s = _inner(r)
    if s is None or not isinstance(s.rhs, g.For):
        return only
    inner = nest_of(s.rhs)
    inside = {r.index.name, *bound(r.body)}
    if any(isinstance(a, g.Var) and a.name in inside for a in (*inner.lower, *inner.upper)):
        return only
    before = tuple(t for t in r.body.statements if t is not s)
    return Nest(
        (r.index, *inner.index),
        (r.lower, *inner.lower),
        (r.upper, *inner.upper),
        inner.params,
        r.initial,
        g.Block((*before, *inner.body.statements), inner.body.results),
        inner.checks or any(isinstance(t, g.Check) for t in before),
    )


def scatters_of(
    params: Sequence[g.Var],
    initial: Sequence[g.Atom],
    body: g.Block,
    reals: bool,
    counters: Container[g.Atom] = (),
    apart: Container[g.Atom] = (),
) -> list[Scatter]:
    """What a body that is run for many indices adds to the arrays that it carries, if that is all it does. `counters`:
    of which no index into an array consists, constants aside; `apart`: which are in none."""
    if not params:
        return []
    lets, count = lets_of(body.statements), uses(body)
    results = set(body.results)
    if not all(isinstance(s, g.Check) or is_plain(s) or not results.isdisjoint(s.targets) for s in body.statements):
        return []
    found = []
    for p, given, result in zip(params, initial, body.results):
        h = _scatter(p, given, result, lets, count, reals)
        if h is None or any(a in apart for a in h.index):
            return []
        if any(a in counters for a in h.index) and all(isinstance(a, g.Const) or a in counters for a in h.index):
            return []
        found.append(h)
    return found


def _of_loops(r: g.For, counters: tuple[g.Var, ...], apart: tuple[g.Var, ...], reals: bool) -> list[Scatter]:
    """What a loop adds to its arrays. `counters`: those of the loops around it, and its own."""
    if r.step != 1:
        return []
    s = _inner(r)
    if s is None or not isinstance(s.rhs, g.For):
        return scatters_of(r.params, r.initial, r.body, reals, counters, apart)
    found = _of_loops(s.rhs, (*counters, s.rhs.index), apart, reals)
    return [
        replace(h, param=p, given=given) for h, p, given in zip(found, r.params, r.initial) if isinstance(given, g.Var)
    ]


def _inner(r: g.For) -> g.Let | None:
    """The loop in another one that does all that this one does to its arrays."""
    s = next((t for t in r.body.statements if isinstance(t, g.Let) and t.targets == r.body.results), None)
    if s is None or r.step != 1 or not isinstance(s.rhs, g.For) or s.rhs.initial != r.params or not r.params:
        return None
    count = uses(r.body)
    if not all(g.extents_of(p) and count[p.name] == 1 for p in r.params):
        return None
    return s if all(t is s or isinstance(t, g.Check) or is_plain(t) for t in r.body.statements) else None


def _scatter(
    p: g.Var, given: g.Atom, result: g.Atom, lets: Lets, count: Mapping[str, int], reals: bool
) -> Scatter | None:
    """What a body adds to one of its arrays."""
    if not isinstance(p.type, g.ArrayType) or not isinstance(given, g.Var) or not isinstance(result, g.Var):
        return None
    update = lets[result.name].rhs if result.name in lets else None
    if not isinstance(update, g.Update) or update.array != p or len(update.index) != p.type.rank or count[p.name] != 2:
        return None
    load = g.Load(p, update.index)
    step = step_of(update.value, lets, lambda a: isinstance(a, g.Var) and a.name in lets and lets[a.name].rhs == load)
    if step is None or not step.alone(count) or not (step.exact or (reals and step.code in ("add", "mul"))):
        return None
    if step.code not in _EXACT or (p.base == "bool" and step.code not in ("and", "or")):
        return None
    return Scatter(step, p, given, result, update.index)

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
from functools import partial

from sacpy.jit.analysis.combine import Lets, Step, lets_of, step_of
from sacpy.jit.analysis.folds import Reduction
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import bound, uses
from sacpy.lang.types import REAL
from sacpy.nodes import Node, replace

_EXACT = frozenset(["add", "mul", "bitand", "bitor", "bitxor", "min", "max", "or", "and"])


class Scatter(Node):
    """What a round does to an element of an array: `step` combines the one at `index` with a value. `number`: which
    array of those that are carried; `updated`: the array after. All that is done to one array is of one operation."""

    step: Step
    number: int
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
        base = self.step.base
        one = Reduction((self.step.code,), (base,)).neutral(0)
        return g.Const(base, float(one) if base in REAL else one)


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


class Collapsed(Node):
    """Counting loops in one another, in steps of 1, as one body over several indices. `checks`: whether there is one
    that is not for the innermost loop alone."""

    index: tuple[g.Var, ...]
    lower: tuple[g.Atom, ...]
    upper: tuple[g.Atom, ...]
    params: tuple[g.Var, ...]
    initial: tuple[g.Atom, ...]
    body: g.Block
    checks: bool = False


def collapsed(r: g.For) -> Collapsed:
    """A loop with those in it whose bounds do not depend on the round."""
    only = Collapsed((r.index,), (r.lower,), (r.upper,), r.params, r.initial, r.body)
    s = _inner(r)
    if s is None or not isinstance(s.rhs, g.For):
        return only
    inner = collapsed(s.rhs)
    inside = {r.index.name, *bound(r.body)}
    if any(isinstance(a, g.Var) and a.name in inside for a in (*inner.lower, *inner.upper)):
        return only
    before = tuple(t for t in r.body.statements if t is not s)
    return Collapsed(
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
    updates = {s.targets[0].name for s in body.statements if isinstance(s, g.Let) and isinstance(s.rhs, g.Update)}
    if any(
        isinstance(s, g.Let) and not is_plain(s) and not any(t.name in updates for t in s.targets)
        for s in body.statements
    ):
        return []
    found: list[Scatter] = []
    for number, (p, given, result) in enumerate(zip(params, initial, body.results)):
        more = _scatters(number, p, given, result, lets, count, reals)
        if not more or any(a in apart for h in more for a in h.index):
            return []
        if not any(_is_data(h, counters) for h in more):
            return []
        found += more
    return found if updates == {h.updated.name for h in found} else []


def _is_data(h: Scatter, counters: Container[g.Atom]) -> bool:
    """Whether data tell where an element is, or it is always the same one."""
    variables = [a for a in h.index if isinstance(a, g.Var)]
    return not variables or any(a not in counters for a in variables)


def first_of(found: Sequence[Scatter]) -> list[Scatter]:
    """One for each array."""
    return [h for n, h in enumerate(found) if not n or h.number != found[n - 1].number]


def _of_loops(r: g.For, counters: tuple[g.Var, ...], apart: tuple[g.Var, ...], reals: bool) -> list[Scatter]:
    """What a loop adds to its arrays. `counters`: those of the loops around it, and its own."""
    if r.step != 1:
        return []
    s = _inner(r)
    if s is None or not isinstance(s.rhs, g.For):
        return scatters_of(r.params, r.initial, r.body, reals, counters, apart)
    found = _of_loops(s.rhs, (*counters, s.rhs.index), apart, reals)
    return [
        replace(h, param=r.params[h.number], given=given)
        for h in found
        if isinstance(given := r.initial[h.number], g.Var)
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


def _scatters(
    number: int, p: g.Var, given: g.Atom, result: g.Atom, lets: Lets, count: Mapping[str, int], reals: bool
) -> list[Scatter]:
    """What a body adds to elements of one of its arrays, one after the other."""
    if not isinstance(p.type, g.ArrayType) or not isinstance(given, g.Var) or not isinstance(result, g.Var):
        return []
    updates: list[g.Update] = []
    versions: list[g.Var] = [result]
    while versions[-1] != p:
        s = lets.get(versions[-1].name)
        if s is None or not isinstance(s.rhs, g.Update) or len(s.rhs.index) != p.type.rank:
            return []
        updates.append(s.rhs)
        versions.append(s.rhs.array)
    updates.reverse()
    versions.reverse()
    found: list[Scatter] = []
    read = {v.name: 1 for v in versions}  # by the update behind, or as the result
    for n, update in enumerate(updates):
        loads = {g.Load(v, update.index) for v in _seen(versions[: n + 1], updates[:n], update.index)}
        read_before = {a for a, s in lets.items() if s.rhs in loads}
        step = step_of(update.value, lets, partial(_is_named, read_before))
        if step is None or not step.alone(count) or not (step.exact or (reals and step.code in ("add", "mul"))):
            return []
        if step.code not in _EXACT or (p.base == "bool" and step.code not in ("and", "or")):
            return []
        if found and step.code != found[0].step.code:
            return []
        load = lets[step.old.name].rhs
        assert isinstance(load, g.Load)
        read[load.array.name] += 1
        found.append(Scatter(step, number, p, given, versions[n + 1], update.index))
    return found if all(count[name] == times for name, times in read.items()) else []


def _is_named(names: Container[str], a: g.Atom) -> bool:
    return isinstance(a, g.Var) and a.name in names


def _seen(versions: Sequence[g.Var], updates: Sequence[g.Update], index: tuple[g.Atom, ...]) -> list[g.Var]:
    """The versions of an array that have the element at an index as the last one has it: constants tell that updates
    since are of others."""
    seen = [versions[-1]]
    for version, update in zip(reversed(versions[:-1]), reversed(updates)):
        pairs = zip(index, update.index)
        if not any(isinstance(a, g.Const) and isinstance(b, g.Const) and a.value != b.value for a, b in pairs):
            break
        seen.append(version)
    return seen

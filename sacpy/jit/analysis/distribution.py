"""Loops that distribute values: each round puts its values where a counter says, which then counts on.

In: the body of a counting loop, and what it carries. Out: a `Distribution`, or None.

    for i from l to u with next := s, b := g            for i from l to u with b := g, k := 0
      d, v = ...                                          c, v = ...
      p = load next[d]                                    b, k = if c
      b = update b[p] with v                                       b = update b[k] with v
      next = update next[d] with p + 1                             give b, k + 1
      next next, b                                               else give b, k
                                                          next b, k

On the left is the pass of a radix sort (distribution counting: Knuth, The Art of Computer Programming, volume 3,
section 5.2), with a counter for each digit; on the right a compaction. A round whose counter grows by a condition, as a
number, writes in any case; the next one then writes to the same place, so that but the last round's counts. Places are
known without going round by round: a counter's, where it began, and how many rounds before took it. Where the places of
no two counters are the same, rounds may be done in any order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sacpy.jit.analysis.scatters import is_plain
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import free
from sacpy.nodes import Node

_ONE = g.integer(1)


class Distribution(Node):
    """`counter`, `arrays`: numbers of what is carried; `values`: what is put into each array. `condition`: whether a
    round puts its values anywhere, or, where `unless` is set, whether it does not; None: each does. `digit`: which
    counter it takes, None: there is but one. `first`: statements that lead to the condition, `then`: those that lead to
    the digit, where the condition holds; neither needs a counter. `rest`: those that need `place`. `rests`: a last
    round whose condition does not hold writes, too."""

    counter: int
    arrays: tuple[int, ...]
    values: tuple[g.Atom, ...]
    condition: g.Atom | None
    unless: bool
    digit: g.Atom | None
    first: tuple[g.Stmt, ...]
    then: tuple[g.Stmt, ...]
    rest: tuple[g.Stmt, ...]
    place: g.Var
    rests: bool


def distribution_of(params: Sequence[g.Var], body: g.Block) -> Distribution | None:
    """What a body that is run for one index after the other distributes, if that is all it does."""
    if len(params) < 2 or any(len(g.extents_of(p)) > 1 for p in params):
        return None
    shape = _branch(params, body) or _Shape(body.statements, None, False, (), dict(zip(params, body.results)))
    lets = {t.name: s.rhs for s in (*shape.first, *shape.then) if isinstance(s, g.Let) for t in s.targets}
    updates = {p: lets.get(a.name) for p, a in shape.after.items() if isinstance(a, g.Var)}
    scalars = [p for p in params if not g.extents_of(p)]
    counters = scalars or [p for p in params if _taken(p, updates.get(p), lets) is not None]
    if len(counters) != 1 or counters[0].base != "int":
        return None
    counter = counters[0]
    place, digit, condition, rests = counter, None, shape.condition, False
    if scalars:
        step = _step(counter, shape.after[counter], lets)
        if step is None or (step is not _ONE and condition is not None):
            return None
        if step is not _ONE:
            condition, rests = step, True
    else:
        taken = _taken(counter, updates.get(counter), lets)
        assert taken is not None
        place, digit = taken
    others = [p for p in params if p is not counter]
    found = [updates.get(p) for p in others]
    return _settled(params, shape, counter, others, found, place, digit, condition, rests)


class _Shape(Node):
    """A body in two parts: `first`, and `then` where a condition holds, or does not (`unless`), with what each
    parameter is after those."""

    first: tuple[g.Stmt, ...]
    condition: g.Atom | None
    unless: bool
    then: tuple[g.Stmt, ...]
    after: dict[g.Var, g.Atom]


def _branch(params: Sequence[g.Var], body: g.Block) -> _Shape | None:
    """A body that ends in a branch, one side of which hands on all that is carried as it was."""
    if not body.statements or not isinstance(s := body.statements[-1], g.Let) or not isinstance(s.rhs, g.If):
        return None
    sides = [s.rhs.then, s.rhs.otherwise]
    unless = not sides[0].statements
    does, idle = sides[::-1] if unless else sides
    if set(body.results) != set(s.targets) or idle.statements:
        return None
    given, kept = dict(zip(s.targets, does.results)), dict(zip(s.targets, idle.results))
    pairs = [(p, a) for p, a in zip(params, body.results) if isinstance(a, g.Var)]
    if any(kept[a] != p for p, a in pairs):
        return None
    after = {p: given[a] for p, a in pairs}
    return _Shape(body.statements[:-1], s.rhs.condition, unless, does.statements, after)


def _taken(p: g.Var, r: g.Rhs | None, lets: Mapping[str, g.Rhs]) -> tuple[g.Var, g.Atom] | None:
    """The place that an update of counters takes, and the number of the counter; None: it is no such update."""
    if not isinstance(r, g.Update) or r.array != p or p.base != "int" or not isinstance(r.value, g.Var):
        return None
    match lets.get(r.value.name):
        case g.Op(code="add", args=(g.Var() as place, one)) if one == _ONE:
            if lets.get(place.name) == g.Load(p, r.index):
                return place, r.index[0]
    return None


def _step(counter: g.Var, after: g.Atom, lets: Mapping[str, g.Rhs]) -> g.Atom | None:
    """By how much a counter grows: 1, or a condition, which counts as 1; None: otherwise."""
    r = lets.get(after.name) if isinstance(after, g.Var) else None
    if not isinstance(r, g.Op) or r.code != "add" or r.args[0] != counter:
        return None
    more = r.args[1]
    if more == _ONE:
        return _ONE
    match lets.get(more.name) if isinstance(more, g.Var) else None:
        case g.Op(code="toi", args=(g.Var() as condition,)) if condition.base == "bool":
            return condition
        case g.Op(code="select", args=(condition, one, zero)) if one == _ONE and zero == g.integer(0):
            return condition
    return None


def _settled(
    params: Sequence[g.Var],
    shape: _Shape,
    counter: g.Var,
    others: Sequence[g.Var],
    found: Sequence[g.Rhs | None],
    place: g.Var,
    digit: g.Atom | None,
    condition: g.Atom | None,
    rests: bool,
) -> Distribution | None:
    """The distribution, if nothing else is done."""
    values: list[g.Atom] = []
    for p, r in zip(others, found):
        if not isinstance(r, g.Update) or r.array != p or r.index != (place,) or g.extents_of(r.value):
            return None
        values.append(r.value)
    # what counts on is known; the rest must be plain, and what comes before the place must not need it
    gone = {a.name for a in shape.after.values() if isinstance(a, g.Var)} | {p.name for p in params if p != place}
    if digit is not None:
        gone |= {place.name, *(a.name for a in _args(shape, shape.after[counter]))}
    needs = {place.name}
    parts: tuple[list[g.Stmt], list[g.Stmt], list[g.Stmt]] = [], [], []
    for number, statements in enumerate((shape.first, shape.then)):
        for s in statements:
            if isinstance(s, g.Let) and any(t.name in gone for t in s.targets):
                continue
            used = _used(s)
            if not (isinstance(s, g.Check) or is_plain(s)) or used & (gone - {place.name}):
                return None
            if used & needs:
                if isinstance(s, g.Let):
                    needs |= {t.name for t in s.targets}
                elif shape.then and not number:
                    return None  # asked in rounds that put nothing anywhere
                parts[2].append(s)
            else:
                parts[number].append(s)
    if any(isinstance(a, g.Var) and a.name in needs | gone for a in (condition, digit) if a is not None):
        return None
    if any(isinstance(a, g.Var) and a.name in gone - {place.name} for a in values):
        return None
    numbers = tuple(params.index(p) for p in others)
    first, then, rest = map(tuple, parts)
    at = params.index(counter)
    return Distribution(at, numbers, tuple(values), condition, shape.unless, digit, first, then, rest, place, rests)


def _used(s: g.Stmt) -> set[str]:
    """The names that a statement uses."""
    return free(g.Block((s,)))


def _args(shape: _Shape, updated: g.Atom) -> tuple[g.Var, ...]:
    """What the counters are set to."""
    for s in (*shape.first, *shape.then):
        if isinstance(s, g.Let) and updated in s.targets and isinstance(s.rhs, g.Update):
            return tuple(a for a in (s.rhs.value,) if isinstance(a, g.Var))
    return ()

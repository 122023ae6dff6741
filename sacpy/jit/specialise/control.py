"""Branches and loops.

In: an `If` or `Loop` of core. Out: code for it, and the values of what it merges or carries. Where two branches give
values of different rank, `Branches` is raised: whoever knows what comes after them may have that made in both, for what
came. A condition that is known takes one branch; a branch that certainly fails becomes a check that it is not taken.
What a loop carries has one form in all rounds: it is found by going through the body until it no longer changes. A loop
for which there is none (a rank changes) is unrolled where every round's condition is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sacpy.jit.failures import Unsupported
from sacpy.jit.ir import graph as g
from sacpy.jit.specialise.emit import Builder
from sacpy.jit.specialise.facts import Scope
from sacpy.jit.specialise.kinds import apart, join, kind_of, targets
from sacpy.jit.specialise.values import Branches, Fails, Kind, Ranks, Value, is_scalar
from sacpy.lang import core
from sacpy.lang.walk import block_free, defined

if TYPE_CHECKING:
    from sacpy.jit.specialise.walk import Walk

ROUNDS = 8  # over a loop's body, to find the form of what it carries
UNROLLED = 64  # rounds of a loop without such a form
FEW = 4  # rounds of a loop that is unrolled where it can be,
LITTLE = 250  # if that makes no more statements than these,
PLAIN = 60  # or these where, in a cell, there are loops among them: they take their time, whatever a round knows
CHEAP = 6  # operations of two branches that are computed both, for a selection
SHORT = 12  # statements of a loop's condition that is looked at again inside the body

Values = list["Value | None"]


# ---------------------------------------------------------------- branches


def branch(walk: Walk, s: core.If) -> None:
    """An `If` of core. Raises `Branches`."""
    condition = walk.scalar(s.condition, "a condition is a scalar")

    def side(block: core.Block, atoms: Sequence[core.Atom]) -> Values:
        return walk.values(block, atoms)

    found: Values = choose(
        walk,
        condition,
        lambda: side(s.then, [m.then for m in s.merges]),
        lambda: side(s.otherwise, [m.otherwise for m in s.merges]),
        [m.target.source or "m" for m in s.merges],
    )
    for merge, value in zip(s.merges, found):
        walk.env[merge.target.name] = value


def divided(walk: Walk, s: core.If, rest: Callable[[], Values]) -> Values:
    """An `If` of core with what comes after it in both of its branches: the values that this gives. Raises
    `Branches`."""
    condition = walk.scalar(s.condition, "a condition is a scalar")

    def side(block: core.Block, atoms: Sequence[core.Atom]) -> Values:
        def bound(found: Values) -> Values:
            for merge, value in zip(s.merges, found):
                walk.env[merge.target.name] = value
            return rest()

        return walk.values(block, atoms, bound)

    return choose(
        walk,
        condition,
        lambda: side(s.then, [m.then for m in s.merges]),
        lambda: side(s.otherwise, [m.otherwise for m in s.merges]),
    )


def choose(
    walk: Walk,
    condition: g.Atom,
    then: Callable[[], Values],
    otherwise: Callable[[], Values],
    stems: Sequence[str] | None = None,
) -> Values:
    """The values of one of two computations. Raises `Branches`."""
    b = walk.b
    condition = b.same(condition)
    if isinstance(condition, g.Const):
        return then() if condition.value else otherwise()
    first = _side(b, condition, True, then)
    if first is None:
        b.check(b.op("not", condition), "a branch that fails is not taken")
        return otherwise()
    second = _side(b, condition, False, otherwise)
    if second is None:
        b.check(condition, "a branch that fails is not taken")
        return then()
    return _merge(b, condition, first, second, stems or ["m"] * len(first[1]))


def _side(b: Builder, condition: g.Atom, value: bool, run: Callable[[], Values]) -> tuple[Scope, Values] | None:
    """A branch in a block of its own; None if it certainly fails."""
    try:
        with b.inside(closed=True) as scope:
            b.assume(condition, value)
            return scope, run()
    except Fails:
        return None


def _merge(
    b: Builder, condition: g.Atom, first: tuple[Scope, Values], second: tuple[Scope, Values], stems: Sequence[str]
) -> Values:
    scopes, sides = (first[0], second[0]), (first[1], second[1])
    if _cheap(scopes, sides):
        return _selected(b, condition, scopes, sides)
    changing = [k for k, (x, y) in enumerate(zip(*sides)) if not (x is not None and x == y and _outside(b, x))]
    try:
        kinds = [join(kind_of(b, sides[0][k], b.depth), kind_of(b, sides[1][k], b.depth)) for k in changing]
    except Ranks:
        raise Branches from None
    blocks = []
    for scope, values in zip(scopes, sides):
        with b.again(scope):
            results = [
                a
                for k, kind in zip(changing, kinds)
                for a in (apart(b, kind, values[k]) if kind.form != "none" else ())
            ]
        blocks.append(scope.block(results))
    present = [k for k, kind in zip(changing, kinds) if kind.form != "none"]
    variables, merged = targets(b, [kind for kind in kinds if kind.form != "none"], [stems[k] for k in present])
    result: Values = list(sides[0])
    for k in changing:
        result[k] = None
    if variables or any(scope.statements for scope in scopes):
        b.let(variables, g.If(condition, blocks[0], blocks[1]))
    for k, value in zip(present, merged):
        result[k] = value
    return result


def _outside(b: Builder, value: Value) -> bool:
    """Whether a value is there outside of the branches."""
    return (
        b.depth_of(value) <= b.depth
        if not hasattr(value, "elements")
        else all(b.depth_of(e) <= b.depth for e in value.elements)
    )


def _cheap(scopes: Sequence[Scope], sides: Sequence[Values]) -> bool:
    """Whether both branches are a few operations on scalars, which may as well be computed both."""
    if sum(len(scope.statements) for scope in scopes) > CHEAP or any(
        v is None or not is_scalar(v) for values in sides for v in values
    ):
        return False
    return all(
        isinstance(s, g.Let) and isinstance(s.rhs, g.Op) and s.rhs.code in _LIGHT
        for scope in scopes
        for s in scope.statements
    )


_LIGHT = frozenset(
    {
        "add",
        "sub",
        "mul",
        "min",
        "max",
        "eq",
        "neq",
        "lt",
        "le",
        "gt",
        "ge",
        "and",
        "or",
        "not",
        "neg",
        "abs",
        "select",
        "bitand",
        "bitor",
        "bitxor",
        "tod",
        "tof",
        "toi",
        "tobool",
    }
)


def _selected(b: Builder, condition: g.Atom, scopes: Sequence[Scope], sides: Sequence[Values]) -> Values:
    for scope in scopes:
        for s in scope.statements:
            b.scope.statements.append(s)
            if isinstance(s, g.Let):
                b.depths[s.targets[0].name] = b.depth
    result: Values = []
    for x, y in zip(*sides):
        assert x is not None and y is not None and not hasattr(x, "elements") and not hasattr(y, "elements")
        result.append(_select(b, condition, x, y))
    return result


def _select(b: Builder, condition: g.Atom, x: g.Atom, y: g.Atom) -> g.Atom:
    """A selection; of bools, as logic."""
    if x.base == "bool":
        if isinstance(y, g.Const):
            return b.op("or", b.op("not", condition), x) if y.value else b.op("and", condition, x)
        if isinstance(x, g.Const):
            return b.op("or", condition, y) if x.value else b.op("and", b.op("not", condition), y)
    return b.op("select", condition, x, y)


# ---------------------------------------------------------------- loops


def loop(walk: Walk, s: core.Loop) -> None:
    """A `Loop` of core."""
    b = walk.b
    initial = [walk.maybe(c.initial) for c in s.carried]
    saved = dict(walk.env)
    if _tried(walk, s, initial):
        return
    try:
        _rounds(walk, s, initial)
    except (Ranks, Fails, Unsupported) as problem:
        walk.env = dict(saved)
        if _unrolled(walk, s, initial, UNROLLED):
            return
        walk.env = saved
        if isinstance(problem, Fails) and not s.body_first:
            _not_entered(walk, s, initial)
            return
        if isinstance(problem, Ranks) and not isinstance(problem, Branches):
            raise Unsupported("the rank of a value changes from one round of a loop to the next", s.span) from None
        raise problem
    finally:
        b.span = s.span


def _rounds(walk: Walk, s: core.Loop, initial: Values) -> None:
    """The loop as one of the graph."""
    b = walk.b
    kinds = [kind_of(b, v, b.depth) for v in initial]
    for _ in range(ROUNDS):
        found = _attempt(walk, s, kinds)
        wider = [join(old, kind_of(b, value, b.depth)) for old, value in zip(kinds, found.values)]
        if wider == kinds:
            break
        kinds = wider
    else:
        raise Unsupported("the shapes of what a loop carries do not settle", s.span)
    _finish(walk, s, initial, kinds, found)


def _not_entered(walk: Walk, s: core.Loop, initial: Values) -> None:
    """A loop whose body certainly fails: that it is left at once is checked."""
    for c, value in zip(s.carried, initial):
        walk.env[c.target.name] = value
    walk.block(s.condition)
    walk.b.check(
        walk.b.op("not", walk.scalar(s.test, "the condition of a loop is a scalar")),
        "a loop whose body fails is not entered",
    )


class _Attempt:
    """One pass over a loop's blocks."""

    def __init__(self, params: tuple[g.Atom, ...], condition: Scope, test: g.Atom, body: Scope, values: Values) -> None:
        self.params = params
        self.condition = condition
        self.test = test
        self.body = body
        self.values = values


def _attempt(walk: Walk, s: core.Loop, kinds: Sequence[Kind]) -> _Attempt:
    b = walk.b
    carried = [(c, kind) for c, kind in zip(s.carried, kinds) if kind.form != "none"]
    params, values = targets(b, [kind for _, kind in carried], [c.target.source or "p" for c, _ in carried])
    for c in s.carried:
        walk.env[c.target.name] = None
    for (c, _), value in zip(carried, values):
        walk.env[c.target.name] = value

    def condition() -> tuple[Scope, g.Atom]:
        with b.inside(closed=True) as scope:
            b.declare(params)
            walk.block(s.condition)
            return scope, walk.scalar(s.test, "the condition of a loop is a scalar")

    def body() -> tuple[Scope, Values]:
        with b.inside(closed=True) as scope:
            b.declare(params)
            again = {bind.name for statement in s.condition.statements for bind in defined(statement)} & block_free(
                s.body, tuple(c.update for c in s.carried)
            )
            if not s.body_first and (again or len(s.condition.statements) <= SHORT):
                walk.block(s.condition)
                b.assume(walk.scalar(s.test, "the condition of a loop is a scalar"), True)
            return scope, walk.values(s.body, [c.update for c in s.carried])

    if not s.body_first:
        tested, test = condition()
        return _Attempt(params, tested, test, *body())
    inside, updates = body()
    if len(carried) < len(s.carried):  # a first look at what the body sets
        return _Attempt(params, inside, g.TRUE, inside, updates)
    for (c, _), value in zip(carried, values):
        walk.env[c.target.name] = value
    tested, test = condition()
    return _Attempt(params, tested, test, inside, updates)


def _finish(walk: Walk, s: core.Loop, initial: Values, kinds: Sequence[Kind], found: _Attempt) -> None:
    b = walk.b
    present = [k for k, kind in enumerate(kinds) if kind.form != "none"]
    start = [a for k in present for a in apart(b, kinds[k], initial[k])]
    with b.again(found.body):
        updates = [a for k in present for a in apart(b, kinds[k], found.values[k])]
    results, values = targets(b, [kinds[k] for k in present], [s.carried[k].target.source or "p" for k in present])
    params = tuple(p for p in found.params if not isinstance(p, g.Const))
    b.let(
        results,
        g.Loop(params, tuple(start), found.condition.block((found.test,)), found.body.block(updates), s.body_first),
    )
    for c in s.carried:
        walk.env[c.target.name] = None
    for k, value in zip(present, values):
        walk.env[s.carried[k].target.name] = value


def _tried(walk: Walk, s: core.Loop, initial: Values) -> bool:
    """A loop over a few axes or the like, unrolled, if that stays small: its counter and bound are constants. Whether
    it was."""
    b = walk.b
    if s.body_first or not _few(walk, s, initial):
        return False
    saved, before = dict(walk.env), b.count
    try:
        with b.inside(closed=True) as scope:
            done = _unrolled(walk, s, initial, FEW)
            dear = b.cells > 0 and any(map(_has_loops, scope.statements))
            if done and b.count - before <= (PLAIN if dear else LITTLE):
                b.merge(scope)
                return True
    except (Ranks, Fails, Unsupported):
        pass
    walk.env = saved
    return False


def _has_loops(s: g.Stmt) -> bool:
    """Whether there is a loop in a statement, other than a with-loop."""
    if isinstance(s, g.Check):
        return False
    return isinstance(s.rhs, g.Loop) or any(_has_loops(inside) for b in g.blocks(s.rhs) for inside in b.statements)


def _few(walk: Walk, s: core.Loop, initial: Values) -> bool:
    """Whether the condition compares a carried variable that starts at a constant with another constant, near it."""
    b = walk.b
    starts = {c.target.name: value for c, value in zip(s.carried, initial)}
    match s.condition.statements:
        case [*before, core.Let(rhs=core.Call(args=(core.Var(name=name), bound)))] if (
            len(before) < 3 and isinstance(start := starts.get(name), g.Const) and start.base == "int"
        ):
            if isinstance(bound, core.Var) and bound.name in starts:
                return False
        case _:
            return False
    saved = dict(walk.env)
    try:
        walk.env.update(starts)
        with b.inside(closed=True):
            walk.block(core.Block(tuple(before)))
            end = walk.maybe(bound)
    except (Fails, Unsupported):
        return False
    finally:
        walk.env = saved
    return isinstance(end, g.Const) and end.base == "int" and abs(int(end.value) - int(start.value)) <= FEW


def _unrolled(walk: Walk, s: core.Loop, initial: Values, most: int) -> bool:
    """Executes a loop round by round, as long as its condition is known. Whether it came to an end."""
    values = initial
    first = s.body_first
    for _ in range(most + 1):
        for c, value in zip(s.carried, values):
            walk.env[c.target.name] = value
        if not first:
            walk.block(s.condition)
            test = walk.scalar(s.test, "the condition of a loop is a scalar")
            if not isinstance(test, g.Const):
                return False
            if not test.value:
                return True
        first = False
        values = walk.values(s.body, [c.update for c in s.carried])
    return False

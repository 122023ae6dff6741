"""Checks of a counting loop that can be made for many rounds at once, before these run: what is left of the rounds has
no way out, and the checks can be vectorised.

In: a counting loop. Out: `CheckedAhead`, or None.

    for i from 0 to n with h := g               for i: all of     for i with h := g
      k = load x[i]                               k = load x[i]     k = load x[i]
      t = lt k, m                      ->         t = lt k, m       a = load h[k]
      check t                                                       ..
      a = load h[k]
      ..

Such are loops that read and write where data say. The checks' operands come from the round's number, from what stands
around the loop, and from arrays that it leaves alone. A load that stands behind a check may rely on it, and is not made
ahead.

That a number lies between 0 and something that stands around the loop is the usual check. Of those numbers only the
largest is kept, negative ones taken as very large.
"""

from __future__ import annotations

from sacpy.jit.analysis.costs import weight
from sacpy.jit.ir import graph as g
from sacpy.nodes import Node, replace

STRETCH = 1024  # rounds whose checks are made at a time: what they load is still in the nearest cache when they run
MOST = 16  # statements that are made twice


class CheckedAhead(Node):
    """`ahead`: computes what the checks of a round need; `within`: numbers of it that must not be negative and be below
    something around the loop; `conditions`: the other conditions; `rounds`: the loop without its checks; `first`: one
    of these."""

    ahead: g.Block
    within: tuple[tuple[g.Atom, g.Atom], ...]
    conditions: tuple[g.Atom, ...]
    rounds: g.For
    first: g.Check


def checked_ahead(r: g.For) -> CheckedAhead | None:
    """A loop without inner loops and with its checks apart, if all of them may be made ahead and some depend on what is
    loaded."""
    checks = [s for s in r.body.statements if isinstance(s, g.Check)]
    if not checks or any(isinstance(s, g.Let) and isinstance(s.rhs, g.If) for s in r.body.statements):
        return None
    known: dict[str, g.Let] = {}  # what may be computed ahead, in order
    other = {p.name for p in r.params}  # what else a round sets
    behind = False
    for s in r.body.statements:
        if isinstance(s, g.Check):
            behind = True
            continue
        from_others = (
            any(isinstance(a, g.Var) and a.name in other for a in g.operands(s.rhs))
            if isinstance(s.rhs, g.Load | g.Op)
            else True
        )
        if from_others or (behind and isinstance(s.rhs, g.Load)):
            other |= {t.name for t in s.targets}
        else:
            # that it does not wrap, a check may see to
            known[s.targets[0].name] = (
                replace(s, rhs=replace(s.rhs, exact=False)) if behind and isinstance(s.rhs, g.Op) else s
            )
    wanted: set[str] = set()
    waiting = [c.condition for c in checks]
    while waiting:
        a = waiting.pop()
        if isinstance(a, g.Var) and a.name in other:
            return None
        if isinstance(a, g.Var) and a.name in known and a.name not in wanted:
            wanted.add(a.name)
            waiting += g.operands(known[a.name].rhs)
    ahead = tuple(s for name, s in known.items() if name in wanted)
    if (
        len(ahead) > MOST
        or not any(isinstance(s.rhs, g.Load) for s in ahead)
        or not all(weight(s.rhs) == 1.0 for s in ahead if isinstance(s.rhs, g.Op))
    ):
        return None
    within, conditions = _sorted(checks, known, {*known, *other, r.index.name})
    rest: tuple[g.Stmt, ...] = tuple(s for s in r.body.statements if not isinstance(s, g.Check))
    return CheckedAhead(
        g.Block(ahead, ()), within, conditions, replace(r, body=g.Block(rest, r.body.results)), checks[0]
    )


def _sorted(
    checks: list[g.Check], made: dict[str, g.Let], inside: set[str]
) -> tuple[tuple[tuple[g.Atom, g.Atom], ...], tuple[g.Atom, ...]]:
    """Which conditions say that a number lies between 0 and a fixed one, in pairs; and the others."""
    within: list[tuple[g.Atom, g.Atom]] = []
    positive: dict[g.Atom, g.Atom] = {}  # numbers, and the conditions that say that they are not negative
    others: list[g.Atom] = []
    for c in checks:
        op = made[c.condition.name].rhs if isinstance(c.condition, g.Var) and c.condition.name in made else None
        if isinstance(op, g.Op) and op.code == "le" and op.args[0] == g.Const("int", 0):
            positive[op.args[1]] = c.condition
        elif (
            isinstance(op, g.Op)
            and op.code == "lt"
            and op.args[0] in positive
            and not (isinstance(op.args[1], g.Var) and op.args[1].name in inside)
        ):
            within.append(op.args)  # type: ignore[arg-type]
            others = [a for a in others if a != positive[op.args[0]]]
            continue
        others.append(c.condition)
    return tuple(within), tuple(others)

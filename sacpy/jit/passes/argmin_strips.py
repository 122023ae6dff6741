"""Folds and counting loops that keep the chosen one of what they see, such as the place of the least element: whole
stretches in which nothing is chosen are passed over.

    v, p = for k from 0 to n step 1 with a, b := x, y        v, p = for s from 0 to n step 128 with a, b := x, y
      z = load u[k]                                            e = s + min(n - s, 128)
      c = lt z, a                                              any = for j from 0 to 128: any or load u[s+j] < a
      d = select c, z, a                             ->        d, f = if any: for k from s to e with ..: as before
      f = select c, k, b                                              else: a, b
      next d, f                                                next d, f

As long as nothing is chosen, what there is to compare with stays the same, so the comparisons of a stretch do not wait
for each other, and can be made in vectors. The result is that of the loop as it was, bit for bit, whatever the
comparison is. The first stretch, in which something mostly is chosen, is gone through at once, as is the last one,
which is shorter.
"""

from __future__ import annotations

from sacpy.jit.analysis.combine import loops_of, round_of
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.operations import ROUTINES
from sacpy.jit.ir.rewrite import copied, needed_for
from sacpy.jit.passes.units import wherever
from sacpy.jit.passes.walker import Walker
from sacpy.lang.source import Span
from sacpy.nodes import Node

STRETCH = 128  # rounds that are looked at together
MOST = 40  # statements of a round


class _Choice(Node):
    """A loop that chooses: `chosen` says whether a round takes new values, or, if not `positive`, whether it keeps the
    old ones."""

    loop: g.For
    chosen: g.Var
    positive: bool


class _Chooser(Walker):
    def rhs(self, r: g.Rhs) -> g.Rhs:
        loop = _loop(r)
        found = None if loop is None else _choice(loop)
        if found is not None:
            r = self.stretches(found, found.loop.body.statements[0].span)
        return super().rhs(r)

    def stretches(self, c: _Choice, span: Span) -> g.For:
        """The loop over stretches."""
        r, body = c.loop, list[g.Stmt]()

        def op(stem: str, type_: g.ScalarType, rhs: g.Rhs) -> g.Var:
            target = self.supply.var(stem, type_)
            body.append(g.Let((target,), rhs, span))
            return target

        params = tuple(self.supply.var(p.name, p.type) for p in r.params)
        start = self.supply.var("start", g.INT)
        left = op("left", g.INT, g.Op("sub", (r.upper, start), exact=True))
        length = op("length", g.INT, g.Op("min", (left, g.integer(STRETCH))))
        end = op("end", g.INT, g.Op("add", (start, length), exact=True))
        later = op("later", g.BOOL, g.Op("lt", (r.lower, start)))
        whole = op("whole", g.BOOL, g.Op("eq", (length, g.integer(STRETCH))))
        looked = op("looked", g.BOOL, g.Op("and", (later, whole)))
        result = self.supply.var("any", g.BOOL)
        any_ = op(
            "any",
            g.BOOL,
            g.If(
                looked,
                g.Block((g.Let((result,), self.any(c, params, start), span),), (result,)),
                g.Block((), (g.TRUE,)),
            ),
        )
        rounds = g.For(r.index, start, end, 1, r.params, params, r.body, few=True)
        once = g.Block((g.Let(r.body.results, rounds, span),), r.body.results)  # type: ignore[arg-type]
        inner = copied(once, {}, self.supply)
        results = tuple(self.supply.var(p.name, p.type) for p in r.params)
        body.append(g.Let(results, g.If(any_, inner, g.Block((), params)), span))
        return g.For(start, r.lower, r.upper, STRETCH, params, r.initial, g.Block(tuple(body), results))

    def any(self, c: _Choice, params: tuple[g.Var, ...], start: g.Var) -> g.For:
        """Whether something is chosen in a whole stretch."""
        number, index = self.supply.var("j", g.INT), self.supply.var("k", g.INT)
        before, after, chosen = (self.supply.var(stem, g.BOOL) for stem in ("before", "any", "chosen"))
        env: dict[str, g.Atom] = {c.loop.index.name: index}
        env.update(zip((p.name for p in c.loop.params), params))
        body = copied(g.Block(needed_for((c.chosen,), c.loop.body), (c.chosen,)), env, self.supply)
        found = g.Op("or", (before, chosen))
        made = (g.Let((chosen,), body.results[0] if c.positive else g.Op("not", body.results)), g.Let((after,), found))
        place = g.Let((index,), g.Op("add", (start, number), exact=True))
        return g.For(
            number,
            g.integer(0),
            g.integer(STRETCH),
            1,
            (before,),
            (g.FALSE,),
            g.Block((place, *body.statements, *made), (after,)),
        )


def _loop(r: g.Rhs) -> g.For | None:
    """A loop, or the one that a fold over one axis is."""
    if isinstance(r, g.For):
        return r
    found = loops_of(r) if isinstance(r, g.WithLoop) else None
    if found is None or found[1].rank != 1:
        return None
    fold, p = found
    return g.For(p.index[0], p.lower[0], p.upper[0], 1, fold.accumulators, fold.neutrals, round_of(fold, p))


def _choice(r: g.For) -> _Choice | None:
    """What a loop chooses, if that is all it does."""
    if (
        r.step != 1
        or not r.params
        or r.few
        or not isinstance(r.lower, g.Const)
        or r.lower.value < 0
        or (isinstance(r.upper, g.Const) and r.upper.value - r.lower.value < 4 * STRETCH)
    ):
        return None
    if len(r.body.statements) > MOST or not all(isinstance(p.type, g.ScalarType) for p in r.params):
        return None
    made: dict[g.Atom, g.Rhs] = {}
    for s in r.body.statements:
        if (
            not isinstance(s, g.Let)
            or not isinstance(s.rhs, g.Op | g.Load | g.Var | g.Const)
            or (isinstance(s.rhs, g.Op) and s.rhs.code in ROUTINES)
        ):
            return None
        made[s.targets[0]] = s.rhs
    found: set[tuple[g.Atom, bool]] = set()
    for p, result in zip(r.params, r.body.results):
        op = made.get(result)
        if not isinstance(op, g.Op) or op.code != "select" or p not in op.args[1:]:
            return None
        found.add((op.args[0], op.args[2] == p))
    if len(found) != 1:
        return None
    ((chosen, positive),) = found
    return _Choice(r, chosen, positive) if isinstance(chosen, g.Var) and _compares(r, chosen) else None


def _compares(r: g.For, chosen: g.Var) -> bool:
    """Whether what is chosen depends on what was chosen before, and on the round."""
    of_round: set[str] = {r.index.name}
    for s in r.body.statements:
        if isinstance(s, g.Let) and not of_round.isdisjoint(_names(s.rhs)):
            of_round.add(s.targets[0].name)
    needed = {name for s in needed_for((chosen,), r.body) if isinstance(s, g.Let) for name in _names(s.rhs)}
    return chosen.name in of_round and any(p.name in needed for p in r.params)


def _names(r: g.Rhs) -> set[str]:
    return {a.name for a in g.operands(r) if isinstance(a, g.Var)}


@wherever(lambda r: (loop := _loop(r)) is not None and _choice(loop) is not None)
def run(function: g.Function) -> g.Function:
    """A unit whose choosing loops pass over stretches."""
    return _Chooser(function).function(function)

"""The laws of schedules, which are checked where the compiler checks its own steps (those of nests: `nest_verify`).

In: a schedule, and where its loop stands. Out: nothing, or a `ScheduleError` that says which law does not hold. A law
is looked for in the loop itself, not by asking those who chose.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.analysis.folds import recognised
from sacpy.jit.analysis.recurrences import in_lanes
from sacpy.jit.analysis.straight import is_straight
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import free
from sacpy.jit.schedule.loops import (
    Context,
    Goal,
    Group,
    IntoArray,
    IntoFold,
    LoopNest,
    Part,
    Rounds,
    Rows,
    Schedule,
    Threads,
    Through,
    has_checks,
    loops_before,
    nests,
)  # fmt: skip
from sacpy.jit.schedule.nest_verify import ONE, law, partition_of, step_of, verify_nest


def verify_schedule(s: Schedule | Rounds, context: Context) -> None:
    """Raises `ScheduleError` if a schedule breaks a law."""
    if isinstance(s, Rounds):
        _rounds(s, context)
        return
    _order(s)
    for group in s.groups:
        _goals(s.w, group.goals, context)
        for nest in nests(group.part):
            law(nest.goals == group.goals, "a nest's values go elsewhere than its group's")
        _part(group.part, group.partitions, 0)
        for nest in nests(group.part):
            verify_nest(nest, group.partitions, context, free_start=isinstance(group.part, LoopNest))
        if group.threads is not None:
            _threads(group, group.threads, context)
        if group.short is not None:
            law(group.threads is not None and context.inside, "what stands twice is dealt out in a loop, or is not")
            law(group.short.goals == group.goals, "a short row gives the same")
            verify_nest(group.short, group.partitions, context)
        regrouped = any(isinstance(x, IntoFold) and x.reduction and x.reduction.extremes for x in group.goals)
        law(
            (group.again is not None) == regrouped, "extremes of reals in any order are computed in order if it matters"
        )
        if group.again is not None:
            law(
                not any(isinstance(x, IntoFold) and x.reduction and x.reduction.extremes for x in group.again.goals),
                "what runs again is in order",
            )
            verify_nest(group.again, group.partitions, context)


# ---------------------------------------------------------------- the order of partitions


def _order(s: Schedule) -> None:
    w, arrays = s.w, all(isinstance(o, g.Genarray | g.Modarray) for o in s.w.operators)
    ran = [id(p) for group in s.groups for p in group.partitions]
    law(sorted(ran) == sorted(map(id, w.partitions)), "each partition runs once")
    if w.disjoint and arrays:
        return
    law(all(len(group.partitions) == 1 for group in s.groups), "partitions that may overlap run one after the other")
    if arrays and len(ran) > 1 and ran == [id(p) for p in w.partitions[::-1]]:
        law(not any(has_checks(p.body) for p in w.partitions), "a check fails only where its partition wins")
        law(not any(_left_out(group) for group in s.groups), "last to first, nothing is left out")
        return
    law(ran == [id(p) for p in w.partitions], "partitions run in order")
    for number, group in enumerate(s.groups):
        earlier = () if w.disjoint else w.partitions[:number]
        law(
            _left_out(group) == earlier or not any(isinstance(x, IntoArray) for x in group.goals),
            "the earlier one wins",
        )


def _left_out(group: Group) -> tuple[g.Partition, ...]:
    """The partitions whose cells a group leaves alone."""
    (nest,) = nests(group.part)
    return nest.earlier or next((x.earlier for x in group.goals if isinstance(x, IntoArray)), ())


def _goals(w: g.WithLoop, goals: Sequence[Goal], context: Context) -> None:
    law(len(goals) == len(w.operators), "each operator takes values")
    carried = any(
        isinstance(o, g.Propagate) or (isinstance(o, g.Fold) and (o.stop is not None or _carries_arrays(o)))
        for o in w.operators
    )
    for x, o in zip(goals, w.operators):
        match o:
            case g.Genarray():
                fits = isinstance(x, IntoArray) and x.base == o.base and x.cells == bool(o.cell)
            case g.Modarray():
                rank = len(w.frame or ())
                fits = isinstance(x, IntoArray) and x.base == o.array.base
                fits = fits and x.cells == (len(g.extents_of(o.array)) > rank)  # type: ignore[union-attr]
            case g.Propagate():
                fits = isinstance(x, Through) and x.operator == o
            case _:
                fits = isinstance(x, IntoFold) and x.operator == o
        law(fits, "values go where their operator says")
        if isinstance(x, IntoFold) and x.reduction is not None:
            law(x.reduction == recognised(x.operator), "what is regrouped is what the fold does")
            law(not context.strict or x.reduction.exact, "strict sums are computed as programmed")
            extremes = bool(x.reduction.extremes) and (context.in_order or carried)
            law(not extremes, "extremes in any order may have to run a second time")


def _carries_arrays(o: g.Fold) -> bool:
    return any(isinstance(v.type, g.ArrayType) for v in o.accumulators)


# ---------------------------------------------------------------- threads


def _threads(group: Group, t: Threads, context: Context) -> None:
    law(context.parallel, "threads do not deal out again")
    for x in group.goals:
        if isinstance(x, IntoFold):
            o = x.operator
            law(o.stop is None and not _carries_arrays(o) and not x.ordered, "only folds of scalars are put together")
            law(x.reduction is not None or not context.strict, "strict folds are computed from left to right")
        else:
            law(isinstance(x, IntoArray), "what goes from index to index has one thread")
    part, p = group.part, group.partitions[0]
    law(all(q.rank > 0 for q in group.partitions), "there is an axis to deal out")
    law(t.multiple == 1 or p.step is None or p.step[0] == ONE, "chunks begin at a step")
    law(t.multiple >= 1 and (not t.most or t.least > 0), "chunks have a size")
    if t.least:
        law(isinstance(part, LoopNest) and p.step is None, "whole tiles are one nest's, without steps")
    if t.even:
        law(isinstance(part, LoopNest) and p.step is None and not t.cut, "chunks of equal work are one nest's rows")
        empty = all(not isinstance(x, IntoFold) or x.reduction is not None for x in group.goals)
        law(empty, "a chunk without rows changes nothing")
    if t.cut:
        law(isinstance(part, LoopNest) and p.rank > 1 and p.step is None, "blocks are cut along a second axis")
        assert isinstance(part, LoopNest)
        law(part.tiles is None and not loops_before(part.before, 1), "no loops run once for each block")


# ---------------------------------------------------------------- shared rows


def _part(part: Part, partitions: Sequence[g.Partition], axis: int) -> None:
    if isinstance(part, LoopNest):
        law(len(partitions) == 1, "a nest is one partition's")
        law(min((loop.axis for loop in part.loops), default=axis) == axis, "loops begin at the next axis")
        return
    law(part.loop.axis == axis and part.partitions == tuple(partitions), "rows are those of their partitions")
    first = partitions[0]
    mesh = part.loop.tag == "mesh"
    law(all((axis == p.rank - 1) == mesh for p in partitions), "only what is meshed shares its last axis")
    law(mesh or all(p.upper[axis] == first.upper[axis] for p in partitions), "rows end together")
    if part.turns:
        law(all(step_of(p, axis) == step_of(first, axis) > 1 for p in partitions), "turns have one step")
        law(all(p.width is None or p.width[axis] == ONE for p in partitions), "turns are single rows")
        law([g.integer(t) for t in part.turns] == [p.lower[axis] for p in partitions], "turns begin where they say")
        law(list(part.turns) == sorted(part.turns), "turns come in order")
        law(part.turns[-1] - part.turns[0] < step_of(first, axis), "turns lie within one step")
        law(len(part.parts) == len(partitions), "each turn has its nest")
        for inner, p in zip(part.parts, partitions):
            _part(inner, (p,), axis if mesh else axis + 1)
            if mesh:
                _meshed(inner)
        return
    law(all(p.lower[axis] == first.lower[axis] for p in partitions), "rows begin together")
    law(all(p.step is None or p.step[axis] == ONE for p in partitions), "rows have no gaps")
    for inner in part.parts:
        _part(inner, inner.partitions if isinstance(inner, Rows) else partition_of(inner, partitions), axis + 1)


def _meshed(part: Part) -> None:
    law(isinstance(part, LoopNest), "what is meshed has one loop")
    assert isinstance(part, LoopNest)
    law(is_straight(part.body) and not has_checks(part.body), "what is meshed has neither loops nor a way out")
    plain = not (part.before or part.earlier or part.products or part.noted or part.tiles)
    law(plain and all(isinstance(x, IntoArray) and not x.cells for x in part.goals), "what is meshed is stored at once")


# ---------------------------------------------------------------- counting loops


def _rounds(r: Rounds, context: Context) -> None:
    loop = r.loop
    law((r.scan is not None) == (r.tag == "scan"), "a scan is one")
    law(r.tag in ("scan", "threads", "stretch", "serial"), "a counting loop runs in one of its ways")
    if r.tag == "threads":
        law(context.parallel and loop.step == 1, "rounds are dealt out once, and go up by one")
        law(bool(loop.params) and all(g.extents_of(p) for p in loop.params), "rounds on threads carry arrays only")
        law(r.size >= 1, "chunks have a size")
    if r.tag in ("stretch", "serial"):
        straight, few = is_straight(loop.body), _few(loop)
        law(r.tag == "serial" or (straight and r.size > 0), "stretches have no loops inside")
        law(r.polls or r.tag == "stretch" or (straight and few), "a loop looks at the stop flag, or ends soon")
    if r.lanes:
        law(r.tag in ("stretch", "serial") and r.lanes <= in_lanes(loop), "what is in lanes is a recurrence of ints")
    if r.ahead is not None:
        _ahead(r)


def _few(r: g.For) -> bool:
    from sacpy.jit.schedule.counting import BETWEEN_POLLS

    if not (isinstance(r.lower, g.Const) and isinstance(r.upper, g.Const)):
        return False
    return abs(int(r.upper.value) - int(r.lower.value)) <= BETWEEN_POLLS * abs(r.step)


def _ahead(r: Rounds) -> None:
    v, loop = r.ahead, r.loop
    assert v is not None
    law(r.tag == "stretch" and not loop.few, "checks are made ahead of a stretch")
    rest = tuple(s for s in loop.body.statements if not isinstance(s, g.Check))
    law(v.rounds.body == g.Block(rest, loop.body.results), "rounds are left without their checks")
    made = {s.targets[0].name for s in v.ahead.statements if isinstance(s, g.Let)}
    ours = {t.name for s in loop.body.statements if isinstance(s, g.Let) for t in s.targets} - made
    law(not free(v.ahead) & (ours | {p.name for p in loop.params}), "what is made ahead needs no round before")
    behind = False
    for s in loop.body.statements:
        behind |= isinstance(s, g.Check)
        if behind and isinstance(s, g.Let) and isinstance(s.rhs, g.Load):
            law(s.targets[0].name not in made, "a load behind a check may rely on it")
    lets = {s.targets[0].name: s.rhs for s in v.ahead.statements if isinstance(s, g.Let)}
    for s in loop.body.statements:
        if isinstance(s, g.Check):
            c = s.condition
            op = lets.get(c.name) if isinstance(c, g.Var) else None
            inside = isinstance(op, g.Op) and (
                (op.code == "lt" and op.args in v.within)
                or (op.code == "le" and op.args[0] == g.integer(0) and any(op.args[1] == a for a, _ in v.within))
            )
            law(c in v.conditions or inside, "each check is made")

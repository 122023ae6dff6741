"""How a with-loop runs: which partitions run together, in which order, on threads or not.

In: a with-loop, and where it stands. Out: its `Schedule`. The earlier partition wins where several cover a cell: unless
they are known to be disjoint they run last to first, later writes winning, or, where checks might fail, leave out what
is covered.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from sacpy.jit.analysis.folds import recognised
from sacpy.jit.ir import graph as g
from sacpy.jit.schedule.loops import (
    Context,
    Goal,
    Group,
    IntoArray,
    IntoFold,
    Part,
    Schedule,
    Through,
    has_checks,
)  # fmt: skip
from sacpy.jit.schedule.nests import nest_of
from sacpy.jit.schedule.threads import is_cut, may_spread, short_of, threads_of
from sacpy.nodes import replace

ONE = "one partition"
DISJOINT = "no cell is in two partitions: those that share rows run together"
REVERSED = "last to first: where partitions overlap, the earlier one wins"
GUARDED = "in order, but for cells that earlier partitions cover: what is not needed might fail"
IN_ORDER = "in order: a fold or a propagate goes from each partition to the next"


def schedule_of(w: g.WithLoop, goals: tuple[Goal, ...], context: Context, alone: Container[int] = ()) -> Schedule:
    """How a with-loop runs. `goals`: where its values go; `alone`: partitions, by their address, whose rows may be
    there already, so that they run by themselves."""
    if w.disjoint and all(isinstance(x, IntoArray) for x in goals):
        return _disjoint(w, goals, context, alone)
    overlap = not w.disjoint and len(w.partitions) > 1
    arrays = all(isinstance(x, IntoArray) for x in goals)
    backwards = arrays and overlap and not any(has_checks(p.body) for p in w.partitions)
    partitions = w.partitions[::-1] if backwards else w.partitions
    groups = []
    for number, p in enumerate(partitions):
        # cells that an earlier one has set are left alone; where there are only arrays, they are not computed either
        earlier = partitions[:number] if overlap and not backwards else ()
        mine = goals if arrays else tuple(_without(x, earlier) for x in goals)
        groups.append(_group((p,), mine, context, earlier if arrays else (), spreads=arrays or not earlier))
        if may_repeat(goals):
            again = replace(context, in_order=True)
            ordered = tuple(_fold(x.operator, again) if isinstance(x, IntoFold) else x for x in mine)
            groups[-1] = replace(groups[-1], again=nest_of(p, ordered, again, earlier if arrays else ()))
    why = REVERSED if backwards else ONE if len(groups) == 1 else GUARDED if arrays and overlap else IN_ORDER
    return Schedule(w, tuple(groups), why)


def goals_of(w: g.WithLoop, context: Context) -> tuple[Goal, ...]:
    """Where the values of a with-loop's operators go. Extremes of reals are computed in any order only if the loop can
    run a second time, for those that the order matters to: nothing but scalars may go from index to index."""
    if not all(map(_is_repeatable, w.operators)):
        context = replace(context, in_order=True)
    return tuple(_goal(o, w, context) for o in w.operators)


def may_repeat(goals: Sequence[Goal]) -> bool:
    """Whether a loop might run a second time, so that what it reads must stay."""
    return any(isinstance(x, IntoFold) and x.reduction is not None and x.reduction.extremes for x in goals)


def _is_repeatable(o: g.Operator) -> bool:
    """Whether an operator's part of a loop can be run twice: nothing but scalars is carried from index to index,
    through all of them."""
    return not isinstance(o, g.Propagate) and not (
        isinstance(o, g.Fold) and (o.stop is not None or any(isinstance(v.type, g.ArrayType) for v in o.accumulators))
    )


def _goal(o: g.Operator, w: g.WithLoop, context: Context) -> Goal:
    match o:
        case g.Genarray():
            return IntoArray(o.base, bool(o.cell))
        case g.Modarray():
            assert w.frame is not None
            return IntoArray(o.array.base, len(g.extents_of(o.array)) > len(w.frame))
        case g.Propagate():
            return Through(o)
    return _fold(o, context)


def _fold(o: g.Fold, context: Context) -> IntoFold:
    """Where a fold's values go. `ordered` are extremes where nobody can look whether the order matters to them, and
    sums of reals that are computed as programmed."""
    found = recognised(o)
    ordered = found is not None and (
        (bool(found.extremes) and context.in_order) or (context.strict and not found.exact)
    )
    return IntoFold(o, None if ordered else found, ordered)


def _without(x: Goal, earlier: tuple[g.Partition, ...]) -> Goal:
    """The same, where the cells of earlier partitions stay."""
    return replace(x, earlier=earlier) if isinstance(x, IntoArray) and earlier else x


def _disjoint(w: g.WithLoop, goals: tuple[Goal, ...], context: Context, alone: Container[int]) -> Schedule:
    """Partitions that may run in any order."""
    kept = [[p] for p in w.partitions if id(p) in alone]
    others = [p for p in w.partitions if id(p) not in alone]
    if len(others) < 2:
        return Schedule(w, tuple(_group(group, goals, context) for group in (*kept, *([p] for p in others))), ONE)
    from sacpy.jit.schedule.rows import grouped

    # rows that are few: blocks of them are dealt out, each partition's
    few = all(isinstance(p.upper[0], g.Const) for p in others if p.rank) and all(map(is_cut, others))
    groups = (*kept, *([[p] for p in others] if few else grouped(others, goals)))
    return Schedule(w, tuple(_group(group, goals, context) for group in groups), DISJOINT)


def _group(
    group: Sequence[g.Partition],
    goals: tuple[Goal, ...],
    context: Context,
    earlier: tuple[g.Partition, ...] = (),
    *,
    spreads: bool = True,
) -> Group:
    """Partitions that run together. `spreads`: threads know what is to be left out."""
    spreads, inside = spreads and may_spread(group, goals, context), context.inside
    if spreads:  # a chunk is a function of its own, without loops around
        context = replace(context, parallel=False, inside=False)
    if len(group) == 1:
        part: Part = nest_of(group[0], goals, context, earlier)
    else:
        from sacpy.jit.schedule.rows import rows_of

        part = rows_of(group, goals, context)
    if not spreads:
        return Group(tuple(group), goals, part)
    return Group(tuple(group), goals, part, threads_of(part, goals), short_of(part) if inside else None)

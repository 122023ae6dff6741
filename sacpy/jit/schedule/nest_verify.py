"""The laws of nests (see `schedule_verify`): that their loops run over their partition, that what is taken out of the
body may be, and that each way to run an axis is one that the body allows."""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.analysis.alike import alike
from sacpy.jit.analysis.along import Along
from sacpy.jit.analysis.grown import rows_of
from sacpy.jit.analysis.ints import linear
from sacpy.jit.analysis.sliding import sliding
from sacpy.jit.analysis.straight import is_straight, is_straight_cell
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import free
from sacpy.jit.schedule.loops import Context, IntoArray, IntoFold, Loop, LoopNest, Through, has_checks
from sacpy.jit.schedule.row_folds import row_folds

_PIECES = (
    ("serial",), ("starts", "serial"), ("single",), ("cells",), ("lanes",), ("residues",), ("strip", "blend"),
    ("strip", "serial"), ("rows", "serial"), ("together", "serial"),
)  # fmt: skip
ONE = g.integer(1)


class ScheduleError(Exception):
    """A schedule that breaks a law."""


def law(holds: bool, broken: str) -> None:
    """Raises `ScheduleError` unless a law holds."""
    if not holds:
        raise ScheduleError(broken)


def partition_of(nest: LoopNest, partitions: Sequence[g.Partition]) -> tuple[g.Partition, ...]:
    """The partition that a nest is of: the one with its index."""
    return tuple(p for p in partitions if p.index == nest.partition.index)


def step_of(p: g.Partition, axis: int) -> int:
    """A partition's step along an axis, where it is a number; else 0."""
    step = None if p.step is None else p.step[axis]
    return int(step.value) if isinstance(step, g.Const) else 0


def verify_nest(n: LoopNest, partitions: Sequence[g.Partition], context: Context, free_start: bool = True) -> None:
    """Raises `ScheduleError` if a nest of one of these partitions breaks a law. `free_start`: its first axis is its
    own."""
    (p,) = partition_of(n, partitions)
    law(n.partition.lower == p.lower and n.partition.upper == p.upper, "a nest runs over its partition")
    law(n.partition.step == p.step and n.partition.width == p.width, "a nest takes its partition's steps")
    _hoisting(n, p)
    if n.tiles is not None:
        _tiles(n, p)
        return
    last = p.rank - 1
    axes = [loop.axis for loop in n.loops]
    law(axes == sorted(axes), "loops are row-major")
    law(set(axes) == set(range(axes[0] if axes else 0, p.rank)), "each axis has a loop")
    for axis in sorted(set(axes)):
        tags = tuple(loop.tag for loop in n.over(axis))
        if tags[0] in ("stretch", "long"):
            law(axis == last and n.over(axis)[0].size > 0, "stretches are cut from rows")
            tags = tags[1:]
        law(tags in _PIECES, f"the loops of an axis are one of the ways to run it, not {tags}")
        law(axis == last or tags in _PIECES[:2], "what LLVM or registers take together is the last axis")
        width = p.width is not None and p.width[axis] not in (ONE, p.step[axis] if p.step else None)
        if tags in _PIECES[:2]:
            law((tags == ("starts", "serial")) == (width and not (n.products and axis == last)), "widths have blocks")
            steps = p.step is not None and not (p.width is not None and p.width[axis] != ONE)
            law((n.over(axis)[-1].size == 0) == steps, "a loop takes its partition's steps")
    innermost = n.over(last) if p.rank else ()
    straight = is_straight_cell(n.body, _in_place(n))
    stops = [isinstance(x, IntoFold) and x.operator.stop is not None for x in n.goals]
    law(n.leaves == (bool(stops) and all(stops)), "loops end early where all folds have what they stop at")
    if n.noted:
        law(straight and has_checks(n.body) and not n.products, "what is noted is a check in a loop without loops")
    for loop in innermost:
        _piece(n, loop, straight, context)
    real = [x for x in n.goals if isinstance(x, IntoFold) and x.reduction is not None and not x.reduction.exact]
    if real and straight and not has_checks(n.body) and not n.earlier and innermost and _plain(n) and _fixed(p):
        law(innermost[-1].tag in ("lanes", "single"), "lanes of a sum of reals do not depend on the machine")
    if free_start and axes[:1] == [0]:
        polled = any(loop.polls for loop in n.loops) or (p.rank == 1 and straight)
        law(polled, "each round of the first axis looks at the stop flag, where there is more inside than a row")
    if innermost and not any(isinstance(x, IntoArray) for x in n.goals):
        inside = p.rank > 1 or context.inside
        waits = innermost[0].tag in ("stretch", "long") or inside or _is_short(p)
        law(waits, "a row without an array may be long, and looks at the stop flag")
    _products(n)


def _in_place(n: LoopNest) -> bool:
    return all(isinstance(x, IntoArray) and not x.earlier for x in n.goals)


def _plain(n: LoopNest) -> bool:
    """Whether all values go to arrays, or to folds that may be regrouped and are straight."""
    folds = [x for x in n.goals if not isinstance(x, IntoArray)]
    return all(isinstance(x, IntoFold) and x.reduction is not None and is_straight(x.operator.combine) for x in folds)


def _fixed(p: g.Partition) -> bool:
    """Whether LLVM can be told lanes: the loop's step is a number, and its indices no blocks."""
    return (p.step is None or isinstance(p.step[-1], g.Const)) and (p.width is None or p.width[-1] == ONE)


def _is_short(p: g.Partition) -> bool:
    from sacpy.jit.schedule.nests import STRETCH

    lower, upper = p.lower[-1], p.upper[-1]
    return isinstance(lower, g.Const) and isinstance(upper, g.Const) and upper.value - lower.value <= STRETCH


def _piece(n: LoopNest, loop: Loop, straight: bool, context: Context) -> None:
    """The laws of a loop over the last axis."""
    p = n.partition
    match loop.tag:
        case "lanes":
            law(straight and not has_checks(n.body) and not n.earlier, "lanes run without a way out")
            law(not context.strict or not any(isinstance(x, IntoFold) for x in n.goals), "strict sums have no lanes")
            total = loop.size * loop.vectors
            law(total > 1 and total & (total - 1) == 0, "lanes are a power of two")
            law(loop.rest == (p.step is None), "rows that fill no lanes are told apart where there are no steps")
        case "cells":
            law(straight and not n.earlier, "cells are built where they are to be")
            law(alike(n.body), "what is in lanes is computed alike")
        case "rows":
            law(p.rank == 1 and _in_place(n) and not n.earlier, "rows are of the elements of arrays")
            law(n.grown is not None and n.grown == rows_of(p), "rows are those that the body asks for")
        case "together":
            found = row_folds(p, n.goals, context)
            law(found is not None and n.folds == found, "rows that run side by side have sums with something in common")
        case "long":
            law(straight, "a body that stands there twice has no loops")
        case "blend":
            _blend(n)
        case "residues":
            _residues(n, context)
        case "strip":
            law(loop.size > 0 and (bool(n.products) or n.loops[-1].tag == "blend"), "a strip keeps something")


def _blend(n: LoopNest) -> None:
    p = n.partition
    law(p.step is not None and isinstance(p.step[-1], g.Const) and step_of(p, p.rank - 1) > 1, "points lie apart")
    law(p.width is None or p.width[-1] == ONE, "points are single")
    law(len(n.goals) == 1 and _in_place(n) and not n.earlier, "values wait for one array")
    law(isinstance(n.goals[0], IntoArray) and not n.goals[0].cells, "values that wait are scalars")
    along = Along(p.index[-1])
    for s in n.body.statements:
        law(isinstance(s, g.Let) and isinstance(s.rhs, g.Op | g.Load), "points in between can be computed in vain")
        assert isinstance(s, g.Let)
        if along.see(s) and isinstance(s.rhs, g.Load):
            moved = {a.name for a in s.rhs.index if isinstance(a, g.Var)} & along.dependent
            law(moved <= along.names, "what is loaded is there for points in between")


def _residues(n: LoopNest, context: Context) -> None:
    r, p = n.residues, n.partition
    assert r is not None
    law(r.divisor > 1 and (p.width is None or p.width[-1] == ONE), "remainders are of a number")
    if p.step is None or p.step[-1] == ONE:
        law(r.only is None, "all remainders occur")
    else:
        first = p.lower[-1]
        law(step_of(p, p.rank - 1) == r.divisor and isinstance(first, g.Const), "one remainder occurs")
        law(isinstance(first, g.Const) and first.value >= 0 and first.value % r.divisor == r.only, "it is the first's")
    divided = {
        v.name: (code, offset) for code, many in (("div", r.quotients), ("mod", r.remainders)) for v, offset in many
    }
    rest: list[g.Stmt] = []
    for s in n.body.statements:
        name = s.targets[0].name if isinstance(s, g.Let) and s.targets else ""
        if name not in divided:
            rest.append(s)
            continue
        assert isinstance(s, g.Let)
        code, offset = divided.pop(name)
        law(isinstance(s.rhs, g.Op) and (s.rhs.code == "div") == (code == "div"), "a quotient is one")
        assert isinstance(s.rhs, g.Op)
        law(s.rhs.args[1] == g.integer(r.divisor), "all are divided by the same number")
        found = linear(s.rhs.args[0], context.facts.made, opaque=p.index[-1].name)
        law(found == (p.index[-1], offset) and offset >= 0, "what is divided is the index plus a number")
    law(not divided and r.rest == g.Block(tuple(rest), n.body.results), "nothing else is left out")


def _tiles(n: LoopNest, p: g.Partition) -> None:
    t, rank = n.tiles, p.rank
    assert t is not None
    c = t.contraction
    law(c.p == p and _in_place(n) and bool(n.goals) and not n.earlier, "tiles are of one partition's arrays")
    axes = [loop.axis for loop in n.loops]
    several = c.packed or bool(t.sliding)
    two = [rank - 1, rank - 2] if c.packed else [rank - 2, rank - 1]
    tail = [*(two if several else [rank - 1]), *range(rank, rank + c.inner.rank)]
    law(axes[-len(tail) :] == tail, "tiles of columns and of rows, then what each cell reduces, in order")
    head = axes[: -len(tail)]
    law(head == list(range(head[0] if head else 0, len(head) + (head[0] if head else 0))), "the others are row-major")
    law(not head or head[-1] == rank - 2 - several, "each axis has a loop")
    sizes = {loop.axis: loop.size for loop in n.loops if loop.tag == "tile"}
    wanted = {rank - 1: t.vectors * t.lanes} | ({rank - 2: t.rows} if several else {})
    law(sizes == wanted, "tiles have the size of their registers")
    alone = c.packed or (t.rows > 1) == bool(t.sliding)
    law(alone and t.sliding <= sliding(c), "the rows of a tile of columns share what they load")
    law(t.lanes & (t.lanes - 1) == 0 and min(t.rows, t.vectors) >= 1, "registers are full")
    polls = [loop.polls for loop in n.loops if loop.tag != "tile" and loop.axis < rank]
    law(all(polls), "loops around tiles look at the stop flag")


def _hoisting(n: LoopNest, p: g.Partition) -> None:
    """What stands in front of a loop is computed once: it needs no later index, and no check is overtaken."""
    left = n.partition.body
    levels = {id(s): axis for axis, many in enumerate(n.before) for s in many}
    rest = {id(s) for s in left.statements}
    law(
        len(levels) + len(rest) == len(p.body.statements)
        and all(id(s) in levels or id(s) in rest for s in p.body.statements),
        "each statement runs, in front of an axis or inside",
    )
    law(left.results == p.body.results and not (n.before and n.before[0]), "a body gives what it gave")
    made: dict[str, int] = {v.name: k + 1 for k, v in enumerate(p.index)}
    made |= {v.name: p.rank for x in n.goals if isinstance(x, Through) for v in x.operator.params}
    checked = 0
    for s in p.body.statements:
        level = levels.get(id(s), p.rank)
        needs = {s.condition.name} if isinstance(s, g.Check) and isinstance(s.condition, g.Var) else free(g.Block((s,)))
        law(all(made.get(name, 0) <= level for name in needs), "what is hoisted needs no index behind")
        if isinstance(s, g.Check):
            checked = max(checked, level)
            continue
        nested = bool(g.blocks(s.rhs))
        if nested or isinstance(s.rhs, g.Load):
            law(level >= checked, "a load, or a loop, does not overtake a check")
        if level < p.rank:
            law(not any(isinstance(t.type, g.ArrayType) for t in s.targets), "arrays stay where they are made")
            checked = max(checked, level) if nested else checked
        made.update((t.name, level) for t in s.targets)


def _products(n: LoopNest) -> None:
    if not n.products:
        law(n.body == n.partition.body and not n.few, "a body is what is left behind what is hoisted")
        return
    law(_in_place(n) and not n.earlier and n.partition.step is None, "rows come in strips where all are computed")
    law(len(n.few) == len(n.products), "each product has a nest for few rows")
    before: set[str] = set()
    products = {r.target.name: r for r in n.products}
    for s in n.partition.body.statements:
        name = s.targets[0].name if isinstance(s, g.Let) and s.targets else ""
        if name in products:
            r = products.pop(name)
            used = free(r.w.partitions[0].body).union(*(free(g.Block((x,))) for x in r.needed))
            own = {t.name for x in r.needed for t in x.targets}
            law(not used & before - own, "a product needs nothing that the body computes in front of it")
            law(isinstance(s, g.Let) and s.rhs == r.w and r.tiles.contraction.packed, "a product is what the body had")
        if isinstance(s, g.Check):
            law(not products, "a product is not computed in front of a check")
        before |= {t.name for t in s.targets} if isinstance(s, g.Let) else set()
    law(not products, "each product is one of the body's")
    made = {r.target for r in n.products}
    kept = tuple(s for s in n.partition.body.statements if isinstance(s, g.Check) or not made.intersection(s.targets))
    law(n.body == g.Block(kept, n.partition.body.results), "the body is left without its products")

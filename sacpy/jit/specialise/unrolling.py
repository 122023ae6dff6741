"""Small with-loops with known index sets, executed index by index: what they compute are scalars, side by side.

In: a with-loop of core whose bounds are constants. Out: its results' values, or None where it is too large, or its
cells are. So index vectors and shapes never become arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from sacpy.jit.ir.graph import Atom
from sacpy.jit.specialise import withloops
from sacpy.jit.specialise.elementwise import elements
from sacpy.jit.specialise.indexsets import Atoms, Box
from sacpy.jit.specialise.structure import constants_of
from sacpy.jit.specialise.values import LIMIT, Small, Value, extents_of, integer, is_array, static_extents, zero
from sacpy.lang import core

if TYPE_CHECKING:
    from sacpy.jit.specialise.walk import Walk

FOLDED = 16  # indices of a fold that is unrolled
POINTS = 64  # indices of a genarray or modarray that is unrolled
COST = 320  # statements that unrolling may make


def unrolled(walk: Walk, loop: core.WithLoop, frame: Atoms | None, boxes: Sequence[Box]) -> list[Value] | None:
    """The results of a small with-loop; None where it stays a loop."""
    if boxes and not boxes[0].lower:
        return _once(walk, loop)
    if len(loop.operators) != 1:
        return None
    operator = loop.operators[0]
    sizes = [where.size() for where in boxes]
    total = sum(s for s in sizes if s is not None)
    if None in sizes or total > (FOLDED if isinstance(operator, core.Fold) else POINTS):
        return None
    if any(where.points() is None for where in boxes):
        return None
    match operator:
        case core.Fold():
            return _fold(walk, loop, operator, boxes, total)
        case core.Genarray():
            return _array(
                walk,
                loop,
                boxes,
                frame or (),
                None,
                None if operator.default is None else walk.value(operator.default),
                total,
            )
        case core.Modarray():
            return _array(walk, loop, boxes, frame or (), walk.value(operator.array), None, total)
    return None


def _once(walk: Walk, loop: core.WithLoop) -> list[Value]:
    """A with-loop of rank 0: each body is executed once."""
    b = walk.b
    threads = {
        bind.name: walk.value(i)
        for o in loop.operators
        if isinstance(o, core.Propagate)
        for bind, i in zip(o.params, o.initial)
    }
    rounds: list[list[Value]] = []
    for p in loop.partitions:
        walk.env.update(threads)
        withloops.bind_index(walk, p, ())
        rounds.append(walk.results(p.body, p.values))
        at = 0
        for o in loop.operators:
            names = [bind.name for bind in o.params] if isinstance(o, core.Propagate) else []
            threads.update(zip(names, rounds[-1][at:]))
            at += len(names) if names else len(o.neutrals) if isinstance(o, core.Fold) else 1
    results: list[Value] = []
    for o in loop.operators:
        at = len(results)
        match o:
            case core.Genarray(default=given) | core.Modarray(array=given):
                if given is not None:
                    b.need_equal(
                        extents_of(rounds[0][at]),
                        extents_of(walk.value(given)),
                        "the cells of a with-loop have one shape",
                    )
                results.append(rounds[0][at])
            case core.Propagate():
                results += [threads[bind.name] for bind in o.params]
            case core.Fold():
                neutrals = [walk.value(n) for n in o.neutrals]
                partials = [walk.applied(o.combine, neutrals, values[at : at + len(neutrals)]) for values in rounds]
                total = partials[0]
                for partial in partials[1:]:
                    total = walk.applied(o.combine, partial, total)
                results += total
    return results


def _array(
    walk: Walk,
    loop: core.WithLoop,
    boxes: Sequence[Box],
    frame: Atoms,
    old: Value | None,
    default: Value | None,
    total: int,
) -> list[Value] | None:
    b = walk.b
    extents = constants_of(tuple(map(b.same, frame)))
    if (
        extents is None
        or prod(extents) > LIMIT
        or (old is not None and is_array(old))
        or (default is not None and is_array(default))
    ):
        return None
    cells: dict[tuple[int, ...], Value] = {}
    cell = extents_of(default) if default is not None else extents_of(old)[len(extents) :] if old is not None else None
    before = b.count
    for p, where in zip(loop.partitions, boxes):
        for at in where.points() or ():
            if at in cells:
                continue
            value = _at(walk, p, at)
            if (is_array(value) and extents) or b.count - before > COST:
                return None
            cell = extents_of(value) if cell is None else cell
            b.need_equal(extents_of(value), cell, "the cells of a with-loop have one shape")
            cells[at] = value
            if len(cells) == 1 and (b.count - before) * total > COST * 2:
                return None
    sizes = None if cell is None else constants_of(tuple(map(b.same, cell)))
    if sizes is None or prod(extents) * prod(sizes) > LIMIT:
        return None
    return [_assembled(walk, extents, sizes, cells, old, default)]


def _assembled(
    walk: Walk,
    extents: tuple[int, ...],
    sizes: tuple[int, ...],
    cells: dict[tuple[int, ...], Value],
    old: Value | None,
    default: Value | None,
) -> Value:
    from sacpy.jit.specialise.elementwise import indices

    b = walk.b
    base = old.base if old is not None else default.base if default is not None else next(iter(cells.values())).base
    size = prod(sizes)
    before = elements(b, old, static_extents(old) or ()) if old is not None else None
    fill: list[Atom] = elements(b, default, sizes) if default is not None else [zero(base)] * size
    found: list[Atom] = []
    for k, at in enumerate(indices(extents)):
        cell = cells.get(at)
        found += (
            elements(b, cell, sizes)
            if cell is not None
            else before[k * size : (k + 1) * size]
            if before is not None
            else fill
        )
    if not extents and not sizes:
        return found[0]
    return Small(base, (*extents, *sizes), tuple(found))


def _at(walk: Walk, p: core.Partition, at: Sequence[int]) -> Value:
    withloops.bind_index(walk, p, tuple(map(integer, at)))
    return walk.results(p.body, p.values)[0]


def _fold(walk: Walk, loop: core.WithLoop, operator: core.Fold, boxes: Sequence[Box], total: int) -> list[Value] | None:
    """A fold's applications one after the other; partitions one by one, from the neutral, and together in order."""
    b = walk.b
    if operator.stop is not None:
        return None
    neutrals = [walk.value(n) for n in operator.neutrals]
    before = b.count
    result: list[Value] | None = None
    for p, where in zip(loop.partitions, boxes):
        current = list(neutrals)
        for at in where.points() or ():
            withloops.bind_index(walk, p, tuple(map(integer, at)))
            current = walk.applied(operator.combine, current, walk.results(p.body, p.values))
            if (b.count - before) * total > COST * 4 and b.count - before > LIMIT:
                return None
        result = current if result is None else walk.applied(operator.combine, current, result)
    return neutrals if result is None else result

"""With-loops: operators, partitions and their bodies as a with-loop of the graph, or, where it is small and known,
unrolled.

In: a with-loop of core. Out: the values of its results. A body is executed once, with variables for the components of
its index. What the operators need is made to fit: cells of a genarray have one shape, known before the loop;
accumulators of a fold and threaded values keep one form in all iterations, found by going through the bodies until it
no longer changes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING

from sacpy.jit.failures import Unsupported
from sacpy.jit.ir import graph
from sacpy.jit.ir.graph import ArrayType, Atom, Var
from sacpy.jit.specialise import unrolling
from sacpy.jit.specialise.emit import Builder
from sacpy.jit.specialise.facts import Scope
from sacpy.jit.specialise.indexsets import Atoms, Box, box, frame_of, index_length
from sacpy.jit.specialise.kinds import apart, join, kind_of, targets
from sacpy.jit.specialise.values import (
    Fails,
    Kind,
    Ranks,
    Small,
    Value,
    extents_of,
    integer,
    shape_of,
    small_vector,
    static_extents,
    zero,
)
from sacpy.lang import core
from sacpy.lang.lattice import full_extents
from sacpy.lang.pragmas import laid_out, order_of_fold
from sacpy.lang.types import Type, known
from sacpy.lang.walk import block_free
from sacpy.nodes import Record, field

if TYPE_CHECKING:
    from sacpy.jit.specialise.walk import Walk
    from sacpy.lang.ast import Pragma

ROUNDS = 8


class Part(Record):
    """A partition under construction: its index set, its body's block and values. `idle`: it is executed for its form
    only, since it has no index, or its body fails if it has one."""

    source: core.Partition
    box: Box
    index: tuple[Var, ...]
    scope: Scope
    values: list[Value]
    idle: bool = False


class Made(Record):
    """An operator of the graph, the kinds of the values that bodies give it, and its results."""

    operator: graph.Operator
    kinds: list[Kind]
    results: tuple[Var, ...]
    values: list[Value] = field(default_factory=list)


def with_loop(walk: Walk, let: core.Let, loop: core.WithLoop) -> None:
    """Sets the targets of a with-loop."""
    b = walk.b
    if not loop.operators:
        for p in loop.partitions:
            _body_of_nothing(walk, p)
        return
    frame = frame_of(walk, loop)
    length = index_length(walk, loop)
    if length is None:
        length = len(frame) if frame is not None else 1
    boxes = [box(walk, p, frame, length) for p in loop.partitions]
    kept = (length and laid_out(loop)) or (b.keeps_folds and any(isinstance(o, core.Fold) for o in loop.operators))
    results = None if kept else unrolling.unrolled(walk, loop, frame, boxes)
    if results is None:
        results = _general(walk, loop, frame, boxes, [t.source or "w" for t in let.targets])
    b.span = let.span
    for target, value in zip(let.targets, results, strict=True):
        walk.env[target.name] = _without_elements(value)


def _without_elements(value: Value) -> Value:
    """An array that is known to be empty has no need of a variable."""
    extents = static_extents(value)
    return Small(value.base, extents, ()) if extents is not None and 0 in extents else value


def _body_of_nothing(walk: Walk, p: core.Partition) -> None:
    """A with-loop without results: only what cannot be compiled matters."""
    b = walk.b
    length = index_length(walk, core.WithLoop((p,), (), ())) or 1
    with b.inside(closed=True):
        _enter(walk, p, box(walk, p, None, length))
        walk.block(p.body)


def _enter(walk: Walk, p: core.Partition, where: Box) -> tuple[Var, ...]:
    """Binds the index of a partition to new variables, in its body's block."""
    b = walk.b
    stems = [s.source or "i" for s in p.scalars] if p.scalars is not None else ["i"] * len(where.lower)
    index = tuple(b.index_var(stem, lo, up) for stem, lo, up in zip(stems, where.lower, where.upper))
    b.declare(index)
    bind_index(walk, p, index)
    return index


def bind_index(walk: Walk, p: core.Partition, index: Sequence[Atom]) -> None:
    """The index vector, and its components, as values."""
    walk.env[p.index.name] = small_vector(index)
    for bind, i in zip(p.scalars or (), index):
        walk.env[bind.name] = i


# ---------------------------------------------------------------- the general case


def _general(
    walk: Walk, loop: core.WithLoop, frame: Atoms | None, boxes: Sequence[Box], stems: Sequence[str]
) -> list[Value]:
    b = walk.b
    threads, parts = _bodies(walk, loop, boxes)
    made: list[Made] = []
    at = 0
    for operator in loop.operators:
        width = (
            len(operator.neutrals)
            if isinstance(operator, core.Fold)
            else len(operator.initial)
            if isinstance(operator, core.Propagate)
            else 1
        )
        columns = [part.values[at : at + width] for part in parts]
        names = stems[at : at + width]
        match operator:
            case core.Genarray():
                made.append(_genarray(walk, operator, frame or (), parts, at, names))
            case core.Modarray():
                made.append(_modarray(walk, operator, frame or (), parts, at, names))
            case core.Fold():
                made.append(_fold(walk, loop, operator, parts, columns, names))
            case core.Propagate():
                thread = threads[id(operator)]
                initial = tuple(
                    a for kind, i in zip(thread.kinds, operator.initial) for a in apart(b, kind, walk.value(i))
                )
                variables, values = targets(b, thread.kinds, names)
                function = None
                if operator.combine is not None and all(kind.form == "scalar" for kind in thread.kinds):
                    from sacpy.jit.specialise.combining import associative  # scans are rare

                    function = associative(walk, operator.combine, thread.kinds)
                handed = graph.Propagate(initial, thread.params, operator.word, function)
                made.append(Made(handed, thread.kinds, variables, values))
        at += width
    partitions = tuple(_partition(b, part, made, _staged(walk, loop, part.source)) for part in parts)
    complete = len(boxes) == 1 and frame is not None and _covers(b, boxes[0], frame)
    operators = tuple(m.operator for m in made)
    result = graph.WithLoop(
        frame, partitions, operators, disjoint=len(boxes) < 2, complete=complete, pragmas=loop.pragmas
    )
    b.let(tuple(v for m in made for v in m.results), result)
    return [v for m in made for v in m.values]


def _covers(b: Builder, where: Box, frame: Atoms) -> bool:
    return (
        where.step is None
        and all(b.equal(lo, integer(0)) for lo in where.lower)
        and all(b.equal(up, n) for up, n in zip(where.upper, frame))
    )


def _staged(walk: Walk, loop: core.WithLoop, p: core.Partition) -> tuple[tuple[str, Var], ...]:
    """The arrays that pragmas name for shared memory, and that a partition reads."""
    names = {
        name
        for pragma in (*loop.pragmas, *p.pragmas)
        if pragma.text.startswith("gpumem")
        for name in re.findall(r"[A-Za-z_]\w*", pragma.text.partition("shared")[2])
    }
    if not names:
        return ()
    found = [(name.partition("~")[0], walk.env.get(name)) for name in sorted(block_free(p.body, p.values))]
    return tuple(
        (source, v) for source, v in found if source in names and isinstance(v, Var) and isinstance(v.type, ArrayType)
    )


def _partition(b: Builder, part: Part, made: Sequence[Made], staged: tuple[tuple[str, Var], ...]) -> graph.Partition:
    with b.again(part.scope), b.never() if part.box.empty else nullcontext():
        at = 0
        results: list[Atom] = []
        for m in made:
            for kind in m.kinds:
                results += apart(b, kind, part.values[at])
                at += 1
    where = part.box
    return graph.Partition(
        where.lower,
        where.upper,
        where.step,
        where.width,
        part.index,
        part.scope.block(results),
        part.source.pragmas,
        part.source.span,
        staged,
    )


class _Thread(Record):
    """A propagate's values: their kinds, and the variables that stand for them in bodies."""

    kinds: list[Kind]
    params: tuple[Var, ...] = ()


def _bodies(walk: Walk, loop: core.WithLoop, boxes: Sequence[Box]) -> tuple[dict[int, _Thread], list[Part]]:
    """Executes all bodies, with threaded values in the form that they keep."""
    b = walk.b
    propagates = [o for o in loop.operators if isinstance(o, core.Propagate)]
    threads = {id(o): _Thread([kind_of(b, walk.value(i), b.depth) for i in o.initial]) for o in propagates}
    for _ in range(ROUNDS):
        parts = []
        for o in propagates:
            thread = threads[id(o)]
            thread.params, values = targets(b, thread.kinds, [p.source or "p" for p in o.params])
            for bind, value in zip(o.params, values):
                walk.env[bind.name] = value
        params = [v for thread in threads.values() for v in thread.params]
        for p, where in zip(loop.partitions, boxes):
            try:
                if where.empty:
                    raise Fails
                parts.append(_part(walk, p, where, params, loop.pragmas))
            except Fails:  # right only for an empty index set
                b.check(_is_empty(b, where), "a partition whose body fails is empty")
                with b.never():
                    parts.append(_part(walk, p, where, params, loop.pragmas))
                parts[-1].idle = True
        if not _widen(b, loop, threads, parts):
            return threads, parts
    raise Unsupported("the shapes of what propagate carries do not settle", b.span)


def _part(walk: Walk, p: core.Partition, where: Box, params: Sequence[Var], pragmas: Sequence[Pragma] = ()) -> Part:
    """A partition's body, executed once; `params`: the variables of threaded values; `pragmas`: of the with-loop."""
    shared = any(q.text.startswith("gpufold") for q in (*pragmas, *p.pragmas))
    with walk.b.inside(closed=bool(params)) as scope, walk.b.in_cells(), walk.b.keeping(shared):
        walk.b.declare(params)
        index = _enter(walk, p, where)
        return Part(p, where, index, scope, walk.results(p.body, p.values))


def _is_empty(b: Builder, where: Box) -> Atom:
    """Whether there is no index."""
    result: Atom = graph.FALSE
    for lo, up in zip(where.lower, where.upper):
        result = b.op("or", result, b.op("le", up, lo))
    return result


def _widen(b: Builder, loop: core.WithLoop, threads: dict[int, _Thread], parts: Sequence[Part]) -> bool:
    """Makes the kinds of threaded values hold what the bodies gave. Whether that changed any."""
    changed, at = False, 0
    for o in loop.operators:
        width = len(o.neutrals) if isinstance(o, core.Fold) else len(o.initial) if isinstance(o, core.Propagate) else 1
        if isinstance(o, core.Propagate):
            thread = threads[id(o)]
            for part in parts:
                try:
                    wider = [
                        join(kind, kind_of(b, v, b.depth))
                        for kind, v in zip(thread.kinds, part.values[at : at + width])
                    ]
                except Ranks:
                    raise Unsupported("the rank of a value that propagate carries changes", b.span) from None
                changed = changed or wider != thread.kinds
                thread.kinds = wider
        at += width
    return changed


# ---------------------------------------------------------------- genarray and modarray


def _genarray(
    walk: Walk, operator: core.Genarray, frame: Atoms, parts: Sequence[Part], at: int, stems: Sequence[str]
) -> Made:
    b = walk.b
    default = None if operator.default is None else walk.value(operator.default)
    if default is None and not parts:
        raise Unsupported("the shape of the cells of a with-loop without parts is not known", b.span)
    base = default.base if default is not None else parts[0].values[at].base
    cell = extents_of(default) if default is not None else _cell(walk, parts, at)
    cell = tuple(map(b.same, cell))
    if not frame and not cell:
        raise Unsupported("a with-loop of rank 0 with bounds that are not known", b.span)
    kind = Kind("array", base, cell) if cell else Kind("scalar", base)
    _need_rank(parts, at, len(cell))
    if default is None:
        filler: Atom = zero(base)
    else:
        filler = b.array(default) if cell else apart(b, kind, default)[0]
    (result,) = (b.names.var(stems[0], ArrayType(base, (*frame, *cell))),)
    return Made(graph.Genarray(base, cell, filler), [kind], (result,), [result])


def _need_rank(parts: Sequence[Part], at: int, rank: int) -> None:
    for part in parts:
        if len(extents_of(part.values[at])) != rank:
            raise Fails("the cells of a with-loop have one shape")


def _cell(walk: Walk, parts: Sequence[Part], at: int) -> Atoms:
    """The extents of the cells, known outside of the loop."""
    b = walk.b
    if all(part.idle for part in parts) and not any(_tells_cell(walk, part, at) for part in parts):
        raise Fails("the cells of a with-loop have a shape that can be told")
    for part in parts:
        extents = kind_of(b, part.values[at], b.depth).extents
        if None not in extents:
            return tuple(e for e in extents if e is not None)
    return _first_cell(walk, parts, at)


def _tells_cell(walk: Walk, part: Part, at: int) -> bool:
    """Whether inference knows the extents of a partition's cells: the interpreter asks it where there are none."""
    p = part.source
    types = {p.index.name: Type("int", known((len(part.box.lower),)))} | {
        bind.name: Type("int", known(())) for bind in p.scalars or ()
    }
    for name in block_free(p.body, (p.values[at],)) - types.keys():
        value = walk.env.get(name)
        if value is not None:
            types[name] = Type(value.base, shape_of(value))
    (shape,) = walk.maker.known.inferrer.block_values(p.body, [p.values[at]], types)
    return not shape.never and full_extents(shape) is not None


def _first_cell(walk: Walk, parts: Sequence[Part], at: int) -> Atoms:
    """The extents of the first cell, computed for them before the loop; that there is one is checked."""
    b = walk.b
    part = next((p for p in parts if not p.box.empty), parts[0])
    for lo, up in zip(part.box.lower, part.box.upper):
        b.check(b.op("lt", lo, up), "there is a cell that tells the shape of all")
    bind_index(walk, part.source, part.box.lower)
    return extents_of(walk.results(part.source.body, part.source.values)[at])


def _modarray(
    walk: Walk, operator: core.Modarray, frame: Atoms, parts: Sequence[Part], at: int, stems: Sequence[str]
) -> Made:
    b = walk.b
    array = b.array(walk.value(operator.array))
    cell = tuple(map(b.same, extents_of(array)[len(frame) :]))
    _need_rank(parts, at, len(cell))
    kind = Kind("array", array.base, cell) if cell else Kind("scalar", array.base)
    result = b.names.var(stems[0], array.type)
    return Made(graph.Modarray(array), [kind], (result,), [result])


# ---------------------------------------------------------------- fold


def _fold(
    walk: Walk,
    loop: core.WithLoop,
    operator: core.Fold,
    parts: Sequence[Part],
    columns: Sequence[list[Value]],
    stems: Sequence[str],
) -> Made:
    """The accumulators have the neutral's form if the function keeps it; values are checked to have it too. Otherwise
    extents travel along."""
    b = walk.b
    neutrals = [walk.value(n) for n in operator.neutrals]
    kinds = [kind_of(b, n, b.depth) for n in neutrals]
    try:
        own = list(kinds)
        for column in columns:
            own = [_joined(kind, kind_of(b, v, b.depth)) for kind, v in zip(own, column)]
        if own != kinds:
            kept = _keeps(walk, operator, kinds, own)
            kinds = [Kind(o.form, o.base, k.extents) if kept else o for k, o in zip(kinds, own)]
        for _ in range(ROUNDS):
            accumulators, current = targets(b, kinds, ["acc"] * len(kinds))
            values, new = targets(b, kinds, ["val"] * len(kinds))
            with b.inside(closed=False) as scope:
                b.declare((*accumulators, *values))
                results = walk.applied(operator.combine, current, new)
                wider = [join(kind, kind_of(b, r, b.depth - 1)) for kind, r in zip(kinds, results)]
            if wider == kinds:
                break
            kinds = wider
        else:
            raise Unsupported("the shapes of a fold's results do not settle", b.span)
    except Ranks:
        raise Unsupported("the rank of a fold's result differs from its neutral element's", b.span) from None
    with b.again(scope):
        combined = [a for kind, r in zip(kinds, results) for a in apart(b, kind, r)]
    start = tuple(a for kind, n in zip(kinds, neutrals) for a in apart(b, kind, n))
    stop = (
        None
        if operator.stop is None
        else tuple(a for kind, s in zip(kinds, operator.stop) for a in apart(b, kind, walk.value(s)))
    )
    variables, given = targets(b, kinds, stems)
    fold = graph.Fold(start, accumulators, values, scope.block(combined), stop, order_of_fold(loop))
    return Made(fold, kinds, variables, given)


def _joined(a: Kind, c: Kind) -> Kind:
    """The form of both, and the extents that they share."""
    if len(a.extents) != len(c.extents):
        raise Ranks
    return join(a, c)


def _keeps(walk: Walk, operator: core.Fold, kinds: Sequence[Kind], own: Sequence[Kind]) -> bool:
    """Whether accumulators keep the neutral's form, whatever the shapes of the values: then values of another shape are
    refused, or are taken as the interpreter takes them."""
    b = walk.b
    accumulators, current = targets(b, kinds, ["acc"] * len(kinds))
    values, new = targets(b, own, ["val"] * len(own))
    with b.inside(closed=True):
        b.declare((*accumulators, *values))
        results = walk.applied(operator.combine, current, new)
        return all(join(kind, kind_of(b, r, b.depth - 1)) == kind for kind, r in zip(kinds, results))

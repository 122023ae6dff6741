"""With-loops in inference: index sets against results, and the shapes of what the operators make.

In: a frame and a `WithLoop`. Out: one shape per result. What is certain to be wrong is reported: bounds of the wrong
length, partitions that leave the result, steps below 1, cells of different shapes.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.lang.core import Atom, Fold, Genarray, Modarray, Partition, Propagate, WithLoop
from sacpy.lang.infer_frame import Frame
from sacpy.lang.infer_indexsets import IndexSet, Legal, index_set, legal_indices
from sacpy.lang.lattice import concat, disjoint, drop_axes, first_difference, join, join_all, meet, show, without_value
from sacpy.lang.shape_problems import Problem
from sacpy.lang.source import Span
from sacpy.lang.types import BOTTOM, SCALAR, Shape, known, of_rank
from sacpy.nodes import Node

Values = list[list[Shape]]  # per partition, the shape of each of its values


def with_loop(frame: Frame, loop: WithLoop, span: Span) -> list[Shape]:
    """The shapes of the results of a with-loop."""
    legal = legal_indices(frame, loop, span)
    sets = [index_set(frame, partition, legal) for partition in loop.partitions]
    carried = [(op, at) for op, at in _starts(loop) if isinstance(op, Propagate)]
    initial = [frame.shape(a) for op, _ in carried for a in op.initial]
    values: Values = []

    def run(state: list[Shape]) -> list[Shape]:
        values[:] = []
        for shape, param in zip(state, [p for op, _ in carried for p in op.params]):
            frame.bind(param, shape)
        for partition, set_ in zip(loop.partitions, sets):
            values.append(_body(frame, partition, set_))
        rounds = [[v[at + k] for op, at in carried for k in range(len(op.initial))] for v in values]
        return [join_all(column) for column in zip(state, *rounds)]

    with frame.perhaps(certain=not carried):
        state = frame.fixpoint(initial, run)
    results: list[Shape] = []
    for op, at in _starts(loop):
        match op:
            case Genarray():
                results.append(_genarray(frame, loop, op, legal, sets, [v[at] for v in values], span))
            case Modarray():
                results.append(_modarray(frame, loop, op, legal, sets, [v[at] for v in values]))
            case Fold():
                results += _fold(frame, op, sets, [v[at : at + len(op.neutrals)] for v in values])
            case Propagate():
                results += state[: len(op.initial)]
                state = state[len(op.initial) :]
    return results


def _starts(loop: WithLoop) -> list[tuple[Genarray | Modarray | Fold | Propagate, int]]:
    """Each operator with the position of its first value in a partition."""
    result, at = [], 0
    for op in loop.operators:
        result.append((op, at))
        at += len(op.neutrals) if isinstance(op, Fold) else len(op.initial) if isinstance(op, Propagate) else 1
    return result


def _body(frame: Frame, partition: Partition, set_: IndexSet) -> list[Shape]:
    """Walks the body of a partition; one that never runs is walked for its shapes, and nothing is reported."""
    frame.bind(partition.index, of_rank(1) if set_.length is None else known((set_.length,)))
    for scalar in partition.scalars or ():
        frame.bind(scalar, SCALAR)
    sink = frame.sink
    if set_.empty:
        frame.sink = None
    with frame.perhaps(certain=set_.nonempty):
        frame.block(partition.body)
    frame.sink = sink
    return [frame.shape(v) for v in partition.values]


# ---------------------------------------------------------------- operators


class _Cell(Node):
    """A shape that a result's cells should have: whose, and whether it is certain to be evaluated."""

    shape: Shape
    base: str
    what: str
    span: Span
    atom: Atom
    certain: bool


def _common_cell(frame: Frame, cells: Sequence[_Cell]) -> Shape:
    """The one shape of all cells. Parts that may never run count only where no part is certain to run."""
    first = cells[0]
    for other in cells[1:]:
        if disjoint(first.shape, other.shape):
            frame.report(
                Problem(
                    "E0521",
                    f"the cells of one result need equal shapes, but {first.what} is {show(first.base, first.shape)} "
                    f"and {other.what} is {show(other.base, other.shape)}",
                    "make all parts and the default the same shape",
                    (first_difference(first.shape, other.shape),),
                    (0, 1),
                ),
                other.atom.span if other.what == "the default" else other.span,
                (first.atom, other.atom),
            )
            return BOTTOM
    certain = [cell.shape for cell in cells if cell.certain]
    if not certain:
        return join_all(cell.shape for cell in cells)
    shape = certain[0]
    for other_shape in certain[1:]:
        shape = meet(shape, other_shape)
    return shape


def _cells(
    frame: Frame, loop: WithLoop, sets: Sequence[IndexSet], shapes: Sequence[Shape], position: int
) -> list[_Cell]:
    cells = []
    for number, (partition, set_, shape) in enumerate(zip(loop.partitions, sets, shapes), 1):
        atom = partition.values[position]
        what = "the body" if len(loop.partitions) == 1 else f"the body of part {number}"
        if not set_.empty:
            cells.append(_Cell(without_value(shape), frame.base(atom), what, partition.span, atom, set_.nonempty))
    return cells


def _position(loop: WithLoop, wanted: Genarray | Modarray) -> int:
    return next(at for op, at in _starts(loop) if op is wanted)


def _genarray(
    frame: Frame,
    loop: WithLoop,
    op: Genarray,
    legal: Legal,
    sets: Sequence[IndexSet],
    shapes: Sequence[Shape],
    span: Span,
) -> Shape:
    cells = _cells(frame, loop, sets, shapes, _position(loop, op))
    if op.default is not None:
        cells.insert(
            0,
            _Cell(
                without_value(frame.shape(op.default)),
                frame.base(op.default),
                "the default",
                op.default.span,
                op.default,
                True,
            ),
        )
    if cells:
        cell = _common_cell(frame, cells)
    else:
        cell = without_value(join_all(shapes)) if shapes else SCALAR
        if not cell.never and (cell.extents is None or None in cell.extents):
            frame.report(
                Problem(
                    "W0530",
                    "no cell of this array is ever computed, and the shape of its cells cannot be told",
                    "give genarray a default; it tells the shape of a cell",
                    (f"the cell's type may be {show('', cell) or 'a scalar'}",),
                ),
                span,
            )
    frame_shape = legal.of(op)
    return concat(frame_shape, cell)


def _modarray(
    frame: Frame, loop: WithLoop, op: Modarray, legal: Legal, sets: Sequence[IndexSet], shapes: Sequence[Shape]
) -> Shape:
    array = without_value(frame.shape(op.array))
    length = legal.length
    wanted = drop_axes(array, length)
    for cell in _cells(frame, loop, sets, shapes, _position(loop, op)):
        if disjoint(wanted, cell.shape):
            frame.report(
                Problem(
                    "E0521",
                    f"{cell.what} is {show(cell.base, cell.shape)}, but the part of the array that an index of length "
                    f"{length} selects is {show(cell.base, wanted)}",
                    "let the body yield a value of the shape of the part it replaces",
                    (first_difference(wanted, cell.shape),),
                    (0, 1),
                ),
                cell.span,
                (op.array, cell.atom),
            )
    return array


def _fold(frame: Frame, op: Fold, sets: Sequence[IndexSet], values: Values) -> list[Shape]:
    neutrals = [frame.shape(n) for n in op.neutrals]
    running = [v for v, set_ in zip(values, sets) if not set_.empty]
    if not running:
        return neutrals

    def combine(accumulators: list[Shape], new: list[Shape]) -> list[Shape]:
        for param, shape in zip(op.combine.params, [*accumulators, *new]):
            frame.bind(param, shape)
        frame.block(op.combine.body)
        return [frame.shape(r) for r in op.combine.results]

    def run(state: list[Shape]) -> list[Shape]:
        result = list(state)
        for new in [*running, *([state] if len(values) > 1 else [])]:
            result = [join(a, b) for a, b in zip(result, combine(state, new))]
        return result

    if any(s.never for s in neutrals):
        return [BOTTOM] * len(neutrals)
    with frame.perhaps():
        return frame.fixpoint([without_value(n) for n in neutrals], run)

"""Index sets of with-loops in inference: how long an index is, which indices are legal, and whether a partition is
empty or leaves the result.

In: a frame and the bounds of partitions. Out: `Legal` for the whole with-loop, an `IndexSet` per partition. Reports
bounds whose lengths disagree, known indices outside of the result, and steps below 1.
"""

from __future__ import annotations

from sacpy.lang.core import Atom, Genarray, Modarray, Partition, WithLoop
from sacpy.lang.infer_frame import Frame
from sacpy.lang.lattice import int_vector, meet, prefix, without_value
from sacpy.lang.shape_problems import Problem
from sacpy.lang.source import Span
from sacpy.lang.types import ANY, Shape, known, of_rank
from sacpy.nodes import Node

Extents = tuple[int | None, ...]


class Legal(Node):
    """The indices that are legal in all results: their `length` and, per axis, the extent, where known. `frames`: the
    outer shape of each genarray."""

    length: int | None
    extents: Extents | None
    has_result: bool
    frames: tuple[tuple[Genarray, Shape], ...]

    def of(self, op: Genarray) -> Shape:
        """The axes that a genarray's own shape vector gives its result."""
        return next(shape for other, shape in self.frames if other is op)


class IndexSet(Node):
    """The length of the index, and whether the set is certainly empty, or certainly not."""

    length: int | None
    empty: bool
    nonempty: bool


class _Length(Node):
    """A place that tells the length of the index."""

    count: int
    what: str
    atom: Atom | None
    span: Span


def legal_indices(frame: Frame, loop: WithLoop, span: Span) -> Legal:
    """Compares all that tells the index length, and finds the legal indices."""
    frames: list[tuple[Genarray, Shape]] = []
    lengths: list[_Length] = []
    legal: Shape = ANY
    for op in loop.operators:
        if isinstance(op, Genarray):
            shape = _frame_shape(frame, op)
            frames.append((op, shape))
            if shape.rank is not None:
                lengths.append(_Length(shape.rank, "the shape of genarray", op.shape, op.shape.span))
            legal = meet(legal, shape)
    for partition in loop.partitions:
        lengths += _lengths(frame, partition)
    length = _agree(frame, lengths)
    for op in loop.operators:
        if isinstance(op, Modarray) and length is not None:
            array = frame.shape(op.array)
            if array.rank is not None and length > array.rank:
                _too_long(frame, op, length, lengths, span)
            else:
                legal = meet(legal, prefix(without_value(array), length))
    has_result = any(isinstance(op, Genarray | Modarray) for op in loop.operators)
    extents = None if legal.never else legal.extents if legal.rank is not None and legal.rank == length else None
    return Legal(length, extents, has_result, tuple(frames))


def _frame_shape(frame: Frame, op: Genarray) -> Shape:
    """The outer axes of a genarray."""
    shape = frame.shape(op.shape)
    if shape.never:
        return shape
    if shape.min_rank > 1:
        frame.report(
            Problem(
                "E0507",
                "the shape of genarray must be a vector",
                "write one extent per axis, as in genarray([n,m])",
                operands=(0,),
            ),
            op.shape.span,
            (op.shape,),
        )
        return ANY
    value = int_vector(shape)
    if value is not None:
        if any(v < 0 for v in value):
            text = ",".join(map(str, value))
            frame.report(
                Problem(
                    "E0510",
                    f"a shape cannot have a negative extent, but this is [{text}]",
                    operands=(0,),
                    help="extents are 0 or more",
                ),
                op.shape.span,
                (op.shape,),
            )
            return of_rank(len(value))
        return known(value)
    if shape.rank == 0:
        return of_rank(1)
    return ANY if shape.extents is None or shape.extents[0] is None else of_rank(shape.extents[0])


def _lengths(frame: Frame, partition: Partition) -> list[_Length]:
    """All parts of a generator that tell the index length; scalar bounds spread and tell nothing."""
    result = []
    if partition.scalars is not None:
        result.append(_Length(len(partition.scalars), "the list of index names", None, partition.index.span))
    parts = (
        ("the lower bound", partition.lower),
        ("the upper bound", partition.upper),
        ("the step", partition.step),
        ("the width", partition.width),
    )
    for what, atom in parts:
        if atom is None:
            continue
        shape = frame.shape(atom)
        if shape.min_rank > 1:
            frame.report(
                Problem(
                    "E0518", f"{what} must be a vector or a scalar", operands=(0,), help="write one number per axis"
                ),
                atom.span,
                (atom,),
            )
        elif shape.rank == 1 and shape.extents is not None and shape.extents[0] is not None:
            result.append(_Length(shape.extents[0], what, atom, atom.span))
    return result


def _agree(frame: Frame, lengths: list[_Length]) -> int | None:
    """The one length that all agree on; the first disagreement is reported."""
    if not lengths:
        return None
    first = lengths[0]
    for other in lengths[1:]:
        if other.count != first.count:
            operands = tuple(x.atom for x in (first, other) if x.atom is not None)
            frame.report(
                Problem(
                    "E0518",
                    f"{other.what} has length {other.count}, but {first.what} has length {first.count}",
                    "bounds, step, width and index names need one component per axis of the index set",
                    operands=tuple(range(len(operands))),
                ),
                other.span,
                operands,
            )
            break
    return first.count


def _too_long(frame: Frame, op: Modarray, length: int, lengths: list[_Length], span: Span) -> None:
    rank = frame.shape(op.array).rank
    where = lengths[0].span if lengths else span
    frame.report(
        Problem(
            "E0518",
            f"{lengths[0].what} has length {length}, but the array of modarray has rank {rank}",
            "an index has at most as many components as the array has axes",
            operands=(0,),
        ),
        where,
        (op.array,),
    )


# ---------------------------------------------------------------- one partition


def index_set(frame: Frame, partition: Partition, legal: Legal) -> IndexSet:
    """What is known of a partition's index set."""
    length = legal.length
    if length is None:
        return IndexSet(None, False, False)
    steps = _steps(frame, partition, partition.step, "step", length)
    widths = _steps(frame, partition, partition.width, "width", length)
    if partition.lower is None:
        lower: Extents = (0 if partition.lower_inclusive else 1,) * length
    else:
        lower = _bound(frame, partition.lower, length, 0 if partition.lower_inclusive else 1)
    if partition.upper is None:
        extents = legal.extents or (None,) * length
        upper: Extents = tuple(None if e is None else e - (0 if partition.upper_inclusive else 1) for e in extents)
    else:
        upper = _bound(frame, partition.upper, length, 1 if partition.upper_inclusive else 0)
    pairs = list(zip(lower, upper))
    empty = any(a is not None and b is not None and a >= b for a, b in pairs)
    nonempty = all(a is not None and b is not None and a < b for a, b in pairs)
    if nonempty and legal.has_result:
        _check_inside(frame, partition, [(a or 0, b or 0) for a, b in pairs], steps, widths, legal)
    return IndexSet(length, empty, nonempty)


def _bound(frame: Frame, atom: Atom, length: int, offset: int) -> Extents:
    """A bound's components, a scalar spread over all axes, moved by `offset`."""
    value = int_vector(frame.shape(atom))
    if value is None:
        return (None,) * length
    if frame.shape(atom).rank == 0:
        value = value * length
    return tuple(v + offset for v in value) if len(value) == length else (None,) * length


def _steps(frame: Frame, partition: Partition, atom: Atom | None, what: str, length: int) -> Extents:
    if atom is None:
        return (1,) * length
    result = _bound(frame, atom, length, 0)
    if any(v is not None and v < 1 for v in result):
        frame.report(
            Problem(
                "E0520",
                f"a {what} must be at least 1 on every axis",
                f"a {what} of 1 is the default: leave it out",
                operands=(0,),
            ),
            atom.span,
            (atom,),
        )
    return result


def _check_inside(
    frame: Frame, partition: Partition, pairs: list[tuple[int, int]], steps: Extents, widths: Extents, legal: Legal
) -> None:
    """Reports an index set that certainly holds an illegal index."""
    extents = legal.extents or (None,) * len(pairs)
    for axis, (low, high) in enumerate(pairs):
        last = _last(low, high, steps[axis], widths[axis])
        extent = extents[axis]
        if low < 0:
            _leaves(frame, partition, partition.lower, axis, low, extent)
            return
        if last is not None and extent is not None and last >= extent:
            _leaves(frame, partition, partition.upper, axis, last, extent)
            return


def _last(low: int, high: int, step: int | None, width: int | None) -> int | None:
    """The largest index of `low <= i < high step s width w`."""
    if step is None or width is None or step < 1 or width < 1:
        return None
    periods, rest = divmod(high - 1 - low, step)
    return low + periods * step + min(rest, width - 1)


def _leaves(frame: Frame, partition: Partition, atom: Atom | None, axis: int, index: int, extent: int | None) -> None:
    limit = (
        "" if extent is None else f", which has the indices 0 to {extent - 1} there" if extent else ", which is empty"
    )
    frame.report(
        Problem(
            "E0519",
            f"this partition leaves the result{limit}: on axis {axis} it reaches index {index}",
            "bring the bounds inside the result, or write a dot for the smallest or largest legal index",
            operands=(0,),
        ),
        partition.span if atom is None else atom.span,
        () if atom is None else (atom,),
    )


__all__ = ["IndexSet", "Legal", "index_set", "legal_indices"]

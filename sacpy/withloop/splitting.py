"""Partitions made disjoint and complete.

In: the shape a with-loop's partitions range over (its frame) and their index spaces, earlier ones having priority. Out:
index spaces that do not overlap and together are the whole frame, each with the partition that computes it or none (the
default element, or a copy of the source array). What lies around a partition with step and width is cut as in Janssen
and Scholz, section 2.2: slabs outside of its bounds, axis by axis, then what lies between its rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from sacpy.nodes import Node
from sacpy.withloop.axes import Axis, TooManyPieces, around, within
from sacpy.withloop.spaces import IndexSpace, Vector

MOST_PIECES = 64
_MOST_ON_THE_WAY = 4 * MOST_PIECES  # a later partition may yet swallow what is left over at some point

Box = tuple[Axis, ...]


class Piece(Node):
    """Indices that one partition computes: its number, counted from 0, or None for the default."""

    space: IndexSpace
    partition: int | None


class Split(Node):
    """Disjoint pieces that together are the frame. Where they would be too many, `first_match` is true and the only
    piece is the whole frame, of no partition: each index asks `owner`."""

    pieces: tuple[Piece, ...]
    partitions: tuple[IndexSpace, ...]
    first_match: bool = False

    def owner(self, index: Sequence[int]) -> int | None:
        """The first partition that has the index, None where none does."""
        return next((number for number, space in enumerate(self.partitions) if index in space), None)


def split(frame: Sequence[int], partitions: Sequence[IndexSpace]) -> Split:
    """The disjoint, complete pieces of the index box of shape `frame`: those of each partition in order, then the
    default's. What a partition has outside of the frame is left out. Empty pieces are not listed; an empty frame has
    none.

    `ValueError` where a partition's rank is not the frame's length. Remembered for bounds seen before."""
    return _split(tuple(frame), tuple(partitions))


@lru_cache(maxsize=4096)
def _split(frame: Vector, partitions: tuple[IndexSpace, ...]) -> Split:
    if any(space.rank != len(frame) for space in partitions):
        raise ValueError(f"the partitions of a frame of {len(frame)} axes have that many axes")
    whole = IndexSpace.box(frame)
    box = _axes(whole)
    if box is None:
        return Split((), partitions)
    if partitions and _covers(partitions[0], whole):
        return Split((Piece(whole, 0),), partitions)
    try:
        pieces = _cut(box, [_axes(space) for space in partitions])
    except TooManyPieces:
        return Split((Piece(whole, None),), partitions, first_match=True)
    return Split(tuple(pieces), partitions)


def _covers(space: IndexSpace, whole: IndexSpace) -> bool:
    """Every index of the box belongs to the space."""
    return space.dense and all(
        low <= 0 and high >= extent for low, high, extent in zip(space.lower, space.upper, whole.upper)
    )


def _cut(frame: Box, partitions: list[Box | None]) -> list[Piece]:
    pieces: list[Piece] = []
    left = [frame]
    for number, partition in enumerate(partitions):
        if partition is None or not left:
            continue
        own = _shared(partition, frame)
        for earlier in partitions[:number]:
            if earlier is not None and own:
                own = _minus(own, earlier)
        pieces += [Piece(_space(box), number) for box in own]
        if own:
            left = _minus(left, partition)
    pieces += [Piece(_space(box), None) for box in left]
    if len(pieces) > MOST_PIECES:
        raise TooManyPieces
    return pieces


def _minus(boxes: list[Box], taken: Box) -> list[Box]:
    left = [piece for box in boxes for piece in _difference(box, taken)]
    if len(left) > _MOST_ON_THE_WAY:
        raise TooManyPieces
    return left


def _difference(box: Box, taken: Box) -> list[Box]:
    """What of `box` is not in `taken`: for each axis the slabs below and above the bounds of `taken`, then for each
    axis the rows that `taken` leaves out between its bounds."""
    if any(a.low >= b.high or a.high <= b.low for a, b in zip(box, taken)):
        return [box]
    shared = [within(a, b) for a, b in zip(box, taken)]
    if not all(common for common, _ in shared):
        return [box]
    pieces: list[Box] = []
    inside: list[list[Axis]] = [a.clip(b.low, b.high) for a, b in zip(box, taken)]
    for k, (a, b) in enumerate(zip(box, taken)):
        for slab in (part for side in around(a, b) for part in side):
            pieces += _product([*inside[:k], [slab], *([axis] for axis in box[k + 1 :])])
    for k, (_, only) in enumerate(shared):
        pieces += _product([*(common for common, _ in shared[:k]), only, *inside[k + 1 :]])
    return pieces


def _shared(box: Box, frame: Box) -> list[Box]:
    """What of `box` lies in the dense `frame`."""
    return _product([a.clip(b.low, b.high) for a, b in zip(box, frame)])


def intersect(a: IndexSpace, b: IndexSpace) -> tuple[IndexSpace, ...]:
    """The indices in both, as disjoint index spaces: none where nothing is shared, more than one where periods
    interleave. `TooManyPieces` where they interleave too finely; `ValueError` where the ranks differ."""
    if a.rank != b.rank:
        raise ValueError(f"spaces of rank {a.rank} and {b.rank} have no intersection")
    ours, theirs = _axes(a), _axes(b)
    if ours is None or theirs is None:
        return ()
    return tuple(_space(box) for box in _product([within(x, y)[0] for x, y in zip(ours, theirs)]))


def _product(choices: list[list[Axis]]) -> list[Box]:
    boxes: list[Box] = [()]
    for axes in choices:
        boxes = [(*box, axis) for box in boxes for axis in axes]
        if len(boxes) > _MOST_ON_THE_WAY:
            raise TooManyPieces
    return boxes


def _axes(space: IndexSpace) -> Box | None:
    """The axes of a space; None where it is empty."""
    space = space.normalised()
    return None if space.empty else tuple(map(Axis, space.lower, space.upper, space.step, space.width))


def _space(box: Box) -> IndexSpace:
    return IndexSpace(
        tuple(a.low for a in box), tuple(a.high for a in box), tuple(a.step for a in box), tuple(a.width for a in box)
    )


def box_around(spaces: Sequence[IndexSpace]) -> IndexSpace:
    """The smallest box around spaces."""
    lower, upper = (zip(*(getattr(s.normalised(), end) for s in spaces)) for end in ("lower", "upper"))
    return IndexSpace.of([min(axis) for axis in lower], [max(axis) for axis in upper])

"""Index sets of with-loops: bounds, steps and widths as atoms, within the frame.

In: a partition of core and the frame. Out: a `Box`. Bounds are made inclusive below and exclusive above; that a
partition lies in the frame, and that steps and widths are at least 1, is checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING

from sacpy.jit.ir.graph import Atom, Const
from sacpy.jit.specialise.elementwise import need_scalar
from sacpy.jit.specialise.emit import Builder
from sacpy.jit.specialise.structure import LARGEST, constants_of, natural, vector
from sacpy.jit.specialise.values import Fails, extents_of, integer, is_scalar
from sacpy.lang import core
from sacpy.nodes import Node

if TYPE_CHECKING:
    from sacpy.jit.specialise.walk import Walk

Atoms = tuple[Atom, ...]


class Box(Node):
    """An index set as the graph has it; `step` and `width` are there together, or not at all."""

    lower: Atoms
    upper: Atoms
    step: Atoms | None = None
    width: Atoms | None = None

    def points(self) -> Iterator[tuple[int, ...]] | None:
        """All indices in row-major order, if all bounds are constants. It takes as long as there are indices: ask for
        the `size` first."""
        rank = len(self.lower)
        found = [
            constants_of(a)
            for a in (self.lower, self.upper, self.step or (integer(1),) * rank, self.width or (integer(1),) * rank)
        ]
        lower, upper, step, width = found
        if lower is None or upper is None or step is None or width is None:
            return None
        if self.empty:  # of the other axes nothing is listed: one may be long
            return iter(())
        return product(
            *([i for i in range(lo, up) if (i - lo) % s < w] for lo, up, s, w in zip(lower, upper, step, width))
        )

    def size(self) -> int | None:
        """A bound on the number of indices, if the bounds are constants."""
        lower, upper = constants_of(self.lower), constants_of(self.upper)
        if lower is None or upper is None:
            return None
        total = 1
        for lo, up in zip(lower, upper):
            total *= max(0, up - lo)
        return total

    @property
    def empty(self) -> bool:
        """Whether there is certainly no index."""
        return any(
            isinstance(lo, Const) and isinstance(up, Const) and lo.value >= up.value
            for lo, up in zip(self.lower, self.upper)
        )


def frame_of(walk: Walk, loop: core.WithLoop) -> Atoms | None:
    """The extents that genarray and modarray share; None where there is neither."""
    b = walk.b
    frame: Atoms | None = None
    for operator in loop.operators:
        if isinstance(operator, core.Genarray):
            shape = vector(b, walk.value(operator.shape), "the shape of genarray")
            natural(b, shape)
            shape = tuple(map(b.same, shape))
            if frame is not None:
                b.need_equal(frame, shape, "the results of a with-loop have one index space")
            frame = frame or shape
    if frame is not None:
        return _against_arrays(walk, loop, frame)
    for operator in loop.operators:
        if isinstance(operator, core.Modarray):
            extents = tuple(map(b.same, extents_of(walk.value(operator.array))))
            length = index_length(walk, loop)
            if length is None:
                length = 1 if any(p.lower is not None or p.upper is not None for p in loop.partitions) else len(extents)
            if length > len(extents):
                raise Fails("an index has at most as many components as the array has axes")
            return _against_arrays(walk, loop, extents[:length])
    return None


def _against_arrays(walk: Walk, loop: core.WithLoop, frame: Atoms) -> Atoms:
    """The frame, compared with those of all modarrays."""
    for operator in loop.operators:
        if isinstance(operator, core.Modarray):
            extents = extents_of(walk.value(operator.array))
            if len(extents) < len(frame):
                raise Fails("an index has at most as many components as the array has axes")
            walk.b.need_equal(frame, extents[: len(frame)], "the results of a with-loop have one index space")
    return frame


def index_length(walk: Walk, loop: core.WithLoop) -> int | None:
    """The length of the index, where names or bounds tell it."""
    for p in loop.partitions:
        if p.scalars is not None:
            return len(p.scalars)
        for atom in (p.lower, p.upper, p.step, p.width):
            if atom is not None and not is_scalar(walk.value(atom)):
                return len(vector(walk.b, walk.value(atom), "a bound"))
    return None


def box(walk: Walk, p: core.Partition, frame: Atoms | None, length: int) -> Box:
    """The index set of a partition."""
    b = walk.b
    lower = _bound(walk, p.lower, length, 0 if p.lower_inclusive else 1, (integer(0),) * length)
    upper = (
        _bound(walk, p.upper, length, 1 if p.upper_inclusive else 0, frame)
        if p.upper is not None
        else _dotted(b, frame, p.upper_inclusive)
    )
    if frame is not None:
        if len(frame) != length:
            raise Fails("bounds have one component for each axis of the result")
        for lo, up, n in zip(lower, upper, frame):
            b.check(b.op("le", integer(0), lo), "the partition lies in the result")
            b.check(b.op("le", up, n), "the partition lies in the result")
    lower, upper = tuple(map(b.same, lower)), tuple(map(b.same, upper))
    if p.step is None:
        _positive(b, () if p.width is None else _bound(walk, p.width, length, 0, None), "width")
        return Box(lower, upper)
    step = _bound(walk, p.step, length, 0, None)
    width = (integer(1),) * length if p.width is None else _bound(walk, p.width, length, 0, None)
    _positive(b, step, "step")
    _positive(b, width, "width")
    width = tuple(b.op("min", w, s) for w, s in zip(width, step))
    if all(b.equal(w, s) for w, s in zip(width, step)):
        return Box(lower, upper)
    return Box(lower, upper, tuple(map(b.same, step)), width)


def _bound(walk: Walk, atom: core.Atom | None, length: int, shift: int, default: Atoms | None) -> Atoms:
    """The components of a bound, a scalar spread over all axes, moved by `shift`."""
    b = walk.b
    if atom is None:
        assert default is not None
        return tuple(b.add(a, shift) for a in default)
    value = walk.value(atom)
    if is_scalar(value):
        found: Atoms = (need_scalar(value, "a bound is a scalar or a vector"),) * length
    else:
        found = vector(b, value, "a bound")
    if len(found) != length:
        raise Fails("bounds have one component for each axis")
    if shift:
        for a in found:
            b.check(b.op("lt", a, integer(LARGEST)), "a bound is below the largest int")
    return tuple(b.add(a, shift) for a in found)


def _dotted(b: Builder, frame: Atoms | None, inclusive: bool) -> Atoms:
    """The upper bound written as a dot: the largest legal index."""
    if frame is None:
        raise Fails("a dot has a result to speak of")
    return frame if inclusive else tuple(b.add(n, -1) for n in frame)


def _positive(b: Builder, many: Sequence[Atom], what: str) -> None:
    for a in many:
        b.check(b.op("lt", integer(0), a), f"the {what} of a generator is at least 1")

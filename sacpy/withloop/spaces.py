"""Index spaces: the sets of indices that the partitions of a with-loop are over.

In: bounds, step and width as plain integers. Out: membership, size, enumeration in row-major order, intersection, and
the questions that mappings ask (zero-based? dense?). Sizes are Python integers, so no space is too large to talk about.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from sacpy.nodes import Node

Vector = tuple[int, ...]


class IndexSpace(Node):
    """`{ iv | lower <= iv < upper, (iv - lower) mod step < width }`, one entry per axis in each of the four vectors.

    An upper bound below the lower one leaves the axis empty; a width over the step counts as the step. Steps and widths
    are at least 1: `ValueError` otherwise, and where the vectors differ in length.

    `growth`: how much longer each row, along the last axis, is than the one before it: that at position i of the axis
    before has `upper[-1] + growth * i` positions, a triangle. Then the space has at least two axes, is zero-based and
    dense, and no row has a negative length: `ValueError` otherwise."""

    lower: Vector
    upper: Vector
    step: Vector
    width: Vector
    growth: int = 0

    def __post_init__(self) -> None:
        if not len(self.lower) == len(self.upper) == len(self.step) == len(self.width):
            raise ValueError(
                f"bounds, step and width differ in length: {self.lower}, {self.upper}, {self.step}, {self.width}"
            )
        if any(t < 1 for t in self.step) or any(w < 1 for w in self.width):
            raise ValueError(f"step {self.step} and width {self.width} must be at least 1 on every axis")
        if self.growth and (self.rank < 2 or not self.zero_based or not self.dense or self.shortest < 0):
            raise ValueError(f"rows that grow by {self.growth} cannot be those of {self.lower}, {self.upper}")

    @classmethod
    def of(
        cls,
        lower: Sequence[int],
        upper: Sequence[int],
        step: Sequence[int] | None = None,
        width: Sequence[int] | None = None,
    ) -> IndexSpace:
        """The space with these vectors, step and width 1 where they are left out, normalised."""
        ones = (1,) * len(lower)
        return cls(
            tuple(lower), tuple(upper), ones if step is None else tuple(step), ones if width is None else tuple(width)
        ).normalised()

    @classmethod
    def box(cls, extents: Sequence[int]) -> IndexSpace:
        """All indices of an array of this shape."""
        return cls.of((0,) * len(extents), extents)

    @classmethod
    def rows(cls, extents: Sequence[int], growth: int) -> IndexSpace:
        """All positions of an array of which the last extent is that of the first row, and each further row is longer
        by `growth`."""
        ones = (1,) * len(extents)
        return cls((0,) * len(extents), tuple(max(0, e) for e in extents), ones, ones, growth)

    def normalised(self) -> IndexSpace:
        """The same set with `upper >= lower`, `width <= step`, and step and width 1 where they are equal."""
        if (
            self.step == self.width
            and all(t == 1 for t in self.step)
            and all(u >= lo for lo, u in zip(self.lower, self.upper))
        ):
            return self
        upper = tuple(map(max, self.lower, self.upper))
        full = [w >= t for t, w in zip(self.step, self.width)]
        step = tuple(1 if whole else t for t, whole in zip(self.step, full))
        width = tuple(1 if whole else w for w, whole in zip(self.width, full))
        return IndexSpace(self.lower, upper, step, width, self.growth)

    @property
    def last_row(self) -> int:
        """How many positions the last row has; where there are no rows, what the first one would have."""
        return self.upper[-1] + self.growth * max(0, self.upper[-2] - 1) if self.growth else self.upper[-1]

    @property
    def shortest(self) -> int:
        """How many positions the shortest row has."""
        return min(self.upper[-1], self.last_row)

    @property
    def corner(self) -> Vector:
        """The upper bound of the box around the space: that of the longest row on the last axis."""
        return (*self.upper[:-1], max(self.upper[-1], self.last_row)) if self.growth else self.upper

    @property
    def rank(self) -> int:
        """How many axes it has; 0 for the space of the one empty index."""
        return len(self.lower)

    @property
    def extents(self) -> Vector:
        """Upper minus lower bound, at least 0: the bounding box's shape, gaps included."""
        return tuple(max(0, u - lo) for lo, u in zip(self.lower, self.corner))

    @property
    def counts(self) -> Vector:
        """How many positions belong to the space along each axis."""
        return tuple(e // t * min(w, t) + min(e % t, w) for e, t, w in zip(self.extents, self.step, self.width))

    @property
    def size(self) -> int:
        """How many indices it has; 1 for rank 0."""
        if self.growth:
            rows = self.upper[-2]
            return math.prod(self.upper[:-2]) * (rows * self.upper[-1] + self.growth * (rows * (rows - 1) // 2))
        return math.prod(self.counts)

    @property
    def empty(self) -> bool:
        return not self.size if self.growth else 0 in self.extents

    @property
    def zero_based(self) -> bool:
        """Every lower bound is 0."""
        return not any(self.lower)

    @property
    def dense(self) -> bool:
        """Step and width leave no gaps."""
        return all(w >= t for t, w in zip(self.step, self.width))

    @property
    def density(self) -> float:
        """The share of the bounding box that belongs to the space; 1 where the box is empty."""
        volume = math.prod(self.extents)
        return self.size / volume if volume else 1.0

    def __contains__(self, index: Sequence[int]) -> bool:
        if len(index) != self.rank or (self.growth and index[-1] >= self.upper[-1] + self.growth * index[-2]):
            return False
        return all(
            lo <= i < u and (i - lo) % t < w
            for i, lo, u, t, w in zip(index, self.lower, self.corner, self.step, self.width)
        )

    def axis(self, k: int) -> Iterator[int]:
        """The positions along axis `k`, upwards."""
        lower, upper, step, width = self.lower[k], self.upper[k], self.step[k], self.width[k]
        for start in range(lower, upper, step):
            yield from range(start, min(start + min(width, step), upper))

    def __iter__(self) -> Iterator[Vector]:
        """All indices, in row-major order."""
        if self.growth:
            outer = itertools.product(*map(range, self.upper[:-1]))
            return ((*at, j) for at in outer for j in range(self.upper[-1] + self.growth * at[-1]))
        return itertools.product(*(tuple(self.axis(k)) for k in range(self.rank)))

    def __len__(self) -> int:
        return self.size

    def __bool__(self) -> bool:
        return not self.empty

    def __str__(self) -> str:
        if self.growth:
            by = "" if abs(self.growth) == 1 else f"{abs(self.growth)} * "
            end = f"{self.upper[-1]} {'+' if self.growth > 0 else '-'} {by}iv[{self.rank - 2}]"
            return f"{list(self.lower)} <= iv < [{', '.join(map(str, self.upper[:-1]))}, {end}]"
        text = f"{list(self.lower)} <= iv < {list(self.upper)}"
        if not self.dense:
            text += f" step {list(self.step)} width {list(self.width)}"
        return text

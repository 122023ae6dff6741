"""One axis of an index space: a set of integers that repeats itself, and the cutting of one by another.

In: two such sets. Out: what they share and what only the first has, each as a few sets of the same kind. Splitting
partitions into disjoint pieces is this, axis by axis.
"""

from __future__ import annotations

import math

from sacpy.nodes import Node

MANY = 256  # runs in one period beyond which cutting two axes is given up


class TooManyPieces(Exception):
    """Cutting would give more pieces than it is worth."""


class Axis(Node):
    """`{ i | low <= i < high, (i - low) mod step < width }` with `low < high` and `1 <= width <= step`; step and width
    are 1 where they are equal."""

    low: int
    high: int
    step: int = 1
    width: int = 1

    @property
    def dense(self) -> bool:
        return self.step == self.width

    def clip(self, low: int, high: int) -> list[Axis]:
        """The positions from `low` up to, but not including, `high`. A run that `low` cuts becomes a piece of its own,
        so that what follows keeps its step and width."""
        low, high = max(low, self.low), min(high, self.high)
        if low >= high:
            return []
        if self.dense:
            return [Axis(low, high)]
        phase = (low - self.low) % self.step
        if phase == 0:
            return _tidy(low, high, self.step, self.width)
        pieces = []
        if phase < self.width:
            pieces.append(Axis(low, min(high, low + self.width - phase)))
        start = low + self.step - phase
        if start < high:
            pieces += _tidy(start, high, self.step, self.width)
        return pieces


def _tidy(low: int, high: int, step: int, width: int) -> list[Axis]:
    """The axis in its simplest form: a single run has no step."""
    if high - low <= step:
        return [Axis(low, min(high, low + width))]
    return [Axis(low, high)] if width == step else [Axis(low, high, step, width)]


def around(a: Axis, b: Axis) -> tuple[list[Axis], list[Axis]]:
    """The positions of `a` below and above the bounds of `b`."""
    return a.clip(a.low, b.low), a.clip(b.high, a.high)


def within(a: Axis, b: Axis) -> tuple[list[Axis], list[Axis]]:
    """Of the positions of `a` between the bounds of `b`: those that `b` has too, and those that it does not have.
    `TooManyPieces` where the two periods go together too badly."""
    low, high = max(a.low, b.low), min(a.high, b.high)
    if low >= high:
        return [], []
    if b.dense:
        return a.clip(low, high), []
    period = math.lcm(a.step, b.step)
    if period >= high - low:
        period = high - low
    if sum(1 if axis.dense else period // axis.step for axis in (a, b)) > MANY:
        raise TooManyPieces
    ours, theirs = _runs(a, low, low + period), _runs(b, low, low + period)
    return _repeat(_common(ours, theirs), low, high, period), _repeat(_without(ours, theirs), low, high, period)


Runs = list[tuple[int, int]]


def _runs(axis: Axis, low: int, high: int) -> Runs:
    """The runs of neighbouring positions of the axis in the window, its own bounds set aside."""
    if axis.dense:
        return [(low, high)]
    first = low - (low - axis.low) % axis.step
    runs = ((max(start, low), min(start + axis.width, high)) for start in range(first, high, axis.step))
    return [(start, end) for start, end in runs if start < end]


def _common(ours: Runs, theirs: Runs) -> Runs:
    """Runs of positions that both have."""
    runs = ((max(start, low), min(end, high)) for start, end in ours for low, high in theirs)
    return [(start, end) for start, end in runs if start < end]


def _without(ours: Runs, theirs: Runs) -> Runs:
    """Runs of positions that only the first have."""
    left = []
    for start, end in ours:
        for low, high in theirs:
            if high <= start or low >= end:
                continue
            if start < low:
                left.append((start, low))
            start = high
        if start < end:
            left.append((start, end))
    return left


def _repeat(runs: Runs, low: int, high: int, period: int) -> list[Axis]:
    """The runs of one period, repeated up to `high`, as axes. A run that goes on from one period into the next is one
    run, and its first part a piece by itself."""
    pieces = []
    if high - low > period and len(runs) > 1 and runs[0][0] == low and runs[-1][1] == low + period:
        (_, end), (start, _) = runs[0], runs[-1]
        pieces.append(Axis(low, end))
        runs = [*runs[1:-1], (start, end + period)]
    for start, end in runs:
        pieces += _tidy(start, high, period, end - start)
    return pieces

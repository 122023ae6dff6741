"""Whether threads come in the order of their indices.

In: a mapping. Out: whether the indices of all threads, blocks in row-major order and the threads of each in row-major
order, are those of the space in row-major order. A fold whose operands keep their order asks.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from sacpy.nodes import Node
from sacpy.withloop.chains import Mapping, Stage
from sacpy.withloop.combinators import FoldLast2, FoldTriangle, Permute, SplitLast


class _Digits(Node):
    """Which digits an axis has, where an index is one number whose digits, from 0 to its rank, are its entries; those
    of an axis that was split are fractions of one. `low` is the first, `high` behind the last."""

    low: Fraction
    high: Fraction


Axes = list[_Digits | None]  # None: the axis has one position


def in_order(mapping: Mapping) -> bool:
    """Whether neighbouring threads have neighbouring indices, in row-major order; positions without an index are passed
    over."""
    space = mapping.space.normalised()
    axes: Axes = [
        _Digits(Fraction(k), Fraction(k + 1)) if extent > 1 else None for k, extent in enumerate(space.extents)
    ]
    for stage in mapping.stages:
        after = _after(stage, axes)
        if after is None:
            return False
        axes = [d if extent > 1 else None for d, extent in zip(after, stage.after.extents)]
    left = [d for d in axes if d is not None]
    return all(a.high <= b.low for a, b in pairwise(left))


def _after(stage: Stage, axes: Axes) -> Axes | None:
    """The digits of the axes behind a step; None where digits that do not follow each other would become one number."""
    step = stage.combinator
    match step:
        case Permute():
            return [axes[p] for p in step.order]
        case FoldTriangle():
            return None
        case FoldLast2():
            *outer, a, b = axes
            if a is None or b is None:
                return [*outer, b if a is None else a]
            between = any(d is not None and a.high <= d.low and d.high <= b.low for d in outer)
            return None if a.high > b.low or between else [*outer, _Digits(a.low, b.high)]
        case SplitLast():
            *outer, last = axes
            if last is None:
                return [*outer, None, None]
            middle = (last.low + last.high) / 2
            return [*outer, _Digits(last.low, middle), _Digits(middle, last.high)]
    return axes

"""Where an index goes: through each combinator, from the with-loop's index space to its thread.

In: a mapping and an index. Out: the position behind each step, and the block that does its work. Threads never need
this, they recover indices; pictures do, which show a few cells of spaces too large to walk through.
"""

from __future__ import annotations

from sacpy.withloop.arithmetic import elements_before
from sacpy.withloop.chains import Mapping, Stage
from sacpy.withloop.combinators import CompressGrid, FoldLast2, FoldTriangle, Permute, ShiftLB, SplitLast
from sacpy.withloop.spaces import Vector


def onward(stage: Stage, index: Vector) -> Vector:
    """The position behind the stage of an index of the space before it."""
    before, step = stage.before, stage.combinator
    match step:
        case ShiftLB():
            return tuple(i - low for i, low in zip(index, before.lower))
        case CompressGrid():
            return tuple(
                i // t * w + i % t if kind else i for i, t, w, kind in zip(index, before.step, before.width, stage.form)
            )
        case Permute():
            return tuple(index[k] for k in step.order)
        case FoldLast2() if before.growth:
            at = elements_before(index[-2], before.shortest, before.growth, before.upper[-2])
            return (*index[:-2], at + index[-1])
        case FoldTriangle():
            return (*index[:-2], *_paired(stage, index[-2], index[-1]))
        case FoldLast2():
            return (*index[:-2], index[-2] * before.upper[-1] + index[-1])
        case SplitLast():
            return (*index[:-1], *divmod(index[-1], step.number()))
    return index


def _paired(stage: Stage, row: int, column: int) -> Vector:
    """Where FoldTriangle puts a position: into the row of a long row, or behind that of the long row of its pair."""
    before = stage.before
    last = before.upper[-2] - 1
    own = row if before.growth > 0 else last - row  # counted from the shortest
    if own >= before.upper[-2] // 2:
        return last - own, column
    pair = own + before.upper[-2] % 2
    return pair, before.corner[-1] - abs(before.growth) * pair + column


def journey(mapping: Mapping, index: Vector) -> list[Vector]:
    """The index, then its position behind each stage; the last one is that of its thread: block, then thread in the
    block."""
    found = [index]
    for stage in mapping.stages:
        found.append(onward(stage, found[-1]))
    return found


def worker(mapping: Mapping, thread: Vector) -> Vector:
    """The launched block that does the work of a position of the thread space."""
    launched = mapping.placement.launched
    return tuple(p % n for p, n in zip(thread, launched))

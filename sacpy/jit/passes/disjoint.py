"""Disjoint partitions: where partitions overlap, the later one loses what the earlier covers, so that they can run in
any order.

    part [1] <= [i] < [m]                 part [1] <= [i] < [m]
      yield x                             part [0] <= [j] < [a]         with a = min(n, 1)
    part [0] <= [j] < [n]         ->        yield y
      yield y                             part [b] <= [k] < [n]         with b = max(1, m)
                                            yield y

What is left of a box without another is at most two boxes an axis. A with-loop that a pragma lays out is cut when it is
launched. Partitions with a step stay as they are: then `disjoint` stays false, unless nothing overlaps, as where one
leaves out what the other has (red and black cells). `complete` is set where one partition covers the frame, or several
do side by side, or with a step each. A last partition that copies an array of the result's shape makes of a genarray a
modarray of that array, if it cannot be cut: it need not be copied where it is not needed any more.
"""

from __future__ import annotations

from itertools import combinations, product
from math import prod

from sacpy.jit.analysis.costs import size
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import again
from sacpy.jit.passes.ranges import Ranges
from sacpy.jit.passes.simplify import Simplifier, whole
from sacpy.jit.passes.units import wherever
from sacpy.nodes import replace

PIECES = 10  # of a with-loop
CODE = 1000  # statements of all pieces together

Box = tuple[tuple[g.Atom, ...], tuple[g.Atom, ...]]


class _Divider:
    def __init__(self, function: g.Function) -> None:
        self.known = Ranges(Simplifier(function))
        self.walk = self.known.walk
        self.walk.take_over(with_loop=self.with_loop)

    def with_loop(self, w: g.WithLoop) -> g.WithLoop:
        w = self.known.with_loop(w)
        frame = w.frame
        if frame is None or not all(isinstance(o, g.Genarray | g.Modarray) for o in w.operators):
            return w
        for p in w.partitions:
            for lower, upper, extent in zip(p.lower, p.upper, frame):
                self.known.learn_order(g.integer(0), lower)
                self.known.learn_order(upper, extent)
        laid_out = self.walk.laid_out(w, around=1)
        if any(p.step is not None for p in w.partitions) and not laid_out:
            w = self.modified(w, frame)
        w = replace(
            w,
            complete=w.complete
            or any(whole(p, frame) for p in w.partitions)
            or _covered(w.partitions, frame)
            or _covered_in_turns(w.partitions, frame),
        )
        if w.disjoint or all(
            self.apart((p.lower, p.upper), (q.lower, q.upper)) or self.take_turns(p, q)
            for p, q in combinations(w.partitions, 2)
        ):
            return replace(w, disjoint=True)
        if laid_out or any(p.step is not None for p in w.partitions):
            return w
        return self.divided(w)

    def apart(self, a: Box, b: Box) -> bool:
        """Whether two boxes certainly have nothing in common."""
        return any(
            self.known.at_most(self.known.form(a[1][k]), self.known.form(b[0][k]))
            or self.known.at_most(self.known.form(b[1][k]), self.known.form(a[0][k]))
            for k in range(len(a[0]))
        )

    def take_turns(self, p: g.Partition, q: g.Partition) -> bool:
        """Whether two partitions have the same step along an axis, and different places in it."""
        for k in range(p.rank):
            (step, width), (other, wide) = g.stride(p, k), g.stride(q, k)
            away = self.known.form(q.lower[k]) - self.known.form(p.lower[k])
            if (
                step is not None
                and step == other
                and width is not None
                and wide is not None
                and not away.terms
                and away.constant % step >= width
                and away.constant % step + wide <= step
            ):
                return True
        return False

    def modified(self, w: g.WithLoop, frame: tuple[g.Atom, ...]) -> g.WithLoop:
        """The same as a modarray of what its last partition copies, if it does."""
        *others, last = w.partitions
        value = last.body.results[0]
        copy = self.walk.definition(value)
        if (
            len(w.operators) != 1
            or not isinstance(w.operators[0], g.Genarray)
            or w.operators[0].cell
            or not others
            or not whole(last, frame)
            or not isinstance(copy, g.Load)
            or copy.index != last.index
        ):
            return w
        source = self.walk.var(copy.array)
        if g.extents_of(source) != frame:
            return w
        return replace(w, partitions=tuple(others), operators=(g.Modarray(source),), complete=False)

    def divided(self, w: g.WithLoop) -> g.WithLoop:
        """The with-loop with what is hidden taken away, if that does not make too many pieces."""
        found: list[tuple[g.Partition, list[Box]]] = []
        count = 0
        for k, p in enumerate(w.partitions):
            boxes = [(p.lower, p.upper)]
            for q in w.partitions[:k]:
                boxes = [left for box in boxes for left in self.without(box, (q.lower, q.upper))]
                if count + len(boxes) > PIECES:
                    return w
            count += len(boxes)
            found.append((p, boxes))
        if sum(len(boxes) * size(p.body) for p, boxes in found) > CODE:
            return w
        pieces = [
            replace(again(p, self.walk.supply) if k else p, lower=lower, upper=upper)
            for p, boxes in found
            for k, (lower, upper) in enumerate(boxes)
        ]
        return replace(w, disjoint=True, partitions=tuple(pieces))

    def without(self, box: Box, hidden: Box) -> list[Box]:
        """What is left of a box without another, as boxes that have nothing in common."""
        if self.apart(box, hidden):
            return [box]
        left: list[Box] = []
        lower, upper = list(box[0]), list(box[1])
        for k, (low, high) in enumerate(zip(*hidden)):
            high = self.walk.op("cut", "max", high, low)
            below = self.walk.op("cut", "min", upper[k], low)
            above = self.walk.op("cut", "max", lower[k], high)
            for start, end in ((lower[k], below), (above, upper[k])):
                if not self.walk.runs_never(start, end):
                    left.append(((*lower[:k], start, *lower[k + 1 :]), (*upper[:k], end, *upper[k + 1 :])))
            lower[k], upper[k] = (
                self.walk.op("cut", "max", lower[k], low),
                self.walk.op("cut", "min", upper[k], high),
            )
        return left


def _covered(partitions: tuple[g.Partition, ...], frame: tuple[g.Atom, ...]) -> bool:
    """Whether boxes that are whole but for one axis cover the frame side by side."""
    if any(p.step is not None for p in partitions):
        return False
    for k, extent in enumerate(frame):
        if all(
            p.lower[o] == g.integer(0) and p.upper[o] == frame[o]
            for p in partitions
            for o in range(len(frame))
            if o != k
        ):
            reached: g.Atom = g.integer(0)
            left = list(partitions)
            while (following := next((p for p in left if p.lower[k] == reached), None)) is not None:
                left.remove(following)
                reached = following.upper[k]
            if reached == extent:
                return True
    return False


def _covered_in_turns(partitions: tuple[g.Partition, ...], frame: tuple[g.Atom, ...]) -> bool:
    """Whether partitions of one step cover the frame together, each from near the beginning to the end."""
    if not partitions or any(p.upper != frame for p in partitions):
        return False
    strides = [[g.stride(p, k) for k in range(len(frame))] for p in partitions]
    steps = [step for step, _ in strides[0]]
    if (
        any([step for step, _ in s] != steps for s in strides)
        or None in steps
        or prod(step or 0 for step in steps) > PIECES
    ):
        return False
    seen: set[tuple[int, ...]] = set()
    for p, axes in zip(partitions, strides):
        runs = [
            range(int(low.value), min(int(low.value) + (width or 0), step or 0))
            if isinstance(low, g.Const)
            else range(0)
            for low, (step, width) in zip(p.lower, axes)
        ]
        seen.update(product(*runs))
    return len(seen) == prod(step or 0 for step in steps)


@wherever(lambda r: isinstance(r, g.WithLoop) and r.frame is not None and not (r.disjoint and r.complete))
def run(function: g.Function) -> g.Function:
    """A unit with its partitions disjoint."""
    return _Divider(function).walk.function(function)

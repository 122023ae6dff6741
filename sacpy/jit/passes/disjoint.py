"""Disjoint partitions: where partitions overlap, the later one loses what the earlier covers, so that they can run in any order.

    part [1] <= [i] < [m]                 part [1] <= [i] < [m]
      yield x                             part [0] <= [j] < [a]         with a = min(n, 1)
    part [0] <= [j] < [n]         ->        yield y
      yield y                             part [b] <= [k] < [n]         with b = max(1, m)
                                            yield y

What is left of a box without another is at most two boxes an axis. Partitions with a step stay as they are: then `disjoint` stays false, unless nothing overlaps. `complete` is set where one partition covers the frame, or several do side by side.
"""

from __future__ import annotations

from itertools import combinations

from sacpy.jit.graph import Atom, Function, Genarray, Let, Modarray, Op, Partition, Unit, WithLoop, integer, statements
from sacpy.jit.passes.costs import size
from sacpy.jit.passes.ranges import Ranger
from sacpy.jit.passes.simplify import whole
from sacpy.jit.passes.units import per_function
from sacpy.jit.rewrite import copied
from sacpy.nodes import replace

PIECES = 10  # of a with-loop
CODE = 1000  # statements of all pieces together

Box = tuple[tuple[Atom, ...], tuple[Atom, ...]]


class _Divider(Ranger):
    def with_loop(self, w: WithLoop) -> WithLoop:
        w = super().with_loop(w)
        if w.frame is None or not all(isinstance(o, Genarray | Modarray) for o in w.operators):
            return w
        for p in w.partitions:
            for lower, upper, extent in zip(p.lower, p.upper, w.frame):
                self.learn_order(integer(0), lower)
                self.learn_order(upper, extent)
        w = replace(w, complete=w.complete or any(whole(p, w.frame) for p in w.partitions) or _covered(w.partitions, w.frame))
        if w.disjoint or all(self.apart((p.lower, p.upper), (q.lower, q.upper)) for p, q in combinations(w.partitions, 2)):
            return replace(w, disjoint=True)
        if any(p.step is not None for p in w.partitions):
            return w
        return self.divided(w)

    def apart(self, a: Box, b: Box) -> bool:
        """Whether two boxes certainly have nothing in common."""
        return any(
            self.at_most(self.form(a[1][k]), self.form(b[0][k])) or self.at_most(self.form(b[1][k]), self.form(a[0][k])) for k in range(len(a[0]))
        )

    def divided(self, w: WithLoop) -> WithLoop:
        """The with-loop with what is hidden taken away, if that does not make too many pieces."""
        found: list[tuple[Partition, list[Box]]] = []
        for k, p in enumerate(w.partitions):
            boxes = [(p.lower, p.upper)]
            for q in w.partitions[:k]:
                boxes = [left for box in boxes for left in self.without(box, (q.lower, q.upper))]
                if len(boxes) > PIECES:
                    return w
            found.append((p, boxes))
        if sum(len(boxes) for _, boxes in found) > PIECES or sum(len(boxes) * size(p.body) for p, boxes in found) > CODE:
            return w
        return replace(w, disjoint=True, partitions=tuple(piece for p, boxes in found for piece in self.pieces(p, boxes)))

    def without(self, box: Box, hidden: Box) -> list[Box]:
        """What is left of a box without another, as boxes that have nothing in common."""
        if self.apart(box, hidden):
            return [box]
        left: list[Box] = []
        lower, upper = list(box[0]), list(box[1])
        for k, (low, high) in enumerate(zip(*hidden)):
            high = self.emit("cut", Op("max", (high, low)))
            below = self.emit("cut", Op("min", (upper[k], low)))
            above = self.emit("cut", Op("max", (lower[k], high)))
            for start, end in ((lower[k], below), (above, upper[k])):
                if not self.runs_never(start, end):
                    left.append(((*lower[:k], start, *lower[k + 1 :]), (*upper[:k], end, *upper[k + 1 :])))
            lower[k], upper[k] = self.emit("cut", Op("max", (lower[k], low))), self.emit("cut", Op("min", (upper[k], high)))
        return left

    def pieces(self, p: Partition, boxes: list[Box]) -> list[Partition]:
        """A partition, box by box."""
        found = []
        for k, (lower, upper) in enumerate(boxes):
            index, body = p.index, p.body
            if k:
                index = tuple(self.supply.var(i.name, i.type) for i in p.index)
                body = copied(p.body, {i.name: new for i, new in zip(p.index, index)}, self.supply)
            found.append(replace(p, lower=lower, upper=upper, index=index, body=body))
        return found


def _covered(partitions: tuple[Partition, ...], frame: tuple[Atom, ...]) -> bool:
    """Whether boxes that are whole but for one axis cover the frame side by side."""
    if any(p.step is not None for p in partitions):
        return False
    for k, extent in enumerate(frame):
        if all(p.lower[o] == integer(0) and p.upper[o] == frame[o] for p in partitions for o in range(len(frame)) if o != k):
            reached: Atom = integer(0)
            left = list(partitions)
            while (following := next((p for p in left if p.lower[k] == reached), None)) is not None:
                left.remove(following)
                reached = following.upper[k]
            if reached == extent:
                return True
    return False


def disjoint(function: Function) -> Function:
    """A function with its partitions disjoint; itself if they are, as far as is known."""
    loops = (s.rhs for s in statements(function.body) if isinstance(s, Let) and isinstance(s.rhs, WithLoop))
    if all(w.frame is None or (w.disjoint and w.complete) for w in loops):
        return function
    return _Divider(function).function(function)


def run(unit: Unit) -> Unit:
    """A unit with its partitions disjoint."""
    return per_function(unit, disjoint)

"""Which indices a component of a load's index takes in all rounds of the loops around it, and which a partition covers:
sets with strides, along one axis of an array.

In: a with-loop, and what ints are set to. Out: whether what is read along an axis stays apart from what a partition
writes.

    part [0] <= [i] < [h]                                      a.1 = add! i, h; k0b = add! k0, b
        with fold .. part [0] <= [k] < [b]                     it reads {k0 + k | 0 <= k < b}, and no index from k0b on
            load u[a.1, c]                                     c = add! k0, k

The sums are symbolic: what is known of their names is where the loops that bind them begin and end, and what the least
of two ints is the least of (`withloop/lmads`, `withloop/linear`)."""

from __future__ import annotations

from collections.abc import Mapping

from sacpy.jit.ir.graph import Atom, Block, Const, For, Let, Op, Partition, WithLoop, statements, stride
from sacpy.withloop.linear import Bounds, Linear, Number, name
from sacpy.withloop.lmads import Axis, Lmad, apart

DEPTH = 12  # operations that are looked behind, one after the other


class Footprints:
    """What is known of the loops in the bodies of a with-loop. `sums`: the operations without overflow that variables
    are set to."""

    def __init__(self, w: WithLoop, sums: Mapping[str, Op]) -> None:
        self._sums = sums
        self._bounds = Bounds()
        self._ranges: dict[
            str, tuple[Number, Number, int]
        ] = {}  # of indices: the first one, how many at most, the step
        for p in w.partitions:
            self._partition(p)
            self._inside(p.body)

    def stays_apart(self, at: Atom, q: Partition, axis: int) -> bool:
        """Whether an int in one of the bodies is never an index that a partition covers along an axis."""
        reached, written = self.form(at), self._written(q, axis)
        return apart(Lmad(reached, ()), written, self._bounds) or apart(self._read(reached), written, self._bounds)

    def form(self, a: Atom, depth: int = DEPTH) -> Number:
        """An int as a sum of names."""
        if isinstance(a, Const):
            return int(a.value)
        op = self._sums.get(a.name) if depth else None
        if op is None or a.base != "int":
            return name(a.name)
        if op.code in ("add", "sub"):
            return self.form(op.args[0], depth - 1) + self.form(op.args[1], depth - 1) * (1 if op.code == "add" else -1)
        if op.code == "neg":
            return self.form(op.args[0], depth - 1) * -1
        if op.code == "mul":
            for x, y in (op.args, op.args[::-1]):
                if isinstance(y, Const):
                    return self.form(x, depth - 1) * int(y.value)
        if op.code == "min":
            self._bounds.learn(a.name, most=[self.form(x, depth - 1) for x in op.args])
        return name(a.name)

    # ---- loops

    def _inside(self, body: Block) -> None:
        for s in statements(body):
            if not isinstance(s, Let):
                continue
            if isinstance(s.rhs, WithLoop):
                for p in s.rhs.partitions:
                    self._partition(p)
            elif isinstance(s.rhs, For):
                lower, upper = self.form(s.rhs.lower), self.form(s.rhs.upper)
                if s.rhs.step > 0:
                    self._index(s.rhs.index.name, lower, upper, s.rhs.step)
                else:
                    self._bounds.learn(s.rhs.index.name, [upper + 1], [lower])

    def _partition(self, p: Partition) -> None:
        for k, i in enumerate(p.index):
            step, width = stride(p, k)
            self._index(
                i.name, self.form(p.lower[k]), self.form(p.upper[k]), step if step is not None and width == 1 else 1
            )

    def _index(self, index: str, lower: Number, upper: Number, step: int) -> None:
        self._bounds.learn(index, [lower], [upper - 1])
        self._ranges[index] = lower, _rounds(upper - lower, step), step

    # ---- sets

    def _read(self, at: Number) -> Lmad:
        """The values of a form, for all values of the indices in it on whose own bounds no other index depends."""
        if isinstance(at, int):
            return Lmad(at, ())
        tied = {
            n
            for i in at.terms
            if i in self._ranges
            for bound in self._ranges[i][:2]
            if isinstance(bound, Linear)
            for n in bound.terms
        }
        axes: list[Axis] = []
        offset: Number = at
        for i, c in at.terms.items():
            if i in self._ranges and i not in tied:
                first, count, step = self._ranges[i]
                offset = offset + (first - name(i)) * c
                axes.append((count, c * step))
        return Lmad(offset, tuple(axes))

    def _written(self, q: Partition, axis: int) -> Lmad:
        """What a partition covers, or more."""
        lower, upper = self.form(q.lower[axis]), self.form(q.upper[axis])
        step, width = stride(q, axis)
        if step is None or width is None or step == width:
            return Lmad(lower, ((upper - lower, 1),))
        if width == 1:
            return Lmad(lower, ((_rounds(upper - lower, step), step),))
        return Lmad(lower, ((_rounds(upper - lower, step), step), (width, 1)))


def _rounds(length: Number, step: int) -> Number:
    """How many rounds a loop over so many indices has; at most, where the length is not known."""
    return -(-length // step) if isinstance(length, int) else length

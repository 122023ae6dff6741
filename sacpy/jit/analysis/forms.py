"""The ints of a function as linear forms, with what bounds of loops say of them; and sets of indices with strides.

In: a function, and the operations without overflow in it. Out: forms and bounds of its variables (`withloop/linear`);
what an index takes in all rounds of some loops, and what a partition covers, as sets of addresses (`withloop/lmads`),
along one axis of an array or along all of them.

    part [0] <= [i] < [h]                                      a.1 = add! i, h; k0b = add! k0, b
        with fold .. part [0] <= [k] < [b]                     it reads {k0 + k | 0 <= k < b}, and no index from k0b on
            load u[a.1, c]                                     c = add! k0, k

A name is set once, so what bounds say of it holds wherever it is in scope: of an index, where it begins and ends; of
the least of two ints, that it is at most either. So a step of an elimination knows where the loop around it has come.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import prod

from sacpy.jit.analysis.access import Access
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import inner_binders
from sacpy.withloop.linear import Bounds, Linear, Number, name
from sacpy.withloop.lmads import Axis, Lmad, apart

DEPTH = 12  # operations that are looked behind, one after the other
_SIDE = {"min": "most", "max": "least"}  # what two ints are for the one of them that is chosen


class Forms:
    """`bounds`: what is known of names. `ranges`: of the indices of loops the first one, how many at most, the step."""

    def __init__(self, function: g.Function, sums: Mapping[str, g.Op]) -> None:
        self._sums = sums
        self._known: dict[str, Number] = {}
        self.bounds = Bounds()
        self.ranges: dict[str, tuple[Number, Number, int]] = {}
        self._extents(function.params)
        for s in g.statements(function.body):
            self._see(s)

    # ---- what code says

    def _see(self, s: g.Stmt) -> None:
        if not isinstance(s, g.Let):
            return
        rhs = s.rhs
        if rhs.__class__ is g.Op:
            assert isinstance(rhs, g.Op)
            if rhs.code in ("min", "max") and s.targets[0].base == "int":
                self.bounds.learn(s.targets[0].name, **{_SIDE[rhs.code]: [self.form(a) for a in rhs.args]})
            return
        self._extents(s.targets)
        if isinstance(rhs, g.WithLoop):
            self._extents(inner_binders(rhs))
            for p in rhs.partitions:
                self._partition(p, rhs.frame or ())
        elif isinstance(rhs, g.For):
            self._extents(rhs.params)
            lower, upper = self.form(rhs.lower), self.form(rhs.upper)
            if rhs.step > 0:
                self._index(rhs.index.name, lower, upper, rhs.step)
            else:
                self.bounds.learn(rhs.index.name, [upper + 1], [lower])

    def _extents(self, variables: Iterable[g.Var]) -> None:
        for v in variables:
            for e in g.extents_of(v):
                if isinstance(e, g.Var):
                    self.bounds.learn(e.name, [0])

    def _partition(self, p: g.Partition, frame: Sequence[g.Atom]) -> None:
        for k, i in enumerate(p.index):
            step, width = g.stride(p, k)
            self._index(
                i.name, self.form(p.lower[k]), self.form(p.upper[k]), step if step is not None and width == 1 else 1
            )
        for i, extent in zip(p.index, frame):
            self.bounds.learn(i.name, [0], [self.form(extent) - 1])

    def _index(self, index: str, lower: Number, upper: Number, step: int) -> None:
        self.bounds.learn(index, [lower], [upper - 1])
        self.ranges[index] = lower, _rounds(upper - lower, step), step

    # ---- forms

    def form(self, a: g.Atom, depth: int = DEPTH) -> Number:
        """An int as a sum of names."""
        if isinstance(a, g.Const):
            return int(a.value)
        found = self._known.get(a.name)
        if found is None:
            found = self._form(a, depth)
            if depth == DEPTH:
                self._known[a.name] = found
        return found

    def _form(self, a: g.Var, depth: int) -> Number:
        op = self._sums.get(a.name) if depth else None
        if op is None or a.base != "int":
            return name(a.name)
        if op.code in ("add", "sub"):
            return self.form(op.args[0], depth - 1) + self.form(op.args[1], depth - 1) * (1 if op.code == "add" else -1)
        if op.code == "neg":
            return self.form(op.args[0], depth - 1) * -1
        if op.code == "mul":
            for x, y in (op.args, op.args[::-1]):
                if isinstance(y, g.Const):
                    return self.form(x, depth - 1) * int(y.value)
        return name(a.name)

    def forget(self) -> None:
        """Looks at what variables are set to once more, of which more is known."""
        self._known.clear()

    # ---- sets

    def apart(self, at: Number, covered: Iterable[Lmad], moving: Collection[str]) -> bool:
        """Whether a form is certainly none of what is covered: of one of some sets that have it all. `moving`: names
        of what moves meanwhile."""
        read = (Lmad(at, ()), self.reached(at, moving))
        return any(apart(some, written, self.bounds) for written in covered for some in read)

    def reached(self, at: Number, moving: Collection[str], axes: tuple[Axis, ...] = ()) -> Lmad:
        """The values of a form for all values of those indices in it that move, but for such on which the bounds of
        others depend: these stay names. `axes`: what else moves."""
        if isinstance(at, int):
            return Lmad(at, axes)
        inside = [i for i in at.terms if i in moving and i in self.ranges]
        tied = {n for i in inside for bound in self.ranges[i][:2] if isinstance(bound, Linear) for n in bound.terms}
        offset: Number = at
        for i in inside:
            if i not in tied:
                first, count, step = self.ranges[i]
                c = at.terms[i]
                offset = offset + (first - name(i)) * c
                axes = (*axes, (count, c * step))
        return Lmad(offset, axes)

    def covered(self, q: g.Partition, axis: int, by: int = 1) -> tuple[Number, tuple[Axis, ...]]:
        """What a partition covers along an axis, or more, where its elements lie `by` apart: the first one, and the
        axes of the set."""
        lower, upper = self.form(q.lower[axis]), self.form(q.upper[axis])
        step, width = g.stride(q, axis)
        if step is None or width is None or step == width:
            return lower * by, ((upper - lower, by),)
        if width == 1:
            return lower * by, ((_rounds(upper - lower, step), step * by),)
        return lower * by, ((_rounds(upper - lower, step), step * by), (width, by))

    def along(self, q: g.Partition, axis: int) -> tuple[Lmad, ...]:
        """The same as sets, each of which has all that is covered: with the gaps that a step leaves, and without."""
        lower, upper = self.form(q.lower[axis]), self.form(q.upper[axis])
        whole, gaps = Lmad(lower, ((upper - lower, 1),)), Lmad(*self.covered(q, axis))
        return (whole,) if whole == gaps else (whole, gaps)

    def flat(self, q: g.Partition, extents: Sequence[int]) -> Lmad:
        """The addresses that a partition covers, or more, in an array of these extents; its cells have the axes that
        it has not."""
        offset: Number = 0
        axes: tuple[Axis, ...] = ()
        for k, by in enumerate(strides(extents)):
            first, more = self.covered(q, k, by) if k < q.rank else (0, ((extents[k], by),))
            offset, axes = offset + first, (*axes, *more)
        return Lmad(offset, axes)

    def read(self, access: Access, extents: Sequence[int], moving: Collection[str]) -> Lmad | None:
        """The addresses that an access reads in an array of these extents, for all values of the indices that move;
        None where other extents are not numbers."""
        within = numbers(access.within)
        if within is None:
            return None
        address: Number = sum((self.form(a) * by for a, by in zip(access.index, strides(extents))), 0)
        address = address + sum((self.form(a) * by for a, by in zip(access.inner, strides(within))), 0)
        rest = within[len(access.inner) :] if access.within else extents[len(access.index) :]
        return self.reached(address, moving, tuple(zip(rest, strides(rest))))


def numbers(extents: Sequence[g.Atom]) -> tuple[int, ...] | None:
    """Extents, if all are numbers."""
    known = tuple(int(e.value) for e in extents if isinstance(e, g.Const))
    return known if len(known) == len(extents) else None


def strides(extents: Sequence[int]) -> tuple[int, ...]:
    """How far apart neighbours along each axis lie in an array with these extents."""
    return tuple(prod(extents[k + 1 :]) for k in range(len(extents)))


def _rounds(length: Number, step: int) -> Number:
    """How many rounds a loop over so many indices has; at most, where the length is not known."""
    return -(-length // step) if isinstance(length, int) else length

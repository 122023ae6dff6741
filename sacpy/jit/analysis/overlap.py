"""What must hold so that an access to an array lies outside of what a partition of a with-loop replaces.

In: a with-loop, an array, what is known of the ints of the function; an access in one of the bodies. Out: `Conditions`
on ints from outside of the with-loop, for code or a launch to look at; nothing needs to hold if they are empty. None
where nothing is known to be enough.

Three things are tried, one after the other: bounds and steps, axis by axis, as far as they are known now; addresses of
all axes together, where extents are numbers; and what would have to hold when the code runs.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from math import gcd

from sacpy.jit.analysis.access import Access
from sacpy.jit.analysis.ints import DEPTH, Ints, Sums, distance, residue
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import bound
from sacpy.nodes import Node

FEW = 9  # divisors of a step below this are tried
MOST = 3  # conditions of one answer, and alternatives of one condition


class Test(Node):
    """A sum of ints of the function, each times a number, is at least 0; or a multiple of `modulus`, if that is not
    0."""

    constant: int
    terms: tuple[tuple[g.Var, int], ...]
    modulus: int = 0


Condition = tuple[Test, ...]  # one of these
Conditions = frozenset[Condition]  # all of these
ALWAYS: Conditions = frozenset()


def tested(needed: Conditions | None, known: Container[str]) -> Conditions | None:
    """Conditions that are enough for some, and about names alone that somebody knows; None where there are none. What a
    body says of an index may be about names that only code around it uses."""
    if not needed:
        return needed
    kept = frozenset(tuple(t for t in c if all(v.name in known for v, _ in t.terms)) for c in needed)
    return None if () in kept else kept


def multiple(extent: g.Var, number: int) -> Condition:
    """That an extent is a multiple of a number."""
    return (Test(0, ((extent, 1),), number),)


class Overlap:
    """`single`: nobody else computes a cell."""

    def __init__(self, w: g.WithLoop, array: g.Var, ints: Ints, single: bool) -> None:
        self.w, self.array, self.ints, self.single = w, array, ints, single
        self._inside: set[str] | None = None

    @property
    def inside(self) -> set[str]:
        """The names that are set in the with-loop: the indices of its loops move."""
        if self._inside is None:
            self._inside = bound(g.Block((g.Let((), self.w),)))
        return self._inside

    def needed(self, access: Access, p: g.Partition) -> Conditions | None:
        """What must hold of one access in the body of `p`."""
        cell = self.single and access.element and not access.within and len(access.index) == p.rank
        if cell and _is_own(access.index, p, self.ints.sums):
            return ALWAYS
        found = ALWAYS
        for q in self.w.partitions:
            if cell and _is_own_within(access.index, p, q, self.ints.sums):
                continue
            conditions = self._outside(access, p, q)
            if conditions is None:
                return None
            found |= conditions
        return found

    def _outside(self, access: Access, p: g.Partition, q: g.Partition) -> Conditions | None:
        """What must hold so that an access lies outside of `q`: because of the axis for which that is least, of all
        axes together, or of what remains to be seen when the code runs."""
        axes = range(min(q.rank, len(access.index)))
        found = [c for k in axes if (c := self._along(access.index[k], p, q, k)) is not None]
        best = min(found, key=len, default=None)
        if best == ALWAYS or self._flat(access, q):
            return ALWAYS
        return best if best is not None else self._later(access, p, q)

    def outside(self, access: Access, q: g.Partition) -> bool:
        """Whether an access certainly lies outside of `q`, by bounds alone."""
        axes = range(min(q.rank, len(access.index)))
        return any(self._never(access.index[k], q, k) for k in axes) or self._flat(access, q)

    def _along(self, at: g.Atom, p: g.Partition, q: g.Partition, axis: int) -> Conditions | None:
        """What must hold of one component of an index, whatever it is selected from."""
        found = ALWAYS
        for a in _cases(at, self.ints.sums):
            needed = ALWAYS if self._never(a, q, axis) else self._in_gaps(a, p, q, axis)
            if needed is None:
                return None
            found |= needed
        return found

    # ---- bounds

    def _never(self, at: g.Atom, q: g.Partition, axis: int) -> bool:
        """Whether an int is certainly no index that `q` covers along an axis, or none of the array, where nothing is
        read."""
        forms = self.ints.forms
        form, end = forms.form(at), forms.form(g.extents_of(self.array)[axis])
        if forms.bounds.never_negative(form - end) or forms.bounds.never_negative(-form - 1):
            return True
        return forms.apart(form, forms.along(q, axis), self.inside)

    def _flat(self, access: Access, q: g.Partition) -> bool:
        """Whether no address that an access reads is one that `q` covers, where extents are numbers."""
        from sacpy.jit.analysis.forms import numbers
        from sacpy.withloop.lmads import apart

        extents = numbers(g.extents_of(self.array))
        if extents is None:
            return False
        forms = self.ints.forms
        read = forms.read(access, extents, self.inside)
        return read is not None and apart(read, forms.flat(q, extents), forms.bounds)

    def _later(self, access: Access, p: g.Partition, q: g.Partition) -> Conditions | None:
        """What must hold when the code runs: along one of the axes, that the largest index read lies below the first
        one that `q` covers, or the least one behind the last. A row next to the own one lies in `q` unless that is
        empty: such conditions are of no use."""
        forms = self.ints.forms
        found: list[Test] = []
        for k, at in enumerate(access.index[: q.rank]):
            form = forms.form(at)
            if isinstance(form - forms.form(p.index[k]), int):
                continue
            gaps = [forms.form(q.lower[k]) - 1 - form]
            if q.upper[k] != (self.w.frame or ())[k]:  # behind the array nothing is read
                gaps.append(form - forms.form(q.upper[k]))
            for gap in gaps:
                least = forms.bounds.least(gap, self.inside)
                if least is None or isinstance(least, int) or forms.bounds.never_negative(-least - 1):
                    continue
                found.append(Test(least.constant, tuple((g.Var(n, g.INT), c) for n, c in sorted(least.terms.items()))))
        return frozenset({tuple(found)}) if 0 < len(found) <= MOST else None

    # ---- steps

    def _in_gaps(self, at: g.Atom, p: g.Partition, q: g.Partition, axis: int) -> Conditions | None:
        """What must hold so that an index falls into the gaps that a step leaves."""
        (step, width), (mine, wide) = g.stride(q, axis), g.stride(p, axis)
        if step is None or mine is None or width is None or wide is None:
            return None
        together = gcd(step, mine)
        turns = (*(turn for turn in range(2, min(together, FEW)) if together % turn == 0), together)
        found = (self._off(at, p, q, axis, turn) for turn in turns)
        return min((f for f in found if f is not None), key=len, default=None)

    def _off(self, at: g.Atom, p: g.Partition, q: g.Partition, axis: int, turn: int) -> Conditions | None:
        """What must hold so that an index leaves other rests than those of `q` if it is divided by `turn`, of which the
        steps of both partitions are multiples."""
        (_, width), (_, wide) = g.stride(q, axis), g.stride(p, axis)
        assert width is not None and wide is not None
        sums, extent = self.ints.sums, (self.w.frame or ())[axis]
        away, index = residue(at, turn, sums), p.index[axis].name
        here = away.pop(index, 0)
        if here not in (0, 1):
            return None
        if here:
            away.update(residue(_start(p, axis, extent, sums), turn, sums))
        away.subtract(residue(_start(q, axis, extent, sums), turn, sums))
        first = away.pop("", 0) % turn
        left = {n for n, c in away.items() if c % turn}
        if first < width or first + (wide if here else 1) > turn:
            return None
        if not left:
            return ALWAYS
        return frozenset({multiple(extent, turn)}) if isinstance(extent, g.Var) and left == {extent.name} else None


def _is_own(index: tuple[g.Atom, ...], p: g.Partition, sums: Sums) -> bool:
    """Whether a full index is that of the cell that is computed."""
    return all(
        at == i or (at == lower and distance(lower, upper, sums) == 1)
        for at, i, lower, upper in zip(index, p.index, p.lower, p.upper)
    )


def _is_own_within(index: tuple[g.Atom, ...], p: g.Partition, q: g.Partition, sums: Sums) -> bool:
    """Whether a full index that lies in `q` is that of the cell that is computed, in `p`: along each axis it is the
    cell's own, or the only one that `q` and `p` have. Where cells are computed once, it lies in no other partition
    then."""
    return all(
        at == i or ((lower, upper) == (q.lower[k], q.upper[k]) and distance(lower, upper, sums) == 1)
        for k, (at, i, lower, upper) in enumerate(zip(index, p.index, p.lower, p.upper))
    )


def _cases(a: g.Atom, sums: Sums, depth: int = DEPTH) -> Iterator[g.Atom]:
    """What a number is selected from."""
    op = sums.get(a.name) if isinstance(a, g.Var) and depth else None
    if op is not None and op.code == "select":
        for case in op.args[1:]:
            yield from _cases(case, sums, depth - 1)
    else:
        yield a


def _start(p: g.Partition, axis: int, extent: g.Atom, sums: Sums) -> g.Atom:
    """The first index of a partition along an axis, if it has one: of the least of something and what no index reaches,
    the former."""
    lower = p.lower[axis]
    op = sums.get(lower.name) if isinstance(lower, g.Var) else None
    if op is not None and op.code == "min":
        for a, other in (op.args, op.args[::-1]):
            if other in (p.upper[axis], extent):
                return a
    return lower

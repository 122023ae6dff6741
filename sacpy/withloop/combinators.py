"""The combinators: small steps from an index space to a thread space, and back.

In: an index space on the way out, a thread's index on the way back. Out: the next space; the index before the step,
with the condition under which the thread has one at all. After Janssen and Scholz, "On Mapping N-Dimensional
Data-Parallelism Efficiently into GPU-Thread-Spaces" (IFL 2021), sections 4 and 6; PruneGrid is sac2c's. Each class says
once what it does; `recover` is written over an abstract arithmetic, so that what is tested with integers is what is
emitted.

`form` is all that the emitted code depends on beside the combinator itself; every other number of the space travels in
`slots`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from sacpy.nodes import replace
from sacpy.withloop.arithmetic import Arithmetic, G, Slot, V
from sacpy.withloop.combinator import (
    EQUAL_ROWS,
    Combinator,
    Form,
    Index,
    Number,
    Offsets,
    Parameter,
    both,
    bound,
    value_of,
)
from sacpy.withloop.errors import MappingError
from sacpy.withloop.spaces import IndexSpace, Vector

_GAP_AT_FIRST, _GAPS_BEHIND = 2, 3  # see `FoldTriangle.form`


@dataclass(frozen=True, slots=True)
class ShiftLB(Combinator):
    """Moves the lower bounds to 0."""

    takes_rows: ClassVar[bool] = True

    def _forward(self, space: IndexSpace) -> IndexSpace:
        if space.growth:
            return space
        return IndexSpace((0,) * space.rank, space.extents, space.step, space.width)

    def slots(self, space: IndexSpace) -> tuple[Slot, ...]:
        return tuple(Slot(f"lower{k}", low) for k, low in enumerate(space.lower))

    def recover(
        self, a: Arithmetic[V, G], form: Form, slots: Sequence[Slot], index: Index[V]
    ) -> tuple[Index[V], G | None]:
        return tuple(a.add(i, a.bound(low)) for i, low in zip(index, slots)), None


@dataclass(frozen=True, slots=True)
class CompressGrid(Combinator):
    """Leaves out what lies between the rows of the axes whose mask is 1."""

    mask: Vector
    needs_zero_based: ClassVar[bool] = True

    def arguments(self) -> str:
        return str(list(self.mask))

    def _forward(self, space: IndexSpace) -> IndexSpace:
        if len(self.mask) != space.rank:
            raise _list_length(self, self.mask, space)
        if not set(self.mask) <= {0, 1}:
            wrong = next(m for m in self.mask if m not in (0, 1))
            raise self.error(
                "E0805",
                f"the list of CompressGrid has 1 for an axis to compress and 0 for one to leave, and {wrong} is "
                "neither",
                "write 0 or 1",
                argument=True,
            )
        chosen = [m == 1 and t > 1 for m, t in zip(self.mask, space.step)]
        upper = tuple(count if c else u for c, count, u in zip(chosen, space.counts, space.upper))
        step = tuple(1 if c else t for c, t in zip(chosen, space.step))
        width = tuple(1 if c else w for c, w in zip(chosen, space.width))
        return IndexSpace(space.lower, upper, step, width)

    def form(self, space: IndexSpace) -> Form:
        """Per axis: 0 it stays, 1 single rows are `step` apart, 2 rows come in groups of `width`."""
        return tuple(
            0 if not m or t <= w else 1 if w == 1 else 2 for m, t, w in zip(self.mask, space.step, space.width)
        )

    def slots(self, space: IndexSpace) -> tuple[Slot, ...]:
        slots = []
        for k, kind in enumerate(self.form(space)):
            if kind:
                slots.append(Slot(f"step{k}", space.step[k]))
            if kind == 2:
                slots.append(Slot(f"width{k}", space.width[k], divisor=True))
        return tuple(slots)

    def recover(
        self, a: Arithmetic[V, G], form: Form, slots: Sequence[Slot], index: Index[V]
    ) -> tuple[Index[V], G | None]:
        number = iter(slots)
        recovered = []
        for i, kind in zip(index, form):
            if kind:
                step = a.bound(next(number))
                if kind == 1:
                    i = a.multiply(i, step)
                else:
                    group, within = a.divide(i, next(number))
                    i = a.add(a.multiply(group, step), within)
            recovered.append(i)
        return tuple(recovered), None


@dataclass(frozen=True, slots=True)
class PruneGrid(Combinator):
    """Gives what lies between the rows to threads that do nothing."""

    needs_zero_based: ClassVar[bool] = True

    def _forward(self, space: IndexSpace) -> IndexSpace:
        ones = (1,) * space.rank
        return IndexSpace(space.lower, space.upper, ones, ones)

    def form(self, space: IndexSpace) -> Form:
        """Per axis: whether it has gaps."""
        return tuple(int(w < t) for t, w in zip(space.step, space.width))

    def slots(self, space: IndexSpace) -> tuple[Slot, ...]:
        gaps = [k for k, gap in enumerate(self.form(space)) if gap]
        return tuple(
            slot
            for k in gaps
            for slot in (Slot(f"step{k}", space.step[k], divisor=True), Slot(f"width{k}", space.width[k]))
        )

    def recover(
        self, a: Arithmetic[V, G], form: Form, slots: Sequence[Slot], index: Index[V]
    ) -> tuple[Index[V], G | None]:
        number = iter(slots)
        guard: G | None = None
        for i, gap in zip(index, form):
            if gap:
                _, phase = a.divide(i, next(number))
                guard = both(a, guard, a.less(phase, a.bound(next(number))))
        return index, guard


@dataclass(frozen=True, slots=True)
class Permute(Combinator):
    """Reorders the axes: new axis k is old axis `order[k]`."""

    order: Vector

    def arguments(self) -> str:
        return str(list(self.order))

    def _forward(self, space: IndexSpace) -> IndexSpace:
        if len(self.order) != space.rank:
            raise _list_length(self, self.order, space)
        if sorted(self.order) != list(range(space.rank)):
            raise self.error(
                "E0806",
                f"{list(self.order)} is not a permutation of the axes",
                f"name each axis from 0 to {space.rank - 1} once",
                argument=True,
            )
        lower, upper, step, width = (
            tuple(vector[p] for p in self.order) for vector in (space.lower, space.upper, space.step, space.width)
        )
        return IndexSpace(lower, upper, step, width)

    def form(self, space: IndexSpace) -> Form:
        """The order itself."""
        return self.order

    def recover(
        self, a: Arithmetic[V, G], form: Form, slots: Sequence[Slot], index: Index[V]
    ) -> tuple[Index[V], G | None]:
        return tuple(index[form.index(axis)] for axis in range(len(index))), None


@dataclass(frozen=True, slots=True)
class FoldLast2(Combinator):
    """Makes one axis of the last two. Where rows grow, the row of a position is the root of a quadratic equation."""

    needs_zero_based: ClassVar[bool] = True
    needs_dense: ClassVar[bool] = True
    takes_rows: ClassVar[bool] = True

    def _forward(self, space: IndexSpace) -> IndexSpace:
        if space.rank < 2:
            raise self.error(
                "E0809",
                f"FoldLast2 needs at least two axes, and here {_axes(space.rank)}",
                "leave it out, or put SplitLast inside it",
                space,
            )
        if space.growth:
            return IndexSpace.box((*space.upper[:-2], IndexSpace.rows(space.upper[-2:], space.growth).size))
        return IndexSpace.box((*space.upper[:-2], space.upper[-2] * space.upper[-1]))

    def form(self, space: IndexSpace) -> Form:
        """How much rows grow."""
        return (space.growth,)

    def slots(self, space: IndexSpace) -> tuple[Slot, ...]:
        if space.growth:
            growth = Slot("growth", space.growth, known=True)
            return Slot("least", space.shortest), growth, Slot("rows", space.upper[-2])
        return (Slot("extent", max(1, space.upper[-1]), divisor=True),)  # an empty axis has no thread that divides

    def recover(
        self, a: Arithmetic[V, G], form: Form, slots: Sequence[Slot], index: Index[V]
    ) -> tuple[Index[V], G | None]:
        found = a.in_rows(index[-1], slots[0], slots[1], slots[2]) if form[0] else a.divide(index[-1], slots[0])
        return (*index[:-1], *found), None


@dataclass(frozen=True, slots=True)
class FoldTriangle(Combinator):
    """Makes a rectangle of rows that grow: a long row, and a short one behind it, are a row of it. With an even number
    of rows the longest goes with the shortest, the second longest with the second shortest, and so on, and no position
    is idle. With an odd number the longest stays alone, and the second longest goes with the shortest; no position is
    idle where the shortest row is as long as rows grow, as in `[i,j] < [n, i+1]`."""

    needs_zero_based: ClassVar[bool] = True
    needs_dense: ClassVar[bool] = True
    takes_rows: ClassVar[bool] = True

    def _forward(self, space: IndexSpace) -> IndexSpace:
        if not space.growth:
            raise self.error(
                "E0822",
                "FoldTriangle needs rows that grow, as those of `[i,j] < [n, i+1]` do",
                "leave it out: what has rows of one length is a rectangle",
                space,
            )
        rows, longest = space.upper[-2], space.corner[-1]
        alone = self.form(space)[1]
        if not rows:
            longest = 0
        elif alone == _GAP_AT_FIRST or not rows % 2:
            longest += space.shortest - (abs(space.growth) if rows % 2 else 0)
        return IndexSpace.box((*space.upper[:-2], (rows + 1) // 2, longest))

    def form(self, space: IndexSpace) -> Form:
        """How much rows grow, and which positions have no index. 0: none, of an even number of rows. Of an odd number,
        1: none; 2: the end of the longest row's, where pairs are longer than it; 3: the ends of pairs, where they are
        shorter."""
        rows, over = space.upper[-2], space.shortest - abs(space.growth)
        alone = 0 if not rows % 2 else 1 if rows == 1 or not over else _GAP_AT_FIRST if over > 0 else _GAPS_BEHIND
        return space.growth, alone

    def slots(self, space: IndexSpace) -> tuple[Slot, ...]:
        growth, alone = self.form(space)
        return (
            Slot("last", space.upper[-2] - 1),
            Slot("longest", space.corner[-1]),
            Slot("growth", abs(growth), known=True),
            Slot("one", 1, known=True),
            Slot("none", -1, known=True),
            *([Slot("least", space.shortest)] if alone == _GAPS_BEHIND else []),
        )

    def recover(
        self, a: Arithmetic[V, G], form: Form, slots: Sequence[Slot], index: Index[V]
    ) -> tuple[Index[V], G | None]:
        growth, alone = form
        pair, at = index[-2:]
        last, longest, grown, one = map(a.bound, slots[:4])
        short = a.subtract(pair, one) if alone else pair  # rows are counted from the shortest
        long = a.subtract(last, pair)
        length = a.subtract(longest, pair if abs(growth) == 1 else a.multiply(grown, pair))
        is_long = a.less(at, length)
        row = a.choose(is_long, long, short)
        column = a.choose(is_long, at, a.subtract(at, length))
        guard: G | None = None
        if alone == _GAP_AT_FIRST:
            guard = a.less(a.bound(slots[4]), row)
        elif alone == _GAPS_BEHIND:
            guard = a.less(column, a.add(a.bound(slots[5]), a.multiply(grown, row)))
        return (*index[:-2], row if growth > 0 else a.subtract(last, row), column), guard


@dataclass(frozen=True, slots=True)
class _ByNumber(Combinator):
    """A step whose argument is one number, at least 1, known or left open."""

    n: Number

    def arguments(self) -> str:
        return str(self.n)

    def parameters(self) -> tuple[Parameter, ...]:
        return (self.n,) if isinstance(self.n, Parameter) else ()

    def bind(self, values: dict[str, int]) -> Combinator:
        return replace(self, n=bound(self.n, values))

    def number(self) -> int:
        """The argument's value. `MappingError` where it is open or below 1."""
        n = value_of(self, self.n)
        if n < 1:
            raise self.error(
                "E0803",
                f"{self.name} needs a number of at least 1, and {n} is not",
                "write how many positions the last axis is to have, or to be a multiple of",
                argument=True,
            )
        return n

    def form(self, space: IndexSpace) -> Form:
        """Whether threads without an index must be found out: always where the number is open, so that one kernel
        serves all of them."""
        return (int(isinstance(self.n, Parameter) or bool(space.upper and space.upper[-1] % self.number())),)


@dataclass(frozen=True, slots=True)
class SplitLast(_ByNumber):
    """Makes two axes of the last one, the new last one of extent `n`."""

    needs_zero_based: ClassVar[bool] = True
    needs_dense: ClassVar[bool] = True

    def _forward(self, space: IndexSpace) -> IndexSpace:
        n = self.number()
        if space.rank < 1:
            raise self.error(
                "E0809",
                f"SplitLast needs at least one axis, and here {_axes(space.rank)}",
                "leave it out: rank 0 is one thread, GridBlock(0, Gen)",
                space,
            )
        return IndexSpace.box((*space.upper[:-1], -(-space.upper[-1] // n), n))

    def slots(self, space: IndexSpace) -> tuple[Slot, ...]:
        return (
            Slot("n", self.number(), known=isinstance(self.n, int)),
            *([Slot("extent", space.upper[-1])] if self.form(space)[0] else []),
        )

    def recover(
        self, a: Arithmetic[V, G], form: Form, slots: Sequence[Slot], index: Index[V]
    ) -> tuple[Index[V], G | None]:
        last = a.add(a.multiply(index[-2], a.bound(slots[0])), index[-1])
        return (*index[:-2], last), a.less(last, a.bound(slots[1])) if form[0] else None


@dataclass(frozen=True, slots=True)
class PadLast(_ByNumber):
    """Enlarges the last upper bound to a multiple of `n`. A space of rank 0 has nothing to enlarge."""

    def _forward(self, space: IndexSpace) -> IndexSpace:
        n = self.number()
        if not space.rank:
            return space
        return replace(space, upper=(*space.upper[:-1], -(-space.upper[-1] // n) * n))

    def slots(self, space: IndexSpace) -> tuple[Slot, ...]:
        return (Slot("extent", space.upper[-1]),) if space.rank and self.form(space)[0] else ()

    def recover(
        self, a: Arithmetic[V, G], form: Form, slots: Sequence[Slot], index: Index[V]
    ) -> tuple[Index[V], G | None]:
        return index, a.less(index[-1], a.bound(slots[0])) if slots else None


COMBINATORS: dict[str, type[Combinator]] = {
    c.__name__: c for c in (ShiftLB, CompressGrid, PruneGrid, Permute, FoldLast2, FoldTriangle, SplitLast, PadLast)
}


def _axes(rank: int) -> str:
    return ("is none", "is one")[rank] if rank < 2 else f"are {rank}"


def _list_length(combinator: Combinator, given: Vector, space: IndexSpace) -> MappingError:
    entries = "1 entry" if len(given) == 1 else f"{len(given)} entries"
    axes = "1 axis" if space.rank == 1 else f"{space.rank} axes"
    return combinator.error(
        "E0804",
        f"the list of {combinator.name} has {entries}, and the space {axes}",
        "write one entry for each axis",
        space,
        argument=True,
    )


__all__ = [
    "COMBINATORS",
    "EQUAL_ROWS",
    "Combinator",
    "CompressGrid",
    "FoldLast2",
    "FoldTriangle",
    "Form",
    "Number",
    "Offsets",
    "PadLast",
    "Parameter",
    "Permute",
    "PruneGrid",
    "ShiftLB",
    "SplitLast",
    "both",
    "bound",
    "value_of",
]

"""How a tile of a strip comes from an array in global memory to shared memory: by way of registers.

In: a tile, the threads of a block. Out: two phases of a thread: `fetch` asks for its elements, `put` writes them to the
tile. What lies between the two is done while the elements travel.

All threads together take the tile in rounds. Where rows of the array begin at multiples of the widest access, a thread
takes as many neighbours at a time as that has, and compilers make one access of these. Neighbouring threads have
neighbours in a row of the array. Where that row is a column of the tile, as many as make up a sector of memory have,
and the next ones the rows below: they would else write to the same banks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from sacpy.jit.analysis.affine import Entry
from sacpy.jit.analysis.shared_planner import BYTES
from sacpy.jit.ir import graph as g
from sacpy.jit.ir import kernel as k
from sacpy.jit.kernels.builder import Builder
from sacpy.nodes import Node

WIDE = 16  # bytes of the widest access
SECTOR = 32  # bytes that travel together
PADDING = 4  # elements by which rows are longer at least, that columns are written to


class RegisterTile(Node):
    """An array to load in strips: `order`: its axes as they lie in the tile; `extents`: the tile's, in that order;
    `moving`: the axis of the block that it follows; `entries`: as of the footprint; `together`: how many neighbours are
    loaded in one access; `crossed`: whether the threads of a warp read several rows of the tile at a time."""

    array: g.Var
    entries: tuple[Entry, ...]
    order: tuple[int, ...]
    extents: tuple[int, ...]
    moving: int
    together: int = 1
    crossed: bool = False

    @property
    def turned(self) -> bool:
        """Whether what is neighbours in the array is not in the tile."""
        return self.order[-1] != len(self.order) - 1

    @property
    def lying(self) -> tuple[int, ...]:
        """The extents in memory. Rows that columns are written to, or of which threads read several, are longer: what
        neighbouring threads write or read then comes to different banks, and it still begins at multiples of the widest
        access."""
        more = max(PADDING, WIDE // BYTES[self.array.base]) if self.turned or self.crossed else 0
        return (*self.extents[:-1], self.extents[-1] + more)

    @property
    def digits(self) -> list[tuple[int, int, int]]:
        """How the number of a group of neighbours says where it lies: for each digit, the lowest one first, the axis of
        the array, how many values the digit has, and how many groups lie between two of them."""
        extents = dict(zip(self.order, self.extents))
        last = len(self.order) - 1
        groups = extents[last] // self.together
        near = SECTOR // (BYTES[self.array.base] * self.together) if self.turned else groups
        near = math.gcd(max(near, 1), groups)
        others = [(n, extents[n], 1) for n in reversed(range(last))]
        return [d for d in ((last, near, 1), *others, (last, groups // near, near)) if d[1] > 1]


class StripLoad:
    """The loads of one tile. `tile`: the array in shared memory, whose first axis is that of buffers; `size`: the
    block's extents in threads; `folded`: the axis of the entries that strips go along."""

    def __init__(self, b: Builder, t: RegisterTile, tile: g.Var, size: Sequence[int], folded: int) -> None:
        self.b, self.t, self.tile, self.size, self.folded = b, t, tile, tuple(size), folded
        self.digits, self.threads = t.digits, math.prod(size)
        self.total = math.prod(t.extents) // t.together
        self.rounds = -(-self.total // self.threads)
        self.kept = b.array(t.array.base, (g.integer(self.rounds * t.together),))

    def fetch(self, strip: g.Atom, corner: Callable[[], tuple[g.Atom, ...]], whole: bool) -> k.ForAll:
        """Each thread asks for its elements. `corner`: code of the index of the block's first cell; `whole`: all of the
        strip is there."""
        b, t, last = self.b, self.t, len(self.t.order) - 1
        first: list[g.Atom] = []
        known: dict[tuple[int, g.Atom], g.Atom] = {}
        exact = b.bits == 32  # then no extent is near the largest int, as other axes have several elements

        def along(n: int, place: g.Atom) -> g.Atom:
            """The index along an axis; at a place behind the last element, that of the last one."""
            if (n, place) not in known:
                i = b.op("add", first[n], b.as_int(place), exact=exact)
                if not (whole and t.entries[n].axis == self.folded):
                    most = t.together if n == last else 1
                    i = b.op("min", i, b.op("sub", g.extents_of(t.array)[n], g.integer(most)))
                known[n, place] = i
            return known[n, place]

        def one(number: int, place: Sequence[g.Atom]) -> None:
            if not first:
                start = corner()
                for e in t.entries:
                    base = g.integer(0) if e.axis is None else strip if e.axis == self.folded else start[e.axis]
                    first.append(b.op("add", base, g.integer(e.low)) if e.low else base)
            index = [along(n, p) for n, p in enumerate(place)]
            for m in range(t.together):
                beside = b.op("add", index[last], g.integer(m), exact=True) if m else index[last]
                x = b.load(t.array, *index[:last], beside)
                b.store(self.kept, (g.integer(number * t.together + m),), x)

        return self._phase(one)

    def put(self, buffer: g.Atom, limit: g.Atom | None = None, rounding: str = "") -> k.ForAll:
        """Each thread writes what it asked for. `limit`: so many indices of the strip are there, the others become 0
        (None: all are there); `rounding`: an operation that elements are written through."""
        b, t, last = self.b, self.t, len(self.t.order) - 1
        folded = next(n for n, e in enumerate(t.entries) if e.axis == self.folded)

        def one(number: int, place: Sequence[g.Atom]) -> None:
            many = range(t.together)
            found: list[g.Atom] = [b.load(self.kept, g.integer(number * t.together + m)) for m in many]
            if rounding:  # all of a group, before one is written: compilers write them in one access then
                found = [b.op(rounding, x) for x in found]
            places = [[*place[:last], b.op("add", place[last], b.word_const(m), exact=True)] for m in many[1:]]
            for at, x in zip([list(place), *places], found, strict=True):
                if limit is not None:
                    x = b.op("select", b.op("lt", b.as_int(at[folded]), limit), x, g.Const(x.base, 0.0))
                b.store(self.tile, (buffer, *(at[n] for n in t.order)), x)

        return self._phase(one)

    def _phase(self, one: Callable[[int, Sequence[g.Atom]], None]) -> k.ForAll:
        """Something done with the groups of a thread: their numbers, and where they lie in the tile."""
        b = self.b
        b.open()
        threads = tuple(b.names.var("thread", b.word) for _ in self.size)
        number: g.Atom = threads[0]
        for t, extent in zip(threads[1:], self.size[1:]):
            number = b.op("add", b.op("mul", number, b.word_const(extent), exact=True), t, exact=True)
        for n, (place, guard) in enumerate(self._places(number)):
            b.when(guard, lambda n=n, place=place: one(n, place))  # type: ignore[misc]
        return k.ForAll(threads, tuple(map(b.word_const, self.size)), b.close())

    def _places(self, number: g.Atom) -> Iterator[tuple[list[g.Atom], g.Atom | None]]:
        """Round after round, where the group of a thread lies, and whether there is one (None: always)."""
        b, threads = self.b, self.threads
        lower, split = 1, None  # the digit that a round changes first, where what is below stays and nothing is carried
        for n, (_, many, _) in enumerate(self.digits):
            if threads % lower == 0 and many % (threads // lower) == 0:
                split = n, threads // lower
                break
            lower *= many
        own = self._split(number, threads if split is not None else self.rounds * threads)
        for r in range(self.rounds):
            start = r * threads
            if not r:
                found = own
            elif split is not None:
                found = [self._moved(a, n, r, split) for n, a in enumerate(own)]
            else:
                found = self._split(b.op("add", number, b.word_const(start), exact=True), self.rounds * threads)
            guard = None
            if start + threads > self.total:
                guard = b.op("lt", number, b.word_const(self.total - start))
            yield self._place(found), guard

    def _split(self, number: g.Atom, most: int) -> list[g.Atom]:
        """The digits of a number below `most`."""
        b = self.b
        found: list[g.Atom] = []
        for _, many, _ in self.digits[:-1]:
            found.append(b.op(*self._rest(number, many)) if most > many else number)
            number = b.op(*self._quotient(number, many)) if most > many else b.word_const(0)
            most = -(-most // many)
        return [*found, number] if self.digits else []

    def _rest(self, number: g.Atom, many: int) -> tuple[str, g.Atom, g.Atom]:
        power = not many & (many - 1)
        return ("bitand", number, self.b.word_const(many - 1)) if power else ("mod", number, self.b.word_const(many))

    def _quotient(self, number: g.Atom, many: int) -> tuple[str, g.Atom, g.Atom]:
        power = not many & (many - 1)
        by = self.b.word_const(many.bit_length() - 1 if power else many)
        return ("shr", number, by) if power else ("div", number, by)

    def _moved(self, digit: g.Atom, n: int, r: int, split: tuple[int, int]) -> g.Atom:
        """The n-th digit, r rounds on: the one that changes first goes on by so many values a round, those above it are
        0 at first."""
        at, far = split
        rounds = self.digits[at][1] // far
        more = 0 if n < at else r % rounds * far
        if n > at:
            more = r // rounds
            for _, many, _ in self.digits[at + 1 : n]:
                more //= many
            return self.b.word_const(more % self.digits[n][1])
        return self._sum(digit, self.b.word_const(more))

    def _place(self, digits: Sequence[g.Atom]) -> list[g.Atom]:
        """Where the first element of a group lies along each axis of the array."""
        b = self.b
        zero = b.word_const(0)
        place: list[g.Atom] = [zero for _ in self.t.order]
        last = len(place) - 1
        for (axis, _, stride), digit in zip(self.digits, digits):
            far = stride * (self.t.together if axis == last else 1)
            if isinstance(digit, g.Const):
                digit = b.word_const(int(digit.value) * far)
            elif far > 1:
                digit = b.op("mul", digit, b.word_const(far), exact=True)
            place[axis] = digit if place[axis] == zero else self._sum(place[axis], digit)
        return place

    def _sum(self, a: g.Atom, more: g.Atom) -> g.Atom:
        return a if more == self.b.word_const(0) else self.b.op("add", a, more, exact=True)

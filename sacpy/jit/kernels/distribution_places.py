"""The kernel that puts values where counters say.

In: what a loop distributes (`analysis/distribution`), and where the values of each tile begin. Out: a kernel, in which
a block sorts the numbers of its rounds by their counters, then puts the values of one after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sacpy.jit.ir import graph as g
from sacpy.jit.ir import kernel as k
from sacpy.jit.kernels import distribution_phases as phases
from sacpy.jit.kernels.distribution_phases import ZERO, OfTile, atom_of
from sacpy.jit.kernels.source import Built
from sacpy.jit.kernels.values import Value

DIGIT = 4  # bits of a counter's number by which a block sorts at a time, at most


class Places(OfTile):
    """Puts the values of a tile. Its rounds' numbers are sorted by their counters, some bits at a time: in each step a
    thread counts how many of its rounds, which are neighbours, have which digit; all threads add these up, digit by
    digit; then it knows where each of its rounds goes. A round that puts nothing has the number behind all counters.

    Arrays of the tile have gaps, and so have counts: threads that go over neighbours are a multiple of a power of two
    apart, which would be all in one bank of shared memory."""

    def kernel(self) -> Built:
        """All of it."""
        b, found = self.b, self.found
        firsts = self.between("firsts", self.tiles, written=False)
        self.clash = self.clashes(written=False) if self.counters > 1 else firsts
        self.results = [b.result(v.name, v.base, g.extents_of(v)) for _, v in self.whole.arrays]
        for v in self.results:
            b.once[v.name] = False
        self.none = self.counters - (found.condition is None)  # of a round that puts nothing, or is none
        room = phases.BLOCK * phases.EACH // 8 * 9
        self.digits, *orders = (b.shared(stem, "ushort", (room,)) for stem in ("digit", "order", "order"))
        start = b.shared("start", "int", (self.counters + 1,))
        body: list[k.BlockStmt] = [self.phase(lambda: self.rounds(self.note)), k.Barrier()]
        order: g.Var | None = None
        bits, shift = self.none.bit_length(), 0
        steps = -(-bits // DIGIT)
        for step in range(steps):
            width = -(-(bits - shift) // (steps - step))
            body += self.split(order, orders[step % 2], shift, width)
            order, shift = orders[step % 2], shift + width
        body += [self.phase(lambda: self.rounds(partial(self.begins, order, start))), k.Barrier()]
        body.append(self.phase(lambda: self.rounds(partial(self.put, order, start, firsts))))
        if found.rests:
            body.append(self.phase(lambda: self.when_first(self.last)))
        return self.built(self.tiles, body)

    # ---- arrays of the tile

    def gapped(self, place: g.Atom) -> g.Atom:
        """Where the number at a place of the tile lies."""
        b = self.b
        gaps = b.op("shl", b.op("shr", place, b.word_const(4)), b.word_const(1))
        return self.add(place, gaps)

    def read(self, array: g.Var | None, place: g.Atom) -> g.Atom:
        """The number at a place of the tile; None: that of the place."""
        if array is None:
            return place
        return self.b.as_word(self.b.op("toi", self.b.load(array, self.gapped(place))))

    def write(self, array: g.Var, place: g.Atom, number: g.Atom) -> None:
        self.b.store(array, (self.gapped(place),), self.b.op("tous", number))

    # ---- phases

    def note(self, place: g.Atom, round_: g.Atom) -> None:
        """Which counter a round takes."""
        b = self.b
        self.write(self.digits, place, b.word_const(self.none))

        def own() -> None:
            self.counter(round_, lambda d: self.write(self.digits, place, d))

        b.when(b.op("lt", round_, self.count), own)

    def split(self, order: g.Var | None, made: g.Var, shift: int, width: int) -> list[k.BlockStmt]:
        """Phases that order the rounds by some bits of their counters' numbers; those that have the same ones keep
        their order."""
        b, ways = self.b, 1 << width
        count = phases.BLOCK * ways
        counts = b.shared("many", "ushort", (count + (count >> 4),))

        def at(place: g.Atom) -> g.Atom:
            return self.add(place, b.op("shr", place, b.word_const(4)))

        def load(place: g.Atom) -> g.Atom:
            return b.op("toi", b.load(counts, at(place)))

        def store(place: g.Atom, number: g.Atom) -> None:
            b.store(counts, (at(place),), b.op("tous", number))

        def neighbours(write: Callable[[g.Atom, g.Atom], None]) -> None:
            first = self.times(self.t, phases.EACH)

            def one(e: g.Var, _: list[g.Atom]) -> list[g.Atom]:
                round_ = self.read(order, self.add(first, e))
                digit = b.op("shr", self.read(self.digits, round_), b.word_const(shift))
                digit = b.op("bitand", digit, b.word_const(ways - 1))
                write(round_, self.add(self.times(digit, phases.BLOCK), self.t))
                return []

            b.seq_for(b.word_const(0), b.word_const(phases.EACH), [], one)

        def of_counts(start: g.Atom, step: Callable[[g.Atom, g.Atom], g.Atom]) -> g.Atom:
            first = self.times(self.t, ways)

            def one(e: g.Var, done: list[g.Atom]) -> list[g.Atom]:
                return [step(self.add(first, e), done[0])]

            return b.seq_for(b.word_const(0), b.word_const(ways), [start], one)[0]

        def own(sums: g.Var) -> None:
            b.store(sums, (self.t,), of_counts(ZERO, lambda place, done: self.add(done, load(place))))

        added, sums = self.scanned(own)

        def begin() -> None:
            def one(place: g.Atom, done: g.Atom) -> g.Atom:
                many = load(place)
                store(place, done)
                return self.add(done, many)

            of_counts(self.before(sums), one)

        def count_one(_: g.Atom, place: g.Atom) -> None:
            store(place, self.add(load(place), g.integer(1)))

        def move(round_: g.Atom, place: g.Atom) -> None:
            to = load(place)
            store(place, self.add(to, g.integer(1)))
            self.write(made, b.as_word(to), round_)

        return [
            self.every(count, lambda j: store(j, ZERO)),
            k.Barrier(),
            self.phase(lambda: neighbours(count_one)),
            k.Barrier(),
            *added,
            self.phase(begin),
            k.Barrier(),
            self.phase(lambda: neighbours(move)),
            k.Barrier(),
        ]

    def begins(self, order: g.Var | None, start: g.Var, place: g.Atom, _: g.Atom) -> None:
        """Where in the order the rounds of each counter begin."""
        b = self.b
        digit = self.read(self.digits, self.read(order, place))
        former = b.op("max", b.op("sub", place, b.word_const(1), exact=True), b.word_const(0))
        other = self.read(self.digits, self.read(order, former))
        new = b.op("or", b.op("eq", place, b.word_const(0)), b.op("neq", digit, other))
        b.when(new, lambda: b.store(start, (digit,), b.as_int(place)))

    def put(self, order: g.Var | None, start: g.Var, firsts: g.Var, place: g.Atom, _: g.Atom) -> None:
        """The values of the round that is the next one in the order."""
        b = self.b
        round_ = self.read(order, place)
        digit = self.read(self.digits, round_)
        whole = self.add(self.times(self.index, phases.BLOCK * phases.EACH), round_)

        def one() -> None:
            far = b.op("sub", b.as_int(place), b.load(start, digit), exact=True)
            self.store(whole, self.add(b.load(firsts, digit, self.index), far))

        there = b.op("lt", whole, self.count)
        if self.counters > 1:
            there = b.op("and", there, b.op("eq", b.load(self.clash, ZERO), ZERO))
        if self.found.condition is not None:
            there = b.op("and", there, b.op("lt", digit, b.word_const(self.counters)))
        b.when(there, one)

    def store(self, round_: g.Atom, place: g.Atom) -> None:
        """Puts the values of a round at a place."""
        b, found = self.b, self.found
        self.bind(round_)
        self.thread.bind((found.place,), (place,))

        def finish(values: list[Value]) -> None:
            for v, a in zip(self.results, values):
                b.store(v, (place,), atom_of(a))

        self.thread.block(g.Block((*found.first, *found.then, *found.rest), found.values), finish)

    def last(self) -> None:
        """The last round, if it does not count on: it writes all the same."""
        b = self.b
        ends = self.ends(written=False)
        last = b.op("sub", self.count, b.word_const(1), exact=True)
        own = b.op("eq", b.op("div", last, b.word_const(phases.BLOCK * phases.EACH)), self.index)

        def look() -> None:
            self.bind(last)
            assert self.found.condition is not None

            def asked(condition: list[Value]) -> None:
                b.when(b.op("not", atom_of(condition[0])), lambda: self.store(last, b.load(ends, ZERO)))

            self.thread.block(g.Block(self.found.first, (self.found.condition,)), asked)

        b.when(b.op("and", own, b.op("le", b.word_const(0), last)), look)

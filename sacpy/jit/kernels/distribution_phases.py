"""The kernels that distribute values by counters, phase by phase (`distributed` says which there are).

In: what a loop distributes (`analysis/distribution`), and how many counters there are. Out: kernels. A block has a tile
of rounds. What a thread goes over is either every so many rounds of the tile, so that neighbouring threads read
neighbouring elements, or some neighbours, so that what comes before a round is with the threads before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from sacpy.jit.analysis.distribution import Distribution
from sacpy.jit.ir import graph as g
from sacpy.jit.ir import kernel as k
from sacpy.jit.kernels.source import Built
from sacpy.jit.kernels.thread import Thread
from sacpy.jit.kernels.values import Value

BLOCK = 256  # threads
EACH = 16  # rounds of a thread
DIGIT = 4  # bits of a counter's number by which a block sorts at a time, at most
ROW = 8  # numbers of a row that a thread adds up
ZERO = g.integer(0)


class Whole(Protocol):
    """What is distributed. `start`: what the counters are before; `counted`: the result that tells what they are in
    the end; `arrays`: what each array is before, and the result."""

    found: Distribution
    partition: g.Partition
    start: g.Atom
    counted: g.Var
    arrays: list[tuple[g.Atom, g.Var]]


Make = Callable[[Whole, Thread, int], "Kernel"]


def name_of(whole: Whole, stem: str) -> str:
    """The name of an array between launches."""
    return f"{whole.counted.name}.{stem}"


class Kernel:
    """One kernel, being written. `counters`: how many there are; `index`: the block's number."""

    def __init__(self, whole: Whole, thread: Thread, counters: int) -> None:
        self.whole, self.found = whole, whole.found
        self.thread, self.b, self.counters = thread, thread.b, counters
        self.index = self.b.names.var("block", self.b.word)

    def kernel(self) -> Built:
        """All of it."""
        raise NotImplementedError

    def built(self, blocks: g.Atom, body: Sequence[k.BlockStmt], aligned: bool = False) -> Built:
        b = self.b
        made = b.kernel((self.index,), (blocks,), (b.word_const(BLOCK),), body, aligned=aligned)
        return Built(made, tuple(v.name for v in b.shape))

    # ---- arrays

    def between(self, stem: str, tiles: g.Atom, written: bool) -> g.Var:
        """An array with a number for each counter and tile, which lies between launches."""
        name, extents = name_of(self.whole, stem), (g.integer(self.counters), tiles)
        if written:
            return self.b.result(name, "int", extents)
        v = self.b.arrays[name] = g.Var(name, g.ArrayType("int", extents))
        return v

    def ends(self, written: bool) -> g.Var:
        """What the counters are in the end."""
        name, extents = self.whole.counted.name, (g.integer(self.counters),)
        if written:
            return self.b.result(name, "int", extents)
        v = self.b.arrays[name] = g.Var(name, g.ArrayType("int", extents))
        return v

    def begin(self, d: g.Atom) -> g.Atom:
        """What a counter is before."""
        if self.found.digit is None:
            return self.thread.atom(self.whole.start)
        return self.thread.arrays.load(self.thread.array(self.whole.start), (d,))

    # ---- phases

    def phase(self, write: Callable[[], None]) -> k.ForAll:
        """Code of all threads; `t` is the thread's number."""
        b = self.b
        self.t = b.names.var("thread", b.word)
        b.open()
        write()
        return k.ForAll((self.t,), (b.word_const(BLOCK),), b.close())

    def every(self, count: int, write: Callable[[g.Atom], None]) -> k.ForAll:
        """Code for each number below a constant."""
        b = self.b
        j = b.names.var("j", b.word)
        b.open()
        write(j)
        return k.ForAll((j,), (b.word_const(count),), b.close())

    def when_first(self, write: Callable[[], None]) -> None:
        self.b.when(self.b.op("eq", self.t, self.b.word_const(0)), write)

    def add(self, a: g.Atom, c: g.Atom) -> g.Atom:
        return self.b.op("add", a, c, exact=True)

    def times(self, a: g.Atom, count: int) -> g.Atom:
        return self.b.op("mul", a, self.b.word_const(count), exact=True)

    def scanned(self, own: Callable[[g.Var], None]) -> tuple[list[k.BlockStmt], g.Var]:
        """Phases in which the threads of a block add up a number of each, which `own` writes; and the array that has
        the sum of those up to each thread then."""
        b = self.b
        two = [b.shared("sum", "int", (BLOCK,)) for _ in range(2)]
        body: list[k.BlockStmt] = [self.phase(lambda: own(two[0]))]

        def far(distance: int, given: g.Var, made: g.Var) -> None:
            mine = b.load(given, self.t)
            b.open()
            other = b.op("sub", self.t, b.word_const(distance), exact=True)
            both = self.add(b.load(given, other), mine)
            code, m = b.close(), b.names.var("m", g.INT)
            b.add(k.If(b.op("le", b.word_const(distance), self.t), code, (), (k.Merge(m, both, mine),)))
            b.store(made, (self.t,), m)

        distance = 1
        while distance < BLOCK:
            body += [k.Barrier(), self.phase(partial(far, distance, *two))]
            two, distance = two[::-1], distance * 2
        return [*body, k.Barrier()], two[0]

    def before(self, sums: g.Var) -> g.Atom:
        """The sum of what the threads before have."""
        b = self.b
        last = b.op("max", b.op("sub", self.t, b.word_const(1), exact=True), b.word_const(0))
        return b.op("select", b.op("eq", self.t, b.word_const(0)), ZERO, b.load(sums, last))


class _OfTile(Kernel):
    """A kernel whose blocks have a tile of rounds each."""

    def __init__(self, whole: Whole, thread: Thread, counters: int) -> None:
        super().__init__(whole, thread, counters)
        b = self.b
        self.tiles, self.count, self.lower = b.number("tiles"), b.number("count"), b.number("lower")

    def rounds(self, write: Callable[[g.Atom, g.Atom], None]) -> None:
        """Code for each of a thread's places in the tile, which lie a block apart, and the round that stands there."""
        b = self.b
        first = self.times(self.index, BLOCK * EACH)

        def one(e: g.Var, _: list[g.Atom]) -> list[g.Atom]:
            place = self.add(self.times(e, BLOCK), self.t)
            write(place, self.add(first, place))
            return []

        b.seq_for(b.word_const(0), b.word_const(EACH), [], one)

    def bind(self, round_: g.Atom) -> None:
        """The code that follows is that of a round."""
        self.thread.bind(self.whole.partition.index, (self.b.as_int(self.add(self.lower, round_)),))

    def counter(self, round_: g.Atom, write: Callable[[g.Atom], None]) -> None:
        """Code with the number of the counter that a round takes, if it takes one."""
        found = self.found
        self.bind(round_)

        def taken(_: list[Value]) -> None:
            digit = () if found.digit is None else (found.digit,)
            self.thread.block(g.Block(found.then, digit), lambda d: write(_atom(d[0]) if d else ZERO))

        def asked(condition: list[Value]) -> None:
            self.b.when(_atom(condition[0]) if condition else None, lambda: taken([]))

        condition = () if found.condition is None else (found.condition,)
        self.thread.block(g.Block(found.first, condition), asked)


class Counts(_OfTile):
    """How many rounds of its tile take each counter."""

    def kernel(self) -> Built:
        """All of it."""
        b = self.b
        made = self.between("counts", self.tiles, written=True)
        tally = b.shared("tally", "int", (self.counters,))

        def count(_: g.Atom, round_: g.Atom) -> None:
            def one() -> None:
                self.counter(round_, lambda d: b.add(k.Atomic("add", tally, (d,), g.integer(1))))

            b.when(b.op("lt", round_, self.count), one)

        body = [
            self.every(self.counters, lambda j: b.store(tally, (j,), ZERO)),
            k.Barrier(),
            self.phase(lambda: self.rounds(count)),
            k.Barrier(),
            self.every(self.counters, lambda j: b.store(made, (j, self.index), b.load(tally, j))),
        ]
        return self.built(self.tiles, body)


class Rows(Kernel):
    """Where the values of each tile begin that its counter tells the places of, strip by strip of a row."""

    def kernel(self) -> Built:
        """All of it."""
        b = self.b
        tiles = b.number("tiles")
        counts = self.between("counts", tiles, written=False)
        firsts = self.between("firsts", tiles, written=True)
        ends = self.ends(written=True)
        so_far = b.shared("before", "int", (1,))
        strip, strips, room = (b.names.var(stem, b.word) for stem in ("strip", "strips", "room"))

        def own(sums: g.Var) -> None:
            def one(at: g.Atom, done: g.Atom) -> g.Atom:
                return self.add(done, b.load(counts, self.index, at))

            b.store(sums, (self.t,), in_row(ZERO, one))

        def in_row(start: g.Atom, step: Callable[[g.Atom, g.Atom], g.Atom]) -> g.Atom:
            first = self.add(self.times(strip, BLOCK * ROW), self.times(self.t, ROW))

            def one(at: g.Var, done: list[g.Atom]) -> list[g.Atom]:
                return [step(at, done[0])]

            end = b.op("min", self.add(first, b.word_const(ROW)), tiles)
            return b.seq_for(first, end, [start], one)[0]

        added, sums = self.scanned(own)

        def write() -> None:
            def one(at: g.Atom, done: g.Atom) -> g.Atom:
                b.store(firsts, (self.index, at), done)
                return self.add(done, b.load(counts, self.index, at))

            in_row(self.add(b.load(so_far, ZERO), self.before(sums)), one)

        def go_on() -> None:
            whole = b.load(sums, b.word_const(BLOCK - 1))
            b.store(so_far, (ZERO,), self.add(b.load(so_far, ZERO), whole))

        first = partial(self.when_first, lambda: b.store(so_far, (ZERO,), self.begin(b.as_int(self.index))))
        end = partial(self.when_first, lambda: b.store(ends, (self.index,), b.load(so_far, ZERO)))
        row = (
            *added,
            self.phase(write),
            k.Barrier(),
            self.phase(lambda: self.when_first(go_on)),
            k.Barrier(),
        )
        body = [
            self.phase(first),
            k.Uniform(room, g.Op("add", (tiles, b.word_const(BLOCK * ROW - 1)), True)),
            k.Uniform(strips, g.Op("div", (room, b.word_const(BLOCK * ROW)))),
            k.BlockFor(strip, b.word_const(0), strips, b.word_const(1), row),
            self.phase(end),
        ]
        return self.built(b.word_const(self.counters), body)


class Rest(Kernel):
    """The elements of an array that no round sets. Where the places of one counter end where those of the next one
    begin, these are those in front of all and behind them; else all are taken, of which some are set again."""

    def __init__(self, whole: Whole, thread: Thread, counters: int, given: g.Atom, target: g.Var) -> None:
        super().__init__(whole, thread, counters)
        self.given, self.target = given, target

    def kernel(self) -> Built:
        """All of it."""
        b = self.b
        blocks = b.number("blocks")
        ends = self.ends(written=False)
        made = b.result(self.target.name, self.target.base, g.extents_of(self.target))
        gap = b.shared("gap", "int", (1,))

        def look() -> None:
            def one(d: g.Var, _: list[g.Atom]) -> list[g.Atom]:
                follow = b.op("eq", b.load(ends, d), self.begin(b.as_int(self.add(d, b.word_const(1)))))
                b.when(b.op("not", follow), lambda: b.add(k.Atomic("max", gap, (ZERO,), g.integer(1))))
                return []

            b.seq_for(self.t, b.word_const(self.counters - 1), [], one, step=BLOCK)

        def copy() -> None:
            size = b.as_word(self.thread.atom(g.extents_of(self.target)[0]))
            apart = b.op("neq", b.load(gap, ZERO), ZERO)
            low = b.as_word(self.begin(ZERO))
            high = b.as_word(b.load(ends, b.word_const(self.counters - 1)))
            inside = b.op("select", apart, b.word_const(0), b.op("sub", high, low, exact=True))
            step = self.times(blocks, BLOCK)
            first = self.add(self.times(self.index, BLOCK), self.t)
            left = b.op("sub", b.op("sub", size, inside, exact=True), first, exact=True)
            last = b.op("sub", step, b.word_const(1), exact=True)
            many = b.op("div", b.op("max", self.add(left, last), b.word_const(0)), step)

            def one(e: g.Var, _: list[g.Atom]) -> list[g.Atom]:
                j = self.add(first, b.op("mul", e, step, exact=True))
                behind = b.op("select", b.op("lt", j, low), j, self.add(j, inside))
                b.store(made, (behind,), self.thread.arrays.load(self.thread.array(self.given), (behind,)))
                return []

            b.seq_for(b.word_const(0), many, [], one)

        body = [
            self.phase(lambda: self.when_first(lambda: b.store(gap, (ZERO,), ZERO))),
            k.Barrier(),
            *([self.phase(look), k.Barrier()] if self.counters > 1 else []),
            self.phase(copy),
        ]
        b.once[self.target.name] = False
        return self.built(blocks, body)


class Places(_OfTile):
    """Puts the values of a tile. Its rounds' numbers are sorted by their counters, some bits at a time: in each step a
    thread counts how many of its rounds, which are neighbours, have which digit; all threads add these up, digit by
    digit; then it knows where each of its rounds goes. A round that puts nothing has the number behind all counters.

    Arrays of the tile have gaps, and so have counts: threads that go over neighbours are a multiple of a power of two
    apart, which would be all in one bank of shared memory."""

    def kernel(self) -> Built:
        """All of it."""
        b, found = self.b, self.found
        firsts = self.between("firsts", self.tiles, written=False)
        self.results = [b.result(v.name, v.base, g.extents_of(v)) for _, v in self.whole.arrays]
        for v in self.results:
            b.once[v.name] = False
        self.none = self.counters - (found.condition is None)  # of a round that puts nothing, or is none
        room = BLOCK * EACH // 8 * 9
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
        if self.counters > 1:
            body.append(self.apart())
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
        count = BLOCK * ways
        counts = b.shared("many", "ushort", (count + (count >> 4),))

        def at(place: g.Atom) -> g.Atom:
            return self.add(place, b.op("shr", place, b.word_const(4)))

        def load(place: g.Atom) -> g.Atom:
            return b.op("toi", b.load(counts, at(place)))

        def store(place: g.Atom, number: g.Atom) -> None:
            b.store(counts, (at(place),), b.op("tous", number))

        def neighbours(write: Callable[[g.Atom, g.Atom], None]) -> None:
            first = self.times(self.t, EACH)

            def one(e: g.Var, _: list[g.Atom]) -> list[g.Atom]:
                round_ = self.read(order, self.add(first, e))
                digit = b.op("shr", self.read(self.digits, round_), b.word_const(shift))
                digit = b.op("bitand", digit, b.word_const(ways - 1))
                write(round_, self.add(self.times(digit, BLOCK), self.t))
                return []

            b.seq_for(b.word_const(0), b.word_const(EACH), [], one)

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
        whole = self.add(self.times(self.index, BLOCK * EACH), round_)

        def one() -> None:
            far = b.op("sub", b.as_int(place), b.load(start, digit), exact=True)
            self.store(whole, self.add(b.load(firsts, digit, self.index), far))

        there = b.op("lt", whole, self.count)
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
                b.store(v, (place,), _atom(a))

        self.thread.block(g.Block((*found.first, *found.then, *found.rest), found.values), finish)

    def last(self) -> None:
        """The last round, if it does not count on: it writes all the same."""
        b = self.b
        ends = self.ends(written=False)
        last = b.op("sub", self.count, b.word_const(1), exact=True)
        own = b.op("eq", b.op("div", last, b.word_const(BLOCK * EACH)), self.index)

        def look() -> None:
            self.bind(last)
            assert self.found.condition is not None

            def asked(condition: list[Value]) -> None:
                b.when(b.op("not", _atom(condition[0])), lambda: self.store(last, b.load(ends, ZERO)))

            self.thread.block(g.Block(self.found.first, (self.found.condition,)), asked)

        b.when(b.op("and", own, b.op("le", b.word_const(0), last)), look)

    def apart(self) -> k.ForAll:
        """Asks whether the places of each two counters are others, a block for some of them."""
        b = self.b
        ends = self.ends(written=False)

        def look() -> None:
            def of(d: g.Var, _: list[g.Atom]) -> list[g.Atom]:
                def other(e: g.Var, _: list[g.Atom]) -> list[g.Atom]:
                    before = b.op("le", b.load(ends, d), self.begin(b.as_int(e)))
                    behind = b.op("le", b.load(ends, e), self.begin(b.as_int(d)))
                    apart = b.op("or", b.op("eq", d, e), b.op("or", before, behind))
                    b.add(k.Check(apart, "no two counters have places in common"))
                    return []

                b.seq_for(self.t, b.word_const(self.counters), [], other, step=BLOCK)
                return []

            step = self.tiles
            rounds = b.op("div", b.op("add", b.op("sub", b.word_const(self.counters - 1), self.index, exact=True), step,
                                      exact=True), step)  # fmt: skip

            def some(e: g.Var, _: list[g.Atom]) -> list[g.Atom]:
                d = self.add(self.index, b.op("mul", e, step, exact=True))
                return of(d, [])  # type: ignore[arg-type]

            b.seq_for(b.word_const(0), b.op("max", rounds, b.word_const(0)), [], some)

        return self.phase(look)


def _atom(v: Value) -> g.Atom:
    assert isinstance(v, g.Var | g.Const)
    return v

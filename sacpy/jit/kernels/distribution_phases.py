"""The kernels that distribute values by counters, but that which puts them
(`distribution_places`), phase by phase (`distributed` says which there are).

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

    def array(self, name: str, extents: tuple[g.Atom, ...], written: bool) -> g.Var:
        """An array of ints that a launch before has written, or this one does."""
        if written:
            return self.b.result(name, "int", extents)
        v = self.b.arrays[name] = g.Var(name, g.ArrayType("int", extents))
        return v

    def between(self, stem: str, tiles: g.Atom, written: bool) -> g.Var:
        """An array with a number for each counter and tile, which lies between launches."""
        return self.array(name_of(self.whole, stem), (g.integer(self.counters), tiles), written)

    def ends(self, written: bool) -> g.Var:
        """What the counters are in the end."""
        return self.array(self.whole.counted.name, (g.integer(self.counters),), written)

    def clashes(self, written: bool) -> g.Var:
        """A number that is not 0 where two counters have places in common."""
        return self.array(name_of(self.whole, "clash"), (g.integer(1),), written)

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


class OfTile(Kernel):
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

    def holds(self, condition: list[Value]) -> g.Atom | None:
        """Whether a round puts its values anywhere, by what the condition gives."""
        if not condition:
            return None
        return self.b.op("not", atom_of(condition[0])) if self.found.unless else atom_of(condition[0])

    def counter(self, round_: g.Atom, write: Callable[[g.Atom], None]) -> None:
        """Code with the number of the counter that a round takes, if it takes one."""
        found = self.found
        self.bind(round_)

        def taken() -> None:
            digit = () if found.digit is None else (found.digit,)
            self.thread.block(g.Block(found.then, digit), lambda d: write(atom_of(d[0]) if d else ZERO))

        def asked(condition: list[Value]) -> None:
            self.b.when(self.holds(condition), taken)

        condition = () if found.condition is None else (found.condition,)
        self.thread.block(g.Block(found.first, condition), asked)


class Counts(OfTile):
    """How many rounds of its tile take each counter."""

    def kernel(self) -> Built:
        """All of it."""
        b = self.b
        made = self.between("counts", self.tiles, written=True)
        tally = b.shared("tally", "int", (self.counters,))

        # of one counter each thread has its own count: all would wait for one another
        mine = b.array("int", (g.integer(1),)) if self.counters == 1 else None

        def add(d: g.Atom) -> None:
            if mine is None:
                b.add(k.Atomic("add", tally, (d,), g.integer(1)))
            else:
                b.store(mine, (ZERO,), self.add(b.load(mine, ZERO), g.integer(1)))

        def count() -> None:
            if mine is not None:
                b.store(mine, (ZERO,), ZERO)
            self.rounds(lambda _, at: b.when(b.op("lt", at, self.count), lambda: self.counter(at, add)))
            if mine is not None:
                b.add(k.Atomic("add", tally, (ZERO,), b.load(mine, ZERO)))

        body: list[k.BlockStmt] = [
            self.every(self.counters, lambda j: b.store(tally, (j,), ZERO)),
            k.Barrier(),
            self.phase(count),
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
        clash = self.clashes(written=True)
        b.once[clash.name] = False
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

        def begin() -> None:
            b.store(so_far, (ZERO,), self.begin(b.as_int(self.index)))
            b.when(b.op("eq", self.index, b.word_const(0)), lambda: b.store(clash, (ZERO,), ZERO))

        first = partial(self.when_first, begin)
        end = partial(self.when_first, lambda: b.store(ends, (self.index,), b.load(so_far, ZERO)))
        row = (
            *added,
            self.phase(write),
            k.Barrier(),
            self.phase(lambda: self.when_first(go_on)),
            k.Barrier(),
        )
        body: list[k.BlockStmt] = [
            self.phase(first),
            k.Uniform(room, g.Op("add", (tiles, b.word_const(BLOCK * ROW - 1)), True)),
            k.Uniform(strips, g.Op("div", (room, b.word_const(BLOCK * ROW)))),
            k.BlockFor(strip, b.word_const(0), strips, b.word_const(1), row),
            self.phase(end),
        ]
        return self.built(b.word_const(self.counters), body)


class Apart(Kernel):
    """Asks whether the places of each two counters are others, a block for each counter."""

    def kernel(self) -> Built:
        """All of it."""
        b = self.b
        ends, clash = self.ends(written=False), self.clashes(written=True)
        b.once[clash.name] = False

        def look() -> None:
            def other(e: g.Var, _: list[g.Atom]) -> list[g.Atom]:
                before = b.op("le", b.load(ends, self.index), self.begin(b.as_int(e)))
                behind = b.op("le", b.load(ends, e), self.begin(b.as_int(self.index)))
                apart = b.op("or", b.op("eq", self.index, e), b.op("or", before, behind))
                b.add(k.Check(apart, "no two counters have places in common"))
                b.when(b.op("not", apart), lambda: b.add(k.Atomic("max", clash, (ZERO,), g.integer(1))))
                return []

            b.seq_for(self.t, b.word_const(self.counters), [], other, step=BLOCK)

        return self.built(b.word_const(self.counters), [self.phase(look)])


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

        body: list[k.BlockStmt] = [
            self.phase(lambda: self.when_first(lambda: b.store(gap, (ZERO,), ZERO))),
            k.Barrier(),
        ]
        if self.counters > 1:
            body += [self.phase(look), k.Barrier()]
        body.append(self.phase(copy))
        b.once[self.target.name] = False
        return self.built(blocks, body)


def atom_of(v: Value) -> g.Atom:
    """A value that is a scalar."""
    assert isinstance(v, g.Var | g.Const)
    return v

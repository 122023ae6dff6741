"""Folds within a block: what one thread accumulates, and how the threads of a block put that together.

In: the folds of a with-loop, a thread's code. Out: statements that take in one index after the other, and phases that
combine what the threads have, neighbour with neighbour, in a tree of fixed shape. A fold of one operation on numbers
starts from that operation's identity. Any other starts from nothing, and a flag says whether a thread has come across a
value yet: so the neutral element counts once, as in the language, whatever it is.

Extremes of reals are those of the language, where order matters to NaN (what came before the last one is forgotten) and
to zeros of both signs (the later one counts). Threads do not keep that order. So they note what they have come across,
and where it may have mattered, the result is left to whoever computes in order: a check fails.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from sacpy.jit.analysis.folds import recognised
from sacpy.jit.analysis.shared_planner import ALIGNMENT, BYTES
from sacpy.jit.ir import graph as g
from sacpy.jit.ir import kernel as k
from sacpy.jit.kernels.launches import KernelOptions, Refused
from sacpy.jit.kernels.thread import Thread
from sacpy.jit.kernels.values import Value, zero
from sacpy.lang.constants import largest, smallest
from sacpy.lang.types import REAL, SIGNED
from sacpy.nodes import Node
from sacpy.withloop.ways import GpuFold

_OTHER_ORDER = "this way changes the order of operands, and the function of the fold is not known to be commutative"
_SAY_SO = (
    "take interleaved, runs or shuffle; or, if the function gives the same in any order of its operands, say so with "
    "`#pragma commutative` before the first partition"
)
Code = Callable[[], list[g.Atom]]
MOST_COPIES = 8  # of short code in one round of a loop
_SHORT = 16  # statements that such code has at most
RADIX = 8  # how many values a thread combines at a time
NAN, NEGATIVE_ZERO, ZERO = 1, 2, 4  # what was come across, as bits


class Shared(Node):
    """What the threads of a block have accumulated, an element for each: one array per accumulator, and the flags where
    there are any. Where warps shuffle, `arrays` have an element for each warp; `own` is what each thread has, `other`
    what one further in its warp had."""

    arrays: tuple[g.Var, ...]
    own: tuple[g.Var, ...] = ()
    other: tuple[g.Var, ...] = ()


class Reduction:
    """The folds of a with-loop in one kernel. `way`: how threads put together what they have, where a pragma says so
    (`MappingError` where it cannot be). Carried are the accumulators, then the flag where there is one, then what
    extremes of reals have come across where there are such, then whether all checks held where there are checks."""

    def __init__(self, thread: Thread, folds: Sequence[g.Fold], checks: bool, way: GpuFold | None = None) -> None:
        self.t = thread
        self.b = thread.b
        self.folds = tuple(folds)
        self.bases = tuple(n.base for f in folds for n in f.neutrals)
        for f in folds:
            if any(isinstance(v.type, g.ArrayType) for v in f.accumulators):
                raise Refused("it folds arrays")
            if f.stop is not None:
                raise Refused("foldfix ends at an index that is not known before")
        codes = [recognised(f) for f in self.folds]
        self.flagged = not all(codes)
        self.extremes = self._extremes([None if f is None else f.codes for f in codes])
        self.start: tuple[g.Atom, ...] = (
            tuple(map(zero, self.bases))
            if self.flagged
            else tuple(identity(code, base) for f in codes if f is not None for code, base in zip(f.codes, f.bases))
        )
        self.checks = checks
        self.ordered = keeps_order(self.folds)
        if way is not None and way.way == "mma":
            raise way.refused("tensor cores compute the cells of a matrix product, and here are none", "leave it out")
        self.way = way
        self.neighbours = self.ordered or (way is not None and way.way == "interleaved")
        self.radix = 2 if way is not None and way.pairs else RADIX
        if way is not None and way.turns and self.ordered:
            raise way.refused(_OTHER_ORDER, _SAY_SO)

    @property
    def runs(self) -> bool:
        """Whether a thread has indices beside one another, not evenly apart."""
        return self.ordered or (self.way is not None and self.way.way in ("runs", "interleaved"))

    @property
    def shuffles(self) -> bool:
        """Whether warps put together what their threads have, from register to register."""
        return self.way is not None and self.way.way == "shuffle"

    @property
    def initial(self) -> list[g.Atom]:
        """What is carried at first."""
        return [
            *self.start,
            *([g.FALSE] if self.flagged else []),
            *([g.integer(0)] if self.extremes else []),
            *([g.TRUE] if self.checks else []),
        ]

    @property
    def kept(self) -> tuple[str, ...]:
        """The base types of what a thread leaves to others: accumulators, then the flag, then what was come across."""
        return (*self.bases, *(["bool"] if self.flagged else []), *(["int"] if self.extremes else []))

    def _extremes(self, codes: Sequence[tuple[str, ...] | None]) -> tuple[int, ...]:
        """The accumulators that are extremes of reals."""
        found: list[int] = []
        at = 0
        for f, known in zip(self.folds, codes):
            found += [
                at + n
                for n, a in enumerate(f.accumulators)
                if known is not None and known[n] in ("min", "max") and a.base in REAL
            ]
            at += len(f.accumulators)
        return tuple(found)

    @property
    def _odd(self) -> int:
        """Where what was come across is carried."""
        return len(self.bases) + self.flagged

    @property
    def bytes(self) -> int:
        """What a thread takes of the block's memory."""
        return sum(BYTES[base] for base in self.kept)

    def threads(self, options: KernelOptions) -> int:
        """How many threads of a block fold: a power of two for which there is shared memory."""
        threads = options.fold_threads
        while threads > 1 and threads * self.bytes + ALIGNMENT * len(self.kept) > options.device.shared_per_block:
            threads //= 2
        return threads

    def copies(self, body: g.Block, each: int) -> int:
        """How often the code of an index is written out in one round of a loop over indices, of which a thread has
        about `each`: several times where it is short and nothing in it is asked."""
        plain = all(isinstance(s, g.Let) for s in body.statements)
        plain = plain and not (self.flagged or self.extremes or self.checks)
        return min(MOST_COPIES, each) if plain and len(body.statements) <= _SHORT else 1

    # ---- one thread

    def choose(self, condition: g.Atom | None, then: Code, otherwise: Code) -> list[g.Atom]:
        """The values of one branch or the other; None always holds."""
        if condition is None:
            return then()
        self.b.open()
        a = then()
        first = self.b.close()
        self.b.open()
        c = otherwise()
        second = self.b.close()
        targets = [self.b.names.var("c", v.type) for v in a]
        self.b.add(k.If(condition, first, second, tuple(map(k.Merge, targets, a, c))))
        return list(targets)

    def combined(self, accumulated: Sequence[g.Atom], values: Sequence[Value]) -> tuple[list[g.Atom], g.Atom | None]:
        """The folds' functions, and whether the checks in them held."""
        found: list[g.Atom] = []
        held: g.Atom | None = None
        at = 0
        for f in self.folds:
            size = len(f.accumulators)
            self.t.bind(f.accumulators, list(accumulated[at : at + size]))
            self.t.bind(f.values, values[at : at + size])
            at += size
            results, ok = self.t.block(f.combine)
            held = self.b.both(held, ok)
            found += [r for r in results if isinstance(r, g.Var | g.Const)]
        return found, held

    def take(
        self, carried: Sequence[g.Atom], guard: g.Atom | None, values: Callable[[], tuple[list[Value], g.Atom | None]]
    ) -> list[g.Atom]:
        """One more index, where the guard holds: `values` writes the code of its body."""
        count = len(self.bases)
        old = list(carried)

        def more() -> list[g.Atom]:
            given, ok = values()

            def absorbed() -> list[g.Atom]:
                def together() -> list[g.Atom]:
                    found, held = self.combined(old[:count], given)
                    return [*found, held or g.TRUE]

                def alone() -> list[g.Atom]:
                    return [*(v for v in given if isinstance(v, g.Var | g.Const)), g.TRUE]

                *new, held = self.choose(old[count], together, alone) if self.flagged else together()
                seen = [self._seen(old[self._odd], given)] if self.extremes else []
                return [*new, *([g.TRUE] if self.flagged else []), *seen, *([held] if self.checks else [])]

            return self.choose(ok, absorbed, lambda: [*old[:-1], g.FALSE])

        return self.choose(self.b.both(guard, old[-1] if self.checks else None), more, lambda: old)

    def _seen(self, odd: g.Atom, values: Sequence[Value]) -> g.Atom:
        """What was come across, with what some values are."""
        op = self.b.op
        for n in self.extremes:
            v = values[n]
            assert isinstance(v, g.Var | g.Const)
            zero_ = op(
                "select",
                op("lt", op("copysign", g.Const(v.base, 1.0), v), g.Const(v.base, 0.0)),
                g.integer(NEGATIVE_ZERO),
                g.integer(ZERO),
            )
            number = op("select", op("eq", v, g.Const(v.base, 0.0)), zero_, g.integer(0))
            odd = op("bitor", odd, op("select", op("neq", v, v), g.integer(NAN), number))
        return odd

    def _decided(self, found: Sequence[g.Atom]) -> g.Atom:
        """Whether the order does not matter to what came out."""
        op, odd = self.b.op, found[self._odd]
        both = g.integer(NEGATIVE_ZERO | ZERO)
        zeros = op("eq", op("bitand", odd, both), both)
        decided = op("eq", op("bitand", odd, g.integer(NAN)), g.integer(0))
        for n in self.extremes:
            decided = op("and", decided, op("not", op("and", zeros, op("eq", found[n], g.Const(found[n].base, 0.0)))))
        return decided

    # ---- the threads of a block

    def allocate(self, threads: int) -> Shared:
        """Room for what each thread of a block has; of no threads, where only warps put something together."""
        if self.way is not None and self.shuffles:
            if threads % k.WARP:
                raise self.way.refused(
                    f"a block of {threads} threads has no whole warps of {k.WARP}", "take another way, or other blocks"
                )
            own, other = (tuple(self.b.array(base, (g.integer(1),)) for base in self.kept) for _ in ("own", "other"))
            warps = threads // k.WARP
            found = tuple(self.b.shared("part", base, (warps,)) for base in self.kept) if warps else ()
            return Shared(found, own, other)
        return Shared(tuple(self.b.shared("part", base, (threads,)) for base in self.kept))

    def leave(self, shared: Shared, at: g.Atom, carried: Sequence[g.Atom]) -> None:
        """Puts what a thread has at a place."""
        if shared.own:
            self.keep(shared.own, carried)
            return
        for array, v in zip(shared.arrays, carried):
            self.b.store(array, (at,), v)

    def keep(self, own: Sequence[g.Var], values: Sequence[g.Atom]) -> None:
        """Puts values into arrays of one element."""
        for array, v in zip(own, values):
            self.b.store(array, (g.integer(0),), v)

    def kept_in(self, own: Sequence[g.Var]) -> list[g.Atom]:
        """What such arrays have."""
        return [self.b.load(a, g.integer(0)) for a in own]

    def joined(self, left: Sequence[g.Atom], right: Sequence[g.Atom]) -> list[g.Atom]:
        """Two neighbours' accumulators in one, with the flag."""
        count = len(self.bases)

        def both() -> list[g.Atom]:
            found, held = self.combined(left[:count], list(right[:count]))
            return self.choose(held, lambda: found, lambda: list(left[:count]))

        seen = [self.b.op("bitor", left[self._odd], right[self._odd])] if self.extremes else []
        if not self.flagged:
            return [*both(), *seen]
        found = self.choose(
            right[count],
            lambda: self.choose(left[count], both, lambda: list(right[:count])),
            lambda: list(left[:count]),
        )
        return [*found, self.b.op("or", left[count], right[count]), *seen]

    def tree(self, shared: Shared, threads: int, lanes: int = 1) -> list[k.BlockStmt]:
        """Phases after which the first place has what all places had. In each, a thread combines what `RADIX` of them
        have: fewer phases, so fewer barriers that all threads wait at. Where order counts, those are neighbours; else
        they lie evenly apart, so that neighbouring threads read neighbouring places. `lanes`: so many folds side by
        side (a power of two), whose places alternate; then the first `lanes` places have the results. A result lies
        where the thread of its number has written it: that one may read it without a barrier."""
        if shared.own:
            return self._by_warps(shared, threads)
        steps: list[k.BlockStmt] = []
        left, apart = threads, 1
        while left > 1:
            live = -(-left // self.radix)
            steps += [k.Barrier(), self._level(shared, left, live, apart, lanes)]
            left, apart = live, apart * self.radix
        return steps

    def _by_warps(self, shared: Shared, threads: int) -> list[k.BlockStmt]:
        """The same from register to register: each warp by itself, then the first one what all of them have. What a
        thread makes of others beyond its own group is never read by one that counts."""
        b, warps = self.b, threads // k.WARP
        steps = self.by_groups(shared, threads, k.WARP)
        if warps > 1:
            t = b.names.var("thread", g.INT)
            b.open()

            def leave() -> None:
                at = b.op("shr", t, g.integer(k.WARP.bit_length() - 1))
                for array, v in zip(shared.arrays, self.kept_in(shared.own)):
                    b.store(array, (at,), v)

            b.when(b.op("eq", b.op("bitand", t, g.integer(k.WARP - 1)), g.integer(0)), leave)
            steps += [k.ForAll((t,), (g.integer(threads),), b.close()), k.Barrier()]
            t = b.names.var("thread", g.INT)
            b.open()
            found = self.choose(
                b.op("lt", t, g.integer(warps)),
                lambda: [b.load(a, t) for a in shared.arrays],
                lambda: self.initial[: len(self.kept)],
            )
            self.keep(shared.own, found)
            steps += [k.ForAll((t,), (g.integer(threads),), b.close()), *self.by_groups(shared, threads, warps)]
        t = b.names.var("thread", g.INT)
        b.open()
        self.keep(shared.arrays, self.kept_in(shared.own))
        return [*steps, k.ForAll((t,), (g.integer(1),), b.close())]

    def by_groups(self, shared: Shared, threads: int, size: int) -> list[k.BlockStmt]:
        """Phases after which the first thread of each group has what all threads of it had: of `size` neighbours, a
        power of two, within a warp."""
        b, distance = self.b, 1
        steps: list[k.BlockStmt] = []
        while distance < size:
            steps += [k.Shuffle(other, own, distance) for own, other in zip(shared.own, shared.other)]
            t = b.names.var("thread", g.INT)
            b.open()
            self.keep(shared.own, self.joined(self.kept_in(shared.own), self.kept_in(shared.other)))
            steps.append(k.ForAll((t,), (g.integer(threads),), b.close()))
            distance *= 2
        return steps

    def _level(self, shared: Shared, left: int, live: int, apart: int, lanes: int) -> k.ForAll:
        """Of each fold, `left` values become `live` ones. Where order counts they lie `apart` times `lanes` places from
        one another, else side by side."""
        b = self.b
        t = b.names.var("thread", g.INT)
        many = min(self.radix, left) if self.neighbours else -(-left // live)
        whole = left % many == 0 if self.neighbours else left % live == 0
        b.open()
        lane = b.op("bitand", t, g.integer(lanes - 1)) if lanes > 1 else g.integer(0)
        group = b.op("shr", t, g.integer(lanes.bit_length() - 1)) if lanes > 1 else t
        first, step = group, live
        if self.neighbours:
            first, step = b.op("mul", group, g.integer(many), exact=True), 1
        distance = apart if self.neighbours else 1

        def place(number: g.Atom) -> g.Atom:
            at = b.op("mul", number, g.integer(distance * lanes), exact=True) if distance * lanes > 1 else number
            return b.op("add", at, lane, exact=True) if lanes > 1 else at

        def take(at: g.Var, carried: list[g.Atom]) -> list[g.Atom]:
            more = b.op("mul", at, g.integer(step), exact=True) if step > 1 else at
            other = b.op("add", first, more, exact=True)
            there = None if whole else b.op("lt", other, g.integer(left))

            def joined() -> list[g.Atom]:
                return self.joined(carried, [b.load(a, place(other)) for a in shared.arrays])

            return self.choose(there, joined, lambda: list(carried))

        own = place(first)
        start = [b.load(a, own) for a in shared.arrays]
        found = b.seq_for(g.integer(1), g.integer(many), start, take)
        self.leave(shared, own, found)
        return k.ForAll((t,), (g.integer(live * lanes),), b.close())

    def finish(self, found: Sequence[g.Atom], some: g.Atom | None, before: Code | None) -> list[g.Atom]:
        """The result of a partition from what all its indices gave: the neutral elements come first. `some`: whether
        there were any (None: there were); `before`: reads the results of the partitions before it."""
        count = len(self.bases)
        if self.extremes:
            self.b.add(
                k.Check(self._decided(found), "the order of NaN and zeros of both signs does not matter to an extreme")
            )
        neutrals = list(self.t.atoms([n for f in self.folds for n in f.neutrals]))

        def with_neutrals() -> list[g.Atom]:
            results, held = self.combined(neutrals, list(found[:count]))
            return self.choose(held, lambda: results, lambda: neutrals)

        total = self.choose(found[count] if self.flagged else some, with_neutrals, lambda: neutrals)
        if before is None:
            return total
        earlier = before()
        results, held = self.combined(total, list(earlier))
        return self.choose(held, lambda: results, lambda: total)


def keeps_order(folds: Sequence[g.Fold]) -> bool:
    """Whether the operands of some folds are to be combined in their order: unless each function is known, or said, to
    be commutative. Where brackets stand may change, as a fold's function is associative."""
    return not all(f.commutative or recognised(f) is not None for f in folds)


def identity(code: str, base: str) -> g.Const:
    """The value that an operation leaves others alone with."""
    real = base in REAL
    match code:
        case "add":
            return g.Const(base, -0.0 if real else 0)
        case "mul":
            return g.Const(base, 1.0 if real else 1)
        case "min":
            return g.Const(base, math.inf if real else largest(base))
        case "max":
            return g.Const(base, -math.inf if real else smallest(base))
        case "bitand":
            return g.Const(base, -1 if base in SIGNED else largest(base))
        case "and" | "or":
            return g.Const(base, code == "and")
    return g.Const(base, 0)

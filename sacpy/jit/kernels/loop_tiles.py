"""Loops of a thread over elements that all threads of its block read: a block has them in tiles of shared memory.

In: the code of a block's threads, straight or under conditions, with one counting loop whose bounds a launch knows, and
which reads elements by its counter alone. Out: phases. Threads compute what comes before the loop; then by turns the
block fetches what so many rounds read, one round a thread, and the threads run these rounds; then comes what follows
the loop. What a thread knows at the end of a phase and needs in a later one is in memory of its own, which compilers
keep in registers.

    forall i                                  forall i
      x = load p[i]                             own[0] := load p[i]; own[1] := 0.0
      for j from 0 to n with c := 0.0         for strip from 0 to n step 128
        y = load p[j]                           forall u < 128: tile[u] := load p[strip + u], if there is one
        next c + force(x, y)                    barrier
      w[i] := c                                 forall i
                                                  for j from 0 to min(128, n - strip) with c := own[1]
                                                    next c + force(own[0], tile[j])
                                                  own[1] := c
                                                barrier
                                              forall i: w[i] := own[1]

Only for rounds with a division, a root or the like of reals. These are calls where operands are out of the ordinary,
and assemblers move no load over a call: every round waits for what it reads, and shared memory lets it wait less.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from sacpy.jit.analysis.shared_planner import BYTES
from sacpy.jit.ir import graph as g
from sacpy.jit.ir import kernel as k
from sacpy.jit.ir.operations import ROUTINES
from sacpy.jit.kernels.builder import Builder
from sacpy.lang.types import REAL
from sacpy.nodes import Node

CALLED = ROUTINES | {"div", "mod", "sqrt"}  # operations on reals that may be calls
FEWEST_THREADS = 32  # of a block, each of which fetches what a round reads
FEWEST_ROUNDS = 64  # where their number is known
MOST_BYTES = 16 << 10  # of the tiles of a block
Code = tuple[k.ThreadStmt, ...]


@dataclass(frozen=True)
class Level:
    """Code around a loop: what comes before the condition under which it runs, that condition with what is done where
    it does not hold, and what follows."""

    before: Code
    condition: k.If | None  # None: the loop itself is here
    after: Code


@dataclass
class Found:
    """A loop, the levels around it, outermost first, and the loads that all threads share."""

    loop: k.SeqFor
    levels: list[Level]
    loads: dict[tuple[g.Var, tuple[g.Atom, ...]], int] = field(default_factory=dict)  # their places in tiles


def phases(
    b: Builder, threads: Sequence[g.Var], size: Sequence[g.Atom], code: Code
) -> tuple[tuple[k.BlockStmt, ...], str] | None:
    """What the threads of a block do, and that in words. None where there is no such loop."""
    if not all(isinstance(e, g.Const) for e in size):
        return None
    rows = prod(int(e.value) for e in size if isinstance(e, g.Const))
    found = _found(b, code, rows) if rows >= FEWEST_THREADS else None
    return None if found is None else _Phases(b, tuple(threads), tuple(size), found, rows).all()


# ---------------------------------------------------------------- finding


def _found(b: Builder, code: Code, rows: int) -> Found | None:
    for at, s in enumerate(code):
        inner: Found | None = None
        if isinstance(s, k.SeqFor) and (loads := _shared_loads(b, s, rows)):
            inner = Found(s, [], loads)
        elif isinstance(s, k.If):
            inner = _found(b, s.then, rows)
        if inner is not None:
            inner.levels.insert(0, Level(code[:at], s if isinstance(s, k.If) else None, code[at + 1 :]))
            return inner
    return None


def _shared_loads(b: Builder, loop: k.SeqFor, rows: int) -> dict[tuple[g.Var, tuple[g.Atom, ...]], int]:
    """The loads of a loop's rounds whose places depend on its counter alone; none where tiles are not worth it."""
    bounds = (loop.lower, loop.upper)
    known = [int(a.value) for a in bounds if isinstance(a, g.Const)]
    if (
        loop.step != 1
        or not all(map(b.launch_known, bounds))
        or (len(known) == 2 and known[1] - known[0] < FEWEST_ROUNDS)
    ):
        return {}
    if not any(_is_called(s) for s in k.thread_statements(loop.body)):
        return {}

    def is_shared(load: g.Load) -> bool:
        return (
            load.array.name in b.arrays
            and list(load.index).count(loop.index) == 1
            and all(a == loop.index or b.launch_known(a) for a in load.index)
        )

    loads = [s.rhs for s in loop.body if isinstance(s, k.Let) and isinstance(s.rhs, g.Load) and is_shared(s.rhs)]
    places: dict[tuple[g.Var, tuple[g.Atom, ...]], int] = {}
    columns: dict[str, int] = {}
    for load in sorted(loads, key=lambda load: -BYTES[load.array.base]):
        if (load.array, load.index) not in places:
            places[load.array, load.index] = columns.get(load.array.base, 0)
            columns[load.array.base] = columns.get(load.array.base, 0) + 1
    return (
        places if sum(rows * _pitch(base, many) * BYTES[base] for base, many in columns.items()) <= MOST_BYTES else {}
    )


def _is_called(s: k.ThreadStmt) -> bool:
    return isinstance(s, k.Let) and isinstance(s.rhs, g.Op) and s.target.base in REAL and s.rhs.code in CALLED


def _pitch(base: str, columns: int) -> int:
    """The elements from one row of a tile to the next: of whole widest accesses, where a row has several elements."""
    whole = k.ALIGNMENT // BYTES[base]
    return columns if columns == 1 else -(-columns // whole) * whole


def _pitch_of(tile: g.Var) -> int:
    pitch = g.extents_of(tile)[1]
    assert isinstance(pitch, g.Const)
    return int(pitch.value)


# ---------------------------------------------------------------- writing


class _Phases:
    """`kept`: for each name that is needed in a later phase its array and its place there."""

    def __init__(
        self, b: Builder, threads: tuple[g.Var, ...], size: tuple[g.Atom, ...], found: Found, rows: int
    ) -> None:
        self.b, self.threads, self.size, self.found, self.rows = b, threads, size, found, rows
        self.loop = found.loop
        later = [level.after for level in found.levels]
        conditions = [level.condition for level in found.levels if level.condition is not None]
        set_before = {v.name: v for level in found.levels for v in _bound(level.before)}
        carried = [c.target for c in self.loop.carried]
        needed = _used([found.loop, later, [(c.condition, c.otherwise, c.merges) for c in conditions]])
        self.kept: dict[str, tuple[g.Var, g.Const]] = {}
        live = [v for v in set_before.values() if v.name in needed]
        self._keep([*live, *carried])
        self.tiles = self._tiles()

    def _keep(self, many: Sequence[g.Var]) -> None:
        by_base: dict[str, list[g.Var]] = {}
        for v in many:
            by_base.setdefault(v.base, []).append(v)
        for base, own in by_base.items():
            array = self.b.array(base, (g.integer(len(own)),))
            for n, v in enumerate(own):
                self.kept[v.name] = array, g.integer(n)

    def _tiles(self) -> dict[str, g.Var]:
        columns: dict[str, int] = {}
        for (array, _), at in self.found.loads.items():
            columns[array.base] = max(columns.get(array.base, 0), at + 1)
        return {base: self.b.shared("tile", base, (self.rows, _pitch(base, many))) for base, many in columns.items()}

    def all(self) -> tuple[tuple[k.BlockStmt, ...], str]:
        b, loop = self.b, self.loop
        strip, count = b.names.var("strip", loop.index.type), b.names.var("count", loop.index.type)
        left = b.names.var("left", loop.index.type)
        rows = g.Const(loop.index.base, self.rows)
        body = (
            self._fetch(strip),
            k.Barrier(),
            k.Uniform(left, g.Op("sub", (loop.upper, strip), True)),
            k.Uniform(count, g.Op("min", (left, rows))),
            self._forall(lambda by: self._rounds(by, strip, count)),
            k.Barrier(),
        )
        taken = sum(self.rows * _pitch_of(t) * BYTES[t.base] for t in self.tiles.values())
        words = f"{taken} bytes of shared memory: what {self.rows} rounds of its loop read"
        return (
            k.ForAll(self.threads, self.size, self._before(0)),
            k.BlockFor(strip, loop.lower, loop.upper, rows, body),
            self._forall(lambda by: self._after(0, by)[0]),
        ), words

    def _forall(self, body: Any) -> k.ForAll:
        """A phase of all threads, with indices of its own."""
        fresh = tuple(self.b.names.var("thread", v.type) for v in self.threads)
        return k.ForAll(fresh, self.size, body(dict(zip((v.name for v in self.threads), fresh))))

    def _stored(self, many: Iterable[tuple[str, g.Atom]]) -> Code:
        return tuple(k.Store(self.kept[name][0], (self.kept[name][1],), a) for name, a in many if name in self.kept)

    def _loaded(self, names: Iterable[str], by: dict[str, g.Atom]) -> Code:
        """Loads of names that earlier phases have kept, in the order of their places."""
        found = []
        for name, (array, at) in self.kept.items():
            if name in names and name not in by:
                by[name] = now = self.b.names.var(name.partition(".")[0], g.ScalarType(array.base))
                found.append(k.Let(now, g.Load(array, (at,))))
        return tuple(found)

    def _before(self, n: int) -> Code:
        level = self.found.levels[n]
        kept = self._stored((v.name, v) for v in _bound(level.before))
        if level.condition is None:
            return (*level.before, *kept, *self._stored((c.target.name, c.initial) for c in self.loop.carried))
        return (*level.before, *kept, k.If(level.condition.condition, self._before(n + 1)))

    def _fetch(self, strip: g.Var) -> k.ForAll:
        """Each thread reads what one round needs, if there is such a round."""
        b, loop = self.b, self.loop
        u = b.names.var("u", b.word)
        b.open()
        at = u if u.type == strip.type else b.as_int(u) if strip.base == "int" else b.as_word(u)
        place = b.op("add", strip, at, exact=True)

        def fetch() -> None:
            for (array, index), column in self.found.loads.items():
                value = b.load(array, *(place if a == loop.index else a for a in index))
                b.store(self.tiles[array.base], (u, b.word_const(column)), value)

        b.when(b.op("lt", place, loop.upper), fetch)
        return k.ForAll((u,), (b.word_const(self.rows),), b.close())

    def _rounds(self, by: dict[str, g.Atom], strip: g.Var, count: g.Var, n: int = 0) -> Code:
        """The rounds of a strip, under the conditions around them."""
        level, loop, b = self.found.levels[n], self.loop, self.b
        if level.condition is not None:
            condition = level.condition.condition
            first = self._loaded(_used(condition), by)
            return (*first, k.If(_now(condition, by), self._rounds(by, strip, count, n + 1)))
        carried = {c.target.name for c in loop.carried}
        loaded = self._loaded(_used([loop.body, [c.update for c in loop.carried]]) | carried, by)
        initial = [by.pop(name) for name in carried_names(loop)]
        j = b.names.var("j", loop.index.type)
        body: list[k.ThreadStmt] = []
        if loop.index.name in _used([s for s in loop.body if not self._is_tiled(s)]):
            body.append(k.Let(loop.index, g.Op("add", (strip, j), True)))
        for s in loop.body:
            body.append(self._from_tile(s, j) if self._is_tiled(s) else _now(s, by))
        again = tuple(
            k.Carried(c.target, start, _now(c.update, by)) for c, start in zip(loop.carried, initial, strict=True)
        )
        zero = g.Const(loop.index.base, 0)
        kept = self._stored((c.target.name, c.target) for c in loop.carried)
        return (*loaded, k.SeqFor(j, zero, count, 1, again, tuple(body)), *kept)

    def _is_tiled(self, s: k.ThreadStmt) -> bool:
        return isinstance(s, k.Let) and isinstance(s.rhs, g.Load) and (s.rhs.array, s.rhs.index) in self.found.loads

    def _from_tile(self, s: k.ThreadStmt, j: g.Var) -> k.Let:
        assert isinstance(s, k.Let) and isinstance(s.rhs, g.Load)
        column = self.found.loads[s.rhs.array, s.rhs.index]
        return k.Let(s.target, g.Load(self.tiles[s.rhs.array.base], (j, g.Const(j.base, column))))

    def _after(
        self, n: int, by: dict[str, g.Atom], results: tuple[g.Atom, ...] = ()
    ) -> tuple[Code, tuple[g.Atom, ...]]:
        """What follows the loop from a level on, and what `results` of that level are then."""
        level, c = self.found.levels[n], self.found.levels[n].condition
        here = [level.after, results] if c is None else [level.after, results, c.condition, c.otherwise, c.merges]
        code = self._loaded(_used(here), by)
        if c is not None:
            then, values = self._after(n + 1, dict(by), tuple(m.then for m in c.merges))
            merges = tuple(
                k.Merge(m.target, value, _now(m.otherwise, by)) for m, value in zip(c.merges, values, strict=True)
            )
            code = (*code, k.If(_now(c.condition, by), then, _now(c.otherwise, by), merges))
        return (*code, *_now(level.after, by)), _now(results, by)


def carried_names(loop: k.SeqFor) -> list[str]:
    """The names of what a loop hands from round to round."""
    return [c.target.name for c in loop.carried]


# ---------------------------------------------------------------- names


def _now(x: Any, by: dict[str, g.Atom]) -> Any:
    """Code with other atoms for some names, none of which it sets."""
    if isinstance(x, g.Var):
        return by.get(x.name, x)
    if isinstance(x, tuple | list):
        return tuple(_now(one, by) for one in x)
    if isinstance(x, Node) and not isinstance(x, g.Const):
        return type(x)(*[_now(getattr(x, name), by) for name in type(x).__match_args__])
    return x


def _all(x: Any) -> Iterator[g.Var]:
    """All variables in some code."""
    if isinstance(x, g.Var):
        yield x
    elif isinstance(x, tuple | list):
        for one in x:
            yield from _all(one)
    elif isinstance(x, Node) and not isinstance(x, g.Const):
        for name in type(x).__match_args__:
            yield from _all(getattr(x, name))


def _used(x: Any) -> set[str]:
    """The names in some code, those that it sets included."""
    return {v.name for v in _all(x)}


def _bound(code: Code) -> list[g.Var]:
    """What code sets that is seen after it."""
    found: list[g.Var] = []
    for s in code:
        match s:
            case k.Let(target=target):
                found.append(target)
            case k.If(merges=merges):
                found += [m.target for m in merges]
            case k.SeqFor(carried=carried) | k.While(carried=carried):
                found += [c.target for c in carried]
    return found

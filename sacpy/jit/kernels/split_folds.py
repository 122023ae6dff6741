"""Folds inside cells that are cut into parts: products of few cells and long sums.

    for each [i, j]: fold over k of a[i, k] * b[k, j]

    for each [c, i, j]: fold over k of chunk c of a[i, k] * b[k, j]       by tiles, as `register_tiles` has them
    for each [i, j]: fold over c of what the chunks give

In: a with-loop of one partition whose cells are contractions; at run time how many cells there are and how long their
folds. Out: a temporary and the launches of both with-loops, where a device with too few blocks else would be done
later; None where it would not. Which operand meets which depends on extents and device alone. The second with-loop is
like any other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Protocol

from sacpy.jit.analysis.affine import footprints_of
from sacpy.jit.analysis.folds import recognised
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.names import Names
from sacpy.jit.ir.rewrite import names_of
from sacpy.jit.kernels import product_tiles
from sacpy.jit.kernels.contraction import Contraction, suits
from sacpy.jit.kernels.launches import Buffer, KernelOptions, Launch
from sacpy.jit.kernels.numbers import Numbers
from sacpy.jit.kernels.register_tiles import STRIPS
from sacpy.jit.kernels.source import Source, number_of
from sacpy.jit.kernels.staging import Tiled
from sacpy.lang.types import REAL
from sacpy.nodes import Node, replace
from sacpy.withloop import chains
from sacpy.withloop.spaces import IndexSpace
from sacpy.withloop.splitting import Piece

LEAST = 8 * STRIPS[-1]  # indices of a chunk
COMPANY = 2  # blocks for each multiprocessor, at most: then each has company
GAIN = 1.25  # times as fast as without a cut, at least
JOINED = 16.0  # what writing and reading an element of a chunk takes, in multiply-adds of a thread


class Planner(Protocol):
    """What plans cells."""

    def plan(
        self, numbers: Numbers, parameters: Mapping[str, int], taken: frozenset[str]
    ) -> tuple[list[Buffer], list[Launch]]: ...

    def tiled(
        self, piece: Piece, chain: chains.Chain, reasons: tuple[str, ...], tiles: Tiled, numbers: Numbers
    ) -> list[Launch]: ...


class Cut(Node):
    """How a fold is cut: `each`: cells of a thread; `chunks`, of `run` indices each."""

    each: tuple[int, int]
    chunks: int
    run: int


def cut_of(c: Contraction, space: IndexSpace, numbers: Numbers, options: KernelOptions) -> Cut | None:
    """The cut with which a device is done first; None where that is none. Not with an order that has to be kept."""
    length, device = c.length(numbers), options.device
    if space.rank != 2 or not space.dense or min(space.extents) < 2 * product_tiles.SIDE:
        return None
    if length < max(2 * LEAST, options.row_length) or not all(map(_regroups, c.folds)) or not suits(c):
        return None
    found: list[tuple[float, Cut]] = []
    for each in product_tiles.sides(c, product_tiles.OWN - 1):  # which chunk it is takes registers, too
        blocks = math.prod(-(-e // (product_tiles.SIDE * n)) for e, n in zip(space.extents, each))
        for wanted in range(1, max(1, min(COMPANY * device.processors // blocks, length // LEAST)) + 1):
            run = -(-length // (wanted * STRIPS[-1])) * STRIPS[-1]
            chunks = -(-length // run)
            whole = IndexSpace.box((chunks, *space.extents))
            joined = JOINED * chunks * space.size / device.processors if chunks > 1 else 0.0
            found.append((product_tiles.taken(each, whole, device.processors) * run + joined, Cut(each, chunks, run)))
    uncut = min((time for time, cut in found if cut.chunks == 1), default=0.0)
    time, cut = min(found, key=lambda f: f[0], default=(0.0, None))
    return cut if cut is not None and cut.chunks > 1 and time * GAIN <= uncut else None


def _regroups(f: g.Fold) -> bool:
    """Whether a fold is one of known operations that may start anew from a value that changes nothing, any number of
    times."""
    found = recognised(f)
    return found is not None and not any(b in REAL and code != "add" for code, b in zip(found.codes, found.bases))


class SplitFold:
    """One contraction in parts. `make`: makes what plans the cells of a with-loop."""

    def __init__(self, source: Source, c: Contraction, make: Callable[[Source], Planner]) -> None:
        self.source, self.c = source, c
        names = Names(dict(names_of(source.around).taken))
        self.chunks, self.run, chunk = (names.var(n, g.INT) for n in ("chunks", "run", "chunk"))
        bases = [n.base for o in c.folds for n in o.neutrals]
        frame = tuple(source.with_loop.frame or ())
        self.parts = [names.var("part", g.ArrayType(base, (self.chunks, *frame))) for base in bases]
        first = self._first(chunk, frame)
        self.body = replace(c, partition=first.partitions[0], run=self.run)
        split = Source(source.name, first, self.parts, source.functions)
        split.free |= {v.name: v for v in (self.chunks, self.run)}
        spread = footprints_of((chunk, *c.partition.index, c.inner.index[0]), (c.inner.body,), split.free)
        prints = tuple(f for f in spread if any(e.axis == c.partition.rank + 1 for e in f.entries))
        self.body = Contraction(first.partitions[0], c.before, self.fold, c.targets, self.given, prints, self.run)
        self.split, self.one = split, make(split)
        self.all = make(Source(source.name, self._second(names), source.targets, source.functions))

    def _first(self, chunk: g.Var, frame: tuple[g.Atom, ...]) -> g.WithLoop:
        """The chunks: folds begin with what changes nothing."""
        c, p = self.c, self.c.partition
        folds = []
        for o in c.folds:
            known = recognised(o)
            assert known is not None
            neutrals = tuple(g.Const(n.base, known.neutral(at)) for at, n in enumerate(o.neutrals))
            folds.append(replace(o, neutrals=neutrals))
        self.fold = replace(c.fold, operators=tuple(folds))
        self.given = g.Block((), tuple(c.targets))
        body = g.Block((*c.before, g.Let(c.targets, self.fold)), tuple(c.targets))
        lower, upper = (g.integer(0), *p.lower), (self.chunks, *p.upper)
        partition = g.Partition(lower, upper, None, None, (chunk, *p.index), body)
        operators = tuple(g.Genarray(v.base, (), _zero(v.base)) for v in self.parts)
        return g.WithLoop((self.chunks, *frame), (partition,), operators, disjoint=True)

    def _second(self, names: Names) -> g.WithLoop:
        """The cells, of what their chunks give."""
        c, p = self.c, self.c.partition
        number = names.var("chunk", g.INT)
        values = [names.var("value", g.ScalarType(v.base)) for v in self.parts]
        loads = tuple(g.Let((x,), g.Load(v, (number, *p.index))) for x, v in zip(values, self.parts))
        inner = g.Partition((g.integer(0),), (self.chunks,), None, None, (number,), g.Block(loads, tuple(values)))
        fold = g.Let(c.targets, replace(c.fold, partitions=(inner,)))
        body = g.Block((*c.before, fold, *c.after.statements), c.after.results)
        return replace(self.source.with_loop, partitions=(replace(p, body=body, pragmas=(), staged=()),), pragmas=())

    def plan(
        self, cut: Cut, space: IndexSpace, numbers: Numbers, options: KernelOptions
    ) -> tuple[list[Buffer], list[Launch]] | None:
        """The launches; None where not all that is read can be in tiles."""
        given = {self.chunks.name: cut.chunks, self.run.name: cut.run}
        known = {**numbers, **given}
        ones = (1, *space.step), (1, *space.width)
        whole = IndexSpace((0, *space.lower), (cut.chunks, *space.upper), *ones)
        chain = product_tiles.boxes(whole, cut.each)
        mapping = chain.map(whole, options.device)
        tiles = product_tiles.tiles_for(self.split, self.body, mapping, None, known, options.device.shared_per_block)
        if tiles is None or isinstance(tiles, str):
            return None
        why = (
            f"{cut.chunks} blocks for each box of cells, {cut.run} of {self.c.length(numbers)} folded indices each, as "
            f"there are {options.device.processors} multiprocessors",
            product_tiles.why(chain, whole, options.device.processors),
        )
        launches = self.one.tiled(Piece(whole, 0), chain, why, tiles, known)
        temporaries, more = self.all.plan(known, {}, frozenset())
        buffers = [Buffer(v.name, v.base, tuple(number_of(e, known) for e in g.extents_of(v))) for v in self.parts]
        joined = [replace(n, reasons=(*n.reasons, f"of {cut.chunks} chunks")) for n in more]
        return [*buffers, *temporaries], [_with(launch, given) for launch in (*launches, *joined)]


def _with(launch: Launch, given: Mapping[str, int]) -> Launch:
    """A launch whose arguments of these names are numbers."""
    arguments = tuple(given.get(a, a) if isinstance(a, str) else a for a in launch.arguments)
    return replace(launch, arguments=arguments)


def _zero(base: str) -> g.Const:
    return g.Const(base, False if base == "bool" else 0.0 if base in REAL else 0)

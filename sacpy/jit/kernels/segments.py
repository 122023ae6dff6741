"""Cells whose folds have bounds that depend on data, such as the rows of a matrix in compressed form.

In: a partition of a genarray or modarray whose cells come from one fold each, the bounds of which are computed in front
of it; at run time how many cells there are and how many elements their folds share. Out: a launch in which a group of
threads has a cell: some of a warp, a warp, or, where folds are long, a block. They take neighbouring indices, and so
read neighbouring elements, where the order of operands may go; else each has a run of its own. What they have goes from
register to register.
"""

from __future__ import annotations

import math
from collections.abc import Hashable

from sacpy.jit.analysis.combine import Cell, cell_of
from sacpy.jit.ir import graph as g
from sacpy.jit.ir import kernel as k
from sacpy.jit.ir.rewrite import free
from sacpy.jit.kernels import maps
from sacpy.jit.kernels.builder import IrArithmetic
from sacpy.jit.kernels.launches import KernelOptions, Launch, Refused
from sacpy.jit.kernels.numbers import Numbers, array_sizes, in_line, scratch_of
from sacpy.jit.kernels.reduction import Reduction, Shared
from sacpy.jit.kernels.source import Built, Source, number_of, parameter_block
from sacpy.jit.kernels.values import Value
from sacpy.withloop import chains
from sacpy.withloop.spaces import IndexSpace
from sacpy.withloop.ways import GpuFold

_BLOCK = 256  # threads of a block
_SHORT = 4  # elements of a cell, on average, below which one thread has it
_LONG = 1024  # from which on a block has it
_BY_WARPS = GpuFold("shuffle")


class Segment(Cell):
    """A cell whose fold has one dense axis. `handed`: what is computed in front of the fold, and used in it, by its
    bounds or behind it; `along`: the arrays that neighbouring indices of the fold read neighbouring elements of."""

    handed: tuple[g.Var, ...]
    along: tuple[g.Var, ...]

    def length(self, cells: int, numbers: Numbers) -> float:
        """How many elements a cell has, on average, if no two share one."""
        sizes = [math.prod(number_of(e, numbers) for e in g.extents_of(a)) for a in self.along]
        return max(sizes, default=0) / max(cells, 1)


def tried(source: Source, p: g.Partition) -> Segment | None:
    """The body of a partition as such, if it is one and its code can be made."""
    cell = cell_of(p)
    if cell is None or not p.index or any(g.extents_of(r) for r in p.body.results):
        return None
    q = cell.inner
    made = {v.name: v for s in cell.before if isinstance(s, g.Let) for v in s.targets}
    if q.rank != 1 or q.step is not None or not any(isinstance(a, g.Var) and a.name in made for a in q.lower + q.upper):
        return None
    later = free(q.body) | free(cell.after) | {a.name for a in (*q.lower, *q.upper) if isinstance(a, g.Var)}
    later |= {n for o in cell.folds for n in free(o.combine)}
    later |= {n.name for o in cell.folds for n in o.neutrals if isinstance(n, g.Var)}
    handed = tuple(v for name, v in made.items() if name in later)
    if any(isinstance(v.type, g.ArrayType) for v in handed):
        return None
    loads = [s.rhs for s in g.statements(q.body) if isinstance(s, g.Let) and isinstance(s.rhs, g.Load)]
    along = tuple(x.array for x in loads if x.index[-1] == q.index[0] and x.array.name in source.free)
    segment = Segment(p, cell.before, cell.fold, cell.targets, cell.after, handed, along)
    try:
        Segments(source, 0, segment, in_line(IndexSpace.box((2,) * p.rank)), k.WARP, 32).kernel()
    except Refused:
        return None
    return segment if along else None


class Segments:
    """The kernel of one segment. `outer`: the mapping of the cells, in line; `group`: the threads that a cell has, a
    power of two of them within a warp, or a block. The parameter block is that of `outer`."""

    def __init__(
        self, source: Source, number: int, segment: Segment, outer: chains.Mapping, group: int, bits: int
    ) -> None:
        self.source, self.segment, self.outer, self.group = source, segment, outer, group
        thread = self.thread = source.thread(f"segments{number}", bits)
        b = self.b = thread.b
        q, folds = segment.inner, segment.folds
        checks = thread.checked(q.body, *(f.combine for f in folds))
        self.reduction = Reduction(thread, folds, checks, _BY_WARPS)
        self.words = parameter_block(b, outer)
        self.blocks, self.cells = b.number("blocks"), b.number("cells")
        self.block = b.names.var("block", b.word)

    def kernel(self) -> Built:
        """Threads fold, warps or blocks put together, one thread of each writes the cell."""
        b, reduction = self.b, self.reduction
        maps.results(self.thread, self.source)
        shared = reduction.allocate(_BLOCK if self.group > k.WARP else 0)
        t = b.names.var("thread", b.word)
        b.open()
        lane, cell = self._place(t)
        reduction.leave(
            shared,
            t,
            reduction.choose(b.op("lt", cell, self.cells), lambda: self._folded(lane, cell), lambda: reduction.initial),
        )
        gather = k.ForAll((t,), (b.word_const(_BLOCK),), b.close())
        phases = (
            reduction.tree(shared, _BLOCK) if self.group > k.WARP else reduction.by_groups(shared, _BLOCK, self.group)
        )
        body = (gather, *phases, self._end(shared))
        made = b.kernel((self.block,), (self.blocks,), (b.word_const(_BLOCK),), body)
        return Built(made, tuple(v.name for v in b.shape))

    def _place(self, t: g.Var) -> tuple[g.Atom, g.Atom]:
        """The number of a thread among those of its cell, and that of the cell."""
        b = self.b
        if self.group == _BLOCK:
            return t, self.block
        shift = b.word_const(self.group.bit_length() - 1)
        first = b.op("mul", self.block, b.word_const(_BLOCK // self.group), exact=True)
        lane = b.op("bitand", t, b.word_const(self.group - 1))
        return lane, b.op("add", first, b.op("shr", t, shift), exact=True)

    def _before(self, cell: g.Atom) -> tuple[tuple[g.Atom, ...], g.Atom | None]:
        """The index of a cell, and what is in front of its fold; whether the checks in that held."""
        index, guard = self.outer.recover(IrArithmetic(self.b, self.words), (cell,), ())
        assert guard is None
        found = tuple(map(self.b.as_int, index))
        segment = self.segment
        self.thread.bind(segment.partition.index, found)
        values, ok = self.thread.block(g.Block(segment.before, segment.handed), later=segment.later)
        self.thread.bind(segment.handed, values)
        return found, ok

    def _folded(self, lane: g.Atom, cell: g.Atom) -> list[g.Atom]:
        """What a thread has of a cell. Numbers of indices are of 64 bits: there may be more than ints have."""
        b, reduction, q = self.b, self.reduction, self.segment.inner
        _, ok = self._before(cell)

        def fold() -> list[g.Atom]:
            lower, upper = self.thread.atom(q.lower[0]), self.thread.atom(q.upper[0])
            low, high = b.op("tol", lower), b.op("tol", upper)
            mine = lane if lane.base == "long" else b.op("tol", lane)
            size, group = b.op("sub", high, low, exact=True), g.Const("long", self.group)
            rest = g.Const("long", self.group - 1)

            def one(i: g.Atom, carried: list[g.Atom]) -> list[g.Atom]:
                self.thread.bind(q.index, [i])
                return reduction.take(carried, None, lambda: self.thread.block(q.body, later=self.segment.later))

            if reduction.runs:
                each = b.op("div", b.op("add", b.op("max", size, g.Const("long", 0)), rest, exact=True), group)
                first = b.op("min", b.op("add", low, b.op("mul", mine, each, exact=True), exact=True), high)
                last = b.op("min", b.op("add", first, each, exact=True), high)
                return b.seq_for(b.op("toi", first), b.op("toi", last), reduction.initial, one)
            left = b.op("add", b.op("sub", size, mine, exact=True), rest, exact=True)
            count = b.op("toi", b.op("div", left, group))
            start = b.op("add", lower, mine if mine.base == "int" else b.op("toi", mine))

            def step(n: g.Var, carried: list[g.Atom]) -> list[g.Atom]:
                return one(b.op("add", start, b.op("mul", n, g.integer(self.group))), carried)

            return b.seq_for(g.integer(0), count, reduction.initial, step)

        return reduction.choose(ok, fold, lambda: reduction.initial)

    def _end(self, shared: Shared) -> k.BlockStmt:
        """The first thread of each cell writes it."""
        b, reduction, segment = self.b, self.reduction, self.segment
        t = b.names.var("thread", b.word)
        b.open()
        lane, cell = self._place(t)
        arrays = [b.results[v.name] for v in self.source.targets]

        def whole() -> None:
            index, ok = self._before(cell)

            def write() -> None:
                q = segment.inner
                some = b.op("lt", self.thread.atom(q.lower[0]), self.thread.atom(q.upper[0]))
                found = (
                    [b.load(a, g.integer(0)) for a in shared.arrays]
                    if self.group > k.WARP
                    else reduction.kept_in(shared.own)
                )
                self.thread.bind(segment.targets, reduction.finish(found, some, None))
                self.thread.block(segment.after, store)

            def store(values: list[Value]) -> None:
                for array, v in zip(arrays, values, strict=True):
                    assert isinstance(v, g.Var | g.Const)
                    b.store(array, index, v)

            b.when(ok, write)

        first = b.op("eq", lane, b.word_const(0))
        b.when(b.op("and", first, b.op("lt", cell, self.cells)), whole)
        return k.ForAll((t,), (b.word_const(_BLOCK),), b.close())


def launches(
    source: Source,
    number: int,
    segment: Segment,
    space: IndexSpace,
    numbers: Numbers,
    options: KernelOptions,
    kernels: dict[Hashable, Built],
) -> list[Launch]:
    """The launch for the cells of one piece; none where a thread for each cell does better."""
    cells = space.size
    length = segment.length(cells, numbers)
    group = _BLOCK if length >= _LONG else min(k.WARP, 1 << math.ceil(math.log2(max(length, 1))))
    blocks = -(-cells // (_BLOCK // group))
    if not cells or length < _SHORT or blocks > options.device.grid[2] or options.fold_threads < k.WARP:
        return []
    outer = in_line(space)
    bits = outer.bits([*array_sizes(source, numbers), cells + _BLOCK])
    key = ("segments", number, outer.key, group, bits)
    built = kernels.get(key)
    if built is None:
        built = kernels[key] = Segments(source, number, segment, outer, group, bits).kernel()
    why = f"{group} threads for each of {cells} cells, as they fold {length:.3g} indices on average"
    arguments = built.arguments((blocks, cells), outer.words(bits))
    scratch = scratch_of(built, numbers)
    return [Launch(built.kernel, (1, 1, blocks), (1, 1, _BLOCK), arguments, "rows", number, None, (why,), scratch)]

"""Cells that many threads fold together.

In: a partition of a genarray or modarray whose cells come from one fold each; at run time how many cells there are and
how long the folds. Out: launches in which several threads share the fold of a cell, and when that pays: where
neighbouring threads then read neighbouring elements (sums of rows), or where there are too few cells to fill the device
(sums of long columns, in which a block has neighbouring cells).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from sacpy.jit.ir import graph as g
from sacpy.jit.ir import kernel as k
from sacpy.jit.kernels import maps
from sacpy.jit.kernels.builder import IrArithmetic
from sacpy.jit.kernels.launches import Buffer, KernelOptions, Launch, Refused
from sacpy.jit.kernels.numbers import Numbers, array_sizes, in_line, scratch_of, space_of
from sacpy.jit.kernels.reduction import MOST_COPIES, Reduction
from sacpy.jit.kernels.row_shares import Row, Share, row_of
from sacpy.jit.kernels.source import Built, Source, parameter_block
from sacpy.jit.kernels.values import Memory, Value
from sacpy.nodes import replace
from sacpy.withloop import chains
from sacpy.withloop.spaces import IndexSpace
from sacpy.withloop.ways import GpuFold

_LAST = 128  # threads of a block that puts chunks together
_BY_WARPS = GpuFold("shuffle")


class Rows:
    """The kernels of one row. `outer` and `inner`: mappings of the cells and of what is folded, each in line. `each`:
    how many indices a thread has, about: a power of two, at most `MOST_COPIES`. The parameter block: that of `outer`,
    that of `inner`, the number of inner indices, how many of them a chunk has, and, where order counts, how many a
    thread."""

    def __init__(
        self,
        source: Source,
        number: int,
        row: Row,
        outer: chains.Mapping,
        inner: chains.Mapping,
        share: Share,
        bits: int,
        way: GpuFold | None = None,
        each: int = 1,
    ) -> None:
        self.many = each
        self.way = _BY_WARPS if share.grouped else way
        self.source, self.number, self.row = source, number, row
        self.outer, self.inner, self.share, self.bits = outer, inner, share, bits

    def _begin(self, purpose: str) -> None:
        self.thread = self.source.thread(f"{purpose}{self.number}", self.bits)
        b = self.b = self.thread.b
        self.reduction = Reduction(
            self.thread,
            self.row.folds,
            self.thread.checked(self.row.inner.body, *(f.combine for f in self.row.folds)),
            self.way,
        )
        self.cell_words, self.words = parameter_block(b, self.outer), parameter_block(b, self.inner)
        self.each: g.Atom | None = None
        self.total: g.Atom
        if self.row.bounds is None:
            self.total, self.run = b.slot("total"), b.slot("run")
            self.each = b.slot("each") if self.reduction.runs else None
        self.blocks, self.chunks, self.cells = b.number("blocks"), b.number("chunks"), b.number("cells")

    def partials(self, chunks: int, cells: int) -> list[Buffer]:
        """What the first launch leaves to the second."""
        kept = Reduction(self.source.thread("trial", 32), self.row.folds, False).kept
        return [
            Buffer(f"{self.source.targets[0].name}.row{self.number}_{n}", base, (chunks, cells))
            for n, base in enumerate(kept)
        ]

    def _index(self, cell: g.Atom) -> tuple[tuple[g.Atom, ...], g.Atom | None]:
        """The index of a cell, and the code before its fold; whether the checks in that held (None: there are none).
        Where folds differ in length, that of this one is known then."""
        row, b = self.row, self.b
        if self.share.backwards:
            cell = b.op("sub", b.op("sub", self.cells, b.word_const(1), exact=True), cell, exact=True)
        index, guard = self.outer.recover(IrArithmetic(b, self.cell_words), (cell,), ())
        assert guard is None
        found = tuple(map(b.as_int, index))
        self.thread.bind(row.partition.index, found)
        values, held = self.thread.block(g.Block(row.before, row.handed or ()), later=row.later)
        if held is not None and row.handed is not None:
            self.thread.bind(row.handed, values)
        if row.bounds is not None:
            self.first = self.thread.atom(row.inner.lower[0])
            length = b.op("sub", self.thread.atom(row.inner.upper[0]), self.first)
            self.total = b.as_word(b.op("max", length, g.integer(0)))
        return found, held

    def _part(self, held: g.Atom | None) -> tuple[g.Atom, g.Atom, g.Atom | None]:
        """How many indices the fold of a thread's cell has, none where a check failed; how many of them a chunk has;
        and, where order counts, a thread."""
        b, share = self.b, self.share
        total = self.total if held is None else b.op("select", held, self.total, b.word_const(0))
        if self.row.bounds is None:
            return total, self.run, self.each
        run = total
        if share.chunks > 1:
            more = b.op("sub", self.chunks, b.word_const(1), exact=True)
            run = b.op("div", b.op("add", total, more, exact=True), self.chunks)
        if not self.reduction.runs:
            return total, run, None
        most = b.op("add", run, b.word_const(share.threads - 1), exact=True)
        return total, run, b.op("shr", most, b.word_const(share.threads.bit_length() - 1))

    def _place(self, t: g.Var) -> tuple[g.Atom | None, g.Atom]:
        """Of a thread the number of its cell in the block, None where there is one, and its own among those of the
        cell."""
        b, share = self.b, self.share
        if share.lanes == 1:
            return None, t
        inner = share.threads if share.grouped else share.lanes
        low = b.op("bitand", t, b.word_const(inner - 1))
        high = b.op("shr", t, b.word_const(inner.bit_length() - 1))
        return (high, low) if share.grouped else (low, high)

    def _cell(self, block: g.Var, lane: g.Atom | None) -> g.Atom:
        """The number of a cell, which may be beyond the last."""
        return (
            block
            if lane is None
            else self.b.op(
                "add", self.b.op("mul", block, self.b.word_const(self.share.lanes), exact=True), lane, exact=True
            )
        )

    def _store(self, index: tuple[g.Atom, ...], found: list[g.Atom]) -> None:
        """The code behind the fold."""
        thread = self.thread
        some = self.b.op("lt", self.b.word_const(0), self.total)
        thread.bind(self.row.targets, self.reduction.finish(found, some, None))
        arrays = [self.b.results[t.name] for t in self.source.targets]

        def finish(values: list[Value]) -> None:
            for array, v in zip(arrays, values, strict=True):
                thread.arrays.assign(Memory(array, index), v)

        thread.block(self.row.after, finish)

    def fold(self) -> Built:
        """Blocks fold; where a fold has one chunk, they write the cell too."""
        self._begin("rows")
        b, share, reduction = self.b, self.share, self.reduction
        whole = share.chunks == 1
        if whole:
            maps.results(self.thread, self.source)
        chunk, block = b.names.var("chunk", b.word), b.names.var("block", b.word)
        size = b.word_const(share.threads * share.lanes)
        t = b.names.var("thread", b.word)
        shared = reduction.allocate(0 if share.grouped else share.threads * share.lanes)
        b.open()
        lane, mine = self._place(t)
        cell = self._cell(block, lane)
        if lane is not None:
            cell = b.op("min", cell, b.op("sub", self.cells, b.word_const(1), exact=True))
        total, run, each = self._part(self._index(cell)[1])
        start: g.Atom = b.word_const(0)
        end = total
        if not whole:
            start = b.op("mul", chunk, run, exact=True)
            if self.row.bounds is not None:
                start = b.op("min", start, total)  # of a short fold there is nothing left for the last chunks
            end = b.op("min", b.op("add", start, run, exact=True), total)

        def one(place: g.Atom, carried: list[g.Atom]) -> list[g.Atom]:
            index, guard = self.inner.recover(IrArithmetic(b, self.words), (place,), ())
            at = list(map(b.as_int, index))
            if self.row.bounds is not None and self.first != g.integer(0):
                at = [b.op("add", at[0], self.first, exact=True)]
            self.thread.bind(self.row.inner.index, at)
            return reduction.take(carried, guard, lambda: self.thread.block(self.row.inner.body, later=self.row.later))

        if each is None:
            first, shift = b.op("add", start, mine, exact=True), share.threads.bit_length() - 1
            room = b.op("sub", b.op("add", end, b.word_const(share.threads - 1), exact=True), first, exact=True)
            count = b.op("shr", room, b.word_const(shift))
            copies = reduction.copies(self.row.inner.body, self.many)
            found = b.evenly(first, share.threads, count, reduction.initial, one, copies)
        else:
            first = b.op("add", start, b.op("mul", mine, each, exact=True), exact=True)
            room = b.op("sub", b.op("min", b.op("add", first, each, exact=True), end), first, exact=True)
            count = b.op("max", room, b.word_const(0))
            copies = reduction.copies(self.row.inner.body, self.many)
            found = b.evenly(first, 1, count, reduction.initial, one, copies)
        reduction.leave(shared, t, found)
        gather = k.ForAll((t,), (size,), b.close())
        phases = (
            reduction.by_groups(shared, share.threads * share.lanes, share.threads)
            if share.grouped
            else reduction.tree(shared, share.threads, share.lanes)
        )
        last = b.names.var("thread", b.word)
        b.open()
        lane, mine = self._place(last) if share.grouped else (None if share.lanes == 1 else last, last)
        cell = self._cell(block, lane)

        def hand_on() -> None:
            values: list[g.Atom] = (
                reduction.kept_in(shared.own) if share.grouped else [b.load(a, last) for a in shared.arrays]
            )
            if whole:
                index, held = self._index(cell)
                b.when(held, lambda: self._store(index, values))
                return
            for buffer, v in zip(self.partials(1, 1), values):
                b.store(b.result(buffer.name, buffer.base, (self.chunks, self.cells)), (chunk, cell), v)

        there = None if share.lanes == 1 else b.op("lt", cell, self.cells)
        if share.grouped:
            there = b.both(b.op("eq", mine, b.word_const(0)), there)
        b.when(there, hand_on)
        end_ = k.ForAll((last,), (size if share.grouped else b.word_const(share.lanes),), b.close())
        return Built(
            b.kernel((chunk, block), (self.chunks, self.blocks), (size,), (gather, *phases, end_)),
            tuple(v.name for v in b.shape),
        )

    def join(self) -> Built:
        """A thread for each cell puts its chunks together, in order."""
        self._begin("joined")
        b, reduction = self.b, self.reduction
        maps.results(self.thread, self.source)
        parts = []
        for buffer in self.partials(1, 1):
            b.arrays[buffer.name] = g.Var(buffer.name, g.ArrayType(buffer.base, (self.chunks, self.cells)))
            parts.append(b.arrays[buffer.name])
        block, t = b.names.var("block", b.word), b.names.var("thread", b.word)
        b.open()
        cell = b.op("add", b.op("mul", block, b.word_const(_LAST), exact=True), t, exact=True)

        def whole() -> None:
            index, held = self._index(cell)
            start = reduction.initial[: len(reduction.kept)]
            found = b.seq_for(
                b.word_const(0),
                self.chunks,
                start,
                lambda c, carried: reduction.joined(carried, [b.load(a, c, cell) for a in parts]),
            )
            b.when(held, lambda: self._store(index, found))

        b.when(b.op("lt", cell, self.cells), whole)
        code = k.ForAll((t,), (b.word_const(_LAST),), b.close())
        return Built(
            b.kernel((block,), (self.blocks,), (b.word_const(_LAST),), (code,)), tuple(v.name for v in b.shape)
        )


def launches(
    source: Source,
    number: int,
    row: Row,
    space: IndexSpace,
    whole: bool,
    numbers: Numbers,
    options: KernelOptions,
    kernels: dict[Hashable, Built],
    way: GpuFold | None = None,
) -> tuple[list[Buffer], list[Launch]] | None:
    """Temporaries and launches for the cells of one piece; None where a thread for each cell does better. `whole`: it
    is all of the partition; `kernels`: those made before; `way`: what a pragma asks for."""
    cells, (length, longest, rising) = space.size, row.lengths(space, numbers)
    reduction = Reduction(source.thread("trial", 32), row.folds, False, way)
    threads = reduction.threads(options)
    share = row.share(cells, length, replace(options, fold_threads=threads), way) if cells else None
    if share is None or cells > options.device.grid[2] or (threads < options.fold_threads and share.lanes > threads):
        return None
    share = replace(share, chunks=share.chunks if whole else 1, backwards=rising)
    outer = in_line(space)
    inner = in_line(space_of(row.inner, numbers).normalised() if row.bounds is None else IndexSpace.box((longest,)))
    run = -(-length // share.chunks)
    each = -(-run // share.threads)
    sizes = [
        *array_sizes(source, numbers),
        (cells + share.lanes + _LAST) * max(1, share.chunks),
        longest + (share.threads + 1) * (-(-longest // (share.chunks * share.threads)) + 1) + run,
    ]
    bits = max(outer.bits(sizes), inner.bits())
    words = [*outer.words(bits), *inner.words(bits)]
    words += [length, run, *((each,) if reduction.runs else ())] if row.bounds is None else []
    many = min(MOST_COPIES, 1 << max(each, 1).bit_length() - 1)
    made = Rows(source, number, row, outer, inner, share, bits, way, many)

    def launch(make: Callable[[], Built], purpose: str, blocks: int, threads: int, why: str) -> Launch:
        form = (share.lanes, share.threads, share.chunks == 1, share.grouped, share.backwards, many)
        key = ("row", purpose, number, outer.key, inner.key, form, bits, way)
        built = kernels.get(key)
        if built is None:
            built = kernels[key] = make()
        chunks = share.chunks if purpose == "rows" else 1
        return Launch(
            built.kernel,
            (1, chunks, blocks),
            (1, 1, threads),
            built.arguments((blocks, share.chunks, cells), words),
            purpose,
            number,
            None,
            (why,),
            scratch_of(built, numbers),
        )

    blocks = -(-cells // share.lanes)
    why = (
        f"{share.threads} threads for each of {cells} cells, {share.lanes} cells in a block, {share.chunks} blocks "
        f"for each, as a cell folds "
        f"{length} indices{'' if row.bounds is None else f' about, and {longest} at most'}"
        + (f"; the pragma says so: {way.words}" if way is not None else f"; {share.why}")
    )
    first = launch(made.fold, "rows", blocks, share.threads * share.lanes, why)
    if share.chunks == 1:
        return [], [first]
    return made.partials(share.chunks, cells), [
        first,
        launch(
            made.join,
            "joined",
            -(-cells // _LAST),
            _LAST,
            f"a thread for each cell puts {share.chunks} chunks together",
        ),
    ]


def check(way: GpuFold | None, row: Row | None, p: g.Partition, laid_out: bool) -> None:
    """Raises `MappingError` where threads cannot fold the cells of a partition together as a pragma says. A cell whose
    fold was so short that nothing is left of it is one thread's. `laid_out`: other pragmas say how."""
    loops = (s.rhs for s in g.statements(p.body) if isinstance(s, g.Let))
    if way is None or not any(isinstance(rhs, g.WithLoop | g.For | g.Loop) for rhs in loops):
        return
    if row is None:
        raise way.refused(
            "no cell of this with-loop comes of one fold whose bounds are known before the launch, or follow from the "
            "index of the cell",
            "leave the pragma out",
        )
    if laid_out:
        raise way.refused(
            "these cells are laid out otherwise, by another pragma or along with those of very many partitions, so "
            "threads cannot fold one together",
            "leave one of the two pragmas out",
        )


def tried(source: Source, p: g.Partition) -> Row | None:
    """The row that a body is, where its code can be made."""
    row = row_of(source, p)
    if row is None:
        return None
    try:
        Rows(
            source,
            0,
            row,
            in_line(IndexSpace.box((2,) * p.rank)),
            in_line(IndexSpace.box((2,) * row.inner.rank)),
            Share(1, 32, 1),
            32,
        ).fold()
    except Refused:
        return None
    return row

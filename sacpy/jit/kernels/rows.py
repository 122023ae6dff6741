"""Cells that many threads fold together.

In: a partition of a genarray or modarray whose cells come from one fold each; at run time how many cells there are and
how long the folds. Out: launches in which several threads share the fold of a cell, and when that pays: where
neighbouring threads then read neighbouring elements (sums of rows), or where there are too few cells to fill the device
(sums of long columns, in which a block has neighbouring cells).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from sacpy.jit.analysis.combine import Cell
from sacpy.jit.analysis.shared_planner import BYTES
from sacpy.jit.ir import graph as g
from sacpy.jit.ir import kernel as k
from sacpy.jit.kernels import maps
from sacpy.jit.kernels.builder import IrArithmetic
from sacpy.jit.kernels.contraction import folded_cell
from sacpy.jit.kernels.launches import Buffer, KernelOptions, Launch, Refused
from sacpy.jit.kernels.numbers import Numbers, array_sizes, in_line, scratch_of, space_of
from sacpy.jit.kernels.reduction import MOST_COPIES, Reduction, keeps_order
from sacpy.jit.kernels.shares import threads_of
from sacpy.jit.kernels.source import Built, Source, parameter_block
from sacpy.jit.kernels.values import Value
from sacpy.nodes import Node, field, replace
from sacpy.withloop import chains
from sacpy.withloop.rates import keeps_busy
from sacpy.withloop.spaces import IndexSpace
from sacpy.withloop.ways import GpuFold

_FULL = 1024  # threads of a multiprocessor that keep it busy
_LONG = 1024  # indices that a fold has at least to be shared although its threads then read far apart
_EACH = 8  # indices of a thread at least where a fold is cut into chunks
_LAST = 128  # threads of a block that puts chunks together
_GROUPED = 16  # indices of a fold from which on some threads of a warp share it, where they read side by side
_FEW = 4  # indices that a thread has at least then
_BY_WARPS = GpuFold("shuffle")


class Share(Node):
    """How cells and their folds are dealt: a block has `lanes` neighbouring cells and `threads` threads (a power of
    two) for each; each fold is cut into `chunks`, a block for each, which a second launch puts together. `grouped`: the
    threads of a cell are neighbours in one warp, which put together what they have from register to register; else the
    threads of all cells alternate, and do it in shared memory. `why`: what speaks for it."""

    lanes: int
    threads: int
    chunks: int
    grouped: bool = False
    why: str = field(default="", compare=False)


class Row(Cell):
    """A cell whose fold several threads share. `along`: neighbouring indices of the fold read neighbouring elements;
    `across`: neighbouring cells do."""

    along: bool
    across: bool

    @property
    def bytes(self) -> int:
        """What an index of the fold reads."""
        loads = (s.rhs for s in g.statements(self.inner.body) if isinstance(s, g.Let) and isinstance(s.rhs, g.Load))
        return sum(BYTES[x.array.base] for x in loads)

    @property
    def ordered(self) -> bool:
        """Whether operands keep their order."""
        return keeps_order(self.folds)

    def share(self, cells: int, length: int, options: KernelOptions, way: GpuFold | None = None) -> Share | None:
        """How to share folds of some length; None where a thread for each cell does better. Where order counts, each
        thread has a run of its own, so that threads read far apart along a row, as they would with a row each. `way`:
        what a pragma asks for; then a block has a cell."""
        if way is not None:
            return Share(1, threads_of(length, options.fold_threads, options.device, way), 1)
        full = options.device.processors * _FULL
        few = cells < full
        pays = few if self.across else (few or not self.ordered) if self.along else few and length >= _LONG
        grouped = self._grouped(cells, length, options)
        if grouped is not None:
            return grouped
        if length < options.row_length or not pays:
            return None
        lanes = options.device.warp if self.across else 1
        threads = 1
        while threads * 2 * lanes <= max(options.fold_threads, lanes):
            # a device that is full has more of threads that take more each: fewer are put together at the end
            each = _EACH if cells * threads >= full else _EACH // 4
            if threads * 2 * each > length:
                break
            threads *= 2
        busy = -(-cells // lanes) * lanes * threads
        chunks = max(1, min(-(-full // busy), length // (threads * _EACH), options.device.grid[1]))
        why = (
            "neighbouring cells read neighbouring elements"
            if self.across
            else "there are too few cells to keep the device busy with a warp for each"
        )
        return Share(lanes, threads, chunks, why=why) if threads * chunks > 1 else None

    def _grouped(self, cells: int, length: int, options: KernelOptions) -> Share | None:
        """A warp, or some of one, for each cell: as many threads as read side by side and still have several indices
        each, where so many keep the device busy: what they have in flight counts, as such folds wait for memory. None
        where they do not, where cells rather than indices lie side by side, and where order counts."""
        device = options.device
        least = _GROUPED if options.row_length >= _GROUPED else options.row_length
        if self.across or not self.along or self.ordered or length < least:
            return None
        threads = device.warp
        while threads > 1 and threads * _FEW > length:
            threads //= 2
        if threads < 2 or threads > options.fold_threads or options.fold_threads < device.warp:
            return None
        if not keeps_busy(device, cells * threads, self.bytes * min(MOST_COPIES, length // threads)):
            return None
        why = f"{cells} cells with {threads} threads each keep the device busy, and these read neighbouring elements"
        return Share(options.fold_threads // threads, threads, 1, True, why)


def row_of(source: Source, p: g.Partition) -> Row | None:
    """The body of a partition as a row, if it is one whose fold's bounds are known before the launch."""
    cell = folded_cell(source, p)
    if cell is None or source.thread("trial", 32).checked(g.Block(cell.before)):
        return None
    body, folded = cell.inner.body, cell.inner.index[-1]
    along, across = _reads(body, folded), _reads(body, p.index[-1])
    return Row(p, cell.before, cell.fold, cell.targets, cell.after, along, across)


def _reads(b: g.Block, index: g.Var) -> bool:
    """Whether elements are loaded whose last index is this one, or a little off it."""
    near = {index.name}
    for s in g.statements(b):
        if isinstance(s, g.Let):
            match s.rhs:
                case g.Op(code="add" | "sub", args=args) if any(isinstance(a, g.Var) and a.name in near for a in args):
                    near.update(t.name for t in s.targets)
                case g.Load(index=at) if isinstance(at[-1], g.Var) and at[-1].name in near:
                    return True
    return False


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

    def _index(self, cell: g.Atom) -> tuple[g.Atom, ...]:
        """The index of a cell, and the code before its fold."""
        index, guard = self.outer.recover(IrArithmetic(self.b, self.cell_words), (cell,), ())
        assert guard is None
        found = tuple(map(self.b.as_int, index))
        self.thread.bind(self.row.partition.index, found)
        self.thread.block(g.Block(self.row.before), later=self.row.later)
        return found

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
                assert isinstance(v, g.Var | g.Const)
                self.b.store(array, index, v)

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
        self._index(cell)
        start = b.op("mul", chunk, self.run, exact=True)
        end = b.op("min", b.op("add", start, self.run, exact=True), self.total)

        def one(place: g.Atom, carried: list[g.Atom]) -> list[g.Atom]:
            index, guard = self.inner.recover(IrArithmetic(b, self.words), (place,), ())
            self.thread.bind(self.row.inner.index, list(map(b.as_int, index)))
            return reduction.take(carried, guard, lambda: self.thread.block(self.row.inner.body, later=self.row.later))

        if self.each is None:
            first, shift = b.op("add", start, mine, exact=True), share.threads.bit_length() - 1
            room = b.op("sub", b.op("add", end, b.word_const(share.threads - 1), exact=True), first, exact=True)
            count = b.op("shr", room, b.word_const(shift))
            copies = reduction.copies(self.row.inner.body, self.many)
            found = b.evenly(first, share.threads, count, reduction.initial, one, copies)
        else:
            first = b.op("add", start, b.op("mul", mine, self.each, exact=True), exact=True)
            found = b.seq_for(
                first, b.op("min", b.op("add", first, self.each, exact=True), end), reduction.initial, one
            )
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
                self._store(self._index(cell), values)
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
            index = self._index(cell)
            start = reduction.initial[: len(reduction.kept)]
            self._store(
                index,
                b.seq_for(
                    b.word_const(0),
                    self.chunks,
                    start,
                    lambda c, carried: reduction.joined(carried, [b.load(a, c, cell) for a in parts]),
                ),
            )

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
    inner_space = space_of(row.inner, numbers).normalised()
    cells, length = space.size, inner_space.size
    reduction = Reduction(source.thread("trial", 32), row.folds, False, way)
    threads = reduction.threads(options)
    share = row.share(cells, length, replace(options, fold_threads=threads), way) if cells else None
    if share is None or cells > options.device.grid[2] or (threads < options.fold_threads and share.lanes > threads):
        return None
    if not whole:
        share = replace(share, chunks=1)
    outer, inner = in_line(space), in_line(inner_space)
    run = -(-length // share.chunks)
    each = -(-run // share.threads)
    sizes = [
        *array_sizes(source, numbers),
        (cells + share.lanes + _LAST) * max(1, share.chunks),
        length + (share.threads + 1) * (each + 1) + run,
    ]
    bits = max(outer.bits(sizes), inner.bits())
    words = [*outer.words(bits), *inner.words(bits), length, run, *((each,) if reduction.runs else ())]
    many = min(MOST_COPIES, 1 << max(each, 1).bit_length() - 1)
    made = Rows(source, number, row, outer, inner, share, bits, way, many)

    def launch(make: Callable[[], Built], purpose: str, blocks: int, threads: int, why: str) -> Launch:
        form = (share.lanes, share.threads, share.chunks == 1, share.grouped, many)
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
        f"for each, as a cell folds {length} indices"
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
            "no cell of this with-loop comes of one fold whose bounds are known before the launch, and that nothing "
            "may fail in front of",
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

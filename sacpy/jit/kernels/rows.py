"""Rows that are folded by a block each.

In: a partition of a genarray or modarray whose cells come from one fold each; at run time how many cells there are and how long the folds. Out: a kernel in which a block has a cell and its threads share the fold, and when that pays: where neighbouring threads then read neighbouring elements, or where there are too few
cells to fill the device.
"""

from __future__ import annotations

from dataclasses import dataclass

from sacpy.jit import kernel as k
from sacpy.jit.graph import INT, Atom, Block, Const, Fold, Let, Load, Op, Partition, Stmt, Var, WithLoop, extents_of, integer, statements
from sacpy.jit.kernels import maps
from sacpy.jit.kernels.builder import IrArithmetic
from sacpy.jit.kernels.launches import KernelOptions, Refused
from sacpy.jit.kernels.reduction import Reduction
from sacpy.jit.kernels.source import Built, Source, parameter_block
from sacpy.jit.kernels.values import Value
from sacpy.withloop import chains
from sacpy.withloop.combinators import Combinator, CompressGrid, FoldLast2, ShiftLB
from sacpy.withloop.placement import GridBlock
from sacpy.withloop.spaces import IndexSpace

_FEW = 64  # cells a multiprocessor has at most where a thread each would leave the device idle
_LONG = 1024  # indices that a fold has at least to be shared although its threads then read far apart


@dataclass(frozen=True, slots=True)
class Row:
    """A body that is `before`, a fold over one space, `after`. `along`: neighbouring indices of the fold read neighbouring elements; `across`: neighbouring cells do."""

    partition: Partition
    before: tuple[Stmt, ...]
    fold: WithLoop
    targets: tuple[Var, ...]
    after: Block
    along: bool
    across: bool

    @property
    def inner(self) -> Partition:
        """What is folded."""
        return self.fold.partitions[0]

    @property
    def folds(self) -> tuple[Fold, ...]:
        return tuple(o for o in self.fold.operators if isinstance(o, Fold))

    def threads(self, cells: int, length: int, options: KernelOptions) -> int | None:
        """How many threads share a fold, a power of two; None where one does it alone."""
        device = options.device
        few = cells <= device.processors * _FEW
        if length < options.row_length or not ((self.along and not self.across) or (few and length >= max(_LONG, options.row_length))):
            return None
        threads = min(device.warp, options.fold_threads)
        while threads * 2 <= options.fold_threads and threads * 4 <= length:
            threads *= 2
        return threads


def row_of(source: Source, p: Partition) -> Row | None:
    """The body of a partition as a row, if it is one whose fold's bounds are known before the launch."""
    if not p.index or any(extents_of(r) for r in p.body.results):
        return None
    for at, s in enumerate(p.body.statements):
        if not isinstance(s, Let):
            return None
        if isinstance(s.rhs, WithLoop):
            w = s.rhs
            if not all(isinstance(o, Fold) and o.stop is None and o.commutative and not any(extents_of(n) for n in o.neutrals) for o in w.operators) or len(w.partitions) != 1:
                return None
            q = w.partitions[0]
            if not all(isinstance(a, Const) or a.name in source.free for a in (*q.lower, *q.upper, *(q.step or ()), *(q.width or ()))) or not q.rank:
                return None
            if source.thread("trial", 32).checked(Block(p.body.statements[:at])):
                return None
            after = Block(p.body.statements[at + 1 :], p.body.results)
            return Row(p, p.body.statements[:at], w, s.targets, after, _reads(q.body, q.index[-1]), bool(p.index) and _reads(q.body, p.index[-1]))
    return None


def _reads(b: Block, index: Var) -> bool:
    """Whether elements are loaded whose last index is this one, or a little off it."""
    near = {index.name}
    for s in statements(b):
        if isinstance(s, Let):
            match s.rhs:
                case Op(code="add" | "sub", args=args) if any(isinstance(a, Var) and a.name in near for a in args):
                    near.update(t.name for t in s.targets)
                case Load(index=at) if isinstance(at[-1], Var) and at[-1].name in near:
                    return True
    return False


def in_line(space: IndexSpace) -> chains.Mapping:
    """All indices of a space along one axis, in their order."""
    steps: list[Combinator] = []
    if space.rank:
        steps = [ShiftLB(), *([] if space.dense else [CompressGrid((1,) * space.rank)]), *[FoldLast2()] * (space.rank - 1)]
    return chains.Chain(tuple(steps), GridBlock(0)).map(space)


def row_kernel(source: Source, number: int, row: Row, outer: chains.Mapping, inner: chains.Mapping, threads: int, bits: int) -> Built:
    """A block for each cell. The parameter block: that of `outer`, that of `inner`, the number of inner indices."""
    thread = source.thread(f"rows{number}", bits)
    b = thread.b
    reduction = Reduction(thread, row.folds, thread.checked(row.inner.body, *(f.combine for f in row.folds)))
    arrays = maps.results(thread, source)
    cell_words, words = parameter_block(b, outer), parameter_block(b, inner)
    total = b.slot("total")
    blocks = b.number("blocks")
    block, t = b.names.var("block", b.word), b.names.var("thread", b.word)
    shared = reduction.allocate(threads)

    def start() -> tuple[Atom, ...]:
        index, guard = outer.recover(IrArithmetic(b, cell_words), (block,), ())
        assert guard is None
        found = tuple(map(b.as_int, index))
        thread.bind(row.partition.index, found)
        thread.block(Block(row.before))
        return found

    def one(place: Var, carried: list[Atom]) -> list[Atom]:
        index, guard = inner.recover(IrArithmetic(b, words), (place,), ())
        thread.bind(row.inner.index, list(map(b.as_int, index)))
        return reduction.take(carried, guard, lambda: thread.block(row.inner.body))

    b.open()
    start()
    thread.depth += 1
    found = b.seq_for(t, total, reduction.initial, one, threads)
    thread.depth -= 1
    reduction.leave(shared, t, found)
    gather = k.ForAll((t,), (b.word_const(threads),), b.close())
    phases = reduction.tree(shared, threads)
    b.open()
    index = start()
    some = b.op("lt", b.word_const(0), total)
    thread.bind(row.targets, reduction.finish([b.load(a, integer(0)) for a in shared.arrays], some, None))

    def finish(values: list[Value]) -> None:
        for array, v in zip(arrays, values, strict=True):
            assert isinstance(v, Var | Const)
            b.store(array, index, v)

    thread.block(row.after, finish)
    end = k.ForAll((b.names.var("thread", INT),), (integer(1),), b.close())
    return Built(b.kernel((block,), (blocks,), (b.word_const(threads),), (gather, *phases, end)), tuple(v.name for v in b.shape))


def tried(source: Source, p: Partition) -> Row | None:
    """The row that a body is, where its code can be made."""
    row = row_of(source, p)
    if row is None:
        return None
    try:
        row_kernel(source, 0, row, in_line(IndexSpace.box((2,) * p.rank)), in_line(IndexSpace.box((2,) * row.inner.rank)), 32, 32)
    except Refused:
        return None
    return row



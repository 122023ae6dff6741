"""Cells that many threads fold together: which they are, and how many threads share one.

In: a partition; at run time how many cells there are and how long their folds. Out: a `Row`, and how its cells and
their folds are dealt (`Share`). Folds may be of different lengths, which follow from the index of the cell: then a
launch knows between what they lie, and threads compute their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.analysis.combine import Cell, cell_of
from sacpy.jit.analysis.folds import recognised
from sacpy.jit.analysis.intervals import Interval, Slice, slice_of
from sacpy.jit.analysis.shared_planner import BYTES
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import free
from sacpy.jit.kernels.launches import ONE_THREAD, KernelOptions
from sacpy.jit.kernels.numbers import Numbers, space_of
from sacpy.jit.kernels.reduction import MOST_COPIES, keeps_order
from sacpy.jit.kernels.shares import threads_of
from sacpy.jit.kernels.source import Source
from sacpy.nodes import Node, field
from sacpy.withloop.rates import keeps_busy
from sacpy.withloop.spaces import IndexSpace
from sacpy.withloop.ways import GpuFold

_FULL = 1024  # threads of a multiprocessor that keep it busy
_ALIKE = 64  # cells for each multiprocessor from which on each has a thread where all read the same, which serves many
_LONG = 1024  # indices that a fold has at least to be shared although its threads then read far apart
_EACH = 8  # indices of a thread at least where a fold is cut into chunks
_GROUPED = 16  # indices of a fold from which on some threads of a warp share it, where they read side by side
_FEW = 4  # indices that a thread has at least then


class Share(Node):
    """How cells and their folds are dealt: a block has `lanes` neighbouring cells and `threads` threads (a power of
    two) for each; each fold is cut into `chunks`, a block for each, which a second launch puts together. `grouped`: the
    threads of a cell are neighbours in one warp, which put together what they have from register to register; else the
    threads of all cells alternate, and do it in shared memory. `backwards`: the last cells come first, as their folds
    are the longest, and what is begun last had better be short. `why`: what speaks for it."""

    lanes: int
    threads: int
    chunks: int
    grouped: bool = False
    backwards: bool = False
    why: str = field(default="", compare=False)


class Row(Cell):
    """A cell whose fold several threads share. `along`: neighbouring indices of the fold read neighbouring elements;
    `across`: neighbouring cells do; `alike`: all cells read the same. `bounds`: how those of the fold follow from the
    index of the cell, where they are not the same for all. `handed`: what the code in front of the fold hands on, where
    it may fail."""

    along: bool
    across: bool
    alike: bool = False
    bounds: Slice | None = None
    handed: tuple[g.Var, ...] | None = None

    @property
    def bytes(self) -> int:
        """What an index of the fold reads."""
        loads = (s.rhs for s in g.statements(self.inner.body) if isinstance(s, g.Let) and isinstance(s.rhs, g.Load))
        return sum(BYTES[x.array.base] for x in loads)

    @property
    def inputs(self) -> set[str]:
        """The ints that say how long folds are, indices left out."""
        if self.bounds is not None:
            return self.bounds.given - {v.name for v in self.partition.index}
        q = self.inner
        return {a.name for a in (*q.lower, *q.upper, *(q.step or ()), *(q.width or ())) if isinstance(a, g.Var)}

    def lengths(self, space: IndexSpace, numbers: Numbers) -> tuple[int, int, bool]:
        """How many indices folds have, about, in the cells of a space, and what none has more of; whether those of the
        last cells are longer than those of the first."""
        if self.bounds is None:
            size = space_of(self.inner, numbers).size
            return size, size, False
        names = [v.name for v in self.partition.index]
        known = {name: (numbers[name], numbers[name]) for name in self.bounds.given if name not in names}
        ends = [(low, max(low, high - 1)) for low, high in zip(space.lower, space.upper)]

        def length(at: dict[str, Interval]) -> int:
            (lower, _), (_, upper) = self.bounds.between(known | at)  # type: ignore[union-attr]
            return max(0, upper - lower)

        first, middle, last = (
            length({name: (low + (high - low) * n // 2,) * 2 for name, (low, high) in zip(names, ends)})
            for n in range(3)
        )
        return (first + 4 * middle + last) // 6, length(dict(zip(names, ends))), last > first

    @property
    def ordered(self) -> bool:
        """Whether operands keep their order."""
        return keeps_order(self.folds)

    @property
    def exact(self) -> bool:
        """Whether folds give the same however their operands are grouped."""
        found = [recognised(f) for f in self.folds]
        return all(f is not None and f.exact for f in found)

    def share(self, cells: int, length: int, options: KernelOptions, way: GpuFold | None = None) -> Share | None:
        """How to share folds of some length; None where a thread for each cell does better. Where order counts, each
        thread has a run of its own, so that threads read far apart along a row, as they would with a row each. `way`:
        what a pragma asks for; then a block has a cell."""
        if way is not None:
            return Share(1, threads_of(length, options.fold_threads, options.device, way), 1)
        if options.row_length >= ONE_THREAD and not self.exact:
            return None
        full = options.device.processors * _FULL
        if self.alike and cells >= options.device.processors * _ALIKE:
            return None
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
        return Share(options.fold_threads // threads, threads, 1, True, why=why)


def row_of(source: Source, p: g.Partition) -> Row | None:
    """The body of a partition as a row, if it is one whose fold's bounds are known before the launch, or follow from
    the index of the cell."""
    cell = cell_of(p)
    known = all(isinstance(e, g.Const) for r in p.body.results for e in g.extents_of(r))
    if cell is None or not p.index or not known:
        return None
    q, before = cell.inner, g.Block(cell.before)
    ends = (*q.lower, *q.upper, *(q.step or ()), *(q.width or ()))
    bounds: Slice | None = None
    if not all(isinstance(a, g.Const) or a.name in source.free for a in ends):
        bounds = slice_of(ends, before, {*source.free, *(v.name for v in p.index)})
        if bounds is None or q.rank != 1 or q.step is not None or p.step is not None:
            return None
    handed: tuple[g.Var, ...] | None = None
    if source.thread("trial", 32).checked(before):
        later = {a.name for a in ends if isinstance(a, g.Var)}.union(*map(free, cell.later))
        handed = tuple(t for s in cell.before if isinstance(s, g.Let) for t in s.targets if t.name in later)
        if any(g.extents_of(t) for t in handed):
            return None
    along, across = _reads(q.body, q.index[-1]), _reads(q.body, p.index[-1])
    same = _same_for_all(q.body, (*before.statements, *q.body.statements), p.index)
    loads = {s.targets[0].name for s in g.statements(q.body) if isinstance(s, g.Let) and isinstance(s.rhs, g.Load)}
    if along - across - same:
        across -= along  # what moves with both may be dealt either way
    alike = bool(loads) and loads <= same
    return Row(p, cell.before, cell.fold, cell.targets, cell.after, bool(along), bool(across), alike, bounds, handed)


def _same_for_all(b: g.Block, code: Sequence[g.Stmt], index: Sequence[g.Var]) -> set[str]:
    """The elements that are loaded, by name, whose places do not depend on the index of the cell: all threads read them
    together."""
    own = {v.name for v in index}
    for s in code:
        if isinstance(s, g.Let) and any(isinstance(a, g.Var) and a.name in own for a in g.operands(s.rhs)):
            own.update(t.name for t in s.targets)
    return {
        t.name
        for s in g.statements(b)
        if isinstance(s, g.Let)
        and isinstance(s.rhs, g.Load)
        and not any(isinstance(a, g.Var) and a.name in own for a in s.rhs.index)
        for t in s.targets
    }


def _reads(b: g.Block, index: g.Var) -> set[str]:
    """The elements that are loaded, by name, whose last index is this one, or a little off it."""
    near = {index.name}
    found: set[str] = set()
    for s in g.statements(b):
        if isinstance(s, g.Let):
            match s.rhs:
                case g.Op(code="add" | "sub", args=args) if any(isinstance(a, g.Var) and a.name in near for a in args):
                    near.update(t.name for t in s.targets)
                case g.Load(index=at) if isinstance(at[-1], g.Var) and at[-1].name in near:
                    found.update(t.name for t in s.targets)
    return found

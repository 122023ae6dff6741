"""Folds in a block's program, which all threads of the block do together.

In: a with-loop whose operators are folds, between the stages of a program. Out: phases, and what stands for its results
behind them: each thread takes them from the block's memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sacpy.jit.analysis.reached import Numbers
from sacpy.jit.ir import graph as g
from sacpy.jit.ir import kernel as k
from sacpy.jit.ir.rewrite import free
from sacpy.jit.kernels.block_places import counted, index_of, numbers_of
from sacpy.jit.kernels.crossing import Touched
from sacpy.jit.kernels.numbers import fold_of, pragmas_of
from sacpy.jit.kernels.reduction import Reduction, Shared
from sacpy.jit.kernels.shares import threads_of
from sacpy.jit.kernels.values import Value
from sacpy.nodes import Record
from sacpy.withloop.errors import MappingError
from sacpy.withloop.spaces import IndexSpace
from sacpy.withloop.ways import GpuFold

if TYPE_CHECKING:
    from sacpy.jit.kernels.block_program import BlockProgram, Item


class Total(Record):
    """The results of a fold: at the first place of the block's arrays `shared`."""

    targets: tuple[g.Var, ...]
    reduction: Reduction
    shared: Shared

    @property
    def free(self) -> set[str]:
        """The names that are used to give the results."""
        code = set().union(*(free(f.combine) for f in self.reduction.folds))
        given = {v.name for f in self.reduction.folds for v in (*f.accumulators, *f.values)}
        neutral = {a.name for f in self.reduction.folds for a in f.neutrals if isinstance(a, g.Var)}
        return (code - given) | neutral

    def values(self) -> list[Value]:
        """The results, as code of one thread."""
        b = self.reduction.b
        found: list[g.Atom] = [b.load(a, b.word_const(0)) for a in self.shared.arrays]
        return list(self.reduction.finish(found, None, None))


def reads_of_total(total: Total, threads: Numbers) -> list[Touched]:
    """What threads read of the block's memory that want the results."""
    return [Touched(a.name, threads, np.zeros((len(threads), 1), np.int64)) for a in total.shared.arrays]


def folded(program: BlockProgram, targets: Sequence[g.Var], w: g.WithLoop, items: Sequence[Item]) -> list[Item]:
    """Adds the phases of a fold; what comes to stand before the phases behind it."""
    asked = program.asked
    folds = [o for o in w.operators if isinstance(o, g.Fold)]
    if len(folds) < len(w.operators):
        raise asked.refused(
            "a stage hands values from one index to the next, so they come one after the other", "take another operator"
        )
    if len(w.partitions) != 1:
        raise asked.refused("a fold between its stages has several partitions", "fold each by itself")
    (p,) = w.partitions
    lower, upper = program.numbers(p.lower, "a bound of a fold"), program.numbers(p.upper, "a bound of a fold")
    step, width = (None if x is None else program.numbers(x, "a step of a fold") for x in (p.step, p.width))
    space = IndexSpace.of(lower, upper, step, width)
    if not space.size:
        neutrals = [a for f in folds for a in f.neutrals]
        return [g.Let((t,), a) for t, a in zip(targets, neutrals, strict=True)]
    made = {t.name for item in items if not isinstance(item, g.Check) for t in item.targets}
    if any(made & (free(f.combine) - {v.name for v in (*f.accumulators, *f.values)}) for f in folds):
        raise asked.refused(
            "the function of a fold between its stages uses what the block has computed",
            "hand it over as a part of what is folded",
        )
    way = fold_of(pragmas_of(w)[0])
    try:
        return [_together(program, tuple(targets), p, folds, space, way, items)]
    except MappingError as error:
        raise program.on_stage(w, error) from None


def _threads(most: int, length: int, program: BlockProgram, way: GpuFold | None) -> int:
    whole = 1 << (most.bit_length() - 1)
    if way is None:
        return min(whole, 1 << max(0, length - 1).bit_length())
    if way.way == "shuffle":
        if whole != most or most % k.WARP:
            raise way.refused(f"a block of {most} threads has no whole warps to shuffle in", "take 32, 64, 128, ..")
        return most
    if way.each and -(-length // way.each) > whole:
        raise way.refused(
            f"{length} elements by {way.each} each are more threads than the {whole} of the block that can fold",
            "let a thread fold more of them, or give the block more threads",
        )
    return threads_of(length, whole, program.device, way)


def _together(
    program: BlockProgram,
    targets: tuple[g.Var, ...],
    p: g.Partition,
    folds: Sequence[g.Fold],
    space: IndexSpace,
    way: GpuFold | None,
    items: Sequence[Item],
) -> Total:
    b, thread, most = program.b, program.thread, program.asked.threads
    reduction = Reduction(thread, folds, thread.checked(p.body, *(f.combine for f in folds)), way)
    length = space.size
    threads = _threads(most, length, program, way)
    shared = reduction.allocate(threads)
    each = -(-length // threads)
    t = b.names.var("thread", b.word)

    def one(place: g.Var, carried: list[g.Atom]) -> list[g.Atom]:
        thread.bind(p.index, index_of(b, space, place))
        return reduction.take(carried, None, lambda: thread.block(p.body))

    def gather() -> None:
        if reduction.runs:
            first = b.op("mul", t, b.word_const(each), exact=True)
            end = b.op("min", b.op("add", first, b.word_const(each), exact=True), b.word_const(length))
            found = b.seq_for(first, end, reduction.initial, one)
        else:
            found = b.seq_for(t, b.word_const(length), reduction.initial, one, threads)
        reduction.leave(shared, t, found)

    at = np.arange(length)
    who = at // each if reduction.runs else at % threads
    index = {v.name: i for v, i in zip(p.index, numbers_of(space))}
    reads = program.reads(g.Block((*p.body.statements,), p.body.results), index, who, items)
    b.open()
    program.start(items, gather)
    places = np.arange(threads)
    for a in shared.arrays:
        program.crossing.sizes[a.name] = int(np.prod([int(e.value) for e in g.extents_of(a) if isinstance(e, g.Const)]))
    writes = [] if shared.own else [Touched(a.name, places, places[:, None]) for a in shared.arrays]
    words = f"{counted(length, 'element')} folded by {counted(threads, 'thread')}" + (
        f", {way.words}" if way is not None else ""
    )
    program.phase([k.ForAll((t,), (b.word_const(threads),), b.close())], reads, writes, words)
    steps = reduction.tree(shared, threads)
    program.body += steps
    if any(isinstance(s, k.Barrier) for s in steps):
        program.crossing.meet()
    zero = np.zeros(1, np.int64)
    program.crossing.note((), [Touched(a.name, zero, zero[:, None]) for a in shared.arrays])
    return Total(targets, reduction, shared)

"""Numbers and pragmas of a launch.

In: parts of a graph, and the values that its ints have at run time. Out: index spaces, sizes of arrays, words of the
parameter block; what the pragmas of a with-loop say.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from sacpy.jit.ir.graph import Partition, Var, WithLoop, extents_of
from sacpy.jit.ir.kernel import Allocate
from sacpy.jit.kernels.launches import Buffer
from sacpy.jit.kernels.source import Built, Source, number_of
from sacpy.withloop.block_words import GpuBlock
from sacpy.withloop.chains import Chain
from sacpy.withloop.chains import Mapping as Mapping_
from sacpy.withloop.combinators import Combinator, CompressGrid, FoldLast2, ShiftLB
from sacpy.withloop.division import magic
from sacpy.withloop.placement import GridBlock
from sacpy.withloop.pragmas import GpuKernel, GpuMem, Pragma, effective
from sacpy.withloop.spaces import IndexSpace
from sacpy.withloop.ways import GpuFold

Numbers = Mapping[str, int]


def flat_words(values: list[tuple[int, bool]], bits: int) -> list[int]:
    """Words of numbers, divisors followed by multiplier and shift."""
    words = []
    for value, divisor in values:
        words.append(value)
        if divisor:
            m = magic(value, bits)
            words += [m.multiplier, m.shift]
    return words


def space_of(p: Partition, numbers: Numbers) -> IndexSpace:
    """The index space of a partition."""
    lower, upper = ([number_of(a, numbers) for a in vector] for vector in (p.lower, p.upper))
    step, width = (None if v is None else [number_of(a, numbers) for a in v] for v in (p.step, p.width))
    return IndexSpace.of(lower, upper, step, width)


def array_sizes(source: Source, numbers: Numbers) -> list[int]:
    """How many elements each array has that kernels read or write."""
    return [
        math.prod(number_of(e, numbers) for e in extents_of(v))
        for v in (*source.free.values(), *source.targets)
        if extents_of(v)
    ]


def scratch_of(built: Built, numbers: Numbers) -> tuple[Buffer, ...]:
    """Each thread's arrays in scratch memory."""
    arrays = [s.array for s in built.kernel.body if isinstance(s, Allocate) and s.space == "scratch"]
    return tuple(Buffer(a.name, a.base, tuple(number_of(e, numbers) for e in extents_of(a))) for a in arrays)


def pragmas_of(w: WithLoop) -> list[list[Pragma]]:
    """The pragmas that hold for each partition, those of the whole with-loop that it does not replace among them."""
    shared = [p.text for p in w.pragmas]
    return [effective(shared, (q.text for q in p.pragmas if q not in w.pragmas)) for p in w.partitions]


def chain_of(pragmas: Sequence[Pragma]) -> Chain | None:
    """The mapping that they ask for."""
    return next((p.chain for p in pragmas if isinstance(p, GpuKernel)), None)


def memory_of(pragmas: Sequence[Pragma]) -> GpuMem | None:
    """What they say about memory."""
    return next((p for p in pragmas if isinstance(p, GpuMem)), None)


def in_line(space: IndexSpace) -> Mapping_:
    """All indices of a space along one axis, in their order."""
    steps: list[Combinator] = []
    if space.rank:
        steps = [
            *([ShiftLB()] if any(space.lower) else []),
            *([] if space.dense else [CompressGrid((1,) * space.rank)]),
            *[FoldLast2()] * (space.rank - 1),
        ]
    return Chain(tuple(steps), GridBlock(0)).map(space)


def stages(pragmas: Sequence[Pragma]) -> bool:
    """Whether they ask for shared memory."""
    memory = memory_of(pragmas)
    return memory is not None and memory.mode == "shared"


def fold_of(pragmas: Sequence[Pragma]) -> GpuFold | None:
    """How they say that threads put together what they fold."""
    return next((p for p in pragmas if isinstance(p, GpuFold)), None)


def block_of(pragmas: Sequence[Pragma]) -> GpuBlock | None:
    """Whether they say that cells are programs of a block, and with how many threads."""
    return next((p for p in pragmas if isinstance(p, GpuBlock)), None)


def maybe_zero_based(p: Partition) -> bool:
    """Whether a partition may start at 0."""
    return all(isinstance(a, Var) or a.value == 0 for a in p.lower)


def maybe_dense(p: Partition) -> tuple[bool, ...]:
    """Along which axes a partition may lack gaps; nothing: along all."""
    if p.step is None or p.width is None:
        return ()
    return tuple(isinstance(t, Var) or isinstance(w, Var) or w.value >= t.value for t, w in zip(p.step, p.width))

"""Programs of a block, as users write them.

In: a partition whose cells are the work of a block each (`gpublock`), the numbers of a launch. Out: one launch. The
body is a list of stages (`block_stages`): with-loops that all threads of the block compute together, in the block's
memory. Where arrays lie there is `shared_planner`'s business, so that a network of any depth has two places and swaps
them. Barriers stand only where the elements that threads read and write say so (`crossing`).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from sacpy.jit.analysis.shared_planner import plan_shared
from sacpy.jit.ir import graph as g
from sacpy.jit.ir import kernel as k
from sacpy.jit.kernels.block_places import counted
from sacpy.jit.kernels.block_program import BlockProgram, Noted
from sacpy.jit.kernels.block_stages import sizes_of, stages_of
from sacpy.jit.kernels.launches import KernelOptions, Launch, Refused
from sacpy.jit.kernels.numbers import Numbers, array_sizes, block_of, in_line, scratch_of
from sacpy.jit.kernels.source import Built, Source
from sacpy.withloop import chains
from sacpy.withloop.block_words import GpuBlock, GpuEach, GpuThreads
from sacpy.withloop.devices import DeviceLimits
from sacpy.withloop.errors import MappingError
from sacpy.withloop.pragmas import GpuKernel, GpuMem, Pragma
from sacpy.withloop.spaces import IndexSpace
from sacpy.withloop.splitting import MOST_PIECES
from sacpy.withloop.ways import GpuFold


class BuiltBlock(Built):
    """A kernel with what its phases are."""

    phases: tuple[Noted, ...] = ()


def check_pieces(pragmas: Sequence[Pragma]) -> None:
    """`MappingError` where the pieces of a partition, which are to be programs of a block, are too many."""
    block = block_of(pragmas)
    if block is not None:
        raise block.refused(f"the partitions make more than {MOST_PIECES} pieces", "take fewer partitions")


def checked(source: Source, p: g.Partition, pragmas: Sequence[Pragma]) -> set[str] | None:
    """The ints that the kernel depends on, where pragmas of a with-loop that is launched make the cells of a partition
    programs of a block. `MappingError` where they do not go together."""
    block = block_of(pragmas)
    for other in pragmas:
        if block is not None and isinstance(other, GpuKernel | GpuMem | GpuFold):
            raise block.refused(
                "another pragma lays this with-loop out, too", "leave one of the two out: a block's program has stages"
            )
        if block is None and isinstance(other, GpuThreads | GpuEach):
            raise MappingError(
                "E0821",
                f"{other.word} says how the threads of a block do a stage, and this with-loop is no stage of a block",
                "write `#pragma gpublock(256)` in the with-loop whose cells are to be programs of a block",
                span=other.span,
                word=other.word,
            )
    return None if block is None else sizes_of(source, p)


def _build(
    source: Source,
    number: int,
    block: GpuBlock,
    program: g.Function,
    outer: chains.Mapping,
    bits: int,
    device: DeviceLimits,
) -> BuiltBlock:
    made = BlockProgram(source, number, block, program, outer, bits, device)
    b = made.b
    kernel = b.kernel((made.place,), (made.blocks,), (b.word_const(block.threads),), made.body)
    return BuiltBlock(kernel, tuple(v.name for v in b.shape), phases=tuple(made.phases))


def launches(
    source: Source,
    number: int,
    block: GpuBlock,
    space: IndexSpace,
    numbers: Numbers,
    options: KernelOptions,
    kernels: dict[Hashable, Built],
) -> list[Launch]:
    """The launch for the cells of one piece. `MappingError` where it cannot be as the pragma says."""
    device, p = options.device, source.with_loop.partitions[number]
    if block.threads > device.threads_per_block:
        raise block.refused(
            f"{device.name} has {device.threads_per_block} threads in a block at most, and not {block.threads}",
            "take fewer",
        )
    if not space.size:
        return []
    if space.size > device.grid[2]:
        raise block.refused(
            f"{space.size} cells are as many blocks, and {device.name} launches {device.grid[2]} at most",
            "let a cell be more",
        )
    outer = in_line(space)
    bits = outer.bits(array_sizes(source, numbers))
    own = tuple((name, numbers[name]) for name in sorted(sizes_of(source, p)) if name in numbers)
    key = ("block", number, outer.key, bits, own)
    built = kernels.get(key)
    if built is None:
        program = stages_of(source, p, numbers, block)
        try:
            built = kernels[key] = _build(source, number, block, program, outer, bits, device)
        except Refused as refusal:
            raise block.refused(f"its stages are not for a GPU: {refusal.reason}", "leave the pragma out") from None
    size = plan_shared(built.kernel).size
    if size > device.shared_per_block:
        raise block.refused(
            f"its stages take {size} bytes of the block's memory at a time, and {device.name} has "
            f"{device.shared_per_block}",
            "let a block have a shorter vector, or leave out what need not be in memory",
        )
    assert isinstance(built, BuiltBlock)
    return [
        Launch(
            built.kernel,
            (1, 1, space.size),
            (1, 1, block.threads),
            built.arguments((space.size,), outer.words(bits)),
            "block",
            number,
            None,
            ("the pragma says so", *_in_words(built, size)),
            scratch_of(built, numbers),
        )
    ]


def _in_words(built: BuiltBlock, size: int) -> list[str]:
    """What the phases of a block are."""
    barriers = sum(isinstance(s, k.Barrier) for s in built.kernel.body)
    found = [f"{counted(len(built.phases), 'stage')}, {counted(barriers, 'barrier')}, {size} bytes of shared memory"]
    at = 0
    while at < len(built.phases):
        end = at
        while end + 1 < len(built.phases) and built.phases[end + 1] == built.phases[at]:
            end += 1
        which = f"stage {at + 1}" if end == at else f"stages {at + 1} to {end + 1}"
        each = "" if end == at else "each "
        found.append(
            f"{which}: {each}{built.phases[at].words}" + (", behind a barrier" if built.phases[at].barrier else "")
        )
        at = end + 1
    return found

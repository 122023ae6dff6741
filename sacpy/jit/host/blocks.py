"""Rows that are few and long, cut into blocks, so that there is something to deal to every thread.

In: a partition of rank 2 or more whose schedule says so. Out: how many blocks a row of its first axis is cut into along
the second, and how long they are; and the loops over any run of blocks, which are counted row by row. Both follow from
the extents alone. Where there are rows enough there is one block in each.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.host.loops import count_loop
from sacpy.jit.host.nests import Nest
from sacpy.jit.host.sinks import Sink
from sacpy.jit.host.work import Work, number, written
from sacpy.jit.host.writer import Writer
from sacpy.jit.ir.graph import Partition
from sacpy.jit.schedule.loops import LoopNest
from sacpy.jit.schedule.threads import ALIGNED, MANY_ROWS, PER_CHUNK, SHORT
from sacpy.nodes import Node


class Blocks(Node):
    """The blocks of a partition's rows, all 64-bit texts: the bounds of its first two axes, the number of blocks in a
    row, the indices of a block along the second axis."""

    lower: tuple[str, str]
    upper: tuple[str, str]
    in_row: str
    length: str


def cut(low: Writer, p: Partition, work: Work) -> Blocks:
    """Computes how rows are cut. `work`: for one index along the second axis; the more there is, the shorter a block
    may be."""
    code = low.code
    lower, upper = low.wides(p.lower[:2]), low.wides(p.upper[:2])
    rows, columns = (code.difference(b, a) for a, b in zip(lower, upper))
    code.module.declare("sacpy_blocks", "declare {i64, i64} @sacpy_blocks(i64, i64, i64, double, double, i64, i64)")
    cut = code.op(
        f"call {{i64, i64}} @sacpy_blocks(i64 {rows}, i64 {columns}, i64 {MANY_ROWS}, double {written(work)}, "
        f"double {number(PER_CHUNK)}, i64 {SHORT}, i64 {ALIGNED})"
    )
    in_row, length = (code.op(f"extractvalue {{i64, i64}} {cut}, {k}") for k in (0, 1))
    return Blocks((lower[0], lower[1]), (upper[0], upper[1]), in_row, length)


def write_blocks(low: Writer, part: LoopNest, sinks: Sequence[Sink], blocks: Blocks, first: str, end: str) -> None:
    """The loops over the blocks from `first` to before `end`, of which there are some."""
    code = low.code
    row, last = (code.quotient(b, blocks.in_row) for b in (first, code.difference(end, "1")))

    def at(block: str, row: str) -> str:
        """Where a block of a row begins."""
        within = code.difference(block, code.product(row, blocks.in_row))
        return code.sum(blocks.lower[1], code.product(within, blocks.length))

    begin, stop = at(first, row), at(end, last)
    cut_off = code.op(
        f"select i1 {code.op(f'icmp slt i64 {stop}, {blocks.upper[1]}')}, i64 {stop}, i64 {blocks.upper[1]}"
    )

    def body(number: str) -> None:
        low.poll()
        lower = code.op(f"select i1 {code.op(f'icmp eq i64 {number}, {row}')}, i64 {begin}, i64 {blocks.lower[1]}")
        upper = code.op(f"select i1 {code.op(f'icmp eq i64 {number}, {last}')}, i64 {cut_off}, i64 {blocks.upper[1]}")
        i = code.sum(blocks.lower[0], number)
        nest = Nest(low, part, sinks, lower, upper, ranged=1)
        nest.bind(0, i)
        nest.axis((i,))

    count_loop(low, row, code.sum(last, "1"), "1", body)

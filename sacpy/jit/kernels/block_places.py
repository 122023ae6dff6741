"""Which thread of a block has which elements of a stage.

In: the pieces of a stage, the threads of the block, what pragmas say. Out: `Deal`s: pieces of equal size that threads
take together, an element of each; a thread's index in each of them, as numbers (for the question where threads meet)
and as code.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sacpy.jit.ir import graph as g
from sacpy.jit.kernels.builder import Builder
from sacpy.jit.kernels.several import unravelled
from sacpy.nodes import Node
from sacpy.withloop.block_words import GpuEach, GpuThreads, Stage
from sacpy.withloop.errors import MappingError
from sacpy.withloop.spaces import IndexSpace
from sacpy.withloop.splitting import Piece

UNROLLED = 8  # elements of a thread up to which they are computed side by side, and stored then


class Deal(Node):
    """Pieces of `size` elements each: thread t of `threads` takes those at t, t + threads, ... of all of them."""

    pieces: tuple[Piece, ...]
    size: int
    threads: int

    @property
    def each(self) -> int:
        """Elements of a thread in each piece."""
        return -(-self.size // self.threads)

    @property
    def together(self) -> bool:
        """Whether a thread computes all of its elements before it stores the first."""
        return self.each <= UNROLLED

    @property
    def even(self) -> bool:
        """Whether all threads have as many."""
        return self.size % self.threads == 0


def counted(number: int, what: str) -> str:
    """So many of something, in words."""
    return f"{number} {what}{'s' * (number != 1)}"


def deals(pieces: Sequence[Piece], words: Sequence[Sequence[Stage]], most: int) -> list[Deal]:
    """How pieces are dealt among at most so many threads. `words`: what pragmas say of the pieces of each partition.
    `MappingError` where that cannot be."""
    groups: dict[tuple[int, int], list[Piece]] = {}
    for piece in pieces:
        size = piece.space.size
        own = words[piece.partition or 0] if words else ()
        if size:
            groups.setdefault((size, _threads(size, own, most)), []).append(piece)
    return [Deal(tuple(many), size, threads) for (size, threads), many in groups.items()]


def _threads(size: int, words: Sequence[Stage], most: int) -> int:
    """How many threads have so many elements; virtual ones where nothing is said."""
    threads = size
    for word in words:
        threads = word.threads if isinstance(word, GpuThreads) else -(-size // word.each)
        if threads > most:
            what = (
                f"{size} elements by {word.each} each are {threads} threads"
                if isinstance(word, GpuEach)
                else (f"{threads} threads are to do a stage")
            )
            raise MappingError(
                "E0821",
                f"{what}, and the block has {most}",
                "give the block more threads, or a thread more elements",
                span=word.span,
                word=word.word,
            )
        threads = min(threads, size)
    return threads


# ---------------------------------------------------------------- as numbers


def numbers_of(space: IndexSpace) -> list[NDArray[np.int64]]:
    """All indices of a space in row-major order, axis by axis."""
    counts = space.counts
    ordinals = np.unravel_index(np.arange(space.size), counts) if counts else ()
    return [
        lower + o // width * step + o % width
        for o, lower, step, width in zip(ordinals, space.lower, space.step, space.width)
    ]


def flat(index: Sequence[NDArray[np.int64]], extents: Sequence[int], count: int) -> NDArray[np.int64]:
    """The places of the cells at some indices: a row for each, the elements of the cell in it."""
    at = np.zeros(count, np.int64)
    for i, e in zip(index, extents):
        at = at * e + i
    cell = int(np.prod(extents[len(index) :], dtype=np.int64))
    return at[:, None] * cell + np.arange(cell)


# ---------------------------------------------------------------- as code


def index_of(b: Builder, space: IndexSpace, place: g.Atom) -> list[g.Atom]:
    """The index at a place in a space, as ints."""
    if not space.rank:
        return []
    found = []
    for o, lower, step, width in zip(unravelled(b, place, space.counts), space.lower, space.step, space.width):
        at = o
        if width < step:
            row, rest = _divided(b, o, width)
            at = _times(b, row, step)
            if rest is not None:
                at = b.op("add", at, rest, exact=True)
        found.append(b.as_int(b.op("add", at, b.word_const(lower), exact=True) if lower else at))
    return found


def _divided(b: Builder, number: g.Atom, by: int) -> tuple[g.Atom, g.Atom | None]:
    """Quotient and remainder by a constant; no remainder where there never is one."""
    if by == 1:
        return number, None
    if by & (by - 1):
        return b.op("div", number, b.word_const(by)), b.op("mod", number, b.word_const(by))
    return b.op("shr", number, b.word_const(by.bit_length() - 1)), b.op("bitand", number, b.word_const(by - 1))


def _times(b: Builder, number: g.Atom, by: int) -> g.Atom:
    return b.op("mul", number, b.word_const(by), exact=True) if by != 1 else number

"""Memory as the simulator of plans has it: blocks of cells, who holds them, and arrays that lie in them.

In: values that are written and read. Out: a `Fault` where what is read of memory is not the value that it stands for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from math import prod
from typing import Any

import numpy as np


class Fault(AssertionError):
    """Memory and values disagree."""


@dataclass
class Memory:
    """A block. `holders`: references; `kept`: the caller's, who must find it as it was."""

    number: int
    cells: np.ndarray[Any, Any]
    written: np.ndarray[Any, Any]
    holders: int = 1
    kept: bool = False


@dataclass
class Lying:
    """An array: its value, and where it lies. `counted`: it holds a reference to its block; `mine`: nobody else looks
    at its elements, so that they may be changed in its place."""

    value: np.ndarray[Any, Any]
    block: Memory
    offset: int
    counted: bool = True
    mine: bool = False

    @property
    def cells(self) -> slice:
        return slice(self.offset, self.offset + self.value.size)


@dataclass
class Place:
    """Where an array is to be made."""

    block: Memory
    offset: int
    shape: tuple[int, ...]


@dataclass
class Trace:
    """What one index of a with-loop has read and written: (block, cell)."""

    reads: set[tuple[int, int]] = field(default_factory=set)
    writes: set[tuple[int, int]] = field(default_factory=set)


class Heap:
    """Blocks. `traces`: what indices of with-loops in progress have read and written, inner ones last."""

    def __init__(self) -> None:
        self.numbers = count()
        self.blocks: list[Memory] = []
        self.traces: list[Trace] = []

    def new(self, shape: Sequence[int], dtype: np.dtype[Any]) -> Memory:
        size = prod(shape)
        made = Memory(next(self.numbers), np.zeros(size, dtype), np.zeros(size, bool))
        self.blocks.append(made)
        return made

    def read(self, a: Lying, at: slice | None = None) -> None:
        """All that is read of an array: it has to be its value."""
        cells = range(a.value.size)[at] if at is not None else range(a.value.size)
        if not len(cells):
            return
        first, end = a.offset + cells[0], a.offset + cells[-1] + 1
        if a.block.holders <= 0:
            raise Fault(f"block {a.block.number} is read, and dead")
        if end > a.block.cells.size or not a.block.written[first:end].all():
            raise Fault(f"block {a.block.number} is read where nobody has written")
        value = a.value.reshape(-1)[cells[0] : cells[-1] + 1]
        if not _same(a.block.cells[first:end], value):
            raise Fault(f"block {a.block.number} is read at {first} to {end} where it has been overwritten")
        for t in self.traces:
            t.reads.update((a.block.number, x) for x in range(first, end))

    def write(self, block: Memory, offset: int, value: Any) -> None:
        cells = np.asarray(value, block.cells.dtype).reshape(-1)
        if not cells.size:
            return
        if block.kept or block.holders <= 0:
            raise Fault(f"block {block.number} is written, and {'the caller keeps it' if block.kept else 'is dead'}")
        if offset < 0 or offset + cells.size > block.cells.size:
            raise Fault(f"block {block.number} is written beyond its end")
        block.cells[offset : offset + cells.size] = cells
        block.written[offset : offset + cells.size] = True
        for t in self.traces:
            t.writes.update((block.number, x) for x in range(offset, offset + cells.size))

    def retain(self, a: Lying) -> None:
        a.block.holders += a.counted
        a.mine = False

    def release(self, a: Lying) -> None:
        a.block.holders -= a.counted
        if a.block.holders < 0:
            raise Fault(f"block {a.block.number} is given up twice")

    def fresh(self, value: np.ndarray[Any, Any]) -> Lying:
        """An array in a block of its own, written."""
        block = self.new(value.shape, value.dtype)
        self.write(block, 0, value)
        return Lying(value, block, 0, mine=True)

    def at(self, place: Place, value: np.ndarray[Any, Any]) -> Lying:
        """An array that is in a place."""
        return Lying(value, place.block, place.offset, counted=False)

    def placed(self, a: Lying, place: Place) -> Lying:
        """An array in a place, where it may be changed; copied there unless it is there."""
        if (a.block, a.offset) != (place.block, place.offset) or a.value.size != prod(place.shape):
            self.read(a)
            self.write(place.block, place.offset, a.value)
        return Lying(a.value, place.block, place.offset, counted=False, mine=True)

    def owned(self, a: Lying) -> Lying:
        """An array that may be changed, of one whose reference is given up."""
        if a.mine or (a.counted and a.block.holders == 1):
            return replace_lying(a, mine=True)
        self.read(a)
        made = self.fresh(a.value)
        self.release(a)
        return made

    def made(self, value: np.ndarray[Any, Any], place: Place | None) -> Lying:
        """A new array, in a place if it has one."""
        if place is None:
            return self.fresh(value)
        self.write(place.block, place.offset, value)
        return self.at(place, value)

    def built(self, a: Lying, place: Place) -> Lying:
        """An array that is to lie in a place: copied there unless it does."""
        if (a.block, a.offset) != (place.block, place.offset):
            self.read(a)
            self.write(place.block, place.offset, a.value)
            self.release(a)
        return self.at(place, a.value)


def replace_lying(a: Lying, **changes: Any) -> Lying:
    return Lying(
        **{"value": a.value, "block": a.block, "offset": a.offset, "counted": a.counted, "mine": a.mine, **changes}
    )


def _same(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    return bool((a.view(np.uint8) == np.ascontiguousarray(b).view(np.uint8)).all())

"""Arrays that grow where they lie: `a ++ b` where one of the two is given up, and its memory has room for the other.

In: two arrays, and of each whether nobody else holds it (`ownership`). Out: their concatenation along the first axis,
an array that nobody else holds either. n appends, or prepends, move O(n) elements in all.

What an array is a view of may be larger than the array: a `Keeper`, which is memory with room. Blocks that compiled
code has made are such as well (`jit/host/native`), so an array can grow by turns here and there. Of a keeper whose
array nobody else holds, that array may use all. Where it does not do, the elements move to another one, with room for
about half as many again where the array grows, or on both sides if it has room on the other one already: an array then
holds less than twice its bytes, and room costs memory only once it is used, since nobody has touched it. An array so
small that to copy it takes less than to see to this is copied; so is one that grows by half or more at once.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from sacpy.interp import memory
from sacpy.interp.errors import Fault
from sacpy.interp.runtime.structure import concatenated, longest

ndarray = np.ndarray
Array = Any
FEW = 2048  # bytes that are copied sooner than anything else is done
LITTLE = 4096  # bytes of memory that may be mostly room
ALIGNED = 64


class Keeper:
    """Memory that arrays are views of, with room."""

    __slots__ = ()

    def start(self) -> int:
        """The address of its first byte."""
        raise NotImplementedError

    def capacity(self) -> int:
        """Its bytes."""
        raise NotImplementedError

    def window(self, shape: tuple[int, ...], dtype: np.dtype[Any], offset: int, like: Array) -> Array:
        """An array of these bytes, which keeps them alive. `offset`: in bytes, a multiple of the dtype's alignment;
        `like`: an array that has been of these bytes, if there is one."""
        raise NotImplementedError

    def larger(self, size: int) -> Keeper:
        """Another one of the kind, of at least so many bytes. Raises MemoryError."""
        raise NotImplementedError


class Room(ndarray, Keeper):
    """Memory of NumPy's."""

    address: int

    def start(self) -> int:
        return self.address

    def capacity(self) -> int:
        return self.nbytes

    def window(self, shape: tuple[int, ...], dtype: np.dtype[Any], offset: int, like: Array) -> Array:
        return ndarray(shape, dtype, self, offset)

    def larger(self, size: int) -> Keeper:
        return room(size)


def room(size: int) -> Room:
    """New memory of NumPy's."""
    made = Room((size,), np.uint8)
    made.address = address_of()(made)
    return made


@functools.cache
def address_of() -> Callable[[Any], int]:
    """What gives the address of an array's elements. NumPy's way takes most of a microsecond; so it is read out of the
    C structure, whose first field after the object's head it is, where that can be seen to work."""
    word, head = ctypes.c_size_t.from_address, object.__basicsize__
    for probe in (np.zeros(3), np.zeros((2, 2), bool)[1:], np.zeros(0, np.int32)):
        if sys.implementation.name != "cpython" or word(id(probe) + head).value != probe.__array_interface__["data"][0]:
            return lambda array: int(array.__array_interface__["data"][0])
    return lambda array: word(id(array) + head).value


def keeper_of(array: Array) -> Keeper | None:
    """The memory with room that an array is a view of, if it is."""
    base = array.base
    if type(base) is ndarray:  # which other arrays show parts of
        base = base.base
    return base if isinstance(base, Keeper) else None


def grown(a: Array, b: Array, given: tuple[bool, bool]) -> Array:
    """a, then b, along the first axis; the other extents are the same. `given`: which of the two nobody else holds.
    Raises a Fault if the extent is too large for an int, or there is no room."""
    total = a.nbytes + b.nbytes
    first = given[0] and not (given[1] and b.nbytes > a.nbytes)
    kept, added = (a, b) if first else (b, a)
    if total <= FEW or 2 * added.nbytes > kept.nbytes or not kept.flags.c_contiguous:
        memory.room(total)
        return concatenated((a, b), 0)
    rows, front = len(a) + len(b), 0 if first else added.nbytes
    longest(rows)
    shape = (rows, *kept.shape[1:])
    keeper, other_side = keeper_of(kept), 0
    if keeper is not None:
        offset = address_of()(kept) - front - keeper.start()
        size = keeper.capacity()
        other_side = offset if first else size - offset - total
        if offset >= 0 and offset + total <= size <= 2 * total + LITTLE:
            memory.room(added.nbytes)
            result = keeper.window(shape, kept.dtype, offset, kept)
            result[slice(len(a), None) if first else slice(len(a))] = added
            return result
    keeper = _larger(keeper, total, kept.nbytes // 2 + kept.nbytes // 16)
    room_left = keeper.capacity() - total
    if other_side > kept.nbytes // 16:  # it grows on both
        room_left //= 2
        first = False
    offset = 0 if first else room_left & -ALIGNED
    result = keeper.window(shape, kept.dtype, offset, kept)
    result[: len(a)] = a
    result[len(a) :] = b
    return result


def _larger(keeper: Keeper | None, total: int, spare: int) -> Keeper:
    """Memory with room, or where there is not enough for that, without. Raises a Fault if there is not enough at
    all."""
    try:
        memory.room(total + spare)
    except Fault:
        memory.room(total)
        spare = 0
    return room(total + spare) if keeper is None else keeper.larger(total + spare)

"""The elements of arrays on the host, on the device or on both, and what an engine may have of them.

In: memory on the host, or a block on the device. Out: a `Storage`, which arrays share; `Transfers` and `Account` count.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sacpy.interp.values import dtype_of
from sacpy.jit.device.machine import Array, Block
from sacpy.nodes import Record, field

if TYPE_CHECKING:
    from sacpy.jit.device.memory import DeviceArray, Memory


class Transfers(Record):
    """What moved so far: bytes and how often, in to the device and out of it; blocks allocated anew, and blocks used
    again; arrays that had to make room."""

    bytes_in: int = 0
    times_in: int = 0
    bytes_out: int = 0
    times_out: int = 0
    allocated: int = 0
    reused: int = 0
    spilled: int = 0


class Account(Record):
    """What one user of a memory may take, and what happens on his behalf: `most` bytes, None for what the machine has;
    what moved; `notes`: what is worth telling him; `word`: not 0 while what he runs is to end."""

    most: int | None = None
    transfers: Transfers = field(default_factory=Transfers)
    notes: list[str] = field(default_factory=list)
    word: ctypes.c_int64 = field(default_factory=ctypes.c_int64)
    stop_address: int = field(init=False)  # where kernels may look that up

    def __post_init__(self) -> None:
        self.stop_address = ctypes.addressof(self.word)

    @property
    def stopped(self) -> bool:
        """Whether what he runs is to end."""
        return bool(self.word.value)

    def note(self, text: str) -> None:
        """Notes something, once."""
        if text not in self.notes:
            self.notes.append(text)


class Fill(Record):
    """Elements that are all the same: `value`; `there` makes an array of them on the device."""

    value: Any
    there: Callable[[], DeviceArray]


class Storage:
    """The elements of an array, or of several that share them. `host`: those elements on the host, flat, or None;
    `block`: on the device, or None; at least one of them holds the values (a new one: neither yet). `fill`: what they
    are, until somebody needs them somewhere. `looked_at`: by how
    many arrays. `foreign`: the block is somebody else's, and is neither freed nor written; `lender`: the stream that he
    uses it in, None if that is not known; `lent`: others may look at the block, which stays where it is as long as the
    storage lives; `used`: when it was used last, by the memory's clock."""

    __slots__ = (
        "__weakref__",
        "base",
        "block",
        "fill",
        "foreign",
        "host",
        "lender",
        "lent",
        "looked_at",
        "memory",
        "reads",
        "size",
        "used",
    )

    def __init__(
        self,
        memory: Memory,
        base: str,
        size: int,
        host: Array | None = None,
        block: Block | None = None,
        foreign: bool = False,
        lender: int | None = None,
        fill: Fill | None = None,
    ) -> None:
        self.memory = memory
        self.base = base
        self.size = size
        self.host = host
        self.block = block
        self.foreign = foreign
        self.lender = lender
        self.fill = fill
        self.lent = False
        self.looked_at = 0
        self.reads = 0
        self.used = 0

    @property
    def bytes(self) -> int:
        return self.size * int(dtype_of(self.base).itemsize)

    def __del__(self) -> None:
        if self.block is not None:
            self.memory.release(self)

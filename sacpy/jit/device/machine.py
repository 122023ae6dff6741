"""What a device program asks of the machine that runs its kernels.

In: sizes, addresses, host arrays, kernels. Out: blocks of memory, and effects on them. Everything is ordered: what is
asked for later sees the effects of what was asked for before, though it may return earlier; `synchronise` waits, and is
where a check that failed inside a kernel is reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from sacpy.jit.ir.kernel import Kernel
from sacpy.nodes import Node, field
from sacpy.withloop.devices import DeviceLimits

Array = np.ndarray[Any, Any]
Extents = Sequence[int]


class DeviceFull(Exception):
    """The device has no room for an array. `size`: the bytes that were asked for."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


class DeviceFailure(Exception):
    """The device, or its driver, does not do what it was asked; `reason` in words that a user understands."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Block(Node, eq=False):
    """Memory of a machine: where it begins, and its size in bytes. `handle`: what the machine knows it by; it keeps the
    memory alive."""

    address: int
    size: int
    handle: Any = field(default=None, repr=False)


Ready = Any  # a kernel that a machine has compiled and loaded; only that machine looks into it


class Machine(Protocol):
    """A device. Addresses are bytes; extents of grids and blocks are written z, y, x. `stop`: the address of a word of
    this process, 0 for none: once it is set, loops end that may not end otherwise, where the machine can look at it (a
    GPU cannot)."""

    stop: int

    @property
    def name(self) -> str:
        """What it is called in messages."""
        ...

    @property
    def limits(self) -> DeviceLimits: ...

    @property
    def interface(self) -> tuple[int, int]:
        """DLPack's device type and number: (1, 0) is the host, (2, n) a GPU."""
        ...

    def allocate(self, size: int) -> Block:
        """So many bytes, not initialised. Raises `DeviceFull`."""
        ...

    def free(self, block: Block) -> None: ...

    def copy_in(self, address: int, source: Array) -> None:
        """Writes a contiguous host array to the device. The array may be changed as soon as this returns."""
        ...

    def copy_out(self, target: Array, address: int) -> None:
        """Reads into a contiguous host array. Waits; raises `CheckFailed` as `synchronise` does."""
        ...

    def copy(self, target: int, source: int, size: int) -> None:
        """Copies bytes on the device; the two do not overlap."""
        ...

    def prepare(self, kernel: Kernel) -> Ready:
        """Compiles and loads a kernel; what has been seen before is only looked up. Raises `Unsupported`."""
        ...

    def launch(self, ready: Ready, grid: Extents, block: Extents, args: Sequence[int | float | bool]) -> None:
        """Runs a kernel. `args`: one per parameter, for an array its address."""
        ...

    @property
    def stream(self) -> int:
        """The stream that everything is ordered in, as a number that other libraries understand; 0 where there are no
        streams."""
        ...

    def wait_for(self, stream: int) -> None:
        """What is asked for from here on waits for what somebody else has put into his stream (DLPack's numbers: 1 and
        2 are the default streams)."""
        ...

    def let_wait(self, stream: int) -> None:
        """What somebody else puts into his stream from here on waits for what was asked for here."""
        ...

    def settle(self) -> None:
        """Waits if a kernel was launched in which a check may fail, and raises `CheckFailed` if one did; otherwise
        returns at once."""
        ...

    def synchronise(self) -> None:
        """Waits for everything. Raises `CheckFailed` if a check failed in a kernel since the last time."""
        ...

"""What a launch needs, as plain data.

In: nothing. Out: the classes that kernels are handed on with: `Plan` (what one with-loop does on concrete bounds), its
`Launch`es and `Buffer`s, and `Refused`.
"""

from __future__ import annotations

import math

from sacpy.jit.ir.kernel import Kernel
from sacpy.nodes import Node, field
from sacpy.withloop.chains import Mapping
from sacpy.withloop.devices import DEVICES, DeviceLimits


class Refused(Exception):
    """A with-loop that cannot run on a GPU; `reason` says why, to a user, and goes on from "it stays on the CPU: "."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


ONE_THREAD = 1 << 62  # as `row_length`: threads never share the fold of a cell


class KernelOptions(Node):
    """`strategy`: of `withloop.strategies`, for what no pragma maps; "auto" also lets threads share folds. `merge`:
    whether pieces of one with-loop may share a launch. `fold_threads`: of a block that folds, a power of two.
    `row_length`: indices that the fold of a cell has at least for threads to share it."""

    device: DeviceLimits = field(default_factory=lambda: DEVICES["sm_90"])
    strategy: str = "auto"
    merge: bool = True
    fold_threads: int = 256
    row_length: int = 64


class Buffer(Node):
    """An array that launches write: dense, row-major, its elements unset before. `scalar`: the value of a graph's
    scalar, in an array of one element."""

    name: str
    base: str
    extents: tuple[int, ...]
    scalar: bool = False

    @property
    def size(self) -> int:
        """How many elements it has."""
        return math.prod(self.extents)


class Launch(Node):
    """One launch. `grid` and `block`: z, y, x. `arguments`: one for each of the kernel's parameters: the name of a
    value of the with-loop's function or of a buffer of the plan, or a number (signed, in the kernel's word size).

    `scratch`: for each of the kernel's arrays in scratch memory, in the order of their `Allocate`, how many elements
    each thread of the launch has. `purpose`: "partition", "default", "copy", "pieces" (several of those in one launch),
    "fold", "partials", "total", "rows", "joined", "block" (a user's program of one). `partition`: the number of the
    partition, counted from 0; None for defaults and merged pieces. `mapping` and `reasons` say how index and thread
    belong together, and why, for those who look."""

    kernel: Kernel
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arguments: tuple[str | int, ...]
    purpose: str
    partition: int | None = None
    mapping: Mapping | None = None
    reasons: tuple[str, ...] = ()
    scratch: tuple[Buffer, ...] = ()

    @property
    def threads(self) -> int:
        """How many threads are launched."""
        return math.prod(self.grid) * math.prod(self.block)

    @property
    def laid_out(self) -> Mapping | None:
        """The mapping, if it says which thread has which index; else it only says how indices are recovered from
        numbers, which threads take as the reasons say."""
        m = self.mapping
        return m if m is not None and (m.grid, m.block) == (self.grid, self.block) else None


class Plan(Node):
    """What a with-loop does on concrete bounds: allocate `results` (named as the with-loop's targets) and `temporaries`
    (which nobody needs after), then run `launches` one after the other."""

    results: tuple[Buffer, ...]
    temporaries: tuple[Buffer, ...]
    launches: tuple[Launch, ...]

"""The emulator as a machine: kernels run on the host, under the limits of a device that need not be there.

In: what `machine.Machine` asks. Out: the effects, in memory of this process that only kernels and copies touch. In
check mode every access is looked at, and a finding is an error of whoever made the kernel (`Findings`); new memory is
filled with a pattern, so that what nobody has set is seen.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from sacpy.base.digests import new_digest
from sacpy.base.plain import Packing, Unpacked
from sacpy.interp.values import dtype_of
from sacpy.jit.cache import Cache
from sacpy.jit.device.machine import Array, Block, DeviceFull, Extents
from sacpy.jit.emission.emulator import ORDERS, Emulated, compile_kernel
from sacpy.jit.emission.lowering import Site
from sacpy.jit.failures import CheckFailed
from sacpy.jit.fingerprint import platform_digest
from sacpy.jit.ir.graph import ArrayType, Const
from sacpy.jit.ir.kernel import Kernel
from sacpy.jit.ir.kernel_printer import print_kernel
from sacpy.withloop.devices import DeviceLimits

UNSET = 0xA5
WIDE = 1 << 16  # threads of a launch that are spread over the host's
_PACKING = Packing(Site)


class Findings(Exception):
    """Check mode found faults in a kernel: a defect of the compiler."""


class EmulatorMachine:
    """`check`: accesses are checked. `threads`: of the host, for large launches. `memory`: the bytes that the device is
    to have, None for any. `cache`: where compiled kernels are kept. `order`: one of `ORDERS`, in which blocks run."""

    interface = (1, 0)
    stream = 0

    def __init__(
        self,
        limits: DeviceLimits,
        *,
        check: bool = False,
        threads: int = 1,
        memory: int | None = None,
        cache: Cache | None = None,
        order: str = ORDERS[0],
    ) -> None:
        self.order = order
        self.limits = limits
        self.name = f"the emulated {limits.name}"
        self.check = check
        self.threads = threads
        self.memory = memory
        self.launches = 0
        self.stop = 0
        self.cache = Cache(None) if cache is None else cache
        self._used = 0
        # by the kernel's text: two are equal if their names are, types are no part of that
        self._loaded: dict[str, Emulated] = {}
        self._failed = False

    # ---- memory

    def allocate(self, size: int) -> Block:
        """So many bytes of this process."""
        if self.memory is not None and self._used + size > self.memory:
            raise DeviceFull(size)
        try:
            memory = np.empty(size + 64, np.uint8)
        except MemoryError:
            raise DeviceFull(size) from None
        if self.check:
            memory.fill(UNSET)
        self._used += size
        address = int(memory.ctypes.data)
        return Block(address + -address % 64, size, memory)

    def free(self, block: Block) -> None:
        """Gives memory back."""
        self._used -= block.size

    def copy_in(self, address: int, source: Array) -> None:
        """Host to device."""
        ctypes.memmove(address, source.ctypes.data, source.nbytes)

    def copy_out(self, target: Array, address: int) -> None:
        """Device to host."""
        self.synchronise()
        ctypes.memmove(target.ctypes.data, address, target.nbytes)

    def copy(self, target: int, source: int, size: int) -> None:
        """Device to device."""
        ctypes.memmove(target, source, size)

    # ---- kernels

    @property
    def loaded(self) -> tuple[Emulated, ...]:
        """The kernels so far."""
        return tuple(self._loaded.values())

    def prepare(self, kernel: Kernel) -> Emulated:
        """A kernel compiled for the host."""
        text = print_kernel(kernel)
        known = self._loaded.get(text)
        if known is None:
            known = self._loaded[text] = Emulated(kernel, check=self.check, made=self._made(kernel, text))
        return known

    def _made(self, kernel: Kernel, text: str) -> tuple[bytes, tuple[Site, ...]]:
        """The kernel's machine code, compiled now or out of the cache."""
        name = new_digest(f"emulated\n{platform_digest()}\n{self.check}\n{text}".encode()).hexdigest()[:40]
        kept = self.cache.read(name)
        if kept is not None:
            try:
                found: tuple[bytes, tuple[Site, ...]] = _PACKING.unpacked(kept)
            except Unpacked:
                self.cache.remove(name)
            else:
                return found
        made = compile_kernel(kernel, check=self.check)
        self.cache.write(name, _PACKING.packed(made))
        return made

    def launch(self, ready: Emulated, grid: Extents, block: Extents, args: Sequence[int | float | bool]) -> None:
        """Runs a kernel. Grid and block follow from the arguments."""
        kernel = ready.kernel
        values = {p.name: a for p, a in zip(kernel.params, args)}
        full: list[Any] = []
        for p, a in zip(kernel.params, args):
            if isinstance(p.type, ArrayType):
                extents = tuple(int(e.value if isinstance(e, Const) else values[e.name]) for e in p.type.extents)
                full.append(_seen(int(a), extents, dtype_of(p.base)))
            else:
                full.append(a)
        if self.check:
            _need_apart(kernel, full)
        wide = grid[0] * grid[1] * grid[2] * block[0] * block[1] * block[2] >= WIDE
        outcome = ready.launch(full, threads=self.threads if wide else 1, stop=self.stop, order=self.order)
        self.launches += 1
        if outcome.findings:
            raise Findings("\n".join(map(str, outcome.findings)))
        self._failed = self._failed or outcome.failed is not None

    def wait_for(self, stream: int) -> None:
        """Nothing: the emulator is done whenever it returns."""

    def let_wait(self, stream: int) -> None:
        """Nothing, likewise."""

    def settle(self) -> None:
        """As `synchronise`: everything is done."""
        self.synchronise()

    def synchronise(self) -> None:
        """Raises `CheckFailed` if a check failed in a kernel since the last time."""
        if self._failed:
            self._failed = False
            raise CheckFailed


def _need_apart(kernel: Kernel, args: Sequence[Any]) -> None:
    """Raises `Findings` where an array that the kernel writes shares memory with another parameter: compilers may take
    it that none does."""
    written = {w.array.name for w in kernel.writes}
    arrays = [(p.name, a) for p, a in zip(kernel.params, args) if isinstance(p.type, ArrayType)]
    for at, (name, a) in enumerate(arrays):
        for other, c in arrays[at + 1 :]:
            if {name, other} & written and np.may_share_memory(a, c):
                raise Findings(
                    f"{kernel.name}: the parameters {name} and {other} share memory, and one of them is written"
                )


def _seen(address: int, extents: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Memory as an array of NumPy."""
    size = int(np.prod(extents, dtype=np.int64)) * int(dtype.itemsize)
    if not size:
        return np.empty(extents, dtype)
    found: Array = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address)).view(dtype).reshape(extents)
    return found

"""A stand-in for cuda.core that runs nothing on a GPU: its memory is the host's, its streams do everything at once, and
it notes what it is asked.

It has what `device.cuda` uses, under the names and with the arguments that cuda.core 1.2 declares in its stubs. A
launch is handed to `kernels`: by the name of the function, a Python function of grid, block and arguments. What memory
is and what a launch does are methods of their own, which `tests.ptx.driver` overrides: there, kernels are executed.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from enum import Enum
from types import SimpleNamespace
from typing import Any

import numpy as np


class CUDAError(Exception):
    """What cuda.core raises for errors of the driver."""


class Attributes:
    """Of a kernel: as in cuda.core, they can be read only."""

    num_regs, shared_size_bytes, local_size_bytes = 32, 0, 8

    def __init__(self) -> None:
        self._most_shared = 48 << 10

    @property
    def max_dynamic_shared_size_bytes(self) -> int:
        """What a launch may ask for."""
        return self._most_shared


class CUresult(Enum):
    """What the driver says."""

    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1


class FakeDriver:
    """Takes the place of the module cuda.bindings.driver. `most_shared`: bytes that a block may have."""

    CUresult = CUresult
    CUfunction_attribute = SimpleNamespace(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES=8)

    def __init__(self, most_shared: int = 227 << 10) -> None:
        self.most_shared = most_shared

    def cuKernelSetAttribute(self, attribute: int, value: int, kernel: Any, device: int) -> tuple[CUresult]:
        """The kernel may have so much dynamic shared memory."""
        assert attribute == 8 and type(device) is int
        if value > self.most_shared:
            return (CUresult.CUDA_ERROR_INVALID_VALUE,)
        kernel.attributes._most_shared = value
        return (CUresult.CUDA_SUCCESS,)


class FakeCuda:
    """Takes the place of the module cuda.core. `memory`: the bytes of the GPU; `calls`: what was asked, in order;
    `contexts`: the threads in which a device has been made current: elsewhere the driver refuses work."""

    def __init__(
        self, memory: int = 1 << 30, capability: tuple[int, int] = (9, 0), gpus: int = 1, processors: int = 132
    ) -> None:
        self.memory = memory
        self.capability = capability
        self.used = 0
        self.calls: list[tuple[Any, ...]] = []
        self.kernels: dict[str, Callable[..., None]] = {}
        self.contexts: set[int] = set()
        fake = self

        def current() -> None:
            if threading.get_ident() not in fake.contexts:
                raise CUDAError("CUDA_ERROR_INVALID_CONTEXT: invalid device context")

        class Buffer:
            def __init__(self, address: int, size: int, owner: Any, ours: bool) -> None:
                self.handle, self.size, self._owner, self._ours = address, size, owner, ours

            @staticmethod
            def from_handle(ptr: int, size: int, mr: Any = None, owner: Any = None) -> Buffer:
                return Buffer(ptr, size, owner, False)

            def copy_from(self, src: Buffer, *, stream: Stream) -> None:
                assert self.size == src.size
                current()
                fake.calls.append(("copy", src.handle, self.handle, self.size))
                fake.move(self.handle, src.handle, self.size)

            def fill(self, value: int, *, stream: Stream) -> None:
                fake.fill(self.handle, value, self.size)

            def close(self, stream: Stream | None = None) -> None:
                assert self._ours
                fake.used -= self.size
                fake.calls.append(("free", self.size))
                fake.give_back(self.handle)

        class Event:
            def sync(self) -> None:
                fake.calls.append(("event sync",))

        class Stream:
            def __init__(self, number: int) -> None:
                self.number = number

            @staticmethod
            def from_handle(handle: int) -> Stream:
                return Stream(handle)

            def __cuda_stream__(self) -> tuple[int, int]:
                return 0, self.number

            def sync(self) -> None:
                current()
                fake.calls.append(("sync", self.number))

            def record(self) -> Event:
                fake.calls.append(("record", self.number))
                return Event()

            def wait(self, event_or_stream: Event | Stream) -> None:
                current()
                if isinstance(event_or_stream, Stream):
                    event_or_stream.record()
                fake.calls.append(("wait", self.number))

        class Pinned:
            def allocate(self, size: int) -> Buffer:
                memory = np.zeros(size, np.uint8)
                fake.calls.append(("pinned", size))
                return Buffer(memory.ctypes.data, size, memory, False)

        class Device:
            name = "Fake H100"

            def __init__(self, number: int = 0) -> None:
                if number >= gpus:
                    raise CUDAError("CUDA_ERROR_INVALID_DEVICE: invalid device ordinal")
                self.properties = _properties(fake.capability, processors)

            @classmethod
            def get_all_devices(cls) -> tuple[Any, ...]:
                return tuple(cls(n) for n in range(gpus))

            def set_current(self) -> None:
                fake.contexts.add(threading.get_ident())

            def create_stream(self, obj: Any = None) -> Stream:
                return Stream(7000 if obj is None else obj.__cuda_stream__()[1])

            def allocate(self, size: int, *, stream: Stream) -> Buffer:
                if fake.used + size > fake.memory:
                    raise CUDAError("CUDA_ERROR_OUT_OF_MEMORY: out of memory")
                fake.used += size
                fake.calls.append(("allocate", size))
                return Buffer(*fake.take(size), True)

        class Kernel:
            def __init__(self, name: str, code: bytes) -> None:
                self.name, self.code, self.attributes, self.handle = name, code, Attributes(), self

        class ObjectCode:
            def __init__(self, code: bytes) -> None:
                self.code = code

            @staticmethod
            def from_cubin(module: bytes, *, name: str = "") -> ObjectCode:
                fake.calls.append(("load", name))
                return ObjectCode(module)

            @staticmethod
            def from_ptx(module: bytes, *, name: str = "") -> ObjectCode:
                fake.calls.append(("assemble", name))
                return ObjectCode(module)

            def get_kernel(self, name: str) -> Kernel:
                current()
                return Kernel(name, self.code)

        def launch(stream: Stream, config: Any, kernel: str, *args: Any) -> None:
            assert all(isinstance(a, Buffer | ctypes._SimpleCData) or type(a) is int for a in args)
            if any(isinstance(a, ctypes.c_void_p) for a in args):
                raise TypeError("the argument is of unsupported type: <class 'ctypes.c_void_p'>")
            current()
            if config.shmem_size > kernel.attributes.max_dynamic_shared_size_bytes:
                raise CUDAError("CUDA_ERROR_INVALID_VALUE: invalid argument")
            fake.calls.append(("launch", kernel.name, config.grid, config.block, config.shmem_size))
            fake.execute(kernel, config, [a.handle if isinstance(a, Buffer) else a for a in args])

        self.Buffer, self.Stream, self.Device, self.ObjectCode, self.LegacyPinnedMemoryResource, self.launch = (
            Buffer,
            Stream,
            Device,
            ObjectCode,
            Pinned,
            launch,
        )
        self.LaunchConfig = SimpleNamespace
        self.LEGACY_DEFAULT_STREAM, self.PER_THREAD_DEFAULT_STREAM = Stream(1), Stream(2)

    def take(self, size: int) -> tuple[int, int, Any]:
        """Memory of the GPU: the address, the size, and what holds it."""
        memory = np.full(size, 0xA5, np.uint8)
        return memory.ctypes.data, size, memory

    def give_back(self, address: int) -> None:
        """Memory of the GPU is not needed any more."""

    def move(self, target: int, source: int, size: int) -> None:
        """Copies bytes."""
        ctypes.memmove(target, source, size)

    def fill(self, address: int, value: int, size: int) -> None:
        """Sets bytes."""
        ctypes.memset(address, value, size)

    def execute(self, kernel: Any, config: Any, args: list[Any]) -> None:
        """A launch. `args`: addresses as numbers, scalars as C values."""
        self.kernels[kernel.name](config.grid, config.block, [a if type(a) is int else a.value for a in args])

    def asked(self, what: str) -> list[tuple[Any, ...]]:
        """The calls of one kind."""
        return [c for c in self.calls if c[0] == what]


def _properties(capability: tuple[int, int], processors: int) -> SimpleNamespace:
    return SimpleNamespace(
        compute_capability_major=capability[0], compute_capability_minor=capability[1], multiprocessor_count=processors,
        max_threads_per_multiprocessor=2048, max_blocks_per_multiprocessor=32,
        max_shared_memory_per_block_optin=227 << 10, max_shared_memory_per_multiprocessor=228 << 10,
        max_registers_per_multiprocessor=65536, max_threads_per_block=1024,
        max_block_dim_x=1024, max_block_dim_y=1024, max_block_dim_z=64, max_grid_dim_x=2**31 - 1, max_grid_dim_y=65535,
        max_grid_dim_z=65535, warp_size=32,
    )  # fmt: skip

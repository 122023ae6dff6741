"""A GPU as a machine, through cuda.core, which is imported only here, and only when a GPU is to be used.

In: what `machine.Machine` asks. Out: work on the device's primary context, in one stream. Kernels arrive as cubins
(`sacpy.jit.emission`), are loaded once, and are launched with argument objects that are made once per kernel and filled
anew. A check that fails inside a kernel sets a word in memory, which is read when the host waits for the device anyhow.

Large transfers go through two pinned buffers by turns, so that the host fills one while the other is on its way.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from sacpy.base.distribution import extra
from sacpy.jit.device.cubins import Cubin
from sacpy.jit.device.machine import Array, Block, DeviceFailure, DeviceFull, Extents
from sacpy.jit.emission.assemble import Resources
from sacpy.jit.emission.geometry import MOST_STATIC_SHARED, Shapes
from sacpy.jit.failures import CheckFailed
from sacpy.jit.ir.graph import ArrayType
from sacpy.jit.ir.kernel import ALIGNMENT, Check, ForAll, Kernel, block_statements, thread_statements
from sacpy.jit.ir.kernel_printer import print_kernel
from sacpy.nodes import Record, field, replace
from sacpy.withloop.devices import DeviceLimits

PINNED = 4 << 20  # bytes of each of the two pinned buffers
STAGED = 1 << 20  # bytes from which on a transfer goes through them
NEEDED = f"--target cuda needs an NVIDIA GPU with its driver, and packages: {extra('cuda')}"
_SCALARS: dict[str, Any] = {
    "byte": ctypes.c_int8, "short": ctypes.c_int16, "int": ctypes.c_int32, "long": ctypes.c_int64,
    "longlong": ctypes.c_int64, "ubyte": ctypes.c_uint8, "ushort": ctypes.c_uint16, "uint": ctypes.c_uint32,
    "ulong": ctypes.c_uint64, "ulonglong": ctypes.c_uint64, "float": ctypes.c_float, "double": ctypes.c_double,
    "bool": ctypes.c_uint8, "char": ctypes.c_uint8,
}  # fmt: skip


class Loaded(Record):
    """A kernel on the device. `arguments`: objects that hold the values of a launch, filled anew for each one;
    `configs`: launch configurations met so far, by extents and bytes of shared memory; `shapes`: what its launches have
    in common, and `shared` the bytes of shared memory that each of them asks for; None where a launch has to find that
    out, and to allocate; `checks`: there is one in it that may fail; `permitted`: the bytes of shared memory that the
    driver was told it may ask for; `aligned`: the places of the arguments that must be multiples of `ALIGNMENT`;
    `anywhere`: the kernel that takes its place where they are not, once there was need."""

    kernel: Kernel
    cubin: Cubin
    handle: Any
    arguments: tuple[Any, ...]
    shapes: Shapes
    shared: int | None
    checks: bool
    permitted: int = 0
    aligned: tuple[int, ...] = ()
    configs: dict[tuple[tuple[int, ...], tuple[int, ...], int], Any] = field(default_factory=dict)
    anywhere: Loaded | None = None


Assemble = Callable[[Kernel, str], Cubin]  # of an architecture ("sm_90")


class CudaMachine:
    """GPU number `device`. `core`: the module cuda.core; `driver`: the module cuda.bindings.driver, for what the former
    lacks. `assemble` makes cubins. `stream`: an object with `__cuda_stream__`, in which everything is then done; None:
    a stream of its own. Raises `DeviceFailure` where there is no such GPU."""

    def __init__(
        self, device: int = 0, *, assemble: Assemble, core: Any = None, driver: Any = None, stream: Any = None
    ) -> None:
        self._core = _cuda_core() if core is None else core
        self._bindings = driver
        with _Failures():
            self._device = self._core.Device(device)
            self._device.set_current()
            self._stream = self._device.create_stream(stream)
        self._assemble = assemble
        self.limits = _limits(self._device)
        self.name = str(self._device.name)
        self.interface = (2, device)
        self.stop = 0
        # by the kernel's text: two are equal if their names are, types are no part of that
        self._loaded: dict[str, Loaded] = {}
        self._pinned: list[tuple[Any, Array, Any]] = []
        self._streams: dict[int, Any] = {}
        with self._driver():
            self._word = self._device.allocate(8, stream=self._stream)  # what failed; how many blocks have come
            self._word.fill(0, stream=self._stream)
        self._found = np.zeros(1, np.int32)
        self._unsettled = False

    def _driver(self) -> _Failures:
        """Around calls of the driver: they go to this device, from whatever thread they come and whatever other
        libraries have made current there; what it complains about is said in words."""
        return _Failures(self._device)

    @property
    def stream(self) -> int:
        """The address of the stream that all work is ordered in."""
        return int(self._stream.__cuda_stream__()[1])

    def wait_for(self, stream: int) -> None:
        """What comes waits for what is in another stream."""
        with self._driver():
            self._stream.wait(self._other(stream))

    def let_wait(self, stream: int) -> None:
        """What comes in another stream waits for what is in this one."""
        with self._driver():
            self._other(stream).wait(self._stream)

    def _other(self, stream: int) -> Any:
        """Somebody else's stream by its number: 1 is the default stream, 2 that of the thread, any other one an
        address."""
        if stream in (0, 1):
            return self._core.LEGACY_DEFAULT_STREAM
        if stream == 2:
            return self._core.PER_THREAD_DEFAULT_STREAM
        if stream not in self._streams:
            self._streams[stream] = self._core.Stream.from_handle(stream)
        return self._streams[stream]

    # ---- memory

    def allocate(self, size: int) -> Block:
        """So many bytes, from the driver's pool, in the order of the stream. Raises `DeviceFull`."""
        try:
            with self._driver():
                buffer = self._device.allocate(size, stream=self._stream)
        except DeviceFailure as failure:
            # cuda.core has said it in several ways
            if "OUT_OF_MEMORY" in failure.reason or "allocate" in failure.reason:
                raise DeviceFull(size) from failure
            raise
        return Block(int(buffer.handle), size, buffer)

    def free(self, block: Block) -> None:
        """Gives memory back, in the order of the stream."""
        with self._driver():
            block.handle.close(self._stream)

    def copy_in(self, address: int, source: Array) -> None:
        """Host to device. Returns when the host array has been read."""
        source = source.reshape(-1).view(np.uint8)
        with self._driver():
            if source.size < STAGED:
                self._between(address, source.ctypes.data, source.size, source)
                self._stream.sync()
                return
            for part, turn in _parts(source.size):
                buffer, memory, done = self._staging(turn)
                if done is not None:
                    done.sync()
                size = part.stop - part.start
                memory[:size] = source[part]
                self._between(address + part.start, int(buffer.handle), size, buffer)
                self._pinned[turn] = (buffer, memory, self._stream.record())

    def copy_out(self, target: Array, address: int) -> None:
        """Device to host. Waits, and reports what failed before."""
        flat = target.reshape(-1).view(np.uint8)
        with self._driver():
            if flat.size < STAGED:
                self._between(flat.ctypes.data, address, flat.size, flat)
            else:
                self._staged_out(flat, address)
            self._wait()

    def copy(self, target: int, source: int, size: int) -> None:
        """Device to device."""
        with self._driver():
            self._between(target, source, size, None)

    def _between(self, target: int, source: int, size: int, owner: Any) -> None:
        """A copy in the stream between any two addresses that the device can reach."""
        make = self._core.Buffer.from_handle
        make(target, size, owner=owner).copy_from(make(source, size, owner=owner), stream=self._stream)

    def _staging(self, turn: int) -> tuple[Any, Array, Any]:
        """A pinned buffer, its memory seen by NumPy, and the event after which it may be used again."""
        while len(self._pinned) <= turn:
            buffer = self._core.LegacyPinnedMemoryResource().allocate(PINNED)
            memory = np.ctypeslib.as_array((ctypes.c_uint8 * PINNED).from_address(int(buffer.handle)))
            self._pinned.append((buffer, memory, None))
        return self._pinned[turn]

    def _staged_out(self, flat: Array, address: int) -> None:
        waiting: list[tuple[slice, Array, Any]] = []
        for part, turn in _parts(flat.size):
            if len(waiting) == 2:
                _collect(flat, waiting.pop(0))
            buffer, memory, done = self._staging(turn)
            if done is not None:
                done.sync()
            self._between(int(buffer.handle), address + part.start, part.stop - part.start, buffer)
            event = self._stream.record()
            self._pinned[turn] = (buffer, memory, event)
            waiting.append((part, memory, event))
        for one in waiting:
            _collect(flat, one)

    # ---- kernels

    def prepare(self, kernel: Kernel) -> Loaded:
        """A kernel on the device; assembled and loaded when it is first asked for."""
        text = print_kernel(kernel)
        known = self._loaded.get(text)
        if known is None:
            made = self._assemble(kernel, self.limits.name)
            with self._driver():
                load = self._core.ObjectCode.from_ptx if made.is_ptx else self._core.ObjectCode.from_cubin
                handle = load(made.code, name=made.entry).get_kernel(made.entry)
                if made.is_ptx:
                    made = replace(made, resources=_resources(handle.attributes))
            arguments = tuple(
                ctypes.c_uint64() if isinstance(p.type, ArrayType) else _SCALARS[p.base]() for p in kernel.params
            )
            shapes = Shapes(kernel)
            known = self._loaded[text] = Loaded(
                kernel,
                made,
                handle,
                arguments,
                shapes,
                shapes.fixed,
                _may_fail(kernel),
                aligned=tuple(n for n, p in enumerate(kernel.params) if isinstance(p.type, ArrayType))
                if kernel.aligned
                else (),
            )
        return known

    def launch(self, ready: Loaded, grid: Extents, block: Extents, args: Sequence[int | float | bool]) -> None:
        """Puts a launch into the stream. Costs a few microseconds: only values are filled in. Where an array of another
        library's begins anywhere, a kernel that expects less takes the place of one for aligned arrays."""
        for n in ready.aligned:
            if int(args[n]) % ALIGNMENT:
                if ready.anywhere is None:
                    ready.anywhere = self.prepare(replace(ready.kernel, aligned=False))
                ready = ready.anywhere
                break
        for place, value in zip(ready.arguments, args):
            place.value = value
        if ready.shared is not None:
            self._launched(ready, grid, block, ready.shared, ())
        else:
            shape, scratch = ready.shapes.launch(args), list[Block]()
            try:
                for size in shape.scratch_bytes:
                    scratch.append(self.allocate(max(size, 1)))
                self._launched(ready, grid, block, shape.dynamic_bytes, scratch)
            finally:
                for b in scratch:
                    self.free(b)
        self._unsettled = self._unsettled or ready.checks

    def _launched(self, ready: Loaded, grid: Extents, block: Extents, shared: int, scratch: Sequence[Block]) -> None:
        """The launch itself, with its memory at hand. `shared`: bytes of the block that it asks for."""
        at: Any = (grid, block, shared)  # both are tuples
        config = ready.configs.get(at)
        if config is None:
            self._permit(ready, shared)
            config = ready.configs[at] = self._core.LaunchConfig(grid=at[0][::-1], block=at[1][::-1], shmem_size=shared)
        try:
            self._device.set_current()
            self._core.launch(
                self._stream, config, ready.handle, *ready.arguments, *[b.handle for b in scratch], self._word
            )
        except Exception as error:
            raise _in_words(error) from error

    def _permit(self, ready: Loaded, shared: int) -> None:
        """Lets a kernel have more shared memory than any may have without being asked. For this cuda.core has no
        words."""
        if shared > max(ready.permitted, MOST_STATIC_SHARED):
            with self._driver():
                driver = self._bindings = self._bindings or import_module("cuda.bindings.driver")
                (status,) = driver.cuKernelSetAttribute(
                    driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                    shared,
                    ready.handle.handle,
                    self.interface[1],
                )
                if status != driver.CUresult.CUDA_SUCCESS:
                    raise DeviceFailure(
                        f"the GPU's driver gives a block no {shared} bytes of shared memory: {status.name}"
                    )
            ready.permitted = shared

    def settle(self) -> None:
        """Waits where a check may have failed."""
        if self._unsettled:
            self.synchronise()

    def synchronise(self) -> None:
        """Waits. Raises `CheckFailed` if a check failed in a kernel since the last time."""
        with self._driver():
            self._wait()

    def _wait(self) -> None:
        """The same, inside of what tells failures in words."""
        if not self._unsettled:
            self._stream.sync()
            return
        self._between(self._found.ctypes.data, int(self._word.handle), 4, self._found)
        self._stream.sync()
        site = int(self._found[0]) - 1
        if site >= 0:
            self._found[0] = 0
            self._word.fill(0, stream=self._stream)
        self._unsettled = False
        if site >= 0:
            raise CheckFailed(site)


def _resources(told: Any) -> Resources:
    """What the driver says of a kernel that it has assembled itself. It does not tell spills from other local
    memory."""
    registers, shared, local = (
        int(found() if callable(found) else found)
        for found in (told.num_regs, told.shared_size_bytes, told.local_size_bytes)
    )
    return Resources(registers, shared, local, 0, 0)


def _may_fail(kernel: Kernel) -> bool:
    """Whether there is a check in a kernel."""
    phases = (s for s in block_statements(kernel.body) if isinstance(s, ForAll))
    return any(isinstance(s, Check) for phase in phases for s in thread_statements(phase.body))


def _collect(flat: Array, waiting: tuple[slice, Array, Any]) -> None:
    part, memory, event = waiting
    event.sync()
    flat[part] = memory[: part.stop - part.start]


def _parts(size: int) -> Iterator[tuple[slice, int]]:
    """Pieces of a transfer, each with the number of the pinned buffer that it goes through."""
    for k, start in enumerate(range(0, size, PINNED)):
        yield slice(start, min(size, start + PINNED)), k % 2


def _cuda_core() -> Any:
    try:
        import cuda.core
    except ImportError as error:
        raise DeviceFailure(f"{NEEDED}; Python finds no package {error.name or 'cuda.core'}") from error
    return cuda.core


class _Failures:
    """What the driver complains about inside, in words. `device`: is made current first, if there is one yet. No
    generator: there are several around each call."""

    __slots__ = ("device",)

    def __init__(self, device: Any = None) -> None:
        self.device = device

    def __enter__(self) -> None:
        if self.device is not None:
            try:
                self.device.set_current()
            except Exception as error:
                raise _in_words(error) from error

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if not isinstance(error, Exception) or isinstance(error, CheckFailed | DeviceFailure | DeviceFull):
            return
        if isinstance(error, MemoryError):
            raise DeviceFailure("OUT_OF_MEMORY") from error
        raise _in_words(error) from error


def _in_words(error: Exception) -> DeviceFailure:
    # the first is of cuda.pathfinder, the other of cuda.bindings
    if type(error).__name__ == "DynamicLibNotFoundError" or "libcuda.so" in str(error):
        return DeviceFailure(f"{NEEDED}; the driver is missing")
    return DeviceFailure(f"the GPU's driver says: {str(error) or type(error).__name__}")


def _limits(device: Any) -> DeviceLimits:
    """What the driver reports of a device."""
    p = device.properties
    name = f"sm_{p.compute_capability_major}{p.compute_capability_minor}"
    if (p.compute_capability_major, p.compute_capability_minor) < (7, 5):
        raise DeviceFailure(f"{device.name} is {name}, and sacpy needs sm_75 or later")
    return DeviceLimits(
        name,
        p.multiprocessor_count,
        p.max_threads_per_multiprocessor,
        p.max_blocks_per_multiprocessor,
        p.max_shared_memory_per_block_optin,
        p.max_shared_memory_per_multiprocessor,
        p.max_registers_per_multiprocessor,
        p.max_threads_per_block,
        (p.max_block_dim_z, p.max_block_dim_y, p.max_block_dim_x),
        (p.max_grid_dim_z, p.max_grid_dim_y, p.max_grid_dim_x),
        p.warp_size,
    )


def devices(core: Any = None) -> int:
    """How many GPUs there are. Raises `DeviceFailure` where the driver or a package is missing."""
    core = _cuda_core() if core is None else core
    with _Failures():
        return len(core.Device.get_all_devices())

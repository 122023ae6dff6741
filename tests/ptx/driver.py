"""A stand-in for a GPU and its driver that executes kernels: everything behind `--target cuda` runs as on a GPU, down
to the launch, and the PTX is interpreted.

In: what `sacpy.jit.device.cuda` asks of cuda.core. Out: effects in checked memory, and `findings`: what a GPU would
refuse, what it would do only by luck. Kernels come as PTX (`Translating`), as they do where no assembler is installed.
"""

from __future__ import annotations

import ctypes
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from sacpy.jit.device.cubins import Cubin
from sacpy.jit.device.cuda import CudaMachine
from sacpy.jit.emission.assemble import Resources, translate
from sacpy.jit.emission.geometry import MOST_STATIC_SHARED
from sacpy.jit.emission.nvvm import device_text
from sacpy.jit.ir.graph import ArrayType, Const
from sacpy.jit.ir.kernel import Kernel
from sacpy.withloop.devices import DEVICES
from tests.jit.fake_cuda import CUDAError, FakeCuda, FakeDriver
from tests.ptx.counts import Counts
from tests.ptx.launch import Launch
from tests.ptx.memory import Arena, Findings
from tests.ptx.parse import parse
from tests.ptx.program import Program
from tests.ptx.races import Races

MOST_PARAMETERS = 4096  # bytes that every driver takes


class Translating:
    """Makes PTX of kernels, which the driver takes as it takes a cubin. `front`: "libnvvm" or "nvptx"; `strict`: no
    contraction. `made`: what became of each kernel, by its PTX."""

    def __init__(self, front: str, strict: bool = False) -> None:
        self.front, self.strict = front, strict
        self.made: dict[bytes, Kernel] = {}

    def __call__(self, kernel: Kernel, architecture: str) -> Cubin:
        device = device_text(kernel, strict=self.strict)
        text, tool = translate(device, architecture, self.front)
        code = text.encode()
        self.made[code] = kernel
        sites = tuple(site.what for site in device.sites)
        return Cubin(code, device.name, sites, Resources(0, 0, 0, 0, 0), (tool, "the interpreter"), True)


class PtxCuda(FakeCuda):
    """A GPU of an architecture ("sm_90"). `front`, `strict`: as of `Translating`; `races`: whether they are looked for;
    `counting`: whether counts are kept, by the kernel's PTX; `memory`: its bytes; `processors`: how many
    multiprocessors it has (with few, small arrays are laid out as large ones are); `most_blocks`: of each launch, only
    so many blocks are executed, for counting alone."""

    def __init__(
        self,
        architecture: str = "sm_90",
        front: str = "nvptx",
        *,
        strict: bool = False,
        races: bool = True,
        counting: bool = False,
        memory: int = 1 << 26,
        most_blocks: int | None = None,
        processors: int = 132,
    ) -> None:
        number = int(architecture.removeprefix("sm_"))
        super().__init__(memory, (number // 10, number % 10), processors=processors)
        self.limits = DEVICES[architecture]
        self.path = f"{front} {architecture}{' strict' if strict else ''}"
        self.arena, self.findings = Arena(memory), Findings()
        self.races = Races() if races else None
        self.counting, self.most_blocks = counting, most_blocks
        self.counts: dict[bytes, Counts] = {}
        self.shapes: dict[bytes, tuple[Any, Any]] = {}
        self.programs: dict[bytes, Program] = {}
        self.translating = Translating(front, strict)
        self.strict = strict
        self.launches = 0

    def machine(self) -> CudaMachine:
        """The machine of sacpy on this GPU."""
        made = CudaMachine(assemble=self.translating, core=self, driver=FakeDriver(self.limits.shared_per_block))
        if self.races:  # any thread may say that a check has failed
            self.races.spared = int(made._word.handle) - self.arena.base
        return made

    # ---- memory

    def take(self, size: int) -> tuple[int, int, Any]:
        try:
            return self.arena.allocate(max(size, 1)), size, None
        except MemoryError:
            raise CUDAError("CUDA_ERROR_OUT_OF_MEMORY: out of memory") from None

    def give_back(self, address: int) -> None:
        self.arena.free(address)

    def move(self, target: int, source: int, size: int) -> None:
        arena = self.arena
        for address, what in ((target, "to"), (source, "from")):
            if size and arena.has(address) and not arena.inside(address, size):
                self.findings.add(f"copy {what} memory out of bounds", "copy", f"{size} bytes at {address:#x}")
        ctypes.memmove(target, source, size)
        at = target - arena.base
        start = source - arena.base
        if arena.has(target):
            arena.set[at : at + size] = arena.set[start : start + size] if arena.has(source) else True
        elif arena.has(source) and not arena.set[start : start + size].all():
            unset = int((~arena.set[start : start + size]).sum())
            self.findings.add("uninitialised memory is copied out", "copy", f"{unset} of {size} bytes")

    def fill(self, address: int, value: int, size: int) -> None:
        self.arena.write(address, np.full(size, value, np.uint8))

    # ---- kernels

    def execute(self, kernel: Any, config: Any, args: list[Any]) -> None:
        program = self.programs.get(kernel.code)
        if program is None:
            program = self.programs[kernel.code] = Program(parse(kernel.code.decode()), self.arena, kernel.name)
        values = [ctypes.c_uint64(a) if type(a) is int else a for a in args]
        declared = [v.size for v in program.entry.params]
        if [ctypes.sizeof(v) for v in values] != declared:
            passed = [ctypes.sizeof(v) for v in values]
            self.findings.add("parameters do not fit", kernel.name, f"passed {passed}, declared {declared}")
        data = b""
        for v in values:
            data += bytes(-len(data) % ctypes.sizeof(v)) + bytes(v)
        grid, block = _three(config.grid), _three(config.block)
        self._allowed(program, grid, block, config.shmem_size, len(data))
        if kernel.code in self.translating.made:
            self._aliased(self.translating.made[kernel.code], [v.value for v in values])
        counts = self.counts.setdefault(kernel.code, Counts()) if self.counting else None
        self.shapes[kernel.code] = (grid, block)
        self.launches += 1
        with np.errstate(all="ignore"), self._narrowed(kernel.code, [v.value for v in values]):
            Launch(
                program,
                self.arena,
                grid,
                block,
                data,
                config.shmem_size,
                self.findings,
                races=self.races,
                counts=counts,
                most_blocks=self.most_blocks,
            ).run()

    def _allowed(
        self, program: Program, grid: tuple[int, ...], block: tuple[int, ...], dynamic: int, parameters: int
    ) -> None:
        """What a driver would refuse."""
        f, limits, add = program.entry, self.limits, self.findings.add
        threads = block[0] * block[1] * block[2]
        if min(grid) < 1 or min(block) < 1:
            add("launch of nothing", f.name, f"grid {grid}, block {block}")
        if (
            any(g > m for g, m in zip(grid, limits.grid[::-1]))
            or any(b > m for b, m in zip(block, limits.block[::-1]))
            or threads > limits.threads_per_block
        ):
            add("launch over the limits", f.name, f"grid {grid}, block {block}")
        bound = (*f.ntid, 1, 1, 1)[:3]
        if f.ntid and (threads > bound[0] * bound[1] * bound[2] or (f.exact and block != bound)):
            add("block over .maxntid", f.name, f"{block} over {bound}")
        if program.static_shared > MOST_STATIC_SHARED or program.static_shared + dynamic > limits.shared_per_block:
            add("too much shared memory", f.name, f"{program.static_shared} + {dynamic}")
        if parameters > MOST_PARAMETERS:
            add("too many parameters", f.name, f"{parameters} bytes")

    @contextmanager
    def _narrowed(self, code: bytes, args: list[Any]) -> Iterator[None]:
        """Inside, allocations end where the arrays end that a launch has there: blocks of the pool are larger."""
        arena, ends = self.arena, dict[int, int]()
        kernel = self.translating.made.get(code)
        for start, stop, _ in _places(kernel, args) if kernel is not None else ():
            at = bisect_right(arena.starts, start - arena.base) - 1
            if at >= 0:
                ends[arena.starts[at]] = max(ends.get(arena.starts[at], 0), stop - arena.base)
        before = {at: arena.ends[at] for at in ends}
        arena.ends |= {at: min(end, before[at]) for at, end in ends.items()}
        try:
            yield
        finally:
            arena.ends |= before

    def _aliased(self, kernel: Kernel, args: list[Any]) -> None:
        """Parameters are `noalias` where PTX says so: what is written may not be reached through another."""
        written = {w.array.name for w in kernel.writes}
        places = _places(kernel, args)
        for at, (start, stop, name) in enumerate(places):
            for s, end, other in places[at + 1 :]:
                if start < end and s < stop and start < stop and s < end and ({name, other} & written):
                    self.findings.add("noalias parameters overlap", kernel.name, f"{name} and {other}")


_BYTES = {
    "byte": 1, "short": 2, "int": 4, "long": 8, "longlong": 8, "ubyte": 1, "ushort": 2, "uint": 4, "ulong": 8,
    "ulonglong": 8, "float": 4, "double": 8, "bool": 1, "char": 1,
}  # fmt: skip


def _places(kernel: Kernel, args: list[Any]) -> list[tuple[int, int, str]]:
    """Where the arrays of a launch begin and end, with their names."""
    scalars = {p.name: a for p, a in zip(kernel.params, args)}
    found = []
    for p, a in zip(kernel.params, args):
        if isinstance(p.type, ArrayType):
            size = _BYTES[p.base]
            for e in p.type.extents:
                size *= max(int(e.value if isinstance(e, Const) else scalars[e.name]), 0)
            found.append((int(a), int(a) + size, p.name))
    return found


def _three(extents: tuple[int, ...]) -> tuple[int, int, int]:
    x, y, z = (*extents, 1, 1, 1)[:3]
    return x, y, z

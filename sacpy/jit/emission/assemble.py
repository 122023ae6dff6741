"""Kernels to code for NVIDIA GPUs, stage by stage: kernel, NVVM IR, PTX, cubin, and what the assembler says of its
resources.

In: a kernel, an architecture. Out: `Assembled`, with the text of each stage for `--emit`. PTX comes from libNVVM where
it is installed, else from LLVM's NVPTX; a cubin from nvJitLink, else from ptxas. Where one of them refuses what it is
given (its version may not go with the other's), the next has its turn. Raises `AssemblyError` where none is left.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

from sacpy.jit.emission import libnvvm, nvjitlink, nvptx, toolchain
from sacpy.jit.emission.geometry import fixed_dynamic_bytes
from sacpy.jit.emission.nvvm import DeviceText, device_text
from sacpy.jit.emission.toolchain import AssemblyError
from sacpy.jit.ir.kernel import Kernel
from sacpy.jit.ir.kernel_printer import print_kernel
from sacpy.nodes import Node
from sacpy.withloop.occupancy import RESERVED

STAGES = ("kernel", "nvvm", "ptx", "sass")
FRONT_ENDS = {"libnvvm": libnvvm, "nvptx": nvptx}
_ARCHITECTURE = re.compile(r"sm_[1-9]\d{1,2}[af]?")


class Resources(Node):
    """What a kernel needs: registers and stack per thread, static shared memory per block, what did not fit into
    registers; the last three in bytes."""

    registers: int
    shared_bytes: int
    stack_bytes: int
    spill_stores: int
    spill_loads: int


class Assembled(Node):
    """A kernel for one architecture. `code`: the cubin; `entry`: its function; `shared`: bytes of shared memory that
    every launch must ask for (`geometry.dynamic_bytes` has those of one launch). `front`, `back`: the tools that made
    PTX and cubin, with their versions."""

    device: DeviceText
    arch: str
    ptx: str
    front: str
    code: bytes
    resources: Resources
    back: str
    shared: int

    @property
    def entry(self) -> str:
        return self.device.name


def translate(device: DeviceText, arch: str, front: str | None = None) -> tuple[str, str]:
    """The PTX of a module, and the tool that made it. `front`: "libnvvm" or "nvptx"; None takes what is best of what is
    installed."""
    _need_architecture("ptx", arch)
    tool = FRONT_ENDS[front or _fronts(device)[0]]
    return tool.ptx(device, arch), tool.version()


def _fronts(device: DeviceText) -> list[str]:
    """What can make PTX here, the best first."""
    return [
        *(["libnvvm"] if toolchain.libnvvm() and (toolchain.libdevice() or not device.uses_libdevice) else []),
        "nvptx",
    ]


def has_assembler() -> bool:
    """Whether PTX can become a cubin here without a driver."""
    return bool(toolchain.nvjitlink() or toolchain.program("ptxas"))


def link(ptx: str, arch: str, back: str | None = None) -> tuple[bytes, Resources, str]:
    """The cubin of a module of PTX, its resources, and the tool that made it. `back`: "nvjitlink" or "ptxas"; None
    takes what is installed."""
    _need_architecture("cubin", arch)
    if back is None and not has_assembler():
        raise toolchain.missing("cubin", "nvjitlink", "ptxas")
    if back == "nvjitlink" or (back is None and toolchain.nvjitlink()):
        try:
            code, log = nvjitlink.cubin(ptx, arch)
            return code, resources(log), nvjitlink.version()
        except AssemblyError:
            if back is not None or not toolchain.program("ptxas"):
                raise
    return _ptxas(ptx, arch)


def cubin(
    kernel: Kernel, arch: str, *, strict: bool = False, front: str | None = None, back: str | None = None
) -> Assembled:
    """A kernel for an architecture ("sm_90"): all stages. `strict`: no contraction."""
    device = device_text(kernel, strict=strict)
    refused: list[AssemblyError] = []
    for name in [front] if front else _fronts(device):
        try:
            ptx, front_version = translate(device, arch, name)
            code, needs, back_version = link(ptx, arch, back)
        except AssemblyError as error:
            refused.append(error)
        else:
            return Assembled(device, arch, ptx, front_version, code, needs, back_version, fixed_dynamic_bytes(kernel))
    raise refused[0]


def emitted(kernel: Kernel, stage: str, arch: str, *, strict: bool = False) -> str:
    """What a stage makes of a kernel, as text: "kernel", "nvvm", "ptx" or "sass"."""
    if stage == "kernel":
        return print_kernel(kernel)
    device = device_text(kernel, strict=strict)
    if stage == "nvvm":
        return device.text
    ptx, _ = translate(device, arch)
    return ptx if stage == "ptx" else sass(link(ptx, arch)[0])


def sass(code: bytes) -> str:
    """The machine code of a cubin as text. Raises `AssemblyError` where no disassembler is installed."""
    for name, options in (("nvdisasm", ["-c"]), ("cuobjdump", ["-sass"])):
        path = toolchain.program(name)
        if path:
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder, "kernel.cubin")
                file.write_bytes(code)
                return _run("sass", [str(path), *options, str(file)])
    raise toolchain.missing("sass", "nvdisasm", "cuobjdump")


def _need_architecture(stage: str, arch: str) -> None:
    if not _ARCHITECTURE.fullmatch(arch):
        raise AssemblyError(stage, f"{arch!r} is no architecture: it is written as sm_90 is")


def _ptxas(ptx: str, arch: str) -> tuple[bytes, Resources, str]:
    path = toolchain.program("ptxas")
    if path is None:
        raise toolchain.missing("cubin", "ptxas")
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(ptx)
        log = _run("cubin", [str(path), "-v", f"-arch={arch}", "-o", str(target), str(source)])
        return target.read_bytes(), resources(log), "ptxas"


def _run(stage: str, command: list[str]) -> str:
    """What a program says. Raises `AssemblyError` if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise AssemblyError(stage, str(error)) from None
    if done.returncode:
        raise AssemblyError(stage, (done.stderr or done.stdout).strip())
    return done.stdout + done.stderr


def resources(log: str) -> Resources:
    """The resources that an assembler's verbose log names. Raises `AssemblyError` if it does not."""

    # of the kernel and of functions that were not inlined into it, the one that needs most. The linker says it in words
    # of its own beside those of the assembler, or instead of them; what it says of shared memory includes what the
    # driver keeps of each block.
    words = "\n".join(line for line in log.splitlines() if not line.startswith("info"))
    assembled = "registers" in words

    def number(pattern: str) -> int:
        return max((int(n) for n in re.findall(pattern, words if assembled else log)), default=0)

    if "registers" not in log:
        raise AssemblyError(
            "cubin", f"the assembler does not say what the kernel needs: {log.strip() or 'it says nothing'}"
        )
    return Resources(
        number(r"[Uu]sed (\d+) registers"),
        max(0, number(r"(\d+) bytes smem") - (0 if assembled else RESERVED)),
        number(r"(\d+) (?:bytes stack frame|stack\b)"),
        number(r"(\d+) bytes spill stores"),
        number(r"(\d+) bytes spill loads"),
    )

"""What is installed for NVIDIA GPUs: libNVVM, libdevice, nvJitLink, ptxas, a disassembler; from wheels, from a CUDA
toolkit, or on the path.

In: the environment. Out: paths, or None; `AssemblyError` with what is missing and what to install, for a user.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from sacpy.jit.failures import Unsupported

WHEELS = {
    "libnvvm": "nvidia-nvvm",
    "libdevice": "nvidia-nvvm",
    "nvjitlink": "nvidia-nvjitlink",
    "ptxas": "nvidia-cuda-nvcc",
    "nvdisasm": "nvidia-cuda-nvdisasm",
    "cuobjdump": "nvidia-cuda-cuobjdump",
}


class AssemblyError(Unsupported):
    """A kernel does not become a cubin: a tool is missing, or refuses its input. `stage`: "ptx", "cubin" or "sass",
    what was to be made; `log`: what the tool said, or what to install."""

    def __init__(self, stage: str, log: str) -> None:
        super().__init__(f"no {stage} could be made: {log}")
        self.stage = stage
        self.log = log


def _roots() -> Iterator[Path]:
    """Folders laid out as a CUDA toolkit is: those of wheels, newest first, then the toolkit's."""
    found = importlib.util.find_spec("nvidia")
    for folder in (found.submodule_search_locations or ()) if found else ():
        yield from sorted(Path(folder).glob("cu[0-9]*"), reverse=True)
        yield from sorted(Path(folder).glob("cuda_nvcc"))
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(variable):
            yield Path(os.environ[variable])
    nvcc = shutil.which("nvcc")
    if nvcc:
        yield Path(nvcc).resolve().parent.parent
    yield Path("/usr/local/cuda")


def _first(*patterns: str) -> Path | None:
    """The first file of those patterns."""
    return next(
        (
            path
            for root in _roots()
            for pattern in patterns
            for path in sorted(root.glob(pattern), reverse=True)
            if path.is_file()
        ),
        None,
    )


@functools.cache
def libnvvm() -> Path | None:
    """NVIDIA's compiler from NVVM IR to PTX, a shared library."""
    return _first("lib/libnvvm.so*", "lib64/libnvvm.so*", "nvvm/lib64/libnvvm.so*")


@functools.cache
def libdevice() -> Path | None:
    """The mathematical functions of GPUs, as LLVM bitcode."""
    return _first("nvvm/libdevice/libdevice.*.bc")


@functools.cache
def nvjitlink() -> Path | None:
    """NVIDIA's assembler and linker, a shared library."""
    return _first("lib/libnvJitLink.so*", "lib64/libnvJitLink.so*")


@functools.cache
def program(name: str) -> Path | None:
    """A program of the toolkit: "ptxas", "nvdisasm", "cuobjdump"."""
    on_path = shutil.which(name)
    return _first(f"bin/{name}") or (Path(on_path) if on_path else None)


def missing(stage: str, *tools: str) -> AssemblyError:
    """The error that none of these tools is there; it recommends the first."""
    return AssemblyError(stage, f"no {' or '.join(tools)} is installed here: pip install {WHEELS[tools[0]]}")

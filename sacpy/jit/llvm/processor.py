"""This machine's processor: as LLVM names it, for those who compile, and what the system tells of it, for those who
only want to know whether code that is kept runs here; LLVM takes its time to load."""

from __future__ import annotations

import functools
import os
from contextlib import suppress
from pathlib import Path

# what the runtime in the package is compiled for: the x86 processors of the last ten years, as LLVM names them
LEVEL = "x86-64-v3"
_NAMES = {"bmi1": "bmi", "abm": "lzcnt"}  # features that LLVM calls otherwise than Linux does


def architecture() -> str:
    """What the system calls it: "x86_64"."""
    if hasattr(os, "uname"):
        return os.uname().machine
    import platform  # which takes its time to load

    return platform.machine()


@functools.cache
def processor() -> tuple[str, str]:
    """Name and features ("+avx2,-avx512f,..."), as LLVM has them. Asked once, since LLVM answers one question at a
    time."""
    import llvmlite.binding as llvm

    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@functools.cache
def features() -> frozenset[str]:
    """What it has, by LLVM's names ("avx2")."""
    told = _told("flags")
    if told:
        return frozenset(_NAMES.get(name, name) for name in told.split())
    return frozenset(name[1:] for name in processor()[1].split(",") if name[:1] == "+")


@functools.cache
def identity() -> str:
    """A text that differs for processors which need different code: part of the key of code that is kept."""
    told = [_told(key) for key in ("vendor_id", "cpu family", "model", "model name", "stepping", "flags")]
    return "; ".join(told) if all(told) else "; ".join(processor())


def _told(key: str) -> str:
    """What Linux says of the first processor, on x86; "" elsewhere."""
    return _all_told().get(key, "")


@functools.cache
def _all_told() -> dict[str, str]:
    told: dict[str, str] = {}
    if architecture() in ("x86_64", "AMD64"):
        with suppress(OSError):
            first = Path("/proc/cpuinfo").read_bytes().partition(b"\n\n")[0]
            for line in first.decode("ascii", "replace").splitlines():
                name, _, value = line.partition(":")
                told[name.strip()] = value.strip()
    return told


@functools.cache
def register_sizes() -> tuple[int, ...]:
    """Bytes of its vector registers, of every size it has."""
    return tuple(size for size, name in ((16, "sse2"), (32, "avx2"), (64, "avx512f")) if name in features())

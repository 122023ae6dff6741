"""This machine's processor, as LLVM names it: asked once, since LLVM answers one question at a time, and may be busy for long."""

from __future__ import annotations

import functools


@functools.cache
def processor() -> tuple[str, str]:
    """Name and features ("+avx2,-avx512f,..."): part of the key of cached code."""
    import llvmlite.binding as llvm

    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@functools.cache
def register_sizes() -> tuple[int, ...]:
    """Bytes of its vector registers, of every size it has."""
    has = set(processor()[1].split(","))
    return tuple(size for size, name in ((16, "+sse2"), (32, "+avx2"), (64, "+avx512f")) if name in has)

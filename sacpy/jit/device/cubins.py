"""Cubins, made once: in memory, and in the folder of compiled code.

In: a kernel, and an architecture. Out: its machine code with what the assembler says of it. The name under which one is
kept covers the kernel's text, the architecture, the options and the compiler, so a cubin is looked up before anything
is lowered.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from sacpy.base.digests import new_digest
from sacpy.base.plain import Packing, Unpacked
from sacpy.jit.cache import Cache
from sacpy.jit.failures import Unsupported
from sacpy.jit.fingerprint import platform_digest
from sacpy.jit.ir.kernel import Kernel
from sacpy.jit.ir.kernel_printer import print_kernel
from sacpy.nodes import Node

if TYPE_CHECKING:
    from sacpy.jit.emission.assemble import Resources


class Cubin(Node):
    """`code`: the cubin, or PTX where `is_ptx`: then no assembler is installed, and the driver's takes its place;
    `entry`: the name of its function; `sites`: what each check of the kernel asserts, by the number that the check word
    gets, from 1; `tools`: what made it."""

    code: bytes
    entry: str
    sites: tuple[str, ...]
    resources: Resources
    tools: tuple[str, str]
    is_ptx: bool = False


class Cubins:
    """Makes cubins, or finds them. `strict`: products and sums are not contracted."""

    def __init__(self, cache: Cache, strict: bool = False) -> None:
        self.cache = cache
        self.strict = strict

    def __call__(self, kernel: Kernel, architecture: str) -> Cubin:
        """The cubin of a kernel. Raises `Unsupported` where no compiler is installed for what it calls, or it is
        refused."""
        name = new_digest(
            f"cubin\n{platform_digest()}\n{architecture} {self.strict}\n{print_kernel(kernel)}".encode()
        ).hexdigest()[:40]
        kept = self.cache.read(name)
        if kept is not None:
            try:
                found: Cubin = _packing().unpacked(kept)
            except Unpacked:
                self.cache.remove(name)
            else:
                return found
        from sacpy.jit.emission.assemble import cubin, has_assembler
        from sacpy.jit.emission.toolchain import AssemblyError

        try:
            if not has_assembler():
                return _for_driver(kernel, architecture, self.strict)
            a = cubin(kernel, architecture, strict=self.strict)
        except AssemblyError as error:
            raise Unsupported(f"its kernel does not become a cubin: {error}") from error
        made = Cubin(a.code, a.entry, tuple(site.what for site in a.device.sites), a.resources, (a.front, a.back))
        self.cache.write(name, _packing().packed(made))
        return made


@functools.cache
def _packing() -> Packing:
    from sacpy.jit.emission.assemble import Resources

    return Packing(Cubin, Resources)


def _for_driver(kernel: Kernel, architecture: str, strict: bool) -> Cubin:
    """PTX, which the driver assembles when it is loaded. By LLVM, which writes an old version of PTX; that of libNVVM
    may be newer than the driver."""
    from sacpy.jit.emission.assemble import Resources, translate
    from sacpy.jit.emission.nvvm import device_text

    device = device_text(kernel, strict=strict)
    ptx, tool = translate(device, architecture, "nvptx")
    return Cubin(
        ptx.encode(),
        device.name,
        tuple(site.what for site in device.sites),
        Resources(0, 0, 0, 0, 0),
        (tool, "the driver"),
        True,
    )

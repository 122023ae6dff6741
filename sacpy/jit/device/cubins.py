"""Cubins, made once: in memory, and in the folder of compiled code.

In: a kernel, and an architecture. Out: its machine code with what ptxas says of it. The name under which one is kept covers the kernel's text, the architecture and the compiler, so a cubin is looked up before anything is lowered.
"""

from __future__ import annotations

import hashlib
import pickle
from typing import Any

from sacpy.jit.cache import Cache
from sacpy.jit.fingerprint import platform_digest
from sacpy.jit.kernel import Kernel
from sacpy.jit.kernel_printer import print_kernel


class Cubins:
    """Makes cubins, or finds them."""

    def __init__(self, cache: Cache) -> None:
        self.cache = cache

    def __call__(self, kernel: Kernel, architecture: str) -> Any:
        """The cubin of a kernel. Raises `Unsupported` where no assembler is installed."""
        name = hashlib.sha256(f"cubin\n{platform_digest()}\n{architecture}\n{print_kernel(kernel)}".encode()).hexdigest()[:40]
        kept = self.cache.read(name)
        if kept is not None:
            return pickle.loads(kept)
        from sacpy.jit.emission.assemble import cubin

        made = cubin(kernel, architecture)
        self.cache.write(name, pickle.dumps(made, pickle.HIGHEST_PROTOCOL))
        return made

"""The runtime of compiled code as sacpy's installer leaves it: an object in the package, so that the first compiled
function need not wait for it, nor share the processor with its compilation.

In: the text of the runtime, and its machine code. Out: the machine code again, in a later process, where it was made of
the same text and this machine can run it. Who changes the runtime, or has another machine, has it compiled when it is
first needed.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

from sacpy.base.digests import new_digest
from sacpy.jit.llvm.processor import LEVEL, architecture, features

OBJECT = Path(__file__).with_name("runtime.object")
# what LEVEL has and older ones lack
NEEDED = frozenset(("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"))


def suits() -> bool:
    """Whether code for LEVEL runs here."""
    return architecture() in ("x86_64", "AMD64") and features() >= NEEDED


def write_runtime(text: str, code: bytes, path: Path = OBJECT) -> None:
    """Leaves the code for `read_runtime`, where the folder can be written."""
    with suppress(PermissionError):
        path.write_bytes(_digest(text) + code)


def read_runtime(text: str, path: Path = OBJECT) -> bytes | None:
    """The code; None where there is no such file, or it is damaged, or made of another text or for another machine."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    digest = _digest(text)
    return data[len(digest) :] if data.startswith(digest) and suits() else None


def _digest(text: str) -> bytes:
    return new_digest(f"{sys.platform} {architecture()} {LEVEL}\n{text}".encode()).digest()

"""PTX to a cubin by NVIDIA's nvJitLink, called through ctypes: no process is started.

In: PTX, an architecture. Out: the cubin, and the log that names registers and memory. The first choice, since a kernel
then takes milliseconds.
"""

from __future__ import annotations

import ctypes
import functools
import re
from typing import Any

from sacpy.jit.emission import toolchain
from sacpy.jit.emission.toolchain import AssemblyError

_PTX = 2  # NVJITLINK_INPUT_PTX
_VERSIONS = [f"{major}_{minor}" for major in (13, 12) for minor in range(9, -1, -1)]


class _Library:
    """The library. Its functions carry the version that they belong to in their names; any that is there will do."""

    def __init__(self, path: str) -> None:
        self.library = ctypes.CDLL(path)
        self.suffix = next((v for v in _VERSIONS if hasattr(self.library, f"__nvJitLinkCreate_{v}")), "")

    def call(self, name: str, *args: Any) -> int:
        function = getattr(self.library, f"__nvJitLink{name}_{self.suffix}")
        return int(function(*args))

    def text(self, name: str, handle: Any) -> bytes:
        """What the library hands out: "ErrorLog", "InfoLog" or "LinkedCubin"."""
        size = ctypes.c_size_t()
        if self.call(f"Get{name}Size", handle, ctypes.byref(size)) or not size.value:
            return b""
        buffer = ctypes.create_string_buffer(size.value)
        self.call(f"Get{name}", handle, buffer)
        return buffer.raw[: size.value]


@functools.cache
def _library() -> _Library:
    path = toolchain.nvjitlink()
    if path is None:
        raise toolchain.missing("cubin", "nvjitlink")
    try:
        library = _Library(str(path))
    except OSError as error:
        raise AssemblyError("cubin", f"{path} cannot be loaded: {error}") from None
    if not library.suffix:
        raise AssemblyError("cubin", f"{path} is of a version that is not known here")
    return library


def version() -> str:
    """ "nvJitLink" and its version. Raises `AssemblyError` where it is missing."""
    return f"nvJitLink {_library().suffix.replace('_', '.')}"


def cubin(ptx: str, arch: str) -> tuple[bytes, str]:
    """The cubin of a module of PTX, and what the library says of its resources. Raises `AssemblyError`."""
    if not re.fullmatch(r"sm_\d+[af]?", arch):
        raise AssemblyError("cubin", f"{arch} is no architecture")
    library, handle = _library(), ctypes.c_void_p()
    options = [f"-arch={arch}".encode(), b"-verbose"]
    if library.call(
        "Create", ctypes.byref(handle), ctypes.c_uint32(len(options)), (ctypes.c_char_p * len(options))(*options)
    ):
        raise AssemblyError("cubin", f"nvJitLink refuses the architecture {arch}")
    try:
        source = ptx.encode() + b"\0"
        failed = library.call("AddData", handle, _PTX, source, ctypes.c_size_t(len(source)), b"kernel") or library.call(
            "Complete", handle
        )
        if failed:
            raise AssemblyError(
                "cubin",
                library.text("ErrorLog", handle).rstrip(b"\0").decode(errors="replace").strip()
                or f"nvJitLink gives status {failed}",
            )
        return library.text("LinkedCubin", handle), library.text("InfoLog", handle).rstrip(b"\0").decode(
            errors="replace"
        )
    finally:
        library.call("Destroy", ctypes.byref(handle))

"""NVVM IR to PTX by NVIDIA's libNVVM, called through ctypes.

In: a module's text, an architecture. Out: PTX, with libdevice linked in where the module calls it. The first choice,
since it is the compiler behind NVIDIA's own languages.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from typing import Any

from sacpy.jit.emission import toolchain
from sacpy.jit.emission.nvvm import DeviceText
from sacpy.jit.emission.toolchain import AssemblyError


@functools.cache
def _library() -> Any:
    path = toolchain.libnvvm()
    if path is None:
        raise toolchain.missing("ptx", "libnvvm")
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise AssemblyError("ptx", f"{path} cannot be loaded: {error}") from None
    handle, text, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
    library.nvvmCreateProgram.argtypes = [ctypes.POINTER(handle)]
    library.nvvmDestroyProgram.argtypes = [ctypes.POINTER(handle)]
    library.nvvmAddModuleToProgram.argtypes = library.nvvmLazyAddModuleToProgram.argtypes = [handle, text, size, text]
    library.nvvmVerifyProgram.argtypes = library.nvvmCompileProgram.argtypes = [
        handle,
        ctypes.c_int,
        ctypes.POINTER(text),
    ]
    for name in ("nvvmGetCompiledResult", "nvvmGetProgramLog"):
        getattr(library, name).argtypes = [handle, text]
        getattr(library, name + "Size").argtypes = [handle, ctypes.POINTER(size)]
    library.nvvmGetErrorString.argtypes, library.nvvmGetErrorString.restype = [ctypes.c_int], text
    return library


@functools.cache
def _libdevice() -> bytes:
    path = toolchain.libdevice()
    if path is None:
        raise toolchain.missing("ptx", "libdevice")
    return path.read_bytes()


def version() -> str:
    """ "libNVVM" and its version. Raises `AssemblyError` where it is missing."""
    major, minor = ctypes.c_int(), ctypes.c_int()
    _library().nvvmVersion(ctypes.byref(major), ctypes.byref(minor))
    return f"libNVVM {major.value}.{minor.value}"


def ptx(text: DeviceText, arch: str) -> str:
    """A module's PTX for an architecture ("sm_90"). Raises `AssemblyError`."""
    library, program = _library(), ctypes.c_void_p()
    _need(library, program, library.nvvmCreateProgram(ctypes.byref(program)))
    try:
        source = text.text.encode()
        _need(library, program, library.nvvmAddModuleToProgram(program, source, len(source), text.name.encode()))
        if text.uses_libdevice:
            _need(
                library,
                program,
                library.nvvmLazyAddModuleToProgram(program, _libdevice(), len(_libdevice()), b"libdevice"),
            )
        options = [
            f"-arch={arch.replace('sm_', 'compute_')}",
            "-opt=3",
            "-ftz=0",
            "-prec-div=1",
            "-prec-sqrt=1",
            f"-fma={0 if text.strict else 1}",
        ]
        _need(library, program, library.nvvmVerifyProgram(program, len(options), _strings(options)))
        _need(library, program, library.nvvmCompileProgram(program, len(options), _strings(options)))
        return _output(library, program, "nvvmGetCompiledResult")
    finally:
        library.nvvmDestroyProgram(ctypes.byref(program))


def _strings(many: Sequence[str]) -> Any:
    return (ctypes.c_char_p * len(many))(*[s.encode() for s in many])


def _output(library: Any, program: Any, name: str) -> str:
    """What the library hands out, without the NUL at its end."""
    size = ctypes.c_size_t()
    if getattr(library, name + "Size")(program, ctypes.byref(size)) or not size.value:
        return ""
    buffer = ctypes.create_string_buffer(size.value)
    getattr(library, name)(program, buffer)
    return buffer.value.decode(errors="replace")


def _need(library: Any, program: Any, status: int) -> None:
    if status:
        log = _output(library, program, "nvvmGetProgramLog").strip() if program else ""
        raise AssemblyError("ptx", log or library.nvvmGetErrorString(status).decode())

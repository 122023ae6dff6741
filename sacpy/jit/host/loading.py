"""Machine code in memory, linked against the runtime: what a process does that finds all its code in the cache.

In: objects of units, out of the cache or fresh from the compiler. Out: `Library`, and the address of a unit's entry.
The runtime comes with the package (`installed`); where it does not, the compiler has it in its cache, or compiles it:
`begin_runtime` has a thread see to it while Python makes the text of the first unit. Where objects are of the kind that
`objects` knows, LLVM is not even loaded here.
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sacpy.base.forking import keep_whole
from sacpy.jit.host import objects
from sacpy.jit.host.installed import read_runtime
from sacpy.jit.host.runtime import EXPORTS, runtime_ir
from sacpy.jit.llvm.maths import CALLBACK, VECTOR, callbacks, vector_library

if TYPE_CHECKING:
    from sacpy.jit.host.compile import Linked
    from sacpy.jit.host.waiting import Waiting

_first = threading.Lock()  # of those who load the runtime
keep_whole(_first)


@functools.cache
def begin_runtime() -> Waiting[bytes] | bytes:
    """The runtime as an object; where it has not been compiled before, that begins."""
    installed = read_runtime(runtime_ir())
    if installed is not None:
        return installed
    from sacpy.jit.host.compile import compiled_runtime

    return compiled_runtime()


@functools.cache
def _runtime_library() -> Library:
    code = begin_runtime()
    library = Library(code if isinstance(code, bytes) else code.result(), EXPORTS, {})
    library.keep()
    return library


def runtime() -> dict[str, int]:
    """The addresses of the runtime's functions, compiled and loaded once."""
    with _first:
        return _runtime()


@functools.cache
def _runtime() -> dict[str, int]:
    found = {name: _runtime_library().address(name) for name in EXPORTS}
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=ctypes.CFUNCTYPE(None)(found["sacpy_forked"]))
    return found


@functools.cache
def _process() -> tuple[Any, ...]:
    """Where functions that nobody has named are looked for: in this process, and in the library of mathematics."""
    return ctypes.CDLL(None), ctypes.CDLL("libm.so.6")


@functools.cache
def _function(name: str) -> int:
    for library in _process():
        try:
            return ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
        except AttributeError:
            continue
    raise objects.Unknown(f"there is no function {name}")


class Library:
    """An object, or several in a bundle, loaded into memory; they stay as long as this lives."""

    def __init__(self, code: bytes, exports: Sequence[str], imports: Mapping[str, int]) -> None:
        self._image: objects.Image | None = None
        self._linked: Linked | None = None
        if objects.suits():
            try:
                self._image = objects.Image(objects.unbundled(code), lambda name: imports.get(name) or _function(name))
                return
            except (objects.Unknown, OSError):  # it is one for LLVM's linker
                pass
        from sacpy.jit.host.compile import Linked

        self._linked = Linked(objects.unbundled(code), exports, imports)

    def address(self, name: str) -> int:
        """Where an exported function is."""
        found = self._linked or self._image
        assert found is not None
        return found.address(name)

    def keep(self) -> None:
        """Never unloads it, not even when Python ends: threads of the runtime wait in it."""
        for kept in (self, self._image, *(self._linked.parts() if self._linked is not None else ())):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))


def load_entry(code: bytes, name: str) -> tuple[Library, int]:
    """An object of a unit in memory, and the address of its entry."""
    imports = dict(runtime())
    if CALLBACK.encode() in code:  # to find all these routines takes longer than to load most units
        imports |= {k: ctypes.cast(v, ctypes.c_void_p).value or 0 for k, v in callbacks().items()}
    if VECTOR.encode() in code:
        imports |= vector_routines()
    library = Library(code, (name,), imports)
    return library, library.address(name)


@functools.cache
def vector_routines() -> dict[str, int]:
    """The addresses of the vector library's routines that this machine can use."""
    from sacpy.jit.llvm.maths import vector_names

    library = vector_library()
    return (
        {}
        if library is None
        else {name: ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0 for name in vector_names()}
    )

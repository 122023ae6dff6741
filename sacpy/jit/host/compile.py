"""LLVM IR text to machine code for this machine's CPU, and machine code into memory.

`compile_object(ir, options) -> bytes`; `Library.load(object)` links it against the runtime and gives the address of its entry. The runtime comes with the package (`installed`). Where it does not, it is compiled once, and kept in the cache: `begin_runtime` has a thread see to it while Python makes the text of the first unit. This is the only module that drives LLVM.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import itertools
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from sacpy.jit.cache import Cache, native_folder
from sacpy.jit.host.installed import LEVEL, OBJECT, read_runtime, suits, write_runtime
from sacpy.jit.host.maths import CALLBACK, VECTOR, callbacks, vector_library
from sacpy.jit.host.processor import processor
from sacpy.jit.host.runtime import EXPORTS, runtime_ir
from sacpy.jit.options import Options

PIPELINE = 1  # LLVM's level for the passes: with vectorised loops the code is as fast as with the higher ones, which take half as long again

PATIENCE = 0.02  # seconds between two looks for an exception that another thread has ordered

_numbers = itertools.count(1)


@functools.cache
def _target() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple()


@functools.cache
def _machine(level: int, portable: bool = False) -> Any:
    """What makes code for this machine's processor, or (`portable`) for all that can run the runtime of the package."""
    name, features = (LEVEL, "") if portable else processor()
    return _target().create_target_machine(cpu=name, features=features, opt=level, reloc="pic", codemodel="small")


def optimised(ir: str, options: Options, passes: int = PIPELINE) -> Any:
    """The module after LLVM's passes, those of the level `passes` at most."""
    machine = _machine(options.opt_level)
    module = llvm.parse_assembly(ir)
    if options.verify:
        module.verify()
    module.triple = llvm.get_default_triple()
    module.data_layout = str(machine.target_data)
    tuning = llvm.create_pipeline_tuning_options(speed_level=min(options.opt_level, passes))
    tuning.loop_vectorization = tuning.loop_interleaving = options.opt_level > 1
    tuning.slp_vectorization = False
    tuning.loop_unrolling = False  # what pays is unrolled by the vectoriser; the rest only takes time to compile
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)
    return module


def compile_object(ir: str, options: Options) -> bytes:
    """Machine code, as a relocatable object, of a module's text. Whatever is raised in this thread meanwhile (Ctrl-C, a limit on time) gets through at once."""

    return _Work(lambda: _emitted(optimised(ir, options), options)).result()


def _emitted(module: Any, options: Options, portable: bool = False) -> bytes:
    """The machine code of a module that has been through LLVM's passes."""
    with _quickly():
        code: bytes = _machine(options.opt_level, portable).emit_object(module)
    return code


_at_work = threading.Lock()  # one work at a time: what was abandoned and what comes after it do not meet
if hasattr(os, "register_at_fork"):  # nor does a child begin in the middle of one, which nobody would finish there
    os.register_at_fork(before=_at_work.acquire, after_in_parent=_at_work.release, after_in_child=_at_work.release)


class _Work:
    """Something for LLVM to do. LLVM cannot be stopped, so a thread of its own does the work; one that nobody waits for any more ends by itself, at the latest before the process does."""

    def __init__(self, work: Callable[[], bytes]) -> None:
        self._found: list[bytes | BaseException] = []
        self._done = threading.Event()  # a `join` that is interrupted takes its thread for ended (Python 3.11)
        threading.Thread(target=self._run, args=(work,), name="sacpy compiler", daemon=False).start()

    def _run(self, work: Callable[[], bytes]) -> None:
        try:
            with _at_work:
                self._found.append(work())
        except BaseException as error:
            self._found.append(error)
        self._done.set()

    def result(self) -> bytes:
        """What the work gave; whatever is raised in this thread meanwhile gets through at once."""
        while not self._done.wait(PATIENCE):
            pass
        (result,) = self._found
        if isinstance(result, BaseException):
            raise result
        return result


def assembly(ir: str, options: Options) -> str:
    """The machine code of a module as text."""
    module = optimised(ir, options)
    with _quickly():
        text: str = _machine(options.opt_level).emit_assembly(module)
    return text


@contextmanager
def _quickly() -> Iterator[None]:
    """Inside, LLVM does without loop strength reduction, which takes most of the time of generating code, and gains nothing on what is generated here. The switch is the whole process's."""
    llvm.set_option("sacpy", "-disable-lsr=true")
    try:
        yield
    finally:
        llvm.set_option("sacpy", "-disable-lsr=false")


@functools.cache
def _linker() -> Any:
    _target()
    return llvm.create_lljit_compiler(_machine(2), suppress_errors=True)


RUNTIME = Options(opt_level=2)  # how hard LLVM tries with the runtime


def install_runtime(path: Path = OBJECT) -> None:
    """Leaves the runtime, compiled, in the package: what sacpy's installer does. Nothing where the code would not suit the machine."""
    if suits():
        text = runtime_ir()
        write_runtime(text, _emitted(optimised(text, RUNTIME, passes=0), RUNTIME, portable=True), path)


@functools.cache
def begin_runtime() -> _Work | bytes:
    """The runtime as an object, out of the package or the cache; where it has not been compiled before, that begins."""
    text = runtime_ir()
    installed = read_runtime(text)
    if installed is not None:
        return installed
    cache = Cache(native_folder())
    name = f"runtime-{hashlib.sha256(repr((text, processor(), llvmlite.__version__)).encode()).hexdigest()[:32]}"

    kept = cache.read(name)
    if kept is not None:
        return kept
    module = optimised(text, RUNTIME, passes=0)  # short steps, which in another thread would wait for Python between one and the next

    def work() -> bytes:
        code = _emitted(module, RUNTIME)
        cache.write(name, code)
        return code

    return _Work(work)


@functools.cache
def _runtime_library() -> Library:
    """Never unloaded, not even when Python ends: the pool's threads wait in it."""
    code = begin_runtime()
    library = Library(code if isinstance(code, bytes) else code.result(), EXPORTS, {})
    for kept in (library, library.tracker, _linker()):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))
    return library


@functools.cache
def runtime() -> dict[str, int]:
    """The addresses of the runtime's functions, compiled and loaded once."""
    found = {name: _runtime_library().address(name) for name in EXPORTS}
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=ctypes.CFUNCTYPE(None)(found["sacpy_forked"]))
    return found


class Library:
    """An object loaded into memory; it stays as long as this lives."""

    def __init__(self, code: bytes, exports: tuple[str, ...], imports: dict[str, int]) -> None:
        builder = llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
        for name, address in imports.items():
            builder.import_symbol(name, address)
        for name in exports:
            builder.export_symbol(name)
        self.tracker = builder.link(_linker(), f"sacpy.{next(_numbers)}")

    def address(self, name: str) -> int:
        """Where an exported function is."""
        return int(self.tracker[name])


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
    from sacpy.jit.host.maths import vector_names

    library = vector_library()
    return {} if library is None else {name: ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0 for name in vector_names()}

"""LLVM IR text to machine code for this machine's CPU.

`compile_object(ir, options) -> bytes`; `loading` has it in memory afterwards. Where the runtime does not come with the
package (`installed`), it is compiled once too, and kept in the cache.

LLVM cannot be stopped, and what it does in this process keeps others from it, and forks and the process's end waiting.
So only what is small is translated here; all else goes to a process that can be killed (`compilers`), where LLVM has a
bounded time; only a process that does nothing but compile, and may be killed itself, translates more before it goes
elsewhere. What takes long is split, where there are cores for it (`split_module`), and each part translated so. What is
huge, and what took longer, is translated with little effort: in time that is in proportion to its size. A process that
has translated much here goes elsewhere with all of it, since it does not come back from LLVM as small as it was.
"""

from __future__ import annotations

import atexit
import itertools
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import llvmlite
import llvmlite.binding as llvm

from sacpy.base.digests import new_digest
from sacpy.base.forking import keep_whole
from sacpy.jit.cache import Cache, native_folder
from sacpy.jit.host.installed import OBJECT, suits, write_runtime
from sacpy.jit.host.objects import bundled
from sacpy.jit.host.runtime import runtime_ir
from sacpy.jit.host.translate import TASKS, Task, emitted, machine, optimised, target, translated
from sacpy.jit.host.waiting import Waiting
from sacpy.jit.llvm.processor import processor
from sacpy.jit.options import Options, cores

if TYPE_CHECKING:
    from sacpy.jit.host import compilers

# characters of IR that LLVM translates soon, if no block is LONG: ordinary ones take it 1 to 4 microseconds each,
# hostile ones 8
BRIEF = 32 << 10
APART = 4  # times so much is translated by a process that only compiles
LONG = 120  # lines of a block: for some of LLVM's passes they count squared
# characters of IR from which on it is done with little effort: half as much again as the largest unit of an ordinary
# program
HUGE = 768 << 10

WHOLE = BRIEF  # characters of IR that are never split
PARTS = 4  # of a module at most, that are translated at the same time: with more, the first hardly gets smaller
SERVED = 32  # objects that a linker links
_most = 1  # times what is BRIEF and LONG is translated here
_free: Callable[[], int] = cores
_numbers, _here = itertools.count(1), itertools.count()
_border = re.compile(r"^(?:[\w.$\"-]+:|define |\})", re.MULTILINE)  # where a block begins or ends


def compile_object(ir: str, options: Options) -> bytes:
    """Machine code, as a relocatable object or a bundle of such, of a module's text. Several threads may compile at the
    same time; whatever is raised in one of them meanwhile (Ctrl-C, a limit on time) gets through at once."""
    task = Task(ir, options.opt_level, options.verify)
    if not WHOLE < len(ir) <= HUGE:
        return _made(task)
    from sacpy.jit.host.split_module import split

    tasks = [task._replace(text=text) for text in split(ir, _at_once())]
    return bundled(_made_beside(tasks))


def assembly(ir: str, options: Options) -> str:
    """The machine code of a module as text."""
    return _made(Task(ir, options.opt_level, options.verify, assembly=True)).decode()


def stay_here(free: Callable[[], int]) -> None:
    """This process does nothing but compile, and may be ended in the middle of it. `free`: how many processors there
    are for it now."""
    global _most, _free
    _most, _free = APART, free


def begin_compiler() -> None:
    """Something large is on its way to `compile_object`: what it takes to compile that starts now."""
    if _most > 1 and _free() == 1:  # it is hardly ever needed
        return
    from sacpy.jit.host import compilers

    with suppress(compilers.CompilerLost):
        compilers.begin()


def is_huge(ir: str) -> bool:
    """Whether a module is so large that it is translated with little effort from the start."""
    return len(ir) > HUGE


def _at_once() -> int:
    """How many parts of a module may be translated at the same time."""
    return min(_free(), PARTS)


def _made_beside(tasks: list[Task]) -> list[bytes]:
    """What is wanted of tasks: of the first by `_made`, while other processes translate the others."""
    if len(tasks) == 1:
        return [_made(tasks[0])]
    from sacpy.jit.host import compilers

    begun: list[compilers.Translation | None] = []
    try:
        for task in tasks[1:]:
            try:
                begun.append(compilers.begun(task))
            except compilers.CompilerLost:
                begun.append(None)
        codes = [_made(tasks[0])]
        for task, translation in zip(tasks[1:], begun):
            codes.append(_result(task, translation))
    except BaseException:
        for translation in filter(None, begun):
            translation.end()
        raise
    return codes


def _result(task: Task, translation: compilers.Translation | None) -> bytes:
    from sacpy.jit.host import compilers

    with suppress(compilers.CompilerLost):
        if translation is not None:
            return translation.result()
    return _made(task)


def _made(task: Task) -> bytes:
    if is_brief(task.text) and next(_here) < TASKS:
        return Waiting(lambda: _translated_here(task)).result()
    from sacpy.jit.host import compilers

    little = task._replace(little=True)
    for one in (little,) if is_huge(task.text) else (task, little):
        with suppress(compilers.CompilerLost):
            return compilers.translated(one)
    return Waiting(lambda: _translated_here(little)).result()


def is_brief(ir: str) -> bool:
    """Whether LLVM is through with a module soon: in less than 0.2 seconds, or hardly more where somebody has meant it
    to take long."""
    return len(ir) <= _most * BRIEF and max(block.count("\n") for block in _border.split(ir)) <= _most * LONG


_at_work = threading.Lock()  # LLVM works for one thread at a time here
keep_whole(_at_work)  # it is not for long
atexit.register(_at_work.acquire)  # nor does the process end there; nobody begins anything any more


def _translated_here(task: Task) -> bytes:
    with _at_work:
        return translated(task)


class _Linker:
    """Links objects into memory. LLVM keeps some kilobytes of each object that was unloaded for as long as the linker
    lives; so each serves a few, and goes with the last of them."""

    def __init__(self) -> None:
        target()
        self.jit = llvm.create_lljit_compiler(machine(2), suppress_errors=True)
        self.served = 0


_linker: _Linker | None = None  # who has that and the next only has them while it is at work


_dropped: list[tuple[Any, _Linker]] = []  # code that is to be unloaded, next time that something is loaded


def _linked(codes: Sequence[bytes], exports: Sequence[str], imports: Mapping[str, int]) -> tuple[Any, _Linker]:
    """What unloads objects when it is dropped, and their linker, which must not be dropped before."""
    global _linker
    while _dropped:
        tracker, linker = _dropped.pop()
        tracker.close()
        del linker
    if _linker is None or _linker.served >= SERVED:
        _linker = _Linker()
    _linker.served += 1
    builder = llvm.JITLibraryBuilder().add_current_process()
    for code in codes:
        builder.add_object_img(code)
    for name, address in imports.items():
        builder.import_symbol(name, address)
    for name in exports:
        builder.export_symbol(name)
    return builder.link(_linker.jit, f"sacpy.{next(_numbers)}"), _linker


class Linked:
    """Objects in memory by LLVM's linker, which finds what else their code calls in this process; they stay as long as
    this lives."""

    def __init__(self, codes: Sequence[bytes], exports: Sequence[str], imports: Mapping[str, int]) -> None:
        def link() -> tuple[Any, _Linker]:
            with _at_work:
                return _linked(codes, exports, imports)

        # by another thread: an exception that strikes in llvmlite leaves it locked
        self._tracker, self._linker = Waiting(link).result()

    def __del__(self, dropped: list[tuple[Any, _Linker]] = _dropped) -> None:
        if hasattr(self, "_linker"):
            dropped.append((self._tracker, self._linker))  # likewise

    def address(self, name: str) -> int:
        """Where an exported function is."""
        return int(self._tracker[name])

    def parts(self) -> tuple[Any, ...]:
        """What must stay for the code to stay."""
        return self, self._tracker, self._linker, self._linker.jit


def _runtime_task() -> Task:
    """How hard LLVM tries with the runtime."""
    return Task(runtime_ir(), level=2, passes=0)


def install_runtime(path: Path = OBJECT) -> None:
    """Leaves the runtime, compiled, in the package: what sacpy's installer does. Nothing where the code would not suit
    the machine."""
    if suits():
        task = _runtime_task()
        write_runtime(task.text, emitted(optimised(task), task, portable=True), path)


def compiled_runtime() -> Waiting[bytes] | bytes:
    """The runtime as an object out of the cache; where it has not been compiled before, that begins."""
    task = _runtime_task()
    cache = Cache(native_folder())
    name = f"runtime-{new_digest(repr((task.text, processor(), llvmlite.__version__)).encode()).hexdigest()[:32]}"

    kept = cache.read(name)
    if kept is not None:
        return kept
    with _at_work:
        module = optimised(task)  # short steps, which in another thread would wait for Python between one and the next

    def work() -> bytes:
        with _at_work:
            code = emitted(module, task)
        cache.write(name, code)
        return code

    return Waiting(work)

"""Processes in which LLVM translates what may take it long: there it can be stopped, which it cannot within this one.

In: a `Task`. Out: what is wanted of it; whatever is raised in the waiting thread meanwhile (Ctrl-C, a limit on time)
gets through at once, and the process is killed. So nothing goes on that nobody waits for, neither a fork nor the end of
this process wait for LLVM, and several threads translate at the same time.

A process is started when it is first needed, or a little sooner (`begin_compiler`), which takes it some 60 milliseconds
of another core; it serves one task at a time, stays for a minute, and ends with the process that started it, however
that ends.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from weakref import WeakSet

from sacpy.jit.host.compiler_process import IDLE, READY, REPLY, packed
from sacpy.jit.host.translate import TASKS, Task
from sacpy.jit.host.waiting import PATIENCE, Waiting

SECONDS = 10  # of the processor that LLVM may take for a task; ordinary units of 500 kB take 1.4
SACPY = str(Path(__file__).parents[3])  # the folder that the package lies in
START = (
    "import sys; sys.path += sys.argv[1:]; from sacpy.base.deferring import load; load('llvmlite.binding'); "
    "from sacpy.jit.host.compiler_process import serve; serve()"
)


class CompilerLost(Exception):
    """No process can be started, or it has ended: it took too long, wanted too much memory, or LLVM failed."""


class _Compiler:
    """A process. It is ready, or about to be; it ends with this object."""

    def __init__(self) -> None:
        if not sys.executable or getattr(sys, "frozen", False):
            raise CompilerLost("there is no Python to start")
        import llvmlite

        folders = dict.fromkeys([SACPY, str(Path(llvmlite.__path__[0]).parent)])
        command = [sys.executable, *(["-B"] if sys.dont_write_bytecode else []), "-I", "-S", "-c", START, *folders]
        pipe = subprocess.PIPE
        try:  # a session of its own: signals of the terminal are not for it
            self.process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, bufsize=0, start_new_session=True
            )
        except OSError as error:
            raise CompilerLost(str(error)) from None
        self.owner = os.getpid()
        self.ready = False
        self.used = time.monotonic()
        self.tasks = 0

    def ask(self, request: bytes) -> bytes:
        """The reply to a request. Raises `CompilerLost`; `RuntimeError` with the message of LLVM's error."""
        assert self.process.stdin is not None
        if not self.ready and self._read(len(READY)) != READY:
            raise CompilerLost("it is not what it should be")
        self.ready = True
        view = memoryview(request)
        try:
            while view:
                view = view[self.process.stdin.write(view) or 0 :]
        except OSError:
            raise CompilerLost("it has ended") from None
        length, failed = REPLY.unpack(self._read(REPLY.size))
        found = self._read(length)
        if failed:
            raise RuntimeError(found.decode(errors="replace"))
        return found

    def _read(self, count: int) -> bytes:
        assert self.process.stdout is not None
        data = bytearray()
        while len(data) < count:
            more = self.process.stdout.read(count - len(data))
            if not more:
                raise CompilerLost("it has ended")
            data += more
        return bytes(data)

    @property
    def alive(self) -> bool:
        """Whether it may be asked, and does not end before long."""
        return self.process.poll() is None and time.monotonic() - self.used < IDLE / 2

    def end(self) -> None:
        """Ends it, whatever it does; in a process that was forked, where it is somebody else's, lets go of it."""
        if self.owner == os.getpid():
            self.process.kill()
            self.process.wait()
        self.process.returncode = self.process.returncode or 0

    def __del__(self) -> None:
        if hasattr(self, "owner"):
            self.end()
            for pipe in (self.process.stdin, self.process.stdout):
                if pipe is not None:
                    pipe.close()


class Translation:
    """What a process has been asked for. Whoever does not want it any more ends it."""

    def __init__(self, pool: _Pool, compiler: _Compiler, task: Task) -> None:
        self._pool, self._compiler = pool, compiler
        self._waiting = Waiting(lambda: compiler.ask(packed(task, SECONDS)))

    def result(self) -> bytes:
        """What is wanted. Raises `CompilerLost`; `RuntimeError` where the text is no module; whatever else is raised
        ends the process."""
        try:
            found = self._waiting.result()
        except RuntimeError:
            self._pool.back(self._compiler)
            raise
        except BaseException:
            self.end()
            raise
        self._pool.back(self._compiler)
        return found

    def end(self) -> None:
        """Ends the process."""
        self._compiler.end()


class _Pool:
    """The processes of this one. `most`: at once; what comes then has to wait. An exception may strike anywhere between
    these lines: a process that is lost on the way ends with its object, and leaves no trace here."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._lock = threading.Lock()
        self._idle: list[_Compiler] = []
        self._all: WeakSet[_Compiler] = WeakSet()

    def translated(self, task: Task) -> bytes:
        """What is wanted of a task. Raises `CompilerLost`; `RuntimeError` where the text is no module."""
        compiler = self._free()
        while compiler is None:
            time.sleep(PATIENCE)
            compiler = self._free()
        return Translation(self, compiler, task).result()

    def begun(self, task: Task) -> Translation | None:
        """A translation that goes on beside this thread, if a process is free or may be started. Raises
        `CompilerLost`."""
        compiler = self._free()
        return None if compiler is None else Translation(self, compiler, task)

    def begin(self) -> None:
        """Sees to it that a process is there, or on its way. Raises `CompilerLost`."""
        with self._lock:
            self._forget_ended()
            if not self._idle and self._room():
                self._idle.append(self._started())

    def _free(self) -> _Compiler | None:
        """A process that nobody else asks now, if there may be one more."""
        with self._lock:
            self._forget_ended()
            if self._idle:
                return self._idle.pop()
            return self._started() if self._room() else None

    def _room(self) -> bool:
        """Whether there may be one more. One that has ended does not count, though an exception may still hold it."""
        return sum(c.process.poll() is None for c in tuple(self._all)) < self.most

    def _started(self) -> _Compiler:
        compiler = _Compiler()
        self._all.add(compiler)
        return compiler

    def back(self, compiler: _Compiler) -> None:
        compiler.used = time.monotonic()
        compiler.tasks += 1
        if compiler.tasks < TASKS:
            with self._lock:
                self._idle.append(compiler)

    def _forget_ended(self) -> None:
        self._idle = [c for c in self._idle if c.alive]

    def end(self) -> None:
        """Ends all processes."""
        for compiler in tuple(self._all):
            compiler.end()

    def leave(self) -> None:
        """In a forked process: they are the other one's."""
        self.__init__(self.most)  # type: ignore[misc]


_pool = _Pool(2 * max(2, os.cpu_count() or 1))
atexit.register(_pool.end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.leave)

begin, begun, translated = _pool.begin, _pool.begun, _pool.translated

__all__ = ["CompilerLost", "Translation", "begin", "begun", "translated"]

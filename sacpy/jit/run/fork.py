"""A process beside this one that compiles: forked from it, it knows the program as it was then, and takes nothing from
the one that is interpreted meanwhile, not even Python's lock.

In: what answers requests, there. Out: a `Fork` that is asked, here, and what it answers, when it is there: `Asked`, a
job like those of `beside`. A request is plain data about what both know (the number of a unit, a kind); an answer is
bytes, none where answering has failed, which is then found out here. What has come about since is told first. Requests
are answered one after the other. When the process that has it ends, or nobody has it any more, or nobody has asked it
for a while, a fork comes to the end of what it is doing and ends too: what it has made is in the cache for the next
run. And `detach`: what is done behind the end of a command, in a process that nobody waits for.
"""

from __future__ import annotations

import gc
import marshal
import os
import signal
import struct
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cached_property
from io import RawIOBase
from time import monotonic, sleep
from typing import Any, NoReturn, TypeVar

from sacpy.base.processors import leave
from sacpy.interp.limits import unstruck
from sacpy.jit.beside import PATIENCE, Job
from sacpy.jit.options import cores

T = TypeVar("T")
IDLE = 60.0  # seconds without a request after which a fork ends
LONG = 0.006  # seconds without an answer after which there is time for something else
SECONDS = 10  # of the processor that an answer may take
NICE = 5  # by how much a fork gives way to others
CHUNK = 1 << 20  # bytes that are read at once
_HEAD = struct.Struct("<QQ")  # of a request or answer: its number, and the bytes that follow
_TOLD = (1 << 64) - 1  # for a number: nobody waits for an answer
ROOM = 1 << 20  # bytes that may wait to be read, where the system lets us
# threads of ours that hold nothing which a fork needs
_HARMLESS = frozenset({"sacpy watchdog", "sacpy signals", "sacpy resting"})
_left: list[int] = []  # processes that nobody has any more, to be taken off the system's list when they have ended


def may_fork() -> bool:
    """Whether this process may be forked now: it is on Linux, and has no threads but its first one and some of ours, so
    that none holds a lock for ever in the fork."""
    first = threading.main_thread()
    if sys.platform != "linux" or threading.current_thread() is not first:
        return False
    return all(t is first or t.name in _HARMLESS for t in threading.enumerate())


def detach(action: Callable[[], None]) -> None:
    """Does something in a process of its own that nobody waits for, the other processor being free for it; nothing
    where this one may not be forked, or there is no other."""
    if cores() == 1 or not may_fork():
        return
    try:
        process = _forked()
    except OSError:
        return
    if process == 0:
        try:
            _let_go()
            signal.alarm(2 * SECONDS)
            action()
        finally:
            os._exit(0)
    _left.append(process)


class Fork:
    """The other process. `waiting`: requests without an answer so far; `ended`: it answers no more."""

    def __init__(
        self,
        answer: Callable[[Any], bytes],
        prepare: Callable[[], None] | None = None,
        hear: Callable[[Any], None] | None = None,
        idle: Callable[[], Iterator[None]] | None = None,
    ) -> None:
        """`prepare`: what it does first; `hear`: what it does about what it is told; `idle`: the steps of what it does
        as long as it is asked and told nothing. Raises `OSError` where there is none to be had."""
        self.waiting: deque[Asked[Any]] = deque()
        self.ended = True
        self._owner = os.getpid()
        self._found = bytearray()
        self._number = 0  # of the request whose answer comes next
        self._since = 0.0  # when the last one came
        _left[:] = [process for process in _left if not _has_ended(process)]
        ends: list[int] = []
        try:
            ends += os.pipe()
            ends += os.pipe()
            self._process = _forked()
        except OSError:
            for end in ends:
                os.close(end)
            raise
        requests, self._asks, self._answers, answers = ends
        if self._process == 0:
            _serve(answer, prepare, hear, idle, requests, answers)
        os.close(requests)
        os.close(answers)
        os.set_blocking(self._answers, False)
        self.ended = False

    @property
    def is_busy(self) -> bool:
        """Whether there are requests without an answer."""
        self.look()
        return bool(self.waiting)

    @property
    def backlog(self) -> float:
        """Seconds, about, until there are answers to all requests."""
        if not self.is_busy:
            return 0.0
        first, *others = self.waiting
        passed = monotonic() - max(first.begun, self._since)
        return max(first.seconds - passed, passed / 2) + sum(job.seconds for job in others)

    def ask(self, job: Asked[Any], request: Any) -> None:
        """Wants an answer for a job."""
        data = marshal.dumps(request)
        try:
            head = _HEAD.pack(self._number + len(self.waiting), len(data))
            os.write(self._asks, head + data)  # short, and so written as a whole
            self.waiting.append(job)
        except BaseException as error:  # nobody knows what it has been asked
            self.end()
            job.answer(b"")
            if not isinstance(error, OSError):
                raise

    def tell(self, message: Any) -> bool:
        """Lets it know something, without waiting; whether that has been possible."""
        data = marshal.dumps(message)
        if self.ended or self.waiting or len(data) + _HEAD.size > self._room // 2:
            return False
        try:
            os.write(self._asks, _HEAD.pack(_TOLD, len(data)) + data)
            return True
        except BaseException as error:
            self.end()
            if not isinstance(error, OSError):
                raise
            return False

    @cached_property
    def _room(self) -> int:
        """The bytes that may wait for the other process to read them."""
        return _widened(self._asks)

    def look(self) -> None:
        """Gives the answers that have come to those that wait for them."""
        try:
            while not self.ended:
                data = os.read(self._answers, CHUNK)
                if not data:
                    self.end()
                self._found += data
                while len(self._found) >= _HEAD.size:
                    number, length = _HEAD.unpack_from(self._found)
                    end = _HEAD.size + length
                    if number != self._number:
                        self.end()
                    if self.ended or len(self._found) < end:
                        break
                    self._number += 1
                    self._since = monotonic()
                    self.waiting.popleft().answer(bytes(self._found[_HEAD.size : end]))
                    del self._found[:end]
        except BlockingIOError:
            pass  # nothing more for now
        except BaseException:  # Ctrl-C, or a limit: nobody knows how much of an answer has been read
            self.end()
            raise

    def end(self) -> None:
        """Wants nothing of it any more; who still waits gets nothing."""
        if self.ended:
            return
        self.ended = True
        os.close(self._asks)
        os.close(self._answers)
        if self._owner == os.getpid():  # not in a fork of this one, whose it is not
            _left.append(self._process)
        while self.waiting:
            self.waiting.popleft().answer(b"")

    def __del__(self) -> None:
        self.end()


class Asked(Job[T]):
    """What a fork is asked for, which is expected to take so many `seconds`. `finish` makes the result of the answer;
    `meanwhile` is done here, once, where there is none for `LONG`."""

    def __init__(
        self,
        fork: Fork,
        request: Any,
        finish: Callable[[bytes], T],
        meanwhile: Callable[[], None] | None = None,
        seconds: float = 0.0,
    ) -> None:
        self.seconds = seconds
        self.begun = monotonic()
        self.done = False
        self.away = True
        self._fork = fork
        self._request = request
        self._finish = finish
        self._meanwhile = meanwhile
        self._answer = b""

    def start(self) -> Asked[T]:
        """Begins."""
        self._fork.ask(self, self._request)
        return self

    def answer(self, data: bytes) -> None:
        """The fork has answered."""
        self._answer, self.done = data, True

    @property
    def over(self) -> bool:
        """Whether there is an answer."""
        if not self.done:
            self._fork.look()
        if not self.done and self._meanwhile is not None and monotonic() > self.begun + LONG:
            meanwhile, self._meanwhile = self._meanwhile, None
            meanwhile()
        return self.done

    def result(self) -> T:
        """What has been made; waits for it, though not for ever."""
        end = monotonic() + 2 * SECONDS
        while not self.over:
            if monotonic() > end:
                self._fork.end()
            sleep(PATIENCE)
        return self._finish(self._answer)

    def settle(self) -> None:
        """Nothing: the fork has a program of its own."""


def _has_ended(process: int) -> bool:
    try:
        return os.waitpid(process, os.WNOHANG) != (0, 0)
    except OSError:
        return True


def _forked() -> int:
    """Forks: 0 in the new process, in which signals are blocked; its number in this one. Raises `OSError`."""
    with unstruck(), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # about threads, which those of libraries count as
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        process = -1
        try:
            process = os.fork()
            return process
        finally:
            if process != 0:
                signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _widened(end: int) -> int:
    """The bytes that may wait in a pipe, more than usual if possible."""
    import fcntl

    with suppress(OSError):
        fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, ROOM)
    return int(fcntl.fcntl(end, fcntl.F_GETPIPE_SZ))


def _serve(
    answer: Callable[[Any], bytes],
    prepare: Callable[[], None] | None,
    hear: Callable[[Any], None] | None,
    idle: Callable[[], Iterator[None]] | None,
    requests: int,
    answers: int,
) -> NoReturn:
    """What the other process does."""
    try:
        import resource
        import select

        _let_go(requests, answers)
        leave(os.getppid())
        if prepare is not None:
            prepare()
        with open(requests, "rb", buffering=0) as source, open(answers, "wb", buffering=0) as sink:
            steps = iter(()) if idle is None else idle()
            while not select.select([source], [], [], 0)[0] and next(steps, steps) is not steps:
                pass
            while select.select([source], [], [], IDLE)[0]:
                head = source.read(_HEAD.size)
                if not head:
                    break
                at, length = _HEAD.unpack(head)
                request = marshal.loads(_read(source, length))
                signal.alarm(2 * SECONDS)
                used = resource.getrusage(resource.RUSAGE_SELF)
                _, most = resource.getrlimit(resource.RLIMIT_CPU)
                resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + 1 + SECONDS, most))
                try:
                    if at == _TOLD:
                        assert hear is not None
                        hear(request)
                        found = b""
                    else:
                        found = answer(request)
                except Exception:
                    found = b""
                signal.alarm(0)
                if at == _TOLD:
                    continue
                rest = memoryview(_HEAD.pack(at, len(found)) + found)
                with suppress(BrokenPipeError):  # nobody waits for it any more: the cache has it, for the next run
                    while rest:
                        rest = rest[sink.write(rest) :]
    finally:
        os._exit(0)


def _let_go(*kept: int) -> None:
    """In a new process: it has no files but those that are `kept`, gives way to others, and ends by itself, not by what
    is typed."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGTERM, signal.SIGALRM, signal.SIGXCPU):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal: for the other one, with which this one ends
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    gc.disable()
    nothing = os.open(os.devnull, os.O_RDWR)
    # who waits for the end of what the program prints does not wait for this
    for name in os.listdir("/proc/self/fd"):
        file = int(name)
        if file in (nothing, *kept):
            continue
        if file < 3:
            os.dup2(nothing, file)
        else:
            with suppress(OSError):
                os.close(file)
    os.nice(NICE)


def _read(source: RawIOBase, length: int) -> bytes:
    """So many bytes, which may come in pieces; fewer where there are no more."""
    data = bytearray()
    while len(data) < length and (more := source.read(length - len(data))):
        data += more
    return bytes(data)

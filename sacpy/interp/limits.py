"""Limits of a run: memory, time, depth of calls, output.

In: `Limits`, and an action that runs a program. Out: what the action gives; or an exception in the middle of it, raised
by a thread that watches the clock and the process's memory. Without a limit on either there is no such thread, and
nothing slows down.
"""

from __future__ import annotations

import _thread
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, ParamSpec, TypeVar

from sacpy.interp import memory
from sacpy.interp.errors import MemoryUp, Stopped, TimeUp
from sacpy.nodes import Node, Record

T = TypeVar("T")
P = ParamSpec("P")
DEPTH = 20_000
POLL = 0.01  # seconds between two looks
SOONEST = 0.001  # the same, where little memory is left
RATE = 4e9  # bytes in a second that a run takes at most, in small pieces
_MAIN = threading.main_thread().ident
AGAIN = 0.2  # seconds until a run that has caught the exception gets another one
IDLE = 100  # looks at nothing after which the watching thread ends


class Limits(Node):
    """What one call may use: `memory` in bytes that it adds to the process, `seconds`, `depth` of nested calls (Python
    frames; at least Python's own recursion limit), `output` in bytes to each of the two output streams. None: no limit,
    except that no array may be larger than the machine's memory."""

    memory: int | None = None
    seconds: float | None = None
    depth: int = DEPTH
    output: int | None = None

    def __post_init__(self) -> None:
        for name in ("memory", "seconds", "depth", "output"):
            value = getattr(self, name)
            if (
                isinstance(value, bool)
                or not isinstance(value, int | float | None)
                or (value is not None and not value > 0)
                or (name == "depth" and value is None)
            ):
                raise ValueError(f"the limit {name} must be a positive number, not {value!r}")


class _Watch(Record, eq=False):
    """One run under observation: its thread, when it must end, what memory it may take, what ends code that runs
    outside Python, and when it is stopped next."""

    thread: int
    deadline: float
    memory: memory.Run | None
    stop: Callable[[], None]
    next: float = 0.0
    struck: bool = False


def _nothing() -> None:
    """Only Python code runs."""


class Watchdog:
    """Stops runs that go beyond their limits. One thread looks after all of the process; it starts with the first run
    that has limits, and ends when there was none for a while."""

    def guard(self, limits: Limits, action: Callable[[], T], stop: Callable[[], None] = _nothing) -> T:
        """Does something within limits on time and memory. `stop` is called, from another thread, when it must end:
        native code does not see Python's exceptions. Raises `Stopped` where the action does not deal with it itself."""
        if limits.seconds is None and limits.memory is None:
            with Heeding():
                return action()
        watch: _Watch | None = None
        with Heeding(), memory.budget(limits.memory) as room:
            try:
                deadline = float("inf") if limits.seconds is None else time.monotonic() + limits.seconds
                watch = _Watch(threading.get_ident(), deadline, room, stop)
                _watcher.begin(watch)
                try:
                    return action()
                finally:
                    _watcher.end(watch)
            except BaseException:
                if watch is not None:
                    _watcher.end(watch)  # it may have struck inside the call above
                raise


class _Watcher:
    """The runs under observation, and the thread."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._watches: list[_Watch] = []
        self._thread: threading.Thread | None = None

    def begin(self, watch: _Watch) -> None:
        """From now on, looks after a run."""
        with self.lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._loop, name="sacpy watchdog", daemon=True)
                self._thread.start()
            self._watches.append(watch)  # after the thread has started, which has this one's number for a moment

    def end(self, watch: _Watch) -> None:
        """No longer does. To be called by the thread of the run."""
        with self.lock:
            if watch in self._watches:
                self._watches.remove(watch)
        if watch.struck:
            watch.struck = False
            _take_back(watch.thread)

    def next_at(self, next: float) -> None:
        """The run of this thread is not stopped before then."""
        here = threading.get_ident()
        with self.lock:
            for watch in self._watches:
                if watch.thread == here:
                    watch.next = next

    def _loop(self) -> None:
        idle, pause = 0, POLL
        while True:
            time.sleep(pause)
            with self.lock:
                idle = 0 if self._watches else idle + 1
                if idle > IDLE:
                    self._thread = None
                    return
                pause = min((_look(watch) for watch in self._watches), default=POLL)


_watcher = _Watcher()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_watcher.__init__)  # type: ignore[misc]


class Heeding:
    """A context in which an exception is heeded that strikes where Python has nobody to give it to, in a finaliser or
    in the callback of a weak reference, say; Python prints it, and it is lost. Those of limits are not printed, and
    come again soon; so does Ctrl-C. One that strikes a thread before it runs anything, having been meant for the one
    that starts it (Python 3.11 gives both the same number for a moment), would leave that one waiting for ever: the new
    thread begins once more."""

    __slots__ = ()
    runs = 0  # of the main thread, which Ctrl-C is for

    def __enter__(self) -> None:
        before = sys.unraisablehook
        if not getattr(before, "sac_heeds", False):

            def heed(lost: Any) -> None:
                if not _is_heeded(lost):
                    before(lost)

            heed.sac_heeds = True  # type: ignore[attr-defined]
            sys.unraisablehook = heed
        Heeding.runs += threading.get_ident() == _MAIN

    def __exit__(self, *_: object) -> None:
        Heeding.runs -= threading.get_ident() == _MAIN


def _is_heeded(lost: Any) -> bool:
    """Sees to it that an exception that is being lost comes again, if it is one that was to end a run."""
    if lost.exc_type is KeyboardInterrupt and Heeding.runs > 0 and threading.get_ident() == _MAIN:
        again = threading.Timer(POLL, _thread.interrupt_main)  # now it would strike here, and be lost again
        again.daemon = True
        with unstruck():
            again.start()
        return True
    if lost.exc_type is None or not issubclass(lost.exc_type, Stopped):
        return False
    _watcher.next_at(0.0)  # the run has lost what was to stop it
    begin, thread = lost.object, getattr(lost.object, "__self__", None)
    if isinstance(thread, threading.Thread) and thread.ident is None:
        begin()
    return True


def calmly(action: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    """Calls something that is soon done, and does not mind to be done again, whatever limits the run of this thread has
    gone beyond: they stop it later. What a run that was stopped has to say takes its time where calls nest deep."""
    while True:
        try:
            _watcher.next_at(float("inf"))
            try:
                return action(*args, **named)
            finally:
                _watcher.next_at(time.monotonic() + AGAIN)
        except Stopped:  # which had been ordered already
            pass


def unstruck() -> AbstractContextManager[object]:
    """A lock: while it is held, nothing strikes. For starting threads: until a new one runs, Python (3.11) takes what
    is ordered for the one that starts it to it."""
    return _watcher.lock


def _look(watch: _Watch) -> float:
    """Stops the run if it has gone too far. The seconds until the next look."""
    now = time.monotonic()
    if now < watch.next:
        return POLL
    left = float("inf") if watch.memory is None or watch.memory.apart else watch.memory.left
    reason: type[Stopped] | None = TimeUp if now > watch.deadline else MemoryUp if left < 0 else None
    if reason is not None:
        watch.struck, watch.next = True, now + AGAIN
        _raise_in(watch.thread, reason)
        watch.stop()
        return POLL
    return min(POLL, max(SOONEST, left / RATE))


class _TakenBack(Stopped):
    """Takes the place of an exception that need not be raised any more."""


def _take_back(thread: int) -> None:
    """Sees to it that this thread raises nothing any more that others have ordered. To order nothing instead will not
    do: Python (3.11) would look for it for ever, and under a debugger or a tracer come to nothing else. What is ordered
    may go to a thread that this one has just started, which has its number for a moment; then it is ordered again."""
    try:
        while True:
            _raise_in(thread, _TakenBack)
            time.sleep(0)
    except _TakenBack:
        pass


def _raise_in(thread: int, reason: type[Stopped]) -> None:
    """Makes another thread raise an exception soon."""
    import ctypes

    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(reason))

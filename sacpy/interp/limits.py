"""Limits of a run: memory, time, depth of calls, output.

In: `Limits`, and an action that runs a program. Out: what the action gives; or an exception in the middle of it, raised by a thread that watches the clock and the process's memory. Without a limit on either there is no such thread, and nothing slows down.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from sacpy.interp import memory
from sacpy.interp.errors import MemoryUp, Stopped, TimeUp
from sacpy.nodes import Node, Record

T = TypeVar("T")
DEPTH = 20_000
POLL = 0.01  # seconds between two looks
AGAIN = 0.2  # seconds until a run that has caught the exception gets another one
IDLE = 100  # looks at nothing after which the watching thread ends


class Limits(Node):
    """What one call may use: `memory` in bytes that it adds to the process, `seconds`, `depth` of nested calls (Python frames; at least Python's own recursion limit), `output` in bytes to each of the two output streams. None: no limit, except that no array may be larger than the machine's memory."""

    memory: int | None = None
    seconds: float | None = None
    depth: int = DEPTH
    output: int | None = None

    def __post_init__(self) -> None:
        for name in ("memory", "seconds", "depth", "output"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float | None) or (value is not None and not value > 0) or (name == "depth" and value is None):
                raise ValueError(f"the limit {name} must be a positive number, not {value!r}")


class _Watch(Record):
    """One run under observation: its thread, when it must end, how large the process may become, what ends code that runs outside Python, and when it is stopped next."""

    thread: int
    deadline: float
    size: int | None
    stop: Callable[[], None]
    next: float = 0.0
    struck: bool = False


def _nothing() -> None:
    """Only Python code runs."""


class Watchdog:
    """Stops runs that go beyond their limits; one run at a time. The thread starts with the first run that has limits, and ends when there was none for a while."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watch: _Watch | None = None
        self._thread: threading.Thread | None = None

    def guard(self, limits: Limits, action: Callable[[], T], stop: Callable[[], None] = _nothing) -> T:
        """Does something within limits on time and memory. `stop` is called, from another thread, when it must end: native code does not see Python's exceptions. Raises `Stopped` where the action does not deal with it itself."""
        if limits.seconds is None and limits.memory is None:
            return action()
        with memory.budget(limits.memory):
            try:
                self._start(limits, stop)
                try:
                    return action()
                finally:
                    self._stop()
            except Stopped:
                self._stop()  # it may have struck inside the call above
                raise

    def _start(self, limits: Limits, stop: Callable[[], None]) -> None:
        size = None if limits.memory is None else memory.resident() + limits.memory
        deadline = float("inf") if limits.seconds is None else time.monotonic() + limits.seconds
        with self._lock:
            self._watch = _Watch(threading.get_ident(), deadline, size, stop)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._loop, name="sacpy watchdog", daemon=True)
                self._thread.start()

    def _stop(self) -> None:
        with self._lock:
            watch, self._watch = self._watch, None
            if watch is not None and watch.struck:
                _raise_in(watch.thread, None)  # takes back one that has not been raised yet

    def _loop(self) -> None:
        idle = 0
        while True:
            time.sleep(POLL)
            with self._lock:
                watch = self._watch
                idle = idle + 1 if watch is None else 0
                if idle > IDLE:
                    self._thread = None
                    return
                if watch is not None:
                    _look(watch)


def _look(watch: _Watch) -> None:
    """Stops the run if it has gone too far."""
    now = time.monotonic()
    if now < watch.next:
        return
    reason: type[Stopped] | None = TimeUp if now > watch.deadline else None
    if reason is None and watch.size is not None and memory.resident() > watch.size:
        reason = MemoryUp
    if reason is not None:
        watch.struck, watch.next = True, now + AGAIN
        _raise_in(watch.thread, reason)
        watch.stop()


def _raise_in(thread: int, reason: type[Stopped] | None) -> None:
    """Makes another thread raise an exception soon; or not, if it has not done so yet."""
    import ctypes

    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), None if reason is None else ctypes.py_object(reason))

"""Waiting for something that Python cannot interrupt, in a way that it can.

In: what is to be done. Out: what it gives; or whatever is raised meanwhile in the thread that waits (Ctrl-C, a limit on
time), which gets through at once. Threads that are never waited for by name do the work, and are used again: an
exception that is meant for a thread may hit one that it is just starting, which has its number for a moment.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from sacpy.interp.limits import unstruck

T = TypeVar("T")
PATIENCE = 0.02  # seconds between two looks for an exception that another thread has ordered
IDLE = 10.0  # seconds without work after which a thread ends


class Waiting(Generic[T]):
    """Something done by another thread, which nobody need wait for, and which the end of the process does not wait for
    either."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._found: list[T | BaseException] = []
        self._done = threading.Lock()  # held until it is; an event has a lock inside that an exception may leave locked
        self._done.acquire()
        self._worker = _given(self.run)

    def run(self) -> None:
        """Does it."""
        try:
            self._found.append(self._work())
        except BaseException as error:
            self._found.append(error)
        self._done.release()

    def result(self) -> T:
        """What the work gave; whatever is raised in this thread meanwhile gets through at once."""
        while not self._found:
            if not self._done.acquire(timeout=PATIENCE) and not self._worker.thread.is_alive() and not self._found:
                self._worker = _given(self.run)  # it never came to it
        result = self._found[0]
        if isinstance(result, BaseException):
            raise result
        return result


class _Worker:
    """A thread that does one thing after the other."""

    def __init__(self) -> None:
        self.tasks: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self.thread = threading.Thread(target=self._run, name="sacpy compiler", daemon=True)
        with unstruck():
            self.thread.start()

    def _run(self) -> None:
        while True:
            try:
                task = self.tasks.get(timeout=IDLE)
            except Empty:
                try:
                    _idle.remove(self)
                except ValueError:  # somebody has just taken it
                    continue
                return
            task()
            del task
            _idle.append(self)


_idle: list[_Worker] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)


def _given(task: Callable[[], None]) -> _Worker:
    """Who does something."""
    try:
        worker = _idle.pop()
    except IndexError:
        worker = _Worker()
    worker.tasks.put(task)
    return worker

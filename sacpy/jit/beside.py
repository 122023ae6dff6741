"""Compiling in a thread beside the program, which is interpreted meanwhile: so a guess that turns out wrong costs
little.

In: what makes a version. Out: a `Job`, which is looked at now and then. LLVM does not need Python's lock, and what
comes before it shares that with the interpreter. There is one job at a time. The first half of one asks the program for
its functions; so it must not go on when nobody runs the program any more and others may change it: it is given up then
(`settle`), at the next `checkpoint`. The second half only deals with text and code, and may go on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import sleep
from typing import Generic, TypeVar

from sacpy.interp.limits import unstruck

T = TypeVar("T")
PATIENCE = 0.0005  # seconds between two looks at a job that is to be given up
AWAY = frozenset({"compile", "keep", "load"})  # stages that ask nobody for anything

_here = threading.local()


class Abandoned(Exception):
    """Nobody wants the job any more."""


class Job(Generic[T]):
    """Something made by a thread of its own, once that is started. `away`: it does not need the program any more."""

    def __init__(self, work: Callable[[], T]) -> None:
        self.done = False
        self.away = False
        self._given_up = False
        self._found: T | BaseException | None = None
        self._work = work
        self._thread = threading.Thread(target=self._run, name="sacpy compiling", daemon=True)

    def start(self) -> Job[T]:
        """Begins."""
        with unstruck():
            self._thread.start()
        return self

    def _run(self) -> None:
        _here.job = self
        try:
            self._found = self._work()
        except BaseException as error:
            self._found = error
        self.done = True

    @property
    def over(self) -> bool:
        """Whether it has come to an end: done, or struck by an exception that was meant for the thread that started
        it."""
        return self.done or not self._thread.is_alive()

    def result(self) -> T:
        """What has been made; waits for it. Raises what its making has raised."""
        while not self.over:
            sleep(PATIENCE)
        if isinstance(self._found, BaseException):
            raise self._found
        if self._found is None:
            raise Abandoned
        return self._found

    def settle(self) -> None:
        """Sees to it that the job does not ask for the program any more: gives it up, if it still does."""
        self._given_up = True
        while not (self.over or self.away):
            sleep(PATIENCE)

    def enter(self, stage: str) -> None:
        """The job comes to a stage. Raises `Abandoned`."""
        self.away = stage in AWAY
        if self._given_up and not self.away:
            raise Abandoned


def is_beside() -> bool:
    """Whether this is the thread of a job."""
    return getattr(_here, "job", None) is not None


def checkpoint(stage: str = "") -> None:
    """Between two steps of compiling. Raises `Abandoned` where this is a job that nobody wants any more."""
    job: Job[object] | None = getattr(_here, "job", None)
    if job is not None:
        job.enter(stage)

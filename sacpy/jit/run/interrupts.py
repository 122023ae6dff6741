"""Ctrl-C while native code runs: Python's own handler has to wait for it to return, so somebody must tell it to.

In: what stops native code. Out: a context in which Ctrl-C does, from a thread that reads the numbers of the signals
that arrive. Handlers stay as they are: what Ctrl-C means is for the program to say. Python tells one file of signals;
where a program that embeds sacpy has named one (an event loop does), that is left alone, and Ctrl-C waits for native
code.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator

from sacpy.interp.limits import unstruck


class _Ear:
    """A thread that hears of signals; there is one for the process, since there is one place to be told of them."""

    def __init__(self) -> None:
        self.stops: list[Callable[[], None]] = []
        self._read, self.write = os.pipe()
        os.set_blocking(self.write, False)
        try:
            with unstruck():
                threading.Thread(target=self._listen, name="sacpy signals", daemon=True).start()
        except RuntimeError:
            os.close(self._read)
            os.close(self.write)
            raise

    def _listen(self) -> None:
        while True:
            if signal.SIGINT in os.read(self._read, 64):
                for stop in tuple(self.stops):
                    stop()


_ears: list[_Ear] = []


def _ear() -> _Ear | None:
    """The one of this process; None where there are no threads, as in a browser."""
    if not _ears:
        try:
            _ears.append(_Ear())
        except RuntimeError:
            return None
    return _ears[0]


@contextlib.contextmanager
def listening(stop: Callable[[], None]) -> Iterator[None]:
    """Inside, Ctrl-C calls `stop`, from another thread. In any thread but the main one, which alone is told of signals,
    where somebody else is told of them, and without threads, this does nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ear = _ear()
    if ear is None:
        yield
        return
    before = signal.set_wakeup_fd(ear.write, warn_on_full_buffer=False)
    if before not in (-1, ear.write):
        signal.set_wakeup_fd(before)
        yield
        return
    ear.stops.append(stop)
    try:
        yield
    finally:
        ear.stops.remove(stop)
        # one that was struck on its way may have left it
        signal.set_wakeup_fd(before if before != ear.write or ear.stops else -1)

"""A sign of life while something takes long.

In: a world, and an action that runs in it. Out: after a second a spinner with the elapsed time on standard error, if
that is a terminal. It is erased before anything is written or read, and when the action ends; nothing of it ever
reaches a pipe or a file.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

from sacpy.base.terminal import has_escapes, is_terminal
from sacpy.interp.limits import unstruck
from sacpy.interp.streams import RawFile
from sacpy.interp.world import World

DELAY = 1.0  # seconds before it appears
STEP = 0.1  # seconds between two pictures
FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
PLAIN_FRAMES = "|/-\\"
ERASE = b"\r\x1b[K"
LINE_END = ord("\n")


class Progress:
    """The spinner of a world. `at_start`: whether the cursor stands at the beginning of a line; elsewhere nothing is
    drawn, for it could not be erased."""

    def __init__(self, world: World) -> None:
        self.at_start = True
        self._shows = has_escapes(sys.stderr)
        self._screen: RawFile = world.stderr.raw
        self._lock = threading.RLock()
        self._drawn = False
        self._end = threading.Event()
        self._pauses = 0
        self._frames = (
            FRAMES if (getattr(sys.stderr, "encoding", None) or "").lower().replace("-", "") == "utf8" else PLAIN_FRAMES
        )
        self._line_ends_on = world.stdout.raw if is_terminal(sys.stdout) else world.stderr.raw
        world.stdout.raw = cast(RawFile, _Watched(world.stdout.raw, self, is_terminal(sys.stdout)))
        world.stderr.raw = cast(RawFile, _Watched(world.stderr.raw, self, is_terminal(sys.stderr)))
        world.stdin.raw = cast(RawFile, _Watched(world.stdin.raw, self, False))
        world.before_process = self.pause

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Shows the spinner while the action within takes longer than `DELAY`."""
        if not self._shows:
            yield
            return
        self.stop()
        end = self._end = threading.Event()
        self._pauses = 0
        with unstruck():
            threading.Thread(
                target=self._draw, args=(end, time.monotonic()), name="sacpy progress", daemon=True
            ).start()
        try:
            yield
        finally:
            self.stop()

    def stop(self) -> None:
        """Ends the spinner. For whoever catches Ctrl-C, which may come before `watching` can do it."""
        self._end.set()
        self.erase()

    def pause(self) -> None:
        """Nothing is drawn until the action ends, or `resume`."""
        with self._lock:
            self._pauses += 1
            self.erase()

    def resume(self) -> None:
        """Takes a `pause` back."""
        with self._lock:
            self._pauses -= 1

    def erase(self) -> None:
        """Takes the spinner off the screen."""
        with self._lock:
            if self._drawn:
                self._drawn = False
                self._screen.write(ERASE)

    def end_line(self) -> None:
        """Ends the line on a terminal if it has been begun."""
        with self._lock:
            if not self.at_start:
                self.at_start = True
                self._line_ends_on.write(b"\n")

    def clear_line(self) -> None:
        """Takes the `^C` away that a terminal may have shown in a line of its own."""
        with self._lock:
            if self.at_start and self._shows:
                self._screen.write(ERASE)

    @contextmanager
    def erased(self) -> Iterator[None]:
        """A stretch in which the spinner is off the screen and stays off."""
        with self._lock:
            self.erase()
            yield

    def _draw(self, end: threading.Event, start: float) -> None:
        number = 0
        wait = DELAY
        while not end.wait(wait):
            wait = STEP
            with self._lock:
                if end.is_set() or self._pauses or not self.at_start:
                    continue
                frame = self._frames[number % len(self._frames)]
                number += 1
                try:
                    self._screen.write(f"\r{frame} {elapsed(time.monotonic() - start)}\x1b[K".encode())
                except OSError:  # the terminal is gone
                    return
                self._drawn = True


def elapsed(seconds: float) -> str:
    """A duration as people read it: `3.2 s`, `2:05 min`, `1:02:05 h`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02} min" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02}:{rest:02} h"


class _Watched:
    """A stream of the world. What is written to a terminal tells where the cursor stands; while something is read
    nothing is drawn."""

    def __init__(self, raw: RawFile, progress: Progress, terminal: bool) -> None:
        self._raw, self._progress, self._terminal = raw, progress, terminal

    def write(self, data: bytes, /) -> int | None:
        """Writes."""
        with self._progress.erased():
            if data and self._terminal:
                self._progress.at_start = False  # until the last byte is known to be out: Ctrl-C may come in between
            written = self._raw.write(data)
            if written and self._terminal:
                self._progress.at_start = data[written - 1] == LINE_END
            return written

    def read(self, size: int = -1, /) -> bytes | None:
        """Reads."""
        self._progress.pause()
        try:
            return self._raw.read(size)
        finally:
            self._progress.resume()

    def __getattr__(self, name: str) -> object:
        return getattr(self._raw, name)

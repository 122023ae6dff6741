"""Room for recursion over deeply nested programs, and for deep recursion in programs.

The parser bounds nesting, but a sum of ten thousand terms is a legal tree ten thousand deep, and each level takes a few
Python frames. Python has one recursion limit for all threads, so there is one count of who needs how much: the limit is
the largest wish while there is any, and then what it was before."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import TypeVar

T = TypeVar("T")
FRAMES = 200_000

_lock = threading.Lock()
_wishes: list[int] = []
_before = 0


class Room:
    """A context in which at least `frames` Python frames may be nested (a few less, counted from the bottom of the
    stack)."""

    __slots__ = ("_frames",)

    def __init__(self, frames: int) -> None:
        self._frames = frames

    def __enter__(self) -> None:
        global _before
        with _lock:
            if not _wishes:
                _before = sys.getrecursionlimit()
            _wishes.append(self._frames)
            if sys.getrecursionlimit() < self._frames:
                sys.setrecursionlimit(self._frames)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with _lock:
            _wishes.remove(self._frames)
            wanted = max(_before, *_wishes) if _wishes else _before
            if sys.getrecursionlimit() != wanted:
                sys.setrecursionlimit(wanted)


def deeply(action: Callable[[], T]) -> T:
    """Calls `action` with a recursion limit that no accepted program reaches."""
    with Room(FRAMES):
        return action()

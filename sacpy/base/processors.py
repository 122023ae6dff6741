"""On which processors processes run that have just begun, where the system lets them say so.

Some systems (the virtual machines on which this was measured) have a process that has just begun take turns with the
one that began it, on one processor, as long as both have done little so far, though others are free: to begin a second
one while the first is starting then gains nothing. Where there is one processor only, nothing is done.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

_FIELD = 36  # of those behind the name in /proc/PROCESS/stat: the processor


def _processor(process: int | str) -> int:
    """That on which a process ran last. Raises `OSError` or `ValueError` where that is not to be had."""
    with open(f"/proc/{process}/stat", "rb") as file:
        return int(file.read().rpartition(b")")[2].split()[_FIELD])


_staying: set[int] = set()  # where this process might be if it did not stay on its processor
_left: set[int] = set()  # processors that it keeps off
_waited = False  # whether who runs on them waits


def leave(process: int) -> None:
    """From now on this process keeps off the processor on which that one runs, from which it was forked."""
    with suppress(OSError, ValueError):  # there may be no other
        its = {_processor(process)}
        os.sched_setaffinity(0, (_staying or os.sched_getaffinity(0)) - its)
        _left.update(its)


@contextmanager
def everywhere() -> Iterator[None]:
    """Inside, this process uses that one too: who is on it waits for what this one does."""
    global _waited
    with suppress(OSError):
        os.sched_setaffinity(0, os.sched_getaffinity(0) | _left)
    _waited = True
    try:
        yield
    finally:
        _waited = False
        with suppress(OSError):
            os.sched_setaffinity(0, os.sched_getaffinity(0) - _left)


def free() -> int:
    """How many processors there are for this process beside the one that it was forked from."""
    return max(1, len(os.sched_getaffinity(0)) - (not _left and not _waited))


def stay() -> Callable[[], None]:
    """Until what this returns is called, this thread, with those that it starts, stays on the processor it is on."""
    try:
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {_processor("self")})
        _staying.update(before)
    except (AttributeError, OSError, ValueError):
        return lambda: None

    def move_again() -> None:
        _staying.clear()
        with suppress(OSError):
            os.sched_setaffinity(0, before)

    return move_again

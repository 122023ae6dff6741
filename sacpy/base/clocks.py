"""Clocks that not every system has.

In: what Python's `time` has here, and what Linux tells of its processors. Out: `thread_time`, the seconds of processor
time of this thread (where there is no such clock there are no threads either, as in Python compiled to WebAssembly:
what the process has taken is the same); and whether others leave a processor unused.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import NamedTuple

thread_time: Callable[[], float] = getattr(time, "thread_time", time.process_time)

TICK = 0.01  # seconds, in /proc/stat
LONG_ENOUGH = 4  # ticks of each processor, in which something can be seen
SPARE = 0.5  # of a processor, that has to be unused


class Usage(NamedTuple):
    """What all processors have done so far, in ticks: in all, those of them without work, those of this process."""

    ticks: int
    idle: int
    own: float


def usage() -> Usage | None:
    """That of now; None where the system does not tell."""
    try:
        with open("/proc/stat", "rb") as file:
            ticks = [int(field) for field in file.readline().split()[1:9]]
    except (OSError, ValueError):
        return None
    return Usage(sum(ticks), sum(ticks[3:5]), time.process_time() / TICK)


_before = usage()


def is_processor_free() -> bool:
    """Whether others have left a processor unused since this was asked last (or since the process started), beside the
    one that asks, as far as the system tells."""
    global _before
    before, now, processors = _before, usage(), os.cpu_count() or 1
    if before is None or now is None or now.ticks - before.ticks < LONG_ENOUGH * processors:
        return True
    _before = now
    passed = now.ticks - before.ticks
    others = passed - (now.idle - before.idle) - (now.own - before.own)
    return others / passed * processors <= processors - 1 - SPARE

"""How much memory a run may take, asked before a large array is made.

In: the size of what is about to be made. Out: nothing, or a `Fault` (E0703). What a run may take is set around it, for its thread. Small arrays are not looked at here: a run that takes its memory in small pieces is stopped by the watchdog.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from math import prod
from pathlib import Path

from sacpy.interp.errors import Fault
from sacpy.nodes import Record

SMALL = 1 << 20  # bytes
AXES = 64  # NumPy's limit
_UNITS = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


class _Budget(threading.local):
    """Of the run in this thread: the bytes it may add to the process, and what the process had when it began."""

    limit: int | None = None
    before: int = 0


_budget = _Budget()


@contextmanager
def budget(limit: int | None) -> Iterator[None]:
    """Inside, the thread may add so many bytes to the process."""
    saved = _budget.limit, _budget.before
    _budget.limit, _budget.before = limit, 0 if limit is None else resident()
    try:
        yield
    finally:
        _budget.limit, _budget.before = saved


def check(shape: tuple[int, ...], itemsize: int) -> None:
    """Raises a Fault if there is no room for an array, or NumPy cannot hold one of that shape."""
    if len(shape) > AXES:
        raise Fault("E0623", f"an array of {len(shape)} axes", notes=(f"arrays have at most {AXES} axes here",), help="keep the elements in an array of fewer axes")
    size = prod(shape) * itemsize
    if size > SMALL:
        reserve(size, shape)


def reserve(size: int, shape: tuple[int, ...] | None = None) -> None:
    """Raises a Fault if there is no room for so many bytes."""
    limit = _budget.limit
    what = "this needs" if shape is None else f"an array of shape [{','.join(map(str, shape))}] needs"
    if limit is not None and size + resident() - _budget.before > limit:
        raise Fault("E0703", f"out of memory: {what} {in_words(size)}, and this session allows {in_words(limit)}", help="use smaller arrays, or raise the memory limit")
    if size > physical():
        raise Fault("E0703", f"out of memory: {what} {in_words(size)}, and this machine has {in_words(physical())}", help="use smaller arrays")


def in_words(size: int) -> str:
    """A number of bytes for a message."""
    for unit, name in _UNITS:
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size} bytes"


@cache
def physical() -> int:
    """The machine's memory, or what its container may use of it."""
    size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        return min(size, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    except (OSError, ValueError):
        return size


class _Apart(Record):
    """What the process has grown by and no program is to blame for: bytes, and while something is adding to them, what programs occupied when it began."""

    size: int = 0
    before: int | None = None


_apart = _Apart()
_apart_lock = threading.Lock()


@contextmanager
def apart() -> Iterator[None]:
    """Inside, the process grows by what is no program's: a compiler, say. Where several threads are inside, the first one speaks for all."""
    with _apart_lock:
        first = _apart.before is None
        if first:
            _apart.before = resident()
    try:
        yield
    finally:
        if first:
            with _apart_lock:
                _apart.size += max(0, _occupied() - _apart.size - (_apart.before or 0))
                _apart.before = None  # not before the size is right: the watchdog may look at any time


def resident() -> int:
    """The memory that the process occupies now, but for what is set apart; 0 where the system does not tell."""
    return max(0, _occupied() - _apart.size) if _apart.before is None else _apart.before


def _occupied() -> int:
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * _page()
    except OSError:
        return 0


@cache
def _page() -> int:
    return os.sysconf("SC_PAGE_SIZE")

"""How much memory a run may take, asked before something large is made.

In: the size of what is about to be made. Out: nothing, or a `Fault` (E0703). What a run may take is set around it, for
its thread. What is small is not asked about: a run that takes its memory in small pieces is stopped by the watchdog,
which looks at the whole process.

Counted is the memory that the process has for itself; pages of files, such as the compiler's own code, are not. What a
compiler takes while it works is not the program's either (`apart`).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from math import prod
from pathlib import Path
from weakref import WeakSet

from sacpy.interp.errors import Fault

SMALL = 1 << 20  # bytes
AXES = 64  # NumPy's limit
FOREIGN = 24 << 20  # bytes: what a compiler may be taken to have made while a program was running, in all of a run
_UNITS = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


class Run:
    """A run with a limit: the bytes that it may add to the process, what the process had when it began, but for what
    was set apart since, its thread, and whether something is being set apart in it now. `foreign`: what has been set
    apart though the program was running as well."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.before = occupied()
        self.thread = threading.get_ident()
        self.apart = 0
        self.foreign = 0

    @property
    def used(self) -> int:
        """The bytes that it has added so far. While a compiler works elsewhere, some of it may be the compiler's."""
        used = occupied() - self.before
        return max(0, used if not _busy else used - (FOREIGN - self.foreign))

    @property
    def left(self) -> int:
        """The bytes that it may still add; below 0, it has gone too far."""
        return self.limit - self.used


class _Here(threading.local):
    """The run in this thread."""

    run: Run | None = None


_here = _Here()
_lock = threading.Lock()
_runs: WeakSet[Run] = WeakSet()  # one that an exception has ended in the middle of something is gone all the same
_busy: list[int] = []  # the threads in which something is being set apart


@contextmanager
def budget(limit: int | None) -> Iterator[Run | None]:
    """Inside, the thread may add so many bytes to the process."""
    saved, run = _here.run, None
    try:
        if limit is not None:
            run = Run(limit)
            _runs.add(run)
        _here.run = run
        yield run
    finally:
        _here.run = saved
        if run is not None:
            _runs.discard(run)


def check(shape: tuple[int, ...], itemsize: int) -> None:
    """Raises a Fault if there is no room for an array, or NumPy cannot hold one of that shape."""
    if len(shape) > AXES:
        raise Fault(
            "E0623",
            f"an array of {len(shape)} axes",
            notes=(f"arrays have at most {AXES} axes here",),
            help="keep the elements in an array of fewer axes",
        )
    size = prod(shape) * itemsize
    if size > SMALL:
        reserve(size, shape)


def room(size: int) -> None:
    """Raises a Fault if there is no room for so many bytes. For what is made of them in one go; small amounts are not
    looked at."""
    if size > SMALL:
        reserve(size)


def reserve(size: int, shape: tuple[int, ...] | None = None) -> None:
    """Raises a Fault if there is no room for so many bytes."""
    run = _here.run
    what = "this needs" if shape is None else f"an array of shape [{','.join(map(str, shape))}] needs"
    if run is not None and size > run.left:
        raise Fault(
            "E0703",
            f"out of memory: {what} {in_words(size)}, and this session allows {in_words(run.limit)}",
            help="use smaller arrays, or raise the memory limit",
        )
    if size > physical():
        raise Fault(
            "E0703",
            f"out of memory: {what} {in_words(size)}, and this machine has {in_words(physical())}",
            help="use smaller arrays",
        )


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


@contextmanager
def apart() -> Iterator[None]:
    """Inside, the process grows by what is no program's: a compiler, say. Where a program runs meanwhile in another
    thread, nobody can tell which of the two it was; then it is the compiler only up to a bound."""
    here, start = threading.get_ident(), occupied()
    with _lock:
        _busy.append(here)
        for run in _runs:
            run.apart += run.thread == here
    try:
        yield
    finally:
        with _lock:
            growth = max(0, occupied() - start)
            _busy.remove(here)
            alone = not _busy and all(run.thread == here for run in _runs)
            for run in tuple(_runs):
                own = growth if alone else min(growth, FOREIGN - run.foreign)
                run.before += own  # before it is looked at again
                run.foreign += 0 if alone else own
                run.apart -= run.apart > 0 and run.thread == here


# the open file that tells of this process, by the process's number: a forked one has its own
_statm: dict[int, int] = {}


def occupied() -> int:
    """The memory that the process has for itself now; 0 where the system does not tell."""
    pid = os.getpid()
    file = _statm.get(pid)
    try:
        if file is None:
            _statm.clear()  # what a forked process has inherited tells of the other one
            file = _statm[pid] = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
        _, resident, shared, *_ = os.pread(file, 128, 0).split()
        return (int(resident) - int(shared)) * _page()
    except OSError:
        return 0


@cache
def _page() -> int:
    return os.sysconf("SC_PAGE_SIZE")

"""Forks of a process with threads: what a child must not find as another thread has left it in the middle.

In: locks of what a thread does that nobody would finish in the child. Out: hooks of `os.fork` that wait until nobody
holds one, and until no other thread is loading a module: modules are loaded where they are first needed, and Python
copies the lock of one that is being loaded into the child, which would wait for ever when it needs that module.
"""

from __future__ import annotations

import os
import sys
import threading
import time

MOST_WAITED = 2.0  # seconds for modules: a thread that loads one may itself be waiting for the one that forks
POLL = 0.001  # seconds between two looks

_kept: list[threading.Lock] = []
_held: list[threading.Lock] = []  # by the fork that is under way; others may be added to those kept meanwhile
_one = threading.Lock()  # one fork at a time
_forker = [0]  # the thread whose fork that is


def keep_whole(lock: threading.Lock) -> None:
    """From now on no child begins while somebody holds this lock, and none finds it locked."""
    _kept.append(lock)


def _before() -> None:
    """The thread that forks has the interpreter to itself from the last look until then."""
    deadline = time.monotonic() + MOST_WAITED
    _one.acquire()
    _forker[0] = threading.get_ident()
    _hold()
    while _others_import() and time.monotonic() < deadline:
        _release()
        time.sleep(POLL)
        _hold()


def _hold() -> None:
    for lock in tuple(_kept):
        lock.acquire()
        _held.append(lock)


def _release() -> None:
    while _held:
        _held.pop().release()


def _others_import() -> bool:
    """Python keeps the locks of modules in a table while somebody holds them or waits for them."""
    locks = tuple(getattr(sys.modules["_frozen_importlib"], "_module_locks", {}).values())
    here = threading.get_ident()
    return any(lock is not None and lock.owner != here for lock in (weak() for weak in locks))


def _after() -> None:
    if _forker[0] == threading.get_ident():  # else these hooks came only between the others and the fork
        _release()
        _forker[0] = 0
        _one.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)

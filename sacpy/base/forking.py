"""A fork that waits for modules being loaded.

Modules are loaded where they are first needed, often by a thread. Python copies the lock of a module that another
thread is loading into the child, where nobody gives it back: the child would wait for ever when it needs that module.
"""

from __future__ import annotations

import os
import sys
import time

MOST_WAITED = 2.0  # seconds: a thread that is loading may itself be waiting for the one that forks
POLL = 0.001  # seconds between two looks


def wait_for_imports() -> None:
    """Returns when no other thread is loading a module, or after `MOST_WAITED`. To be called by the thread that is
    about to fork, which has the interpreter to itself from the last look until then."""
    deadline = time.monotonic() + MOST_WAITED
    while _others_import() and time.monotonic() < deadline:
        time.sleep(POLL)


def _others_import() -> bool:
    """Python keeps the locks of modules in a table while somebody holds them or waits for them."""
    if not (locks := tuple(getattr(sys.modules["_frozen_importlib"], "_module_locks", {}).values())):
        return False
    from threading import get_ident

    here = get_ident()
    return any(lock is not None and lock.owner != here for lock in (weak() for weak in locks))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=wait_for_imports)

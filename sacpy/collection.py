"""Python's search for cycles of objects, put off while much is made that stays."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection() -> Iterator[None]:
    """Inside, Python does not look for cycles: tokens, trees and graphs are many and have none, and looking through them again and again takes a good part of the time that making them takes. Also a decorator."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()

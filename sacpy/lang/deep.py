"""Room for recursion over deeply nested programs.

The parser bounds nesting, but a sum of ten thousand terms is a legal tree ten thousand deep, and each level takes a few Python frames."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
FRAMES = 200_000


def deeply(action: Callable[[], T]) -> T:
    """Calls `action` with a recursion limit that no accepted program reaches."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, FRAMES))
    try:
        return action()
    finally:
        sys.setrecursionlimit(limit)

"""What a stream can show.

In: a stream and the environment. Out: whether escape sequences and colours may be written to it. NO_COLOR
(https://no-color.org) turns colours off, TERM=dumb every escape sequence.
"""

from __future__ import annotations

import os
from typing import Protocol


class Stream(Protocol):
    """What can say whether it is a terminal."""

    def isatty(self) -> bool: ...


def is_terminal(stream: Stream | None) -> bool:
    """Whether a stream is a terminal; a closed one or none is not."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def has_escapes(stream: Stream | None) -> bool:
    """Whether the cursor may be moved on a stream, and lines erased."""
    return is_terminal(stream) and os.environ.get("TERM") not in (None, "", "dumb", "unknown")


def has_color(stream: Stream | None) -> bool:
    """Whether a stream may get colours."""
    return has_escapes(stream) and not os.environ.get("NO_COLOR")

"""A notebook's page as the terminal of a program.

In: what a program writes, and functions that reach the page. Out: the world for the interpreter. Programs that clear
the terminal to draw their next picture clear the output of their cell; those that read ask the reader of the page for a
line.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

from sacpy.embedding.grants import World
from sacpy.interp import world as interp

CLEARED = re.compile(r"(?:\x1b\[(?:\d*;?\d*)H)*\x1b\[[23]J(?:\x1b\[(?:\d*;?\d*)H)*|\x1bc")


class Page:
    """A text stream to `sys.stdout` that turns the codes which clear a terminal into `clear()`."""

    def __init__(self, clear: Callable[[], None]) -> None:
        self._clear = clear

    def write(self, text: str) -> int:
        """Writes what stands behind the last clearing."""
        parts = CLEARED.split(text)
        for part in parts[:-1]:
            sys.stdout.write(part)
            sys.stdout.flush()
            self._clear()
        return sys.stdout.write(parts[-1])


class Asked:
    """A text stream that asks somebody for each line; at its end, or where nobody can be asked, it is empty."""

    def __init__(self, ask: Callable[[], str | None]) -> None:
        self._ask = ask

    def readline(self, _: int = -1) -> str:
        """One line, with its end."""
        sys.stdout.flush()
        line = self._ask()
        return "" if line is None else line + "\n"


def open_world(ask: Callable[[], str | None], stdout: Any = None) -> interp.World:
    """The world of a notebook: everything that the command line allows."""
    return World(files=True, processes=True, environment=True, libraries=True, stdin=Asked(ask), stdout=stdout).open(
        (b"sacpy",), None
    )

"""How much room there is to show values in.

In: the user's settings, and the terminal. Out: a `Page`, which everything that shows values asks for widths, digits and
colour.
"""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass

from sacpy.base.terminal import has_color

COLUMNS, LINES = 100, 24  # without a terminal
PROMPT_LINES = 3  # of a terminal, left for the prompt and the line that was typed


@dataclass(frozen=True, slots=True)
class Page:
    """`columns` and `lines` that a value may take; significant `digits` of reals inside arrays; whether there are
    colours."""

    columns: int = COLUMNS
    lines: int = LINES
    digits: int = 8
    colour: bool = False

    def faint(self, text: str) -> str:
        """Text that stands back."""
        return f"\x1b[2m{text}\x1b[0m" if self.colour and text else text


def terminal_page(digits: int) -> Page:
    """The page of the terminal that standard output is."""
    size = shutil.get_terminal_size((COLUMNS, LINES + PROMPT_LINES))
    return Page(max(size.columns, 16), max(size.lines - PROMPT_LINES, 4), digits, has_color(sys.stdout))

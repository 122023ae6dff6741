"""What commands say on standard error.

In: text, or diagnostics and how they are to be shown. Out: nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from sacpy.lang.diagnostics import Diagnostic


def tell(what: str, remedy: str) -> None:
    """Says what keeps the cache from being used."""
    from sacpy.lang.diagnostics import Diagnostic
    from sacpy.lang.source import NOWHERE

    show([Diagnostic("W0721", what, NOWHERE, help=remedy)])


def show_warnings(diagnostics: Sequence[Diagnostic]) -> None:
    """Writes those of some diagnostics that are warnings."""
    show([d for d in diagnostics if d.severity == "warning"])


def show(diagnostics: Sequence[Diagnostic]) -> None:
    """Writes diagnostics to standard error, in colours where it shows them."""
    if diagnostics:
        from sacpy.base.terminal import has_color
        from sacpy.lang.diagnostics import render_text

        sys.stdout.flush()
        text = render_text(diagnostics, color=has_color(sys.stderr))
        sys.stderr.write(text if text.endswith("\n") else text + "\n")


def how_to_look(file: Path) -> None:
    """Says on a terminal how to see the values behind an error: compiled code keeps none, and neither does a run."""
    from sacpy.base.terminal import is_terminal

    if is_terminal(sys.stderr):
        sys.stderr.write(f"to see the values there, interpreted: sacpy -i {file}, then main() and :locals\n")

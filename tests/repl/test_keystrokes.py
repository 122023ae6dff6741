"""What a keystroke costs in a long definition, beside one in a short definition; the time itself is a benchmark
(`benchmarks/terminal.py`)."""

from __future__ import annotations

import statistics
from pathlib import Path

from benchmarks.terminal import keystrokes


def test_a_long_definition_hardly_slows_typing_down(tmp_path: Path) -> None:
    short, long = (statistics.median(keystrokes(tmp_path, lines)) for lines in (4, 200))
    assert long < 25 * short

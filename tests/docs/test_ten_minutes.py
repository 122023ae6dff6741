"""The ten minutes: every command of the page runs, in an empty folder, and prints what stands below it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.docs.conversations import fits, follow
from tests.tools import ROOT


def test_every_command_prints_what_it_should(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for name, words in {"sacpy": "-m sacpy", "python": ""}.items():
        script = tmp_path / "bin" / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        script.chmod(0o755)
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": paths}
    here = tmp_path / "work"
    here.mkdir()
    assert follow(here, environment, paths) >= 10


@pytest.mark.parametrize(
    ("printed", "wanted", "expected"),
    [
        ("a\nb\nc\n", ["a", "...", "c"], True),
        ("a 1 s\n", ["a ... s"], True),
        ("a\n", ["b"], False),
        ("a\nb\n", ["a"], False),
    ],
)
def test_outputs_are_compared(printed: str, wanted: list[str], expected: bool) -> None:
    assert fits(printed, wanted) is expected

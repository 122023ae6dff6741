"""The ten minutes: every command of the page runs, in an empty folder, and prints what stands below it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools import ROOT

PAGE = ROOT / "docs" / "ten-minutes.md"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def conversations(text: str) -> list[tuple[str, list[str]]]:
    """The commands of a page, each with the lines below it."""
    found: list[tuple[str, list[str]]] = []
    for block in BLOCK.findall(text):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def fits(printed: str, wanted: list[str]) -> bool:
    """Whether output is what a page says: `...` stands for anything in a line, alone on a line for any lines."""
    pattern = "".join(
        r"(?:.*\n)*?" if line == "..." else ".*".join(map(re.escape, line.split("..."))) + r"\n" for line in wanted
    )
    return re.fullmatch(pattern, "".join(f"{line.rstrip()}\n" for line in printed.splitlines())) is not None


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
    commands = conversations(PAGE.read_text(encoding="utf-8"))
    assert len(commands) >= 10
    for command, wanted in commands:
        if command.startswith("cd "):
            here = (here / command[3:]).resolve()
            continue
        shell = command.replace("PYTHONPATH=src ", f"PYTHONPATH=src{os.pathsep}{paths} ")
        done = subprocess.run(
            ["sh", "-c", shell], cwd=here, env=environment, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        assert fits(done.stdout, wanted), f"{command}\n{done.stdout}"
    assert (tmp_path / "work/heat/saw.svg").read_text().startswith("<svg")
    assert "smooth" in (tmp_path / "work/heat/profile.html").read_text()


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

"""The commands of a page of the documentation, followed one after the other as a reader does.

In: a page, an empty folder, an environment. Out: nothing, or an AssertionError with what a command printed instead of
what stands below it. Needs nothing but Python: `tests/packaging/dist_check.py` follows the page with a package that has
just been installed.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "ten-minutes.md"
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


def follow(folder: Path, environment: Mapping[str, str], paths: str = "") -> int:
    """Runs every command of the ten minutes in a folder; gives how many there were. `paths`: what stands in PYTHONPATH
    anyway."""
    here, commands = folder, conversations(PAGE.read_text(encoding="utf-8"))
    for command, wanted in commands:
        if command.startswith("cd "):
            here = (here / command[3:]).resolve()
            continue
        shell = command.replace("PYTHONPATH=src ", f"PYTHONPATH=src:{paths} ") if paths else command
        done = subprocess.run(
            ["sh", "-c", shell], cwd=here, env=environment, capture_output=True, text=True, check=False, timeout=300
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        assert fits(done.stdout, wanted), f"{command}\n{done.stdout}"
    assert (folder / "heat/saw.svg").read_text().startswith("<svg")
    assert "smooth" in (folder / "heat/profile.html").read_text()
    return len(commands)

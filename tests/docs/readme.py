"""The README's examples, run in a folder of their own: files are written, `$ sacpy` lines run, Python run.

In: the README. Out: its text with all outputs as they are now. `python -m tests.docs.readme` brings it up to date.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.docs.blocks import updated as conversations
from tests.tools import ROOT

README = ROOT / "README.md"
FILE = re.compile(r"^<!-- file: (.*?) -->\n```sac\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CONSOLE = re.compile(r"^```console\n\$ sacpy (.*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def updated(text: str) -> str:
    """The README with all outputs as they are now."""
    text = conversations(text)
    with tempfile.TemporaryDirectory() as folder:
        for name, content in FILE.findall(text):
            (Path(folder) / name).write_text(content, encoding="utf-8")
        text = CONSOLE.sub(
            lambda m: f"```console\n$ sacpy {m[1]}\n{output(folder, '-m', 'sacpy', *m[1].split())}```", text
        )
        return PYTHON.sub(lambda m: f"```python\n{m[1]}```\n\n```text\n{output(folder, '-c', m[1])}```", text)


def output(folder: str, *arguments: str) -> str:
    """What a run of Python in the folder prints."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "HOME": folder},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = (done.stdout + done.stderr).rstrip("\n").split("\n")
    return "".join(f"{line.rstrip()}\n" for line in lines)


if __name__ == "__main__":
    README.write_text(updated(README.read_text(encoding="utf-8")), encoding="utf-8")

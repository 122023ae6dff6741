"""Examples in documentation: found, run, and written anew.

In: a Markdown file. Out: the same text with every output as it is now; a test compares. Two kinds of example:

- a fenced block `sacpy` is a conversation at the prompt: lines after `>>> ` (continued with `... `) are typed, what
  stands below them is shown. All blocks of a file are one conversation;
- a fenced block `sac` with a `main` is a program; a block `text` right behind it is what it prints.

`python -m tests.docs.blocks FILE..` brings the outputs of files up to date.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from sacpy.interp.world import World
from sacpy.lang.diagnostics import render_text
from sacpy.repl.commands import obey
from sacpy.repl.engine import Engine
from sacpy.repl.parts import is_command
from sacpy.workspace import Workspace
from tests.tools import run_file

PROMPT, CONTINUED = ">>> ", "... "
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROGRAM = re.compile(r"^```sac\n((?:(?!^```$).)*?^int main\(.*?)^```\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def updated(text: str) -> str:
    """The text of a Markdown file with all outputs as they are now."""
    world = World.captured()
    engine = Engine(Workspace(), world)
    text = BLOCK.sub(lambda m: f"```sacpy\n{_conversation(engine, world, m[2])}```" if m[1] == "sacpy" else m[0], text)
    return PROGRAM.sub(lambda m: f"```sac\n{m[1]}```\n\n```text\n{_program(m[1])}```", text)


def _program(text: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.sac"
        path.write_text(text, encoding="utf-8")
        result = run_file(path)
        printed = (result.stdout.decode() + result.stderr).replace(f"{folder}/", "")
    return "".join(f"{line.rstrip()}\n" for line in printed.rstrip("\n").split("\n"))


def _conversation(engine: Engine, world: World, block: str) -> str:
    lines: list[str] = []
    inputs = _inputs(block)
    for typed in inputs:
        lines += [
            (PROMPT if i == 0 else CONTINUED).rstrip() + (f" {line}" if line else "")
            for i, line in enumerate(typed.split("\n"))
        ]
        before = len(world.out())
        shown, outcome = obey(engine, typed) if is_command(typed) else ("", engine.enter(typed))
        said = render_text([d for d in outcome.diagnostics if d.severity != "note"])
        out = world.out()[before:].decode() + shown
        lines += [line.rstrip() for part in (out, said) if part.strip() for line in part.rstrip("\n").split("\n")]
    return "".join(f"{line}\n" for line in lines)


def _inputs(block: str) -> list[str]:
    inputs: list[str] = []
    for line in block.split("\n"):
        if line.startswith(PROMPT):
            inputs.append(line[len(PROMPT) :])
        elif line.startswith(CONTINUED.rstrip()) and inputs:
            inputs[-1] += "\n" + line[len(CONTINUED) :]
    return inputs


def main(paths: list[str], update: Callable[[str], str] = updated) -> None:
    """Brings files up to date."""
    for path in map(Path, paths):
        path.write_text(update(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

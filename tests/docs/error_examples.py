"""The examples of `docs/errors.md`, and what sacpy says to them.

In: the document. Out: per code its section, the section's examples (label and text), and whether one gives the code of its section. Labels: `sac` is a program, definitions, or statements of a `main` with the library in scope; `sacpy` is typed at the prompt; `python` is run
by `tests/api/test_docs.py`; `text` cannot be run here (it needs several files, a terminal, or a broken sacpy).
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from sacpy.interp.errors import Stopped
from sacpy.interp.limits import Limits
from sacpy.interp.world import World
from sacpy.lang.diagnostics import SacError
from sacpy.repl.engine import Engine
from sacpy.workspace import Workspace
from tests.tools import ROOT

DOCUMENT = ROOT / "docs/errors.md"
SECTION = re.compile(r"^## ([EWN]\d{4}): (.*?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LIMITS = Limits(depth=20_000, seconds=5, memory=2**30)
OUTPUT = 10_000
LIBRARY = ("StdIO", "Structures", "Numerical", "CommandLine", "FibreIO", "Environment", "Process", "System", "SysErr", "RuntimeError")
USES = "".join(f"use {m}: all;\n" for m in LIBRARY)


def sections(text: str) -> dict[str, tuple[str, str]]:
    """Code -> title and body."""
    return {code: (title, body) for code, title, body in SECTION.findall(text)}


def examples(text: str) -> Iterator[tuple[str, str, str]]:
    """Code, label and text of each example."""
    for code, (_, body) in sections(text).items():
        for label, example in BLOCK.findall(body):
            yield code, label, example


def gives(label: str, example: str, code: str) -> bool:
    """Whether an example that can be run gives this code, and no other error or warning."""
    attempts = [_typed(example)] if label == "sacpy" else (_said(p, allowed) for p in _programs(example) for allowed in (True, False))
    return any({c for c in found if c[0] != "N" or c == code} == {code} for found in attempts)


def _programs(example: str) -> tuple[str, ...]:
    """The example as it is; with the library in scope; with a `main` that does nothing; as the body of `main`."""
    return example, USES + example, f"{USES}{example}\nint main() {{ return 0; }}\n", f"{USES}int main()\n{{\n{example}\nreturn 0;\n}}\n"


def _typed(example: str) -> set[str]:
    engine = Engine(Workspace(), World.captured())
    found: set[str] = set()
    for line in example.splitlines():
        found |= {d.code for d in engine.enter(line.removeprefix(">>> ")).diagnostics}
    return found


def _said(program: str, allowed: bool) -> set[str]:
    workspace = Workspace(limits=LIMITS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "example.sac"
        path.write_text(program, encoding="utf-8")
        try:
            loaded, found = workspace.check(path)
            errors = {d.code for d in found}
            if any(d.severity == "error" for d in found):
                return errors
            return errors | _ran(workspace, loaded, allowed)
        except SacError as error:
            return {d.code for d in error.diagnostics}


def _ran(workspace: Workspace, loaded: object, allowed: bool) -> set[str]:
    world = World.captured(argv=(b"example",), allowed=allowed, output_limit=OUTPUT)
    try:
        workspace.run(loaded, world)  # type: ignore[arg-type]
    except SacError as error:
        return {d.code for d in error.diagnostics}
    except Stopped:
        return {"E0704"}
    return set()

"""The examples of `docs/errors.md`, and what sacpy says to them.

In: the document. Out: per code its section, the section's examples (label and text), and whether one gives the code of
its section. Labels: `sac` is a program, definitions, or statements of a `main` with the library in scope; `sacpy` is
typed at the prompt; `gpu` is a program checked for a GPU (sm_90), `emulator` one run on an emulated one; `python` is
run
by `tests/api/test_docs.py`; `text` cannot be run here (it needs several files, a terminal, or a broken sacpy).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sacpy.interp.limits import Limits
from sacpy.interp.world import World
from sacpy.lang.diagnostics import Diagnostic, SacError, render_text
from sacpy.lang.elaborate.program import ElaboratedProgram
from sacpy.repl.commands import obey
from sacpy.repl.engine import Engine
from sacpy.repl.parts import is_command
from sacpy.workspace import Workspace
from tests.tools import ROOT

DOCUMENT = ROOT / "docs/errors.md"
SECTION = re.compile(r"^## ([EWN]\d{4}): (.*?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LIMITS = Limits(depth=20_000, seconds=5, memory=2**30)
OUTPUT = 10_000
LIBRARY = (
    "StdIO",
    "Structures",
    "Numerical",
    "CommandLine",
    "FibreIO",
    "Environment",
    "Process",
    "System",
    "SysErr",
    "RuntimeError",
)
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
    return rendering(label, example, code) is not None


def rendering(label: str, example: str, code: str) -> str | None:
    """The message with this code that an example gives, as it is printed; None if it gives none, or another one too."""
    if label in ("gpu", "emulator"):
        attempts = iter([said(p, device="sm_90", target=label) for p in _programs(example)])
    else:
        attempts = (
            iter([_typed(example)])
            if label == "sacpy"
            else (said(p, allowed) for p in _programs(example) for allowed in (False, True))
        )
    for found in attempts:
        matter = [d for d in found if d.severity != "note" or d.code == code]
        if {d.code for d in matter} == {code}:
            return render_text(matter).rstrip("\n") + "\n"
    return None


def _programs(example: str) -> tuple[str, ...]:
    """The example as it is; with the library in scope; with a `main` that does nothing; as the body of `main`."""
    return (
        example,
        USES + example,
        f"{USES}{example}\nint main() {{ return 0; }}\n",
        f"{USES}int main()\n{{\n{example}\nreturn 0;\n}}\n",
    )


def _typed(example: str) -> list[Diagnostic]:
    engine = Engine(Workspace(), World.captured())
    typed = [line.removeprefix(">>> ") for line in example.splitlines()]
    return [
        d for text in typed for d in (obey(engine, text)[1] if is_command(text) else engine.enter(text)).diagnostics
    ]


def said(program: str, allowed: bool = True, device: str = "", target: str = "") -> list[Diagnostic]:
    """What sacpy says to a program: when it checks it, and if nothing is wrong so far, when it runs. `target`:
    "emulator" compiles everything for one."""
    workspace = (
        Workspace(limits=LIMITS, device=device, target=target, eager=True)
        if target == "emulator"
        else Workspace(limits=LIMITS, device=device)
    )
    try:
        loaded, found = workspace.check_text(program, "example.sac", None)
        return found if any(d.severity == "error" for d in found) else [*found, *_ran(workspace, loaded, allowed)]
    except SacError as error:
        return list(error.diagnostics)


def _ran(workspace: Workspace, loaded: ElaboratedProgram, allowed: bool) -> tuple[Diagnostic, ...]:
    world = World.captured(argv=(b"example",), allowed=allowed, output_limit=OUTPUT)
    try:
        workspace.run(loaded, world)
    except SacError as error:
        return error.diagnostics
    return ()

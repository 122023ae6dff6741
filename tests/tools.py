"""What the tests that run whole SaC programs share: running a file, and reading the directives in its comments.

A directive is a comment line `// name: value`. `read_directives` returns them in order; a test driver knows the names
it wants.
"""

from __future__ import annotations

import contextlib
import functools
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import sacpy
from sacpy import cli
from sacpy.commands.opening import Opening
from sacpy.commands.options import parse
from sacpy.commands.settings import workspace_of
from sacpy.interp.world import World
from sacpy.lang.diagnostics import Diagnostic, Edit, SacError, render_text
from sacpy.lang.elaborate.program import ElaboratedProgram
from sacpy.workspace import Workspace

ROOT = Path(__file__).resolve().parent.parent

_DIRECTIVE = re.compile(r"^\s*//\s*([a-z][a-z-]*):\s?(.*)$")


@dataclass(frozen=True)
class Place:
    """A diagnostic as a test sees it: where it points (line and column from 1), its code, and all of its text."""

    code: str
    line: int
    column: int
    text: str
    edit: Edit | None = None


@dataclass(frozen=True)
class Result:
    """What a run of a program left behind."""

    status: int
    stdout: bytes
    stderr: str
    diagnostics: tuple[Place, ...] = field(default=())


def run_file(
    path: Path,
    args: Sequence[str] = (),
    stdin: bytes = b"",
    flags: Sequence[str] = (),
    cwd: Path | None = None,
    *,
    keeping: bool = False,
) -> Result:
    """Run a SaC program as the command line does, in this process. `args` are the program's own, `flags` are options of
    `sacpy run`. `keeping`: the program is taken from an earlier run, and kept for a later one, as the command does."""
    parsed = parse(["run", *flags, str(path.resolve()), *args])
    world = World.captured(stdin, tuple(a.encode() for a in (str(path), *args)))
    found: Sequence[Diagnostic] = ()
    with contextlib.chdir(cwd or ROOT):
        try:
            if keeping:
                opening = Opening(workspace_of(parsed), parsed.file)
                with opening.during():
                    status, found = cli.run_program(parsed, world, opening=opening)
                opening.keep(alone=False)
            else:
                status, found = cli.run_program(parsed, world)
        except SacError as error:
            status, found = 1, error.diagnostics
        closed = world.finish()
    shown = [d for d in found if d.severity != "note"]
    text = render_text(shown) if shown else ""
    return Result(
        status if closed is None else closed,
        world.out(),
        world.err().decode("utf-8", "replace") + text,
        tuple(_places(found)),
    )


@functools.lru_cache(maxsize=8)
def loaded(text: str) -> ElaboratedProgram:
    """A program, ready to run: once for all the ways in which a test runs it. Raises `SacError`."""
    return Workspace().load_text(text)[0]


def check_file(path: Path, flags: Sequence[str] = ()) -> Result:
    """Check a SaC program without running it; the result carries the diagnostics."""
    status, found = cli.check_program(workspace_of(parse(["check", *flags, str(path)])), path)
    return Result(status, b"", render_text(found) if found else "", tuple(_places(found)))


def run_text(text: str, args: Sequence[str] = (), stdin: bytes = b"", flags: Sequence[str] = ()) -> Result:
    """Run a program given as text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.sac"
        path.write_text(text, encoding="utf-8")
        return run_file(path, args, stdin, flags)


def _places(diagnostics: Sequence[Diagnostic]) -> Iterator[Place]:
    """Errors as a test sees them; warnings and notes are left out."""
    for d in diagnostics:
        if d.severity == "error":
            texts = (d.message, d.label, d.help, *d.notes, *(label.text for label in d.labels))
            yield Place(d.code, d.span.line, d.span.column, "\n".join(text for text in texts if text), d.edit)


def read_directives(path: Path) -> list[tuple[str, str]]:
    """The `// name: value` comment lines of a program, in order."""
    found = (_DIRECTIVE.match(line) for line in path.read_text(encoding="utf-8", errors="replace").splitlines())
    return [(match[1], match[2].strip()) for match in found if match]


def first_directive(directives: Sequence[tuple[str, str]], name: str, default: str = "") -> str:
    """The value of the first directive of that name."""
    return next((value for key, value in directives if key == name), default)


def through(call: Callable[[], Any]) -> int:
    """How many functions of sacpy, in Python, a call goes through: what it costs, without a clock."""
    number, home = 0, sacpy.__path__[0]

    def count(frame: FrameType, event: str, _: Any) -> None:
        nonlocal number
        number += event == "call" and frame.f_code.co_filename.startswith(home)

    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(None)
    return number

"""Programs as tests: a program with its expected output beside it.

In: `NAME.sac` with `NAME.out` or `NAME.expected`, or `NAME/main.sac` with `NAME.expected`. Out: an outcome: whether it
prints that. Comments may say more: `// args: WORDS`, its command line; `// stdin: FILE`, beside it (otherwise
`NAME.stdin` or `NAME.in`, where there is one); `// expect-status: N`; `// flags: OPTIONS`, of `sacpy run`, in which
`{here}` is its folder.
"""

from __future__ import annotations

import contextlib
import difflib
import re
import shlex
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from sacpy.interp.world import World
from sacpy.lang.diagnostics import SacError, render_text
from sacpy.nodes import replace
from sacpy.testing.cases import Outcome
from sacpy.workspace import Workspace

_DIRECTIVE = re.compile(r"^\s*//\s*(args|stdin|expect-status|flags):\s?(.*)$", re.MULTILINE)
SHOWN = 40  # lines of a difference
Optioned = Callable[[Workspace, Sequence[str]], Workspace]


def expectation(program: Path) -> Path | None:
    """The file with what a program should print."""
    names = [program.with_suffix(".out"), program.with_suffix(".expected")]
    if program.stem == "main":
        names.append(program.parent.with_suffix(".expected"))
    return next((name for name in names if name.is_file()), None)


def tried(program: Path, expected: Path, workspace: Workspace, optioned: Optioned) -> Outcome:
    """Runs a program, in an empty folder that is removed afterwards. `optioned` gives a workspace further options.
    Raises `KeyboardInterrupt`."""
    text = program.read_bytes().decode("utf-8", "surrogateescape")
    said = {name: value.strip() for name, value in reversed(_DIRECTIVE.findall(text))}
    wanted = int(said.get("expect-status", "0"))
    program, expected = program.resolve(), expected.resolve()
    flags = [flag.replace("{here}", str(program.parent)) for flag in shlex.split(said.get("flags", ""))]
    if flags:
        kept = {name: getattr(workspace, name) for name in ("target", "eager", "threads")}
        workspace = replace(optioned(workspace, flags), **kept)
    words = (str(program), *shlex.split(said.get("args", "")))
    world = World.captured(_input(program, expected, said.get("stdin", "")), tuple(w.encode() for w in words))
    errors = ""
    with scratch():
        try:
            loaded, found = workspace.load(program)
            status = workspace.run(loaded, world, found)
        except SacError as error:
            if error.diagnostics[0].code == "E0702":
                raise KeyboardInterrupt from None
            status, errors = 1, render_text(error.diagnostics)
        closed = world.finish()
    status = status if closed is None else closed
    printed, should = world.out(), expected.read_bytes()
    what = [
        *([f"it ends with status {status}, not {wanted}"] if status != wanted else []),
        *([f"it does not print what {expected.name} says"] if printed != should else []),
    ]
    if not what:
        return Outcome(seen=(status, printed))
    difference = "" if printed == should else _difference(should, printed)
    trouble = "\n".join(part for part in (*what, difference, errors, world.err().decode("utf-8", "replace")) if part)
    return Outcome("failed", what[0], trouble, seen=(status, printed))


def _input(program: Path, expected: Path, named: str) -> bytes:
    """Standard input of a program."""
    files = [program.parent / named] if named else [expected.with_suffix(end) for end in (".stdin", ".in")]
    return next((file.read_bytes() for file in files if file.is_file()), b"")


def _difference(should: bytes, printed: bytes) -> str:
    old, new = (text.decode("utf-8", "backslashreplace").splitlines() for text in (should, printed))
    lines = list(difflib.unified_diff(old, new, "expected", "printed", lineterm=""))
    more = [f".. and {len(lines) - SHOWN} lines more"] if len(lines) > SHOWN else []
    return "\n".join([*lines[:SHOWN], *more])


@contextlib.contextmanager
def scratch() -> Iterator[None]:
    """An empty folder to work in."""
    with tempfile.TemporaryDirectory(prefix="sacpy-test-") as folder, contextlib.chdir(folder):
        yield

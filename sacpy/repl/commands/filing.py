"""Commands about files and the system: read, read again, write, edit, run something else."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

from sacpy.repl.commands.command import Command, refused
from sacpy.repl.engine import Engine
from sacpy.repl.files import as_program
from sacpy.repl.outcomes import Outcome
from sacpy.repl.written import written

EDITORS = ("VISUAL", "EDITOR")


def _load(engine: Engine, text: str) -> Outcome:
    if not text:
        raise refused(
            "E0741", ":load wants a file", text, "which file?", "write its name behind the word: :load program.sac"
        )
    outcome = engine.load(_path(text))
    return (
        outcome
        if outcome.failed or outcome.remarks
        else Outcome(outcome.diagnostics, outcome.status, (f"loaded {text}",))
    )


def _reload(engine: Engine, _: str) -> Outcome:
    outcome = engine.reload()
    if outcome.failed:
        return outcome
    files = ", ".join(str(path) for path in engine.loaded)
    return Outcome(outcome.diagnostics, outcome.status, (f"read again: {files or 'the modules in use'}",))


def _path(text: str) -> Path:
    quoted = len(text) > 1 and text[0] == text[-1] == '"'
    return Path(text[1:-1] if quoted else text).expanduser()


def _save(engine: Engine, text: str) -> str:
    if not text:
        raise refused(
            "E0741", ":save wants a file", text, "which file?", "write its name behind the word: :save session.sac"
        )
    path = _path(text)
    program = as_program(engine)
    if path.exists() and path.read_bytes() != program.encode(errors="surrogateescape") and path not in engine.saved:
        raise refused(
            "E0742", f"{path} exists already", text, "this file", "choose another name, or remove the file first"
        )
    try:
        path.write_bytes(program.encode(errors="surrogateescape"))
    except OSError as error:
        raise refused(
            "E0743", f"cannot write {path}: {error.strerror}", text, "this file", "choose another file"
        ) from None
    engine.saved.add(path)
    _, found = engine.workspace.check(path)
    errors = sum(d.severity == "error" for d in found)
    return f"{path} is written" + (
        f"; as a program it has {errors} mistake{'s' if errors > 1 else ''}: sacpy check {path}"
        if errors
        else f"; sacpy {path} runs it"
    )


# ---------------------------------------------------------------- the user's editor


def _edit(engine: Engine, name: str) -> Outcome:
    """What is saved in the editor is obeyed; nothing, if it was not changed."""
    editor = next((command for variable in EDITORS if (command := os.environ.get(variable, "").strip())), "")
    if not editor:
        raise refused("E0744", "there is no editor to start", name, "needs one", "set EDITOR: EDITOR=vim sacpy")
    path = _path(name) if name.endswith(".sac") else None
    if path is not None:
        _start(editor, path)
        return engine.load(path)
    before = _text_of(engine, name)
    with tempfile.TemporaryDirectory(prefix="sacpy-") as folder:
        file = Path(folder) / f"{name if name.isidentifier() else 'input'}.sac"
        file.write_text(before, encoding="utf-8", errors="surrogateescape")
        _start(editor, file)
        after = file.read_text(encoding="utf-8", errors="surrogateescape")
    return engine.enter(after) if after.strip() and after != before else Outcome(remarks=("nothing has changed",))


def _text_of(engine: Engine, name: str) -> str:
    """What there is to edit: the definitions of a name, else the last input."""
    if not name:
        return engine.last_input.rstrip("\n") + "\n"
    own = engine.defined(name)
    if not own:
        raise refused(
            "E0734",
            f"there is no definition of {name} at this prompt",
            name,
            "unknown name",
            "name a function or type of yours, a file FILE.sac, or nothing for the last input",
        )
    return "\n\n".join(written(d).lines for d in own) + "\n"


def _start(editor: str, file: Path) -> None:
    try:
        status = subprocess.call([*shlex.split(editor), str(file)])
    except (OSError, ValueError) as error:
        raise refused(
            "E0744",
            f"the editor {editor} does not start: {getattr(error, 'strerror', None) or error}",
            editor,
            "this command",
            "set EDITOR to a command that is there",
        ) from None
    if status:
        raise refused(
            "E0744",
            f"the editor {editor} ended with status {status}",
            editor,
            "this command",
            "nothing was taken over; try again",
        )


def _sh(engine: Engine, text: str) -> str:
    """What the command prints goes where the prompt's own output goes."""
    if not text:
        raise refused("E0741", ":sh wants a command", text, "which command?", "write it behind the word: :sh ls -l")
    status = engine.world.run(text.encode(errors="surrogateescape"))
    return f"it ended with status {status >> 8 or status & 0x7F}" if status else ""


LOAD = Command(":load FILE", "obey what stands in a file; use a module", "file", _load)
RELOAD = Command(":reload", "read the loaded files and the modules in use again", "", _reload)
SAVE = Command(":save FILE", "write what was defined and done as a program", "file", _save)
EDIT = Command(
    ":edit [NAME|FILE]", "edit a definition, a file, or the last input in your editor, and obey it", "name", _edit
)
SH = Command(
    ":sh COMMAND",
    "run a command of the system; !COMMAND does the same",
    "file",
    _sh,
    details="A line that begins with ! is for the system if SaC does not know the name behind it, and the system has "
    "such a command; else it is SaC's logical not.",
)

"""`:read`: data from files as named values."""

from __future__ import annotations

import re
from pathlib import Path

from sacpy.interp.errors import Fault
from sacpy.lang.vocabulary import RESERVED
from sacpy.repl.commands.command import Command, refused
from sacpy.repl.engine import Engine
from sacpy.repl.outcomes import Outcome

_AS = re.compile(r"(.+?)\s+as\s+(\w+)")
_NAME = re.compile(r"[A-Za-z_]\w*")


def _read(engine: Engine, text: str) -> Outcome:
    """Reads a file by a statement, so that `:save` keeps it, and the session's permissions hold."""
    match = _AS.fullmatch(text.strip())
    wanted, name = (match[1], match[2]) if match is not None else (text.strip(), "")
    path = Path(wanted.strip("\"'")).expanduser()
    name = name or path.stem
    if not wanted or path.suffix.lower() not in (".npy", ".csv") or not _NAME.fullmatch(name) or name in RESERVED:
        raise refused(
            "E0740",
            ":read wants a .npy or .csv file, and a name for what is in it",
            text,
            "",
            "write them behind the word: :read data.npy as x",
        )
    call = f"CSV::readCSV({_quoted(path)})" if path.suffix.lower() == ".csv" else _reader(engine, path)
    outcome = engine.enter(f"{name} = {call};", f"<read {text.strip()}>")
    if outcome.failed:
        return outcome
    return Outcome(outcome.diagnostics, outcome.status, (f"{name}  {engine.variables[name].type_text}",))


def _reader(engine: Engine, path: Path) -> str:
    """The call that reads a .npy file, by the type of its elements."""
    from sacpy.interp.natives.npy import array_of, base_of, read_all

    try:
        base = base_of(array_of(read_all(engine.world, str(path).encode()), str(path)))
    except Fault as fault:
        raise refused(fault.code, fault.message, str(path), "", fault.help) from None
    return f"NPY::readNPY{base.capitalize()}({_quoted(path)})"


def _quoted(path: Path) -> str:
    text = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


READ = Command(
    ":read FILE [as NAME]",
    "the array in a .npy file, or the numbers in a .csv file, as a named value",
    "file",
    _read,
    details="Without a name it is called as the file is. The modules NPY and CSV do the same in programs.",
)

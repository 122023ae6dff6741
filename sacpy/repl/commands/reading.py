"""`:read`: data from files as named values."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import prod
from pathlib import Path

from sacpy.interp.errors import Fault
from sacpy.lang.vocabulary import RESERVED
from sacpy.repl.commands.command import Command, refused
from sacpy.repl.engine import Engine
from sacpy.repl.outcomes import Outcome

_WORDS = re.compile(r"(?P<mapped>mapped\s+)?(?P<file>.+?)(?:\s+as\s+(?P<name>\w+))?(?:\s*:\s*(?P<type>\w+\s*\[.*\]))?")
_NAME = re.compile(r"[A-Za-z_]\w*")
_TYPE = re.compile(r"(\w+)\s*\[\s*([\d.,\s]*)\]")
_Calls = Callable[[Engine, Path, str, bool], dict[str, str]]


def _read(engine: Engine, text: str) -> Outcome:
    """Reads a file by statements, so that `:save` keeps them, and the session's permissions hold."""
    match = _WORDS.fullmatch(text.strip())
    if match is None:
        raise _unclear(text)
    file, mapped = match["file"].strip("\"'"), match["mapped"] is not None
    path, which = Path(file).expanduser(), ""
    if path.suffix.lower().startswith(".npz:"):
        file, _, which = file.rpartition(":")
        path = Path(file).expanduser()
    suffix = path.suffix.lower()
    try:
        if match["type"] is not None:
            calls = _raw(engine, path, match["type"], mapped)
        elif suffix in _CALLS and (not mapped or suffix == ".npy"):
            calls = _CALLS[suffix](engine, path, which, mapped)
        else:
            raise _unclear(text)
    except Fault as fault:
        raise refused(fault.code, fault.message, file, "", fault.help) from None
    if match["name"] and len(calls) == 1:
        calls = {match["name"]: next(iter(calls.values()))}
    elif match["name"]:
        raise _unclear(text)
    wrong = next((name for name in calls if not _NAME.fullmatch(name) or name in RESERVED), None)
    if wrong is not None or not calls:
        raise _unclear(text)
    outcome = engine.enter("".join(f"{name} = {call};\n" for name, call in calls.items()), f"<read {text.strip()}>")
    if outcome.failed:
        return outcome
    told = [f"{name}  {engine.variables[name].type_text}" for name in calls]
    if suffix == ".wav":
        from sacpy.interp.natives.datafiles import read_all
        from sacpy.interp.natives.wav import sound

        told[0] += f"  {sound(read_all(engine.world, str(path).encode()), str(path))[0]} moments a second"
    return Outcome(outcome.diagnostics, outcome.status, tuple(told))


def _unclear(text: str) -> Exception:
    return refused(
        "E0740",
        ":read wants a .npy, .npz, .csv, .png, .ppm or .wav file, or one with its type, and names for what is in it",
        text,
        "",
        "write them behind the word: :read data.npy as x; :read data.npz:x; :read data.bin as x : float[100,3]",
    )


# ---------------------------------------------------------------- the calls that read, by names


def _npy(engine: Engine, path: Path, which: str, mapped: bool) -> dict[str, str]:
    import numpy as np

    from sacpy.interp.natives.datafiles import Mapped, base_of
    from sacpy.interp.natives.npy import HEAD, head_of

    kind = head_of(Mapped(engine.world, str(path).encode()).head(HEAD), str(path))[0]
    base = base_of(np.empty(0, kind.newbyteorder("=")))
    return {path.stem: f"NPY::{'map' if mapped else 'read'}NPY{base.capitalize()}({_quoted(str(path))})"}


def _npz(engine: Engine, path: Path, which: str, mapped: bool) -> dict[str, str]:
    """All arrays of a file, or one."""
    from sacpy.interp.natives.datafiles import base_of, read_all
    from sacpy.interp.natives.npz import array_in, names_in

    data = read_all(engine.world, str(path).encode())
    return {
        name: f"NPZ::readNPZ{base_of(array_in(data, name, str(path))).capitalize()}({_quoted(str(path))}, "
        f"{_quoted(name)})"
        for name in ([which] if which else names_in(data, str(path)))
    }


def _by(function: str) -> _Calls:
    return lambda engine, path, which, mapped: {path.stem: f"{function}({_quoted(str(path))})"}


def _raw(engine: Engine, path: Path, type: str, mapped: bool) -> dict[str, str]:
    """Elements alone, of a type that the user gives; one extent may be open."""
    from sacpy.interp.natives.datafiles import NUMBERS, Mapped
    from sacpy.interp.values import dtype_of

    match = _TYPE.fullmatch(type.strip())
    extents = [] if match is None else [e.strip() for e in match[2].split(",")]
    plain = extents.count(".") <= 1 and all(e.isdigit() or e == "." for e in extents)
    if match is None or match[1] not in NUMBERS or not plain:
        raise Fault("E0740", f"{type} is no type of elements with a shape", help="as float[100,3], or float[.,3]")
    each = dtype_of(match[1]).itemsize * prod(int(e) for e in extents if e != ".")
    open = Mapped(engine.world, str(path).encode()).size // each if each else 0
    shape = ", ".join(str(open) if e == "." else e for e in extents)
    return {path.stem: f"Raw::{'map' if mapped else 'read'}Raw{match[1].capitalize()}({_quoted(str(path))}, [{shape}])"}


def _quoted(text: str) -> str:
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


_CALLS: dict[str, _Calls] = {
    ".npy": _npy,
    ".npz": _npz,
    ".csv": _by("CSV::readCSV"),
    ".tsv": _by("CSV::readCSV"),
    ".png": _by("PNG::readPNG"),
    ".ppm": _by("PPM::readPPM"),
    ".wav": _by("WAV::readWAV"),
}

READ = Command(
    ":read [mapped] FILE [as NAME] [: TYPE]",
    "what is in a .npy, .npz, .csv, .png, .ppm or .wav file, or bare elements, as named values",
    "file",
    _read,
    details="Without a name it is called as the file is, and the arrays of a .npz file as they are there; "
    "FILE.npz:NAME is one of them. A file that is elements alone wants their type and shape: "
    ":read data.bin as x : float[.,3]. With mapped, a .npy file or one of elements is not read, but its pages are, "
    "when they are looked at. The modules NPY, NPZ, CSV, PNG, PPM, WAV and Raw do the same in programs.",
)

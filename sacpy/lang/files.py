"""The files that something is made of: sacpy's own, of which digests must tell in a millisecond whether one has
changed; those of a user's folder; and what a program was made of, with the files that would have been taken for those
that were (`noting`)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from sacpy.base.digests import new_digest

CHANGING = "changing"  # stands for a digest
_noted: ContextVar[dict[str, str] | None] = ContextVar("_noted", default=None)


@contextmanager
def noting() -> Iterator[dict[str, str]]:
    """Fills the table that it gives: of each file that is read or looked for meanwhile, by path, a digest of its
    contents, "" if it is not there."""
    noted: dict[str, str] = {}
    token = _noted.set(noted)
    try:
        yield noted
    finally:
        _noted.reset(token)


def is_there(path: Path) -> bool:
    """Whether there is such a file to be read."""
    found = path.is_file()
    noted = _noted.get()
    if noted is not None and not found:
        noted[str(path)] = ""
    return found


def file_bytes(path: Path) -> bytes:
    """What is in a file. Raises `OSError`."""
    try:
        data = path.read_bytes()
    except OSError:
        note_change(str(path))
        raise
    noted = _noted.get()
    if noted is not None:
        noted[str(path)] = digest(data)
    return data


def note_change(what: str) -> None:
    """Notes that something that was looked at, a clock for one, may give something else another time."""
    noted = _noted.get()
    if noted is not None:
        noted[what] = CHANGING


def digest(data: bytes) -> str:
    """A digest of a file's contents."""
    return new_digest(data).hexdigest()


def is_as_noted(path: str, noted: str) -> bool:
    """Whether a file is as it was."""
    try:
        with open(path, "rb", buffering=0) as file:
            return digest(file.readall()) == noted
    except (FileNotFoundError, NotADirectoryError):
        return not noted
    except OSError:
        return False


def files_in(folder: str | os.PathLike[str], endings: tuple[str, ...], deep: bool = True) -> Iterator[os.DirEntry[str]]:
    """The files of a folder whose names end so, in the same order everywhere; with `deep`, those of the folders in it
    as well, but for Python's byte code, which is as many again."""
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        if entry.is_dir():
            if deep and entry.name != "__pycache__":
                yield from files_in(entry.path, endings)
        elif entry.name.endswith(endings):
            yield entry


def sac_files(paths: Iterable[Path]) -> Iterator[Path]:
    """Files as they are, and of folders all `.sac` files in them."""
    for path in paths:
        if path.is_dir():
            yield from sorted(path.rglob("*.sac"))
        else:
            yield path


def stamps(files: Iterable[os.DirEntry[str]]) -> Iterator[str]:
    """What changes with each file: its name, its size, and when it was written."""
    for file in files:
        stat = file.stat()
        yield f"{file.name}:{stat.st_size}:{stat.st_mtime_ns}"

"""The files that something is made of: sacpy's own, of which digests must tell in a millisecond whether one has
changed; those of a user's folder; and what a program was made of, with the files that would have been taken for those
that were (`noting`)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

from sacpy.base.digests import new_digest
from sacpy.lang.source import STDLIB

PACKAGE = STDLIB.parent
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


def are_as_noted(files: Mapping[str, str]) -> bool:
    """Whether all files are as they were."""
    return all(is_as_noted(path, noted) for path, noted in files.items())


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


def sources() -> Iterator[os.DirEntry[str]]:
    """The files that the parsed library, and what is known of its effects, depend on, in the same order everywhere."""
    yield from files_in(STDLIB, (".sac", ".mac", ".h"))
    yield from files_in(PACKAGE / "lang", (".py",), deep=False)
    yield from files_in(PACKAGE, ("nodes.py",), deep=False)
    yield from files_in(PACKAGE / "base", ("plain.py",), deep=False)
    yield from files_in(PACKAGE / "jit" / "run", ("outline.py",), deep=False)


def kept_name(text: str, places: Sequence[Path], settings: Sequence[object]) -> str:
    """What a program is kept under: its text, the files and folders that it is, or may be, made of, and the settings
    that say what it means. Raises `OSError` where one is relative to a folder that is gone."""
    here = "" if all(place.is_absolute() for place in places) else os.getcwd()
    made = new_digest(repr((here, *map(str, places), *settings, _front_end())).encode(errors="surrogateescape"))
    made.update(text.encode("utf-8", "surrogateescape"))
    return f"program-{made.hexdigest()[:40]}"


def _front_end() -> str:
    """A digest of what says what a program means."""
    return f"{sources_digest()} {folder_digest('lang/elaborate', False)} {folder_digest('withloop')}"


@cache
def sources_digest() -> str:
    """A digest of names, sizes and times of `sources`, as they are when this process first asks."""
    return new_digest("\n".join(stamps(sources())).encode()).hexdigest()


@cache
def folder_digest(folder: str, deep: bool = True) -> str:
    """The same of the modules in a folder of the package."""
    return new_digest("\n".join(stamps(files_in(PACKAGE / folder, (".py",), deep))).encode()).hexdigest()

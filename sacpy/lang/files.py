"""The files that something is made of: sacpy's own, of which digests must tell in a millisecond whether one has
changed; those of a user's folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path


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

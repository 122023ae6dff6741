"""Compiled code kept between runs: a folder of files, each named by the digest of all that it depends on.

In: a digest, and the bytes of compiled code. Out: the bytes again, in this process or in a later one. A file is written
under another name and renamed, so nobody reads half of it; it begins with a digest of its name and contents
(`sacpy.base.kept`), and one that does not agree is removed and compiled anew. The folder is bounded: what has not been
used for longest goes first. Where there is no folder, or it cannot be written, everything works, and is compiled in
every run.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from sacpy.base import kept
from sacpy.nodes import Node

SUFFIX = ".native"
MOST = 256 * 1024 * 1024  # bytes in the folder
OFTEN = 32  # writes between two looks at the folder's size, by whatever process


class CacheInfo(Node):
    """What is in a cache: its folder (None: it is turned off), the number of files, their size in bytes, and the most
    that there may be."""

    folder: Path | None
    files: int
    size: int
    most: int = MOST


class Cache:
    """The compiled code in a folder; None: nothing is kept. `most`: bytes that the folder may hold."""

    def __init__(self, folder: Path | None, most: int = MOST) -> None:
        self.folder = folder
        self.most = most
        # a process that writes once looks at the size only now and then: that takes the longer the more there is
        self._written = os.urandom(1)[0] % OFTEN

    def read(self, name: str) -> bytes | None:
        """What was kept under a name; None if there is nothing, or it is damaged."""
        if self.folder is None:
            return None
        path = self._path(name)
        payload = kept.read(path, name)
        if payload is None:
            if not kept.distrust(self.folder):
                kept.remove(path)  # if there is one, it is damaged, or another's under this name
            return None
        with suppress(OSError):  # it may be gone by now
            os.utime(path)  # it has been used
        return payload

    def has(self, name: str) -> bool:
        """Whether something is kept under a name."""
        return self.folder is not None and not kept.distrust(self.folder) and self._path(name).exists()

    def write(self, name: str, payload: bytes) -> None:
        """Keeps something under a name."""
        if self.folder is None:
            return
        kept.write(self._path(name), name, payload)
        if self._written % OFTEN == 0:
            self._shrink()
        self._written += 1

    def remove(self, name: str) -> None:
        """Forgets what was kept under a name."""
        if self.folder is not None:
            kept.remove(self._path(name))

    def _path(self, name: str) -> Path:
        assert self.folder is not None
        return self.folder / f"{name}{SUFFIX}"

    def info(self) -> CacheInfo:
        """What there is, with what is left of writing that did not come to an end."""
        files = [*self._files(), *self._left()]
        return CacheInfo(self.folder, len(files), sum(size for _, size, _ in files), self.most)

    def clear(self) -> CacheInfo:
        """Removes everything, and says what that was."""
        before = self.info()
        for _, _, path in (*self._files(), *self._left()):
            kept.remove(path)
        return before

    def _shrink(self) -> None:
        for _, _, path in self._left(kept.ABANDONED):
            kept.remove(path)
        files = sorted(self._files())
        size = sum(s for _, s, _ in files)
        for _, own, path in files:
            if size <= self.most:
                break
            kept.remove(path)
            size -= own

    def _files(self) -> list[tuple[int, int, Path]]:
        """Each file with the time of its last use and its size."""
        return [] if self.folder is None else _described(self.folder.glob(f"*{SUFFIX}"))

    def _left(self, age: float = 0.0) -> list[tuple[int, int, Path]]:
        """The same of files that were never finished, those of parsed modules, in the folder around, among them."""
        folders = [] if self.folder is None else [self.folder, self.folder.parent]
        return _described(path for folder in folders for path in kept.unfinished(folder, age))


def _described(paths: Iterable[Path]) -> list[tuple[int, int, Path]]:
    found = []
    for path in paths:
        with suppress(OSError):  # another process was faster
            stat = path.stat()
            found.append((stat.st_mtime_ns, stat.st_size, path))
    return found


def native_folder() -> Path | None:
    """Where compiled code is kept: a folder in sacpy's cache folder; None where that is turned off."""
    from sacpy.base.kept import cache_folder

    folder = cache_folder()
    return None if folder is None else folder / "native"

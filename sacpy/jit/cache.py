"""Compiled code kept between runs: a folder of files, each named by the digest of all that it depends on.

In: a digest, and the bytes of compiled code. Out: the bytes again, in this process or in a later one. A file is written under another name and renamed, so nobody reads half of it; it begins with a digest of its contents, and one that does not agree is
removed and compiled anew. The folder is bounded: what has not been used for longest goes first. Where there is no folder, or it cannot be written, everything works, and is compiled in every run.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from sacpy.lang.modules import write_atomically
from sacpy.nodes import Node

MAGIC = b"sacpy native 1\n"
SUFFIX = ".native"
MOST = 256 * 1024 * 1024  # bytes in the folder
OFTEN = 32  # writes between two looks at the folder's size


class CacheInfo(Node):
    """What is in a cache: its folder (None: it is turned off), the number of files, their size in bytes, and the most that there may be."""

    folder: Path | None
    files: int
    size: int
    most: int = MOST


class Cache:
    """The compiled code in a folder; None: nothing is kept. `most`: bytes that the folder may hold."""

    def __init__(self, folder: Path | None, most: int = MOST) -> None:
        self.folder = folder
        self.most = most
        self._written = 0

    def read(self, name: str) -> bytes | None:
        """What was kept under a name; None if there is nothing, or it is damaged."""
        if self.folder is None:
            return None
        path = self.folder / f"{name}{SUFFIX}"
        try:
            data = path.read_bytes()
        except OSError:
            return None
        start = len(MAGIC) + 32
        payload = data[start:]
        if data[: len(MAGIC)] != MAGIC or hashlib.sha256(payload).digest() != data[len(MAGIC) : start]:
            self.remove(name)
            return None
        with suppress(OSError):  # it may be somebody else's, or gone by now
            os.utime(path)  # it has been used
        return payload

    def has(self, name: str) -> bool:
        """Whether something is kept under a name."""
        return self.folder is not None and (self.folder / f"{name}{SUFFIX}").exists()

    def write(self, name: str, payload: bytes) -> None:
        """Keeps something under a name."""
        if self.folder is None:
            return
        write_atomically(self.folder / f"{name}{SUFFIX}", MAGIC + hashlib.sha256(payload).digest() + payload)
        if self._written % OFTEN == 0:
            self._shrink()
        self._written += 1

    def remove(self, name: str) -> None:
        """Forgets what was kept under a name."""
        if self.folder is not None:
            _unlink(self.folder / f"{name}{SUFFIX}")

    def info(self) -> CacheInfo:
        """What there is."""
        files = self._files()
        return CacheInfo(self.folder, len(files), sum(size for _, size, _ in files), self.most)

    def clear(self) -> CacheInfo:
        """Removes everything, and says what that was."""
        before = self.info()
        for _, _, path in self._files():
            _unlink(path)
        return before

    def _shrink(self) -> None:
        files = sorted(self._files())
        size = sum(s for _, s, _ in files)
        for _, own, path in files:
            if size <= self.most:
                break
            _unlink(path)
            size -= own

    def _files(self) -> list[tuple[int, int, Path]]:
        """Each file with the time of its last use and its size."""
        found: list[tuple[int, int, Path]] = []
        if self.folder is not None:
            for path in self.folder.glob(f"*{SUFFIX}"):
                try:
                    stat = path.stat()
                except OSError:
                    continue  # another process was faster
                found.append((stat.st_mtime_ns, stat.st_size, path))
        return found


def _unlink(path: Path) -> None:
    with suppress(OSError):  # it stays; the next run may have more luck
        path.unlink(missing_ok=True)


def native_folder() -> Path | None:
    """Where compiled code is kept: a folder in sacpy's cache folder; None where that is turned off."""
    from sacpy.workspace import cache_folder

    folder = cache_folder()
    return None if folder is None else folder / "native"

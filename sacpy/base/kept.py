"""Files that sacpy keeps between runs, and whose they are.

In: a path, what the file is of (its key), and its contents. Out: the contents again, in a later process, if the file
is whole, was written for this key, and nobody but this user may have written it: compiled code is run, so who can
write it can run code. A folder or file of another user, or that others may write, is not used; that is said once
(`Distrusted`). A file is written under another name and renamed, so nobody reads half of it; what an interruption has
left is found by its name.

What belongs to the system's own user is trusted: he may do everything anyway.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from sacpy.base.digests import SIZE, new_digest

MAGIC = b"sacpy keeps 2\n"
START = len(MAGIC) + SIZE  # where the contents begin: after a digest of them and of the key
UNFINISHED = ".unfinished"  # how the names of files end that are being written
ABANDONED = 3600.0  # seconds after which nobody is writing such a file any more
SYSTEM = 0
_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_NOFOLLOW", "O_BINARY"))


class Distrusted(UserWarning):
    """A folder or file is not used, since others may write it."""


def _warn(what: str, remedy: str) -> None:
    """A warning of Python's, about the line that called sacpy."""
    import sys
    import warnings

    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _package(frame.f_globals) in ("sacpy", "contextlib", "functools"):
        level, frame = level + 1, frame.f_back
    warnings.warn(f"{what}; {remedy}", Distrusted, stacklevel=level)


def _package(module: dict[str, Any]) -> str:
    return str(module.get("__name__", "")).partition(".")[0]


tell = _warn  # says that something is not used, and what to do about that
_looked_at: dict[tuple[Path, int], str] = {}  # folders, for a user: why they are not used
_said: set[Path] = set()


def read(path: Path, key: str) -> bytes | None:
    """What a file keeps for a key; None if it is not there, not whole, of another key, or not to be trusted."""
    if distrust(path.parent):
        return None
    try:
        file = os.open(path, _FLAGS)
    except OSError:
        return None
    try:
        why = _fault(os.fstat(file), "file")
        if why:
            _say(path, why, f"remove {path}")
            return None
        with open(file, "rb", closefd=False, buffering=0) as raw:
            data = raw.readall()
    except OSError:
        return None
    finally:
        os.close(file)
    payload = memoryview(data)[START:]
    if not data.startswith(MAGIC) or _digest(key, payload) != data[len(MAGIC) : START]:
        return None
    return bytes(payload)


def write(path: Path, key: str, payload: bytes) -> bool:
    """Keeps something. Whether that worked: a disk that is full or cannot be written is no error."""
    return not distrust(path.parent) and write_atomically(path, MAGIC + _digest(key, payload), payload)


def write_atomically(path: Path, *parts: bytes) -> bool:
    """Writes a file, for this user alone, so that nobody ever reads half of it. Whether that worked; if not, nothing is
    left."""
    temporary = ""
    try:
        make_folder(path.parent)
        # a name that nobody guesses, and a file that nobody has made before; `tempfile` would take 12 ms to load
        name = str(path.parent / f"tmp{os.urandom(8).hex()}{UNFINISHED}")
        handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o600)
        temporary = name
        with os.fdopen(handle, "wb") as file:
            for part in parts:
                file.write(part)
        os.replace(temporary, path)
        temporary = ""
    except OSError:
        return False
    finally:  # Ctrl-C and limits come here too
        if temporary:
            remove(Path(temporary))
    return True


def make_folder(folder: Path) -> None:
    """Makes a folder, and those around it that are missing, for this user alone. Raises `OSError`."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def remove(path: Path) -> None:
    """Removes a file, if that can be done."""
    with suppress(OSError):  # it stays; the next run may have more luck
        path.unlink(missing_ok=True)


def unfinished(folder: Path, age: float = 0.0) -> Iterator[Path]:
    """What has been left of files that were never finished, begun so many seconds ago at least."""
    import time

    for path in folder.glob(f"*{UNFINISHED}"):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime >= age:
                yield path


def distrust(folder: Path, setting: str = "SACPY_CACHE_DIR") -> str:
    """Why a folder is not used; "" if it may be, or is not there. The first time it is said too. `setting`: what names
    another."""
    why = fault(folder)
    if why:
        _say(folder, why, remedy(folder, setting))
    return why


def fault(folder: Path) -> str:
    """Why a folder is not to be trusted; "" if it is, or is not there. It is looked at once."""
    user = os.geteuid() if hasattr(os, "geteuid") else SYSTEM
    known = _looked_at.get((folder, user))
    if known is None:
        try:
            known = _fault(os.stat(folder), "folder")
        except OSError:
            return ""
        _looked_at[folder, user] = known
    return known


def remedy(folder: Path, setting: str = "SACPY_CACHE_DIR") -> str:
    """What to do about a folder that is not to be trusted."""
    own = f"set {setting} to a folder of your own"
    try:
        mine = os.stat(folder).st_uid == os.geteuid()
    except OSError:
        mine = False
    return f"chmod go-w {folder}, or {own}" if mine else own


def _fault(found: os.stat_result, what: str) -> str:
    """Why something is not to be trusted."""
    if os.name != "posix":
        return ""
    if found.st_uid not in (os.geteuid(), SYSTEM):
        return f"the {what} belongs to another user ({_name(found.st_uid)})"
    if found.st_mode & stat.S_IWOTH or (found.st_mode & stat.S_IWGRP and not _is_private(found.st_gid)):
        return f"other users may write the {what} (its mode is {stat.S_IMODE(found.st_mode):o})"
    return ""


def _is_private(group: int) -> bool:
    """Whether a group is of this user alone, or of the system: many systems give each user such a one, and let it write
    what he makes."""
    try:
        import grp

        entry = grp.getgrgid(group)
    except (ImportError, KeyError):
        return False
    name = _name(os.geteuid())
    return entry.gr_name in (name, "root") and set(entry.gr_mem) <= {name, "root"}


def _name(user: int) -> str:
    try:
        import pwd

        return pwd.getpwuid(user).pw_name
    except (ImportError, KeyError):
        return str(user)


def _say(path: Path, why: str, remedy: str) -> None:
    """Says why something is not used, once."""
    if path not in _said:
        _said.add(path)
        tell(f"{path} is not used to keep anything between runs: {why}", remedy)


def _digest(key: str, payload: bytes | memoryview) -> bytes:
    found = new_digest(f"{key}\n".encode())
    found.update(payload)
    return found.digest()


def cache_folder() -> Path | None:
    """Where parsed and compiled things are kept between runs; None where that is nowhere, or in a folder that others
    may write: what is kept there is run."""
    folder = chosen_folder()
    return None if folder is None or distrust(folder) else folder


def chosen_folder() -> Path | None:
    """Where they are to be kept: `SACPY_CACHE_DIR` (empty: nowhere), else the user's cache folder. Where platformdirs,
    which knows that one, is missing, nothing is kept."""
    chosen = os.environ.get("SACPY_CACHE_DIR")
    if chosen is not None:
        return Path(chosen) if chosen else None
    try:
        import platformdirs
    except ImportError:
        return None

    return Path(platformdirs.user_cache_dir("sacpy", appauthor=False))

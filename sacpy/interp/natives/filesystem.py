"""Natives of FileSystem, Dir and SysErr. A system error is its number, -1 for none."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable

from sacpy.interp import memory
from sacpy.interp.errors import Fault
from sacpy.interp.natives import native
from sacpy.interp.natives.stdio import NO_ERROR
from sacpy.interp.world import World, shown
from sacpy.nodes import Record

# ---------------------------------------------------------------- errors

ERRORS = (  # noqa: SIM905
    "perm noent srch intr io nxio 2big noexec badf child again nomem acces fault notblk busy exist xdev nodev notdir "
    "isdir inval nfile mfile notty txtbsy fbig nospc spipe rofs "
    "mlink pipe loop nametoolong dom range netdown netunreach netreset connaborted connreset nobufs isconn notconn "
    "shutdown toomanyrefs timedout connrefused hostdown hostunreach "
    "notempty users dquot stale remote"
).split()


def _register_error(name: str) -> None:
    number = getattr(errno, f"E{name.upper()}")

    @native(f"SysErr::E{name}/0")
    def code(world: World) -> int:
        return int(number)


for _name in ERRORS:
    _register_error(_name)


@native("SysErr::fail/1")
def fail(world: World, code: int) -> bool:
    return code != NO_ERROR


@native("SysErr::clear/1")
def clear(world: World, code: int) -> bool:
    return code == NO_ERROR


@native("SysErr::strerror/1")
def strerror(world: World, code: int) -> bytes:
    return os.strerror(code).encode()


# ---------------------------------------------------------------- files


def _attempt(world: World, what: str, action: Callable[[], object]) -> int:
    world.allow_files(what)
    try:
        action()
    except OSError as error:
        return error.errno or 0
    return NO_ERROR


@native("FileSystem::rename/2")
def rename(world: World, old: bytes, new: bytes) -> int:
    return _attempt(world, f"rename {shown(old)}", lambda: os.rename(old, new))


@native("FileSystem::remove/1")
def remove(world: World, path: bytes) -> int:
    return _attempt(
        world,
        f"remove {shown(path)}",
        lambda: os.rmdir(path) if os.path.isdir(path) and not os.path.islink(path) else os.remove(path),
    )


@native("FileSystem::symlink/2")
def symlink(world: World, path: bytes, link: bytes) -> int:
    return _attempt(world, f"link {shown(link)}", lambda: os.symlink(path, link))


@native("FileSystem::chdir/1")
def chdir(world: World, path: bytes) -> int:
    return _attempt(world, f"change to {shown(path)}", lambda: os.chdir(path))


@native("FileSystem::mkdir/1")
def mkdir(world: World, path: bytes) -> int:
    return _attempt(world, f"make {shown(path)}", lambda: os.mkdir(path))


@native("FileSystem::rmdir/1")
def rmdir(world: World, path: bytes) -> int:
    return _attempt(world, f"remove {shown(path)}", lambda: os.rmdir(path))


@native("FileSystem::access/2")
def access(world: World, path: bytes, how: int) -> tuple[bool, int]:
    world.allow_files(f"look at {shown(path)}")
    granted = os.access(path, {1: os.R_OK, 2: os.W_OK, 3: os.X_OK}.get(how, os.F_OK))
    if granted:
        return True, NO_ERROR
    code = _attempt(world, f"look at {shown(path)}", lambda: os.stat(path))
    return False, errno.EACCES if code == NO_ERROR else code


def _register_test(name: str, test: Callable[[int], bool], look: Callable[[bytes], os.stat_result]) -> None:
    @native(f"FileSystem::{name}/1")
    def is_such(world: World, path: bytes) -> tuple[bool, int]:
        world.allow_files(f"look at {shown(path)}")
        try:
            return test(look(path).st_mode), NO_ERROR
        except OSError as error:
            return False, error.errno or 0


_register_test("isdir", stat.S_ISDIR, os.stat)
_register_test("isreg", stat.S_ISREG, os.stat)
_register_test("islnk", stat.S_ISLNK, os.lstat)


@native("FileSystem::filesize/1")
def filesize(world: World, path: bytes) -> tuple[int, int]:
    world.allow_files(f"look at {shown(path)}")
    try:
        return os.stat(path).st_size, NO_ERROR
    except OSError as error:
        return 0, error.errno or 0


@native("FileSystem::getcwd/0")
def getcwd(world: World) -> bytes:
    world.allow_files("look at its directory")
    return os.getcwdb()


@native("FileSystem::P_tmpdir/0")
def p_tmpdir(world: World) -> bytes:
    return b"/tmp"


@native("FileSystem::mkdtemp/1")
def mkdtemp(world: World, template: bytes) -> bytes:
    world.allow_files("make a temporary directory")
    memory.room(10 * len(template))
    import tempfile  # takes as long to load as a short program to run

    stem = template.removesuffix(b"XXXXXX")
    try:
        return os.path.join(
            os.path.dirname(stem),
            os.path.basename(tempfile.mkdtemp(prefix=os.path.basename(stem), dir=os.path.dirname(stem) or b".")),
        )
    except OSError:
        return b""


# ---------------------------------------------------------------- directories


class Directory(Record):
    """An open directory: its entries, and which one comes next."""

    path: bytes
    entries: list[bytes]
    place: int = 0
    open: bool = True


def _entries(directory: Directory) -> list[bytes]:
    if not directory.open:
        raise Fault(
            "E0650",
            f"the directory {shown(directory.path)} is not open",
            help="test the error that `opendir` returned with `fail(err)` before using it",
        )
    return directory.entries


@native("Dir::opendir/1")
def opendir(world: World, path: bytes) -> tuple[int, Directory]:
    world.allow_files(f"read the directory {shown(path)}")
    try:
        return NO_ERROR, Directory(path, sorted(os.listdir(path)))
    except OSError as error:
        return error.errno or 0, Directory(path, [], open=False)


@native("Dir::closedir/1")
def closedir(world: World, directory: Directory) -> Directory:
    _entries(directory)
    directory.open = False
    return directory


@native("Dir::readdir/1")
def readdir(world: World, directory: Directory) -> tuple[bytes, Directory]:
    entries = _entries(directory)
    if directory.place >= len(entries):
        return b"", directory
    directory.place += 1
    return entries[directory.place - 1], directory


@native("Dir::rewinddir/1")
def rewinddir(world: World, directory: Directory) -> Directory:
    directory.place = 0
    return directory


@native("Dir::telldir/1")
def telldir(world: World, directory: Directory) -> tuple[int, Directory]:
    return directory.place, directory


@native("Dir::seekdir/2")
def seekdir(world: World, directory: Directory, place: int) -> Directory:
    directory.place = max(0, place)
    return directory

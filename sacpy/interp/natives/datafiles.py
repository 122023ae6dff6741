"""Files of data: read whole, mapped into memory, and written without changing what is mapped.

In: a path, and the world that says whether files may be used. Out: bytes, arrays. A mapped array is the file's own
pages, read when an element is first looked at; a program that updates it changes copies of them, and never the file.
Nobody may shorten or change a file while it is mapped: whoever writes within the same world first gives it another
place on the disk (`World.before_writing`); other programs must leave it alone.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from math import prod
from typing import Any, BinaryIO

import numpy as np

from sacpy.interp import memory
from sacpy.interp.errors import Fault
from sacpy.interp.values import DTYPES, dtype_of
from sacpy.interp.world import World, shown

NORESERVE = getattr(mmap, "MAP_NORESERVE", 0)
NUMBERS = ("byte", "short", "int", "long", "ubyte", "ushort", "uint", "ulong", "float", "double")
"""Base types of which any bytes are elements."""
_BASE = {dtype: base for base, dtype in reversed(DTYPES.items())}
Array = np.ndarray[Any, Any]


def read_all(world: World, path: bytes) -> bytes:
    """What a file holds. Raises `Fault` where that is not allowed, or the file cannot be read."""
    world.allow_files(f"open {shown(path)}")
    try:
        with open(path, "rb") as file:
            memory.room(os.fstat(file.fileno()).st_size)
            return file.read()
    except OSError as error:
        raise unusable("read", path, error) from None


def write(world: World, path: bytes, write: Callable[[BinaryIO], object]) -> None:
    """Has a file written. Raises `Fault` where that is not allowed, or cannot be."""
    world.allow_files(f"open {shown(path)}")
    try:
        world.before_writing(path)
        with open(path, "wb") as file:
            write(file)
    except OSError as error:
        raise unusable("write", path, error) from None


def unusable(what: str, path: bytes, error: OSError) -> Fault:
    """Why a file cannot be used."""
    return Fault(
        "E0664", f"cannot {what} {shown(path)}: {error.strerror}", help="check the file's name and its permissions"
    )


class Mapped:
    """A file in memory, as far as it has been looked at. Raises `Fault` where it may not or cannot be."""

    def __init__(self, world: World, path: bytes) -> None:
        world.allow_files(f"open {shown(path)}")
        try:
            with open(path, "rb") as file:
                self.size = os.fstat(file.fileno()).st_size
                self._pages: mmap.mmap | bytes = b""
                if self.size:
                    flags, access = mmap.MAP_PRIVATE | NORESERVE, mmap.PROT_READ | mmap.PROT_WRITE
                    self._pages = mmap.mmap(file.fileno(), self.size, flags, access)
                    world.mapped.add(_identity(os.fstat(file.fileno())))
        except (OSError, ValueError) as error:
            raise unusable("map", path, error if isinstance(error, OSError) else OSError(0, str(error))) from None

    def head(self, count: int) -> bytes:
        """The first bytes, as many or fewer."""
        return bytes(self._pages[:count])

    def array(self, kind: np.dtype[Any], shape: tuple[int, ...], offset: int) -> Array:
        """The elements from some byte on, which are there. Elements that lie askew are copied."""
        count = prod(shape)
        if not count:
            return np.empty(shape, kind)
        found = np.frombuffer(self._pages, kind, count, offset).reshape(shape)
        if found.flags.aligned and found.flags.writeable:
            return found
        memory.check(shape, kind.itemsize)
        return found.copy()


def _identity(stat: os.stat_result) -> tuple[int, int]:
    return stat.st_dev, stat.st_ino


def base_of(array: Array) -> str:
    """The base type of an array's elements: int for 32 bits, long for 64."""
    return {"int64": "long", "uint64": "ulong", "uint8": "ubyte"}.get(array.dtype.name) or _BASE[array.dtype]


def of_type(array: Array, base: str, name: str, reader: str) -> Any:
    """An array whose elements must be of that type. Raises `Fault`."""
    if array.dtype != dtype_of(base):
        if base_of(array) not in NUMBERS:
            reader = reader.replace("map", "read")
        raise Fault(
            "E0667",
            f"{name} has elements of type {base_of(array)}, not {base}",
            help=f"{reader}{base_of(array).capitalize()} reads it",
        )
    return array if array.shape else array.item()


__all__ = ["NUMBERS", "Mapped", "base_of", "of_type", "read_all", "unusable", "write"]

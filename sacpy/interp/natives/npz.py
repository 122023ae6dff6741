"""Natives of NPZ: several arrays with names in one file, as numpy.savez writes it: a zip archive of .npy files."""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from typing import Any, BinaryIO

import numpy as np

from sacpy.interp import memory
from sacpy.interp.errors import Fault
from sacpy.interp.natives import native
from sacpy.interp.natives.datafiles import NUMBERS, of_type, read_all, write
from sacpy.interp.natives.npy import array_of
from sacpy.interp.values import dtype_of, shape_of
from sacpy.interp.world import World, shown

END = ".npy"
LONGEST = 1000  # bytes of a name
WORKING = 1 << 17  # bytes that writing an archive takes besides


def names_in(data: bytes, name: str) -> list[str]:
    """The names of the arrays in the bytes of a .npz file, in their order. Raises `Fault`."""
    with _archive(data, name) as archive:
        return [entry.removesuffix(END) for entry in archive.namelist() if entry.endswith(END)]


def array_in(data: bytes, which: str, name: str) -> np.ndarray[Any, Any]:
    """One of the arrays. Raises `Fault`."""
    with _archive(data, name) as archive:
        if f"{which}{END}" not in archive.namelist():
            there = ", ".join(e.removesuffix(END) for e in archive.namelist() if e.endswith(END)) or "none"
            raise Fault("E0668", f"there is no array {which} in {name}", help=f"the arrays in it: {there}")
        info = archive.getinfo(f"{which}{END}")
        memory.room(info.file_size)
        try:
            return array_of(archive.read(info), f"{which} in {name}")
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError) as error:
            raise _no_npz(name, error) from None


def _archive(data: bytes, name: str) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise _no_npz(name, error) from None


def _no_npz(name: str, why: Exception) -> Fault:
    return Fault(
        "E0665",
        f"{name} is no .npz file that can be read: {why}",
        help="write it with numpy.savez, or with writeNPZ",
    )


def _register(base: str) -> None:
    @native(f"NPZ::readNPZ{base.capitalize()}/2")
    def read(world: World, path: bytes, which: bytes) -> Any:
        array = array_in(read_all(world, path), which.decode("utf-8", "replace"), shown(path))
        return of_type(array, base, f"{shown(which)} in {shown(path)}", "readNPZ")


for _base in ("bool", *NUMBERS):
    _register(_base)


@native("NPZ::namesNPZ/1")
def names(world: World, path: bytes) -> Any:
    found = names_in(read_all(world, path), shown(path))
    array = np.empty(len(found), object)
    array[:] = [name.encode() for name in found]
    return array


@native("NPZ::writeNPZ/3", wants_bases=True)
def write_npz(world: World, path: bytes, which: bytes, array: Any, *, bases: tuple[str, ...]) -> None:
    """Puts an array into a file, in the place of one of that name; the others stay."""
    kind = dtype_of(bases[2])
    memory.check(shape_of(array), 2 * kind.itemsize)  # perhaps in another type, and row by row
    if not 0 < len(which) <= LONGEST:
        message = f"an array in a .npz file cannot have a name of {len(which)} bytes"
        raise Fault("E0668", message, help=f"its name has 1 to {LONGEST} bytes")
    memory.room(4 * (len(path) + len(which)))
    name = f"{which.decode('utf-8', 'replace')}{END}"
    world.allow_files(f"open {shown(path)}")
    before = read_all(world, path) if os.path.isfile(path) else b""

    memory.room(2 * len(before) + 2 * np.asarray(array).size * kind.itemsize + WORKING)

    def written(file: BinaryIO) -> None:
        with zipfile.ZipFile(file, "w") as new:
            if before:
                with _archive(before, shown(path)) as old:
                    for info in old.infolist():
                        if info.filename != name:
                            new.writestr(info, old.read(info))
            with new.open(name, "w", force_zip64=True) as entry:
                elements = np.ascontiguousarray(array, kind).reshape(shape_of(array))
                np.lib.format.write_array_header_1_0(entry, np.lib.format.header_data_from_array_1_0(elements))
                if elements.size:
                    entry.write(elements.reshape(-1).data.cast("B"))

    if before:
        _archive(before, shown(path)).close()  # what is no archive stays as it is
    write(world, path, written)


__all__ = ["array_in", "names_in"]

"""Natives of NPY and CSV: arrays in NumPy's files, and numbers in text with separators."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any, BinaryIO

import numpy as np

from sacpy.interp import memory
from sacpy.interp.errors import Fault
from sacpy.interp.natives import native
from sacpy.interp.natives.tables import Wrong, npy_head, numbers
from sacpy.interp.values import DTYPES, dtype_of, shape_of
from sacpy.interp.world import World, shown

_CELL = 240  # bytes that a number or name of a row takes while the row is written
_BASE = {dtype: base for base, dtype in reversed(DTYPES.items())}


def read_all(world: World, path: bytes) -> bytes:
    """What a file holds. Raises `Fault` where that is not allowed, or the file cannot be read."""
    world.allow_files(f"open {shown(path)}")
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise _unusable("read", path, error) from None


def _write(world: World, path: bytes, write: Callable[[BinaryIO], object]) -> None:
    """Has a file written. Raises `Fault` where that is not allowed, or cannot be."""
    world.allow_files(f"open {shown(path)}")
    try:
        with open(path, "wb") as file:
            write(file)
    except OSError as error:
        raise _unusable("write", path, error) from None


def _unusable(what: str, path: bytes, error: OSError) -> Fault:
    return Fault(
        "E0664", f"cannot {what} {shown(path)}: {error.strerror}", help="check the file's name and its permissions"
    )


def array_of(data: bytes, name: str) -> np.ndarray[Any, Any]:
    """The array in the bytes of a .npy file. Raises `Fault`."""
    try:
        dtype, shape, order, at = npy_head(data)
        kind = np.dtype(dtype)
        if kind.kind not in "biuf" or kind.itemsize > 8 or kind == np.float16:
            raise Wrong(f"its elements are of type {kind}, which SaC does not have")
        memory.check(shape, kind.itemsize)
        count = int(np.prod(shape, dtype=object))
        if len(data) - at < count * kind.itemsize:
            raise Wrong(f"it ends after {len(data) - at} of {count * kind.itemsize} bytes of elements")
        flat = np.frombuffer(data, kind, count, at)
    except (Wrong, TypeError) as wrong:
        raise Fault("E0665", f"{name} is no .npy file that can be read: {wrong}", help=_WRITTEN) from None
    array = flat.reshape(shape, order="F" if order else "C").astype(kind.newbyteorder("="))
    return np.ascontiguousarray(array).reshape(shape)


_WRITTEN = "write it with numpy.save of numbers or bools, or with writeNPY"


def table_of(data: bytes, name: str) -> np.ndarray[Any, Any]:
    """The numbers in the bytes of a .csv file. Raises `Fault`."""
    try:
        rows, columns, found = numbers(data)
    except Wrong as wrong:
        raise Fault(
            "E0666",
            f"{name} is no table of numbers: {wrong}",
            help="each line has as many numbers, separated by commas, semicolons or tabs; the first may name them",
        ) from None
    return np.array(found, np.float64).reshape(rows, columns)


def base_of(array: np.ndarray[Any, Any]) -> str:
    """The base type of an array's elements: int for 32 bits, long for 64."""
    return {"int64": "long", "uint64": "ulong", "uint8": "ubyte"}.get(array.dtype.name) or _BASE[array.dtype]


def _typed(world: World, path: bytes, base: str) -> Any:
    array = array_of(read_all(world, path), shown(path))
    wanted = dtype_of(base)
    if array.dtype != wanted:
        raise Fault(
            "E0667",
            f"{shown(path)} has elements of type {base_of(array)}, not {base}",
            help=f"readNPY{base_of(array).capitalize()} reads it",
        )
    return array if array.shape else array.item()


def _register(name: str, base: str) -> None:
    @native(f"NPY::{name}/1")
    def read(world: World, path: bytes) -> Any:
        return _typed(world, path, base)


for _base in ("bool", "byte", "short", "int", "long", "ubyte", "ushort", "uint", "ulong", "float", "double"):
    _register(f"readNPY{_base.capitalize()}", _base)


@native("NPY::writeNPY/2", wants_bases=True)
def write_npy(world: World, path: bytes, array: Any, *, bases: tuple[str, ...]) -> None:
    kind = dtype_of(bases[1])
    memory.check(shape_of(array), 2 * kind.itemsize)  # perhaps in another type, and in the order of a file
    _write(world, path, lambda file: np.save(file, np.asarray(array, kind), allow_pickle=False))


@native("CSV::readCSV/1")
def read_csv(world: World, path: bytes) -> Any:
    return table_of(read_all(world, path), shown(path))


@native("CSV::columnNames/1")
def column_names(world: World, path: bytes) -> Any:
    from sacpy.interp.natives.tables import names

    try:
        found = names(read_all(world, path))
    except Wrong as wrong:
        raise Fault("E0666", f"{shown(path)} is no table of numbers: {wrong}") from None
    array = np.empty(len(found), object)
    array[:] = [name.encode() for name in found]
    return array


@native("CSV::writeCSV/2", wants_bases=True)
def write_csv(world: World, path: bytes, table: Any, *, bases: tuple[str, ...]) -> None:
    _write_rows(world, path, b"", np.atleast_2d(table), bases[1])


@native("CSV::writeCSV/3", wants_bases=True)
def write_named_csv(world: World, path: bytes, names: Any, table: Any, *, bases: tuple[str, ...]) -> None:
    array = np.atleast_2d(table)
    if len(names) != array.shape[1]:
        raise Fault(
            "E0666",
            f"a table of {array.shape[1]} columns cannot have {len(names)} name{'s' * (len(names) != 1)}",
            help="give each column a name",
        )
    memory.room(sum(map(len, names.tolist())) * 2 + len(names) * _CELL)
    head = ",".join(_quoted(name.decode("utf-8", "surrogateescape")) for name in names.tolist())
    _write_rows(world, path, f"{head}\n".encode("utf-8", "surrogateescape"), array, bases[2])


def _write_rows(world: World, path: bytes, head: bytes, table: np.ndarray[Any, Any], base: str) -> None:
    """Writes a table, a row at a time."""
    memory.room(table.shape[1] * _CELL)
    lines = (f"{','.join(_number(x, base) for x in row.tolist())}\n".encode() for row in table)
    _write(world, path, lambda file: file.writelines(chain((head,), lines)))


def _number(value: Any, base: str) -> str:
    """The shortest text that means the number, without a suffix."""
    if base == "float":
        return str(np.float32(value))
    return str(int(value)) if base == "bool" else repr(value)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if any(c in name for c in ',;"\t\n') else name


__all__ = ["array_of", "base_of", "read_all", "table_of"]

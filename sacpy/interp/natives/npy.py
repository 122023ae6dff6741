"""Natives of NPY and CSV: arrays in NumPy's files, and numbers in text with separators."""

from __future__ import annotations

from itertools import chain
from math import prod
from typing import Any

import numpy as np

from sacpy.interp import memory
from sacpy.interp.errors import Fault
from sacpy.interp.natives import native
from sacpy.interp.natives.datafiles import NUMBERS, Mapped, of_type, read_all, write
from sacpy.interp.natives.tables import Wrong, npy_head, numbers
from sacpy.interp.values import dtype_of, shape_of
from sacpy.interp.world import World, shown

_CELL = 240  # bytes that a number or name of a row takes while the row is written
HEAD = 1 << 16  # bytes in which the head of a .npy file lies


def array_of(data: bytes, name: str) -> np.ndarray[Any, Any]:
    """The array in the bytes of a .npy file. Raises `Fault`."""
    kind, shape, order, at = head_of(data, name)
    memory.check(shape, kind.itemsize)
    count = int(np.prod(shape, dtype=object))
    if len(data) - at < count * kind.itemsize:
        raise no_npy(name, _short(len(data) - at, count * kind.itemsize))
    flat = np.frombuffer(data, kind, count, at)
    array = flat.reshape(shape, order="F" if order else "C").astype(kind.newbyteorder("="))
    return np.ascontiguousarray(array).reshape(shape)


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


def head_of(data: bytes, name: str) -> tuple[np.dtype[Any], tuple[int, ...], bool, int]:
    """Type, shape, order and begin of the elements of a .npy file, from its first bytes. Raises `Fault`."""
    try:
        dtype, shape, order, at = npy_head(data)
        kind = np.dtype(dtype)
        if kind.kind not in "biuf" or kind.itemsize > 8 or kind == np.float16:
            raise Wrong(f"its elements are of type {kind}, which SaC does not have")
    except (Wrong, TypeError) as wrong:
        raise no_npy(name, wrong) from None
    return kind, shape, order, at


def no_npy(name: str, why: Exception) -> Fault:
    """Something is no .npy file."""
    help = "write it with numpy.save of numbers or bools, or with writeNPY"
    return Fault("E0665", f"{name} is no .npy file that can be read: {why}", help=help)


def mapped(world: World, path: bytes) -> np.ndarray[Any, Any]:
    """The array in a .npy file, in the file's own pages; one that lies there in another order is read. Raises
    `Fault`."""
    file = Mapped(world, path)
    kind, shape, order, at = head_of(file.head(HEAD), shown(path))
    if (order and len(shape) > 1) or not kind.isnative:
        return array_of(read_all(world, path), shown(path))
    if file.size - at < prod(shape) * kind.itemsize:
        raise no_npy(shown(path), _short(file.size - at, prod(shape) * kind.itemsize))
    return file.array(kind, shape, at)


def _short(there: int, wanted: int) -> Wrong:
    return Wrong(f"it ends after {there} of {wanted} bytes of elements")


def _register(base: str) -> None:
    @native(f"NPY::readNPY{base.capitalize()}/1")
    def read(world: World, path: bytes) -> Any:
        return of_type(array_of(read_all(world, path), shown(path)), base, shown(path), "readNPY")

    if base in NUMBERS:

        @native(f"NPY::mapNPY{base.capitalize()}/1")
        def map(world: World, path: bytes) -> Any:
            return of_type(mapped(world, path), base, shown(path), "mapNPY")


for _base in ("bool", *NUMBERS):
    _register(_base)


@native("NPY::writeNPY/2", wants_bases=True)
def write_npy(world: World, path: bytes, array: Any, *, bases: tuple[str, ...]) -> None:
    kind = dtype_of(bases[1])
    memory.check(shape_of(array), 2 * kind.itemsize)  # perhaps in another type, and in the order of a file
    write(world, path, lambda file: np.save(file, np.asarray(array, kind), allow_pickle=False))


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
    write(world, path, lambda file: file.writelines(chain((head,), lines)))


def _number(value: Any, base: str) -> str:
    """The shortest text that means the number, without a suffix."""
    if base == "float":
        return str(np.float32(value))
    return str(int(value)) if base == "bool" else repr(value)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if any(c in name for c in ',;"\t\n') else name


__all__ = ["array_of", "head_of", "mapped", "no_npy", "table_of"]

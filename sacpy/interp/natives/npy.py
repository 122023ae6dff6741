"""Natives of NPY and CSV: arrays in NumPy's files, and numbers in text with separators."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from sacpy.interp import memory
from sacpy.interp.errors import Fault
from sacpy.interp.natives import native
from sacpy.interp.natives.tables import Wrong, npy_head, numbers
from sacpy.interp.values import DTYPES, dtype_of
from sacpy.interp.world import World, shown

_BASE = {dtype: base for base, dtype in reversed(DTYPES.items())}


def read_all(world: World, path: bytes) -> bytes:
    """What a file holds. Raises `Fault` where that is not allowed, or the file cannot be read."""
    world.allow_files(f"open {shown(path)}")
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise _unusable("read", path, error) from None


def _write_all(world: World, path: bytes, data: bytes) -> None:
    world.allow_files(f"open {shown(path)}")
    try:
        with open(path, "wb") as file:
            file.write(data)
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
    out = io.BytesIO()
    np.save(out, np.asarray(array, dtype_of(bases[1])), allow_pickle=False)
    _write_all(world, path, out.getvalue())


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
    lines = (",".join(_number(x, bases[1]) for x in row.tolist()) for row in np.asarray(table))
    _write_all(world, path, "".join(f"{line}\n" for line in lines).encode())


@native("CSV::writeCSV/3", wants_bases=True)
def write_named_csv(world: World, path: bytes, names: Any, table: Any, *, bases: tuple[str, ...]) -> None:
    array = np.asarray(table)
    if len(names) != array.shape[1]:
        raise Fault(
            "E0666",
            f"a table of {array.shape[1]} columns cannot have {len(names)} name{'s' * (len(names) != 1)}",
            help="give each column a name",
        )
    head = ",".join(_quoted(name.decode("utf-8", "surrogateescape")) for name in names.tolist())
    lines = (",".join(_number(x, bases[2]) for x in row.tolist()) for row in array)
    text = "".join(f"{line}\n" for line in (head, *lines))
    _write_all(world, path, text.encode("utf-8", "surrogateescape"))


def _number(value: Any, base: str) -> str:
    """The shortest text that means the number, without a suffix."""
    if base == "float":
        return str(np.float32(value))
    return str(int(value)) if base == "bool" else repr(value)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if any(c in name for c in ',;"\t\n') else name


__all__ = ["array_of", "base_of", "read_all", "table_of"]

"""Natives of Raw: files that are nothing but elements, one behind the other, in the machine's order of bytes."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from sacpy.interp import memory
from sacpy.interp.errors import Fault
from sacpy.interp.natives import native
from sacpy.interp.natives.datafiles import NUMBERS, Mapped, unusable, write
from sacpy.interp.runtime.structure import extents
from sacpy.interp.values import dtype_of, shape_of
from sacpy.interp.world import World, shown


def mapped(world: World, path: bytes, kind: np.dtype[Any], offset: int, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """The elements from a byte on, in the file's own pages. Raises `Fault`."""
    file = Mapped(world, path)
    _see_to(shown(path), file.size, offset, kind.itemsize, shape)
    return file.array(kind, shape, offset)


def read(world: World, path: bytes, kind: np.dtype[Any], offset: int, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """The same, read. Raises `Fault`."""
    world.allow_files(f"open {shown(path)}")
    try:
        with open(path, "rb") as file:
            size = file.seek(0, 2)
            _see_to(shown(path), size, offset, kind.itemsize, shape)
            memory.check(shape, kind.itemsize)
            file.seek(offset)
            found = np.empty(shape, kind)
            if found.size:
                file.readinto(found.reshape(-1).data.cast("B"))
            return found
    except OSError as error:
        raise unusable("read", path, error) from None


def _see_to(name: str, size: int, offset: int, each: int, shape: tuple[int, ...]) -> None:
    """Raises `Fault` where the elements are not there."""
    if offset < 0 or size - offset < prod(shape) * each:
        raise Fault(
            "E0669",
            f"{name} has {size} bytes, and an array of shape {list(shape)} needs {prod(shape) * each} from byte "
            f"{offset} on",
            help="give the shape and the place that the file has; FileSystem::filesize says how large it is",
        )


def _register(base: str) -> None:
    kind, name = dtype_of(base), base.capitalize()

    def value(array: np.ndarray[Any, Any]) -> Any:
        return array if array.shape else array.item()

    @native(f"Raw::readRaw{name}/2")
    def read_all(world: World, path: bytes, shape: Any) -> Any:
        return value(read(world, path, kind, 0, extents(shape)))

    @native(f"Raw::readRaw{name}/3")
    def read_from(world: World, path: bytes, offset: int, shape: Any) -> Any:
        return value(read(world, path, kind, offset, extents(shape)))

    @native(f"Raw::mapRaw{name}/2")
    def map_all(world: World, path: bytes, shape: Any) -> Any:
        return value(mapped(world, path, kind, 0, extents(shape)))

    @native(f"Raw::mapRaw{name}/3")
    def map_from(world: World, path: bytes, offset: int, shape: Any) -> Any:
        return value(mapped(world, path, kind, offset, extents(shape)))


for _base in NUMBERS:
    _register(_base)


@native("Raw::writeRaw/2", wants_bases=True)
def write_raw(world: World, path: bytes, array: Any, *, bases: tuple[str, ...]) -> None:
    kind = dtype_of(bases[1])
    memory.check(shape_of(array), kind.itemsize)
    elements = np.ascontiguousarray(array, kind).reshape(-1)
    write(world, path, lambda file: file.write(elements.data.cast("B")) if elements.size else 0)


__all__ = ["mapped", "read"]

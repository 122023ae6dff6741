"""Natives of BinFile: arrays of doubles as raw bytes in files that are opened with POSIX flags."""

from __future__ import annotations

import os
from math import prod
from typing import Any, cast

import numpy as np

from sacpy.interp import memory
from sacpy.interp.errors import Fault
from sacpy.interp.natives import native
from sacpy.interp.natives.stdio import NO_ERROR, failed
from sacpy.interp.runtime.structure import extents
from sacpy.interp.streams import CHUNK, RawFile, Stream
from sacpy.interp.world import World, shown


def _register_flag(name: str) -> None:
    @native(f"BinFile::{name}/0")
    def flag(world: World) -> int:
        return int(getattr(os, name))


for _name in ("O_RDONLY", "O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"):
    _register_flag(_name)


@native("BinFile::binfopen/2")
def binfopen(world: World, name: bytes, flags: int) -> tuple[int, Stream]:
    world.allow_files(f"open {shown(name)}")
    access = flags & (os.O_WRONLY | os.O_RDWR)
    mode = "r+b" if access == os.O_RDWR else "wb" if access == os.O_WRONLY else "rb"
    try:
        if access or flags & os.O_TRUNC:
            world.before_writing(name, keep=not flags & os.O_TRUNC)
        raw = cast(RawFile, open(os.open(name, flags, 0o600), mode, buffering=0))  # noqa: SIM115
    except OSError as error:
        return failed(error, name)
    return NO_ERROR, world.adopt(Stream(raw, shown(name), readable="r" in mode, writable=mode != "rb"))


@native("BinFile::binfclose/1")
def binfclose(world: World, stream: Stream) -> int:
    world.close(stream)
    return NO_ERROR


@native("BinFile::binfReadDoubleArray/3")
def read_doubles(world: World, stream: Stream, rank: int, shape: Any) -> tuple[Any, Stream]:
    wanted = extents(shape)
    size = 8 * prod(wanted)
    memory.check(wanted, 8)
    array = np.empty(wanted, np.float64)
    into = array.reshape(-1).data.cast("B") if size else memoryview(b"")
    at = 0
    while at < size:
        data = stream.read(min(CHUNK, size - at))
        if not data:
            raise Fault(
                "E0659",
                f"binfReadDoubleArray: {stream.name} has {at} more bytes, but an array of shape {list(wanted)} needs "
                f"{size}",
            )
        into[at : at + len(data)] = data
        at += len(data)
    return (array if wanted else float(array)), stream


@native("BinFile::binfWriteDoubleArray/4")
def write_doubles(world: World, stream: Stream, rank: int, shape: Any, array: Any) -> Stream:
    values = np.asarray(array, dtype=np.float64).reshape(-1)
    if values.size:
        stream.write(values.data.cast("B"))
    return stream

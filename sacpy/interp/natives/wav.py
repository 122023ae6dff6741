"""Natives of WAV: sound in .wav files, as reals from -1 to 1, a row for each moment and a column for each channel.

The format is RIFF's (Microsoft and IBM, Multimedia Programming Interface and Data Specifications 1.0): chunks, of which
"fmt " says how the numbers in "data" are to be read. Whole numbers of 8 (from 0 to 255), 16, 24 and 32 bits are read,
and reals of 32 and 64; 16 bits are written.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from sacpy.interp import memory
from sacpy.interp.errors import Fault
from sacpy.interp.natives import native
from sacpy.interp.natives.datafiles import read_all, write
from sacpy.interp.natives.tables import Wrong
from sacpy.interp.world import World, shown

INTEGERS, REALS, EXTENSIBLE = 1, 3, 0xFFFE  # formats
FORMAT = struct.Struct("<HHIIHH")
LARGEST_RATE = 0x7FFFFFFF


def sound(data: bytes, name: str) -> tuple[int, np.ndarray[Any, Any]]:
    """The rate in moments a second, and the samples, of the bytes of a .wav file. Raises `Fault`."""
    try:
        return _sound(memoryview(data))
    except Wrong as wrong:
        help = "whole numbers of 8 to 32 bits and reals can be read, without compression; writeWAV writes such a file"
        raise Fault("E0665", f"{name} is no .wav file that can be read: {wrong}", help=help) from None


def _sound(data: memoryview) -> tuple[int, np.ndarray[Any, Any]]:
    if bytes(data[:4]) != b"RIFF" or bytes(data[8:12]) != b"WAVE":
        raise Wrong("it does not begin as one")
    described: tuple[int, ...] | None = None
    at = 12
    while at + 8 <= len(data):
        kind, size = bytes(data[at : at + 4]), int.from_bytes(data[at + 4 : at + 8], "little")
        body = data[at + 8 : at + 8 + size]
        if kind == b"fmt ":
            if len(body) < FORMAT.size:
                raise Wrong("it does not say of what kind its numbers are")
            described = FORMAT.unpack_from(body)
            if described[0] == EXTENSIBLE and len(body) >= 26:
                described = (int.from_bytes(body[24:26], "little"), *described[1:])
        elif kind == b"data":
            if described is None:
                break
            form, channels, rate, _, _, bits = described
            if not channels or not 0 < rate <= LARGEST_RATE:
                raise Wrong(f"it has {channels} channels, and {rate} moments a second")
            samples = _samples(body, form, bits)
            return rate, samples[: len(samples) // channels * channels].reshape(-1, channels)
        at += 8 + size + size % 2
    raise Wrong("it has no sound in it")


def _samples(body: memoryview, form: int, bits: int) -> np.ndarray[Any, Any]:
    """All numbers in one row, as doubles."""
    each = bits // 8
    count = len(body) // each if each else 0
    memory.check((count,), 16)
    whole = body[: count * each]
    if form == REALS and bits in (32, 64):
        return np.frombuffer(whole, f"<f{each}").astype(np.float64)
    if form == INTEGERS and bits == 8:
        return (np.frombuffer(whole, np.uint8).astype(np.float64) - 128) / 128
    if form == INTEGERS and bits in (16, 32):
        return np.frombuffer(whole, f"<i{each}").astype(np.float64) / 2.0 ** (bits - 1)
    if form == INTEGERS and bits == 24:
        wide = np.zeros((count, 4), np.uint8)
        wide[:, 1:] = np.frombuffer(whole, np.uint8).reshape(count, 3)
        return wide.reshape(-1).view("<i4").astype(np.float64) / 2.0**31
    raise Wrong(f"its numbers have format {form} and {bits} bits")


@native("WAV::readWAV/1")
def read_wav(world: World, path: bytes) -> Any:
    return sound(read_all(world, path), shown(path))[1]


@native("WAV::rateWAV/1")
def rate(world: World, path: bytes) -> int:
    return sound(read_all(world, path), shown(path))[0]


@native("WAV::writeWAV/3")
def write_wav(world: World, path: bytes, rate: int, samples: Any) -> None:
    columns = samples if samples.ndim == 2 else samples.reshape(-1, 1)
    memory.check(columns.shape, 10)
    size = columns.size * 2
    if not (rate > 0 and 0 < columns.shape[1] < 1 << 16 and size < (1 << 32) - 64):
        raise Fault(
            "E0669",
            f"{columns.shape[0]} moments of {columns.shape[1]} channels, {rate} a second, cannot be a .wav file",
            help="a .wav file has a rate above 0, at least one channel, and at most 4 GiB",
        )
    numbers = np.round(np.clip(np.nan_to_num(columns, nan=0.0) * 32768.0, -32768, 32767)).astype("<i2")
    each = 2 * columns.shape[1]
    head = FORMAT.pack(INTEGERS, columns.shape[1], rate, rate * each & 0xFFFFFFFF, each & 0xFFFF, 16)
    chunks = b"WAVEfmt " + struct.pack("<I", len(head)) + head + b"data" + struct.pack("<I", size)
    start = b"RIFF" + struct.pack("<I", len(chunks) + size) + chunks
    write(world, path, lambda file: file.writelines((start, numbers.tobytes())))


__all__ = ["sound"]

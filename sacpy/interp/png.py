"""PNG pictures (ISO/IEC 15948): arrays of 8-bit red, green and blue to and from the bytes of a file.

Written: 8 bits, true colour. Read: every colour type and depth, not interlaced; transparency is dropped, 16 bits become
8.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from sacpy.interp import memory

SIGNATURE = b"\x89PNG\r\n\x1a\n"
GREY, TRUE_COLOUR, PALETTE, GREY_ALPHA, COLOUR_ALPHA = 0, 2, 3, 4, 6
SAMPLES = {GREY: 1, TRUE_COLOUR: 3, PALETTE: 1, GREY_ALPHA: 2, COLOUR_ALPHA: 4}

Picture = np.ndarray[Any, np.dtype[np.uint8]]


class PictureError(Exception):
    """The bytes are no picture that can be read; the message says why."""


def encode(picture: Picture) -> bytes:
    """The file of a picture of shape (height, width, 3). An empty picture has no file: ValueError."""
    height, width, _ = picture.shape
    if not height or not width:
        raise ValueError("a PNG file has at least one row and one column")
    memory.room(4 * (picture.size + height))  # rows, the same as bytes, what becomes of them, and the file
    rows = np.empty((height, 1 + 3 * width), np.uint8)
    rows[:, 0] = 0  # no filter
    rows[:, 1:] = picture.reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, 8, TRUE_COLOUR, 0, 0, 0)
    return SIGNATURE + _chunk(b"IHDR", head) + _chunk(b"IDAT", zlib.compress(rows.tobytes())) + _chunk(b"IEND", b"")


def decode(data: bytes) -> Picture:
    """The picture in the bytes of a file, of shape (height, width, 3). Raises `PictureError`."""
    if not data.startswith(SIGNATURE):
        raise PictureError("it does not begin as a PNG file does")
    memory.room(3 * len(data))
    head, palette, packed = b"", b"", bytearray()
    for kind, content in _chunks(data):
        if kind == b"IHDR":
            head = content
        elif kind == b"PLTE":
            palette = content
        elif kind == b"IDAT":
            packed += content
    if len(head) != 13:
        raise PictureError("its header is missing")
    width, height, depth, colours, _, _, interlaced = struct.unpack(">IIBBBBB", head)
    if colours not in SAMPLES or depth not in (1, 2, 4, 8, 16) or not width or not height:
        raise PictureError("its header is wrong")
    if interlaced:
        raise PictureError("it is interlaced, which is not supported")
    per_pixel = SAMPLES[colours] * depth
    size = height * (1 + (width * per_pixel + 7) // 8)
    # rows and what is made of them, samples, the picture
    memory.room(3 * size + height * width * (SAMPLES[colours] * (9 if depth < 8 else 1) + 9))
    rows = _unfiltered(_unpacked(packed, size), height, max(1, per_pixel // 8))
    return _coloured(_samples(rows, width, depth, SAMPLES[colours]), colours, depth, palette)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(SIGNATURE)
    while at + 12 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        content = data[at + 8 : at + 8 + length]
        if len(content) < length or data[at + 8 + length : at + 12 + length] != struct.pack(
            ">I", zlib.crc32(kind + content)
        ):
            raise PictureError("it is damaged")
        yield kind, content
        at += 12 + length
        if kind == b"IEND":
            return
    raise PictureError("it ends too early")


def _unpacked(packed: bytearray, size: int) -> bytes:
    """At most `size` bytes are made, however much a hostile file promises."""
    try:
        rows = zlib.decompressobj().decompress(packed, size)
    except zlib.error:
        raise PictureError("it is damaged") from None
    if len(rows) < size:
        raise PictureError("it ends too early")
    return rows


def _unfiltered(data: bytes, height: int, step: int) -> Picture:
    """The rows of bytes; `step` bytes lie between a byte and the one of the pixel to its left."""
    filtered = np.frombuffer(data, np.uint8).reshape(height, -1)
    rows = np.zeros((height, filtered.shape[1] - 1), np.uint8)
    above = np.zeros(rows.shape[1], np.uint8)
    for i in range(height):
        row = filtered[i, 1:]
        match filtered[i, 0]:
            case 0:
                rows[i] = row
            case 1:
                for k in range(step):
                    rows[i, k::step] = np.cumsum(row[k::step], dtype=np.uint8)
            case 2:
                rows[i] = row + above
            case 3:
                rows[i] = _averaged(row.tolist(), above.tolist(), step)
            case 4:
                rows[i] = _predicted(row.tolist(), above.tolist(), step)
            case _:
                raise PictureError("it has an unknown filter")
        above = rows[i]
    return rows


def _averaged(row: list[int], above: list[int], step: int) -> list[int]:
    left = [0] * step
    for value, up in zip(row, above, strict=True):
        left.append((value + (left[-step] + up >> 1)) & 255)
    return left[step:]


def _predicted(row: list[int], above: list[int], step: int) -> list[int]:
    """Paeth's filter: of left, above and above-left the one nearest to left + above - aboveleft."""
    left = [0] * step
    for value, up, corner in zip(row, above, [0] * step + above[: len(above) - step], strict=True):
        a = left[-step]
        to_left, to_up, to_corner = abs(up - corner), abs(a - corner), abs(a + up - 2 * corner)
        nearest = a if to_left <= to_up and to_left <= to_corner else up if to_up <= to_corner else corner
        left.append((value + nearest) & 255)
    return left[step:]


def _samples(rows: Picture, width: int, depth: int, samples: int) -> Picture:
    """Samples of shape (height, width, samples); of 16 bits the upper 8."""
    height = rows.shape[0]
    if depth == 16:
        rows = rows[:, ::2]
    elif depth < 8:
        bits = np.unpackbits(rows, axis=1)[:, : width * samples * depth].reshape(height, -1, depth)
        rows = (bits * (1 << np.arange(depth - 1, -1, -1, dtype=np.uint8))).sum(axis=2, dtype=np.uint8)
    return rows.reshape(height, width, samples)


def _coloured(samples: Picture, colours: int, depth: int, palette: bytes) -> Picture:
    if colours == PALETTE:
        table = np.frombuffer(palette, np.uint8, len(palette) // 3 * 3).reshape(-1, 3)
        if not len(table) or samples.max() >= len(table):
            raise PictureError("its palette is too small")
        return table[samples[:, :, 0]]
    if colours in (GREY, GREY_ALPHA):
        scale = 255 // ((1 << depth) - 1) if depth < 8 else 1
        return np.repeat(samples[:, :, :1] * np.uint8(scale), 3, axis=2)
    return np.ascontiguousarray(samples[:, :, :3])

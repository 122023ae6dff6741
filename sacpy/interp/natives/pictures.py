"""Natives of PNG, PPM and SDLdisplay: pictures in files and on the terminal. A picture is an array of shape (height,
width, 3) of ints; parts below 0 or above 255 count as 0 and 255."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np

from sacpy.interp import memory, png
from sacpy.interp.errors import Exit, Fault
from sacpy.interp.natives import native
from sacpy.interp.natives.scanning import WORD, scan
from sacpy.interp.natives.stdio import NO_ERROR, failed
from sacpy.interp.streams import Stream
from sacpy.interp.world import World, shown
from sacpy.nodes import Record, field

Array = np.ndarray[Any, np.dtype[Any]]
LARGEST_PICTURE = 1 << 28
WIDEST = 100
AT_A_TIME = 4096  # numbers that are written in one go
PIECE = 1 << 12  # bytes that are read in one go
_UNTIL_COMMENT, _COMMENT = re.compile(rb"[^#]*"), re.compile(rb"[^\n]*")


def eight_bits(picture: Array) -> png.Picture:
    """The parts of colours, brought into the range from 0 to 255."""
    memory.room(picture.nbytes + picture.size)
    return np.clip(picture, 0, 255).astype(np.uint8)


# ---------------------------------------------------------------- PNG


def _path(name: bytes) -> Path:
    memory.room(12 * len(name))
    return Path(os.fsdecode(name))


def _write_png(world: World, name: bytes, picture: Array) -> None:
    if not picture.size:
        raise Fault(
            "E0662",
            f"a picture of shape {list(picture.shape[:2])} cannot be a PNG file",
            help="a picture needs at least one row and one column",
        )
    path = _path(name)
    data = png.encode(eight_bits(picture))
    world.before_writing(name)
    path.write_bytes(data)


@native("PNG::writePNG/2")
def write_png(world: World, name: bytes, picture: Array) -> int:
    world.allow_files(f"write {shown(name)}")
    try:
        _write_png(world, name, picture)
    except OSError as error:
        return failed(error, name)[0]
    return NO_ERROR


@native("PNG::readPNG/1")
def read_png(world: World, name: bytes) -> Array:
    world.allow_files(f"open {shown(name)}")
    try:
        path = _path(name)
        memory.room(path.stat().st_size)
        picture = png.decode(path.read_bytes())
        memory.room(4 * picture.size)
        return picture.astype(np.int32)
    except OSError as error:
        raise Fault(
            "E0660",
            f"readPNG cannot open {shown(name)}: {error.strerror}",
            help="check the file's name and its permissions",
        ) from None
    except png.PictureError as error:
        raise Fault("E0661", f"readPNG cannot read {shown(name)}: {error}") from None


# ---------------------------------------------------------------- PPM


def _wrong(stream: Stream, why: str) -> Fault:
    return Fault(
        "E0661",
        f"readPPM cannot read {stream.name}: {why}",
        help="P3 and P6 files can be read, with values up to 65535",
    )


@native("PPM::readStream/1")
def read_ppm(world: World, stream: Stream) -> tuple[Array, Stream]:
    magic = stream.read(2)
    if magic not in (b"P3", b"P6"):
        raise _wrong(stream, "it does not begin as a PPM file does")
    width, height, largest = (_number(stream) for _ in range(3))
    count = 3 * width * height
    if not 0 < largest < 65536 or count > LARGEST_PICTURE:
        raise _wrong(stream, "its header is wrong")
    memory.check((height, width, 3), 4)
    picture = np.empty((height, width, 3), np.int32)
    into, at = picture.reshape(-1), 0
    for values in _bytes(stream, count, largest) if magic == b"P6" else _numbers(stream, count):
        scaled = values if largest == 255 else (values.astype(np.int64) * 255 + largest // 2) // largest
        into[at : at + len(scaled)] = scaled
        at += len(scaled)
    if at < count:
        raise _wrong(stream, "it ends too early")
    return picture, stream


def _number(stream: Stream) -> int:
    """A number of the header; one white-space character follows it, which is read too."""
    digits, code = b"", stream.getc()
    while code >= 0 and not 48 <= code <= 57:
        if code == ord("#"):
            stream.readline(1 << 20)
        elif code not in b" \t\r\n\v\f":
            break
        code = stream.getc()
    while 48 <= code <= 57 and len(digits) < 9:
        digits += bytes((code,))
        code = stream.getc()
    if not digits:
        raise _wrong(stream, "its header is wrong")
    return int(digits)


def _bytes(stream: Stream, count: int, largest: int) -> Iterator[Array]:
    """So many values, or fewer where there are no more."""
    kind = np.dtype(">u2" if largest > 255 else "u1")
    while count and (data := stream.read(min(count * kind.itemsize, PIECE))):
        values = np.frombuffer(data, kind, len(data) // kind.itemsize)
        count -= len(values)
        yield values.astype(np.int32)


def _numbers(stream: Stream, count: int) -> Iterator[Array]:
    """The same, written as text; comments go to the end of their line."""
    while count and stream.peek() >= 0:
        text = stream.take(_UNTIL_COMMENT, PIECE)
        if len(text) == PIECE:
            text += stream.take(WORD)  # the rest of the last number
        elif stream.peek() == ord("#"):
            stream.take(_COMMENT)
        try:
            values = np.array([int(word) for word in text.split()[:count]], np.int64)
        except (ValueError, OverflowError):
            raise _wrong(stream, "it has something else than a number") from None
        count -= len(values)
        yield values


@native("PPM::writeStream/3")
def write_ppm(world: World, stream: Stream, picture: Array, binary: bool) -> Stream:
    height, width, _ = picture.shape
    stream.write(b"P%d\n%d %d\n255\n" % (6 if binary else 3, width, height))
    if binary:
        for row in picture:
            stream.write(eight_bits(row).tobytes())
    else:
        for row in picture.reshape(height, -1):
            for start in range(0, row.size, AT_A_TIME):
                stream.write(
                    b" " * (start > 0) + b" ".join([b"%d" % v for v in row[start : start + AT_A_TIME].tolist()])
                )
            stream.write(b"\n")
    return stream


# ---------------------------------------------------------------- displays


class Display(Record):
    """What is shown, its number, and the size of a picture in the grid."""

    number: int
    cell: tuple[int, int]
    picture: png.Picture = field(repr=False)


def _numbers_in_use(world: World) -> set[int]:
    return cast(set[int], world.state.setdefault("displays", set()))


def _open(world: World, extents: tuple[int, ...], grid: tuple[int, ...]) -> Display:
    height, width = (max(0, a * b) for a, b in zip(extents, grid, strict=True))
    if not 0 < height * width <= LARGEST_PICTURE // 3:
        raise Fault(
            "E0662",
            f"a display cannot have the shape {[height, width]}",
            help="give its height and width in pixels, both at least 1",
        )
    memory.check((height, width, 3), 1)
    numbers = _numbers_in_use(world)
    number = next(n for n in range(1, len(numbers) + 2) if n not in numbers)
    numbers.add(number)
    return Display(number, (extents[0], extents[1]), np.zeros((height, width, 3), np.uint8))


@native("SDLdisplay::initDisplay/1", "SDLdisplay::createDisplay/1")
def open_display(world: World, extents: Array) -> Display:
    return _open(world, tuple(extents.tolist()), (1, 1))


@native("SDLdisplay::initMultiDisplay/2")
def open_divided(world: World, grid: Array, extents: Array) -> Display:
    return _open(world, tuple(extents.tolist()), tuple(grid.tolist()))


@native("SDLdisplay::destroyDisplay/1")
def close_display(world: World, display: Display) -> None:
    _numbers_in_use(world).discard(display.number)


@native("SDLdisplay::drawArray/2")
def draw(world: World, display: Display, picture: Array) -> Display:
    return _draw(world, display, picture, 0, 0)


@native("SDLdisplay::drawArrayOffset/3")
def draw_at(world: World, display: Display, picture: Array, offset: Array) -> Display:
    return _draw(world, display, picture, *offset.tolist())


@native("SDLdisplay::drawArrayMulti/3")
def draw_in_grid(world: World, display: Display, picture: Array, place: Array) -> Display:
    row, column = place.tolist()
    return _draw(world, display, picture, row * display.cell[0], column * display.cell[1])


def _draw(world: World, display: Display, picture: Array, row: int, column: int) -> Display:
    if row < 0 or column < 0:
        raise Fault(
            "E0662", f"a picture cannot begin at [{row}, {column}] of a display", help="rows and columns count from 0"
        )
    room = display.picture[row:, column:]
    height, width = min(room.shape[0], picture.shape[0]), min(room.shape[1], picture.shape[1])
    room[:height, :width] = eight_bits(picture[:height, :width])
    _show(world, display)
    return display


def _show(world: World, display: Display) -> None:
    chosen = os.fsdecode(world.environ.get(b"SACPY_DISPLAY", b"")) if world.environment else ""
    if chosen == "off":
        return
    if not chosen and world.screen is not None:
        world.flush()
        world.screen(display.number, png.encode(display.picture))
        return
    if chosen == "terminal" or (not chosen and (world.stdout.by_line or not world.files)):
        for line in half_blocks(display.picture):
            world.stdout.write(line)
        world.flush()
        return
    name = os.path.join(chosen, f"display-{display.number}.png")
    world.allow_files(f"show a picture in {name}")
    try:
        _write_png(world, os.fsencode(name), display.picture)
    except OSError as error:
        raise Fault(
            "E0660",
            f"a display cannot write {name}: {error.strerror}",
            help="let SACPY_DISPLAY name a folder, or be `terminal` or `off`",
        ) from None


def half_blocks(picture: png.Picture) -> Iterator[bytes]:
    """A picture for a terminal with 24-bit colours, line by line: two rows of pixels in each, at most `WIDEST`
    columns."""
    step = -(-picture.shape[1] // WIDEST)
    small = picture[::step, ::step]
    for upper in range(0, small.shape[0], 2):
        below = small[upper + 1] if upper + 1 < small.shape[0] else np.zeros_like(small[upper])
        cells = (
            "\x1b[38;2;{};{};{};48;2;{};{};{}m\u2580".format(*a, *b)
            for a, b in zip(small[upper].tolist(), below.tolist(), strict=True)
        )
        yield ("".join(cells) + "\x1b[0m\n").encode()


def _integers(world: World, count: int) -> list[int]:
    """Numbers from standard input; at its end the program ends."""
    numbers = []
    for _ in range(count):
        found, number = scan(world.stdin, b"%d", ("int",), "getSelection")
        if found != 1:
            raise Exit(0)
        numbers.append(cast(int, number))
    return numbers


@native("SDLdisplay::getSelection/1")
def selection(world: World, display: Display) -> tuple[Array, Display]:
    return np.array(_integers(world, 4), np.int32).reshape(2, 2), display


@native("SDLdisplay::getSelectionMulti/2")
def selection_in_grid(world: World, display: Display, grid: Array) -> tuple[Array, Array, Display]:
    numbers = np.array(_integers(world, 6), np.int32)
    return numbers[:2].copy(), numbers[2:].reshape(2, 2), display

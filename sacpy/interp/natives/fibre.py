"""Natives of FibreIO: arrays as text that says its own shape, `[0,2: 1 2 3]`, nested for more axes, or a bare scalar.

Reading takes blanks and `# comments` anywhere, extents `lo,hi` (so hi-lo+1 elements), integers with the suffixes of
their types, reals with a `d` or `e` exponent, and strings in double quotes.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from math import prod
from typing import Any, NoReturn

import numpy as np

from sacpy.interp import memory
from sacpy.interp.errors import Fault
from sacpy.interp.natives import native
from sacpy.interp.natives.formatting import sprintf, sprintf_many
from sacpy.interp.natives.printing import flat
from sacpy.interp.natives.scanning import number, rounded, wrapped
from sacpy.interp.natives.string_arrays import StringArray
from sacpy.interp.runtime.structure import reshape
from sacpy.interp.streams import CHUNK, Stream
from sacpy.interp.world import World, shown
from sacpy.lang.types import BITS, REAL

FORMATS = {
    "byte": b"%hhd", "short": b"%hd", "int": b"%i", "long": b"%ld", "longlong": b"%lld", "ubyte": b"%hhu",
    "ushort": b"%hu", "uint": b"%u", "ulong": b"%lu", "ulonglong": b"%llu",
    "float": b"%f", "double": b"%f",
}  # fmt: skip
SCALAR_FORMATS = {**FORMATS, "byte": b"%hd", "ubyte": b"%hu", "float": b"%.16f", "double": b"%.16f"}
DTYPES = {
    "byte": np.int8, "short": np.int16, "int": np.int32, "long": np.int64, "longlong": np.int64, "ubyte": np.uint8,
    "ushort": np.uint16, "uint": np.uint32, "ulong": np.uint64,
    "ulonglong": np.uint64, "float": np.float32, "double": np.float64,
}  # fmt: skip
STRINGS = "strings"
WIDE = 1 << 14  # characters of elements that are read in one go
PER_ELEMENT = 120  # bytes that an element takes until they are all read
AT_A_TIME = 1024  # elements that are written in one go

# ---------------------------------------------------------------- writing


def fibre_text(value: Any, base: str) -> Iterator[bytes]:
    """What `FibrePrint` writes for a value, piece by piece."""
    if isinstance(value, StringArray):
        shape, items = value.shape, value.items
    else:
        shape, items = flat(value)
        if not shape:
            yield sprintf(SCALAR_FORMATS[base] + b"\n", items, (base,))
            return
    if not shape:
        yield b'"%b"\n' % items[0]
        return
    out = bytearray()
    for piece in _pieces(shape, items, base, 0, 0):
        out += piece
        if len(out) >= CHUNK:
            yield bytes(out)
            out.clear()
    yield bytes(out)


def _pieces(shape: tuple[int, ...], items: Any, base: str, at: int, indent: int) -> Iterator[bytes]:
    """One array, whose elements begin at `at`."""
    pad = b" " * indent
    yield b"%b[ 0,%d:\n" % (pad, shape[0] - 1)
    if len(shape) == 1:
        for start in range(at, at + shape[0], AT_A_TIME):
            yield b"".join(pad + line for line in _lines(items[start : min(start + AT_A_TIME, at + shape[0])], base))
    else:
        size = prod(shape[1:])
        for number in range(shape[0]):
            yield from _pieces(shape[1:], items, base, at + number * size, indent + 1)
    yield pad + b"]\n"


def _lines(items: Any, base: str) -> list[bytes]:
    """Elements, each in a line of its own."""
    if isinstance(items, tuple):
        memory.room(3 * sum(map(len, items)))
        return [b' "%b"\n' % item for item in items]
    numbers = items.tolist()
    pads = [b"    " if item >= 0 else b"   " for item in numbers] if base in REAL else [b" "] * len(numbers)
    return [b"%b%b\n" % pair for pair in zip(pads, sprintf_many(FORMATS[base], numbers, base), strict=True)]


@native("FibreIO::FibrePrint/1", wants_bases=True)
def fibre_print(world: World, value: Any, *, bases: tuple[str, ...]) -> None:
    for piece in (value,) if isinstance(value, bytes) else fibre_text(value, bases[0]):
        world.stdout.write(piece)


@native("FibreIO::FibrePrint/2", wants_bases=True)
def fibre_fprint(world: World, stream: Stream, value: Any, *, bases: tuple[str, ...]) -> Stream:
    for piece in fibre_text(value, bases[1]):
        stream.write(piece)
    return stream


@native("FibreIO::FibrePrint/4", wants_bases=True)
def fibre_fprint_shape(
    world: World, stream: Stream, rank: int, shape: Any, value: Any, *, bases: tuple[str, ...]
) -> Stream:
    return fibre_fprint(
        world,
        stream,
        value if isinstance(value, StringArray) or not rank else reshape(shape, value),
        bases=(bases[0], bases[3]),
    )


# ---------------------------------------------------------------- reading

_GAP, _COMMENT = re.compile(rb"[ \t\r\n\f]*"), re.compile(rb"[^\n]*")
_BOUND = re.compile(rb"[+-]?[0-9]*")
_PLAIN = re.compile(rb'[^\[\]#"]*')
_WORD = re.compile(rb'[^ \t\r\n\f\v\[\]#"]*')
_TOKEN = re.compile(rb'[^ \t\r\n\f\[\]#",:]*')
_QUOTED = re.compile(rb'"(?>(?:[^"\n\\]++|\\.)*)"?')
_INTEGER = re.compile(rb"([+-]?[0-9]+)(?:u?[bsil]|u?ll)?", re.IGNORECASE)
_REAL = re.compile(rb"[+-]?[0-9]+\.?[0-9]*(?:[de](?:[+-]?[0-9]+)?)?", re.IGNORECASE)


class _Reader:
    """Reads one value of a base type from a stream."""

    def __init__(self, stream: Stream, base: str) -> None:
        self.stream = stream
        self.base = base
        self.start = stream.consumed
        self.line = 1
        self.place: int | None = None
        self.shape: list[int] = []
        self.items: list[Any] = []

    def take(self, pattern: re.Pattern[bytes]) -> bytes:
        data = self.stream.take(pattern)
        self.line += data.count(b"\n")
        return data

    def value(self) -> tuple[tuple[int, ...], list[Any]]:
        """Shape and elements."""
        if self.next() == b"[":
            self.array(0)
        else:
            self.items.append(self.one(self.token()))
        return tuple(self.shape), self.items

    def next(self) -> bytes:
        """Skips blanks and comments and looks at the next character; b"" at the end."""
        self.take(_GAP)
        while (code := self.stream.peek()) == ord("#"):
            self.take(_COMMENT)
            self.take(_GAP)
        return b"" if code < 0 else bytes((code,))

    def array(self, depth: int) -> None:
        """`[lo,hi: ...]` at nesting depth `depth`."""
        first = not self.items and depth == len(self.shape)
        self.expect(b"[")
        low = self.bound()
        self.expect(b",")
        high = self.bound()
        extent = high - low + 1
        if extent < 0:
            self.wrong(f"the bounds {low},{high} leave less than nothing", "write the lower bound first")
        if first:
            self.shape.append(extent)
        elif depth >= len(self.shape):
            self.wrong(f"a sub-array of more axes than the ones before it, which have {len(self.shape) - depth}")
        elif extent != self.shape[depth]:
            self.wrong(
                f"a sub-array of extent {extent} among sub-arrays of extent {self.shape[depth]}",
                "the sub-arrays of an array must have equal shapes",
            )
        self.expect(b":")
        if self.next() == b"[":
            self.subarrays(depth, extent)
        else:
            if depth + 1 < len(self.shape):
                self.wrong(f"elements where a sub-array of {len(self.shape) - depth - 1} more axes is expected")
            self.elements(extent)
        self.expect(b"]")

    def subarrays(self, depth: int, extent: int) -> None:
        count = 0
        while self.next() == b"[":
            if count == extent:
                self.wrong(f"more than the {extent} sub-arrays that the bounds announce")
            self.array(depth + 1)
            count += 1
        if count < extent:
            self.wrong(f"{count} sub-arrays where the bounds announce {extent}")

    def elements(self, extent: int) -> None:
        items: list[Any] = []
        while (head := self.next()) not in (b"]", b""):
            if head == b'"' or self.base == STRINGS:
                if len(items) % AT_A_TIME == 0:
                    memory.reserve(PER_ELEMENT * AT_A_TIME)
                items.append(self.one(self.token()))
            elif head == b"[":
                self.wrong("a sub-array among the elements")
            else:
                text = self.stream.take(_PLAIN, WIDE)
                if len(text) == WIDE:
                    text += self.stream.take(_WORD)  # the rest of the last one
                self.line += text.count(b"\n")
                memory.reserve(PER_ELEMENT * len(text))
                items += self.several(text)
            if len(items) > extent:
                self.wrong(f"more than the {extent} elements that the bounds announce")
        if len(items) < extent:
            self.wrong(f"{len(items)} element{'' if len(items) == 1 else 's'} where the bounds announce {extent}")
        memory.room(16 * (len(self.items) + len(items)))
        self.items += items

    def several(self, text: bytes) -> list[Any]:
        """The elements that a stretch of text holds."""
        try:
            return [self.one(word) for word in text.split()]
        except Fault:
            end, line = self.stream.consumed, self.line
            for match in re.finditer(rb"\S+", text):  # once more, to name the place of the wrong one
                self.place = end - len(text) + match.start()
                self.line = line - text.count(b"\n", match.start())
                self.one(match[0])
            raise

    def expect(self, character: bytes) -> None:
        found = self.next()
        if found != character:
            self.wrong(
                f"`{shown(found)}` where `{character.decode()}` is expected"
                if found
                else f"the text ends where `{character.decode()}` is expected"
            )
        self.stream.getc()

    def bound(self) -> int:
        self.next()
        text = self.take(_BOUND)
        if not text[-1:].isdigit():
            found = self.next()
            self.wrong(
                f"`{shown(found)}` where a bound is expected" if found else "the text ends where a bound is expected"
            )
        return _integer(text)

    def token(self) -> bytes:
        head = self.next()
        if not head:
            self.wrong("the text ends where a value is expected")
        text = self.take(_QUOTED if head == b'"' else _TOKEN)
        if not text:
            self.wrong(f"`{shown(head)}` where a value is expected")
        return text

    def one(self, text: bytes) -> Any:
        """The element that a token is."""
        if self.base == STRINGS:
            if len(text) < 2 or not text.startswith(b'"') or not text.endswith(b'"'):
                self.wrong(f"`{shown(text)}` is not a string", "strings stand in double quotes")
            return text[1:-1]
        if self.base in BITS:
            match = _INTEGER.fullmatch(text)
            if match is None:
                remedy = (
                    "read reals with FibreScanDoubleArray"
                    if _REAL.fullmatch(text)
                    else "put blanks between elements"
                    if b"," in text
                    else ""
                )
                self.wrong(f"`{shown(text)}` is not an integer", remedy)
            return wrapped(_integer(match[1]), self.base)
        memory.room(6 * len(text))
        try:
            value = float(text)
        except ValueError:
            value = self.real(text)
        if b"_" in text:
            self.wrong(f"`{shown(text)}` is not a number")
        return rounded(value) if self.base == "float" else value

    def real(self, text: bytes) -> float:
        if _REAL.fullmatch(text) is None:
            self.wrong(f"`{shown(text)}` is not a number")
        return float(text.lower().replace(b"d", b"e").rstrip(b"e"))

    def wrong(self, what: str, remedy: str = "") -> NoReturn:
        place = self.stream.consumed if self.place is None else self.place
        where = f"line {self.line}, byte {place - self.start + 1} of the text"
        raise Fault(
            "E0657",
            f"FibreScan: {what} ({where})",
            help=remedy or "an array is written [lo,hi: elements], with a bracket for each axis",
        )


def _integer(text: bytes) -> int:
    """The integer that a word is, with its sign."""
    return -number(text[1:], 10) if text[:1] == b"-" else number(text.removeprefix(b"+"), 10)


def fibre_scan(stream: Stream, base: str) -> Any:
    """The array or scalar at the present place of a stream."""
    shape, items = _Reader(stream, base).value()
    memory.room(8 * len(items))
    if base == STRINGS:
        return StringArray(shape, tuple(items))
    return np.array(items, dtype=DTYPES[base]).reshape(shape) if shape else items[0]


def _register_readers(base: str) -> None:
    """Scalars and arrays, from standard input, a stream, a string."""
    name = "String" if base == STRINGS else base.capitalize()

    @native(f"FibreIO::FibreScan{name}/1")
    def scalar(world: World, stream: Stream) -> tuple[Any, Stream]:
        reader = _Reader(stream, base)
        return reader.one(reader.token()), stream

    @native(f"FibreIO::FibreScan{name}Array/1")
    def array(world: World, stream: Stream) -> tuple[Any, Stream]:
        return fibre_scan(stream, base), stream

    @native(f"FibreIO::FibreScan{name}Array/0")
    def array_stdin(world: World) -> Any:
        return fibre_scan(world.stdin, base)

    @native(f"FibreIO::FibreScan{name}ArrayStr/1")
    def array_string(world: World, text: bytes) -> Any:
        return fibre_scan(Stream(io.BytesIO(text), "a string", readable=True), base)


for _base in (*DTYPES, STRINGS):
    _register_readers(_base)

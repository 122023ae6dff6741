"""Natives of ScalarIO, ArrayIO and ComplexIO: `print`, `fprint`, `show`, and reading one value of a given type."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

import numpy as np

from sacpy.interp import memory
from sacpy.interp.natives import native
from sacpy.interp.natives.array_text import DEFAULT, array_text, framed, rows_text, show_text
from sacpy.interp.natives.formatting import sprintf
from sacpy.interp.streams import Stream
from sacpy.interp.world import World
from sacpy.lang.printf_formats import STRING

SCALAR_HEAD = b"Dimension:  0\nShape    : < >\n"
# What sac2c's ScalarIO uses; the byte types print in hexadecimal there.
SCALAR = {
    "byte": b"%x", "short": b"%hd", "int": b"%d", "long": b"%ld", "longlong": b"%lld", "ubyte": b"%X", "ushort": b"%hu",
    "uint": b"%u", "ulong": b"%lu", "ulonglong": b"%llu",
    "float": b"%g", "double": b"%g", "bool": b"%d", "char": b"%c", STRING: b"%s",
}  # fmt: skip
SCAN = {
    "byte": b"%hhd", "short": b"%hd", "int": b"%d", "long": b"%ld", "longlong": b"%lld", "ubyte": b"%hhu",
    "ushort": b"%hu", "uint": b"%u", "ulong": b"%lu", "ulonglong": b"%llu",
    "float": b"%f", "double": b"%lf", "char": b"%c",
}  # fmt: skip

# ---------------------------------------------------------------- scalars


def _bool_text(value: bool, mode: int) -> bytes:
    return {2: (b"false", b"true"), 1: (b"f", b"t")}.get(mode, (b"0", b"1"))[bool(value)]


def _scalar(value: Any, base: str) -> bytes:
    return sprintf(SCALAR[base], (value,), (base,))


def _precise(value: Any, base: str, mode: int) -> bytes:
    """A bool as mode 0 (digits), 1 (letters) or 2 (words); a real with that many digits."""
    return _bool_text(value, mode) if base == "bool" else sprintf(b"%.*g", (mode, value), ("int", base))


@native("ScalarIO::print/1", wants_bases=True)
def print_scalar(world: World, value: Any, *, bases: tuple[str, ...]) -> None:
    base = bases[0]
    text = _bool_text(value, 2) if base == "bool" else b"'%c'" % value if base == "char" else _scalar(value, base)
    world.stdout.write(SCALAR_HEAD + b" " + text + b"\n")


@native("ScalarIO::print/2", wants_bases=True)
def print_precise(world: World, value: Any, mode: int, *, bases: tuple[str, ...]) -> None:
    world.stdout.write(SCALAR_HEAD + b" " + _precise(value, bases[0], mode) + b"\n")


@native("ScalarIO::fprint/2", wants_bases=True)
def fprint_scalar(world: World, stream: Stream, value: Any, *, bases: tuple[str, ...]) -> Stream:
    stream.write(_scalar(value, bases[1]))
    return stream


@native("ScalarIO::fprint/3", wants_bases=True)
def fprint_precise(world: World, stream: Stream, value: Any, mode: int, *, bases: tuple[str, ...]) -> Stream:
    stream.write(_precise(value, bases[1], mode))
    return stream


@native("ScalarIO::show/1", wants_bases=True)
def show_scalar(world: World, value: Any, *, bases: tuple[str, ...]) -> None:
    world.stdout.write(_scalar(value, bases[0]) + b"\n")


def _read_one(stream: Stream, base: str) -> tuple[bool, Any]:
    from sacpy.interp.natives.scanning import scan  # loaded by programs that read

    fmt = SCAN["char" if base == "bool" else base]
    count, value = scan(stream, fmt, ("",), f"scan{base}")
    if base == "bool":
        value = count == 1 and value not in b"0f"  # type: ignore[operator]
    return count == 1, value


def _register_readers(base: str) -> None:
    """`bool, T scanT()` and `bool, T fscanT(stream)`."""

    @native(f"ScalarIO::scan{base}/0")
    def read_stdin(world: World) -> tuple[bool, Any]:
        return _read_one(world.stdin, base)

    @native(f"ScalarIO::fscan{base}/1")
    def read(world: World, stream: Stream) -> tuple[bool, Any, Stream]:
        return *_read_one(stream, base), stream


for _base in (*SCAN, "bool"):
    _register_readers(_base)

# ---------------------------------------------------------------- arrays


def flat(array: Any) -> tuple[tuple[int, ...], Any]:
    """Shape and elements in row-major order of a value, which may be a scalar."""
    if isinstance(array, np.ndarray):
        return array.shape, array.reshape(-1)
    return (), [array]


def _print(stream: Stream, fmt: bytes, array: Any, base: str) -> None:
    for piece in array_text(fmt, base, *flat(array)):
        stream.write(piece)


@native("ArrayIO::print/1", wants_bases=True)
def print_array(world: World, array: Any, *, bases: tuple[str, ...]) -> None:
    _print(world.stdout, DEFAULT[bases[0]], array, bases[0])


@native("ArrayIO::print/2", wants_bases=True)
def print_array_format(world: World, fmt: bytes, array: Any, *, bases: tuple[str, ...]) -> None:
    _print(world.stdout, fmt, array, bases[1])


@native("ArrayIO::fprint/2", wants_bases=True)
def fprint_array(world: World, stream: Stream, array: Any, *, bases: tuple[str, ...]) -> Stream:
    _print(stream, DEFAULT[bases[1]], array, bases[1])
    return stream


@native("ArrayIO::fprint/3", wants_bases=True)
def fprint_array_format(world: World, stream: Stream, fmt: bytes, array: Any, *, bases: tuple[str, ...]) -> Stream:
    _print(stream, fmt, array, bases[2])
    return stream


@native("ArrayIO::printRows/3", wants_bases=True)
def print_rows(world: World, type: bytes, sizes: Any, elements: Any, *, bases: tuple[str, ...]) -> None:
    """A packed array: its type, its sizes, and each row on a line of its own; of more than two axes slice by slice,
    under the slice's position."""
    from sacpy.interp.packed_rows import lengths_of  # loaded where somebody has such an array

    memory.room(2 * len(type))
    known = b", ".join(b"%b = %d" % (n.encode(), k) for n, k in zip("nmprsu", sizes[:6].tolist()))
    rank, lengths = lengths_of(type.decode(), sizes.tolist())
    head = rank, type[max(type.find(b"["), 0) :], known
    world.stdout.write(b"Dimension:  %d\nExtents  : %b, %b\n" % head)
    start = 0
    for outer, rows in groupby(lengths, lambda row: row[0][:-1]):
        if outer:
            world.stdout.write(b"[%b,.,.]\n" % b",".join(b"%d" % i for i in outer))
        several = [length for _, length in rows]
        for piece in rows_text(DEFAULT[bases[2]], bases[2], several, elements.reshape(-1)[start:]):
            world.stdout.write(piece)
        start += sum(several)


@native("ArrayIO::showchars/1")
def show_chars(world: World, array: Any) -> None:
    shape = array.shape if isinstance(array, np.ndarray) else ()
    codes = memoryview(array.reshape(-1)).cast("B") if shape and array.size else b"" if shape else bytes((array,))
    for piece in show_text(shape, codes):
        world.stdout.write(piece)


# ---------------------------------------------------------------- complex numbers

_PAIR: dict[int, bytes] = {1: b"%g+%gi", 2: b"%g %g"}
_PRECISE: dict[int, bytes] = {1: b"%.*g+%.*gi", 2: b"%.*g %.*g"}
_DOUBLES = ("double", "double")


def _pairs(fmt: Callable[[float, float], bytes], value: Any, precision: int = 0) -> Iterator[bytes]:
    """Complex numbers in the rows of `print`; `value` has the pair as its last axis."""
    shape, pairs = value.shape[:-1], value.reshape(-1, 2)
    head = b"Dimension: %d\nShape    : <%b>\n" % (len(shape), b",".join(b" %d" % n for n in shape))
    return framed(
        head,
        shape,
        lambda start, end: [fmt(real, imag) for real, imag in pairs[start:end].tolist()],
        max(1, memory.SMALL // (1000 + 6 * max(0, precision))),
    )


def _pair(real: float, imag: float, mode: int = 0, precision: int | None = None) -> bytes:
    if precision is None:
        return sprintf(_PAIR.get(mode, b"(%g, %g)"), (real, imag), _DOUBLES)
    return sprintf(_PRECISE.get(mode, b"(%.*g, %.*g)"), (precision, real, precision, imag), ("int", "double") * 2)


def _complex_text(value: Any, mode: int | None = None, precision: int | None = None) -> Iterator[bytes]:
    if value.ndim == 1:
        return iter(
            (
                sprintf(b"(%g,%g)", value.tolist(), _DOUBLES)
                if mode is None
                else _pair(value.item(0), value.item(1), mode, precision),
            )
        )
    if mode is None:
        return _pairs(lambda real, imag: sprintf(b"(%.g, %.g) ", (real, imag), _DOUBLES), value)
    return _pairs(lambda real, imag: _pair(real, imag, mode, precision) + b" ", value, precision or 0)


@native("ComplexIO::print/1", "ComplexIO::print/2", "ComplexIO::print/3")
def print_complex(world: World, value: Any, mode: int | None = None, precision: int | None = None) -> None:
    for piece in _complex_text(value, mode, precision):
        world.stdout.write(piece)


@native("ComplexIO::fprint/2", "ComplexIO::fprint/3", "ComplexIO::fprint/4")
def fprint_complex(
    world: World, stream: Stream, value: Any, mode: int | None = None, precision: int | None = None
) -> Stream:
    for piece in _complex_text(value, mode, precision):
        stream.write(piece)
    return stream


def _read_complex(stream: Stream, mode: int) -> tuple[bool, Any]:
    from sacpy.interp.natives.scanning import scan  # loaded by programs that read

    fmt = {1: b"%lf+%lfi", 2: b"%lf %lf"}.get(mode, b"(%lf,%lf)")
    count, real, imag = scan(stream, fmt, _DOUBLES, "scancomplex")
    return count == 2, np.array((real, imag), dtype=np.float64)


@native("ComplexIO::scancomplex/0", "ComplexIO::scancomplex/1")
def scancomplex(world: World, mode: int = 0) -> tuple[bool, Any]:
    return _read_complex(world.stdin, mode)


@native("ComplexIO::fscancomplex/1", "ComplexIO::fscancomplex/2")
def fscancomplex(world: World, stream: Stream, mode: int = 0) -> tuple[bool, Any, Stream]:
    return *_read_complex(stream, mode), stream

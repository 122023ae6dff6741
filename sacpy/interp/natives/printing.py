"""Natives of ScalarIO, ArrayIO and ComplexIO: `print`, `fprint`, `show`, and reading one value of a given type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sacpy.interp.natives import native
from sacpy.interp.natives.array_text import DEFAULT, array_text, framed, show_text
from sacpy.interp.natives.formatting import sprintf
from sacpy.interp.natives.scanning import scan
from sacpy.interp.streams import Stream
from sacpy.interp.world import World
from sacpy.lang.printf_formats import STRING

SCALAR_HEAD = b"Dimension:  0\nShape    : < >\n"
# What sac2c's ScalarIO uses; the byte types print in hexadecimal there.
SCALAR = {
    "byte": b"%x", "short": b"%hd", "int": b"%d", "long": b"%ld", "longlong": b"%lld", "ubyte": b"%X", "ushort": b"%hu", "uint": b"%u", "ulong": b"%lu", "ulonglong": b"%llu",
    "float": b"%g", "double": b"%g", "bool": b"%d", "char": b"%c", STRING: b"%s",
}  # fmt: skip
SCAN = {
    "byte": b"%hhd", "short": b"%hd", "int": b"%d", "long": b"%ld", "longlong": b"%lld", "ubyte": b"%hhu", "ushort": b"%hu", "uint": b"%u", "ulong": b"%lu", "ulonglong": b"%llu",
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


def flat(array: Any) -> tuple[tuple[int, ...], list[Any]]:
    """Shape and elements of a value, which may be a scalar."""
    if isinstance(array, np.ndarray):
        return array.shape, array.ravel().tolist()
    return (), [array]


@native("ArrayIO::print/1", wants_bases=True)
def print_array(world: World, array: Any, *, bases: tuple[str, ...]) -> None:
    world.stdout.write(array_text(DEFAULT[bases[0]], bases[0], *flat(array)))


@native("ArrayIO::print/2", wants_bases=True)
def print_array_format(world: World, fmt: bytes, array: Any, *, bases: tuple[str, ...]) -> None:
    world.stdout.write(array_text(fmt, bases[1], *flat(array)))


@native("ArrayIO::fprint/2", wants_bases=True)
def fprint_array(world: World, stream: Stream, array: Any, *, bases: tuple[str, ...]) -> Stream:
    stream.write(array_text(DEFAULT[bases[1]], bases[1], *flat(array)))
    return stream


@native("ArrayIO::fprint/3", wants_bases=True)
def fprint_array_format(world: World, stream: Stream, fmt: bytes, array: Any, *, bases: tuple[str, ...]) -> Stream:
    stream.write(array_text(fmt, bases[2], *flat(array)))
    return stream


@native("ArrayIO::showchars/1")
def show_chars(world: World, array: Any) -> None:
    shape = array.shape if isinstance(array, np.ndarray) else ()
    world.stdout.write(show_text(shape, array.tobytes() if shape else bytes((array,))))


# ---------------------------------------------------------------- complex numbers

_PAIR: dict[int, bytes] = {1: b"%g+%gi", 2: b"%g %g"}
_PRECISE: dict[int, bytes] = {1: b"%.*g+%.*gi", 2: b"%.*g %.*g"}
_DOUBLES = ("double", "double")


def _pairs(fmt: Callable[[float, float], bytes], value: Any, head: bytes = b"%d") -> bytes:
    """Complex numbers in the rows of `print`; `value` has the pair as its last axis."""
    shape = value.shape[:-1]
    elements = [fmt(real, imag) for real, imag in value.reshape(-1, 2).tolist()]
    extents = b",".join(b" " + head % n for n in shape)
    return framed(b"Dimension: " + head % len(shape) + b"\nShape    : <" + extents + b">\n", shape, elements)


def _pair(value: Any, mode: int = 0, precision: int | None = None) -> bytes:
    real, imag = value.tolist()
    if precision is None:
        return sprintf(_PAIR.get(mode, b"(%g, %g)"), (real, imag), _DOUBLES)
    return sprintf(_PRECISE.get(mode, b"(%.*g, %.*g)"), (precision, real, precision, imag), ("int", "double") * 2)


def _complex_text(value: Any, mode: int | None = None, precision: int | None = None) -> bytes:
    if value.ndim == 1:
        return sprintf(b"(%g,%g)", value.tolist(), _DOUBLES) if mode is None else _pair(value, mode, precision)
    if mode is None:
        return _pairs(lambda real, imag: sprintf(b"(%.g, %.g) ", (real, imag), _DOUBLES), value)
    return _pairs(lambda real, imag: _pair(np.array((real, imag)), mode, precision) + b" ", value)


@native("ComplexIO::print/1", "ComplexIO::print/2", "ComplexIO::print/3")
def print_complex(world: World, value: Any, mode: int | None = None, precision: int | None = None) -> None:
    world.stdout.write(_complex_text(value, mode, precision))


@native("ComplexIO::fprint/2", "ComplexIO::fprint/3", "ComplexIO::fprint/4")
def fprint_complex(world: World, stream: Stream, value: Any, mode: int | None = None, precision: int | None = None) -> Stream:
    stream.write(_complex_text(value, mode, precision))
    return stream


def _read_complex(stream: Stream, mode: int) -> tuple[bool, Any]:
    fmt = {1: b"%lf+%lfi", 2: b"%lf %lf"}.get(mode, b"(%lf,%lf)")
    count, real, imag = scan(stream, fmt, _DOUBLES, "scancomplex")
    return count == 2, np.array((real, imag), dtype=np.float64)


@native("ComplexIO::scancomplex/0", "ComplexIO::scancomplex/1")
def scancomplex(world: World, mode: int = 0) -> tuple[bool, Any]:
    return _read_complex(world.stdin, mode)


@native("ComplexIO::fscancomplex/1", "ComplexIO::fscancomplex/2")
def fscancomplex(world: World, stream: Stream, mode: int = 0) -> tuple[bool, Any, Stream]:
    return *_read_complex(stream, mode), stream

"""Natives of the module String. A string is `bytes`, as C's strings without the zero at the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sacpy.interp.errors import Fault
from sacpy.interp.natives import native
from sacpy.interp.natives.formatting import sprintf
from sacpy.interp.natives.scanning import NUMBER, real, rounded, scan_text, wrapped
from sacpy.interp.world import World, shown
from sacpy.lang.printf_formats import STRING

BLANKS = b" \t\n\v\f\r"
_DIGITS = b"0123456789abcdefghijklmnopqrstuvwxyz"


def _inside(position: int, last: int, who: str, text: bytes) -> None:
    if not 0 <= position <= last:
        part = shown(text if len(text) <= 40 else text[:37] + b"...")
        raise Fault("E0655", f'{who}: position {position} is outside of the string "{part}", whose length is {len(text)}', help=f"use a position from 0 to {last}" if last >= 0 else "")


# ---------------------------------------------------------------- characters and parts


@native("String::to_string/1")
def to_string(world: World, chars: np.ndarray) -> bytes:
    return bytes(chars.tobytes().partition(b"\0")[0])


@native("String::to_string/2")
def to_string_length(world: World, chars: np.ndarray, length: int) -> bytes:
    if not 0 <= length <= chars.size:
        raise Fault("E0655", f"to_string: length {length} does not fit an array of {chars.size} characters")
    return bytes(chars[:length].tobytes().partition(b"\0")[0])


@native("String::tochar/1")
def tochar(world: World, text: bytes) -> np.ndarray:
    return np.frombuffer(text, dtype=np.uint8).copy()


@native("String::strlen/1")
def strlen(world: World, text: bytes) -> int:
    return len(text)


@native("String::strsel/2")
def strsel(world: World, text: bytes, position: int) -> int:
    _inside(position, len(text) - 1, "strsel", text)
    return text[position]


@native("String::sel/2")
def sel(world: World, index: np.ndarray, text: bytes) -> int:
    if index.size != 1:
        raise Fault("E0655", f"a string is selected from with one index, not {index.size}")
    return strsel(world, text, int(index[0]))


@native("String::strmod/3")
def strmod(world: World, text: bytes, position: int, code: int) -> bytes:
    _inside(position, len(text) - 1, "strmod", text)
    return text[:position] + bytes((code,)) + text[position + 1 :]


@native("String::strins/3")
def strins(world: World, text: bytes, position: int, part: bytes) -> bytes:
    _inside(position, len(text), "strins", text)
    return text[:position] + part + text[position:]


@native("String::strovwt/3")
def strovwt(world: World, text: bytes, position: int, part: bytes) -> bytes:
    _inside(position, len(text), "strovwt", text)
    return text[:position] + part + text[position + len(part) :]


@native("String::modarray/3", wants_bases=True)
def modarray(world: World, text: bytes, index: np.ndarray, value: Any, *, bases: tuple[str, ...]) -> bytes:
    return (strovwt if bases[2] == STRING else strmod)(world, text, int(index[0]), value)


@native("String::strcat/2", "String::+/2")
def strcat(world: World, first: bytes, second: bytes) -> bytes:
    return first + second


@native("String::strncat/3")
def strncat(world: World, first: bytes, second: bytes, count: int) -> bytes:
    return first + second[: max(0, count)]


@native("String::strtake/2")
def strtake(world: World, text: bytes, count: int) -> bytes:
    _inside(count, len(text), "strtake", text)
    return text[:count]


@native("String::strdrop/2")
def strdrop(world: World, text: bytes, count: int) -> bytes:
    _inside(count, len(text), "strdrop", text)
    return text[count:]


@native("String::strext/3")
def strext(world: World, text: bytes, first: int, length: int) -> bytes:
    _inside(first, len(text) - 1, "strext", text)
    return text[first : first + max(0, length)]


@native("String::chomp/1")
def chomp(world: World, text: bytes) -> bytes:
    return text.rstrip(b"\r\n")


@native("String::rtrim/1")
def rtrim(world: World, text: bytes) -> bytes:
    return text.rstrip(BLANKS)


@native("String::ltrim/1")
def ltrim(world: World, text: bytes) -> bytes:
    return text.lstrip(BLANKS)


@native("String::trim/1")
def trim(world: World, text: bytes) -> bytes:
    return text.strip(BLANKS)


@native("String::tolower/1")
def tolower(world: World, text: bytes) -> bytes:
    return text.lower()


@native("String::toupper/1")
def toupper(world: World, text: bytes) -> bytes:
    return text.upper()


# ---------------------------------------------------------------- comparing and searching


def _compare(first: bytes, second: bytes) -> int:
    """The difference of the first two bytes that differ, a string ending in 0."""
    for a, b in zip(first + b"\0", second + b"\0", strict=False):
        if a != b:
            return a - b
    return 0


@native("String::strcmp/2")
def strcmp(world: World, first: bytes, second: bytes) -> int:
    return _compare(first, second)


@native("String::strncmp/3")
def strncmp(world: World, first: bytes, second: bytes, count: int) -> int:
    return _compare(first[:count], second[:count]) if count > 0 else 0


@native("String::strcasecmp/2")
def strcasecmp(world: World, first: bytes, second: bytes) -> int:
    return _compare(first.lower(), second.lower())


@native("String::strncasecmp/3")
def strncasecmp(world: World, first: bytes, second: bytes, count: int) -> int:
    return _compare(first[:count].lower(), second[:count].lower()) if count > 0 else 0


_COMPARISONS: dict[str, Callable[[bytes, bytes], bool]] = {
    "==": bytes.__eq__, "!=": bytes.__ne__, "<": bytes.__lt__, "<=": bytes.__le__, ">": bytes.__gt__, ">=": bytes.__ge__,
}  # fmt: skip


def _register_comparison(name: str, compare: Callable[[bytes, bytes], bool]) -> None:
    @native(f"String::{name}/2")
    def comparison(world: World, first: bytes, second: bytes) -> bool:
        return compare(first, second)


for _name, _operation in _COMPARISONS.items():
    _register_comparison(_name, _operation)


@native("String::strchr/2")
def strchr(world: World, text: bytes, code: int) -> int:
    return text.find(code) if code else len(text)


@native("String::strrchr/2")
def strrchr(world: World, text: bytes, code: int) -> int:
    return text.rfind(code) if code else len(text)


def _span(text: bytes, accept: bytes) -> int:
    return next((i for i, code in enumerate(text) if code not in accept), len(text))


@native("String::strcspn/2")
def strcspn(world: World, text: bytes, reject: bytes) -> int:
    return next((i for i, code in enumerate(text) if code in reject), len(text))


@native("String::strspn/2")
def strspn(world: World, text: bytes, accept: bytes) -> int:
    return _span(text, accept)


@native("String::strstr/2")
def strstr(world: World, text: bytes, part: bytes) -> int:
    return text.find(part)


@native("String::strtok/2")
def strtok(world: World, text: bytes, separators: bytes) -> tuple[bytes, bytes]:
    text = text.lstrip(separators) if separators else text
    end = strcspn(world, text, separators)
    return text[:end], text[end:]


def _graphic(code: int) -> bool:
    return 0x21 <= code <= 0x7E


_CLASSES: dict[str, Callable[[int], bool]] = {
    "isalpha": lambda c: bytes((c,)).isalpha(),
    "isupper": lambda c: 0x41 <= c <= 0x5A,
    "islower": lambda c: 0x61 <= c <= 0x7A,
    "isdigit": lambda c: 0x30 <= c <= 0x39,
    "isxdigit": lambda c: c in b"0123456789abcdefABCDEF",
    "isspace": lambda c: c in BLANKS,
    "ispunct": lambda c: _graphic(c) and not bytes((c,)).isalnum(),
    "isalnum": lambda c: bytes((c,)).isalnum(),
    "isprint": lambda c: c == 0x20 or _graphic(c),
    "isgraph": _graphic,
    "iscntrl": lambda c: c < 0x20 or c == 0x7F,
}


def _register_class(name: str, test: Callable[[int], bool]) -> None:
    @native(f"String::{name}/1")
    def of_that_class(world: World, text: bytes) -> bool:
        """Whether the string is not empty and all its characters are of the class."""
        return bool(text) and all(map(test, text))


for _name, _test in _CLASSES.items():
    _register_class(_name, _test)

# ---------------------------------------------------------------- numbers and formats


@native("String::sprintf/1...")
def sprintf_native(world: World, fmt: bytes, *args: Any, bases: tuple[str, ...]) -> bytes:
    return sprintf(fmt, args, bases[1:], "sprintf").partition(b"\0")[0]


@native("String::sscanf/2...", wants_result_bases=True)
def sscanf(world: World, text: bytes, fmt: bytes, *, result_bases: tuple[str, ...]) -> tuple[Any, ...]:
    return scan_text(text, fmt, result_bases)


@native("String::sscanf_str/2")
def sscanf_str(world: World, text: bytes, fmt: bytes) -> bytes:
    found = scan_text(text, fmt, (STRING,), "sscanf_str")[1]
    assert isinstance(found, bytes)
    return found


def _strtol(text: bytes, base: int) -> tuple[int, bytes]:
    """C's `strtol`: the number at the head of a text, and the rest; 0 and the whole text where there is none."""
    rest = text.lstrip(BLANKS)
    negative = rest.startswith(b"-")
    rest = rest[1:] if rest[:1] in (b"+", b"-") else rest
    if base in (0, 16) and rest[:2].lower() == b"0x" and rest[2:3].lower() in [bytes((c,)) for c in _DIGITS[:16]]:
        rest, base = rest[2:], 16
    elif base == 0:
        base = 8 if rest.startswith(b"0") else 10
    end = _span(rest.lower(), _DIGITS[:base])
    if not end:
        return 0, text
    value = int(rest[:end], base)
    return max(-(1 << 63), min((1 << 63) - 1, -value if negative else value)), rest[end:]


def _strtod(text: bytes) -> tuple[float, bytes]:
    rest = text.lstrip(BLANKS)
    value = real(rest)
    if value is None:
        return 0.0, text
    match = NUMBER.match(rest)
    return value, rest[match.end() if match else 0 :]


@native("String::strtoi/2")
def strtoi(world: World, text: bytes, base: int) -> tuple[int, bytes]:
    if base != 0 and not 2 <= base <= 36:
        raise Fault("E0656", f"strtoi: {base} is not a base for numbers", help="use a base from 2 to 36, or 0 to let the number say it")
    value, rest = _strtol(text, base)
    return wrapped(value, "int"), rest


@native("String::strtof/1")
def strtof(world: World, text: bytes) -> tuple[float, bytes]:
    value, rest = _strtod(text)
    return rounded(value), rest


@native("String::strtod/1")
def strtod(world: World, text: bytes) -> tuple[float, bytes]:
    return _strtod(text)


@native("String::toi/1")
def toi(world: World, text: bytes) -> int:
    return wrapped(_strtol(text, 0)[0], "int")


@native("String::tof/1")
def tof(world: World, text: bytes) -> float:
    return rounded(_strtod(text)[0])


@native("String::tod/1")
def tod(world: World, text: bytes) -> float:
    return _strtod(text)[0]


def _number_text(value: Any, base: str) -> bytes:
    if base == "bool":
        return b"true" if value else b"false"
    return sprintf(b"%d" if base == "int" else b"%g", (value,), (base,))


def _nested(value: Any, base: str, indent: int) -> bytes:
    if not isinstance(value, np.ndarray):
        return b"  " * indent + _number_text(value, base)
    return b"[\n" + b"".join(_nested(part, base, indent + 1) for part in (value if value.ndim > 1 else value.tolist())) + b"  " * indent + b"]\n"


@native("String::tos/1", "String::tos/2", wants_bases=True)
def tos(world: World, value: Any, indent: int = 0, *, bases: tuple[str, ...]) -> bytes:
    return _nested(value, bases[0], indent)

"""Natives of the module String. A string is `bytes`, as C's strings without the zero at the end."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from sacpy.interp import memory
from sacpy.interp.errors import Fault
from sacpy.interp.natives import native
from sacpy.interp.natives.formatting import sprintf, sprintf_many
from sacpy.interp.natives.scanning import NUMBER, number, real, rounded, scan_text, wrapped
from sacpy.interp.world import World, shown
from sacpy.lang.printf_formats import STRING

LONGEST = 14  # characters of a number as `%g` writes it
BLOCK = 1 << 16  # characters that are looked at in one go
FEW = 1 << 10  # numbers that are written in one go
BLANKS = b" \t\n\v\f\r"
_DIGITS = b"0123456789abcdefghijklmnopqrstuvwxyz"


def _inside(position: int, last: int, who: str, text: bytes) -> None:
    if not 0 <= position <= last:
        part = shown(text if len(text) <= 40 else text[:37] + b"...")
        raise Fault(
            "E0655",
            f'{who}: position {position} is outside of the string "{part}", whose length is {len(text)}',
            help=f"use a position from 0 to {last}" if last >= 0 else "",
        )


def _joined(*parts: bytes | memoryview) -> bytes:
    """Texts one behind the other."""
    memory.room(sum(map(len, parts)))
    return b"".join(parts)


def _part(text: bytes, first: int, end: int | None = None) -> bytes:
    """The text from one position to another."""
    first, end, _ = slice(first, end).indices(len(text))
    memory.room(end - first)
    return text[first:end]


# ---------------------------------------------------------------- characters and parts


def _to_string(chars: np.ndarray) -> bytes:
    """C's string in an array of characters."""
    codes = chars.reshape(-1)
    for start in range(0, codes.size, BLOCK):
        ends = np.flatnonzero(codes[start : start + BLOCK] == 0)
        if ends.size:
            codes = codes[: start + int(ends[0])]
            break
    memory.room(codes.size)
    return codes.tobytes()


@native("String::to_string/1")
def to_string(world: World, chars: np.ndarray) -> bytes:
    return _to_string(chars)


@native("String::to_string/2")
def to_string_length(world: World, chars: np.ndarray, length: int) -> bytes:
    if not 0 <= length <= chars.size:
        raise Fault("E0655", f"to_string: length {length} does not fit an array of {chars.size} characters")
    return _to_string(chars[:length])


@native("String::tochar/1")
def tochar(world: World, text: bytes) -> np.ndarray:
    memory.room(len(text))
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
    view = memoryview(text)
    return _joined(view[:position], bytes((code,)), view[position + 1 :])


@native("String::strins/3")
def strins(world: World, text: bytes, position: int, part: bytes) -> bytes:
    _inside(position, len(text), "strins", text)
    view = memoryview(text)
    return _joined(view[:position], part, view[position:])


@native("String::strovwt/3")
def strovwt(world: World, text: bytes, position: int, part: bytes) -> bytes:
    _inside(position, len(text), "strovwt", text)
    view = memoryview(text)
    return _joined(view[:position], part, view[position + len(part) :])


@native("String::modarray/3", wants_bases=True)
def modarray(world: World, text: bytes, index: np.ndarray, value: Any, *, bases: tuple[str, ...]) -> bytes:
    return (strovwt if bases[2] == STRING else strmod)(world, text, int(index[0]), value)


@native("String::strcat/2", "String::+/2")
def strcat(world: World, first: bytes, second: bytes) -> bytes:
    return _joined(first, second)


@native("String::strncat/3")
def strncat(world: World, first: bytes, second: bytes, count: int) -> bytes:
    return _joined(first, memoryview(second)[: max(0, count)])


@native("String::strtake/2")
def strtake(world: World, text: bytes, count: int) -> bytes:
    _inside(count, len(text), "strtake", text)
    return _part(text, 0, count)


@native("String::strdrop/2")
def strdrop(world: World, text: bytes, count: int) -> bytes:
    _inside(count, len(text), "strdrop", text)
    return _part(text, count)


@native("String::strext/3")
def strext(world: World, text: bytes, first: int, length: int) -> bytes:
    _inside(first, len(text) - 1, "strext", text)
    return _part(text, first, first + max(0, length))


def _stripped(text: bytes, of: bytes, left: bool, right: bool) -> bytes:
    """The text without such characters at its ends; where there are none, the text itself."""
    if (left and text[:1] in of) or (right and text[-1:] in of):
        memory.room(len(text))
    return text.strip(of) if left and right else text.lstrip(of) if left else text.rstrip(of)


@native("String::chomp/1")
def chomp(world: World, text: bytes) -> bytes:
    return _stripped(text, b"\r\n", left=False, right=True)


@native("String::rtrim/1")
def rtrim(world: World, text: bytes) -> bytes:
    return _stripped(text, BLANKS, left=False, right=True)


@native("String::ltrim/1")
def ltrim(world: World, text: bytes) -> bytes:
    return _stripped(text, BLANKS, left=True, right=False)


@native("String::trim/1")
def trim(world: World, text: bytes) -> bytes:
    return _stripped(text, BLANKS, left=True, right=True)


@native("String::tolower/1")
def tolower(world: World, text: bytes) -> bytes:
    memory.room(len(text))
    return text.lower()


@native("String::toupper/1")
def toupper(world: World, text: bytes) -> bytes:
    memory.room(len(text))
    return text.upper()


# ---------------------------------------------------------------- comparing and searching


def _compare(first: bytes, second: bytes, count: int | None = None, any_case: bool = False) -> int:
    """The difference of the first two bytes that differ, a string ending in 0. `count`: only so many are looked at."""
    end = max(len(first), len(second))
    end = end if count is None else min(end, count)
    for start in range(0, end, BLOCK):
        a, b = (text[start : min(start + BLOCK, end)] for text in (first, second))
        if any_case:
            a, b = a.lower(), b.lower()
        if a != b:
            return next((x - y for x, y in zip(a, b) if x != y), 0) or (a[len(b)] if len(a) > len(b) else -b[len(a)])
    return 0


@native("String::strcmp/2")
def strcmp(world: World, first: bytes, second: bytes) -> int:
    return _compare(first, second)


@native("String::strncmp/3")
def strncmp(world: World, first: bytes, second: bytes, count: int) -> int:
    return _compare(first, second, count)


@native("String::strcasecmp/2")
def strcasecmp(world: World, first: bytes, second: bytes) -> int:
    return _compare(first, second, any_case=True)


@native("String::strncasecmp/3")
def strncasecmp(world: World, first: bytes, second: bytes, count: int) -> int:
    return _compare(first, second, count, any_case=True)


_COMPARISONS: dict[str, Callable[[bytes, bytes], bool]] = {
    "==": bytes.__eq__, "!=": bytes.__ne__, "<": bytes.__lt__, "<=": bytes.__le__, ">": bytes.__gt__,
    ">=": bytes.__ge__,
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


def _first(text: bytes, of: bytes, start: int = 0, other: bool = False) -> int:
    """The position of the first character, from `start` on, that is one of these, or (`other`) none of them; the length
    where there is none."""
    chosen = bytes(sorted(set(of)))
    if not chosen:
        return start if other else len(text)
    found = re.compile(b"[%b%b]" % (b"^" * other, re.escape(chosen))).search(text, start)
    return len(text) if found is None else found.start()


@native("String::strcspn/2")
def strcspn(world: World, text: bytes, reject: bytes) -> int:
    return _first(text, reject)


@native("String::strspn/2")
def strspn(world: World, text: bytes, accept: bytes) -> int:
    return _first(text, accept, other=True)


@native("String::strstr/2")
def strstr(world: World, text: bytes, part: bytes) -> int:
    return text.find(part)


@native("String::strtok/2")
def strtok(world: World, text: bytes, separators: bytes) -> tuple[bytes, bytes]:
    start = _first(text, separators, other=True)
    end = _first(text, separators, start)
    memory.room(len(text) - start)
    return text[start:end], text[end:]


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
    members = bytes([code for code in range(256) if test(code)])

    @native(f"String::{name}/1")
    def of_that_class(world: World, text: bytes) -> bool:
        """Whether the string is not empty and all its characters are of the class."""
        return bool(text) and _first(text, members, other=True) == len(text)


for _name, _test in _CLASSES.items():
    _register_class(_name, _test)

# ---------------------------------------------------------------- numbers and formats


@native("String::sprintf/1...")
def sprintf_native(world: World, fmt: bytes, *args: Any, bases: tuple[str, ...]) -> bytes:
    text = sprintf(fmt, args, bases[1:], "sprintf")
    end = text.find(b"\0")
    return text if end < 0 else _part(text, 0, end)


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
    rest = _stripped(text, BLANKS, left=True, right=False)
    negative = rest.startswith(b"-")
    at = 1 if rest[:1] in (b"+", b"-") else 0
    if (
        base in (0, 16)
        and rest[at : at + 2].lower() == b"0x"
        and rest[at + 2 : at + 3].lower() in [bytes((c,)) for c in _DIGITS[:16]]
    ):
        at, base = at + 2, 16
    elif base == 0:
        base = 8 if rest[at : at + 1] == b"0" else 10
    digits = _DIGITS[:base] + _DIGITS[10:base].upper()
    end = _first(rest, digits, at, other=True)
    if end == at:
        return 0, text
    value = number(memoryview(rest)[at:end], base)
    return max(-(1 << 63), min((1 << 63) - 1, -value if negative else value)), _part(rest, end)


def _strtod(text: bytes) -> tuple[float, bytes]:
    rest = _stripped(text, BLANKS, left=True, right=False)
    value = real(rest)
    if value is None:
        return 0.0, text
    match = NUMBER.match(rest)
    return value, _part(rest, match.end() if match else 0)


@native("String::strtoi/2")
def strtoi(world: World, text: bytes, base: int) -> tuple[int, bytes]:
    if base != 0 and not 2 <= base <= 36:
        raise Fault(
            "E0656",
            f"strtoi: {base} is not a base for numbers",
            help="use a base from 2 to 36, or 0 to let the number say it",
        )
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


def _number_texts(values: list[Any], base: str) -> list[bytes]:
    if base == "bool":
        return [b"true" if value else b"false" for value in values]
    return sprintf_many(b"%d" if base == "int" else b"%g", values, base)


def _nested(value: Any, base: str, indent: int, out: bytearray) -> None:
    if not isinstance(value, np.ndarray):
        out += b"  " * indent + _number_texts([value], base)[0]
        return
    out += b"[\n"
    if value.ndim == 1:
        pad = b"  " * (indent + 1)
        for start in range(0, len(value), FEW):
            for text in _number_texts(value[start : start + FEW].tolist(), base):
                out += pad + text
    else:
        for part in value:
            _nested(part, base, indent + 1, out)
    out += b"  " * indent + b"]\n"


@native("String::tos/1", "String::tos/2", wants_bases=True)
def tos(world: World, value: Any, indent: int = 0, *, bases: tuple[str, ...]) -> bytes:
    shape = np.shape(value)
    depth = max(0, indent) + len(shape)
    memory.room(
        2 * (prod(shape) * (2 * depth + LONGEST) + sum(prod(shape[:k]) for k in range(len(shape))) * (2 * depth + 4))
    )
    out = bytearray()
    _nested(value, bases[0], indent, out)
    return bytes(out)

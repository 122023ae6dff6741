"""C's formatted input: `scanf` and its kin, over a `Stream`.

In: a stream, a format, and what the call's results are. Out: the number of conversions done (-1 at the end of the
input), then a value for each result: zero, or the empty string, for those the input did not reach.
"""

from __future__ import annotations

import io
import math
import re
import struct
from functools import lru_cache

from sacpy.interp import memory
from sacpy.interp.errors import Fault
from sacpy.interp.streams import Stream
from sacpy.lang.scan_formats import CONVERSION, STRING, base_of
from sacpy.lang.types import BITS, REAL, SIGNED

Value = int | float | bool | bytes

SPACE = re.compile(rb"[ \t\n\v\f\r]*")
WORD = re.compile(rb"[^ \t\n\v\f\r]*")
ANY = re.compile(rb".*", re.DOTALL)
# What C takes from the input for a number: the longest text that is one, or begins one.
INTEGERS = {
    10: re.compile(rb"[+-]?[0-9]*"),
    16: re.compile(rb"[+-]?(?:0[xX])?[0-9a-fA-F]*"),
    8: re.compile(rb"[+-]?[0-7]*"),
    0: re.compile(rb"[+-]?(?:0[xX][0-9a-fA-F]*|0[0-7]*|[0-9]*)"),
}
FLOAT = re.compile(
    rb"[+-]?(?:0[xX][0-9a-fA-F]*\.?[0-9a-fA-F]*(?:[pP][+-]?[0-9]*)?|[0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]*)?|\.(?:[0-9]"
    rb"+(?:[eE][+-]?[0-9]*)?)?"
    rb"|i(?:n(?:f(?:i(?:n(?:i(?:t(?:y)?)?)?)?)?)?)?|n(?:a(?:n)?)?)?",
    re.IGNORECASE,
)
NUMBER = re.compile(
    rb"[+-]?(?:0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[+-]?[0-9]+)?|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|"
    rb"inf(?:inity)?|nan)",
    re.IGNORECASE,
)
REMEMBERED = 1 << 12  # characters of the longest format that is read only once
MOST_DIGITS = 64  # of a number, leading zeros aside, that may fit an integer type
RADIX = {"d": 10, "u": 10, "i": 0, "x": 16, "X": 16, "o": 8}


def scan(stream: Stream, fmt: bytes, result_bases: tuple[str, ...], who: str = "scanf") -> tuple[Value, ...]:
    """The count, then one value per result. Raises Fault where the format does not fit the results."""
    steps = _steps(fmt)
    bases = tuple(step.base for step in steps if isinstance(step, _Conversion) and not step.skip)
    _check(bases, result_bases, who)
    values: list[Value] = []
    done = 0
    ended = False
    for step in steps:
        if isinstance(step, bytes):
            if not _literal(stream, step):
                ended = stream.peek() < 0
                break
            continue
        if step.letter == "n":
            if not step.skip:
                values.append(max(0, stream.tell()))
            continue
        if step.letter not in ("c", "[") and not step.letter.startswith("["):
            stream.take(SPACE)
        if stream.peek() < 0:
            ended = True
            break
        value = _convert(stream, step)
        if value is None:
            break
        if not step.skip:
            values.append(value)
            done += 1
    count = -1 if ended and not done else done
    return (count, *values, *(zero(base) for base in bases[len(values) :]))


def scan_text(text: bytes, fmt: bytes, result_bases: tuple[str, ...], who: str = "sscanf") -> tuple[Value, ...]:
    """The same over a string."""
    return scan(Stream(io.BytesIO(text), "a string", readable=True), fmt, result_bases, who)


def zero(base: str) -> Value:
    """What a result is where nothing was read for it."""
    return b"" if base == STRING else 0.0 if base in REAL else 0


class _Conversion:
    __slots__ = ("base", "chosen", "length", "letter", "skip", "width")

    def __init__(self, match: re.Match[str]) -> None:
        self.letter = match["letter"]
        self.length = match["length"] or ""
        self.skip = bool(match["skip"])
        self.width = int(match["width"] or 0)
        base = base_of(self.letter, self.length)
        if base is None:
            raise Fault(
                "E0654",
                f"`{match[0]}` (at byte {match.start() + 1} of the format) is not a conversion that scanning knows",
                help="use %d, %ld, %f, %lf, %c, %s or %[...]",
            )
        self.base = base
        self.chosen = _set_pattern(self.letter) if self.letter.startswith("[") else WORD


def _steps(fmt: bytes) -> tuple[bytes | _Conversion, ...]:
    """The format as literal text (white space as one blank) and conversions."""
    memory.room(120 * len(fmt))
    return _known_steps(fmt) if len(fmt) <= REMEMBERED else _read_steps(fmt)


@lru_cache(maxsize=256)
def _known_steps(fmt: bytes) -> tuple[bytes | _Conversion, ...]:
    return _read_steps(fmt)


def _read_steps(fmt: bytes) -> tuple[bytes | _Conversion, ...]:
    text = fmt.decode("latin-1")
    steps: list[bytes | _Conversion] = []
    at = 0
    for match in re.finditer(CONVERSION, text):
        _add_text(steps, text[at : match.start()])
        at = match.end()
        if match["letter"] == "%":
            steps += [b" ", b"%"]
        else:
            steps.append(_Conversion(match))
    _add_text(steps, text[at:])
    return tuple(steps)


def _add_text(steps: list[bytes | _Conversion], text: str) -> None:
    for piece in re.findall(r"\s+|\S+", text):
        steps.append(b" " if piece.isspace() else piece.encode("latin-1"))


def _set_pattern(letter: str) -> re.Pattern[bytes]:
    inside, negated = letter[1:-1], False
    if inside.startswith("^"):
        inside, negated = inside[1:], True
    escaped = re.sub(r"([\\\]\[^&~|])", r"\\\1", inside)
    if escaped.startswith("-"):
        escaped = "\\" + escaped
    if escaped.endswith("-") and not escaped.endswith("\\-"):
        escaped = escaped[:-1] + "\\-"
    return re.compile(f"[{'^' if negated else ''}{escaped}]*".encode("latin-1"))


def _check(bases: tuple[str, ...], targets: tuple[str, ...], who: str) -> None:
    if len(bases) != len(targets):
        raise Fault(
            "E0653",
            f"{who}: the format stores {len(bases)} value{'' if len(bases) == 1 else 's'}, but the call has "
            f"{len(targets)} result{'' if len(targets) == 1 else 's'} for them",
            help="the first result is the number of conversions done; then comes one result for each conversion",
        )
    for index, (base, target) in enumerate(zip(bases, targets, strict=True)):
        if target and base != target and not (base in BITS and target in BITS and BITS[base] == BITS[target]):
            name, wanted = base.rpartition("::")[2], target.rpartition("::")[2]
            raise Fault(
                "E0652",
                f"{who}: conversion {index + 1} of the format reads a value of type {name}, but result {index + 1} is "
                f"of type {wanted}",
            )


def _literal(stream: Stream, text: bytes) -> bool:
    if text == b" ":
        stream.take(SPACE)
        return True
    for code in text:
        if stream.peek() != code:
            return False
        stream.getc()
    return True


def _convert(stream: Stream, step: _Conversion) -> Value | None:
    """The value at the present place; None where the text does not fit."""
    if step.letter == "c":
        data = stream.read(step.width or 1)
        return data[-1] if data else None
    if step.base == STRING:
        return stream.take(step.chosen, step.width) or None
    if step.letter in RADIX:
        radix = RADIX[step.letter]
        return integer(stream.take(INTEGERS[radix], step.width), radix, step.base)
    value = real(stream.take(FLOAT, step.width))
    return rounded(value) if value is not None and step.base == "float" else value


def number(digits: bytes | memoryview, radix: int) -> int:
    """The number that digits are; one that is beyond all integer types where there are very many."""
    if len(digits) <= MOST_DIGITS:
        return int(bytes(digits), radix)
    first = next((i for i, code in enumerate(digits) if code != ord("0")), len(digits))
    return int(bytes(digits[first:]) or b"0", radix) if len(digits) - first <= MOST_DIGITS else 1 << 64


def integer(text: bytes, radix: int, base: str) -> int | None:
    """The number a text is, as C's `strtol` reads it, cut to the base type; None if it is none."""
    digits = text[1:] if text[:1] in (b"+", b"-") else text
    if digits.lower() == b"0x":
        return 0  # as glibc does
    if not digits:
        return None
    if radix == 0:
        radix = 16 if digits[:2].lower() == b"0x" else 8 if digits.startswith(b"0") else 10
    value = number(digits[2:] if digits[:2].lower() == b"0x" else digits, radix)
    if text.startswith(b"-"):
        value = -value
    if base in SIGNED:
        value = max(-(1 << 63), min((1 << 63) - 1, value))
    elif value >= 1 << 64:
        value = (1 << 64) - 1
    return wrapped(value, base)


def wrapped(value: int, base: str) -> int:
    """The value cut to the bits of its base type."""
    bits = BITS[base]
    value &= (1 << bits) - 1
    return value - (1 << bits) if base in SIGNED and value >> (bits - 1) else value


def real(text: bytes) -> float | None:
    """The number at the head of a text, as C's `strtod` reads it (`1e` is 1); None if there is none."""
    match = NUMBER.match(text)
    if match is None:
        return None
    memory.room(2 * (match.end() - match.start()))
    word = match[0].decode("latin-1")
    try:
        return float.fromhex(word) if "x" in word.lower() else float(word)
    except OverflowError:
        return -math.inf if word.startswith("-") else math.inf


def rounded(value: float) -> float:
    """The nearest 32-bit float."""
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")

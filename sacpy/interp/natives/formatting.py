"""C's formatted output, byte for byte as glibc prints it: `printf` and its kin.

In: a format, the arguments as interpreter values, and their base types. Out: bytes. A format is read once per
combination of base types: the conversions are checked against them then, and where Python's own `%` on bytes means the
same, that does the work.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import copysign, isfinite, isnan

import numpy as np

from sacpy.interp import memory
from sacpy.interp.errors import Fault
from sacpy.interp.natives.hexfloat import hex_digits
from sacpy.lang.printf_formats import INTEGER_LETTERS, Spec, problem, read
from sacpy.lang.types import BITS, REAL, SIGNED
from sacpy.nodes import Node

Value = object

LONGEST = 320  # characters of the longest number as `%f` writes it, without the digits that are asked for
REMEMBERED = 1 << 12  # characters of the longest format that is read only once
PIECE = 900  # bytes that a conversion takes in a plan
_LENGTH_BITS = {"hh": 8, "h": 16, "": 32, "l": 64, "ll": 64, "L": 64, "q": 64, "j": 64, "z": 64, "t": 64}


class Plan(Node):
    """A format checked against base types. `pieces`: literal bytes and conversions in order. `python`: the same as a
    Python format, where that prints the same for finite numbers; `floats`: the arguments that must be finite for it;
    `count`: how many arguments it takes (further ones are ignored, as in C); `size`: the bytes that the text may have,
    but for those of strings and of widths that are arguments."""

    pieces: tuple[bytes | Spec, ...]
    python: bytes | None
    floats: tuple[int, ...]
    count: int = 0
    size: int = 0


def sprintf(fmt: bytes, args: Sequence[Value], bases: Sequence[str], who: str = "printf") -> bytes:
    """The formatted text. Raises Fault where a conversion does not fit its argument."""
    plan = plan_of(fmt, tuple(bases), who)
    size = plan.size
    for a in args:
        if type(a) is bytes:
            size += len(a)
    memory.room(3 * size)
    scalars = not any(isinstance(a, np.ndarray) for a in args)
    if plan.python is not None and scalars and all(isfinite(args[i]) for i in plan.floats):  # type: ignore[arg-type]
        return plan.python % tuple(args[: plan.count])
    return _slow(plan, fmt, args, bases, who)


def sprintf_many(fmt: bytes, values: Sequence[Value], base: str, who: str = "print") -> list[bytes]:
    """Each value by itself through the same format."""
    plan = plan_of(fmt, (base,), who)
    if plan.python is None:
        return [_slow(plan, fmt, (value,), (base,), who) for value in values]
    python = plan.python
    if not plan.count:
        return [python % ()] * len(values)
    if plan.floats:
        return [python % value if isfinite(value) else _slow(plan, fmt, (value,), (base,), who) for value in values]  # type: ignore[arg-type]
    return [python % value for value in values]


# ---------------------------------------------------------------- reading a format


def plan_of(fmt: bytes, bases: tuple[str, ...], who: str) -> Plan:
    """Reads a format and checks its conversions against the base types of the arguments."""
    return _known_plan(fmt, bases, who) if len(fmt) <= REMEMBERED else _plan(fmt, bases, who)


@lru_cache(maxsize=512)
def _known_plan(fmt: bytes, bases: tuple[str, ...], who: str) -> Plan:
    return _plan(fmt, bases, who)


def _plan(fmt: bytes, bases: tuple[str, ...], who: str) -> Plan:
    memory.room(4 * len(fmt) + PIECE * fmt.count(b"%"))
    pieces = read(fmt)
    wrong = problem(pieces, bases)
    if wrong is not None:
        raise Fault(wrong.code, f"{who}: {wrong.message}", help=wrong.help)
    size = sum(
        len(piece) if isinstance(piece, bytes) else max(piece.width or 0, 0) + max(piece.precision or 0, 0) + LONGEST
        for piece in pieces
    )
    python, floats, at = bytearray(), [], 0
    for piece in pieces:
        if isinstance(piece, bytes):
            python += piece.replace(b"%", b"%%")
            continue
        translated = _python(piece, bases[at])
        if translated is None:
            return Plan(pieces, None, (), size=size)
        python += translated
        if bases[at] in REAL:
            floats.append(at)
        at += 1
    return Plan(pieces, bytes(python), tuple(floats), at, size)


def _python(spec: Spec, base: str) -> bytes | None:
    """The conversion for Python's `%`, if that prints the same."""
    if (
        -1 in (spec.width, spec.precision)
        or spec.precision == -2
        or "'" in spec.flags
        or "#" in spec.flags
        or max(spec.width or 0, spec.precision or 0) > memory.SMALL
    ):
        return None
    width = "" if spec.width is None else str(spec.width)
    precision = "" if spec.precision is None else f".{spec.precision}"
    letter = spec.letter
    if letter in "di" and _LENGTH_BITS[spec.length] >= 32 and (base in SIGNED or base == "bool"):
        if spec.precision is not None:
            return None
        return f"%{spec.flags}{width}d".encode()
    if letter in "fFeEgG":
        return f"%{spec.flags}{width}{precision}{letter}".encode()
    if letter == "c" and base == "char":
        return f"%{'-' if '-' in spec.flags else ''}{width}c".encode()
    if letter == "s":
        return f"%{'-' if '-' in spec.flags else ''}{width}{precision}s".encode()
    return None


# ---------------------------------------------------------------- one conversion at a time


def _slow(plan: Plan, fmt: bytes, args: Sequence[Value], bases: Sequence[str], who: str) -> bytes:
    out = bytearray()
    at = 0
    for piece in plan.pieces:
        if isinstance(piece, bytes):
            out += piece
            continue
        flags, width, precision = piece.flags, piece.width, piece.precision
        if width == -1:
            width, at = int(args[at]), at + 1  # type: ignore[call-overload]
            if width < 0:
                flags, width = flags + "-", -width
        if precision == -1:
            precision, at = int(args[at]), at + 1  # type: ignore[call-overload]
        if precision is not None and precision < 0:
            precision = None
        value = args[at]
        if isinstance(value, np.ndarray):
            shape = ",".join(map(str, value.shape))
            message = f"{who}: {piece.place} takes a scalar, but argument {at + 1} is an array of shape [{shape}]"
            raise Fault("E0652", message, help="print arrays with `print`, or select an element")
        out += convert(value, bases[at], piece.letter, flags, width or 0, precision, piece.length)
        at += 1
    return bytes(out)


def convert(value: Value, base: str, letter: str, flags: str, width: int, precision: int | None, length: str) -> bytes:
    """One conversion of a value that fits it."""
    memory.room(3 * max(width, precision or 0))
    if letter == "s":
        assert isinstance(value, bytes)
        return _pad(value if precision is None else value[:precision], flags, width)
    if letter == "c":
        return _pad(bytes((int(value) & 255,)), flags, width)  # type: ignore[call-overload]
    if letter in INTEGER_LETTERS:
        return _integer(int(value), base, letter, flags, width, precision, length)  # type: ignore[call-overload]
    return _real(float(value), letter, flags, width, precision)  # type: ignore[arg-type]


def _pad(text: bytes, flags: str, width: int) -> bytes:
    return text.ljust(width) if "-" in flags else text.rjust(width)


def _number(sign: str, prefix: str, digits: str, flags: str, width: int, zeros: bool) -> bytes:
    """Sign, prefix and digits in a field; `zeros` fills it behind the prefix."""
    if zeros and "-" not in flags:
        digits = digits.rjust(width - len(sign) - len(prefix), "0")
    return _pad((sign + prefix + digits).encode(), flags, width)


def _sign(negative: bool, flags: str) -> str:
    return "-" if negative else "+" if "+" in flags else " " if " " in flags else ""


def _integer(value: int, base: str, letter: str, flags: str, width: int, precision: int | None, length: str) -> bytes:
    bits = _LENGTH_BITS[length]
    if length not in ("h", "hh"):
        bits = max(bits, BITS.get(base, 32))
    value &= (1 << bits) - 1
    sign = prefix = ""
    if letter in "di":
        if value >> (bits - 1):
            value -= 1 << bits
        sign, value = _sign(value < 0, flags), abs(value)
        digits = str(value)
    elif letter == "u":
        digits = str(value)
    else:
        digits = format(value, letter)
        if "#" in flags and value and letter in "xX":
            prefix = "0" + letter
    if precision is not None:
        digits = digits.rjust(precision, "0") if precision or value else ""
    if letter == "o" and "#" in flags and not digits.startswith("0"):
        digits = "0" + digits
    return _number(sign, prefix, digits, flags, width, "0" in flags and precision is None)


def _real(value: float, letter: str, flags: str, width: int, precision: int | None) -> bytes:
    # a NaN prints without a sign, whatever the machine made of it
    negative = copysign(1.0, value) < 0 and not isnan(value)
    sign = _sign(negative, flags)
    value = abs(value)
    if not isfinite(value):
        word = "nan" if isnan(value) else "inf"
        return _number(sign, "", word.upper() if letter.isupper() else word, flags, width, False)
    alternate = "#" in flags
    if letter in "aA":
        prefix, digits = "0x", hex_digits(value, precision, alternate)
        if letter == "A":
            prefix, digits = "0X", digits.upper()
        return _number(sign, prefix, digits, flags, width, "0" in flags)
    digits = f"%{'#' if alternate else ''}.{6 if precision is None else precision}{letter}" % value
    return _number(sign, "", digits, flags, width, "0" in flags)

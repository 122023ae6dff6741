"""What number, character and string literals mean.

In: the spelling of one literal. Out: its value, or a `Flaw` that says what is wrong with it; the lexer adds the place.
Strings have a character per byte of their UTF-8 form, as C has them.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import NamedTuple

SUFFIXES = {
    "b": "byte", "s": "short", "i": "int", "l": "long", "ll": "longlong", "ub": "ubyte", "us": "ushort", "u": "uint",
    "ui": "uint", "ul": "ulong", "ull": "ulonglong", "f": "float", "d": "double", "": "int",
}  # fmt: skip
WIDTHS = {
    "byte": 8,
    "short": 16,
    "int": 32,
    "long": 64,
    "longlong": 64,
    "ubyte": 8,
    "ushort": 16,
    "uint": 32,
    "ulong": 64,
    "ulonglong": 64,
}
WIDER = (("int", ""), ("uint", "ui"), ("long", "l"), ("ulong", "ul"))

_DECIMAL = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
# Those that few programs need are compiled, and kept by `re`, when they are used.
_HEX_FLOAT = r"0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+"
_HEX = r"0[xX][0-9a-fA-F]+"
_ESCAPE = r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]*)|([\s\S]))"
_SIMPLE = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "\\": 92, "'": 39, '"': 34, "?": 63}


class Flaw(NamedTuple):
    """Something wrong with a literal: code, message, label, help, and which characters of it are meant. `becomes`: what
    to write in the place of the whole literal."""

    code: str
    message: str
    label: str
    help: str = ""
    start: int = 0
    end: int | None = None
    becomes: str = ""


def number(text: str) -> tuple[str, int | float] | Flaw:
    """Base type and value of a number. The magnitude may be one more than the largest of a signed type: a minus may
    stand before it, which the parser knows."""
    hexadecimal = text[:2] in ("0x", "0X")
    if hexadecimal and (match := re.match(_HEX_FLOAT, text)):
        return _real(text, match.end(), float.fromhex)
    if hexadecimal and (match := re.match(_HEX, text)):
        return _whole(text, match.end(), 16)
    match = _DECIMAL.match(text)
    if match is None or hexadecimal:
        return Flaw(
            "E0104",
            f"`{text}` is not a number",
            "hexadecimal digits expected behind `0x`",
            "write at least one digit, such as `0x0`",
        )
    digits, suffix = match.group(), text[match.end() :].lower()
    if "." in digits or "e" in digits.lower() or suffix in ("f", "d"):
        return _real(text, match.end(), float)
    if len(digits) > 1 and digits[0] == "0":
        if bad := re.search("[89]", digits):
            return Flaw(
                "E0104",
                f"`{text}` is not an octal number",
                f"`{bad.group()}` is not an octal digit",
                f"a leading 0 makes a number octal; for a decimal number write `{digits.lstrip('0')}`",
                bad.start(),
                bad.end(),
                text.lstrip("0"),
            )
        return _whole(text, match.end(), 8)
    return _whole(text, match.end(), 10)


def _bad_suffix(text: str, at: int, real: bool) -> Flaw:
    suffix = text[at:]
    if (meant := _meant(text, at)) is not None:
        return Flaw("E0104", f"`{text}` is not a number of SaC", meant[0], f"write `{meant[1]}`", becomes=meant[1])
    if suffix[0] in "eE" and not real:
        return Flaw(
            "E0104",
            f"`{text}` is not a number",
            "the exponent has no digits",
            "write the exponent's digits, such as `1e6`",
            at,
        )
    allowed = "`f` (float) and `d` (double)" if real else "`b s i l ll`, `u` before one of these, `f` and `d`"
    return Flaw(
        "E0104",
        f"`{suffix}` is not a suffix of {'a number with a fraction or exponent' if real else 'a number'}",
        "unknown suffix",
        f"the suffixes are {allowed}; a name cannot begin with a digit",
        at,
    )


def _meant(text: str, at: int) -> tuple[str, str] | None:
    """What a number as other languages write it is in SaC, with the reason."""
    if re.fullmatch(r"[0-9][0-9_]*(?:\.[0-9_]*)?[A-Za-z]*", text) and "_" in text:
        return "digits stand together", text.replace("_", "")
    if re.fullmatch("0[bB][01]+", text):
        return "there are no binary numbers", str(int(text[2:], 2))
    if re.fullmatch("0[oO][0-7]+", text):
        return "octal numbers begin with 0", "0" + text[2:]
    if text[at:] in ("j", "J", "im"):
        return (
            "complex numbers are made by toc, of the module Complex",
            f"toc(0.0, {text[:at] if '.' in text[:at] else text[:at] + '.0'})",
        )
    return None


def _real(text: str, at: int, convert: Callable[[str], float]) -> tuple[str, float] | Flaw:
    suffix = text[at:].lower()
    if suffix not in ("", "f", "d"):
        return _bad_suffix(text, at, True)
    try:
        value = convert(text[:at])
        return ("float", struct.unpack("f", struct.pack("f", value))[0]) if suffix == "f" else ("double", value)
    except OverflowError:  # as in C, too large is infinite
        return "float" if suffix == "f" else "double", float("inf")


def _whole(text: str, at: int, radix: int) -> tuple[str, int] | Flaw:
    base = SUFFIXES.get(text[at:].lower())
    if base is None or base in ("float", "double"):
        return _bad_suffix(text, at, False)
    # More digits than any type holds are not worth converting, and Python refuses thousands of them.
    value = int(text[:at], radix) if at <= 80 else 1 << 80
    largest = _largest(base)
    if value <= largest or (value == largest + 1 and base[0] != "u"):
        return base, value
    shown = text if at <= 80 else text[:20] + "..."
    becomes = ""
    for other, suffix in WIDER:
        if value <= _largest(other) and not (
            other == "uint" and base[0] != "u" and radix == 10
        ):  # who counts in tens wants to go on counting
            becomes = text[:at] + suffix
            help = f"write `{text[:at]}{suffix}` for {'an' if other == 'int' else 'a'} {other}"
            break
    else:
        help = (
            f"the largest whole number is {_largest('ulong')} (ulong); for a double write "
            f"`{shown if at > 80 or radix != 10 else text[:at]}.0`"
            if radix == 10
            else "no type holds a number this large"
        )
    return Flaw("E0105", f"`{shown}` is too large for {base}", f"{base} ends at {largest}", help, becomes=becomes)


def _largest(base: str) -> int:
    return int(2 ** (WIDTHS[base] - (base[0] != "u")) - 1)


def codes(body: str) -> tuple[str, list[Flaw]]:
    """The characters (codes 0 to 255) that stand between a literal's quotes, escapes resolved, and what is odd about
    its escapes; flaws count from the opening quote."""
    if "\\" not in body:
        return (body, []) if body.isascii() else (body.encode("utf-8", "surrogateescape").decode("latin-1"), [])
    parts: list[str] = []
    flaws: list[Flaw] = []
    last = 0
    for match in re.finditer(_ESCAPE, body):
        parts.append(body[last : match.start()].encode("utf-8", "surrogateescape").decode("latin-1"))
        last = match.end()
        parts.append(_escape(match, flaws))
    parts.append(body[last:].encode("utf-8", "surrogateescape").decode("latin-1"))
    return "".join(parts), flaws


def _escape(match: re.Match[str], flaws: list[Flaw]) -> str:
    octal, hexadecimal, letter = match.groups()
    place = (match.start() + 1, match.end() + 1)
    if letter is not None:
        if letter not in _SIMPLE:
            flaws.append(
                Flaw(
                    "W0106",
                    f"unknown escape sequence `\\{letter}`",
                    f"taken as `{letter}`",
                    f"for a backslash write `\\\\`; otherwise write `{letter}` alone",
                    *place,
                )
            )
            return letter.encode("utf-8", "surrogateescape").decode("latin-1")
        return chr(_SIMPLE[letter])
    if hexadecimal == "":
        flaws.append(
            Flaw(
                "E0107",
                "`\\x` without hexadecimal digits",
                "digits expected here",
                "write one or two hexadecimal digits, such as `\\x1b`; for a backslash write `\\\\`",
                *place,
            )
        )
        return "x"
    value = int(octal, 8) if octal is not None else int(hexadecimal[-4:], 16)
    if value > 255 or (hexadecimal and len(hexadecimal.lstrip("0")) > 2):
        flaws.append(
            Flaw(
                "E0107",
                f"`{match.group()[:20]}` is no character code",
                "larger than 255",
                "a character is a byte: its code is at most `\\xff`, or `\\377`",
                *place,
            )
        )
    return chr(value & 255)


def char(text: str) -> tuple[int, list[Flaw]]:
    """The code of a character literal, given with its quotes."""
    found, flaws = codes(text[1:-1])
    if len(found) == 1 or any(flaw.code[0] == "E" for flaw in flaws):
        return ord(found[0]), flaws
    if not found:
        return 0, [
            Flaw(
                "E0103", "a character literal without a character", "empty", "for the character of code 0 write `'\\0'`"
            )
        ]
    if len(codes(text[1:-1])[0]) > 1 and len(text) == 3:
        return 0, [
            Flaw(
                "E0103",
                f"`{text}` is more than one byte long",
                f"{len(found)} bytes in UTF-8",
                "a char is one byte; use a string",
            )
        ]
    return 0, [
        Flaw(
            "E0103",
            f"a character literal with {len(found)} characters",
            "one character expected",
            "a string stands between double quotes",
            becomes=f'"{text[1:-1]}"' if '"' not in text else "",
        )
    ]

"""What a `printf` format says about the arguments of the call.

In: a format, and the base types of the arguments. Out: its pieces, and the first thing that is wrong, if any.
Elaboration checks calls whose format is a literal; the formatter itself checks the others.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sacpy.lang.types import BITS, REAL, SIGNED
from sacpy.nodes import Node

STRING = "String::string"
INTEGER_LETTERS = frozenset("diuxXo")
REAL_LETTERS = frozenset("fFeEgGaA")
LETTERS = INTEGER_LETTERS | REAL_LETTERS | {"c", "s"}

# compiled, and kept by `re`, when there is a format
_SPEC = (
    rb"(?s)%(?P<flags>[-+ "
    rb"#0']*)(?P<width>\*|\d+)?(?:\.(?P<prec>\*|-?\d*))?(?P<length>hh|h|ll|l|L|q|j|z|t)?(?P<conv>.|\Z)"
)
_FITTING = {"float": "%f, %e or %g", "double": "%f, %e or %g", "char": "%c", STRING: "%s", "bool": "%d"} | {
    base: "%d" if base in SIGNED else "%u" for base in BITS
}
_FITTING |= {"long": "%ld", "longlong": "%lld", "ulong": "%lu", "ulonglong": "%llu"}


class Spec(Node):
    """One conversion. `width` and `precision` are None where absent and -1 where the format has `*`, -2 is a negative
    precision (which counts as none)."""

    text: str
    offset: int
    flags: str
    width: int | None
    precision: int | None
    length: str
    letter: str

    @property
    def place(self) -> str:
        """The conversion with its place, for messages."""
        return f"`{self.text}` (at byte {self.offset + 1} of the format)"


class Problem(Node):
    """What is wrong: `code`, message, help, and the argument (from 0) that does not fit, where it is one."""

    code: str
    message: str
    help: str
    argument: int | None = None


def read(fmt: bytes) -> tuple[bytes | Spec, ...]:
    """The pieces of a format; `%%` is part of the text, and so is a percent sign that no letter follows."""
    pieces: list[bytes | Spec] = []
    text = bytearray()
    at = 0
    for match in re.finditer(_SPEC, fmt):
        text += fmt[at : match.start()]
        at = match.end()
        if match["conv"] == b"%":
            text += b"%"
            continue
        if match["conv"] and not match["conv"].isalpha():
            text += match[0]  # as glibc does with "100%\n"
            continue
        if text:
            pieces.append(bytes(text))
            text.clear()
        pieces.append(_spec(match))
    text += fmt[at:]
    if text:
        pieces.append(bytes(text))
    return tuple(pieces)


def _spec(match: re.Match[bytes]) -> Spec:
    width = None if match["width"] is None else -1 if match["width"] == b"*" else _number(match["width"])
    prec = match["prec"]
    precision = None if prec is None else -1 if prec == b"*" else -2 if prec.startswith(b"-") else _number(prec or b"0")
    return Spec(
        match[0].decode("latin-1"),
        match.start(),
        match["flags"].decode(),
        width,
        precision,
        (match["length"] or b"").decode(),
        match["conv"].decode("latin-1"),
    )


def _number(digits: bytes) -> int:
    """A width or precision; one that no text can have, where there are very many digits."""
    return int(digits) if len(digits) < 20 else 1 << 62


def problem(pieces: Sequence[bytes | Spec], bases: Sequence[str]) -> Problem | None:
    """The first conversion that lacks an argument or does not fit it. Arguments left over are ignored, as C does."""
    wanted = 0
    for spec in pieces:
        if isinstance(spec, bytes):
            continue
        if spec.letter not in LETTERS:
            what = "a lone % at the end" if not spec.letter else f"`{spec.text}`"
            return Problem(
                "E0654",
                f"{what} (at byte {spec.offset + 1} of the format) is not a conversion",
                "write %% for a percent sign",
            )
        stars = [what for star, what in ((spec.width, "width"), (spec.precision, "precision")) if star == -1]
        for what in (*stars, ""):
            if wanted >= len(bases):
                return Problem(
                    "E0653",
                    f"there is no argument for {spec.place}: the format needs more than the {_count(len(bases))} given",
                    "add an argument, or drop the conversion",
                )
            if what and bases[wanted] not in BITS:
                return Problem(
                    "E0652",
                    f"the {what} `*` of {spec.place} takes an int, but argument {wanted + 1} is {_a(bases[wanted])}",
                    "give the number as an int",
                    wanted,
                )
            if not what and not _fits(spec, bases[wanted]):
                return _mismatch(spec, bases[wanted], wanted)
            wanted += 1
    return None


def _fits(spec: Spec, base: str) -> bool:
    if spec.letter in INTEGER_LETTERS:
        return base in BITS or base in ("bool", "char")
    if spec.letter in REAL_LETTERS:
        return base in REAL
    if spec.letter == "c":
        return base == "char" or base in BITS
    return base == STRING


def _mismatch(spec: Spec, base: str, index: int) -> Problem:
    fitting = _FITTING.get(base)
    help = (
        f"{_a(base)} is printed with {fitting}"
        if fitting
        else "print such a value with `print`, or its parts one by one"
    )
    return Problem("E0652", f"{spec.place} does not fit argument {index + 1}, which is {_a(base)}", help, index)


def _a(base: str) -> str:
    name = base.rpartition("::")[2]
    return f"{'an' if name[0] in 'aeiou' and not name.startswith('u') else 'a'} {name}"


def _count(number: int) -> str:
    return f"{number or 'no'} argument{'' if number == 1 else 's'}"

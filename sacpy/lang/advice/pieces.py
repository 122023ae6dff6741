"""A text in pieces: words, numbers, strings and signs, of any language.

In: a stretch of a text. Out: `Piece`s with their offsets, and where operands among them end. The lexer knows SaC alone;
here `**`, `===`, `m'` and `⍳` are signs too, and what stands behind `//` is read if asked for, for in Python it is a
quotient.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import NamedTuple

from sacpy.lang.vocabulary import RESERVED

OPENERS = {"(": ")", "[": "]", "{": "}"}
CLOSERS = frozenset(OPENERS.values())
WORDS = RESERVED - {"true", "false"}  # no operands
PREFIXES = frozenset(("-", "!", "+", "~", "not"))
INFIX_WORDS = frozenset(("and", "or", "in", "is", "mod", "div", "xor"))
_NO_INFIX = frozenset((",", ";", "=", ":=", "->", "=>", "<-", "{", "(", "[", ".", "$", "'", "#", "@", "\\")) | CLOSERS
_SIGNS = (
    "%in%", "%*%", "...", "===", "!==", "**=", "//=", "<<=", ">>=", "=/=", "::", "..", "**", "//", "->", "=>", "<-",
    ":=", "==", "!=", "<=", ">=", "=<", "~=", "<>", "&&", "||", "|>", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=",
    "|=", "^=", "<<", ">>", "%%", "^^", ".*", "./", ".+", ".-", ".^", ".'", "??", "@@", "∘.×", "+.×",
)  # fmt: skip


class Piece(NamedTuple):
    """`kind`: "name", "number", "string", "quoted" (between single quotes), "sign". `glued`: no space before it;
    `opens_line`: the first of its line."""

    kind: str
    text: str
    start: int
    end: int
    glued: bool
    opens_line: bool


@functools.cache
def _expression() -> re.Pattern[str]:
    signs = "|".join(re.escape(s) for s in sorted(_SIGNS, key=len, reverse=True))
    space = r"(?P<space>[ \t\r\f\v]+|\\\n|/\*.*?(?:\*/|\Z))|(?P<line>\n)"
    string = r'(?P<string>"""|"(?:[^"\\\n]|\\.)*")'
    quoted = r"(?P<quoted>'''|(?<![\w\)\]])'(?:[^'\\\n]|\\.)*')"  # behind an operand a single quote is a sign
    fraction = r"\.(?![.*/^+'-]|[A-Za-z_])[0-9]*"
    digits = rf"0[xX][0-9a-fA-F]+|[0-9]+(?:{fraction})?(?:[eE][+-]?[0-9]+)?|(?<![\w\)\]])\.[0-9]+(?:[eE][+-]?[0-9]+)?"
    number = rf"(?P<number>(?:{digits})[A-Za-z0-9_]*)"
    name = r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    return re.compile("|".join((space, string, quoted, number, name, rf"(?P<sign>{signs}|.)")), re.DOTALL)


def pieces(text: str, start: int = 0, end: int | None = None, comments: bool = False) -> list[Piece]:
    """The pieces between two offsets. `comments`: with what stands behind `//`."""
    found: list[Piece] = []
    end = len(text) if end is None else end
    at, spaced, opens = start, True, True
    expression = _expression()
    while at < end:
        match = expression.match(text, at, end)
        if match is None:
            break
        kind, at = match.lastgroup or "sign", match.end()
        if kind == "line":
            spaced = opens = True
        elif kind == "space":
            spaced = True
        elif match[0] == "//" and not comments:
            at = text.find("\n", at, end)
            at = end if at < 0 else at
        else:
            found.append(Piece(kind, match[0], match.start(), at, not spaced, opens))
            spaced = opens = False
    return found


def closing(found: Sequence[Piece], at: int) -> int:
    """The index of the bracket that closes the one at `at`; -1 if none does."""
    awaited: list[str] = []
    for i in range(at, len(found)):
        text = found[i].text
        if text in OPENERS and found[i].kind == "sign":
            awaited.append(OPENERS[text])
        elif text in CLOSERS and found[i].kind == "sign":
            if not awaited or awaited.pop() != text:
                return -1
            if not awaited:
                return i
    return -1


@functools.lru_cache(maxsize=4)
def unmatched(text: str) -> tuple[int, ...]:
    """The offsets of the brackets in a text that have no partner. One that is closed by another's partner has none."""
    opened: list[Piece] = []
    alone: list[int] = []
    for piece in pieces(text):
        if piece.kind != "sign":
            continue
        if piece.text in OPENERS:
            opened.append(piece)
        elif piece.text in CLOSERS:
            if not any(OPENERS[o.text] == piece.text for o in opened):
                alone.append(piece.start)
                continue
            while OPENERS[(last := opened.pop()).text] != piece.text:
                alone.append(last.start)
    return tuple(sorted((*alone, *(o.start for o in opened))))


def primary_ends(found: Sequence[Piece], at: int) -> list[int]:
    """The indices behind what may be the operand that begins at `at`, the farthest first: a name, number, string or
    bracket, with the calls, selections and fields behind it or without the last of them."""
    if at >= len(found):
        return []
    piece = found[at]
    if piece.kind == "sign":
        behind = closing(found, at) + 1 if piece.text in ("(", "[") else 0
    else:
        behind = 0 if piece.text in WORDS and piece.kind == "name" else at + 1
    ends: list[int] = []
    while behind:
        ends.insert(0, behind)
        at, behind = behind, 0
        if at < len(found) and found[at].glued:
            if found[at].text in ("(", "["):
                behind = closing(found, at) + 1
            elif found[at].text == "." and at + 1 < len(found) and found[at + 1].kind == "name":
                behind = at + 2
    return ends


def operand_end(found: Sequence[Piece], at: int) -> int:
    """The index behind the operand, with prefix operators, that begins at `at`; -1 if none does."""
    while at < len(found) and found[at].text in PREFIXES:
        at += 1
    ends = primary_ends(found, at)
    return ends[0] if ends else -1


def is_expression(found: Sequence[Piece], start: int, end: int) -> bool:
    """Whether these pieces look like an expression: operands with operators between them."""
    at, asked = start, 0
    while True:
        if at < end and found[at].text == "{":
            behind = closing(found, at) + 1
        else:
            behind = operand_end(found, at)
        if behind <= at or behind > end:
            return False
        if behind == end:
            return asked == 0
        sign = found[behind]
        asked += (sign.text == "?") - (sign.text == ":")
        if (sign.kind != "sign" and sign.text not in INFIX_WORDS) or sign.text in _NO_INFIX or asked < 0:
            return False
        at = behind + 1

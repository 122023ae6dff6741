"""The pieces of a text that is being typed, for whoever must know where the cursor is: in a comment or string, in which
call, how deep in brackets.

In: any text. Out: its pieces without white space and comments. It is cruder than the front end's scanner, and takes
what that refuses.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

OPENERS = {"(": ")", "[": "]", "{": "}"}
CLOSERS = frozenset(OPENERS.values())

_PIECE = re.compile(
    r"""(?P<comment>//[^\n]*|/\*[^*]*+(?>(?:\*(?!/)[^*]*+)*)\*/)
    |(?P<opencomment>/\*[\s\S]*)
    |(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |(?P<openstring>["'][^\n]*)
    |(?P<number>\.?[0-9][\w.]*)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<mark>::|[()\[\]{},;])
    |(?P<other>[^\s\w"'()\[\]{},;/:]+|[/:])""",
    re.VERBOSE | re.ASCII,
)
_BRACKET = re.compile(
    r"""//[^\n]*|/\*[^*]*+(?>(?:\*(?!/)[^*]*+)*)\*/
    |(?P<opencomment>/\*[\s\S]*)
    |"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'
    |["'][^\n]*
    |[()\[\]{}]""",
    re.VERBOSE,
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?![ \t]*pragma\b)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Piece:
    """`kind`: "name", "number", "string", "mark" (brackets, `,`, `;`, `::`) or "other"."""

    kind: str
    text: str
    start: int


@dataclass(frozen=True, slots=True)
class Pieces:
    """The pieces in order. `unfinished`: what the text ends within, "line comment", "comment" or "string"."""

    found: tuple[Piece, ...]
    unfinished: str | None = None

    def __iter__(self) -> Iterator[Piece]:
        return iter(self.found)

    def open_brackets(self) -> list[int]:
        """The indices of the brackets that nothing closes, from the outermost."""
        stack: list[int] = []
        for i, piece in enumerate(self.found):
            if piece.kind != "mark":
                continue
            if piece.text in OPENERS:
                stack.append(i)
            elif piece.text in CLOSERS and stack and OPENERS[self.found[stack[-1]].text] == piece.text:
                stack.pop()
        return stack


@lru_cache(maxsize=8)
def pieces(text: str) -> Pieces:
    """Cuts a text. A string that its line ends without closing counts as unfinished only at the end of the text."""
    found: list[Piece] = []
    unfinished = None
    for match in _PIECE.finditer(text):
        kind = str(match.lastgroup)
        if kind.startswith("open"):
            unfinished = kind.removeprefix("open") if match.end() == len(text) else None
        elif kind == "comment":
            if match[0].startswith("//") and match.end() == len(text):
                unfinished = "line comment"
        else:
            found.append(Piece(kind, match[0], match.start()))
    return Pieces(tuple(found), unfinished)


def brackets(text: str) -> Iterator[tuple[int, str]]:
    """The brackets of a text and their places; those in strings and comments are none."""
    for match in _BRACKET.finditer(text):
        if match[0] in OPENERS or match[0] in CLOSERS:
            yield match.start(), match[0]


def is_open(text: str) -> bool:
    """Whether a bracket or comment still waits for its end, whatever else is wrong. Macros may hide brackets: of a text
    with directives nothing is said, nor of one whose brackets do not match; those are for the parser."""
    if _DIRECTIVE.search(text):
        return False
    waiting: list[str] = []
    for match in _BRACKET.finditer(text):
        mark = match[0]
        if mark in OPENERS:
            waiting.append(OPENERS[mark])
        elif mark in CLOSERS and (not waiting or waiting.pop() != mark):
            return False
        elif match.lastgroup == "opencomment":
            return True
    return bool(waiting)


def open_lines(text: str) -> list[bool]:
    """For each line whether a bracket or comment is open at its end. As `is_open`, of a text with directives it says
    nothing: all lines end outside."""
    lines = text.splitlines(keepends=True)
    if _DIRECTIVE.search(text):
        return [False] * len(lines)
    ends = list(accumulate(map(len, lines)))
    depths = [0] * len(lines)
    within = [False] * len(lines)
    for match in _BRACKET.finditer(text):
        line = bisect_right(ends, match.start())
        depths[line] += (match[0] in OPENERS) - (match[0] in CLOSERS)
        if match[0].startswith("/*"):
            last = bisect_right(ends, match.end() - 1)
            within[line:last] = [True] * (last - line)
            within[last] |= match.lastgroup == "opencomment"
    depth = 0
    found = []
    for change, inside in zip(depths, within):
        depth = max(depth + change, 0)
        found.append(depth > 0 or inside)
    return found

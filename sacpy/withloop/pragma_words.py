"""Pragmas as words.

In: the text of a pragma. Out: its names, numbers and marks, with their places in it.
"""

from __future__ import annotations

import re
from typing import Literal

from sacpy.nodes import Node
from sacpy.withloop.combinators import Offsets


class Word(Node):
    """A word, with its place in the text."""

    kind: Literal["name", "number", "sign", "end"]
    text: str
    start: int
    end: int

    @property
    def span(self) -> Offsets:
        return self.start, self.end


WORD = re.compile(
    r"(?:\s|\\\r?\n|//[^\n]*|/\*.*?\*/)*(?:(?P<name>[A-Za-z_]\w*)|(?P<number>-?\d+\b)|(?P<sign>[^\s]))?", re.DOTALL
)


def words_of(text: str) -> list[Word]:
    """The words, numbers and signs of the text, and two ends, so that one may look ahead."""
    tokens, at = [], 0
    while (match := WORD.match(text, at)) and match.lastgroup:
        kind: Literal["name", "number", "sign"] = "name" if match["name"] else "number" if match["number"] else "sign"
        tokens.append(Word(kind, match[match.lastgroup], match.start(match.lastgroup), match.end()))
        at = match.end()
    stop = len(text.rstrip())
    return [*tokens, Word("end", "", stop, stop), Word("end", "", stop, stop)]

"""Source texts and places in them.

In: the text of a file (or of a string given to the REPL). Out: `Source`, which maps offsets to lines and columns, and
`Span`, a stretch of one source that every token, AST node and core node carries. A token that came out of a macro has
the span of the macro's *use*; its `macro` is the span inside the definition.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from pathlib import Path

from sacpy.nodes import Node

STDLIB = Path(__file__).resolve().parent.parent / "stdlib"  # the folder of the library's modules
_LIBRARY = f"{STDLIB}{os.sep}"


class Source:
    """A named text. The text of a file is read when first needed, so a cached program that keeps its spans stays
    small."""

    __slots__ = ("_lines", "_text", "name")

    def __init__(self, name: str, text: str | None = None) -> None:
        self.name = name
        self._text = text
        self._lines: list[int] | None = None

    def __repr__(self) -> str:
        return f"Source({self.name!r})"

    @property
    def text(self) -> str:
        """The whole text; empty when the file is no longer there."""
        if self._text is None:
            try:
                self._text = Path(self.name).read_bytes().decode("utf-8", "surrogateescape")
            except OSError:
                self._text = ""
        return self._text

    def _line_starts(self) -> list[int]:
        if self._lines is None:
            starts, at = [0], self.text.find("\n")
            while at >= 0:
                starts.append(at + 1)
                at = self.text.find("\n", at + 1)
            self._lines = starts
        return self._lines

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both counted from 1."""
        starts = self._line_starts()
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of a line (counted from 1) without its end."""
        starts = self._line_starts()
        if not 1 <= number <= len(starts):
            return ""
        end = starts[number] - 1 if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end].rstrip("\r")


def library_source(place: str) -> Source:
    """A file by its place: in `STDLIB`, if it is one of the library's, or anywhere."""
    return Source(os.path.join(_LIBRARY, place))


def library_place(source: Source) -> str:
    """The place of a file, for `library_source`."""
    return source.name.removeprefix(_LIBRARY)


class Span(Node):
    """The half-open stretch [start, end) of a source, in characters."""

    source: Source
    start: int
    end: int
    macro: Span | None = None

    def to(self, other: Span) -> Span:
        """The span from the start of this one to the end of `other`."""
        if other.source is not self.source:
            return self
        return Span(self.source, min(self.start, other.start), max(self.end, other.end), self.macro)

    @property
    def text(self) -> str:
        """The source text of this span."""
        return self.source.text[self.start : self.end]

    @property
    def line(self) -> int:
        """The line (from 1) where the span starts."""
        return self.source.position(self.start)[0]

    @property
    def column(self) -> int:
        """The column (from 1) where the span starts."""
        return self.source.position(self.start)[1]

    def __repr__(self) -> str:
        line, column = self.source.position(self.start)
        return f"{self.source.name}:{line}:{column}"


BUILTIN = Source("<builtin>", "")
NOWHERE = Span(BUILTIN, 0, 0)

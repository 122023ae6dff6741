"""Diagnostics as text with carets, and as JSON.

In: diagnostics. Out: for each its message, the lines it is about with marks under the places, then notes, help, the
edit that mends it, and the call stack, in the manner of Rust's compiler. What it shows of a line is clipped to the
width, so a line of a million characters does no harm.
"""

from __future__ import annotations

import itertools
import json
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from sacpy.lang.diagnostics import Diagnostic, Edit, Frame
from sacpy.lang.source import NOWHERE, Source, Span

WIDTH = 140
NARROW = 40  # no narrower than this
TAB = 4
STACK_TOP, STACK_BOTTOM = 8, 6
_COLOURS = {
    "error": "1;31",
    "warning": "1;33",
    "note": "1;32",
    "frame": "1;34",
    "bold": "1",
    "added": "32",
    "removed": "31",
}


class _Mark(NamedTuple):
    """A stretch of one line, in characters from 0, with a label. `order`: 0 for the primary place."""

    line: int
    start: int
    end: int
    label: str
    order: int


class _Shown(NamedTuple):
    """A line as it is displayed, and the display column of each character of it that is shown."""

    text: str
    first: int
    columns: list[int]

    def column(self, character: int) -> int:
        return self.columns[min(max(character - self.first, 0), len(self.columns) - 1)]


def render_text(
    diagnostics: Iterable[Diagnostic], *, color: bool = False, width: int | None = None, wrap: bool = False
) -> str:
    """The diagnostics as text with carets, a blank line between them. `color`: with ANSI escapes. `width`: columns to
    fit source lines into; with `wrap` sentences too, which are one line each without it."""
    return "\n\n".join(
        _Renderer(diagnostic, color, max(width or WIDTH, NARROW), wrap).text() for diagnostic in diagnostics
    )


class _Renderer:
    def __init__(self, diagnostic: Diagnostic, color: bool, width: int, wrap: bool) -> None:
        self._diagnostic, self._color, self._width, self._wrap = diagnostic, color, width, wrap
        self._out: list[str] = []
        places = [diagnostic.span, *(label.span for label in diagnostic.labels)]
        places += [span.macro for span in places if span.macro is not None]
        if diagnostic.edit is not None:
            places += [part.span for part in diagnostic.edit.parts]
        last = max((_lines(span)[1] for span in places if _has_text(span)), default=1)
        self._gutter = len(str(last))

    def text(self) -> str:
        diagnostic = self._diagnostic
        severity = diagnostic.severity
        message = _printable(diagnostic.message)
        head = f"{severity}[{diagnostic.code}]"
        first, *others = self._broken(f": {message}", len(head), 2)
        self._out.append(self._paint(severity, head) + self._paint("bold", first))
        self._out += [self._paint("bold", line) for line in others]
        self._places()
        for note in diagnostic.notes:
            self._remark("note", note)
        if diagnostic.help:
            self._remark("help", diagnostic.help)
        for edits in _by_line(diagnostic.edit.parts) if diagnostic.edit is not None else ():
            self._edit(edits)
        for line in _stack(diagnostic.stack):
            self._remark("", line)
        return "\n".join(self._out)

    def _paint(self, kind: str, text: str) -> str:
        return f"\x1b[{_COLOURS[kind]}m{text}\x1b[0m" if self._color and text else text

    def _row(self, number: int | None, mark: str, text: str) -> None:
        shown = str(number) if number is not None else ""
        self._out.append(
            (self._paint("frame", f"{shown:>{self._gutter}} {mark}") + (" " + text if text else "")).rstrip()
        )

    def _remark(self, kind: str, text: str) -> None:
        head = f"{kind}: " if kind else ""
        indent = self._gutter + 3 + len(head)
        first, *others = (part for line in _printable(text).split("\n") for part in self._broken(line, indent, 0))
        self._out.append(self._paint("frame", " " * self._gutter + " = ") + self._paint("bold", head) + first)
        self._out += [" " * indent + line for line in others]

    def _broken(self, text: str, taken: int, indent: int) -> list[str]:
        """A sentence in as many lines as it needs, `taken` columns of the first of them gone; words are left whole."""
        if not self._wrap or taken + len(text) <= self._width:
            return [text]
        room = max(self._width - taken, NARROW // 2)
        first, *rest = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False) or [""]
        if not indent:
            return [first, *rest]
        return [
            first,
            *textwrap.wrap(
                " ".join(rest),
                self._width,
                initial_indent=" " * indent,
                subsequent_indent=" " * indent,
                break_long_words=False,
                break_on_hyphens=False,
            ),
        ]

    # Places and marks.

    def _places(self) -> None:
        """The primary place with the labels of its file, then the other files', then where macros are defined."""
        diagnostic = self._diagnostic
        by_source: dict[Source, list[tuple[Span, str, int]]] = {
            diagnostic.span.source: [(diagnostic.span, diagnostic.label, 0)]
        }
        for order, label in enumerate(diagnostic.labels, 1):
            by_source.setdefault(label.span.source, []).append((label.span, label.text, order))
        for order, (source, places) in enumerate(by_source.items()):
            self._block(source, places, "-->" if order == 0 else ":::")
        seen: set[tuple[Source, int]] = set()
        for span in [diagnostic.span, *(label.span for label in diagnostic.labels)]:
            macro = span.macro
            while macro is not None and (macro.source, macro.start) not in seen:
                seen.add((macro.source, macro.start))
                self._block(macro.source, [(macro, "in the expansion of this macro", 1)], ":::")
                macro = macro.macro

    def _block(self, source: Source, places: Sequence[tuple[Span, str, int]], arrow: str) -> None:
        head = places[0][0]
        if source is NOWHERE.source:
            return
        where = f"{_printable(source.name)}:{head.line}:{head.column}" if _has_text(head) else _printable(source.name)
        self._out.append(" " * self._gutter + self._paint("frame", arrow) + f" {where}")
        if not _has_text(head):
            return
        marks = [mark for span, label, order in places for mark in _marks(span, label, order)]
        self._row(None, "|", "")
        before = 0
        for number in sorted({mark.line for mark in marks}):
            if before and number > before + 1:
                self._out.append(self._paint("frame", "..."))
            self._line(source.line(number), number, [mark for mark in marks if mark.line == number])
            before = number
        if self._diagnostic.notes or self._diagnostic.help or self._diagnostic.stack or self._diagnostic.edit:
            self._row(None, "|", "")

    def _line(self, line: str, number: int, marks: Sequence[_Mark]) -> None:
        """A source line, marks under it, and their labels: the rightmost behind its marks, others below on stems."""
        shown = _show(line, min(marks, key=lambda mark: mark.order).start, self._width - self._gutter - 3)
        self._row(number, "|", shown.text)
        rows = (
            [sorted(marks, key=lambda mark: mark.start)]
            if _apart(marks)
            else [[mark] for mark in sorted(marks, key=lambda mark: mark.order)]
        )
        for row in rows:
            self._marks(row, shown)

    def _marks(self, row: Sequence[_Mark], shown: _Shown) -> None:
        line: list[str] = []
        at = 0
        for mark in row:
            start = shown.column(mark.start)
            size = max(shown.column(mark.end) - start, 1)
            line.append(" " * (start - at) + self._paint(self._kind(mark), ("-" if mark.order else "^") * size))
            at = start + size
        self._row(None, "|", "".join(line) + self._labelled(row[-1]))
        hanging = [mark for mark in row[:-1] if mark.label]
        for count in range(len(hanging), 0, -1):
            stems, at = "", 0
            for mark in hanging[:count]:
                column = shown.column(mark.start)
                last = mark is hanging[count - 1]
                stems += " " * (column - at) + (
                    self._labelled(mark)[1:] if last else self._paint(self._kind(mark), "|")
                )
                at = column + 1
            self._row(None, "|", stems)

    def _kind(self, mark: _Mark) -> str:
        return "frame" if mark.order else self._diagnostic.severity

    def _labelled(self, mark: _Mark) -> str:
        return " " + self._paint(self._kind(mark), _printable(mark.label).replace("\n", " ")) if mark.label else ""

    # The edit and the stack.

    def _edit(self, edits: Sequence[Edit]) -> None:
        """The lines as they are to be, of changes on one line. New text is marked with `+`, changed text with `~`;
        where text only goes, the line before and after."""
        if len(edits) > 1:
            self._several(edits)
            return
        (edit,) = edits
        span = edit.span
        if not _has_text(span):
            return
        first, last = _lines(span)
        source = span.source
        before = source.line(first)[: span.column - 1]
        behind = source.line(last)[source.position(span.end)[1] - 1 :] if source.position(span.end)[0] == last else ""
        room = self._width - self._gutter - 3
        if span.start == span.end and not before and edit.text.endswith("\n"):  # whole lines put in
            for number, line in enumerate(edit.text.splitlines()[:6], first):
                self._row(number, self._paint("added", "+"), _show(line, 0, room).text)
            return
        new = (before + edit.text + behind).split("\n")
        if len(new) > 1 or last > first or not edit.text:
            old = [source.line(number) for number in range(first, min(last, first + 5) + 1)]
            for number, line in enumerate(old, first):
                self._row(number, self._paint("removed", "-"), _show(line, span.column - 1, room).text)
            for number, line in enumerate(new[:6], first):
                self._row(number, self._paint("added", "+"), _show(line, span.column - 1, room).text)
            return
        shown = _show(new[0], len(before), room)
        start = shown.column(len(before))
        mark = "+" if span.start == span.end else "~"
        self._row(first, "|", shown.text)
        self._row(
            None,
            "|",
            " " * start + self._paint("added", mark * max(shown.column(len(before) + len(edit.text)) - start, 1)),
        )

    def _several(self, edits: Sequence[Edit]) -> None:
        """A line with several changes in it."""
        source, line = edits[0].span.source, edits[0].span.line
        text, marks, at, begin = "", [], 0, edits[0].span.start - edits[0].span.column + 1
        old = source.line(line)
        for edit in edits:
            text += old[at : edit.span.start - begin]
            marks.append((len(text), len(edit.text), "+" if edit.span.start == edit.span.end else "~"))
            text += edit.text
            at = edit.span.end - begin
        text += old[at:]
        shown = _show(text, marks[0][0], self._width - self._gutter - 3)
        self._row(line, "|", shown.text)
        row, column = "", 0
        for start, size, mark in marks:
            first = shown.column(start)
            row += " " * (first - column) + self._paint("added", mark * max(shown.column(start + size) - first, 1))
            column = max(shown.column(start + size), first + 1)
        self._row(None, "|", row)


def _by_line(edits: Sequence[Edit]) -> list[list[Edit]]:
    """Changes within one and the same line together; those of whole lines, or of several, by themselves."""
    groups: list[list[Edit]] = []
    for edit in edits:
        within = "\n" not in edit.text and "\n" not in edit.span.text
        before = groups[-1][-1] if groups else None
        if (
            before is not None
            and within
            and "\n" not in before.text
            and "\n" not in before.span.text
            and before.span.line == edit.span.line
        ):
            groups[-1].append(edit)
        else:
            groups.append([edit])
    return groups


def _stack(frames: Sequence[Frame]) -> Iterator[str]:
    """A line for each call, innermost first: rounds of a recursion are counted, the middle of a long stack is left
    out."""
    lines: list[str] = []
    at = 0
    while at < len(frames):
        period, rounds = _repeats(frames, at)
        lines += [
            f"in {frame.function}" + (f" at {frame.span!r}" if _has_text(frame.span) else "")
            for frame in frames[at : at + period]
        ]
        if rounds > 1:
            lines.append(
                f"... {'this call' if period == 1 else f'these {period} calls'} {rounds - 1} more "
                f"time{'s' if rounds > 2 else ''}"
            )
        at += period * rounds
    if len(lines) > STACK_TOP + STACK_BOTTOM + 1:
        left_out = len(lines) - STACK_TOP - STACK_BOTTOM
        lines[STACK_TOP : len(lines) - STACK_BOTTOM] = [f"... {left_out} more lines of the call stack"]
    yield from lines


def _repeats(frames: Sequence[Frame], at: int) -> tuple[int, int]:
    """How many calls make up a round that begins at `at`, and how many rounds follow one another. Rounds are worth
    counting where there are three, or two of more than one call."""
    for period in range(1, 5):
        rounds = 1
        while frames[at : at + period] == frames[at + period * rounds : at + period * (rounds + 1)]:
            rounds += 1
        if rounds > 2:
            return period, rounds
    return 1, 1


def _has_text(span: Span) -> bool:
    return bool(span.source.text)


def _lines(span: Span) -> tuple[int, int]:
    """The first and the last line of a span."""
    return span.line, span.source.position(max(span.start, span.end - 1))[0]


def _marks(span: Span, label: str, order: int) -> list[_Mark]:
    """One mark for a span within a line; for a longer one its first and its last line."""
    first, last = _lines(span)
    start = span.column - 1
    if first == last:
        return [_Mark(first, start, max(start + span.end - span.start, start + 1), label, order)]
    line, ending = span.source.line(first), span.source.line(last)
    end = span.source.position(max(span.start, span.end - 1))[1]
    indent = len(ending) - len(ending.lstrip())
    return [
        _Mark(first, start, max(len(line.rstrip()), start + 1), "", order),
        _Mark(last, min(indent, end - 1), end, label, order),
    ]


def _apart(marks: Sequence[_Mark]) -> bool:
    ordered = sorted(marks, key=lambda mark: mark.start)
    return all(a.end <= b.start for a, b in itertools.pairwise(ordered))


def _show(line: str, around: int, room: int) -> _Shown:
    """A line with tabs expanded and odd characters replaced, clipped around a character of interest."""
    first, last, head, tail = 0, len(line), "", ""
    if len(line) > room:
        first = max(0, min(around - room // 3, len(line) - room + 6))
        last = min(len(line), first + room - 6)
        head, tail = "..." if first else "", "..." if last < len(line) else ""
    parts: list[str] = [head]
    columns: list[int] = []
    column = len(head)
    for letter in line[first:last]:
        columns.append(column)
        text = " " * (TAB - column % TAB) if letter == "\t" else _printable(letter)
        parts.append(text)
        column += _columns(text)
    columns.append(column)
    return _Shown("".join(parts) + tail, first, columns)


def _columns(text: str) -> int:
    """How many columns a terminal takes for a text."""
    if text.isascii():
        return len(text)
    return sum(
        0
        if unicodedata.category(letter) in ("Mn", "Me", "Cf")
        else 2
        if unicodedata.east_asian_width(letter) in "WF"
        else 1
        for letter in text
    )


def _printable(text: str) -> str:
    """A text with what a terminal cannot show, or would obey, replaced."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        letter if letter == "\n" or (letter.isprintable() or unicodedata.category(letter) in ("Mn", "Me")) else "\ufffd"
        for letter in text
    )


def to_json(diagnostics: Iterable[Diagnostic]) -> str:
    """The diagnostics as a JSON array. Lines and columns count from 1, ends are exclusive."""
    return json.dumps([_as_json(diagnostic) for diagnostic in diagnostics], indent=2)


def _place(span: Span) -> dict[str, object]:
    end_line, end_column = span.source.position(span.end)
    return {
        "file": span.source.name,
        "line": span.line,
        "column": span.column,
        "endLine": end_line,
        "endColumn": end_column,
    }


def _edit_as_json(edit: Edit) -> dict[str, object]:
    return {**_place(edit.span), "text": edit.text}


def _as_json(diagnostic: Diagnostic) -> dict[str, object]:
    macro = diagnostic.span.macro
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        **_place(diagnostic.span),
        "label": diagnostic.label,
        "macro": _place(macro) if macro is not None else None,
        "labels": [{**_place(label.span), "text": label.text} for label in diagnostic.labels],
        "notes": list(diagnostic.notes),
        "help": diagnostic.help,
        "edit": {**_edit_as_json(diagnostic.edit), "also": [_edit_as_json(edit) for edit in diagnostic.edit.also]}
        if diagnostic.edit is not None
        else None,
        "stack": [
            {
                "function": frame.function,
                "file": frame.span.source.name,
                "line": frame.span.line,
                "column": frame.span.column,
            }
            for frame in diagnostic.stack
        ],
        "incomplete": diagnostic.incomplete,
    }

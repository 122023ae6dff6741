"""Layouts fitted into lines.

In: a `Doc` and a width. Out: the text. A group is put on one line if it, and what must follow it there, fits; else its
lines are broken. Nothing is looked at twice but the next stretch that may not be broken, so the time is that of the
text's length.
"""

from __future__ import annotations

from dataclasses import dataclass

from sacpy.lang.formatter.doc import (
    CONTINUATION,
    Align,
    Block,
    Cat,
    Doc,
    Either,
    Gap,
    Group,
    Hang,
    Hard,
    Line,
    Listed,
    Margin,
    Nest,
    Suffix,
    Text,
    cat,
    separated,
)

_DEEPEST = 60  # the column from which a list in brackets is no longer aligned with its bracket
_DEEP = 36  # the same for a list with an item that does not fit behind the bracket

_Entry = tuple[int, bool, Doc]  # indentation, whether on one line, what


@dataclass(slots=True)
class _Row:
    """A line of the output and the comment at its end."""

    text: str
    suffix: str = ""


class _Writer:
    def __init__(self, width: int) -> None:
        self.width = width
        self.rows: list[_Row] = []
        self.text = ""
        self.indent = 0
        self.suffix: Suffix | None = None

    # ------------------------------------------------------------ the line being written

    @property
    def column(self) -> int:
        return len(self.text) if self.text else self.indent

    def write(self, text: str) -> None:
        if not text:
            return
        if self.suffix is not None and text not in (",", ";"):
            self.newline(self.indent)
        self.text = self.text + text if self.text else " " * self.indent + text if text.strip() else ""

    def newline(self, indent: int, blank: bool = False) -> None:
        if self.text:
            row = _Row(self.text.rstrip())
            self.rows.append(row)
            self.text = ""
            if self.suffix is not None:
                suffix, self.suffix = self.suffix, None
                lines = _moved(suffix.text, suffix.column, len(row.text) + 1)
                row.suffix = lines[0]
                self.rows += [_Row(line) for line in lines[1:]]
        self.indent = indent
        if blank and self.rows and self.rows[-1].text:
            self.rows.append(_Row(""))

    def block(self, block: Block, indent: int) -> None:
        """A comment at the place where the text has come to."""
        first, *others = _moved(block.text, block.column, self.column)
        self.write(first)
        for line in others:
            self.rows.append(_Row(self.text.rstrip()))
            self.text = line or " "
        if others and not self.text.strip():
            self.text = ""
        self.indent = indent

    # ------------------------------------------------------------ layouts

    def run(self, doc: Doc) -> None:
        stack: list[_Entry] = [(0, False, doc)]
        while stack:
            indent, flat, doc = stack.pop()
            match doc:
                case Text(text=text):
                    self.write(text)
                case Cat(parts=parts):
                    stack += [(indent, flat, part) for part in reversed(parts)]
                case Line(text=text):
                    if self.suffix is not None or not flat:
                        self.newline(indent)
                    elif self.text:
                        self.write(text)
                case Gap(next=next):
                    kept = flat or next.flat is None or indent + next.flat + CONTINUATION > self.width
                    stack.append((indent, kept, Line()))
                case Hard(blank=blank):
                    self.newline(indent, blank)
                case Group(inner=inner):
                    stack.append((indent, flat or self.fits(inner, stack), inner))
                case Either(broken=broken, whole=whole):
                    stack.append((indent, flat, whole if flat else broken))
                case Align(inner=inner):
                    stack.append((self.column, flat, inner))
                case Nest(inner=inner, by=by):
                    stack.append((indent + by, flat, inner))
                case Hang(inner=inner):
                    self.hang(indent, inner, stack, flat)
                case Listed():
                    self.listed(doc, indent, flat, stack)
                case _Filled():
                    self.filled(doc, indent, stack)
                case Suffix():
                    self.suffixed(doc, indent)
                case Block():
                    self.block(doc, indent)
                case Margin(text=text):
                    self.newline(indent)
                    self.rows += [_Row(line.rstrip()) for line in text.split("\n")]
        self.newline(0)

    def suffixed(self, suffix: Suffix, indent: int) -> None:
        if not self.text:
            self.block(Block(suffix.text, suffix.column), indent)
            self.newline(indent)
            return
        if self.suffix is not None:
            self.newline(indent)
            self.write(suffix.text)
            self.newline(indent)
            return
        self.suffix = suffix

    def hang(self, indent: int, inner: Doc, stack: list[_Entry], flat: bool) -> None:
        below = indent + CONTINUATION
        if (
            not flat
            and not self.fits(cat(" ", inner), stack)
            and inner.flat is not None
            and below + inner.flat < self.width
            and below + CONTINUATION < self.column
        ):
            self.newline(below)
            stack.append((below, False, inner))
        else:
            stack += [(indent, flat, inner), (indent, flat, Text(" "))]

    def listed(self, doc: Listed, indent: int, flat: bool, stack: list[_Entry]) -> None:
        gap = Line(doc.separator)
        if flat or self.fits(doc, stack):
            stack.append((indent, True, cat(doc.opening, separated(doc.items, gap), doc.closing)))
            return
        if doc.hug:
            stack.append((indent, False, cat(doc.opening, doc.items[0], doc.closing)))
            return
        start = self.column + (1 if doc.opening.flat is None else doc.opening.flat)
        widest = max((item.flat or 0 for item in doc.items), default=0)
        below = indent + CONTINUATION
        narrow = start + widest + 2 > self.width
        hanging = start > below and (
            start > _DEEPEST or (narrow and (start > _DEEP or below + widest + 2 <= self.width))
        )
        started = [0]
        lines = [
            (below if hanging else start, False, _Filled(item, gap, not i, started)) for i, item in enumerate(doc.items)
        ]
        stack.append((indent, False, doc.closing))
        stack += reversed(lines)
        if hanging:
            stack.append((below, False, Hard()))
        stack.append((indent, False, doc.opening))

    def filled(self, doc: _Filled, indent: int, stack: list[_Entry]) -> None:
        on_one_line = doc.started[0] == len(self.rows)
        if (
            not doc.first
            and on_one_line
            and self.text
            and self.suffix is None
            and self.fits(cat(doc.gap, doc.item), stack)
        ):
            stack += [(indent, True, doc.item), (indent, True, doc.gap)]
            return
        if not doc.first:
            self.newline(indent)
        doc.started[0] = len(self.rows)
        stack.append((indent, False, Group(doc.item)))

    def fits(self, doc: Doc, rest: list[_Entry]) -> bool:
        """Whether a layout on one line, and what must stand behind it on the same line, fit."""
        if doc.flat is None:
            return False
        left = self.width - self.column - doc.flat
        for _, flat, next in reversed(rest):
            if left < 0:
                return False
            used, ends = _until_break(next, flat)
            left -= used
            if ends:
                break
        return left >= 0


@dataclass(frozen=True, slots=True)
class _Filled(Doc):
    """An item of a filled list with the gap before it; `started`, shared by all items, is the row in which the item
    before began. (Only `_Writer` makes them.)"""

    item: Doc
    gap: Line
    first: bool
    started: list[int]


def _until_break(doc: Doc, flat: bool) -> tuple[int, bool]:
    """The width up to the first place where the line may be broken, and whether there is one."""
    match doc:
        case Text(text=text):
            return len(text), False
        case Line(text=text):
            return (len(text), False) if flat else (0, True)
        case Gap():
            return (1, False) if flat else (0, True)
        case Hard() | Margin() | Suffix() | _Filled():
            return 0, True
        case Cat(parts=parts):
            total = 0
            for part in parts:
                used, ends = _until_break(part, flat)
                total += used
                if ends:
                    return total, True
            return total, False
        case Group(inner=inner) | Align(inner=inner) | Nest(inner=inner):
            return _until_break(inner, flat)
        case Either(broken=broken, whole=whole):
            return _until_break(whole if flat else broken, flat)
        case Hang(inner=inner):
            used, ends = _until_break(inner, flat)
            return used + 1, ends
        case Listed(opening=opening):
            return (doc.flat, False) if flat and doc.flat is not None else (opening.flat or 0, True)
        case Block(text=text):
            return len(text.partition("\n")[0]), "\n" in text
    return 0, False


def _moved(text: str, old: int, new: int) -> list[str]:
    """The lines of a comment that stood in column `old`, for column `new`; the first line without its indentation."""
    first, *others = text.expandtabs(8).split("\n") if "\n" in text else [text]
    out = [first.rstrip()]
    for line in others:
        stripped = line.strip()
        out.append(" " * max(new + len(line) - len(line.lstrip()) - old, new) + stripped if stripped else "")
    return out


def render(doc: Doc, width: int) -> str:
    """The layout in lines of `width` columns where that can be; comments at the ends of consecutive lines are
    aligned."""
    writer = _Writer(width)
    writer.run(doc)
    rows = writer.rows
    while rows and not rows[-1].text:
        rows.pop()
    at = 0
    while at < len(rows):
        end = at
        while end < len(rows) and rows[end].suffix:
            end += 1
        edge = max((len(row.text) for row in rows[at:end]), default=0)
        aligned = all(edge + 1 + len(row.suffix) <= width for row in rows[at:end])
        for row in rows[at:end]:
            row.text = f"{row.text:<{edge if aligned else 0}} {row.suffix}"
        at = max(end, at + 1)
    return "".join(row.text + "\n" for row in rows)

"""Layouts: text with places where a line may or must be broken.

The algebra is Wadler's ("A prettier printer", 2003) with the additions that programs need: alignment, lists that are
filled line by line, comments that wait for the end of the line, and lines that stand at the margin (directives). A
break where nothing has been written on the line yet does nothing, so that layouts can be put together without counting
line breaks. `render` fits them into lines.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

CONTINUATION = 4


@dataclass(frozen=True, slots=True)
class Doc:
    """`flat`: the width on one line; None where it cannot stand on one."""

    flat: int | None = field(init=False, default=None)


@dataclass(frozen=True, slots=True)
class Text(Doc):
    """A stretch of one line."""

    text: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "flat", len(self.text))


@dataclass(frozen=True, slots=True)
class Line(Doc):
    """A blank (or what `text` says), or a line break where the group around it does not fit."""

    text: str = " "

    def __post_init__(self) -> None:
        object.__setattr__(self, "flat", len(self.text))


@dataclass(frozen=True, slots=True)
class Gap(Doc):
    """A blank before `next`, or a line break where the group around does not fit, unless `next` has to be broken
    wherever it stands."""

    next: Doc

    def __post_init__(self) -> None:
        object.__setattr__(self, "flat", 1)


@dataclass(frozen=True, slots=True)
class Hard(Doc):
    """A line break; with `blank` an empty line too."""

    blank: bool = False


@dataclass(frozen=True, slots=True)
class Block(Doc):
    """A comment or pragma of one or more lines; `column` is where it stood, the further lines move along."""

    text: str
    column: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "flat", None if "\n" in self.text else len(self.text))


@dataclass(frozen=True, slots=True)
class Suffix(Doc):
    """A comment for the end of the line that is being written."""

    text: str
    column: int


@dataclass(frozen=True, slots=True)
class Margin(Doc):
    """Lines that stand at the margin as they are: a directive."""

    text: str


@dataclass(frozen=True, slots=True)
class Cat(Doc):
    """One after the other."""

    parts: tuple[Doc, ...]

    def __post_init__(self) -> None:
        total = 0
        for part in self.parts:
            if part.flat is None:
                return
            total += part.flat
        object.__setattr__(self, "flat", total)


@dataclass(frozen=True, slots=True)
class _Around(Doc):
    """Something around another layout."""

    inner: Doc

    def __post_init__(self) -> None:
        object.__setattr__(self, "flat", self.inner.flat)


@dataclass(frozen=True, slots=True)
class Group(_Around):
    """All lines in it are broken, or none."""


@dataclass(frozen=True, slots=True)
class Align(_Around):
    """Lines are indented to the column where it begins."""


@dataclass(frozen=True, slots=True)
class Nest(_Around):
    """Lines are indented by `by` more."""

    by: int


@dataclass(frozen=True, slots=True)
class Hang(_Around):
    """Behind a blank; or on a line of its own if it fits there, and only there, on one line."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "flat", None if self.inner.flat is None else self.inner.flat + 1)


@dataclass(frozen=True, slots=True)
class Either(Doc):
    """One layout where the group around is broken, another where it is on one line."""

    broken: Doc
    whole: Doc

    def __post_init__(self) -> None:
        object.__setattr__(self, "flat", self.whole.flat)


@dataclass(frozen=True, slots=True)
class Listed(Doc):
    """Items in brackets, each of which brings its comma: on one line, else as many on a line as fit, aligned behind the
    opening bracket or, where that stands far to the right, indented. With `hug` the only item is broken as if it stood
    without brackets."""

    opening: Doc
    items: tuple[Doc, ...]
    closing: Doc
    separator: str = " "
    hug: bool = False

    def __post_init__(self) -> None:
        whole = Cat((self.opening, *self.items, self.closing)).flat
        object.__setattr__(
            self, "flat", None if whole is None else whole + len(self.separator) * max(len(self.items) - 1, 0)
        )


def cat(*parts: Doc | str) -> Doc:
    """One after the other; strings are texts."""
    return Cat(tuple(Text(part) if isinstance(part, str) else part for part in parts))


def separated(parts: Iterable[Doc], separator: Doc) -> Doc:
    """The parts with a separator between."""
    out: list[Doc] = []
    for part in parts:
        out += [separator, part] if out else [part]
    return Cat(tuple(out))

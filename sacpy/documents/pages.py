"""The pages that come with the package: what messages mean (`errors.md`), and what the words of the language are for
(`language.md`).

In: a name, such as `E0506` or `with`. Out: its `Section`. Installed, the pages lie in the package; in a source tree
they are those of `docs/`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path

from sacpy.nodes import Node

PAGES = ("errors", "language")
_HEADING = re.compile(r"^## (.*)$", re.MULTILINE)
_CODE = re.compile(r"([EWN]0\d{3}): (.*)")


class Section(Node):
    """A section of a page: `names` that it is found by, its heading, its text in Markdown, and the line of the heading
    in the file, from 1."""

    page: str
    names: tuple[str, ...]
    title: str
    body: str
    line: int


def page(name: str) -> Path:
    """The file of a page."""
    package = Path(__file__).parents[1]
    installed = package / f"{name}.md"
    return installed if installed.is_file() else package.parent / "docs" / f"{name}.md"


@functools.cache
def sections(name: str) -> tuple[Section, ...]:
    """The sections of a page, in order. Raises `OSError` where the file is missing."""
    return tuple(_read(name, page(name).read_text(encoding="utf-8")))


def _read(name: str, text: str) -> Iterator[Section]:
    headings = [*_HEADING.finditer(text)]
    for heading, end in zip(headings, [*(h.start() for h in headings[1:]), len(text)]):
        code = _CODE.fullmatch(heading[1])
        names = (code[1],) if code else tuple(heading[1].split(", "))
        body = text[heading.end() : end].strip()
        yield Section(name, names, heading[1], body, text.count("\n", 0, heading.start()) + 1)


def section(name: str) -> Section | None:
    """What explains a code or a word; None where nothing does."""
    wanted = name.upper() if re.fullmatch(r"[eEwWnN]0?\d{3,4}", name) else name
    return next((s for p in PAGES for s in sections(p) if wanted in s.names), None)


def address(name: str) -> str | None:
    """Where an editor finds the section of a code: the file with its line. None where there is none."""
    try:
        found = section(name)
    except OSError:
        return None
    return None if found is None else f"{page(found.page).resolve().as_uri()}#L{found.line}"


__all__ = ["PAGES", "Section", "address", "page", "section", "sections"]

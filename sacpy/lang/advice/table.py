"""The table of what other languages write: `words.txt`, read.

In: the file. Out: `Row`s. A line at the margin is a pattern (see `patterns`) with the languages that write so behind
two blanks; the lines below it that begin with a blank say what SaC has:

- `=> SaC   use M`: what it becomes; `use M` is added where the module `M` is needed and not used yet. Of several the
  first that mends the program is proposed;
- `?> SaC`: the same, and the row counts only if that mends the program;
- `~> SaC`: what to write, shown and never proposed as a change;
- `-- words`: a remark.

A line that ends with a backslash goes on in the next one. `[section]` says where the rows below it are looked for:
`SECTIONS`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from pathlib import Path

from sacpy.lang.advice.patterns import Pattern, pattern
from sacpy.nodes import Node

FILE = Path(__file__).with_name("words.txt")
SECTIONS = ("functions", "arguments", "names", "members", "operators", "statements", "types", "modules")
_MARKS = {"=>": "change", "?>": "sure", "~>": "shown"}


class Template(Node):
    """`kind`: "change", "sure" or "shown"; `module`: that it needs, or ""."""

    text: str
    kind: str
    module: str = ""


class Row(Node):
    """What some languages write, and what SaC has for it. `word`: what the pattern is known by."""

    section: str
    pattern: Pattern
    languages: tuple[str, ...]
    templates: tuple[Template, ...]
    remark: str

    @property
    def word(self) -> str:
        """The first word of the pattern; where it has none, its first sign."""
        own = [item for item in self.pattern.items if isinstance(item, str)]
        return next((w for w in own if w[0].isalpha() or w[0] == "_"), own[0] if own else "")

    @property
    def sure_only(self) -> bool:
        """Whether the row counts only if its change mends the program."""
        return all(t.kind == "sure" for t in self.templates)


@functools.cache
def rows() -> tuple[Row, ...]:
    """The whole table, in order."""
    return tuple(read(FILE.read_text(encoding="utf-8")))


@functools.cache
def known_words() -> dict[str, Row]:
    """Functions and names of other languages, each with its first row."""
    found: dict[str, Row] = {}
    for row in rows():
        if row.section in ("functions", "names"):
            found.setdefault(row.word, row)
    return found


def read(text: str) -> Sequence[Row]:
    """The rows of a table. Raises `ValueError` for a line that is none of these."""
    made: list[Row] = []
    section = ""
    patterns: list[tuple[Pattern, tuple[str, ...]]] = []
    templates: list[Template] = []
    remark = ""
    for line in (*re.sub(r"\\\n *", "", text).split("\n"), ""):
        if not line.strip():
            made += [Row(section, p, languages, tuple(templates), remark) for p, languages in patterns]
            patterns, templates, remark = [], [], ""
        elif line[0] == "[" and line.strip("[]") in SECTIONS:
            section = line.strip("[]")
        elif line[0] != " ":
            if line.startswith("# ") and not line.startswith("# .."):
                continue
            written, _, languages = line.partition("  ")
            if not languages.strip() or templates:
                raise ValueError(f"not a row of the table: {line}")
            patterns.append((pattern(written), tuple(w.strip() for w in languages.split(","))))
        else:
            mark, _, rest = line.strip().partition(" ")
            if mark == "--":
                remark = rest
            elif mark in _MARKS:
                text_, _, module = rest.partition("   ")
                templates.append(Template(text_.strip(), _MARKS[mark], module.strip().removeprefix("use ")))
            else:
                raise ValueError(f"not a row of the table: {line}")
    return made

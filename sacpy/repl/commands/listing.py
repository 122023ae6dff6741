"""Lists of words with what they mean, on pages of any width.

In: rows, and the columns of the page. Out: lines; the meanings stand in a column of their own, wrapped within it; on a
narrow page below their words.
"""

from __future__ import annotations

from collections.abc import Iterable
from re import match
from textwrap import wrap

NARROWEST = 24  # columns for the meanings; with fewer they stand below
INDENT = 4


def listing(rows: Iterable[tuple[str, str]], columns: int) -> str:
    """The rows, word and meaning."""
    found = list(rows)
    margin = max((len(word) for word, _ in found), default=0) + 2
    lines: list[str] = []
    for word, meaning in found:
        if columns - margin < NARROWEST:
            lines += [
                *wrap(word, columns, subsequent_indent=" " * INDENT),
                *wrap(meaning, columns, initial_indent=" " * INDENT, subsequent_indent=" " * INDENT),
            ]
        else:
            first, *rest = wrap(meaning, columns - margin) or [""]
            lines += [f"{word:<{margin}}{first}".rstrip(), *(" " * margin + line for line in rest)]
    return "\n".join(lines)


def paragraphs(text: str, columns: int) -> str:
    """A text with its lines wrapped."""
    return "\n".join("\n".join(wrap(line, columns)) for line in text.split("\n"))


def flowed(text: str, columns: int) -> str:
    """A text whose long lines are broken between words; what follows stands below where a line begins, of a list below
    its second column."""
    return "\n".join("\n".join(_broken(line, columns)) if len(line) > columns else line for line in text.split("\n"))


def _broken(line: str, columns: int) -> list[str]:
    row = match(r" *\S+ {2,}", line)
    margin = row.end() if row is not None else len(line) - len(line.lstrip())
    return wrap(line, columns, subsequent_indent=" " * (margin if columns - margin >= NARROWEST else INDENT))

"""What an editor can fold: functions, blocks, with-loops, comments, runs of `use` lines, parts of `#if`.

In: an `Analysis`. Out: `Fold`s, by lines from 0. A fold's first line stays on the screen.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sacpy.lang import ast
from sacpy.lang.scanner import scan
from sacpy.lsp.analysis import Analysis


class Fold(NamedTuple):
    """`kind`: "", "comment", "imports" or "region"."""

    first: int
    last: int
    kind: str = ""


def folds(analysis: Analysis) -> list[Fold]:
    """All folds of more than one line, the longest first where several begin on a line."""
    found = {*_braces(analysis), *_comments(analysis), *_uses(analysis), *_conditions(analysis)}
    longest: dict[int, Fold] = {}
    for fold in found:
        if fold.last > fold.first and (fold.first not in longest or fold.last > longest[fold.first].last):
            longest[fold.first] = fold
    return sorted(longest.values())


def _braces(analysis: Analysis) -> Iterator[Fold]:
    """Stretches between braces; that of a function from its head on. The line of the closing brace stays."""
    heads: dict[int, int] = {}
    for d in analysis.module.definitions:
        if isinstance(d, ast.FunDef) and d.span.source is analysis.source:
            at = analysis.source.text.find("{", d.name_span.end, d.span.end)
            if at >= 0:
                heads[at] = d.name_span.line - 1
    opened: list[int] = []
    position = analysis.source.position
    for token in analysis.tokens.tokens:
        if token.span.source is not analysis.source or token.span.macro is not None or token.kind != "op":
            continue
        if token.text == "{":
            opened.append(token.span.start)
        elif token.text == "}" and opened:
            start = opened.pop()
            first = heads.get(start, position(start)[0] - 1)
            last = position(token.span.start)[0] - 1
            yield Fold(first, last - 1 if last - 1 > first else last)


def _comments(analysis: Analysis) -> Iterator[Fold]:
    """Comments of several lines, and lines that are nothing but comments."""
    position = analysis.source.position
    text = analysis.source.text
    alone: list[int] = []
    for start, comment in analysis.tokens.trivia:
        first, last = position(start)[0] - 1, position(start + len(comment))[0] - 1
        if last > first:
            yield Fold(first, last, "comment")
        elif comment.startswith("//") and not text[text.rfind("\n", 0, start) + 1 : start].strip():
            alone.append(first)
    yield from (Fold(a, b, "comment") for a, b in _runs(alone))


def _uses(analysis: Analysis) -> Iterator[Fold]:
    lines = [
        d.span.line - 1
        for d in analysis.module.definitions
        if isinstance(d, ast.Interface) and d.span.source is analysis.source
    ]
    yield from (Fold(a, b, "imports") for a, b in _runs(lines))


def _conditions(analysis: Analysis) -> Iterator[Fold]:
    """From an `#if` to its `#else`, and from that to `#endif`."""
    opened: list[int] = []
    for token in scan(analysis.source).tokens:
        word = token.text.split(maxsplit=1)[0] if token.kind == "directive" and token.text.strip() else ""
        line = token.span.line - 1
        if word in ("else", "elif", "elifdef", "elifndef", "endif") and opened:
            yield Fold(opened.pop(), line - 1, "region")
        if word.startswith(("if", "el")):
            opened.append(line)


def _runs(lines: list[int]) -> Iterator[tuple[int, int]]:
    """The first and last of lines that follow one another."""
    lines = sorted(set(lines))
    starts = [a for a in lines if a - 1 not in set(lines)]
    ends = [a for a in lines if a + 1 not in set(lines)]
    yield from zip(starts, ends)

"""Whether two texts are the same program: the same tokens before preprocessing and after it, the same comments.

In: two sources. Out: where they first differ, or None. `__LINE__` may change, as the lines do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

from sacpy.lang.formatter.pieces import read
from sacpy.lang.preprocessor import tokenize
from sacpy.lang.source import Source
from sacpy.lang.tokens import Token

_Item = tuple[str, int]


def difference(old: Source, new: Source, operators: Collection[str], defines: Mapping[str, str], include_path: Sequence[Path]) -> int | None:
    """The offset in the old text of the first thing that is another in the new one."""
    for view in (_tokens, _remarks):
        place = _first(view(old, operators), view(new, operators))
        if place is not None:
            return place
    left, right = (tokenize(source, defines=defines, include_path=include_path, operators=operators).tokens for source in (old, new))
    return _first(map(_preprocessed, left), map(_preprocessed, right))


def _first(old: Iterable[_Item], new: Iterable[_Item]) -> int | None:
    last = 0
    for a, b in zip_longest(old, new):
        if a is None or b is None or a[0] != b[0]:
            return a[1] if a is not None else last
        last = a[1]
    return None


def _tokens(source: Source, operators: Collection[str]) -> list[_Item]:
    return [(f"{piece.kind} {piece.text}", piece.start) for piece in read(source, operators).items if piece.kind != "end"]


def _remarks(source: Source, operators: Collection[str]) -> list[_Item]:
    """Comments and directives in their order; those behind a comma or semicolon count as before it."""
    found = [remark for piece in read(source, operators).items for remark in (*piece.before, *piece.after)]
    return [(f"{r.kind} {' '.join(r.text.split())}", r.start) for r in sorted(found, key=lambda r: r.start)]


def _preprocessed(token: Token) -> _Item:
    text = token.text
    span = token.span
    if token.kind == "number" and "__LINE__" in (span.text, span.macro.text if span.macro else ""):
        text = "__LINE__"
    return f"{token.kind} {' '.join(text.split()) if token.kind == 'pragma' else text}", span.start

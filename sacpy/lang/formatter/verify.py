"""Whether two texts are the same program: the same tokens before preprocessing and after it, the same comments.

In: the pieces of two texts and their preprocessed tokens. Out: where they first differ, or None. `__LINE__` may change,
as the lines do.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest

from sacpy.lang.formatter.pieces import Pieces
from sacpy.lang.tokens import Token, Tokens

_Item = tuple[str, int]


def difference(old: Pieces, new: Pieces, old_tokens: Tokens, new_tokens: Tokens) -> int | None:
    """The offset in the old text of the first thing that is another in the new one."""
    for a, b in (
        (_written(old), _written(new)),
        (_remarks(old), _remarks(new)),
        (map(_preprocessed, old_tokens.tokens), map(_preprocessed, new_tokens.tokens)),
    ):
        place = _first(a, b)
        if place is not None:
            return place
    return None


def _first(old: Iterable[_Item], new: Iterable[_Item]) -> int | None:
    last = 0
    for a, b in zip_longest(old, new):
        if a is None or b is None or a[0] != b[0]:
            return a[1] if a is not None else last
        last = a[1]
    return None


def _written(pieces: Pieces) -> list[_Item]:
    return [(f"{piece.kind} {piece.text}", piece.start) for piece in pieces.items if piece.kind != "end"]


def _remarks(pieces: Pieces) -> list[_Item]:
    """Comments and directives in their order; those behind a comma or semicolon count as before it."""
    found = [remark for piece in pieces.items for remark in (*piece.before, *piece.after)]
    return [(f"{r.kind} {' '.join(r.text.split())}", r.start) for r in sorted(found, key=lambda r: r.start)]


def _preprocessed(token: Token) -> _Item:
    text, span = token.text, token.span
    if token.kind == "number" and "__LINE__" in (span.text, span.macro.text if span.macro else ""):
        text = "__LINE__"
    return f"{token.kind} {' '.join(text.split()) if token.kind == 'pragma' else text}", span.start

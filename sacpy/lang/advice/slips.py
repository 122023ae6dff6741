"""Misspelt words of the language.

In: a diagnostic about a statement or definition that nobody understands. Out: the change of its first word into the
nearest word of the language, to be tried: it counts only if it mends the program.
"""

from __future__ import annotations

import re

from sacpy.base.spelling import closest
from sacpy.lang.advice.foreign import Change, Meant
from sacpy.lang.advice.pieces import pieces
from sacpy.lang.diagnostics import Diagnostic, Edit
from sacpy.lang.source import Span
from sacpy.lang.vocabulary import RESERVED
from sacpy.nodes import replace

MISSPELT = "E0246"
_CODES = re.compile(r"E0(?:2|30[57]|310)")
_STARTS = frozenset((";", "{", "}", "(", ")", ",", "&"))


def misspelt(diagnostic: Diagnostic) -> Meant | None:
    """The diagnostic with the word that was meant. Words are looked for where statements, definitions and types begin,
    up to the place of the diagnostic."""
    span = diagnostic.span
    if not _CODES.match(diagnostic.code) or span.macro is not None or not span.source.text:
        return None
    there = "" if diagnostic.edit is None else diagnostic.edit.text
    if there.startswith("use ") or there.endswith(f"::{span.text}"):
        return None  # it is the name of something
    text = span.source.text
    low, high = text.rfind("\n", 0, span.start) + 1, max(span.end, span.start + 1)
    found = pieces(text, low, high)
    changes: list[tuple[Span, Change]] = []
    for i, piece in enumerate(found):
        if (
            piece.kind != "name"
            or piece.text in RESERVED
            or not (piece.opens_line or found[i - 1].text in _STARTS or found[i - 1].text in RESERVED)
        ):
            continue
        near = (
            closest(piece.text, RESERVED, 2)
            if len(piece.text) > 2
            else [w for w in RESERVED if sorted(w) == sorted(piece.text)]
        )
        where = Span(span.source, piece.start, piece.end)
        changes += [(where, Change(f"did you mean `{word}`?", Edit(where, word))) for word in near]
    if not changes:
        return None
    where = changes[0][0]
    mine = tuple(change for at, change in changes if at == where)
    made = replace(
        diagnostic,
        code=MISSPELT,
        message=f"`{where.text}` is no word of SaC",
        span=where,
        label="misspelt",
        labels=(),
        notes=(),
        help=mine[0].help,
        edit=None,
        incomplete=False,
    )
    return Meant(made, mine, True, where)

"""Tokens: what the lexer makes of preprocessed text and the parser reads."""

from __future__ import annotations

from dataclasses import dataclass

from sacpy.lang.source import Span


@dataclass(frozen=True, slots=True)
class Token:
    """`kind`: "name", "number" (value: (base type, value)), "char" (value: its code), "string" (value: the text with escapes resolved, a character per byte), "op" (operators and punctuation), "pragma" (value: the text behind `#pragma`), "end".
    `spaced`: white space or a comment stands before it. `doc`: the text of the comment right above, for definitions."""

    kind: str
    text: str
    span: Span
    value: object = None
    spaced: bool = False
    doc: str = ""

"""Tokens: what the lexer makes of preprocessed text and the parser reads."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from sacpy.lang.diagnostics import Diagnostic
from sacpy.lang.source import Span


class Token(NamedTuple):
    """`kind`: "name", "number" (value: (base type, value)), "char" (value: its code), "string" (value: the text with escapes resolved, a character per byte), "op" (operators and punctuation), "pragma" (value: the text behind `#pragma`), "end".
    `spaced`: white space or a comment stands before it. `doc`: the text of the comment right above, for definitions. A tuple because a large program has hundreds of thousands of them and tuples are made quickest."""

    kind: str
    text: str
    span: Span
    value: object = None
    spaced: bool = False
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Tokens:
    """What `tokenize` gives: the tokens, the last of them of kind "end"; what was wrong, in the order of the text; the comments of the main text by offset; the files that were included, each once."""

    tokens: list[Token]
    diagnostics: list[Diagnostic]
    trivia: tuple[tuple[int, str], ...] = ()
    included: tuple[Path, ...] = ()

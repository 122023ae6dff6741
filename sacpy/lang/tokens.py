"""Tokens: what the lexer makes of preprocessed text and the parser reads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sacpy.lang.diagnostics import Diagnostic
from sacpy.lang.source import Span
from sacpy.nodes import Node, field

if TYPE_CHECKING:
    from sacpy.lang.macro_definitions import Macro


class Token(NamedTuple):
    """`kind`: "name", "number" (value: (base type, value)), "char" (value: its code), "string" (value: the text with
    escapes resolved, a character per byte), "op" (operators and punctuation), "pragma" (value: a `Written`, the text
    behind `#pragma`), "end". `spaced`: white space or a comment stands before it. `doc`: the text of the comment right
    above, for definitions. A tuple because a large program has hundreds of thousands of them and tuples are made
    quickest."""

    kind: str
    text: str
    span: Span
    value: object = None
    spaced: bool = False
    doc: str = ""


class Written(Node):
    """The text of a pragma, with where in it each token starts and the token's span."""

    text: str
    words: tuple[tuple[int, Span], ...]

    def __str__(self) -> str:
        return self.text


class Tokens(Node):
    """What `tokenize` gives: the tokens, the last of them of kind "end"; what was wrong, in the order of the text; the
    comments of the main text by offset; the files that were included, each once; the macros that are defined at its
    end."""

    tokens: list[Token]
    diagnostics: list[Diagnostic]
    trivia: tuple[tuple[int, str], ...] = ()
    included: tuple[Path, ...] = ()
    macros: Mapping[str, Macro | None] = field(default_factory=dict)

"""Lexers for the site: SaC as the prompt colours it, sessions at the prompt, and the fences that are SaC under another
name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pygments.lexer import Lexer
from pygments.token import Error, Generic

from sacpy.repl.highlighting import SacLexer

Tokens = Iterator[tuple[int, Any, str]]


class Shown(SacLexer):
    """SaC in pages, where a mistake may be meant: it is marked, and no reason to complain."""

    name = "SaC in pages"
    aliases = ["sac", "gpu", "emulator"]  # noqa: RUF012

    def get_tokens_unprocessed(self, text: str | None = None, context: Any = None) -> Tokens:
        """Errors as what they are said to be."""
        for at, kind, value in super().get_tokens_unprocessed(text, context):
            yield at, Generic.Error if kind is Error else kind, value


class Session(Lexer):  # type: ignore[misc]
    """What was typed at the prompt, and what came of it."""

    name = "SaC session"
    aliases = ["sacpy", "sac-session"]  # noqa: RUF012
    prompt = re.compile(r"(?:>>>|\.\.\.|sac>|\.\.>) ?")

    def get_tokens_unprocessed(self, text: str) -> Tokens:
        """Lines behind a prompt are SaC, all others output."""
        at = 0
        for line in text.splitlines(keepends=True):
            found = self.prompt.match(line)
            if found is None:
                yield at, Generic.Output, line
            else:
                yield at, Generic.Prompt, found[0]
                for start, kind, value in Shown().get_tokens_unprocessed(line[found.end() :]):
                    yield at + found.end() + start, kind, value
            at += len(line)

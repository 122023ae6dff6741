"""What a command is.

In: the text behind a command's name. Out: text to show; or an `Outcome` where the command has shown by itself what
there was, or leaves the prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.source import Source, Span
from sacpy.repl.engine import Engine
from sacpy.repl.outcomes import Outcome

Arguments = Literal["", "file", "name", "expression", "setting", "word"]
Obey = Callable[[Engine, str], "str | Outcome"]


@dataclass(frozen=True, slots=True)
class Command:
    """`usage` such as ":type EXPR"; `summary` says in one line what it does; `arguments` what may stand behind the
    name, for completion; `obey` does it, and raises `SacError`; `details` are for `:help NAME`; `words` what may stand
    first behind the name besides, each with what it means."""

    usage: str
    summary: str
    arguments: Arguments
    obey: Obey
    aliases: tuple[str, ...] = ()
    details: str = ""
    words: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The word behind the colon."""
        return self.usage.partition(" ")[0].removeprefix(":")


def refused(code: str, message: str, text: str, label: str, help: str) -> SacError:
    """The error of a command, which points at the text behind its name."""
    span = Span(Source("<command>", text), 0, len(text))
    return SacError(Diagnostic(code, message, span, label, help=help))

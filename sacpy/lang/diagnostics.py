"""Diagnostics: what is wrong, where, why, and what to do about it.

A `Diagnostic` is data. `render_text` (carets) and `to_json` are renderers of it; the editor protocol will be another.
Codes: E01xx preprocessor and lexer, E02xx parser, E03xx names and modules, E04xx types and elaboration, E05xx shapes
and values found wrong before the program runs, E06xx run time, E07xx limits and command line, E09xx captured Python; W
likewise for warnings, N for notes. `docs/errors.md` has a section per code.
"""

from __future__ import annotations

from collections.abc import Iterable

from sacpy.lang.source import Span
from sacpy.nodes import Node


class Label(Node):
    """A secondary place with what it has to do with the matter ("first bound here")."""

    span: Span
    text: str


class Edit(Node):
    """A concrete change that mends the program: replace the text of `span` by `text`. `also`: what is to be changed
    elsewhere in the same source at once, such as a `use` line."""

    span: Span
    text: str
    also: tuple[Edit, ...] = ()

    @property
    def parts(self) -> list[Edit]:
        """All places of the change, in the order of the text."""
        return sorted((self, *self.also), key=lambda part: (part.span.start, part.span.end))

    def applied(self, text: str) -> str:
        """The text of the source, changed."""
        for part in reversed(self.parts):
            text = text[: part.span.start] + part.text + text[part.span.end :]
        return text


class Frame(Node):
    """One entry of a SaC call stack, innermost first."""

    function: str
    span: Span


class Diagnostic(Node):
    """One error, warning or note.

    `code` such as "E0213"; `message` one sentence that says what is wrong; `span` the primary place with its `label`;
    `labels` secondary places; `notes` further facts; `help` what to do; `edit` the change that does it; `stack` the SaC
    call stack of a run-time error; `incomplete` marks an error that more input could mend (a REPL asks for another
    line)."""

    code: str
    message: str
    span: Span
    label: str = ""
    labels: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: str = ""
    edit: Edit | None = None
    stack: tuple[Frame, ...] = ()
    incomplete: bool = False

    @property
    def severity(self) -> str:
        """ "error", "warning" or "note", from the code's letter."""
        return {"E": "error", "W": "warning", "N": "note"}[self.code[0]]


class SacError(Exception):
    """Raised with one or more diagnostics. `str()` is their text rendering."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__(*diagnostics)
        self.diagnostics: tuple[Diagnostic, ...] = diagnostics

    def __str__(self) -> str:
        return render_text(self.diagnostics)


def render_text(
    diagnostics: Iterable[Diagnostic], *, color: bool = False, width: int | None = None, wrap: bool = False
) -> str:
    """The diagnostics as text with carets, a blank line between them. `color`: with ANSI escapes. `width`: columns to
    fit source lines into, with `wrap` sentences too."""
    from sacpy.lang import render  # rendered late, and not at all in most runs

    return render.render_text(diagnostics, color=color, width=width, wrap=wrap)


def to_json(diagnostics: Iterable[Diagnostic]) -> str:
    """The diagnostics as a JSON array."""
    from sacpy.lang import render

    return render.to_json(diagnostics)

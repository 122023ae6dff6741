"""Messages about a command show the whole line.

In: a diagnostic about the text that a command was given, or a part of it, and the line. Out: the diagnostic, its places
in the line.
"""

from __future__ import annotations

from sacpy.lang.diagnostics import Diagnostic
from sacpy.lang.source import NOWHERE, Source, Span
from sacpy.nodes import replace

ABOUT_ALL = ("E0303", "E0735", "E0743", "E0761", "E0762", "E0783")
"""A file that cannot be read or written, a value that cannot be drawn: what stands behind the command."""
OWN = ("<command>", "<input>")  # how the text behind a command is called


def in_line(found: Diagnostic, line: str, rest: str) -> Diagnostic:
    """The same with its places moved into the line, in which `rest` stands last."""
    source, offset = Source("<input>", line), line.rfind(rest)
    if found.span is NOWHERE and found.code in ABOUT_ALL and rest:
        return replace(found, span=Span(source, offset, offset + len(rest)))

    def moved(span: Span) -> Span:
        text = span.source.text
        at = rest.rfind(text) if rest.endswith(text) else rest.find(text)
        if span.source.name not in OWN or at < 0:
            return span
        if not text:  # nothing stands behind the command: the command itself
            return replace(span, source=source, start=0, end=len(line))
        start = offset + at
        return replace(span, source=source, start=start + span.start, end=start + span.end)

    return replace(
        found,
        span=moved(found.span),
        labels=tuple(replace(label, span=moved(label.span)) for label in found.labels),
        stack=tuple(replace(frame, span=moved(frame.span)) for frame in found.stack),
        edit=replace(
            found.edit, span=moved(found.edit.span), also=tuple(replace(e, span=moved(e.span)) for e in found.edit.also)
        )
        if found.edit is not None
        else None,
    )

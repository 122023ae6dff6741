"""Diagnostics as editors show them, and the changes that mend what is wrong.

In: an `Analysis`. Out: diagnostics and code actions of the protocol.
"""

from __future__ import annotations

from lsprotocol import types as lsp

from sacpy.documents.pages import address
from sacpy.lang.diagnostics import Diagnostic
from sacpy.lang.source import Span
from sacpy.lsp.analysis import Analysis
from sacpy.lsp.documents import Documents

_SEVERITIES = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "note": lsp.DiagnosticSeverity.Information,
}


def problems(documents: Documents, analysis: Analysis) -> list[lsp.Diagnostic]:
    """What is wrong with a text. What is wrong elsewhere, in a module that it uses, stands at its first line with the
    place."""
    return [_problem(documents, analysis, d) for d in analysis.diagnostics]


def _problem(documents: Documents, analysis: Analysis, found: Diagnostic) -> lsp.Diagnostic:
    own = found.span.source is analysis.source
    text = [found.message if own else f"{found.message} (in {found.span.source.name}:{found.span.line})"]
    text += [f"note: {note}" for note in found.notes]
    text += [f"help: {found.help}"] if found.help else []
    places = [(label.span, label.text) for label in found.labels] + (
        [] if own else [(found.span, found.label or found.message)]
    )
    if found.span.macro is not None:
        places.append((found.span.macro, "in the definition of this macro"))
    related = [
        lsp.DiagnosticRelatedInformation(location, said)
        for span, said in places
        if (location := documents.location(span)) is not None
    ]
    where = _visible(found.span) if own else Span(analysis.source, 0, 0)
    link = address(found.code)
    return lsp.Diagnostic(
        documents.range(where),
        "\n".join(text),
        _SEVERITIES[found.severity],
        found.code,
        lsp.CodeDescription(link) if link is not None else None,
        source="sacpy",
        related_information=related,
    )


def _visible(span: Span) -> Span:
    """A span with something in it to underline."""
    if span.end > span.start or span.start >= len(span.source.text):
        return span
    return Span(span.source, span.start, span.start + 1)


def repairs(documents: Documents, uri: str, range_: lsp.Range) -> list[lsp.CodeAction]:
    """The changes that sacpy proposes for what is wrong in a range."""
    analysis = documents.analysis(uri)
    start, end = documents.offset(uri, range_.start), documents.offset(uri, range_.end)
    out = []
    for found in analysis.diagnostics:
        edit = found.edit
        if edit is None or edit.span.source is not analysis.source or found.span.source is not analysis.source:
            continue
        shown = _visible(found.span)
        if shown.start <= end and start <= shown.end:
            change = lsp.WorkspaceEdit({uri: [lsp.TextEdit(documents.range(e.span), e.text) for e in edit.parts]})
            out.append(
                lsp.CodeAction(
                    found.help or found.message,
                    lsp.CodeActionKind.QuickFix,
                    [_problem(documents, analysis, found)],
                    edit=change,
                    is_preferred=True,
                )
            )
    return out

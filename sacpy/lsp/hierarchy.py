"""Who calls a function, and whom it calls.

In: the open texts and a place, or a function that was found before. Out: items and calls of the protocol's call
hierarchy. Instances of a name that a call may take are told apart where their shapes do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from lsprotocol import types as lsp

from sacpy.lang import ast
from sacpy.lang.elaborate.functions import head_text
from sacpy.lang.elaborate.scope import Entry
from sacpy.lang.source import Span
from sacpy.lsp.analysis import Analysis
from sacpy.lsp.documents import Documents

Calls = dict[tuple[str, int], tuple[lsp.CallHierarchyItem, list[lsp.Range]]]


def prepare(documents: Documents, analysis: Analysis, offset: int) -> list[lsp.CallHierarchyItem]:
    """The functions that are named at a place: a definition, or those that a call may take."""
    here = analysis.at(offset)
    if here is None or here.symbol.kind != "function":
        return []
    if here.sets:
        own = (d for d in analysis.module.definitions if isinstance(d, ast.FunDef) and d.name_span == here.span)
        found = [_item(documents, d) for d in own]
    else:
        found = [_item(documents, e.definition) for e in analysis.entries(here.symbol, here.whole)]
    return [item for item in found if item is not None]


def incoming(documents: Documents, item: lsp.CallHierarchyItem) -> list[lsp.CallHierarchyIncomingCall]:
    """The functions that call one, in its text and those beside it, with the places."""
    found: Calls = {}
    wanted = _identity(item)
    for analysis in documents.related(item.uri, item.name):
        for function, span, called in _calls(analysis, item.name):
            if any(_place(e.definition) == wanted for e in called):
                _note(documents, found, function, span)
    return [lsp.CallHierarchyIncomingCall(caller, ranges) for caller, ranges in found.values()]


def outgoing(documents: Documents, item: lsp.CallHierarchyItem) -> list[lsp.CallHierarchyOutgoingCall]:
    """The functions that one calls, with the places."""
    found: Calls = {}
    analysis = documents.analysis(item.uri)
    wanted = _identity(item)
    for function, span, called in _calls(analysis, ""):
        if _place(function) == wanted:
            for entry in called:
                _note(documents, found, entry.definition, span)
    return [lsp.CallHierarchyOutgoingCall(callee, ranges) for callee, ranges in found.values()]


def _calls(analysis: Analysis, name: str) -> Iterator[tuple[ast.FunDef, Span, list[Entry]]]:
    """The calls of a text, of one name or of all: the function that they stand in, their place, what they may take."""
    for o in analysis.occurrences:
        if o.symbol.kind != "function" or o.sets or o.whole is None or (name and o.symbol.name != name):
            continue
        function = analysis.function_at(o.span.start)
        if function is not None and (name or o.span.text[:1].isidentifier()):
            yield function, o.span, analysis.entries(o.symbol, o.whole)


def _note(documents: Documents, found: Calls, function: ast.FunDef, span: Span) -> None:
    item = _item(documents, function)
    if item is not None:
        found.setdefault(_place(function), (item, []))[1].append(documents.range(span))


def _place(definition: ast.FunDef) -> tuple[str, int]:
    return str(Path(definition.name_span.source.name)), definition.name_span.start


def _identity(item: lsp.CallHierarchyItem) -> tuple[str, int]:
    data = item.data if isinstance(item.data, Mapping) else {}
    return str(data.get("file")), int(data.get("at", -1))


def _item(documents: Documents, definition: ast.FunDef) -> lsp.CallHierarchyItem | None:
    location = documents.location(definition.span)
    if location is None:
        return None
    file, at = _place(definition)
    return lsp.CallHierarchyItem(
        definition.name,
        lsp.SymbolKind.Function,
        location.uri,
        location.range,
        documents.range(definition.name_span),
        detail=head_text(definition),
        data={"file": file, "at": at},
    )

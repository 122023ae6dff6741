"""The protocol: an editor's questions, answered from `documents`.

In: requests and notifications of the Language Server Protocol, through pygls. Out: answers, and diagnostics a moment
after the last change.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from sacpy import __version__
from sacpy.lang import ast
from sacpy.lang.diagnostics import SacError
from sacpy.lang.elaborate.functions import head_text
from sacpy.lang.formatter import format_text
from sacpy.lang.printer import print_type
from sacpy.lang.source import Span
from sacpy.lsp import knowledge, shown
from sacpy.lsp.analysis import Analysis, Settings
from sacpy.lsp.completion import call_at, complete
from sacpy.lsp.documents import Documents, path_of
from sacpy.lsp.hints import hints
from sacpy.lsp.lenses import Runs
from sacpy.lsp.problems import problems, repairs
from sacpy.lsp.ranking import ranked
from sacpy.lsp.renaming import Refused, references, rename, renamed_at
from sacpy.lsp.symbols import Symbol
from sacpy.withloop.devices import DEVICES
from sacpy.withloop.strategies import STRATEGIES

PAUSE = 0.25  # seconds without a change before a text is checked
_KINDS = {
    "variable": lsp.CompletionItemKind.Variable,
    "function": lsp.CompletionItemKind.Function,
    "type": lsp.CompletionItemKind.Struct,
    "field": lsp.CompletionItemKind.Field,
    "module": lsp.CompletionItemKind.Module,
    "object": lsp.CompletionItemKind.Constant,
    "macro": lsp.CompletionItemKind.Constant,
    "keyword": lsp.CompletionItemKind.Keyword,
    "pragma": lsp.CompletionItemKind.Keyword,
}


class _Place(Protocol):
    """The parameters of a question about a place."""

    text_document: lsp.TextDocumentIdentifier
    position: lsp.Position


class SacServer(LanguageServer):
    """The server with its open texts. `strategy` and `device` are what mappings are shown for; an editor sets them with
    `initializationOptions`."""

    def __init__(self, settings: Settings) -> None:
        super().__init__("sacpy", __version__)
        self.documents = Documents(settings)
        self.strategy, self.device = "auto", "sm_90"
        self.waiting: dict[str, asyncio.TimerHandle] = {}
        self.runs: Runs | None = None

    def changed(self, uri: str) -> None:
        """Takes the present text, and checks it when there has been no change for a moment."""
        self.documents.codec = self.workspace.position_codec
        self.documents.update(uri, self.workspace.get_text_document(uri).source)
        self.cancel(uri)
        self.waiting[uri] = asyncio.get_running_loop().call_later(PAUSE, self.check, uri)

    def cancel(self, uri: str) -> None:
        """Gives up a check that is waiting."""
        timer = self.waiting.pop(uri, None)
        if timer is not None:
            timer.cancel()

    def check(self, uri: str) -> None:
        """Tells the editor what is wrong with a text."""
        self.cancel(uri)
        if uri in self.documents.open:
            version = self.workspace.get_text_document(uri).version
            found = problems(self.documents, self.documents.analysis(uri))
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, found, version))

    def place(self, params: _Place) -> tuple[Analysis, int]:
        """The text and the offset that a question is about."""
        uri = params.text_document.uri
        return self.documents.analysis(uri), self.documents.offset(uri, params.position)


def make_server(
    search: Sequence[Path] = (), include_path: Sequence[Path] = (), defines: Mapping[str, str] | None = None
) -> SacServer:
    """The server, ready to be started."""
    server = SacServer(Settings(search, include_path, defines or {}))
    _texts(server)
    _looking(server)
    _writing(server)
    _listing(server)
    shown.register(server)
    return server


def _texts(server: SacServer) -> None:
    """Opening, changing, closing."""

    @server.feature(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        options = params.initialization_options
        wanted = options if isinstance(options, Mapping) else {}
        if wanted.get("strategy") in STRATEGIES:
            server.strategy = wanted["strategy"]
        if wanted.get("device") in DEVICES:
            server.device = wanted["device"]

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        server.changed(params.text_document.uri)
        server.check(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        server.changed(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        for document in server.documents.open.values():  # they may use the file
            document.analysis = None
            server.check(document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        server.cancel(params.text_document.uri)
        server.documents.close(params.text_document.uri)
        server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(params.text_document.uri, []))


def _looking(server: SacServer) -> None:
    """What stands at a place, where it is defined and used."""
    documents = server.documents

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        found = knowledge.hover(*server.place(params))
        return (
            None
            if found is None
            else lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, found[0]), documents.range(found[1]))
        )

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def definition(params: lsp.DefinitionParams) -> list[lsp.Location]:
        found = (documents.location(span) for span in knowledge.definitions(*server.place(params)))
        return [location for location in found if location is not None]

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def uses(params: lsp.ReferenceParams) -> list[lsp.Location]:
        analysis, offset = server.place(params)
        here = analysis.at(offset)
        if here is None:
            return []
        spans = references(documents, params.text_document.uri, here.symbol, params.context.include_declaration)
        return [location for location in map(documents.location, spans) if location is not None]

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def highlight(params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
        analysis, offset = server.place(params)
        here = analysis.at(offset)
        if here is None:
            return []
        kinds = {True: lsp.DocumentHighlightKind.Write, False: lsp.DocumentHighlightKind.Read}
        return [lsp.DocumentHighlight(documents.range(o.span), kinds[o.sets]) for o in analysis.same(here.symbol)]

    @server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    def inlay(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        analysis = documents.analysis(params.text_document.uri)
        start, end = (documents.offset(params.text_document.uri, p) for p in (params.range.start, params.range.end))
        found = [h for h in hints(analysis, server.strategy, server.device) if start <= h.offset <= end]
        return [
            lsp.InlayHint(
                documents.position(analysis.source, h.offset),
                h.label,
                lsp.InlayHintKind.Type if h.kind == "type" else None,
                tooltip=h.tooltip or None,
                padding_left=h.kind != "type",
            )
            for h in found
        ]


def _writing(server: SacServer) -> None:
    """What helps while typing, and what changes the text."""
    documents = server.documents

    @server.feature(
        lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=[".", ":", "#"], resolve_provider=True)
    )
    def completion(params: lsp.CompletionParams) -> lsp.CompletionList:
        uri = params.text_document.uri
        offset = documents.offset(uri, params.position)
        analysis, before = documents.latest(uri), documents.open[uri].text[:offset]
        found = ranked(analysis, complete(analysis, before, offset), before, offset)
        items = [
            lsp.CompletionItem(
                c.text,
                kind=_KINDS[c.kind],
                detail=c.detail or None,
                sort_text=f"{i:05}",
                data={"uri": uri, "kind": c.kind},
            )
            for i, c in enumerate(found)
        ]
        return lsp.CompletionList(False, items)

    @server.feature(lsp.COMPLETION_ITEM_RESOLVE)
    def resolve(item: lsp.CompletionItem) -> lsp.CompletionItem:
        data = item.data if isinstance(item.data, Mapping) else {}
        analysis = documents.latest(data["uri"]) if data.get("uri") in documents.open else None
        if analysis is None:
            return item
        symbol = Symbol(data["kind"], item.label)
        text = ""
        if symbol.kind == "function":
            entries = analysis.entries(symbol)
            if entries:
                item.detail = head_text(entries[0].definition) + (
                    f"  and {len(entries) - 1} more" if len(entries) > 1 else ""
                )
                text = knowledge.functions_text(entries)
        elif symbol.kind == "module":
            text = knowledge.module_text(analysis, symbol.name)
        elif symbol.kind == "type":
            text = knowledge.type_text(analysis, symbol)
        item.documentation = lsp.MarkupContent(lsp.MarkupKind.Markdown, text) if text else None
        return item

    @server.feature(lsp.TEXT_DOCUMENT_SIGNATURE_HELP, lsp.SignatureHelpOptions(trigger_characters=["(", ","]))
    def signature(params: lsp.SignatureHelpParams) -> lsp.SignatureHelp | None:
        uri = params.text_document.uri
        call = call_at(documents.open[uri].text[: documents.offset(uri, params.position)])
        entries = documents.latest(uri).entries(Symbol("function", call.name, module=call.module)) if call else []
        if call is None or not entries:
            return None
        found = [
            lsp.SignatureInformation(
                knowledge.entry_head(e),
                lsp.MarkupContent(lsp.MarkupKind.Markdown, knowledge.documentation(e)),
                [lsp.ParameterInformation(p) for p in knowledge.parameters(e)],
            )
            for e in entries
        ]
        fits = [i for i, one in enumerate(found) if len(one.parameters or ()) > call.argument]
        return lsp.SignatureHelp(found, fits[0] if fits else 0, call.argument)

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def formatting(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
        uri = params.text_document.uri
        analysis = documents.analysis(uri)
        settings = documents.settings
        try:
            new = format_text(
                analysis.source.text, analysis.source.name, settings.include_path, settings.defines, settings.search
            )
        except SacError as error:
            first = error.diagnostics[0]
            server.window_show_message(
                lsp.ShowMessageParams(
                    lsp.MessageType.Warning, f"not formatted: {first.message} (line {first.span.line})"
                )
            )
            return []
        whole = Span(analysis.source, 0, len(analysis.source.text))
        return [lsp.TextEdit(documents.range(whole), new)] if new != analysis.source.text else []

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare(params: lsp.PrepareRenameParams) -> lsp.Range | None:
        try:
            return documents.range(renamed_at(*server.place(params)).span)
        except Refused:
            return None

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    def renaming(params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        analysis, offset = server.place(params)
        try:
            spans = rename(analysis, offset, params.new_name, documents.settings)
        except Refused as refused:
            server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Warning, f"not renamed: {refused}"))
            return None
        return lsp.WorkspaceEdit(
            {params.text_document.uri: [lsp.TextEdit(documents.range(span), params.new_name) for span in spans]}
        )

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix]))
    def actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        return repairs(documents, params.text_document.uri, params.range)


def _listing(server: SacServer) -> None:
    """The definitions of a text, and of all."""
    documents = server.documents

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def symbols(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        analysis = documents.analysis(params.text_document.uri)
        return [
            _symbol(documents, d)
            for d in analysis.module.definitions
            if not isinstance(d, ast.Interface) and d.span.source is analysis.source
        ]

    @server.feature(lsp.WORKSPACE_SYMBOL)
    def everywhere(params: lsp.WorkspaceSymbolParams) -> list[lsp.WorkspaceSymbol]:
        query = params.query.lower()
        homes = {path_of(uri).parent for uri in documents.open}
        opened = {d.path: uri for uri, d in documents.open.items()}
        files = {*opened, *(path for home in homes for path in home.glob("*.sac"))}
        found = []
        for path in sorted(files):
            analysis = documents.analysis(opened.get(path) or path.as_uri())
            for definition in analysis.module.definitions:
                if not isinstance(definition, ast.Interface) and query in definition.name.lower():
                    location = documents.location(_name_span(definition))
                    if location is not None:
                        found.append(
                            lsp.WorkspaceSymbol(
                                location, definition.name, _symbol_kind(definition), container_name=path.name
                            )
                        )
        return found


_Named = ast.FunDef | ast.TypeDef | ast.StructDef | ast.ObjDef


def _symbol(documents: Documents, definition: _Named) -> lsp.DocumentSymbol:
    whole = documents.range(definition.span)
    detail, children = None, None
    if isinstance(definition, ast.FunDef):
        detail = head_text(definition)
    elif isinstance(definition, ast.StructDef):
        children = [
            lsp.DocumentSymbol(
                name, lsp.SymbolKind.Field, documents.range(span), documents.range(span), print_type(type)
            )
            for type, name, span in definition.fields
        ]
    return lsp.DocumentSymbol(
        definition.name,
        _symbol_kind(definition),
        whole,
        documents.range(_name_span(definition)),
        detail,
        children=children,
    )


def _symbol_kind(definition: _Named) -> lsp.SymbolKind:
    match definition:
        case ast.FunDef():
            return lsp.SymbolKind.Function
        case ast.StructDef():
            return lsp.SymbolKind.Struct
        case ast.TypeDef():
            return lsp.SymbolKind.Class
    return lsp.SymbolKind.Object


def _name_span(definition: _Named) -> Span:
    """Where a definition's name stands."""
    if isinstance(definition, ast.FunDef):
        return definition.name_span
    span = definition.span
    text = span.text
    at = text.find(definition.name) if isinstance(definition, ast.StructDef) else text.rfind(definition.name)
    return Span(span.source, span.start + at, span.start + at + len(definition.name)) if at >= 0 else span

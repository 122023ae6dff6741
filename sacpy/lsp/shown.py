"""What an editor shows of a text as a whole: colours of names, folds, who calls whom, words to click above functions.

In: a `SacServer`. Out: nothing; the server answers these questions from then on.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from sacpy.lsp import coloring, hierarchy
from sacpy.lsp.documents import path_of
from sacpy.lsp.folding import folds
from sacpy.lsp.lenses import COMMANDS, Runs, lenses

if TYPE_CHECKING:
    from sacpy.lsp.server import SacServer

_KINDS = {
    "comment": lsp.FoldingRangeKind.Comment,
    "imports": lsp.FoldingRangeKind.Imports,
    "region": lsp.FoldingRangeKind.Region,
}


def register(server: SacServer) -> None:
    """Lets the server answer."""
    _shapes(server)
    _calls(server)
    _clicks(server)


def _shapes(server: SacServer) -> None:
    documents = server.documents
    legend = lsp.SemanticTokensLegend(coloring.KINDS, coloring.MODIFIERS)

    @server.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, legend)
    def colours(params: lsp.SemanticTokensParams) -> lsp.SemanticTokens:
        analysis = documents.analysis(params.text_document.uri)
        return lsp.SemanticTokens(coloring.encoded(documents, coloring.colored(analysis)))

    @server.feature(lsp.TEXT_DOCUMENT_FOLDING_RANGE)
    def folding(params: lsp.FoldingRangeParams) -> list[lsp.FoldingRange]:
        found = folds(documents.analysis(params.text_document.uri))
        return [lsp.FoldingRange(fold.first, fold.last, kind=_KINDS.get(fold.kind)) for fold in found]


def _calls(server: SacServer) -> None:
    documents = server.documents

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY)
    def prepare(params: lsp.CallHierarchyPrepareParams) -> list[lsp.CallHierarchyItem]:
        return hierarchy.prepare(documents, *server.place(params))

    @server.feature(lsp.CALL_HIERARCHY_INCOMING_CALLS)
    def incoming(params: lsp.CallHierarchyIncomingCallsParams) -> list[lsp.CallHierarchyIncomingCall]:
        return hierarchy.incoming(documents, params.item)

    @server.feature(lsp.CALL_HIERARCHY_OUTGOING_CALLS)
    def outgoing(params: lsp.CallHierarchyOutgoingCallsParams) -> list[lsp.CallHierarchyOutgoingCall]:
        return hierarchy.outgoing(documents, params.item)


def _clicks(server: SacServer) -> None:
    documents = server.documents

    def tell(line: str) -> None:
        server.window_log_message(lsp.LogMessageParams(lsp.MessageType.Log, line))

    def end(text: str, bad: bool) -> None:
        kind = lsp.MessageType.Error if bad else lsp.MessageType.Info
        server.window_show_message(lsp.ShowMessageParams(kind, text))

    runs = server.runs = Runs(documents.settings, tell, end)

    @server.feature(lsp.TEXT_DOCUMENT_CODE_LENS)
    def clickable(params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        uri = params.text_document.uri
        return [
            lsp.CodeLens(documents.range(one.span), lsp.Command(one.title, one.command, arguments=[uri, one.name]))
            for one in lenses(documents.analysis(uri))
        ]

    async def clicked(command: str, arguments: Sequence[str]) -> int | None:
        uri, name = arguments[0], arguments[1] if len(arguments) > 1 else ""
        path, opened = path_of(uri), documents.open.get(uri)
        if not path.is_file() or (opened is not None and opened.text != path.read_text("utf-8", "surrogateescape")):
            end(f"{path.name} has changes that are not saved: save it first", True)
            return None
        return await runs.start(command, path, name)

    def obeying(command: str) -> Callable[..., Awaitable[int | None]]:
        async def obey(*arguments: str) -> int | None:
            return await clicked(command, arguments)

        return obey

    for command in COMMANDS:
        server.command(command)(obeying(command))

    @server.feature(lsp.SHUTDOWN)
    def shutdown(_: None) -> None:
        runs.stop()

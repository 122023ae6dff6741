"""A language server as an editor starts it, one for each module of tests, and a program to ask it about."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types as lsp
from pytest_lsp import ClientServerConfig, LanguageClient

from tests.tools import ROOT

PROGRAM = """\
use Array: all;
use StdIO: all;
use Shapes: all;

#define SCALE(x) ((x) * 2.0)

struct Rod { double[.] heat; int age; };

/* The mean of both neighbours.
   >>> blur([1.0, 2.0, 3.0])
   [1.0, 2.0, 3.0] */
double[n] blur(double[n] v)
{
  return { [i] -> SCALE(v[i - 1] + v[i + 1]) | [1] <= [i] < [n - 1];
           [i] -> v[i] | [i] < [n] };
}

int main()
{
  m = genarray([64, 128], 1.0);
  total = with { ([0,0] <= iv < [64,128]) : m[iv]; } : fold(+, 0.0);
  rod = Rod{[1.0, 2.0, 3.0], 0};
  rod.heat = blur(rod.heat);
  edge = square(3);
  print(total + tod(edge) + rod.heat[0]);
  return 0;
}
"""
MODULE = "module Shapes;\nuse Array: all;\nexport all;\n/* x times x. */\nint square(int x) { return x * x; }\n"


class Editor:
    """A client with a folder of programs, and the questions that tests ask."""

    def __init__(self, client: LanguageClient, folder: Path) -> None:
        self.client, self.folder = client, folder
        self.opened = 0

    def open(self, text: str, name: str = "") -> str:
        """Opens a text; gives its URI."""
        self.opened += 1
        path = self.folder / (name or f"p{self.opened}.sac")
        path.write_text(text, encoding="utf-8")
        uri = path.as_uri()
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri, "sac", 1, text)))
        return uri

    def change(self, uri: str, text: str, version: int = 2) -> None:
        """Replaces a text as a whole."""
        change = lsp.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(
            lsp.DidChangeTextDocumentParams(lsp.VersionedTextDocumentIdentifier(version, uri), [change])
        )


def identify(uri: str) -> lsp.TextDocumentIdentifier:
    """A text as the protocol names it."""
    return lsp.TextDocumentIdentifier(uri)


def place(text: str, around: str, offset: int = 0) -> lsp.Position:
    """The position `offset` characters into the first occurrence of `around`."""
    at = text.index(around) + offset
    before = text[:at]
    return lsp.Position(before.count("\n"), len(before) - before.rfind("\n") - 1)


def texts(text: str, ranges: list[lsp.Range]) -> list[str]:
    """What stands in ranges of one line, each with its line number."""
    lines = text.split("\n")
    return [f"{r.start.line}: {lines[r.start.line][r.start.character : r.end.character]}" for r in ranges]


@pytest_lsp.fixture(scope="module", config=ClientServerConfig(server_command=[sys.executable, "-m", "sacpy", "lsp"]))
async def client(lsp_client: LanguageClient) -> AsyncIterator[None]:
    params = lsp.InitializeParams(
        capabilities=pytest_lsp.client_capabilities("visual-studio-code"), root_uri=ROOT.as_uri()
    )
    await lsp_client.initialize_session(params)
    yield
    await lsp_client.shutdown_session()


@pytest.fixture(scope="module")
def editor(client: LanguageClient, tmp_path_factory: pytest.TempPathFactory) -> Editor:
    folder = tmp_path_factory.mktemp("programs")
    (folder / "Shapes.sac").write_text(MODULE)
    return Editor(client, folder)

"""The open texts, each with what is known of it, and the way between offsets and an editor's positions.

In: texts as the editor has them. Out: `Document`s with their `Analysis`, made when first asked for. Files that are not
open are read from disk.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lsprotocol import types as lsp
from pygls import uris
from pygls.workspace import PositionCodec

from sacpy.lang.source import Source, Span
from sacpy.lsp.analysis import Analysis, Settings, analyse


@dataclass(slots=True)
class Document:
    """A text, its place, what is known of it, and `good`: the latest analysis that had a checked program."""

    uri: str
    path: Path
    text: str
    analysis: Analysis | None = None
    good: Analysis | None = None


@dataclass(slots=True)
class Documents:
    """All open texts. `codec` counts columns as the editor does."""

    settings: Settings
    codec: PositionCodec = field(default_factory=PositionCodec)
    open: dict[str, Document] = field(default_factory=dict)

    def update(self, uri: str, text: str) -> Document:
        """Takes a text that was opened or changed."""
        document = self.open.setdefault(uri, Document(uri, path_of(uri), text))
        if document.text != text:
            document.text, document.analysis = text, None
            for other in self.open.values():
                other.analysis = None  # it may use this one; what it uses is read from disk
        return document

    def close(self, uri: str) -> None:
        """Forgets a text."""
        self.open.pop(uri, None)

    def analysis(self, uri: str) -> Analysis:
        """What is known of a text as it is now."""
        document = self.open.get(uri)
        if document is None:
            path = path_of(uri)
            document = Document(uri, path, Source(str(path)).text)
        if document.analysis is None:
            document.analysis = analyse(document.text, document.path, self.settings)
            if document.analysis.program is not None:
                document.good = document.analysis
        return document.analysis

    def latest(self, uri: str) -> Analysis:
        """What is known of a text, perhaps as it was a moment ago: for completion, while the text makes no sense."""
        document = self.open.get(uri)
        if document is not None and document.analysis is None and document.good is not None:
            return document.good
        return self.analysis(uri)

    def related(self, uri: str, word: str) -> Iterator[Analysis]:
        """The text, and of the others that are open or stand beside it those that have a word."""
        yield self.analysis(uri)
        home = path_of(uri)
        pattern = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
        opened = {d.path: d for d in self.open.values()}
        for path in sorted({*opened, *home.parent.glob("*.sac")} - {home}):
            text = opened[path].text if path in opened else Source(str(path)).text
            if pattern.search(text):
                yield self.analysis(opened[path].uri if path in opened else path.as_uri())

    # ------------------------------------------------------------ positions

    def offset(self, uri: str, position: lsp.Position) -> int:
        """The offset of an editor's position."""
        text = self.open[uri].text if uri in self.open else self.analysis(uri).source.text
        lines = text.split("\n")
        if position.line >= len(lines):
            return len(text)
        line = lines[position.line]
        start = sum(len(one) + 1 for one in lines[: position.line])
        column = self.codec.position_from_client_units([line + "\n"], lsp.Position(0, position.character)).character
        return start + min(column, len(line))

    def position(self, source: Source, offset: int) -> lsp.Position:
        """An editor's position of an offset."""
        line, column = source.position(offset)
        before = source.text[offset - column + 1 : offset]
        return lsp.Position(line - 1, self.codec.client_num_units(before))

    def range(self, span: Span) -> lsp.Range:
        """An editor's range of a span."""
        return lsp.Range(self.position(span.source, span.start), self.position(span.source, max(span.end, span.start)))

    def location(self, span: Span) -> lsp.Location | None:
        """An editor's location of a span, None where it is in no file."""
        path = Path(span.source.name)
        if not path.is_absolute():
            path = Path.cwd() / path
        opened = next((d.uri for d in self.open.values() if d.path == path), None)
        if opened is None and not path.is_file():
            return None
        return lsp.Location(opened or path.as_uri(), self.range(span))


def path_of(uri: str) -> Path:
    """The file of a URI; texts that were never saved stand in the current folder."""
    path = uris.to_fs_path(uri) if uri.startswith("file:") else None
    return Path(path) if path else Path.cwd() / "untitled.sac"

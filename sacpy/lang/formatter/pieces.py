"""A text in pieces that lose nothing: tokens, with the comments, directives and pragmas between them.

In: a `Source`, and the operators that modules beside it define. Out: `Piece`s, the last of them of kind "end". Nothing
is expanded and nothing left out: what stands in the part of an `#if` that is not taken is there as well.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType

from sacpy.lang import pragmas
from sacpy.lang.macro_definitions import Macro
from sacpy.lang.operators import Cutter, defined
from sacpy.lang.scanner import scan, scan_line
from sacpy.lang.source import Source
from sacpy.lang.tokens import Token
from sacpy.nodes import Node, Record, field

OPENING = {"(": ")", "[": "]", "{": "}"}
_CLOSING = frozenset(OPENING.values())


class Remark(Node):
    """What stands between two tokens. `kind`: "line" or "block" (comments), "directive", "pragma". `alone`: nothing
    stands before it on its line, `last`: nothing behind it; `blank`: an empty line stands above it."""

    kind: str
    text: str
    start: int
    column: int
    alone: bool
    last: bool
    blank: bool


class Piece(Record):
    """A token. `before`: what stands above or right before it, `after`: what stands behind it on its line; `breaks`:
    whether a line break stands between it and the piece before; `blank`: an empty line is right above it; `match`: the
    number of the bracket that belongs to this one."""

    kind: str
    text: str
    start: int
    end: int
    before: list[Remark] = field(default_factory=list)
    after: list[Remark] = field(default_factory=list)
    breaks: bool = False
    blank: bool = False
    match: int = -1


class Pieces(Record):
    """The pieces of a text. `macros`: the names that it defines as macros; `quoting`: those that make strings of their
    arguments, where every blank counts; `uneven`: stretches of pieces whose brackets do not match, such as an `#if`
    whose parts open different ones."""

    source: Source
    cutter: Cutter
    items: list[Piece]
    macros: frozenset[str]
    quoting: frozenset[str]
    uneven: list[tuple[int, int]]


def read(
    source: Source, operators: Collection[str] = (), macros: Mapping[str, Macro | None] = MappingProxyType({})
) -> Pieces:
    """The pieces of a text. `macros`: those that hold at its end, of included files too."""
    scanned = scan(source)
    tokens = scanned.tokens
    cutter = Cutter(defined(token for token in tokens if token.kind != "directive") | set(operators))
    builder = _Builder(source, cutter, dict(scanned.trivia))
    builder.run(tokens)
    pieces = Pieces(
        source,
        cutter,
        builder.items,
        frozenset(builder.macros | set(macros)),
        frozenset(builder.quoting | _quoting(macros)),
        [],
    )
    pieces.uneven = _match(pieces.items)
    return pieces


def _quoting(macros: Mapping[str, Macro | None]) -> set[str]:
    """The macros that make strings of their arguments, themselves or through others."""
    found: set[str] = set()
    while True:
        more = {
            name
            for name, macro in macros.items()
            if macro is not None
            and macro.params is not None
            and any((t.text == "#" and t.kind == "op") or t.text in found for t in macro.body)
        }
        if more <= found:
            return found
        found |= more


class _Builder:
    def __init__(self, source: Source, cutter: Cutter, comments: dict[int, str]) -> None:
        self.source, self.cutter = source, cutter
        self.text = source.text
        self.comments = sorted(comments.items())
        self.next_comment = 0
        self.items: list[Piece] = []
        self.macros: set[str] = set()
        self.quoting: set[str] = set()
        self.waiting: list[Remark] = []
        # the end of what has been taken; a script's first line is no SaC
        self.at = self.text.find("\n") + 1 if self.text.startswith("#!") else 0

    def run(self, tokens: list[Token]) -> None:
        at = 0
        while at < len(tokens):
            token = tokens[at]
            self.take_comments(token.span.start)
            if token.kind == "directive":
                at = self.directive(tokens, at)
            elif token.text == "#" and at + 1 < len(tokens) and tokens[at + 1].text == "pragma":
                at = self.pragma([], tokens, at + 1, token.span.start)
            else:
                self.token(token)
                at += 1
        self.take_comments(len(self.text))
        self.add(Piece("end", "", len(self.text), len(self.text)))

    def token(self, token: Token) -> None:
        start, end = token.span.start, token.span.end
        if token.kind != "op" or end - start != len(token.text):
            self.add(Piece(token.kind, token.text, start, end))
            return
        for text in self.cutter.cut(token.text):
            self.add(Piece("op", text, start, start + len(text)))
            start += len(text)

    def directive(self, tokens: list[Token], at: int) -> int:
        """A whole directive; gives where to go on."""
        token = tokens[at]
        line = scan_line(token)
        if line and line[0].text == "pragma":
            whole = len(line) < 2 or line[1].text not in pragmas.MAPPING  # those may go on in the next lines
            return self.pragma(line, tokens, at + 1, token.span.start, whole)
        if line and line[0].text == "define" and len(line) > 1:
            self.macros.add(line[1].text)
            if any(t.text == "#" and t.kind == "op" for t in line[2:]):
                self.quoting.add(line[1].text)
        self.remark("directive", token.span.start, token.span.end)
        return at + 1

    def pragma(self, line: list[Token], tokens: list[Token], after: int, start: int, whole: bool = False) -> int:
        """A pragma: `line` is what of it has been read, from its first word on, and `tokens[after]` comes behind. What
        follows it on its line is left to the program. Gives where to go on."""
        _, taken = pragmas.read(line if whole else [*line, *tokens[after:]], 0, start, whole=whole)
        behind = after + max(taken - len(line), 0)
        end = line[taken - 1].span.end if taken <= len(line) else tokens[behind - 1].span.end
        self.remark("pragma", start, end)
        for token in line[taken:]:
            self.take_comments(token.span.start)
            self.token(token)
        return behind

    # ------------------------------------------------------------ collecting

    def take_comments(self, until: int) -> None:
        while self.next_comment < len(self.comments) and self.comments[self.next_comment][0] < until:
            start, text = self.comments[self.next_comment]
            self.next_comment += 1
            if start >= self.at:
                self.remark("line" if text.startswith("//") else "block", start, start + len(text))

    def remark(self, kind: str, start: int, end: int) -> None:
        gap = self.text[self.at : start]
        line_start = self.text.rfind("\n", 0, start) + 1
        line_end = self.text.find("\n", end)
        rest = self.text[end : line_end if line_end >= 0 else len(self.text)]
        text = self.text[start:end].rstrip()
        column = len(self.text[line_start:start].expandtabs(8))
        remark = Remark(
            kind, text, start, column, "\n" in gap or line_start >= self.at, not rest.strip(), _empty_line(gap)
        )
        if (
            kind in ("line", "block")
            and self.items
            and not remark.alone
            and not self.waiting
            and (remark.last or self._ends(end))
        ):
            self.items[-1].after.append(remark)
        else:
            self.waiting.append(remark)
        self.at = end

    def _ends(self, end: int) -> bool:
        """Whether what follows closes something, so that a comment before it belongs to the token that it stands
        behind."""
        return self.text[end:].lstrip()[:1] in {")", "]", "}", ",", ";"}

    def add(self, piece: Piece) -> None:
        gap = self.text[self.at : piece.start]
        piece.before, self.waiting = self.waiting, []
        piece.breaks = (
            "\n" in gap
            or any(r.alone or r.last for r in piece.before)
            or bool(self.items and any(r.last for r in self.items[-1].after))
        )
        piece.blank = _empty_line(gap)
        self.items.append(piece)
        self.at = piece.end


def _empty_line(gap: str) -> bool:
    return gap.count("\n") > 1


def _match(items: list[Piece]) -> list[tuple[int, int]]:
    """Joins brackets with their partners. Of an `#if` whose parts leave different brackets open, only the first part
    counts; gives the stretches of pieces from each such `#if` to its end, or from the first to the end of the text if
    brackets are left over all the same."""
    stack: list[int] = []
    # the piece behind the #if, the brackets open before it, those open behind its first part
    conditions: list[tuple[int, list[int], list[int] | None]] = []
    uneven: list[tuple[int, int]] = []
    stray = False
    for i, piece in enumerate(items):
        for word in _conditions(piece):
            if word.startswith("if"):
                conditions.append((i, list(stack), None))
            elif conditions:
                start, before, first = conditions.pop()
                if first is not None and first != stack:
                    uneven.append((start, i))
                first = list(stack) if first is None else first
                if word == "endif":
                    stack = first
                else:
                    stack = list(before)
                    conditions.append((start, before, first))
        if piece.kind == "bad":
            uneven.append((i, i + 1))
        elif piece.kind == "op" and piece.text in OPENING:
            stack.append(i)
        elif piece.kind == "op" and piece.text in _CLOSING:
            if stack and OPENING[items[stack[-1]].text] == piece.text:
                j = stack.pop()
                if items[j].match < 0:
                    items[j].match, piece.match = i, j
                else:  # closed in another part of an #if as well
                    uneven.append((j, i + 1))
            else:
                stray = True
    if stray or stack:
        uneven = [(min((lo for lo, _ in uneven), default=0), len(items) - 1)]
    return uneven


def _conditions(piece: Piece) -> Iterator[str]:
    for remark in piece.before:
        if remark.kind == "directive":
            word = remark.text[1:].split(maxsplit=1)[0] if remark.text[1:].split() else ""
            if word.startswith(("if", "el")) or word == "endif":
                yield word

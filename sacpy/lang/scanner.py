"""Text to preprocessing tokens: one regular expression reads all.

In: a `Source` (or a stretch of it). Out: a list of `Token`s that the preprocessor works on. They are as the parser will
see them except that

- a whole directive line is one token of kind "directive" (its text without the `#`),
- a run of operator characters is one "op" token (`+++^`, `=-`): where it is cut depends on the operators the program
  defines (see `operators`),
- numbers, characters and strings have no value yet, for only those that survive preprocessing must be right,
- what cannot be read is of kind "bad"; its `value` is "string", "char" or "comment".

A backslash at the end of a line joins it with the next before anything else is looked at, as in C; offsets are mapped
back.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from typing import NamedTuple

from sacpy.lang.source import Source, Span
from sacpy.lang.tokens import Token

# Before 3.11.5, Python goes wrong where a group is repeated possessively (`(..)*+`), so groups are atomic: `(?>(..)*)`.
_STRING = r'"[^"\\\n]*+(?>(?:\\.[^"\\\n]*+)*)"'
_CHAR = r"'[^'\\\n]*+(?>(?:\\.[^'\\\n]*+)*)'"
_COMMENT = r"/\*[^*]*+(?>(?:\*(?!/)[^*]*+)*)\*/|//[^\n]*+"
_NUMBER = r"""(?:0[xX](?:[0-9a-fA-F]*+\.?[0-9a-fA-F]*[pP][+-]?[0-9]+|[0-9a-fA-F]*+)
    |[0-9]++(?>(?:\.(?!\.)[0-9]*+)?)(?>(?:[eE][+-]?[0-9]++)?)|\.[0-9]++(?>(?:[eE][+-]?[0-9]++)?))[A-Za-z0-9_]*+"""
# Everything that is neither ASCII nor anything else may stand in an operator's name: what no operator takes is reported
# as a stray character later.
_RUN = r"""(?>(?:[^\t-\r "\#'(),./0-9;A-Z\[\]_a-z{}]++|/(?![*/])|\.(?![0-9]))+)"""
_REST = (
    rf"(?P<name>[A-Za-z_][A-Za-z0-9_]*+)|(?P<mark>[()\[\]{{}},;])|(?P<number>{_NUMBER})|(?P<run>{_RUN})"
    rf"|(?P<comment>{_COMMENT})|(?P<string>{_STRING})|(?P<char>{_CHAR})"
)
_BAD = r"""(?P<badstring>"[^\r\n]*+)|(?P<badchar>'[^\r\n]*+)|(?P<badcomment>/\*[\s\S]*+)"""
# A directive reaches to the end of its line; a comment that begins on it may reach further.
_DIRECTIVE = rf"""\#(?P<directive>(?>(?:[^"'/\n]++|{_COMMENT}|{_STRING}|{_CHAR}|/\*[\s\S]*+|[^\n])*))"""
_SPACE = r"[ \t\r\n\f\v]*+"

_TEXT = re.compile(f"{_SPACE}(?:{_REST}|{_DIRECTIVE}|{_BAD})", re.VERBOSE)
_CONTINUED = re.compile(r"\\[ \t]*\r?\n")

_NAME, _MARK, _NUMBER_, _OP, _COMMENT_, _STRING_, _CHAR_ = (
    _TEXT.groupindex[group] for group in ("name", "mark", "number", "run", "comment", "string", "char")
)
_PLAIN = {_NAME: "name", _MARK: "op", _NUMBER_: "number", _OP: "op", _STRING_: "string", _CHAR_: "char"}
_BEFORE_DOC = frozenset((";", "}"))
_DECORATION = re.compile(r"^[ \t]*(?:/\*+|//+|\*+(?!/))?[ \t]?")
_BADLY = {"badstring": "string", "badchar": "char", "badcomment": "comment"}


@functools.cache
def _line() -> re.Pattern[str]:
    """The expression for what stands in a directive; few programs need it, and to compile it takes a while."""
    return re.compile(rf"{_SPACE}(?:{_REST}|(?P<hash>\#\#?)|{_BAD})", re.VERBOSE)


class Scanned(NamedTuple):
    """The tokens of a text, and its comments by offset."""

    tokens: list[Token]
    trivia: list[tuple[int, str]]


class _Joined:
    """A text with its continued lines joined, and the way back to offsets of the source."""

    def __init__(self, text: str, base: int = 0) -> None:
        self._starts, self._origins = [0], [base]
        parts: list[str] = []
        last = length = 0
        for match in _CONTINUED.finditer(text):
            parts.append(text[last : match.start()])
            length += match.start() - last
            last = match.end()
            self._starts.append(length)
            self._origins.append(base + last)
        parts.append(text[last:])
        self.text = "".join(parts)

    def origin(self, offset: int) -> int:
        at = bisect_right(self._starts, offset) - 1
        return self._origins[at] + offset - self._starts[at]


class _Scanner:
    """Collects tokens and comments of one text."""

    def __init__(self, source: Source, text: str, joined: _Joined | None = None) -> None:
        self.source, self.text, self.joined = source, text, joined
        self.tokens: list[Token] = []
        self.trivia: list[tuple[int, str]] = []
        self._comments: list[tuple[int, int]] = []

    def span(self, start: int, end: int) -> Span:
        if self.joined is not None:
            start, end = self.joined.origin(start), self.joined.origin(end - 1) + 1
        return Span(self.source, start, end)

    def run(self, pattern: re.Pattern[str], at: int, end: int) -> _Scanner:
        source, text, tokens, joined, plain = self.source, self.text, self.tokens, self.joined, _PLAIN
        append, make = tokens.append, tuple.__new__
        last = at
        for match in pattern.finditer(text, at, end):
            group = match.lastindex or 0
            start, stop = match.span(group)
            kind = plain.get(group)
            if kind is not None:
                doc = self._doc(start) if self._comments else ""
                span = Span(source, start, stop) if joined is None else self.span(start, stop)
                append(make(Token, (kind, match[group], span, None, start != last, doc)))
            elif group == _COMMENT_:
                span = self.span(start, stop)
                self.trivia.append((span.start, span.text))
                if not tokens or (
                    (tokens[-1].text in _BEFORE_DOC or tokens[-1].kind == "directive")
                    and text.find("\n", last, start) >= 0
                ):
                    self._comments.append((start, stop))
                continue
            else:
                self._rare(str(match.lastgroup), match, start, stop, last)
            last = stop
        return self

    def _rare(self, group: str, match: re.Match[str], start: int, stop: int, last: int) -> None:
        """A directive, or something that cannot be read."""
        self._comments.clear()
        if group == "directive":
            if self.tokens and self.text.find("\n", last, start) < 0:
                self.run(_line(), start - 1, stop)  # a `#` within a line: a pragma, or a stray one
            else:
                self.tokens.append(Token("directive", match[group], self.span(start - 1, stop)))
        elif group == "hash":
            self.tokens.append(Token("op", match[group], self.span(start, stop), None, start != last))
        else:
            self.tokens.append(Token("bad", match[group], self.span(start, stop), _BADLY[group], start != last))

    def _doc(self, start: int) -> str:
        """The comments that stand right above a token that begins a line, without their marks."""
        comments, self._comments = self._comments, []
        lines: list[str] = []
        for begin, end in reversed(comments):
            if self.text.count("\n", end, start) > 1:
                break
            lines += [
                _DECORATION.sub("", line).rstrip()
                for line in reversed(self.text[begin:end].removesuffix("*/").split("\n"))
            ]
            start = begin
        return "\n".join(reversed(lines)).strip()


def scan(source: Source) -> Scanned:
    """The preprocessing tokens of a whole text."""
    text = source.text
    joined = _Joined(text) if _CONTINUED.search(text) else None
    if joined is not None:
        text = joined.text
    start = 1 if text.startswith("\ufeff") else 0
    if text.startswith("#!", start):  # an executable script
        start = text.find("\n") if "\n" in text else len(text)
    scanner = _Scanner(source, text, joined).run(_TEXT, start, len(text))
    return Scanned(scanner.tokens, scanner.trivia)


def scan_line(directive: Token) -> list[Token]:
    """The tokens of a directive behind its `#`; here `#` and `##` are tokens."""
    span = directive.span
    if _CONTINUED.search(span.text):
        joined = _Joined(span.text, span.start)
        return (
            _Scanner(span.source, joined.text, joined).run(_line(), joined.text.find("#") + 1, len(joined.text)).tokens
        )
    return _Scanner(span.source, span.source.text).run(_line(), span.start + 1, span.end).tokens


def scan_text(text: str) -> list[Token]:
    """The tokens of a text that stands in no file, such as two tokens pasted together."""
    return _Scanner(Source("<pasted>", text), text).run(_line(), 0, len(text)).tokens

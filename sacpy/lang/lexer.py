"""Preprocessed tokens to those the parser reads.

In: what the preprocessor lets through. Out: the same with runs of operator characters cut into operators, values on
numbers, characters and strings, adjacent strings joined, and a report of everything that cannot be read.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

from sacpy.lang import literals, pragmas
from sacpy.lang.diagnostics import Diagnostic, Edit
from sacpy.lang.operators import Cutter
from sacpy.lang.source import Span
from sacpy.lang.tokens import Token

_QUOTES = {"\u201c": '"', "\u201d": '"', "\u201e": '"', "\u2018": "'", "\u2019": "'", "\u2212": "-", "\u2013": "-",
    "\u00d7": "*", "\u2264": "<=", "\u2265": ">=", "\u2260": "!=", "\u00a0": " ", "\u200b": "",
    "\ufeff": ""}  # fmt: skip

_NO_TEXT = "bytes that are not UTF-8 text"

Report = Callable[[Diagnostic], None]


def finish(tokens: Sequence[Token], cutter: Cutter, report: Report, out: list[Token]) -> None:
    """Appends the tokens for the parser to `out`, without the one at the end."""
    _Finisher(tokens, cutter, report, out).run()


class _Finisher:
    def __init__(self, tokens: Sequence[Token], cutter: Cutter, report: Report, out: list[Token]) -> None:
        self._tokens, self._cutter, self._hear, self._out = tokens, cutter, report, out
        self._numbers: dict[str, tuple[str, int | float] | literals.Flaw] = {}
        self._no_text: set[int] = set()  # sources in which there were bytes that are no text

    def run(self) -> None:
        tokens, out = self._tokens, self._out
        known = (self._cutter.known | set("()[]{},;")) - {"#", "##"}
        append = out.append
        at, end = 0, len(tokens)
        while at < end:
            token = tokens[at]
            at += 1
            kind = token.kind
            if kind == "name" or (kind == "op" and token.text in known):
                append(token)
            elif kind == "number":
                self._number(token)
            elif kind == "op":
                at = self._operators(token, at)
            elif kind == "string":
                at = self._string(at - 1)
            elif kind == "char":
                code, flaws = literals.char(token.text)
                self._flaws(token, flaws)
                append(token._replace(value=code))
            elif kind == "painted":
                append(token._replace(kind="name"))
            elif kind == "bad":
                self._bad(token)
            else:
                append(token)

    def _number(self, token: Token) -> None:
        text = token.text
        found = self._numbers.get(text)
        if found is None:
            found = self._numbers[text] = literals.number(text)
        if isinstance(found, literals.Flaw):
            self._flaws(token, [found])
            found = ("int", 0)
        self._out.append(token._replace(value=found))

    def _string(self, at: int) -> int:
        """A string and those right behind it, joined."""
        first = self._tokens[at]
        parts: list[str] = []
        span = first.span
        while at < len(self._tokens) and self._tokens[at].kind == "string":
            token = self._tokens[at]
            text, flaws = literals.codes(token.text[1:-1])
            self._flaws(token, flaws)
            parts.append(text)
            span = span.to(token.span)
            at += 1
        self._out.append(first._replace(span=span, value="".join(parts)))
        return at

    def _operators(self, token: Token, at: int) -> int:
        """A run of operator characters; or a pragma within a line or out of a macro."""
        if token.text == "#" and at < len(self._tokens) and self._tokens[at].text == "pragma":
            pragma, after = pragmas.read(self._tokens, at, token.span.start)
            self._out.append(pragma)
            return after
        offset = 0
        exact = token.span.macro is None and token.span.end - token.span.start == len(token.text)
        spaced, doc = token.spaced, token.doc
        for piece in self._cutter.cut(token.text):
            start = token.span.start + offset
            span = Span(token.span.source, start, start + len(piece)) if exact else token.span
            if piece in self._cutter.known and piece not in ("#", "##"):
                self._out.append(Token("op", piece, span, None, spaced, doc))
                spaced, doc = False, ""
            else:
                self._stray(piece, span)
            offset += len(piece)
        return at

    def _report(self, found: Diagnostic) -> None:
        """Hands a diagnostic on, but for those about the rest of a file that turned out to be no text: one says it
        all."""
        source = id(found.span.source)
        if source not in self._no_text:
            self._hear(found)
            if found.message == _NO_TEXT:
                self._no_text.add(source)

    def _stray(self, text: str, span: Span) -> None:
        shown = text[:10]
        if any(0xDC80 <= ord(letter) <= 0xDCFF for letter in shown):
            help, what = "save the file as UTF-8 text", _NO_TEXT
        elif text[0] == "#":
            help, what = (
                "a directive stands on a line of its own; only `#pragma` may stand within one",
                f"stray `{text}`",
            )
        elif text[0].isalpha():
            help, what = (
                "names are made of the letters A to Z and a to z, digits and `_`",
                f"`{shown}` cannot stand in a name",
            )
        elif text[0].isprintable() and text[0].isascii():
            help, what = "remove it, or define an operator of this name", f"stray `{shown}`"
        else:
            name = unicodedata.name(text[0], f"code {ord(text[0])}").lower()
            help, what = "remove it", f"stray character (U+{ord(text[0]):04X}, {name})"
        meant = _QUOTES.get(text)
        if meant is not None:
            help = f"write `{meant}`" if meant.strip() else "write an ordinary blank" if meant else "remove it"
        mends = meant is not None and meant not in ("'", '"') and span.macro is None
        self._report(
            Diagnostic(
                "E0108",
                what,
                span,
                "belongs to no token",
                help=help,
                edit=Edit(span, meant) if meant is not None and mends else None,
            )
        )

    def _bad(self, token: Token) -> None:
        start = token.span
        if token.value == "comment":
            self._report(
                Diagnostic(
                    "E0101",
                    "this comment has no end",
                    Span(start.source, start.start, start.start + 2),
                    "opened here",
                    help="close it with `*/`",
                    incomplete=True,
                )
            )
        elif token.value == "string":
            self._report(
                Diagnostic(
                    "E0102",
                    "this string has no end on its line",
                    start,
                    "opened here",
                    help='close it with `"`; a long string is written as several side by side, a new line in it as '
                    "`\\n`",
                )
            )
        else:
            self._report(
                Diagnostic(
                    "E0103",
                    "this character literal has no end",
                    start,
                    "opened here",
                    help="close it with `'`; a string stands between double quotes",
                )
            )
            self._out.append(token._replace(kind="char", value=0))

    def _flaws(self, token: Token, flaws: Sequence[literals.Flaw]) -> None:
        for flaw in flaws:
            span = token.span
            edit = None
            if span.macro is None and span.end - span.start == len(token.text):
                edit = Edit(span, flaw.becomes) if flaw.becomes else None
                span = Span(
                    span.source, span.start + flaw.start, span.end if flaw.end is None else span.start + flaw.end
                )
            self._report(Diagnostic(flaw.code, flaw.message, span, flaw.label, help=flaw.help, edit=edit))

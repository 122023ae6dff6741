"""The formatter: one style for every program.

`format_text` takes a program's text and gives it laid out anew. It works on tokens and not on the tree, so that
comments, directives, macros and the parts that an `#if` leaves out are all kept; the tree serves as a check. What is
given back has been compared with what came in: the same tokens, before preprocessing and after, and the same comments
in the same order.

- `pieces`: the text in tokens, with comments and directives between them;
- `expressions`, `withloops` and `statements`: their layout, each built on the one before;
- `doc`: what layouts are made of; `render`: layouts fitted into lines;
- `verify`: the comparison.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from sacpy.lang.deep import Room
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.formatter.pieces import read
from sacpy.lang.formatter.render import render
from sacpy.lang.formatter.statements import FileLayout
from sacpy.lang.formatter.verify import difference
from sacpy.lang.modules import used_operators
from sacpy.lang.parser import parse_tokens
from sacpy.lang.preprocessor import tokenize
from sacpy.lang.source import Source, Span
from sacpy.lang.tokens import Tokens

WIDTH = 100
_FRAMES = 60_000  # of the layout for the deepest nesting that the parser takes


def format_text(
    text: str,
    name: str = "<text>",
    include_path: Sequence[Path] = (),
    defines: Mapping[str, str] | None = None,
    search: Sequence[Path] = (),
) -> str:
    """The program laid out anew; `name` is its file, beside which modules and included files are found. Raises
    `SacError` if it does not parse, or if its layout cannot be changed without changing what it means (E0719)."""
    newline = "\r\n" if "\r\n" in text else "\n"
    source = Source(name, text.replace("\r\n", "\n").removeprefix("\ufeff"))
    operators = used_operators(source, search)

    def preprocessed(source: Source) -> Tokens:
        return tokenize(source, defines=defines or {}, include_path=include_path, operators=operators)

    tokens = preprocessed(source)
    errors = [d for d in parse_tokens(tokens).diagnostics if d.severity == "error"]
    if errors:
        raise SacError(*errors)
    pieces = read(source, operators, tokens.macros)
    with Room(_FRAMES):
        out = _script(source.text) + render(FileLayout(pieces).file(), WIDTH)
    new = Source(name, out)
    changed = difference(pieces, read(new, operators), tokens, preprocessed(new))
    if changed is not None:
        span = Span(source, changed, changed)
        raise SacError(
            Diagnostic(
                "E0719",
                "this file cannot be laid out without changing what it means",
                span,
                "the first token that would change",
                help="see whether a macro here depends on line breaks or blanks",
            )
        )
    return out.replace("\n", newline)


def _script(text: str) -> str:
    """The first line of an executable script, which is no SaC, and the empty line below it if there is one."""
    if not text.startswith("#!"):
        return ""
    line, _, rest = text.partition("\n")
    return line.rstrip() + ("\n\n" if not rest.partition("\n")[0].strip() and rest.strip() else "\n")

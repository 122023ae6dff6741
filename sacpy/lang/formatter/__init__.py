"""The formatter: one style for every program.

`format_text` takes a program's text and gives it laid out anew. It works on tokens and not on the tree, so that comments, directives, macros and the parts that an `#if` leaves out are all kept; the tree serves as a check. What is given back has been compared with
what came in: the same tokens, before preprocessing and after, and the same comments in the same order.

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
from sacpy.lang.parser import parse_module
from sacpy.lang.preprocessor import tokenize
from sacpy.lang.source import Source, Span

WIDTH = 100
_FRAMES = 60_000  # of the layout for the deepest nesting that the parser takes


def format_text(text: str, name: str = "<text>", include_path: Sequence[Path] = (), defines: Mapping[str, str] | None = None, search: Sequence[Path] = ()) -> str:
    """The program laid out anew; `name` is its file, beside which modules and included files are found. Raises `SacError` if it does not parse, or if its layout cannot be changed without changing what it means (E0719)."""
    newline = "\r\n" if "\r\n" in text else "\n"
    plain = text.replace("\r\n", "\n")
    start, body = _opening(plain)
    source = Source(name, plain)
    operators = used_operators(source, search)
    parsed = parse_module(source, defines=defines or {}, include_path=tuple(include_path), operators=operators)
    errors = [d for d in parsed.diagnostics if d.severity == "error"]
    if errors:
        raise SacError(*errors)
    macros = tokenize(source, defines=defines or {}, include_path=tuple(include_path), operators=operators).macros
    pieces = read(Source(name, body), operators, macros)
    with Room(_FRAMES):
        out = start + render(FileLayout(pieces).file(), WIDTH)
    changed = difference(source, Source(name, out), operators, defines or {}, include_path)
    if changed is not None:
        span = Span(source, changed, changed)
        raise SacError(Diagnostic("E0719", "this file cannot be laid out without changing what it means", span, "the first token that would change", help="see whether a macro here depends on line breaks or blanks"))
    return out.replace("\n", newline)


def _opening(text: str) -> tuple[str, str]:
    """The line of an executable script, which is no SaC, and the text."""
    text = text.removeprefix("\ufeff")
    if text.startswith("#!"):
        line, _, rest = text.partition("\n")
        return line.rstrip() + "\n", rest
    return "", text

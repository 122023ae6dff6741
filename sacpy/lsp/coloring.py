"""What each name of a text is, for an editor's colours.

In: an `Analysis`. Out: semantic tokens as the protocol has them: five numbers for each name, its place counted from
the one before. Keywords and literals are left to the editor's grammar.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sacpy.lang import ast
from sacpy.lang.scanner import scan, scan_line
from sacpy.lang.source import Span
from sacpy.lsp.analysis import Analysis
from sacpy.lsp.documents import Documents
from sacpy.lsp.symbols import Occurrence, Symbol
from sacpy.nodes import Node, field_names

KINDS = ("namespace", "type", "parameter", "variable", "property", "function", "macro")
MODIFIERS = ("declaration", "modification", "readonly", "defaultLibrary")
_OF_SYMBOLS = {"module": "namespace", "type": "type", "field": "property", "object": "variable", "function": "function"}


class Colored(NamedTuple):
    """A name with its kind and modifiers."""

    span: Span
    kind: str
    modifiers: frozenset[str]


def colored(analysis: Analysis) -> list[Colored]:
    """The names of a text, in order."""
    macros = [Colored(span, "macro", frozenset()) for span in _macros(analysis)]
    taken = {c.span.start for c in macros}
    own = [o for o in analysis.occurrences if o.span.start not in taken and o.span.text[:1].isidentifier()]
    firsts: dict[Symbol, int] = {}
    for o in own:
        firsts.setdefault(o.symbol, o.span.start)
    indices = _index_names(analysis.module)
    names = [_name(analysis, o, firsts[o.symbol], indices) for o in own]
    return sorted((*macros, *names), key=lambda c: c.span.start)


def _name(analysis: Analysis, here: Occurrence, first: int, indices: set[int]) -> Colored:
    symbol = here.symbol
    modifiers = {"declaration"} if here.sets and symbol.kind != "variable" else set()
    if symbol.kind == "variable":
        modifiers |= {"declaration" if first == here.span.start else "modification"} if here.sets else set()
        modifiers |= {"readonly"} if first in indices else set()
        kind = "parameter" if _is_parameter(analysis, here) else "variable"
        return Colored(here.span, kind, frozenset(modifiers))
    if (
        symbol.kind == "function"
        and (entries := analysis.entries(symbol))
        and all(e.scope.info.library for e in entries)
    ):
        modifiers.add("defaultLibrary")
    return Colored(here.span, _OF_SYMBOLS[symbol.kind], frozenset(modifiers))


def _is_parameter(analysis: Analysis, here: Occurrence) -> bool:
    """Whether a variable is set in the head of its function."""
    function = analysis.function_at(here.symbol.owner)
    if function is None or here.symbol.owner != function.span.start:
        return False
    return any(p.name == here.symbol.name for p in function.params)


def _index_names(module: ast.Module) -> set[int]:
    """Where index names of with-loops and comprehensions are set; nothing can change them."""
    found: set[int] = set()
    waiting: list[object] = [module.definitions]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple):
            waiting += node
        elif isinstance(node, Node) and not isinstance(node, Span | ast.QName):
            if isinstance(node, ast.Generator):
                found.update(range(node.index_span.start, node.index_span.end))
            elif isinstance(node, ast.TensorPart):
                found.update(range(node.lhs_span.start, node.lhs_span.end))
            waiting += [getattr(node, name) for name in field_names(node)]
    return found


def _macros(analysis: Analysis) -> Iterator[Span]:
    """Where the text uses or defines a macro."""
    names = {name for name, macro in analysis.tokens.macros.items() if macro is not None}
    if not names:
        return
    for token in scan(analysis.source).tokens:
        if token.kind == "name" and token.text in names:
            yield token.span
        elif token.kind == "directive" and token.text:
            yield from (t.span for t in scan_line(token)[1:] if t.kind == "name" and t.text in names)


def encoded(documents: Documents, found: Sequence[Colored]) -> list[int]:
    """The names as numbers: lines and columns from the one before, length, kind, modifiers."""
    data: list[int] = []
    line = column = 0
    for one in found:
        start, end = (
            documents.position(one.span.source, one.span.start),
            documents.position(one.span.source, one.span.end),
        )
        if start.line != end.line:
            continue
        bits = sum(1 << MODIFIERS.index(m) for m in one.modifiers)
        same = start.line == line
        data += [
            start.line - line,
            start.character - column * same,
            end.character - start.character,
            KINDS.index(one.kind),
            bits,
        ]
        line, column = start.line, start.character
    return data

"""Where something is used, and giving it another name.

In: an `Analysis` and a place. Out: spans. A name is changed only where nothing can go wrong: in what one text alone can
see, and after the changed text has been read again, with the same names standing for the same things.
"""

from __future__ import annotations

import re
from pathlib import Path

from sacpy.lang.source import Span
from sacpy.lang.vocabulary import RESERVED
from sacpy.lsp.analysis import Analysis, Settings, analyse
from sacpy.lsp.documents import Documents
from sacpy.lsp.knowledge import type_definition
from sacpy.lsp.symbols import Occurrence, Symbol

_NAME = re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)


class Refused(Exception):
    """Why a name cannot be changed."""


def references(documents: Documents, uri: str, symbol: Symbol, with_definition: bool) -> list[Span]:
    """Where something is used: a variable in its text, anything else in the texts beside it too."""
    analysis = documents.analysis(uri)
    if symbol.kind == "variable":
        return [o.span for o in analysis.same(symbol) if with_definition or not o.sets]
    mine = _identity(analysis, symbol)
    spans = []
    for other in documents.related(uri, symbol.name):
        for o in other.occurrences:
            if (
                o.symbol.kind == symbol.kind
                and o.symbol.name == symbol.name
                and (with_definition or not o.sets)
                and _identity(other, o.symbol) & mine
            ):
                spans.append(o.span)
    return spans


def _identity(analysis: Analysis, symbol: Symbol) -> set[tuple[str, int]]:
    """Where what a name stands for is defined."""
    if symbol.kind == "function":
        spans = [e.definition.name_span for e in analysis.entries(symbol)]
        if not spans:
            return {(symbol.name, -1)}
        return {(str(Path(s.source.name)), s.start) for s in spans}
    if symbol.kind == "type":
        found = type_definition(analysis, symbol)
        return {(found.span.source.name, found.span.start)} if found is not None else {(symbol.name, -1)}
    return {(symbol.kind, 0)}


def renamed_at(analysis: Analysis, offset: int) -> Occurrence:
    """The name at a place. Raises `Refused` where it cannot be changed."""
    here = analysis.at(offset)
    if here is None:
        raise Refused("there is no name here")
    symbol = here.symbol
    if symbol.kind == "module" or symbol.module:
        raise Refused("it is defined in another file")
    own = [o for o in analysis.same(symbol) if o.sets]
    if symbol.kind != "variable":
        if analysis.module.kind != "program":
            raise Refused("other files may use it")
        definitions = [e.scope.info for e in analysis.entries(symbol)] if symbol.kind == "function" else []
        if not own or any(info is not analysis.scope.info for info in definitions if analysis.scope):
            raise Refused("it is defined in another file")
    if any(
        token.text == symbol.name
        for macro in analysis.tokens.macros.values()
        if macro is not None
        for token in macro.body
    ):
        raise Refused("a macro mentions it")
    if not _NAME.match(symbol.name):
        raise Refused("it is an operator")
    return here


def rename(analysis: Analysis, offset: int, new: str, settings: Settings) -> list[Span]:
    """The places to be changed. Raises `Refused` where the program would mean something else."""
    here = renamed_at(analysis, offset)
    old = here.symbol
    if not _NAME.match(new) or new in RESERVED or new == "_":
        raise Refused(f"{new} cannot be a name")
    if any(d.severity == "error" for d in analysis.found):
        raise Refused("the program has mistakes")
    spans = [o.span for o in analysis.same(old)]
    text = analysis.source.text
    for span in reversed(spans):
        text = text[: span.start] + new + text[span.end :]
    after = analyse(text, Path(analysis.source.name), settings)
    if any(d.severity == "error" for d in after.found):
        raise Refused(f"with the name {new} the program would have mistakes")
    names = [new if o.symbol == old else o.symbol.name for o in analysis.occurrences]
    if names != [o.symbol.name for o in after.occurrences] or _meanings(analysis, old.name) != _meanings(after, new):
        raise Refused(f"{new} means something else there")
    return spans


def _meanings(analysis: Analysis, name: str) -> list[tuple[object, ...]]:
    """Which names stand for the same thing, in order, with the functions that others than `name` may be."""
    numbers: dict[Symbol, int] = {}
    out: list[tuple[object, ...]] = []
    for o in analysis.occurrences:
        number = numbers.setdefault(o.symbol, len(numbers))
        functions = (
            tuple(e.qualified for e in analysis.entries(o.symbol))
            if o.symbol.kind == "function" and o.symbol.name != name
            else ()
        )
        out.append((o.symbol.kind, number, o.sets, functions))
    return out

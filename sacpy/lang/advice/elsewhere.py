"""Functions that are in other modules of the library than those that are used.

In: a diagnostic about a call that no instance takes, or about a function that is not there. Out: the lines that let the
program use the modules that have one of that name, to be tried: one counts only if it mends the program.
"""

from __future__ import annotations

import re

from sacpy.lang.advice.foreign import Change, Meant
from sacpy.lang.diagnostics import Diagnostic
from sacpy.lang.modules import Library, load_library
from sacpy.lang.suggest import USUAL, use_line

# calls whose arguments no instance takes, for their base types or their shapes; functions that are not there
_MESSAGES = {
    "E0403": re.compile(r"no instance of (\S+) takes"),
    "E0501": re.compile(r"(\S+) does not take"),
    "E0307": re.compile(r"there is no function (\w+)$"),
}
_MOST_TRIED = 3  # modules


def elsewhere(diagnostic: Diagnostic) -> Meant | None:
    """The diagnostic with the modules to be tried; None where no other one has such a function."""
    span, is_there = diagnostic.span, diagnostic.code != "E0307"
    said = _MESSAGES[diagnostic.code].match(diagnostic.message) if diagnostic.code in _MESSAGES else None
    if said is None or span.macro is not None or (is_there and diagnostic.edit is not None) or not span.source.text:
        return None
    name = said[1]
    library = load_library(None)
    used = set(re.findall(r"\b(?:use|import)\s+(\w+)\s*:\s*all\b", span.source.text))
    modules = [m for m in library if m not in used and _has(library, m, name)]
    modules.sort(key=lambda m: USUAL.index(m) if m in USUAL else len(USUAL))
    said_of = "{} has one that does: add 'use {}: all;'" if is_there else "it is in the library: add 'use {1}: all;'"
    changes = tuple(
        Change(said_of.format(module, module), use_line(span.source, module)) for module in modules[:_MOST_TRIED]
    )
    return Meant(diagnostic, changes, False, span) if changes else None


def _has(library: Library, module: str, name: str) -> bool:
    """Whether a module of the library has a function, or hands on one of another."""
    info = library.module(module)
    handed_on = (clause.module for clause in info.interfaces if clause.kind == "import" and clause.all)
    return name in info.functions or any(_has(library, other, name) for other in handed_on)

"""Functions that take other arguments in another module of the library.

In: a diagnostic about a call that no instance takes. Out: the lines that let the program use the modules that have more
of that name, to be tried: one counts only if it mends the program.
"""

from __future__ import annotations

import re

from sacpy.lang.advice.foreign import Change, Meant
from sacpy.lang.diagnostics import Diagnostic
from sacpy.lang.modules import load_library
from sacpy.lang.suggest import use_line

_CODES = ("E0403", "E0501")  # calls whose arguments no instance takes: their base types, their shapes
_CALL = re.compile(r"(\w+)\s*\(")
_MOST_TRIED = 3  # modules


def elsewhere(diagnostic: Diagnostic) -> Meant | None:
    """The diagnostic with the modules to be tried; None where no other one has such a function."""
    span = diagnostic.span
    called = _CALL.match(span.text) if diagnostic.code in _CODES and span.macro is None else None
    if called is None or diagnostic.edit is not None or not span.source.text:
        return None
    name = called[1]
    library = load_library(None)
    used = set(re.findall(r"\b(?:use|import)\s+(\w+)", span.source.text))
    modules = [m for m in library if m not in used and name in library.module(m).functions]
    changes = tuple(
        Change(f"{module} has one that does: add 'use {module}: all;'", use_line(span.source, module))
        for module in modules[:_MOST_TRIED]
    )
    return Meant(diagnostic, changes, False, span) if changes else None

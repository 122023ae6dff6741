"""What `:plot` and `:img` are asked for, whoever draws it: the prompt in characters, notebooks as graphics.

In: an engine, and the text behind the command. Out: arrays of numbers and the kind of diagram. Raises `SacError` (E0762) for what cannot be drawn.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.source import NOWHERE, Source, Span
from sacpy.repl.engine import Engine
from sacpy.repl.outcomes import Variable

Array = np.ndarray[Any, np.dtype[Any]]
Kind = Literal["lines", "hist", "heat"]
KINDS: dict[str, Kind] = {"lines": "lines", "line": "lines", "hist": "hist", "histogram": "hist", "heat": "heat", "heatmap": "heat"}
MOST_LINES = 6  # rows of a matrix that are drawn as lines
_TO_FILE = re.compile(r"(.*\S)\s+to\s+(\S+\.png)\s*;?", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Diagram:
    """An array with at least one element, of the rank that its kind wants."""

    kind: Kind
    array: Array
    variable: Variable
    expression: str


def diagrams(engine: Engine, text: str) -> list[Diagram]:
    """The values of `[KIND] EXPR`, each with its kind: the one that was named, or the one that shows most of it."""
    word, _, rest = text.partition(" ")
    kind, wanted = (KINDS[word], rest.strip()) if word in KINDS and rest.strip() and word not in engine.variables else (None, text)
    found = []
    for variable in shown_values(engine, wanted, ":plot"):
        array = _numbers(variable)
        chosen = kind or _suited(array)
        if chosen != "hist" and (array.ndim > 2 or (array.ndim == 1 and chosen == "heat")):
            raise _no_plot(f"{variable.type_text} cannot be drawn as {chosen}", "lines are drawn of vectors and matrices, heat maps of matrices, histograms of everything")
        found.append(Diagram(chosen, array, variable, wanted.rstrip("; ")))
    return found


def shown_values(engine: Engine, text: str, command: str) -> tuple[Variable, ...]:
    """The values of a command's expression, at least one. Raises `SacError`."""
    values = engine.values_of(text, command)
    if not values:
        span = Span(Source("<command>", text), 0, len(text))
        raise SacError(Diagnostic("E0762", f"{command} wants a value, and this has none", span, "has no value", help=f"write an expression that has one, as in {command} reshape([8, 8], iota(64))"))
    return values


def into_file(text: str) -> tuple[str, Path | None]:
    """An expression, and the file that stands behind it in `EXPR to FILE.png`."""
    match = _TO_FILE.fullmatch(text)
    return (match[1], Path(match[2])) if match else (text, None)


def _suited(array: Array) -> Kind:
    """The kind of diagram that shows most of an array."""
    few_long_rows = array.ndim == 2 and array.shape[0] <= MOST_LINES < array.shape[1]
    return "lines" if array.ndim == 1 or few_long_rows else "heat" if array.ndim == 2 else "hist"


def _numbers(variable: Variable) -> Array:
    value = variable.values[0] if variable.values else None
    if variable.type.is_struct or not isinstance(value, np.ndarray) or value.dtype.kind not in "buif" or variable.type.components[0].cell:
        raise _no_plot(f"{variable.type_text} cannot be plotted", "plots are drawn of arrays of numbers")
    if not value.size:
        raise _no_plot(f"{variable.type_text} has no elements to plot", "give it at least one")
    return value


def _no_plot(message: str, help: str) -> SacError:
    return SacError(Diagnostic("E0762", message, NOWHERE, help=help))

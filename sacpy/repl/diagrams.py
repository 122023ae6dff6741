"""What `:plot` and `:img` are asked for, whoever draws it: the prompt in characters, notebooks and files as graphics.

In: an engine, and the text behind the command. Out: `Diagram`s: numbers, and how they are to be drawn. Raises
`SacError`
(E0762) for what cannot be drawn.

    [lines | scatter | hist | heat] [logx | logy | loglog] EXPR {, EXPR} [over EXPR] [to FILE]
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.source import NOWHERE, Source, Span
from sacpy.repl.cursor import CLOSERS, OPENERS, pieces
from sacpy.repl.engine import Engine
from sacpy.repl.outcomes import Variable

Array = np.ndarray[Any, np.dtype[Any]]
Floats = np.ndarray[Any, np.dtype[np.float64]]
Kind = Literal["lines", "scatter", "hist", "heat"]
KINDS: dict[str, Kind] = {
    "lines": "lines", "line": "lines", "scatter": "scatter", "points": "scatter", "hist": "hist", "histogram": "hist",
    "heat": "heat", "heatmap": "heat",
}  # fmt: skip
LOGS = {"logx": (True, False), "logy": (False, True), "loglog": (True, True), "log": (False, True)}
OVER = "over"  # the word before the values of x
FEW_ROWS = 6  # of a matrix that is drawn as lines unless told otherwise
MOST_SERIES = 10  # in one diagram
COMPLEX = "ComplexBasics::complex"
_TO_FILE = re.compile(r"(.*\S)\s+to\s+(?:\"([^\"]+)\"|(\S+\.\w+))\s*;?", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Series:
    """Points, in their order: `x` and `y` have the same length."""

    label: str
    x: Floats
    y: Floats


@dataclass(frozen=True, slots=True)
class Diagram:
    """Lines or points have `series`, of which there is at least one; histograms and heat maps an `array` with at least
    one element, heat maps one of rank 2. `indexed`: x are indices; `note`: what is not drawn."""

    kind: Kind
    title: str
    about: str
    series: tuple[Series, ...] = ()
    array: Array | None = None
    log_x: bool = False
    log_y: bool = False
    indexed: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A value, and the expression that it comes from."""

    text: str
    variable: Variable

    @property
    def about(self) -> str:
        return self.variable.type_text


def diagrams(engine: Engine, text: str) -> list[Diagram]:
    """What is asked for. Values of one expression, or of several, that can share axes are drawn in one diagram."""
    kind, logs, rest = _words(engine, text)
    ys, x = _cut(engine, rest.rstrip().rstrip(";"))
    drawn = [_Drawn(y, v) for y in ys for v in shown_values(engine, y, ":plot")]
    over = None if x is None else _abscissae(_Drawn(x, shown_values(engine, x, ":plot")[0]))
    shared = kind in ("lines", "scatter") or (kind is None and (x is not None or any(logs) or _all_vectors(drawn)))
    if shared:
        title = ", ".join(ys) + (f" {OVER} {x}" if x is not None else "")
        return [_in_one(kind or "lines", drawn, over, title, logs)]
    if x is not None or any(logs):
        word = "values of x" if x is not None else "logarithms"
        raise _no_plot(f"a diagram of the kind {kind} has no {word}", "they are for lines and scatter")
    return [_alone(kind, d) for d in drawn]


def shown_values(engine: Engine, text: str, command: str) -> tuple[Variable, ...]:
    """The values of a command's expression, at least one. Raises `SacError`."""
    values = engine.values_of(text, command)
    if not values:
        span = Span(Source("<command>", text), 0, len(text))
        help = f"write an expression that has one, as in {command} reshape([8, 8], iota(64))"
        message = f"{command} wants a value, and this has none"
        raise SacError(Diagnostic("E0762", message, span, "has no value", help=help))
    return values


def into_file(text: str) -> tuple[str, Path | None]:
    """What is to be drawn, and the file that stands behind it: `EXPR to FILE.png`, `EXPR to "my file.svg"`."""
    match = _TO_FILE.fullmatch(text)
    return (match[1], Path(match[2] or match[3]).expanduser()) if match else (text, None)


# ---------------------------------------------------------------- the words


def _words(engine: Engine, text: str) -> tuple[Kind | None, tuple[bool, bool], str]:
    """The words in front of the first expression: the kind, whether x and y go by logarithms, and the rest. A word that
    is the name of a value, or has nothing behind it, is an expression."""
    kind: Kind | None = None
    logs = (False, False)
    while True:
        word, _, rest = text.partition(" ")
        if not rest.strip() or word in engine.variables:
            return kind, logs, text
        if word in KINDS:
            kind = KINDS[word]
        elif word in LOGS:
            logs = (logs[0] or LOGS[word][0], logs[1] or LOGS[word][1])
        else:
            return kind, logs, text
        text = rest.strip()


def _cut(engine: Engine, text: str) -> tuple[list[str], str | None]:
    """The expressions between commas, and the one behind `over`."""
    depth, start, x = 0, 0, None
    found: list[str] = []
    for piece in pieces(text):
        if piece.kind == "mark":
            depth += (piece.text in OPENERS) - (piece.text in CLOSERS)
        if depth == 0 and piece.text == "," and x is None:
            found.append(text[start : piece.start].strip())
            start = piece.start + 1
        elif depth == 0 and piece.kind == "name" and piece.text == OVER and OVER not in engine.variables and x is None:
            found.append(text[start : piece.start].strip())
            start = piece.start + len(OVER)
            x = ""
    last = text[start:].strip()
    return (found, last) if x is not None else ([*found, last], None)


# ---------------------------------------------------------------- the numbers


def _alone(kind: Kind | None, drawn: _Drawn) -> Diagram:
    """A value as the diagram that shows most of it, or of the kind that was named."""
    array = _numbers(drawn)
    kind = kind or _suited(array)
    if kind == "lines":
        return _in_one(kind, [drawn], None, drawn.text, (False, False))
    if kind == "heat" and array.ndim != 2:
        help = "lines are drawn of vectors and matrices, heat maps of matrices, histograms of everything"
        raise _no_plot(f"{drawn.about} cannot be drawn as {kind}", help)
    return Diagram(kind, drawn.text, drawn.about, array=array)


def _suited(array: Array) -> Kind:
    few_long_rows = array.ndim == 2 and array.shape[0] <= FEW_ROWS < array.shape[1]
    return "lines" if array.ndim == 1 or few_long_rows else "heat" if array.ndim == 2 else "hist"


def _all_vectors(drawn: Sequence[_Drawn]) -> bool:
    """Whether there are several values, all of them vectors."""
    values = [d.variable.values[0] if d.variable.values else None for d in drawn]
    return len(drawn) > 1 and all(isinstance(v, np.ndarray) and v.ndim == 1 for v in values)


def _in_one(kind: Kind, drawn: Sequence[_Drawn], over: _Abscissae, title: str, logs: tuple[bool, bool]) -> Diagram:
    """Lines or points of all values: a vector is one series, a matrix one for each row."""
    series: list[Series] = []
    count = 0
    planar = False
    for d in drawn:
        points = _points(d) if kind == "scatter" and over is None else None
        planar |= points is not None
        rows, more = ([Series(d.text, *points)], 1) if points is not None else _rows(d, over, kind)
        count += more
        series += rows[: MOST_SERIES - len(series)]
    note = f"the first {len(series)} of {count} rows" if count > len(series) else ""
    about = ", ".join(dict.fromkeys(d.about for d in drawn))
    indexed = over is None and not planar
    return Diagram(kind, title, about, tuple(series), None, *logs, indexed, note)


def _rows(drawn: _Drawn, over: _Abscissae, kind: Kind) -> tuple[list[Series], int]:
    """A vector, or the first rows of a matrix; and how many there are."""
    array = _numbers(drawn)
    if array.ndim > 2:
        help = "lines are drawn of vectors and matrices, heat maps of matrices, histograms of everything"
        raise _no_plot(f"{drawn.about} cannot be drawn as {kind}", help)
    length = array.shape[-1]
    x = np.arange(length, dtype=np.float64) if over is None else over[1]
    if len(x) != length:
        assert over is not None
        message = f"{drawn.about} has {length} values along its last axis, and {over[0]} behind {OVER} has {len(x)}"
        raise _no_plot(message, "give as many values of x as there are of y")
    rows = np.asarray(array[None] if array.ndim == 1 else array, np.float64)
    if array.ndim == 1:
        return [Series(drawn.text, x, rows[0])], 1
    return [Series(f"[{k}]", x, row) for k, row in enumerate(rows[:MOST_SERIES])], len(rows)


def _points(drawn: _Drawn) -> tuple[Floats, Floats] | None:
    """What are points by themselves: complex numbers, and a matrix of two columns."""
    value = drawn.variable.values[0] if drawn.variable.values else None
    is_complex = drawn.variable.type.key == COMPLEX and isinstance(value, np.ndarray) and value.ndim == 2
    array = value if is_complex else _numbers(drawn)
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.shape[1] != 2 or not len(array):
        return None
    return np.asarray(array[:, 0], np.float64), np.asarray(array[:, 1], np.float64)


_Abscissae = tuple[str, Floats] | None  # what the values of x are called, and they themselves


def _abscissae(drawn: _Drawn) -> tuple[str, Floats]:
    array = _numbers(drawn)
    if array.ndim != 1:
        raise _no_plot(f"{drawn.about} behind {OVER} is no vector", "the values of x are a vector of numbers")
    return drawn.about, np.asarray(array, np.float64)


def _numbers(drawn: _Drawn) -> Array:
    variable = drawn.variable
    value = variable.values[0] if variable.values else None
    cells = variable.type.is_struct or bool(variable.type.components[0].cell)
    if cells or not isinstance(value, np.ndarray) or value.dtype.kind not in "buif":
        raise _no_plot(f"{drawn.about} cannot be plotted", "plots are drawn of arrays of numbers")
    if not value.size:
        raise _no_plot(f"{drawn.about} has no elements to plot", "give it at least one")
    return value


def _no_plot(message: str, help: str) -> SacError:
    return SacError(Diagnostic("E0762", message, NOWHERE, help=help))

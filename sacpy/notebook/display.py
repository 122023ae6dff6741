"""How values look on a page: bundles of the same thing in several formats, of which the page takes the richest it knows.

In: variables, or the words behind `:img`, `:plot` and `:picture`. Out: `Bundle`s, MIME type -> text (pictures in base64), as Jupyter's messages want them. A display is a function from the engine and an argument to bundles; `DISPLAYS` lists those that have a command of their own, in the place of the prompt's commands of these names.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping

import numpy as np

from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.source import NOWHERE
from sacpy.notebook import plots
from sacpy.notebook.tables import Array, table
from sacpy.repl.engine import Engine, Variable
from sacpy.repl.pixels import image, looks_like_image

Bundle = Mapping[str, str]
PNG, SVG, HTML, PLAIN = "image/png", "image/svg+xml", "text/html", "text/plain"
KINDS: dict[str, Callable[[Array, str], str]] = {"lines": plots.lines, "line": plots.lines, "hist": plots.histogram, "histogram": plots.histogram, "heat": plots.heat_map, "heatmap": plots.heat_map}


def bundle(variable: Variable) -> Bundle:
    """A value: as the prompt shows it, and as a table, or as the picture that it is."""
    data = {PLAIN: variable.text}
    if looks_like_image(variable):
        return {PNG: _encoded(image(variable).png()), **data}
    html = table(variable.type, variable.values, variable.type_text)
    return data if html is None else {HTML: html, **data}


# ---------------------------------------------------------------- commands with pictures


def show_images(engine: Engine, text: str) -> list[Bundle]:
    """`:img EXPR`."""
    bundles: list[Bundle] = []
    for variable in _wanted(engine, text, ":img"):
        found = image(variable)
        note = f"{variable.type_text}{f'; {found.scale}' if found.scale else ''}"
        bundles.append({PNG: _encoded(found.png()), PLAIN: f"<picture of {note}>"})
    return bundles


def show_plots(engine: Engine, text: str) -> list[Bundle]:
    """`:plot [lines|hist|heat] EXPR`. Without a kind: a vector and a matrix of few rows as lines, other matrices as a heat map."""
    word, _, rest = text.partition(" ")
    kind, expression = (word, rest.strip()) if word in KINDS and rest.strip() and word not in engine.variables else ("", text)
    bundles: list[Bundle] = []
    for variable in _wanted(engine, expression, ":plot"):
        array = _numbers(variable)
        chosen = kind or ("lines" if array.ndim == 1 or array.shape[0] <= plots.MOST_LINES else "heat")
        if (KINDS[chosen] is plots.heat_map and array.ndim != 2) or (KINDS[chosen] is plots.lines and array.ndim > 2):
            raise _no_plot(f"{variable.type_text} cannot be drawn as {chosen}", "lines are drawn of vectors and matrices, heat maps of matrices, histograms of everything")
        title = f"{expression.rstrip('; ')}: {variable.type_text}"
        bundles.append({SVG: KINDS[chosen](array, title if len(title) <= 80 else variable.type_text), PLAIN: f"<plot of {variable.type_text}>"})
    return bundles


DISPLAYS: dict[str, Callable[[Engine, str], list[Bundle]]] = {"img": show_images, "plot": show_plots}


def _wanted(engine: Engine, text: str, command: str) -> tuple[Variable, ...]:
    if not text:
        raise _no_plot(f"{command} wants an expression", f"write it behind the word, as in {command} reshape([8, 8], tod(iota(64)))")
    return engine.values_of(text, command)


def _numbers(variable: Variable) -> Array:
    value = variable.values[0] if variable.values else None
    if variable.type.is_struct or not isinstance(value, np.ndarray) or value.dtype.kind not in "buif" or variable.type.components[0].cell:
        raise _no_plot(f"{variable.type_text} cannot be plotted", "plots are drawn of arrays of numbers")
    if not value.size:
        raise _no_plot(f"{variable.type_text} has no elements to plot", "give it at least one")
    return value


def _no_plot(message: str, help: str) -> SacError:
    return SacError(Diagnostic("E0762", message, NOWHERE, help=help))


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")

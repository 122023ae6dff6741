"""Diagrams as files: SVG and text by sacpy itself, everything else (PNG, PDF, ..) by matplotlib, if that is installed.

In: a `Diagram`, and a file whose ending says what it is to be. Out: the file. Raises `SacError` (E0735 without
matplotlib, E0743 where the file cannot be written, E0783 for endings that mean nothing).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sacpy.base.distribution import extra
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.source import NOWHERE
from sacpy.repl.diagrams import Diagram
from sacpy.repl.graphics import COLOURS, svg
from sacpy.repl.page import Page
from sacpy.repl.plots import drawn
from sacpy.repl.scales import usable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TEXT = Page(columns=100, lines=40)
ENDINGS = (".svg", ".txt", ".png", ".pdf", ".jpg", ".eps")
INCHES = (7.0, 4.2)


def write(diagram: Diagram, path: Path) -> None:
    """Writes a diagram to a file."""
    kind = path.suffix.lower()
    if kind not in ENDINGS:
        message = f"{path} does not say what kind of picture it is to be"
        help = f"give it a name that ends in one of {', '.join(ENDINGS)}"
        raise SacError(Diagnostic("E0783", message, NOWHERE, help=help))
    save: Callable[[], object]
    if kind == ".svg":
        save = lambda: path.write_text(svg(diagram) + "\n", encoding="utf-8")  # noqa: E731
    elif kind == ".txt":
        save = lambda: path.write_text(drawn(diagram, TEXT) + "\n", encoding="utf-8")  # noqa: E731
    else:
        figure = _figure(diagram)
        save = lambda: figure.savefig(path)  # noqa: E731
    try:
        save()
    except OSError as error:
        help = "choose another file: :plot EXPR to FILE.svg"
        raise SacError(Diagnostic("E0743", f"cannot write {path}: {error.strerror}", NOWHERE, help=help)) from None


def _figure(diagram: Diagram) -> Any:
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        message = f"a plot in such a file needs {error.name}, which is not installed"
        help = f"{extra('plot')}; or give the file a name that ends in .svg, which needs nothing"
        raise SacError(Diagnostic("E0735", message, NOWHERE, help=help)) from None
    figure = Figure(figsize=INCHES, dpi=150, layout="constrained")
    axes = figure.subplots()
    if diagram.array is None:
        _curves(axes, diagram)
    elif diagram.kind == "heat":
        shown = axes.imshow(np.ma.masked_invalid(np.asarray(diagram.array, np.float64)), aspect="equal")
        figure.colorbar(shown, ax=axes)
    else:
        values = np.asarray(diagram.array, np.float64).ravel()
        axes.hist(values[np.isfinite(values)], bins="auto", color=COLOURS[0])
    axes.set_title(", ".join(filter(None, [diagram.title, diagram.note])), fontsize="medium")
    return figure


def _curves(axes: Axes, diagram: Diagram) -> None:
    for series, colour in zip(diagram.series, COLOURS):
        kept = usable(series.x, diagram.log_x) & usable(series.y, diagram.log_y)
        y = np.where(kept, series.y, np.nan)
        if diagram.kind == "scatter":
            axes.scatter(series.x, y, s=9, color=colour, label=series.label)
        else:
            axes.plot(series.x, y, color=colour, label=series.label)
    if diagram.log_x:
        axes.set_xscale("log")
    if diagram.log_y:
        axes.set_yscale("log")
    axes.grid(alpha=0.3)
    if len(diagram.series) > 1:
        axes.legend()

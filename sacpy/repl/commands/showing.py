"""Commands that show values in other ways: SaC's own print, pictures, diagrams."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.source import NOWHERE
from sacpy.repl import images, plots
from sacpy.repl.commands.command import Command, refused
from sacpy.repl.engine import Engine
from sacpy.repl.outcomes import Outcome, Variable
from sacpy.repl.pixels import image
from sacpy.repl.settings import AUTO

Array = np.ndarray[Any, np.dtype[Any]]
KINDS = {"lines": plots.lines, "line": plots.lines, "hist": plots.histogram, "histogram": plots.histogram, "heat": plots.heat_map, "heatmap": plots.heat_map}
_TO_FILE = re.compile(r"(.*\S)\s+to\s+(\S+\.png)\s*;?", re.DOTALL | re.IGNORECASE)


def _print(engine: Engine, text: str) -> Outcome:
    """Runs `print(EXPR)`, which the library defines."""
    engine.expression(text, ":print")
    return engine.enter(f"print({text.rstrip().rstrip(';')});", f"<print {text}>")


# ---------------------------------------------------------------- pictures


def _img(engine: Engine, text: str) -> str:
    match = _TO_FILE.fullmatch(text)
    wanted, file = (match[1], Path(match[2])) if match else (text, None)
    return "\n".join(_picture(engine, variable, file) for variable in _values(engine, wanted, ":img"))


def _picture(engine: Engine, variable: Variable, file: Path | None) -> str:
    found = image(variable)
    height, width, _ = found.pixels.shape
    note = f"{variable.type_text}, {width} x {height}{f', {found.scale}' if found.scale else ''}"
    protocol = "file" if file is not None else _protocol(engine)
    if protocol == "file":
        file = _unused() if file is None else file
        try:
            file.write_bytes(found.png())
        except OSError as error:
            raise refused("E0743", f"cannot write {file}: {error.strerror}", str(file), "this file", "choose another file: :img EXPR to FILE.png") from None
        return f"{note}: written to {file}"
    return f"{images.as_text(found.pixels, protocol, engine.page)}\n{engine.page.faint(note)}"


def _protocol(engine: Engine) -> str:
    """How pictures are shown: as set, or what the terminal can do, which is asked once."""
    chosen = engine.settings["images"]
    if chosen != AUTO:
        return chosen
    if not engine.world.stdout.by_line:
        return "file"
    if engine.protocol is None:
        engine.protocol = images.protocol(os.environ, images.attributes)
    return engine.protocol


def _unused() -> Path:
    """A file name that is not taken."""
    number = 1
    while (path := Path(f"picture-{number}.png")).exists():
        number += 1
    return path


# ---------------------------------------------------------------- diagrams


def _plot(engine: Engine, text: str) -> str:
    word, _, rest = text.partition(" ")
    kind, wanted = (word, rest.strip()) if word in KINDS and rest.strip() and word not in engine.variables else ("", text)
    drawn = []
    for variable in _values(engine, wanted, ":plot"):
        array = _numbers(variable)
        chosen = kind or _suited(array)
        if KINDS[chosen] is not plots.histogram and (array.ndim > 2 or (array.ndim == 1 and KINDS[chosen] is plots.heat_map)):
            raise _no_plot(f"{variable.type_text} cannot be drawn as {chosen}", "lines are drawn of vectors and matrices, heat maps of matrices, histograms of everything")
        drawn.append(KINDS[chosen](array, engine.page))
    return "\n\n".join(drawn)


def _suited(array: Array) -> str:
    """The kind of diagram that shows most of an array."""
    few_long_rows = array.ndim == 2 and array.shape[0] <= plots.MOST_LINES < array.shape[1]
    return "lines" if array.ndim == 1 or few_long_rows else "heat" if array.ndim == 2 else "hist"


def _values(engine: Engine, text: str, command: str) -> tuple[Variable, ...]:
    values = engine.values_of(text, command)
    if not values:
        raise refused("E0762", f"{command} wants a value, and this has none", text, "has no value", f"write an expression that has one, as in {command} reshape([8, 8], iota(64))")
    return values


def _numbers(variable: Variable) -> Array:
    value = variable.values[0] if variable.values else None
    if variable.type.is_struct or not isinstance(value, np.ndarray) or value.dtype.kind not in "buif" or variable.type.components[0].cell:
        raise _no_plot(f"{variable.type_text} cannot be plotted", "plots are drawn of arrays of numbers")
    if not value.size:
        raise _no_plot(f"{variable.type_text} has no elements to plot", "give it at least one")
    return value


def _no_plot(message: str, help: str) -> SacError:
    return SacError(Diagnostic("E0762", message, NOWHERE, help=help))


PRINT = Command(":print EXPR", "the value as SaC's print writes it", "expression", _print)
IMG = Command(
    ":img EXPR [to FILE.png]",
    "a matrix (grey), an array [height,width,3] or a matrix of Color8 colours as a picture",
    "expression",
    _img,
    details="The terminal shows it in the protocol of Kitty, iTerm2 or Sixel if it says that it can, else in half blocks; without a terminal it is written to a file. :set images says otherwise.\nIntegers from 0 to 255 and reals from 0 to 1 are brightness as they are; others are spread from the smallest, black, to the largest, white.",
)
PLOT = Command(
    ":plot [lines|hist|heat] EXPR",
    "a diagram of a vector, of a matrix, or of how elements are spread",
    "expression",
    _plot,
    details="Without a kind: a vector, and a matrix of a few long rows, as lines; other matrices as a heat map; arrays of higher rank as a histogram.",
)

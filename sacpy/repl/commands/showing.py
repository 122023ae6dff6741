"""Commands that show values in other ways: SaC's own print, pictures, diagrams."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from sacpy.repl import images, plots
from sacpy.repl.commands.command import Command, refused
from sacpy.repl.commands.listing import flowed
from sacpy.repl.diagrams import Array, Kind, diagrams, into_file, shown_values
from sacpy.repl.engine import Engine
from sacpy.repl.outcomes import Outcome, Variable
from sacpy.repl.page import Page
from sacpy.repl.pixels import image
from sacpy.repl.settings import AUTO

DRAWN: dict[Kind, Callable[[Array, Page], str]] = {"lines": plots.lines, "hist": plots.histogram, "heat": plots.heat_map}


def _print(engine: Engine, text: str) -> Outcome:
    """Runs `print(EXPR)`, which the library defines."""
    engine.expression(text, ":print")
    return engine.enter(f"print({text.rstrip().rstrip(';')});", f"<print {text}>")


# ---------------------------------------------------------------- pictures


def _img(engine: Engine, text: str) -> str:
    wanted, file = into_file(text)
    return "\n".join(_picture(engine, variable, file) for variable in shown_values(engine, wanted, ":img"))


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
        return flowed(f"{note}: written to {file}", engine.page.columns)
    return f"{images.as_text(found.pixels, protocol, engine.page)}\n{engine.page.faint(flowed(note, engine.page.columns))}"


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
    return "\n\n".join(DRAWN[d.kind](d.array, engine.page) for d in diagrams(engine, text))


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
    words={"lines": "a vector, or the rows of a matrix", "hist": "how elements are spread", "heat": "a matrix"},
)

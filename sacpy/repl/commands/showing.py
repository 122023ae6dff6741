"""Commands that show values in other ways: SaC's own print, pictures, diagrams."""

from __future__ import annotations

import os
from pathlib import Path

from sacpy.repl import images
from sacpy.repl.commands.command import Command, refused
from sacpy.repl.commands.listing import flowed
from sacpy.repl.diagrams import diagrams, into_file, shown_values
from sacpy.repl.engine import Engine
from sacpy.repl.outcomes import Outcome, Variable
from sacpy.repl.pixels import image
from sacpy.repl.plots import drawn
from sacpy.repl.settings import AUTO


def _print(engine: Engine, text: str) -> Outcome:
    """Runs `print(EXPR)`, which the library defines."""
    engine.expression(text, ":print")
    return engine.enter(f"print({text.rstrip().rstrip(';')});", f"<print {text}>")


# ---------------------------------------------------------------- pictures


def _img(engine: Engine, text: str) -> str:
    wanted, file = into_file(text)
    if file is not None and file.suffix.lower() != ".png":
        message = f"{file} does not say what kind of picture it is to be"
        raise refused("E0783", message, str(file), "this file", "give it a name that ends in .png")
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
            raise refused(
                "E0743",
                f"cannot write {file}: {error.strerror}",
                str(file),
                "this file",
                "choose another file: :img EXPR to FILE.png",
            ) from None
        return flowed(f"{note}: written to {file}", engine.page.columns)
    return (
        f"{images.as_text(found.pixels, protocol, engine.page)}\n{engine.page.faint(flowed(note, engine.page.columns))}"
    )


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
    wanted, file = into_file(text)
    found = diagrams(engine, wanted)
    if file is None:
        return "\n\n".join(drawn(d, engine.page) for d in found)
    from sacpy.repl.figures import write

    if len(found) > 1:
        message = f"these are {len(found)} diagrams, and one fits into a file"
        raise refused("E0762", message, wanted, "", "plot one of them")
    write(found[0], file)
    return flowed(f"{found[0].about}: written to {file}", engine.page.columns)


PRINT = Command(":print EXPR", "the value as SaC's print writes it", "expression", _print)
IMG = Command(
    ":img EXPR [to FILE.png]",
    "a matrix (grey), an array [height,width,3] or a matrix of Color8 colours as a picture",
    "expression",
    _img,
    details="The terminal shows it in the protocol of Kitty, iTerm2 or Sixel if it says that it can, else in half "
    "blocks; without a terminal it is written to a file. :set images says otherwise.\n"
    "Integers from 0 to 255 and reals from 0 to 1 are brightness as they are; others are spread from the smallest, "
    "black, to the largest, white.",
)
PLOT = Command(
    ":plot [KIND] EXPR, .. [over X] [to FILE]",
    "a diagram of vectors, of a matrix, or of how elements are spread",
    "expression",
    _plot,
    details="KIND is lines, scatter, hist or heat. Without it: vectors, and a matrix of a few long rows, as lines; "
    "other matrices as a heat map; arrays of higher rank as a histogram.\n"
    "Several expressions share a diagram. over X gives the values of x, which are indices otherwise; scatter also "
    "takes a matrix of two columns, or complex numbers, as points. logx, logy or loglog before the expressions: by "
    "logarithms.\n"
    "to FILE writes .svg, .txt, or, with matplotlib, .png, .pdf and others.",
    words={
        "lines": "vectors, or the rows of a matrix",
        "scatter": "points",
        "hist": "how elements are spread",
        "heat": "a matrix",
        "logx": "x by its logarithms",
        "logy": "y by its logarithms",
        "loglog": "both by their logarithms",
    },
)

"""How values look on a page: bundles of the same thing in several formats, of which the page takes the richest it
knows.

In: variables, or the words behind `:img`, `:plot` and `:picture`. Out: `Bundle`s, MIME type -> text (pictures in
base64), as Jupyter's messages want them. A display is a function from the engine and an argument to bundles; `DISPLAYS`
lists those that have a command of their own, in the place of the prompt's commands of these names.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from contextlib import suppress

from sacpy.lang.infer_spaces import partitions
from sacpy.notebook.tables import table
from sacpy.repl.diagrams import diagrams, into_file, shown_values
from sacpy.repl.engine import Engine, Variable
from sacpy.repl.graphics import svg as plotted
from sacpy.repl.mappings import MOST, drawing, laid_out
from sacpy.repl.pixels import image, looks_like_image
from sacpy.withloop.devices import DEVICES
from sacpy.withloop.drawings import svg

Bundle = Mapping[str, str]
PNG, SVG, HTML, PLAIN = "image/png", "image/svg+xml", "text/html", "text/plain"
COLUMNS = 100  # of drawings in characters


def bundle(variable: Variable) -> Bundle:
    """A value: as the prompt shows it, and as a table, or as the picture that it is."""
    data = {PLAIN: variable.text}
    if looks_like_image(variable):
        return {PNG: encoded(image(variable).png()), **data}
    html = table(variable.type, variable.values, variable.type_text)
    return data if html is None else {HTML: html, **data}


# ---------------------------------------------------------------- commands with pictures


def show_images(engine: Engine, text: str) -> list[Bundle]:
    """`:img EXPR`."""
    bundles: list[Bundle] = []
    for variable in shown_values(engine, text, ":img"):
        found = image(variable)
        note = f"{variable.type_text}{f'; {found.scale}' if found.scale else ''}"
        bundles.append({PNG: encoded(found.png()), PLAIN: f"<picture of {note}>"})
    return bundles


def show_plots(engine: Engine, text: str) -> list[Bundle]:
    """`:plot EXPR`: on the page in the page's colours, and as an image that stands by itself."""
    return [
        {HTML: plotted(diagram, inline=True), SVG: plotted(diagram), PLAIN: f"<plot of {diagram.about}>"}
        for diagram in diagrams(engine, text)
    ]


def show_mappings(engine: Engine, text: str) -> list[Bundle]:
    """`:picture EXPR`: drawn where the space is small enough."""
    entered, shapes = engine.function_of(text, ":picture")
    strategy, device = engine.settings["strategy"], DEVICES[engine.settings["device"]]
    bundles: list[Bundle] = []
    for found in partitions(engine.program, engine.program.function(entered.key), shapes, MOST):
        made = laid_out(found, strategy, device)
        data = {PLAIN: drawing(found, strategy, device, COLUMNS)}
        with suppress(ValueError):
            if not isinstance(made, str):
                data = {HTML: svg(made.mapping, inline=True), SVG: svg(made.mapping), **data}
        bundles.append(data)
    return bundles or [{PLAIN: "no with-loop that is certain to run"}]


DISPLAYS: dict[str, Callable[[Engine, str], list[Bundle]]] = {
    "img": show_images,
    "plot": show_plots,
    "picture": show_mappings,
}


def display_for(word: str, rest: str) -> Callable[[Engine, str], list[Bundle]] | None:
    """What shows a command on the page; None where the prompt's command does what is wanted, as with a picture that
    goes into a file."""
    return None if into_file(rest)[1] is not None else DISPLAYS.get(word)


def encoded(data: bytes) -> str:
    """A picture's file as a bundle has it."""
    return base64.b64encode(data).decode("ascii")

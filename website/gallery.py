"""The gallery: programs, and pictures of what they compute, made anew whenever the site is.

In: the programs, and for each what one would enter at the prompt behind `:load` to see something. Out: a page in
Markdown, with diagrams in the page's own colours and pictures as files beside it.
"""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from json import dumps
from pathlib import Path

from website.navigation import ROOT

CELLS = Path(__file__).parent / "cells"
"""A file for each program, NUMBER-NAME.sac: a line that says what is to be seen, then what is entered."""


def names() -> list[str]:
    """The programs in the gallery."""
    return [file.stem.partition("-")[2] for file in sorted(CELLS.glob("*.sac"))]


@dataclass(frozen=True)
class Pictured:
    """A program, what was entered behind it, and the pictures that came of it, as notebooks show them."""

    name: str
    about: str
    cell: str
    pictures: Sequence[dict[str, str]]


def pictured(name: str) -> Pictured:
    """Runs a program's functions, and gives the pictures. Raises `RuntimeError` with sacpy's message."""
    from sacpy.interp.world import World
    from sacpy.notebook.cells import Cells, report
    from sacpy.notebook.display import Bundle
    from sacpy.repl.engine import Engine
    from sacpy.workspace import Workspace

    (file,) = CELLS.glob(f"*-{name}.sac")
    about, _, cell = file.read_text("utf-8").removeprefix("// ").rstrip().partition("\n")
    found: list[dict[str, str]] = []

    def keep(data: Bundle) -> None:
        found.append(dict(data))

    cells = Cells(Engine(Workspace(), World.captured()), keep, keep)
    outcome = cells.run(_text(name, cell), name)
    if outcome.failed:
        raise RuntimeError(f"the gallery's {name}:\n{report(outcome, color=False)}")
    return Pictured(name, about, cell, found)


def page(folder: Path) -> str:
    """The gallery's page; its pictures are left in the folder `gallery` of `folder`."""
    (folder / "gallery").mkdir(parents=True, exist_ok=True)
    return "\n".join(_lines(folder / "gallery"))


def _lines(folder: Path) -> Iterator[str]:
    yield "# Gallery\n"
    yield (
        "Programs of the repository, and pictures of what they compute, made with this page. Below each "
        "is what was entered at [the prompt](docs/repl.md) after `:load programs/NAME.sac`. "
        "[All programs](programs/README.md).\n"
    )
    for name in names():
        shown = pictured(name)
        yield f"## {name.replace('_', ' ')}\n\n{shown.about}\n"
        yield '<div class="pictures">\n'
        for number, data in enumerate(shown.pictures):
            yield _picture(data, folder, f"{name}-{number}")
        yield "</div>\n"
        yield f"```sac\n{shown.cell}\n```\n"
        page = "playground/index.html"
        whole = f'<a class="play" href="{page}{link(_text(name, shown.cell))}">Run it in the playground</a>'
        yield f'<p>{whole} · <a class="play" href="{page}#e={name}">the program</a></p>\n'


def _picture(data: dict[str, str], folder: Path, name: str) -> str:
    if "image/png" in data:
        (folder / f"{name}.png").write_bytes(base64.b64decode(data["image/png"]))
        return f"![{data['text/plain'].strip('<>')}](gallery/{name}.png)\n"
    return re.sub(r"\s*\n\s*", " ", data["text/html"]) + "\n"


def _text(name: str, cell: str) -> str:
    return (ROOT / "programs" / f"{name}.sac").read_text("utf-8") + "\n" + cell


def link(text: str) -> str:
    """The fragment of the playground's address for a program, as its page makes it."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(dumps({"text": text}, ensure_ascii=False).encode()) + packer.flush()
    return "#z=" + base64.urlsafe_b64encode(packed).decode().rstrip("=")

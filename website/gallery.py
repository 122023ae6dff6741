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

CELLS: dict[str, tuple[str, str]] = {
    "mandelbrot": (
        "How many steps a point takes to leave the circle of radius two.",
        "times = mandelbrot(300, 420, [-1.25, -2.25], [1.25, 0.75]);\n:img greys(times)",
    ),
    "raytracer": (
        "Balls that mirror one another, on a chequered floor: structs of arrays of structs, and recursion.",
        "red = Surface{[0.9, 0.2, 0.1], 0.2};\nsteel = Surface{.colour = [0.7, 0.7, 0.8], .mirror = 0.7};\n"
        "balls = [Ball{vector(-1.2, 1.0, 0.5), 1.0, red}, Ball{vector(1.1, 0.8, -0.3), 0.8, steel},\n"
        "         Ball{vector(0.1, 0.3, -1.6), 0.3, red}];\n"
        ":img render(balls, unit(vector(1.0, 1.6, -1.2)))",
    ),
    "heat": (
        "The temperature of a plate at rest, with a warm rim.",
        "steps, t = steady(plate(N), EPS);\n:plot heat t",
    ),
    "reaction_diffusion": (
        "Spots that grow and divide, after Gray and Scott: an array of structs whose fields are grids.",
        "mix = start(SIZE);\nfor (step = 0; step < STEPS; step++) { mix = react(mix); }\n:plot heat mix.v",
    ),
    "shallow_water": (
        "A heap of water that has run apart, and come back from the walls.",
        "w = walls(with { ([8,10] <= iv < [16,18]) : Water{.depth = 2.0}; } : genarray([SIZE,SIZE], Water{.depth = 1.0}));\n"
        "for (t = 0; t < STEPS; t++) { w = step(w); }\n:plot heat w.depth",
    ),
    "wave": (
        "A membrane on which something has fallen; the same function swings strings and rooms.",
        "drop = with { ([5,9] <= iv < [8,12]) : 1.0; } : genarray([20,48], 0.0);\n:plot heat swing(drop, 0.4, 22)",
    ),
    "edges": (
        "Edges of a picture, by Gauss and Sobel: a filter for arrays of any rank.",
        "edge = slope(blur(scene(), RADIUS, SIGMA));\n:img edge",
    ),
    "fft": (
        "A signal, and the frequencies in it.",
        "signal = { [k] -> 0.5 + 2.0 * cos(2.0 * PI * 3.0 * tod(k) / tod(N)) + sin(2.0 * PI * 10.0 * tod(k) / tod(N)) | [k] < [N] };\n"
        "spectrum = fft({ [k] -> toc(signal[k], 0.0) | [k] < [N] });\n"
        ":plot signal\n:plot { [k] -> norm(spectrum[k]) | [k] < [N / 2] }",
    ),
    "kmeans": (
        "Points of the plane, put into clusters by Lloyd's algorithm.",
        "points = cloud(POINTS, [[0.0, 0.0], [3.0, 0.5], [1.0, 2.5]], 7ui);\n"
        "labels, centres, rounds = kmeans(points, { [c] -> points[3 * c] | [c] < [CLUSTERS] });\n"
        ":plot scatter points[.,1] over points[.,0]",
    ),
    "nbody": (
        "Three bodies on a figure of eight: where the first of them has been in one period.",
        "bodies = figureOfEight();\ntrack = genarray([STEPS, 2], 0.0);\n"
        "for (step = 0; step < STEPS; step++) {\n  track[step] = bodies.pos[0];\n"
        "  bodies = advance(bodies, PERIOD / tod(STEPS));\n}\n:plot scatter track[.,1] over track[.,0]",
    ),
    "smoothing": (
        "Noise, and what smoothing leaves of it.",
        "noise = { [i] -> tod(i * i * 7919 % 101) / 50.0 - 1.0 | [i] < [N] };\n"
        "v = { [i] -> sin(tod(i) / 12.0) + 0.4 * noise[i] | [i] < [N] };\n:plot v, smoothed(v, 0.4)",
    ),
}  # fmt: skip


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
    from sacpy.repl.engine import Engine
    from sacpy.workspace import Workspace

    about, cell = CELLS[name]
    found: list[dict[str, str]] = []
    cells = Cells(
        Engine(Workspace(), World.captured()),
        lambda data: found.append(dict(data)),
        lambda data: found.append(dict(data)),
    )
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
        "Programs of the repository, and pictures of what they compute. The pictures are made with this page: below each\n"
        "is what was entered at [the prompt](docs/repl.md) after `:load programs/NAME.sac`. "
        "[All programs](programs/README.md).\n"
    )
    for name in CELLS:
        shown = pictured(name)
        yield f"## {name.replace('_', ' ')}\n\n{shown.about}\n"
        yield '<div class="pictures">\n'
        for number, data in enumerate(shown.pictures):
            yield _picture(data, folder, f"{name}-{number}")
        yield "</div>\n"
        yield f"```sac\n{shown.cell}\n```\n"
        yield (
            f'<p><a class="play" href="playground/index.html{link(_text(name, shown.cell))}">Run it in the playground</a>'
            f' · <a class="play" href="playground/index.html#e={name}">the program</a></p>\n'
        )


def _picture(data: dict[str, str], folder: Path, name: str) -> str:
    if "image/png" in data:
        (folder / f"{name}.png").write_bytes(base64.b64decode(data["image/png"]))
        return f"![{data['text/plain'].strip('<>')}](gallery/{name}.png)\n"
    return re.sub(r"\s*\n\s*", " ", data["text/html"]) + "\n"


def _text(name: str, cell: str) -> str:
    return (ROOT / "programs" / f"{name}.sac").read_text("utf-8") + "\n" + cell


def link(text: str, stdin: str = "") -> str:
    """The fragment of the playground's address for a program, as its page makes it."""
    bytes = dumps({"text": text, "stdin": stdin} if stdin else {"text": text}, ensure_ascii=False).encode()
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return "#z=" + base64.urlsafe_b64encode(packer.compress(bytes) + packer.flush()).decode().rstrip("=")

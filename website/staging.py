"""The pages as the generator reads them: the repository's Markdown in the repository's folders, so that links between
pages hold as they are, with tables of contents, the gallery and a home page.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from website import gallery
from website.navigation import GALLERY, HOME, LIBRARY, PLAYGROUND, ROOT, SECTIONS, pages
from website.runnable import runnable

PICTURES = ("docs/**/*.svg", "docs/**/*.png", "docs/*.ipynb")


def stage(folder: Path) -> None:
    """Fills the folder with everything that the generator reads."""
    shutil.rmtree(folder, ignore_errors=True)
    for page in pages():
        _write(folder / page, _marked(page, (ROOT / page).read_text("utf-8")))
    for pattern in PICTURES:
        for file in ROOT.glob(pattern):
            target = folder / file.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target)
    library = folder / LIBRARY / "README.md"
    modules = [Path(page).stem for page in pages() if page.startswith(f"{LIBRARY}/") and not page.endswith("README.md")]
    _write(library, library.read_text("utf-8") + _contents("", modules, hidden=True))
    _write(folder / GALLERY, gallery.page(folder))
    home = _marked("index.md", (ROOT / HOME).read_text("utf-8").replace("](../", "]("))
    _write(folder / "index.md", home + "".join(_contents(name, section) for name, section in SECTIONS.items()))


def _contents(caption: str, listed: Iterable[str], *, hidden: bool = True) -> str:
    lines = ["", "```{toctree}", *([":hidden:"] if hidden else []), ":maxdepth: 1"]
    return "\n".join([*lines, *([f":caption: {caption}"] if caption else []), "", *map(_named, listed), "```", ""])


def _named(page: str) -> str:
    """An entry of a table of contents; pages whose headings say too much to stand in it have another name."""
    short = SHORT.get(page)
    return page if short is None else f"{short} <{page}>"


SHORT = {
    "docs/ten-minutes.md": "Ten minutes",
    "docs/tour.md": "A tour",
    "docs/numpy.md": "For NumPy users",
    "docs/differences.md": "From sac2c",
    "docs/language.md": "The words of the language",
    "docs/library/README.md": "The library",
    "docs/errors.md": "Messages",
    "programs/README.md": "All programs",
    "docs/benchmarks.md": "Benchmarks of your code",
    "docs/how-it-works.md": "How it works",
    "benchmarks/README.md": "Benchmarks of sacpy",
    "editors/README.md": "VS Code",
    "CHANGELOG.md": "Changes",
}


def _marked(page: str, text: str) -> str:
    """A page with a link into the playground behind what can be run, and sessions at the prompt called that where a
    fence has no name."""
    playground = "../" * (len(Path(page).parts) - 1) + "playground/index.html"
    for piece in reversed(list(runnable(page, text))):
        link = f'<p class="play"><a href="{playground}{gallery.link(piece.text)}">▶ run</a></p>'
        text = f"{text[: piece.end]}\n\n{link}\n{text[piece.end :]}"
    if page == PLAYGROUND:
        text = text.replace("\n", f'\n\n<p class="open"><a href="{playground}">Open the playground</a></p>\n', 1)
    return re.sub(r"^```\n(?=>>> )", "```sac-session\n", text, flags=re.M)


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")

"""Pictures that are looked at: as text, as SVG in a file or a notebook's page, as PNG.

In: a scene, and the text that stands for it on a terminal. Out: these, and files.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING

from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.source import NOWHERE
from sacpy.nodes import Node

if TYPE_CHECKING:
    from sacpy.withloop.scenes import Scene

COLUMNS = 120  # of characters, where nobody says how many there are


class Drawing(Node):
    """A picture. As text (`str`) in characters; notebooks show the SVG."""

    @abstractmethod
    def text(self, columns: int) -> str:
        """In characters, so many in a line at most."""

    @abstractmethod
    def scene(self) -> Scene:
        """What there is to be drawn."""

    def __str__(self) -> str:
        return self.text(COLUMNS)

    @property
    def svg(self) -> str:
        """As an SVG file."""
        from sacpy.withloop.scenes import to_svg

        return to_svg(self.scene())

    def _repr_html_(self) -> str:
        """For notebooks: on the page's background, in the colour of its text."""
        from sacpy.withloop.scenes import to_svg

        return to_svg(self.scene(), inline=True)

    @property
    def png(self) -> bytes:
        """As a PNG file."""
        from sacpy.interp.png import encode
        from sacpy.withloop.rasters import pixels

        return encode(pixels(self.scene()))

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file: SVG or PNG, as its name ends. Raises `SacError` (E0743, E0783)."""
        path = Path(path)
        kind = path.suffix.lower()
        if kind not in (".svg", ".png"):
            raise SacError(
                Diagnostic(
                    "E0783",
                    f"{path} does not say what kind of picture it is to be",
                    NOWHERE,
                    help="give it a name that ends in .svg or .png",
                )
            )
        data = self.svg.encode() if kind == ".svg" else self.png
        try:
            path.write_bytes(data)
        except OSError as error:
            raise SacError(
                Diagnostic("E0743", f"cannot write {path}: {error.strerror}", NOWHERE, help="choose another file")
            ) from None

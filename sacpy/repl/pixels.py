"""Arrays as pictures.

In: a value that can be looked at: a matrix of numbers (grey), an array of shape (height, width, 3) (red, green, blue;
4: with an opacity, which is dropped), a matrix of `Color8` colours. Out: 8-bit pixels, and how numbers became
brightness. Raises `SacError` (E0761) for everything else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sacpy.interp import png
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.source import NOWHERE
from sacpy.repl.outcomes import Variable

Array = np.ndarray[Any, np.dtype[Any]]
COLOUR = "Color8::color"
SMALLEST = 256  # pixels that the longer side of a picture takes on the page at least
NOT_A_NUMBER = (220, 40, 60)


@dataclass(frozen=True, slots=True)
class Image:
    """Pixels of shape (height, width, 3), and how values became colours: "black is 0.0, white is 2.5"; "" where that is
    plain."""

    pixels: png.Picture
    scale: str = ""

    def png(self) -> bytes:
        """The file, each element as a square of several pixels where the picture is small."""
        factor = max(1, -(-SMALLEST // max(self.pixels.shape[:2])))
        return png.encode(np.repeat(np.repeat(self.pixels, factor, 0), factor, 1))


def image(variable: Variable) -> Image:
    """The picture of a value."""
    value, key = variable.values[0] if variable.values else None, variable.type.key
    if variable.type.is_struct or not isinstance(value, np.ndarray) or value.dtype.kind not in "buif":
        raise _refusal(variable.type_text, "")
    if not value.size:
        raise _refusal(variable.type_text, ", which has no elements,")
    if key == COLOUR and value.ndim == 3:
        return Image(np.clip(value, 0, 255).astype(np.uint8))
    if value.ndim == 2:
        grey, scale = _brightness(value)
        pixels = np.repeat(grey[:, :, None], 3, axis=2)
        if value.dtype.kind == "f":
            pixels[np.isnan(value)] = NOT_A_NUMBER
        return Image(pixels, scale)
    if value.ndim == 3 and value.shape[2] in (3, 4):
        return Image(*_brightness(value[:, :, :3]))
    raise _refusal(variable.type_text, "")


def looks_like_image(variable: Variable) -> bool:
    """Whether a value is a picture by its type: a matrix of colours."""
    value = variable.values[0] if variable.values else None
    return variable.type.key == COLOUR and isinstance(value, np.ndarray) and value.ndim == 3 and bool(value.size)


def _brightness(value: Array) -> tuple[png.Picture, str]:
    """Numbers from 0 to 255: integers as they are where they lie there, reals from 0 to 1; others from the smallest to
    the largest."""
    if value.dtype.kind == "b":
        return value.astype(np.uint8) * np.uint8(255), ""
    finite = value[np.isfinite(value)] if value.dtype.kind == "f" else value
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    top = 255 if value.dtype.kind in "ui" else 1
    if low >= 0 and high <= top:
        return np.nan_to_num(np.clip(value * (255 / top) + 0.5, 0, 255), nan=0).astype(np.uint8), ""
    spread = value.astype(np.float64) - low
    scaled = spread / (high - low) * 255 if high > low else np.zeros(value.shape)
    return np.nan_to_num(np.clip(scaled + 0.5, 0, 255), nan=0).astype(np.uint8), f"black is {low:g}, white is {high:g}"


def _refusal(type_text: str, why: str) -> SacError:
    help = (
        "a picture is a matrix (grey), an array of shape [height, width, 3] (red, green, blue), or a matrix of "
        "Color8 colours"
    )
    return SacError(Diagnostic("E0761", f"{type_text}{why} is no picture", NOWHERE, help=help))

"""Scenes as pixels, without any library for graphics.

In: a `Scene`. Out: an array of red, green and blue. Lines are drawn by how far each pixel is from them; letters are
strokes, written down on a grid of 8 by 12, so that they are as sharp at any size.
"""

from __future__ import annotations

import itertools
import math
from functools import lru_cache
from typing import Any

import numpy as np

from sacpy.withloop.scenes import FONT_ASPECT, PAPER, Box, Line, Scene, Text, arrow_head

SCALE = 2.0  # pixels of a picture to one of a scene
MOST_PIXELS = 40_000_000
CAPITAL = 0.72  # height of a capital letter as a share of the font's size
LEVELS = {c: k for k, c in enumerate("0123456789abc")} | {"y": -2, "z": -4}

# Strokes of each letter: points x and y, y upwards from the base line in twelfths of a capital, "y" and "z" below it.
GLYPHS = {
    "0": "20 02 0a 2c 6c 8a 82 60 20|45 47", "1": "1a 4c 40|10 70", "2": "0a 2c 6c 8a 88 00 80",
    "3": "0b 2c 6c 8a 88 66 36|66 84 82 60 20 01", "4": "60 6c 04 84", "5": "8c 1c 06 27 67 85 82 60 20 01",
    "6": "7c 3c 09 02 20 60 82 85 67 27 05", "7": "0c 8c 30", "8": "27 08 0a 2c 6c 8a 88 67 27 05 02 20 60 82 85 67",
    "9": "10 50 83 8a 6c 2c 0a 07 25 65 87",
    "A": "00 4c 80|14 74", "B": "00 0c 5c 7a 78 56 06|56 84 82 60 00", "C": "8a 6c 2c 09 03 20 60 82",
    "D": "00 0c 5c 89 83 50 00", "E": "8c 0c 00 80|06 66", "F": "8c 0c 00|06 66", "G": "8a 6c 2c 09 03 20 60 82 86 56",
    "H": "00 0c|80 8c|06 86", "I": "1c 7c|4c 40|10 70", "J": "8c 82 60 20 02", "K": "00 0c|8c 05|37 80",
    "L": "0c 00 80", "M": "00 0c 46 8c 80", "N": "00 0c 80 8c", "O": "20 03 09 2c 6c 89 83 60 20",
    "P": "00 0c 6c 8a 88 66 06",
    "Q": "20 03 09 2c 6c 89 83 60 20|53 80", "R": "00 0c 6c 8a 88 66 06|46 80",
    "S": "8a 6c 2c 0a 08 26 66 84 82 60 20 02", "T": "0c 8c|4c 40", "U": "0c 02 20 60 82 8c", "V": "0c 40 8c",
    "W": "0c 20 48 60 8c",
    "X": "00 8c|0c 80", "Y": "0c 46 8c|46 40", "Z": "0c 8c 00 80",
    "a": "17 38 58 76 70|74 24 03 01 20 50 72", "b": "0c 00|02 20 50 72 76 58 28 06", "c": "77 58 28 06 02 20 50 71",
    "d": "7c 70|72 50 20 02 06 28 58 76", "e": "04 74 76 58 28 06 02 20 50 71", "f": "7c 5c 3a 30|08 68",
    "g": "78 7y 5z 1z|72 50 20 02 06 28 58 76", "h": "0c 00|06 28 58 76 70", "i": "18 48 40|10 70|4b 4c",
    "j": "28 58 5y 3z 1z|5b 5c", "k": "0c 00|78 03|25 70", "l": "1c 4c 42 50 70",
    "m": "00 08|06 18 38 46 40|46 58 68 86 80",
    "n": "00 08|06 28 58 76 70", "o": "20 02 06 28 58 76 72 50 20", "p": "08 0z|06 28 58 76 72 50 20 02",
    "q": "78 7z|76 58 28 06 02 20 50 72", "r": "10 18|15 38 68 77", "s": "77 58 28 06 24 54 72 50 20 01",
    "t": "3c 32 50 70|08 68",
    "u": "08 02 20 50 72|78 70", "v": "08 40 88", "w": "08 20 46 60 88", "x": "08 70|00 78", "y": "08 40|88 2z 0z",
    "z": "08 78 00 70",
    ".": "40 41", ",": "41 40 3y", ":": "41 40|47 48", ";": "41 40 3y|47 48", "-": "15 75", "+": "15 75|42 48",
    "=": "13 73|17 77", "<": "7a 15 70", ">": "1a 75 10", "(": "6c 39 33 60", ")": "2c 59 53 20", "[": "6c 3c 30 60",
    "]": "2c 5c 50 20", "*": "42 4a|14 78|18 74", "/": "00 8c", "\\": "0c 80", "_": "0y 8y", "|": "4c 4y", "'": "4c 49",
    '"': "2c 29|6c 69", "%": "00 8c|1b 3b 39 19 1b|53 73 71 51 53", "#": "20 3c|50 6c|04 84|08 88",
    "{": "6c 4b 47 26 45 41 60", "}": "2c 4b 47 66 45 41 20", "!": "4c 44|40 41", "?": "0a 2c 6c 8a 88 45 44|40 41",
    "&": "80 19 1b 3c 5b 59 03 01 20 40 84", "~": "05 26 65 86", "@": "53 33 35 56 53 72 86 8a 6c 2c 09 03 20 60",
    "^": "19 4c 79", "$": "8a 2a 08 26 66 84 62 02|4c 40", "`": "2c 49",
}  # fmt: skip
UNKNOWN = "00 0c 8c 80 00"

Pixels = np.ndarray[Any, np.dtype[np.float32]]


def pixels(scene: Scene, scale: float = SCALE) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """The scene as an array of shape (height, width, 3), `scale` pixels to each of the scene, fewer where the picture
    would be huge."""
    scale = min(scale, math.sqrt(MOST_PIXELS / max(1.0, scene.width * scene.height)))
    canvas = np.empty((max(1, math.ceil(scene.height * scale)), max(1, math.ceil(scene.width * scale)), 3), np.float32)
    canvas[:] = _colour(PAPER)
    for item in scene.items:
        match item:
            case Box():
                _box(canvas, item, scale)
            case Line():
                _line(canvas, item, scale)
            case Text():
                _text(canvas, item, scale)
    return np.asarray(canvas + 0.5, np.uint8)


@lru_cache(maxsize=64)
def _colour(text: str) -> tuple[float, float, float]:
    """`#rrggbb`"""
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)


def _blend(canvas: Pixels, x: int, y: int, cover: Pixels, colour: str) -> None:
    """Puts a colour on the pixels from (x, y) on, as far as each is covered."""
    height, width = cover.shape
    left, top, right, bottom = max(0, x), max(0, y), min(canvas.shape[1], x + width), min(canvas.shape[0], y + height)
    if left >= right or top >= bottom:
        return
    part = canvas[top:bottom, left:right]
    share = cover[top - y : bottom - y, left - x : right - x, None]
    part += share * (np.array(_colour(colour), np.float32) - part)


def _box(canvas: Pixels, box: Box, scale: float) -> None:
    left, top, right, bottom = (round(v * scale) for v in (box.x, box.y, box.x + box.width, box.y + box.height))
    if box.fill:
        canvas[max(0, top) : bottom, max(0, left) : right] = _colour(box.fill)
    if box.hatched:
        rows, columns = np.ogrid[top:bottom, left:right]
        away = np.abs((rows + columns) % (6 * scale) - 3 * scale)
        _blend(canvas, left, top, np.clip(0.45 * scale + 0.5 - away / math.sqrt(2), 0, 1).astype(np.float32), "#7d8590")
    thick = max(1, round(0.8 * scale))
    for area in (
        (top, top + thick, left, right),
        (bottom - thick, bottom, left, right),
        (top, bottom, left, left + thick),
        (top, bottom, right - thick, right),
    ):
        canvas[max(0, area[0]) : area[1], max(0, area[2]) : area[3]] = _colour(box.edge)


def _line(canvas: Pixels, line: Line, scale: float) -> None:
    _strokes(canvas, [((line.x1, line.y1), (line.x2, line.y2))], line.width / 2, line.colour, scale)
    if line.arrow:
        tip, left, right = arrow_head(line)
        share = np.linspace(0, 1, 6)
        ribs = [((left[0] + s * (right[0] - left[0]), left[1] + s * (right[1] - left[1])), tip) for s in share]
        _strokes(canvas, ribs, line.width / 2, line.colour, scale)


Segment = tuple[tuple[float, float], tuple[float, float]]


def _strokes(canvas: Pixels, segments: list[Segment], radius: float, colour: str, scale: float) -> None:
    ends = [p for s in segments for p in s]
    left, top = (math.floor((min(p[k] for p in ends) - radius) * scale) - 1 for k in (0, 1))
    right, bottom = (math.ceil((max(p[k] for p in ends) + radius) * scale) + 2 for k in (0, 1))
    moved = [
        ((a[0] * scale - left, a[1] * scale - top), (b[0] * scale - left, b[1] * scale - top)) for a, b in segments
    ]
    _blend(canvas, left, top, _cover(moved, radius * scale, (bottom - top, right - left)), colour)


def _cover(segments: list[Segment], radius: float, shape: tuple[int, int]) -> Pixels:
    """How far each pixel is covered by strokes: by its distance from the nearest."""
    y, x = np.mgrid[: shape[0], : shape[1]].astype(np.float32) + np.float32(0.5)
    nearest = np.full(shape, np.inf, np.float32)
    for (x1, y1), (x2, y2) in segments:
        dx, dy = x2 - x1, y2 - y1
        along = np.clip(((x - x1) * dx + (y - y1) * dy) / max(dx * dx + dy * dy, 1e-9), 0, 1)
        np.minimum(nearest, np.hypot(x - x1 - along * dx, y - y1 - along * dy), out=nearest)
    return np.asarray(np.clip(radius + 0.5 - nearest, 0, 1), np.float32)


def _text(canvas: Pixels, text: Text, scale: float) -> None:
    size = text.size * scale
    advance = FONT_ASPECT * size
    x = text.x * scale - {"start": 0.0, "middle": 0.5, "end": 1.0}[text.anchor] * advance * len(text.words)
    for character in text.words:
        if character != " ":
            cover, rise = _glyph(character, round(size, 1), text.bold)
            _blend(canvas, round(x), round(text.y * scale) - rise, cover, text.colour)
        x += advance


@lru_cache(maxsize=1024)
def _glyph(character: str, size: float, bold: bool) -> tuple[Pixels, int]:
    """A letter's pixels, and how many rows of them are above the base line."""
    unit = CAPITAL * size / 12
    left, rise = 0.08 * size, math.ceil(CAPITAL * size + 2)
    segments: list[Segment] = []
    for stroke in GLYPHS.get(character, UNKNOWN).split("|"):
        points = [(left + LEVELS[p[0]] * unit, rise - LEVELS[p[1]] * unit) for p in stroke.split()]
        segments += list(itertools.pairwise(points))
    radius = size * (0.065 if bold else 0.043)
    return _cover(segments, radius, (rise + math.ceil(0.3 * size), math.ceil(FONT_ASPECT * size) + 2)), rise

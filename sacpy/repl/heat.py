"""Heat maps in characters: a matrix as large as the page, two elements above each other in a character where there are
colours, in shades where there are none; with indices at its sides and the scale of the colours below.

In: a matrix with at least one element, and the page. Out: lines of text. Of a matrix that is larger than the page the
means of blocks are shown. What is not finite is grey, or a dot, and counted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sacpy.repl.page import Page
from sacpy.repl.scales import Scale, label

Array = np.ndarray[Any, np.dtype[Any]]
Floats = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.uint8]]
SHADES = " ░▒▓█"
PALETTE = np.array([(24, 16, 72), (44, 84, 148), (32, 144, 140), (104, 196, 96), (252, 232, 64)], np.float64)
UNKNOWN = (128, 128, 128)
LARGEST = 8  # places that an element takes at most along each axis
BELOW = 3  # lines below the map: the axis, its numbers, the scale
SCALE = 24  # characters of the scale at most


def heat_map(array: Array, page: Page) -> str:
    """A matrix, row 0 at the top; small values dark, large ones bright."""
    rows, columns = array.shape
    margin = len(str(rows - 1))
    room = max(page.columns - margin - 2, 4), max(page.lines - BELOW, 2)
    per_line, across = (2, 1) if page.colour else (1, 2)
    if columns * across > room[0]:
        across = 1
    means = _means(np.asarray(array, np.float64), min(rows, room[1] * per_line), min(columns, room[0] // across))
    size = max(min(room[0] // (means.shape[1] * across), room[1] * per_line // means.shape[0], LARGEST), 1)
    size -= size % 2 if page.colour and size > 1 else 0  # an element ends where a line does
    low, high = _range(means)
    pixels = np.repeat(np.repeat(means, size, 0), size * across, 1)
    body = _blocks(pixels, low, high) if page.colour else _shades(pixels, low, high)
    marks = _marks(rows, len(body))
    text = [f"{marks.get(i, ''):>{margin}} {'┤' if i in marks else '│'}{line}" for i, line in enumerate(body)]
    text += _axis(columns, pixels.shape[1], margin)
    text.append(f"{'':>{margin}}  {_scale(low, high, page, pixels.shape[1])}")
    note = [] if means.shape == array.shape else [f"means of {means.shape[0]} x {means.shape[1]} blocks"]
    missing = int(array.size - np.isfinite(array).sum())
    return "\n".join([*text, *note, *([f"{missing} of {array.size} not finite"] if missing else [])])


def coloured(places: Floats) -> Ints:
    """Numbers from 0 to 1 as colours, from dark blue to yellow; grey for what is no number."""
    known = np.isfinite(places)
    scaled = np.clip(np.where(known, places, 0), 0, 1) * (len(PALETTE) - 1)
    lower = np.minimum(scaled.astype(int), len(PALETTE) - 2)
    part = (scaled - lower)[..., None]
    colours: Ints = (PALETTE[lower] * (1 - part) + PALETTE[lower + 1] * part + 0.5).astype(np.uint8)
    colours[~known] = UNKNOWN
    return colours


def _range(values: Floats) -> tuple[float, float]:
    finite = values[np.isfinite(values)]
    return (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)


def _places(values: Floats, low: float, high: float) -> Floats:
    """From 0 to 1; in the middle where all are equal. (Halves: the whole range of doubles is no double.)"""
    if low == high:
        return np.where(np.isfinite(values), 0.5, np.nan)
    with np.errstate(invalid="ignore"):
        places = (values / 2 - low / 2) / (high / 2 - low / 2)
    return np.where(np.isfinite(values), places, np.nan)


def _blocks(pixels: Floats, low: float, high: float) -> list[str]:
    """The upper half of a character is the foreground, the lower the background."""
    colours = coloured(_places(pixels, low, high))
    lines = []
    for top in range(0, len(colours), 2):
        lower = colours[top + 1].tolist() if top + 1 < len(colours) else None
        text, before = "", ""
        for i, (red, green, blue) in enumerate(colours[top].tolist()):
            now = f"\x1b[38;2;{red};{green};{blue}" + ("m" if lower is None else ";48;2;{};{};{}m".format(*lower[i]))
            text += ("" if now == before else now) + "▀"
            before = now
        lines.append(text + "\x1b[0m")
    return lines


def _shades(pixels: Floats, low: float, high: float) -> list[str]:
    places = _places(pixels, low, high)
    steps = np.minimum((np.nan_to_num(places) * len(SHADES)).astype(int), len(SHADES) - 1)
    known = np.isfinite(places)
    rows = zip(steps.tolist(), known.tolist())
    return ["".join(SHADES[step] if known else "·" for step, known in zip(*row)) for row in rows]


def _marks(rows: int, lines: int) -> dict[int, str]:
    """The indices of rows beside the map, by line."""
    ticks = Scale(0, rows - 1).whole(max(lines // 3, 1)) if rows > 1 else [0]
    return {int((tick + 0.5) / rows * lines): label(tick) for tick in ticks}


def _axis(columns: int, width: int, margin: int) -> list[str]:
    """The axis below the map, with the indices of columns."""
    axis, numbers, end = ["─"] * width, " " * (margin + 2), -1
    for tick in Scale(0, columns - 1).whole(max(width // 8, 1)) if columns > 1 else [0.0]:
        at = int((tick + 0.5) / columns * width)
        word = label(tick)
        start = max(min(at - (len(word) - 1) // 2, width - len(word)), 0)
        axis[at] = "┬"
        if start > end:
            numbers = numbers.ljust(margin + 2 + start) + word
            end = start + len(word)
    return [f"{'':>{margin}} └{''.join(axis)}", numbers.rstrip()]


def _scale(low: float, high: float, page: Page, width: int) -> str:
    """Which colour is which number."""
    if low == high:
        return f"all {low:.4g}"
    spread = high / 2 - low / 2
    ends = [f"{0.0 if abs(v) < spread / 1000 else v:.4g}" for v in (low, high)]
    count = max(min(SCALE, page.columns - sum(map(len, ends)) - 6, max(width, 8)), 4)
    ramp = low * (1 - np.linspace(0, 1, count)) + high * np.linspace(0, 1, count)
    if page.colour:
        colours = coloured(_places(ramp, low, high)).tolist()
        return f"{ends[0]} {''.join('{}2;{};{};{}m█'.format(chr(27) + '[38;', *c) for c in colours)}\x1b[0m {ends[1]}"
    return f"{ends[0]} {_shades(ramp[None], low, high)[0]} {ends[1]}"


def _means(values: Floats, rows: int, columns: int) -> Floats:
    """Means of blocks, of their finite elements; NaN where there are none."""
    if values.shape == (rows, columns):
        return values
    finite = np.isfinite(values)
    sums, counts = np.where(finite, values, 0.0), finite.astype(np.float64)
    for axis, count in ((0, rows), (1, columns)):
        edges = np.arange(count) * values.shape[axis] // count
        with np.errstate(over="ignore"):
            sums, counts = np.add.reduceat(sums, edges, axis=axis), np.add.reduceat(counts, edges, axis=axis)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(sums / counts)

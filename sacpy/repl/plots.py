"""Diagrams in characters: lines in Braille dots, histograms in bars of eighths, heat maps in shades or colours.

In: arrays of numbers with at least one element, and the page. Out: lines of text. NaN and infinities leave gaps, and are counted where they are left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from sacpy.repl.diagrams import MOST_LINES
from sacpy.repl.page import Page

Array = np.ndarray[Any, np.dtype[Any]]
Floats = np.ndarray[Any, np.dtype[np.float64]]
MOST_BINS = 20
HEIGHT = 12  # lines of a diagram, where the page has them
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # of a Braille cell, by row and column
SHADES = " ░▒▓█"
EIGHTHS = " ▏▎▍▌▋▊▉█"
LINE_COLOURS = (36, 33, 32, 35, 34, 31)
PALETTE = np.array([(24, 16, 72), (44, 84, 148), (32, 144, 140), (104, 196, 96), (252, 232, 64)], np.float64)


def lines(array: Array, page: Page) -> str:
    """A vector as a line over its indices; the rows of a matrix as several lines (the first few)."""
    rows = np.asarray(array[None] if array.ndim == 1 else array, np.float64)
    rows = np.where(np.isfinite(rows), rows, np.nan)
    drawn = rows[:MOST_LINES]
    low, high = _range(drawn)
    labels = [_label(v, high / 2 - low / 2) for v in (high, low / 2 + high / 2, low)]
    margin = max(map(len, labels))
    columns, height = max(page.columns - margin - 2, 4), _height(page)
    cells = np.zeros((height, columns), np.int64)
    colours = np.zeros((height, columns), np.int64)
    for k, row in enumerate(drawn):
        for x, top, bottom in _strokes(row, low, high, columns * 2, height * 4):
            for y in range(top, bottom + 1):
                cells[y // 4, x // 2] |= DOTS[y % 4][x % 2]
                colours[y // 4, x // 2] = LINE_COLOURS[k]
    marks = {0: labels[0], height // 2: labels[1], height - 1: labels[2]}
    text = [f"{marks.get(i, ''):>{margin}} {'┤' if i in marks else '│'}{_braille(cells[i], colours[i], page)}".rstrip() for i in range(height)]
    last = str(rows.shape[1] - 1)
    text.append(f"{'':>{margin}} └{'─' * columns}")
    text.append(f"{'':>{margin}}  0{last.rjust(columns - 1)}" if rows.shape[1] > 1 else f"{'':>{margin}}  0")
    return "\n".join([*text, *_left_out(drawn), *([f"the first {MOST_LINES} of {len(rows)} rows"] if len(rows) > MOST_LINES else [])])


def histogram(array: Array, page: Page) -> str:
    """How many elements lie where: a bar for each interval, its last one closed."""
    values = np.asarray(array, np.float64).ravel()
    finite = values[np.isfinite(values)]
    if not finite.size:
        return "\n".join(["no finite numbers", *_left_out(values)])
    counts, edges = _binned(array, finite, page)
    names = [_label(e, edges[-1] / 2 - edges[0] / 2) for e in edges.tolist()]
    heads = names if len(edges) == len(counts) else [f"{a} .. {b}" for a, b in pairwise(names)]
    margin, most = max(map(len, heads)), int(counts.max())
    room = max(page.columns - margin - len(str(most)) - 3, 4)
    text = [f"{head:>{margin}} │{_bar(count / most * room)} {count}" for head, count in zip(heads, counts.tolist(), strict=True)]
    return "\n".join([*text, *_left_out(values)])


def heat_map(array: Array, page: Page) -> str:
    """A matrix, small values dark and large ones bright; of a matrix that is too large the means of blocks."""
    values = np.asarray(array, np.float64)
    height, wide = max(page.lines - 2, 4), 2 if array.shape[1] * 2 <= page.columns else 1
    shown = _means(values, min(values.shape[0], height), min(values.shape[1], page.columns // wide))
    low, high = _range(shown)
    text = ["".join(_cell(v, low, high, wide, page) for v in row) for row in shown.tolist()]
    note = [] if shown.shape == values.shape else [f"means of {shown.shape[0]} x {shown.shape[1]} blocks"]
    scale = "".join(_cell(low * (1 - k / 7) + high * (k / 7), low, high, 1, page) for k in range(8))
    spread = high / 2 - low / 2
    return "\n".join([*text, f"{_label(low, spread)} {scale} {_label(high, spread)}", *note, *_left_out(values)])


# ---------------------------------------------------------------- inside


def _height(page: Page) -> int:
    return max(min(HEIGHT, page.lines - 2), 3)


def _range(values: Floats) -> tuple[float, float]:
    """The least and greatest finite value; of constants a range around them."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    if low < high:
        return low, high
    spread = abs(low) / 2 or 0.5
    return low - spread, high + spread


def _label(value: float, spread: float) -> str:
    """A number with as many digits as matter beside others that are `spread` apart."""
    return f"{0.0 if abs(value) < spread / 1000 else value:.4g}"


def _left_out(values: Floats) -> list[str]:
    count = int(values.size - np.isfinite(values).sum())
    return [f"{count} of {values.size} not finite"] if count else []


def _strokes(row: Floats, low: float, high: float, width: int, height: int) -> Iterator[tuple[int, int, int]]:
    """Columns of dots, with the first and last dot: the line through the points; of many more points than columns the least and greatest of each."""
    if len(row) > 8 * width:
        edges = np.arange(width) * len(row) // width
        tops, bottoms = (_dots(f.reduceat(row, edges), low, high, height) for f in (np.fmax, np.fmin))
        known = np.add.reduceat(np.isfinite(row), edges) > 0
        yield from ((x, int(tops[x]), int(bottoms[x])) for x in np.flatnonzero(known).tolist())
        return
    finite, dots = np.isfinite(row).tolist(), _dots(row, low, high, height).tolist()
    before: tuple[int, int] | None = None
    for i, y in enumerate(dots):
        x = i * (width - 1) // max(len(dots) - 1, 1)
        if not finite[i]:
            before = None
            continue
        yield x, y, y
        if before is not None:
            yield from _segment(*before, x, y)
        before = x, y


def _dots(values: Floats, low: float, high: float, height: int) -> Any:
    """The rows of dots that values lie on, the highest value's first."""
    with np.errstate(invalid="ignore"):
        places = (values / 2 - low / 2) / (high / 2 - low / 2)  # halves: the whole range of doubles is no double
    return np.rint((1 - np.clip(np.nan_to_num(places), 0, 1)) * (height - 1)).astype(int)


def _segment(x0: int, y0: int, x1: int, y1: int) -> Iterator[tuple[int, int, int]]:
    """The dots between two, column by column."""
    if x0 == x1:
        yield x0, min(y0, y1), max(y0, y1)
        return
    for x in range(x0, x1 + 1):
        here = y0 + (y1 - y0) * (x - x0) / (x1 - x0)
        after = y0 + (y1 - y0) * (min(x + 1, x1) - x0) / (x1 - x0)
        a, b = sorted((round(here), round((here + after) / 2)))
        yield x, a, b


def _braille(cells: Any, colours: Any, page: Page) -> str:
    text, before = "", 0
    for cell, colour in zip(cells.tolist(), colours.tolist(), strict=True):
        if page.colour and cell and colour != before:
            text += f"\x1b[{colour}m"
            before = colour
        text += chr(0x2800 + cell) if cell else " "
    return text.rstrip() + ("\x1b[0m" if before else "")


def _binned(array: Array, finite: Floats, page: Page) -> tuple[Array, Floats]:
    """Counts with the edges of their intervals; of few different integers one bar each, with the integer itself."""
    low, high = float(finite.min()), float(finite.max())
    most = max(min(MOST_BINS, page.lines), 2)
    if array.dtype.kind in "bui" and high - low < most:
        whole = np.arange(int(low), int(high) + 1)
        return np.bincount((finite - low).astype(int), minlength=len(whole)), whole.astype(np.float64)
    bins = min(most, max(int(math.log2(finite.size)) + 1, 5))  # Sturges' rule
    if high == low or not math.isfinite(high - low):
        edges = np.array([low, high]) if high > low else np.array(_range(finite))
        return np.array([finite.size]), edges
    counts, edges = np.histogram(finite, bins)
    return counts, edges


def _bar(length: float) -> str:
    whole = int(length)
    eighths = round((length - whole) * 8)
    return "█" * whole + (EIGHTHS[eighths] if eighths else "")


def _means(values: Floats, rows: int, columns: int) -> Floats:
    """Means of blocks, of their finite elements; NaN where there are none."""
    finite = np.isfinite(values)
    sums, counts = np.where(finite, values, 0.0), finite.astype(np.float64)
    for axis, count in ((0, rows), (1, columns)):
        edges = np.arange(count) * values.shape[axis] // count
        sums, counts = np.add.reduceat(sums, edges, axis=axis), np.add.reduceat(counts, edges, axis=axis)
    with np.errstate(invalid="ignore", divide="ignore"):
        return sums / counts


def _cell(value: float, low: float, high: float, width: int, page: Page) -> str:
    if not math.isfinite(value):
        return "·" * width
    place = min(max((value / 2 - low / 2) / (high / 2 - low / 2), 0.0), 1.0)
    if not page.colour:
        return SHADES[min(int(place * len(SHADES)), len(SHADES) - 1)] * width
    at = place * (len(PALETTE) - 1)
    first = min(int(at), len(PALETTE) - 2)
    red, green, blue = (int(c) for c in PALETTE[first] + (PALETTE[first + 1] - PALETTE[first]) * (at - first))
    return f"\x1b[48;2;{red};{green};{blue}m{' ' * width}\x1b[0m"

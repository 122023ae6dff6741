"""Diagrams in characters: lines and points in Braille dots, histograms in bars of eighths, axes with round numbers.

In: a `Diagram`, and the page. Out: lines of text. What is not finite, and what has no logarithm where one is wanted,
leaves gaps, and is counted. Heat maps are in `heat`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from textwrap import wrap
from typing import Any

import numpy as np

from sacpy.repl.diagrams import Diagram, Series
from sacpy.repl.heat import heat_map
from sacpy.repl.page import Page
from sacpy.repl.scales import Scale, around, label, usable

Array = np.ndarray[Any, np.dtype[Any]]
Floats = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]
MOST_BINS = 20
HEIGHT = {"lines": 12, "scatter": 18}  # lines of a diagram, where the page has them
FRAME = 3  # lines below it: the axis, its numbers, and what each colour is
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # of a Braille cell, by row and column
EIGHTHS = " ▏▎▍▌▋▊▉█"
COLOURS = (36, 33, 32, 35, 34, 31, 96, 93, 92, 95)
MOST_STRETCHES = 20_000  # of a line; beyond that only its points are drawn


def drawn(diagram: Diagram, page: Page) -> str:
    """A diagram as text."""
    if diagram.array is None:
        return curves(diagram, page)
    return heat_map(diagram.array, page) if diagram.kind == "heat" else histogram(diagram.array, page)


# ---------------------------------------------------------------- lines and points


class _Canvas:
    """Dots, two columns and four rows of them in a character."""

    def __init__(self, columns: int, lines: int) -> None:
        self.width, self.height = 2 * columns, 4 * lines
        self._dots = np.zeros((self.height, self.width), bool)
        self._colours = np.zeros((lines, columns), np.int64)
        self.signs: dict[tuple[int, int], str] = {}  # characters in the place of dots, by line and column

    def points(self, xs: Ints, ys: Ints, colour: int) -> None:
        """Single dots."""
        self._dots[ys, xs] = True
        self._colours[ys // 4, xs // 2] = colour

    def bar(self, x: int, top: int, bottom: int, colour: int) -> None:
        """The dots between two of a column."""
        self._dots[top : bottom + 1, x] = True
        self._colours[top // 4 : bottom // 4 + 1, x // 2] = colour

    def line(self, number: int, page: Page) -> str:
        """A line of characters."""
        rows = self._dots[4 * number : 4 * number + 4]
        bits = sum((rows[r, c::2].astype(np.int64) * DOTS[r][c] for r in range(4) for c in range(2)), np.int64(0))
        text, before = "", 0
        for at, (cell, colour) in enumerate(zip(np.atleast_1d(bits).tolist(), self._colours[number].tolist())):
            sign = self.signs.get((number, at))
            if page.colour and (cell or sign) and colour != before:
                text += f"\x1b[{colour}m"
                before = colour
            text += sign or (chr(0x2800 + cell) if cell else " ")
        return text.rstrip() + ("\x1b[0m" if before else "")


def curves(diagram: Diagram, page: Page) -> str:
    """Lines or points."""
    kept = [usable(s.x, diagram.log_x) & usable(s.y, diagram.log_y) for s in diagram.series]
    x = around([s.x[k] for s, k in zip(diagram.series, kept)], diagram.log_x)
    if diagram.indexed and not diagram.log_x:
        x = Scale(0, max(len(s.x) for s in diagram.series) - 1) if x.low < x.high and x.low >= 0 else x
        x = x if x.low < x.high else Scale(x.low - 0.5, x.low + 0.5)
    y = around([s.y[k] for s, k in zip(diagram.series, kept)], diagram.log_y)
    several = len(diagram.series) > 1
    lines = max(min(HEIGHT[diagram.kind], page.lines - 2 - several), 3)
    marks = _rows_of(y, lines)
    margin = max(map(len, marks.values()), default=0)
    canvas = _Canvas(max(page.columns - margin - 2, 4), lines)
    for number, (series, k) in enumerate(zip(diagram.series, kept)):
        _draw(canvas, series, k, (x, y), COLOURS[number % len(COLOURS)], diagram.kind == "lines")
        if several and not page.colour:
            _sign(canvas, series, k, (x, y), number)
    sides = [f"{marks.get(i, ''):>{margin}} {'┤' if i in marks else '│'}" for i in range(lines)]
    text = [f"{side}{canvas.line(i, page)}".rstrip() for i, side in enumerate(sides)]
    text += _below(x, margin, canvas.width // 2, whole=diagram.indexed)
    legend = _legend(diagram.series, page) if several else []
    notes = [line for note in (*_left_out(diagram, kept), diagram.note) for line in wrap(note, page.columns)]
    return "\n".join([*text, *legend, *notes])


def _rows_of(y: Scale, lines: int) -> dict[int, str]:
    """The numbers beside an axis, by line."""
    found: dict[int, str] = {}
    for tick in y.ticks(max(lines // 3, 2)):
        found.setdefault(int(_places(y, np.array([tick]), 4 * lines, down=True)[0]) // 4, label(tick))
    return found


def _below(x: Scale, margin: int, columns: int, *, whole: bool) -> list[str]:
    """The axis below a diagram, and its numbers; `whole`: only whole ones."""
    ticks = (x.whole if whole else x.ticks)(max(columns // 10, 2))
    axis, numbers, end = ["─"] * columns, " " * margin + "  ", -1
    for tick in ticks:
        at = int(_places(x, np.array([tick]), columns)[0])
        word = label(tick)
        start = max(min(at - (len(word) - 1) // 2, columns - len(word)), 0)
        axis[at] = "┬"
        if start > end:
            numbers = numbers.ljust(margin + 2 + start) + word
            end = start + len(word)
    return [f"{'':>{margin}} └{''.join(axis)}", numbers.rstrip()]


def _places(scale: Scale, values: Floats, count: int, down: bool = False) -> Ints:
    """Which of so many places values lie on; `down`: counted from the high end."""
    at = np.clip(np.nan_to_num(scale.at(values)), 0, 1)
    return np.asarray(np.rint((1 - at if down else at) * (count - 1)), np.int64)


def _draw(canvas: _Canvas, series: Series, kept: Array, axes: tuple[Scale, Scale], colour: int, joined: bool) -> None:
    xs, ys = _places(axes[0], series.x, canvas.width), _places(axes[1], series.y, canvas.height, down=True)
    places = np.flatnonzero(kept)
    canvas.points(xs[places], ys[places], colour)
    if not joined or not places.size:
        return
    # Neighbours in one column are joined by a bar, whatever their number; then the ends of the bars are joined.
    breaks = np.flatnonzero((np.diff(places) != 1) | (np.diff(xs[places]) != 0)) + 1
    starts = np.concatenate([[0], breaks])
    ends = np.concatenate([breaks, [len(places)]]) - 1
    tops, bottoms = (f.reduceat(ys[places], starts) for f in (np.minimum, np.maximum))
    if len(starts) > MOST_STRETCHES:
        return
    for start, top, bottom in zip(starts.tolist(), tops.tolist(), bottoms.tolist()):
        canvas.bar(int(xs[places[start]]), top, bottom, colour)
    for end, start in zip(ends[:-1].tolist(), starts[1:].tolist()):
        a, b = int(places[end]), int(places[start])
        if b == a + 1:
            for x, top, bottom in _segment(int(xs[a]), int(ys[a]), int(xs[b]), int(ys[b])):
                canvas.bar(x, top, bottom, colour)


def _segment(x0: int, y0: int, x1: int, y1: int) -> Iterator[tuple[int, int, int]]:
    """The dots between two that are in different columns, column by column."""
    if x0 > x1:
        x0, y0, x1, y1 = x1, y1, x0, y0
    for x in range(x0, x1 + 1):
        here = y0 + (y1 - y0) * (x - x0) / (x1 - x0)
        after = y0 + (y1 - y0) * (min(x + 1, x1) - x0) / (x1 - x0)
        top, bottom = sorted((round(here), round((here + after) / 2)))
        yield x, top, bottom


def _sign(canvas: _Canvas, series: Series, kept: Array, axes: tuple[Scale, Scale], number: int) -> None:
    """Without colours: a letter at the last point says which series it is."""
    places = np.flatnonzero(kept)
    if places.size:
        last = places[-1:]
        x = int(_places(axes[0], series.x[last], canvas.width)[0]) // 2
        y = int(_places(axes[1], series.y[last], canvas.height, down=True)[0]) // 4
        canvas.signs[y, x] = _letter(number)


def _letter(number: int) -> str:
    return chr(ord("a") + number)


def _legend(series: Sequence[Series], page: Page) -> list[str]:
    """Which colour, or letter, is what; in as many lines as that takes."""
    lines, room = [""], page.columns
    for number, one in enumerate(series):
        word = " ".join(one.label.split())
        word = word if len(word) <= 40 else f"{word[:37]}..."
        if room < page.columns and room < len(word) + 5:
            lines.append("")
            room = page.columns
        sign = f"\x1b[{COLOURS[number % len(COLOURS)]}m━━\x1b[0m" if page.colour else f" {_letter(number)}"
        lines[-1] += f"{'' if room == page.columns else '  '}{sign} {word}"
        room -= len(word) + 5
    return [line[: page.columns] if not page.colour else line for line in lines]


def _left_out(diagram: Diagram, kept: Sequence[Array]) -> list[str]:
    total = sum(k.size for k in kept)
    count = total - sum(int(k.sum()) for k in kept)
    logs = diagram.log_x or diagram.log_y
    return [f"{count} of {total} not finite{', or not above 0' if logs else ''}"] if count else []


# ---------------------------------------------------------------- histograms


def histogram(array: Array, page: Page) -> str:
    """How many elements lie where: a bar for each interval, its last one closed."""
    values = np.asarray(array, np.float64).ravel()
    finite = values[np.isfinite(values)]
    missing = int(values.size - finite.size)
    note = [f"{missing} of {values.size} not finite"] if missing else []
    if not finite.size:
        return "\n".join(["no finite numbers", *note])
    counts, edges = _binned(array, finite, page)
    names = [_short(e, edges[-1] / 2 - edges[0] / 2) for e in edges.tolist()]
    heads = names if len(edges) == len(counts) else [f"{a} .. {b}" for a, b in pairwise(names)]
    margin, most = max(map(len, heads)), int(counts.max())
    room = max(page.columns - margin - len(str(most)) - 3, 4)
    rows = zip(heads, counts.tolist(), strict=True)
    return "\n".join([*(f"{head:>{margin}} │{_bar(count / most * room)} {count}" for head, count in rows), *note])


def _short(value: float, spread: float) -> str:
    """A number with as many digits as matter beside others that are `spread` apart."""
    return f"{0.0 if abs(value) < spread / 1000 else value:.4g}"


def _binned(array: Array, finite: Floats, page: Page) -> tuple[Array, Floats]:
    """Counts with the edges of their intervals; of few different integers one bar each, with the integer itself."""
    low, high = float(finite.min()), float(finite.max())
    most = max(min(MOST_BINS, page.lines), 2)
    if array.dtype.kind in "bui" and high - low < most:
        whole = np.arange(int(low), int(high) + 1)
        return np.bincount((finite - low).astype(int), minlength=len(whole)), whole.astype(np.float64)
    bins = min(most, max(int(math.log2(finite.size)) + 1, 5))  # Sturges' rule
    even = np.linspace(low, high, bins + 1) if math.isfinite(high - low) else np.zeros(1)
    if not (len(even) > 1 and (np.diff(even) > 0).all()):  # so few intervals there are between the two
        scale = around([finite])
        return np.array([finite.size]), np.array([scale.low, scale.high])
    counts, edges = np.histogram(finite, bins)
    return counts, edges


def _bar(length: float) -> str:
    whole = int(length)
    eighths = round((length - whole) * 8)
    return "█" * whole + (EIGHTHS[eighths] if eighths else "")

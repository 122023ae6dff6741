"""Diagrams as SVG, made of nothing but itself: for notebooks, and for files.

In: a `Diagram`. Out: SVG text. On a page (`inline`) it has no background, takes the page's colour for text and axes, so
that it can be read in dark themes, and is as wide as there is room; as a file it stands on white. What is not finite
leaves gaps; of long lines the smallest and largest value under each pixel are drawn, so that nothing that stands out is
lost.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from sacpy.interp import png
from sacpy.repl.diagrams import Diagram, Series
from sacpy.repl.heat import coloured
from sacpy.repl.scales import Floats, Scale, around, label, usable
from sacpy.withloop.scenes import PAGE_COLOUR

Array = np.ndarray[Any, np.dtype[Any]]
WIDTH, HEIGHT = 640, 340
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 28, 34
BINS = 60
COLOURS = (
    "#2f7fc1", "#d9660b", "#2a9d5c", "#c2497f", "#8468cf", "#96731c", "#14939b", "#d1443c", "#6f8f1f", "#6b7785",
)  # fmt: skip
"""Of series: each can be seen on white and on dark pages, and told from its neighbours."""
MARGIN = 0.05  # of the values, above and below
MOST_POINTS = 20_000  # of a scatter diagram, each drawn by itself; of more an even choice
MOST_LABEL, PER_ROW, ROW = 28, 3, 16  # of the names of series: characters, in a row, pixels of a row
INK, PAPER = "#333", "white"


def svg(diagram: Diagram, *, inline: bool = False) -> str:
    """A diagram as text of an SVG image."""
    if diagram.array is None:
        parts, note = _curves(diagram)
    else:
        parts = _heat_map(diagram.array) if diagram.kind == "heat" else _histogram(diagram.array)
        note = _missing(diagram.array)
    title = f"{diagram.title}: {diagram.about}"
    title = title if len(title) <= 80 and "\n" not in title else diagram.about
    head = f"<text x='{LEFT}' y='17' font-weight='bold'>"
    head += f"{escape(', '.join(filter(None, [title, diagram.note, note])))}</text>"
    height = HEIGHT + _legend_height(diagram)
    return framed(WIDTH, height, [head, *parts], inline, "font-family='sans-serif' font-size='12'")


# ---------------------------------------------------------------- lines and points


def _curves(diagram: Diagram) -> tuple[list[str], str]:
    kept = [usable(s.x, diagram.log_x) & usable(s.y, diagram.log_y) for s in diagram.series]
    margin = 0.0 if diagram.indexed else MARGIN / 2
    x = around([s.x[k] for s, k in zip(diagram.series, kept)], diagram.log_x, margin)
    y = around([s.y[k] for s, k in zip(diagram.series, kept)], diagram.log_y, MARGIN)
    if diagram.indexed and not diagram.log_x:
        x = Scale(0, max(max(len(s.x) for s in diagram.series) - 1, 1))
    parts = _axes(x, y, whole=diagram.indexed)
    for series, k, colour in zip(diagram.series, kept, COLOURS):
        alone = diagram.kind == "scatter" or int(k.sum()) == 1
        parts.append((_points if alone else _path)(series, k, (x, y), colour))
    if len(diagram.series) > 1:
        parts += _legend(diagram.series)
    count = sum(int(k.size - k.sum()) for k in kept)
    logs = ", or not above 0" if diagram.log_x or diagram.log_y else ""
    return parts, f"without {count} that {'is' if count == 1 else 'are'} not finite{logs}" if count else ""


def _across(x: Scale, values: Any) -> Floats:
    return LEFT + x.at(values) * (WIDTH - RIGHT - LEFT)


def _up(y: Scale, values: Any) -> Floats:
    return HEIGHT - BOTTOM - y.at(values) * (HEIGHT - BOTTOM - TOP)


def _path(series: Series, kept: Array, axes: tuple[Scale, Scale], colour: str) -> str:
    """A line, interrupted where a point is missing."""
    xs, ys = _across(axes[0], series.x), _up(axes[1], series.y)
    parts: list[str] = []
    before = -2
    for at in _thinned(xs, ys, kept).tolist():
        joined = before >= 0 and bool(kept[before + 1 : at].all())
        parts.append(f"{'L' if joined else 'M'}{xs[at]:.1f} {ys[at]:.1f}")
        before = at
    return f"<path d='{''.join(parts)}' fill='none' stroke='{colour}' stroke-width='1.6' stroke-linejoin='round'/>"


def _thinned(xs: Floats, ys: Floats, kept: Array) -> Any:
    """The points that are drawn: all; of many more than there are pixels the first, last, lowest and highest of each
    stretch that lies in one half of a pixel."""
    places = np.flatnonzero(kept)
    if len(places) <= 4 * WIDTH:
        return places
    columns = np.floor(2 * xs[places])
    starts = np.concatenate([[0], np.flatnonzero((np.diff(columns) != 0) | (np.diff(places) != 1)) + 1, [len(places)]])
    chosen: set[int] = set()
    for start, end in zip(starts[:-1].tolist(), starts[1:].tolist()):
        part = ys[places[start:end]]
        chosen |= {start, end - 1, start + int(part.argmin()), start + int(part.argmax())}
    return places[sorted(chosen)]


def _points(series: Series, kept: Array, axes: tuple[Scale, Scale], colour: str) -> str:
    """Each point as a dot: lines of no length with round ends, of which many fit into one path."""
    places = np.flatnonzero(kept)
    places = places[:: max(1, -(-len(places) // MOST_POINTS))]
    dots = "".join(
        f"M{x:.1f} {y:.1f}h0" for x, y in zip(_across(axes[0], series.x[places]), _up(axes[1], series.y[places]))
    )
    size = 5 if len(places) < 500 else 3 if len(places) < 5000 else 2
    return f"<path d='{dots}' stroke='{colour}' stroke-width='{size}' stroke-linecap='round' fill='none'/>"


def _legend(series: Sequence[Series]) -> list[str]:
    """What each colour is: short names beside the title, others below the diagram, in rows."""
    words = [" ".join(s.label.split()) for s in series]
    words = [w if len(w) <= MOST_LABEL else f"{w[: MOST_LABEL - 3]}..." for w in words]
    if all(len(w) <= 4 for w in words):
        places = [(WIDTH - RIGHT - 26 * (len(words) - k), 17) for k in range(len(words))]
    else:
        each = (WIDTH - LEFT - RIGHT) // PER_ROW
        places = [(LEFT + each * (k % PER_ROW), HEIGHT + 8 + ROW * (k // PER_ROW)) for k in range(len(words))]
    return [
        f"<text x='{x}' y='{y}' fill='{colour}' font-weight='bold'>{escape(word)}</text>"
        for word, colour, (x, y) in zip(words, COLOURS, places)
    ]


def _legend_height(diagram: Diagram) -> int:
    """What the names of the series need below the diagram."""
    short = all(len(s.label) <= 4 for s in diagram.series)
    return 0 if len(diagram.series) < 2 or short else ROW * -(-len(diagram.series) // PER_ROW)


def _axes(x: Scale, y: Scale, *, whole: bool) -> list[str]:
    """Grid lines with their numbers. `whole`: only whole numbers along x, which are indices."""
    parts = []
    for tick in y.ticks(5):
        at = float(_up(y, tick))
        parts.append(f"<path d='M{LEFT} {at:.1f}H{WIDTH - RIGHT}' stroke='#8884' fill='none'/>")
        parts.append(f"<text x='{LEFT - 8}' y='{at + 4:.1f}' text-anchor='end'>{label(tick)}</text>")
    for tick in x.whole(8) if whole else x.ticks(8):
        at = float(_across(x, tick))
        parts.append(f"<path d='M{at:.1f} {HEIGHT - BOTTOM}v4' stroke='#888' fill='none'/>")
        parts.append(f"<text x='{at:.1f}' y='{HEIGHT - BOTTOM + 17}' text-anchor='middle'>{label(tick)}</text>")
    return [*parts, f"<path d='M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}' stroke='#888' fill='none'/>"]


# ---------------------------------------------------------------- histograms and heat maps


def _histogram(array: Array) -> list[str]:
    """How often values occur."""
    finite = _finite(array)
    if array.dtype.kind in "iub" and finite.size and int(finite.max()) - int(finite.min()) < BINS:
        edges = np.arange(int(finite.min()) - 0.5, int(finite.max()) + 1.5)  # a bar for each number
    else:
        edges = _edges(finite, min(BINS, max(5, math.ceil(math.sqrt(finite.size)))))
    counts, _ = np.histogram(finite, edges)
    x, y = Scale(float(edges[0]), float(edges[-1])), Scale(0, float(max(counts.max(initial=0), 1)) * 1.05)
    parts = _axes(x, y, whole=False)
    for left, right, top in zip(_across(x, edges[:-1]), _across(x, edges[1:]), _up(y, counts)):
        size = f"width='{max(right - left - 0.5, 0.5):.1f}' height='{HEIGHT - BOTTOM - top:.1f}'"
        parts.append(f"<rect x='{left:.1f}' y='{top:.1f}' {size} fill='{COLOURS[0]}'/>")
    return parts


def _edges(finite: Array, count: int) -> Array:
    """The bounds of so many intervals; of one where the numbers lie too close for that."""
    scale = around([np.asarray(finite, np.float64)])
    low, high = scale.low, scale.high
    edges = np.array([low + (high / count - low / count) * k for k in range(count)] + [high])
    return edges if (np.diff(edges) > 0).all() else np.array([low, high])


def _finite(array: Array) -> Array:
    flat = array.ravel()
    return flat[np.isfinite(flat)] if array.dtype.kind == "f" else flat


def _missing(array: Array) -> str:
    count = array.size - _finite(array).size
    return f"without {count} that {'is' if count == 1 else 'are'} not finite" if count else ""


def _heat_map(array: Array) -> list[str]:
    """A matrix in colours, row 0 at the top, with the colours' scale beside it."""
    finite = _finite(array)
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    rows, columns = array.shape
    room_x, room_y = WIDTH - LEFT - RIGHT - 90, HEIGHT - TOP - BOTTOM
    unit = min(room_x / columns, room_y / rows)
    square = min(columns * unit, rows * unit) > 24
    wide, tall = (columns * unit, rows * unit) if square else (float(room_x), float(room_y))
    values = np.asarray(array, np.float64)
    known = np.isfinite(values)
    spread = Scale(low, high).at(values) if high > low else np.where(known, 0.5, np.nan)
    pixels = coloured(np.where(known, spread, np.nan))
    parts = [_picture(_reduced(pixels), LEFT, TOP, wide, tall)]
    for tick in Scale(-0.5, columns - 0.5).whole(max(2, int(wide // 70))):
        x = LEFT + (tick + 0.5) / columns * wide
        parts.append(f"<text x='{x:.1f}' y='{TOP + tall + 16:.1f}' text-anchor='middle'>{label(tick)}</text>")
    for tick in Scale(-0.5, rows - 0.5).whole(max(2, int(tall // 40))):
        y = TOP + (tick + 0.5) / rows * tall
        parts.append(f"<text x='{LEFT - 8}' y='{y + 4:.1f}' text-anchor='end'>{label(tick)}</text>")
    bar = LEFT + wide + 24
    parts.append(_picture(coloured(np.linspace(1, 0, 64)[:, None]), bar, TOP, 14, tall))
    scale = Scale(low, high) if high > low else Scale(low - 1, low + 1)
    for tick in scale.ticks(5) if high > low else [low]:
        y = TOP + tall * (1 - float(scale.at(tick)))
        parts.append(f"<text x='{bar + 20:.1f}' y='{y + 4:.1f}'>{label(tick)}</text>")
    return parts


def _reduced(pixels: png.Picture) -> png.Picture:
    """No more pixels than a screen has room for."""
    rows, columns = (-(-extent // 1024) for extent in pixels.shape[:2])
    return np.ascontiguousarray(pixels[::rows, ::columns])


def _picture(pixels: png.Picture, x: float, y: float, width: float, height: float) -> str:
    data = base64.b64encode(png.encode(pixels)).decode()
    place = f"x='{x:.1f}' y='{y:.1f}' width='{width:.1f}' height='{height:.1f}' preserveAspectRatio='none'"
    return f"<image {place} style='image-rendering: pixelated' href='data:image/png;base64,{data}'/>"


# ---------------------------------------------------------------- the frame


def framed(width: int, height: int, parts: Sequence[str], inline: bool, font: str) -> str:
    """Parts as an image: on a page as wide as there is room, in the page's colour and on its background."""
    box = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' {font} fill='currentColor'"
    if inline:
        style = f"width: 100%; max-width: {width}px; height: auto; color: {PAGE_COLOUR}"
        return f"{box} style='{style}'>{''.join(parts)}</svg>"
    paper = f"<rect width='{width}' height='{height}' fill='{PAPER}'/>"
    return f"{box} width='{width}' height='{height}' color='{INK}'>{paper}{''.join(parts)}</svg>"

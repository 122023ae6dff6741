"""Arrays as diagrams: lines, histograms and heat maps, drawn as SVG.

In: arrays of numbers. Out: SVG text, made of nothing but itself. NaN and infinities leave gaps; of long vectors the smallest and largest value under each pixel are drawn, so that nothing that stands out is lost.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from sacpy.interp import png
from sacpy.repl.diagrams import MOST_LINES

Array = np.ndarray[Any, np.dtype[Any]]
WIDTH, HEIGHT = 640, 340
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 28, 34
BINS = 60
COLOURS = ("#1f6fb4", "#d95f02", "#2a9d5c", "#b5367a", "#7a5cc4", "#8c6d1f")
_PALETTE = np.array([(24, 16, 72), (44, 84, 148), (32, 144, 140), (104, 196, 96), (252, 232, 64)], np.float64)
_UNKNOWN = (200, 200, 200)


@dataclass(frozen=True, slots=True)
class _Axis:
    """Values from `low` to `high` lie on the pixels from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def at(self, values: Any) -> Any:
        """The pixels of values. (Halves: the whole range of doubles is no double.)"""
        return self.start + (np.asarray(values, np.float64) / 2 - self.low / 2) / (self.high / 2 - self.low / 2) * (self.end - self.start)

    def ticks(self, count: int) -> list[float]:
        """Round values along the axis, about so many: steps of 1, 2 or 5 and a power of ten."""
        raw = self.high / count - self.low / count
        power = 10.0 ** math.floor(math.log10(raw))
        step = next(s * power for s in (1, 2, 5, 10) if s * power >= raw * 0.999)
        first = math.ceil(self.low / step - 1e-9)
        return [0.0 if (first + k) == 0 else (first + k) * step for k in range(math.floor(self.high / step + 1e-9) - first + 1)]


def lines(array: Array, title: str) -> str:
    """A vector as a line over its indices; a matrix as a line for each row (the first few)."""
    series = [np.asarray(row, np.float64) for row in (array[None] if array.ndim == 1 else array)[:MOST_LINES]]
    finite = np.concatenate([s[np.isfinite(s)] for s in series])
    length = array.shape[-1]
    x = _Axis(0, max(length - 1, 1), LEFT, WIDTH - RIGHT)
    y = _spread(finite, HEIGHT - BOTTOM, TOP)
    drawn = [f"<path d='{_path(s, x, y)}' fill='none' stroke='{colour}' stroke-width='1.6' stroke-linejoin='round'/>" for s, colour in zip(series, COLOURS)]
    if length == 1:
        drawn = [f"<circle cx='{LEFT}' cy='{float(y.at(s[0])):.1f}' r='3' fill='{colour}'/>" for s, colour in zip(series, COLOURS) if np.isfinite(s[0])]
    if len(series) > 1:
        drawn += [f"<text x='{WIDTH - RIGHT - 22 * (len(series) - 1 - k)}' y='17' text-anchor='end' fill='{COLOURS[k]}'>[{k}]</text>" for k in range(len(series))]
        left_out = array.shape[0] - len(series)
        title += f", the first {len(series)} of {array.shape[0]} rows" if left_out else ""
    return _framed(title, [*_axes(x, y, whole=True), *drawn])


def histogram(array: Array, title: str) -> str:
    """How often values occur."""
    finite = _finite(array)
    if array.dtype.kind in "iub" and finite.size and np.ptp(finite) < BINS:
        edges = np.arange(finite.min() - 0.5, finite.max() + 1.5)  # a bar for each number
    else:
        edges = _edges(finite, min(BINS, max(5, math.ceil(math.sqrt(finite.size)))))
    counts, _ = np.histogram(finite, edges)
    x = _Axis(float(edges[0]), float(edges[-1]), LEFT, WIDTH - RIGHT)
    y = _Axis(0, float(max(counts.max(initial=0), 1)) * 1.05, HEIGHT - BOTTOM, TOP)
    bars = []
    for left, right, count in zip(x.at(edges[:-1]), x.at(edges[1:]), counts):
        top = float(y.at(count))
        bars.append(f"<rect x='{left:.1f}' y='{top:.1f}' width='{max(right - left - 0.5, 0.5):.1f}' height='{HEIGHT - BOTTOM - top:.1f}' fill='{COLOURS[0]}'/>")
    return _framed(_with_gaps(title, array), [*_axes(x, y, whole=False), *bars])


def heat_map(array: Array, title: str) -> str:
    """A matrix in colours, row 0 at the top, with the colours' scale beside it."""
    finite = _finite(array)
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    height, width = array.shape
    room_x, room_y = WIDTH - LEFT - RIGHT - 90, HEIGHT - TOP - BOTTOM
    unit = min(room_x / width, room_y / height)
    wide, high_ = (width * unit, height * unit) if min(width * unit, height * unit) > 24 else (room_x, room_y)
    values = np.asarray(array, np.float64)
    pixels = _coloured((values - low) / (high - low) if high > low else np.zeros(array.shape))
    x, y = _Axis(-0.5, width - 0.5, LEFT, LEFT + wide), _Axis(-0.5, height - 0.5, TOP, TOP + high_)
    parts = [_picture(_reduced(pixels), LEFT, TOP, wide, high_)]
    parts += [f"<text x='{float(x.at(t)):.1f}' y='{TOP + high_ + 16:.1f}' text-anchor='middle'>{t:g}</text>" for t in x.ticks(max(2, int(wide // 70))) if t == int(t)]
    parts += [f"<text x='{LEFT - 8}' y='{float(y.at(t)) + 4:.1f}' text-anchor='end'>{t:g}</text>" for t in y.ticks(max(2, int(high_ // 40))) if t == int(t)]
    bar = LEFT + wide + 24
    parts += [_picture(_coloured(np.linspace(1, 0, 64)[:, None]), bar, TOP, 14, high_)]
    scale = _Axis(low, high if high > low else low + 1, TOP + high_, TOP)
    parts += [f"<text x='{bar + 20:.1f}' y='{float(scale.at(t)) + 4:.1f}'>{_number(t)}</text>" for t in (scale.ticks(5) if high > low else [low])]
    return _framed(_with_gaps(title, array), parts)


# ---------------------------------------------------------------- inside


def _edges(finite: Array, count: int) -> Array:
    """The bounds of so many intervals; of one where the numbers lie too close for that."""
    axis = _spread(finite, 0, 1)
    low, high = (float(finite.min()), float(finite.max())) if finite.size and finite.min() < finite.max() else (axis.low, axis.high)
    edges = np.array([low + (high / count - low / count) * k for k in range(count)] + [high])
    return edges if (np.diff(edges) > 0).all() else np.array([axis.low, axis.high])


def _finite(array: Array) -> Array:
    flat = array.ravel()
    return flat[np.isfinite(flat)] if array.dtype.kind == "f" else flat


def _with_gaps(title: str, array: Array) -> str:
    missing = array.size - _finite(array).size
    return title + (f", without {missing} that {'is' if missing == 1 else 'are'} not finite" if missing else "")


def _spread(finite: Array, start: float, end: float) -> _Axis:
    """An axis for values, with a little room at both ends."""
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    margin = (high - low) * 0.05 or abs(low) * 0.05 or 1.0
    if not math.isfinite(margin):
        margin = 0.0
    return _Axis(low - margin, high + margin, start, end)


def _path(values: Array, x: _Axis, y: _Axis) -> str:
    """The steps of a line, interrupted where values are not finite."""
    at, values = _thinned(values, 2 * int(x.end - x.start))
    parts: list[str] = []
    pen_up = True
    for left, value in zip(x.at(at), values):
        if not math.isfinite(value):
            pen_up = True
            continue
        parts.append(f"{'M' if pen_up else 'L'}{left:.1f} {float(y.at(value)):.1f}")
        pen_up = False
    return "".join(parts)


def _thinned(values: Array, most: int) -> tuple[Array, Array]:
    """Positions and values that are drawn: all, or the least and greatest of each stretch, in their order."""
    if values.size <= 2 * most:
        return np.arange(values.size), values
    pieces = np.array_split(np.arange(values.size), most // 2)
    kept: list[int] = []
    for piece in pieces:
        part = values[piece]
        if not np.isfinite(part).all():
            kept.append(int(piece[np.argmin(np.isfinite(part))]))
            part = np.where(np.isfinite(part), part, part[np.isfinite(part)][0] if np.isfinite(part).any() else 0)
        kept += sorted({int(piece[np.argmin(part)]), int(piece[np.argmax(part)])})
    where = np.unique(kept)
    return where, values[where]


def _axes(x: _Axis, y: _Axis, *, whole: bool) -> list[str]:
    """Grid lines with their values. `whole`: only whole numbers along x, which are indices."""
    parts = []
    for tick in y.ticks(5):
        at = float(y.at(tick))
        parts.append(f"<path d='M{LEFT} {at:.1f}H{WIDTH - RIGHT}' stroke='#8884' fill='none'/><text x='{LEFT - 8}' y='{at + 4:.1f}' text-anchor='end'>{_number(tick)}</text>")
    for tick in x.ticks(8):
        if not whole or tick == int(tick):
            at = float(x.at(tick))
            parts.append(f"<path d='M{at:.1f} {HEIGHT - BOTTOM}v4' stroke='#888' fill='none'/><text x='{at:.1f}' y='{HEIGHT - BOTTOM + 17}' text-anchor='middle'>{_number(tick)}</text>")
    return [*parts, f"<path d='M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}' stroke='#888' fill='none'/>"]


def _number(value: float) -> str:
    return f"{value:.6g}"


def _coloured(values: Array) -> png.Picture:
    """Numbers from 0 to 1 as colours from dark blue to yellow; grey for what is no number."""
    known = np.isfinite(values)
    scaled = np.clip(np.where(known, values, 0), 0, 1) * (len(_PALETTE) - 1)
    lower = np.minimum(scaled.astype(int), len(_PALETTE) - 2)
    part = (scaled - lower)[..., None]
    colours: png.Picture = (_PALETTE[lower] * (1 - part) + _PALETTE[lower + 1] * part + 0.5).astype(np.uint8)
    colours[~known] = _UNKNOWN
    return colours


def _reduced(pixels: png.Picture) -> png.Picture:
    """No more pixels than a screen has room for."""
    rows, columns = (-(-extent // 1024) for extent in pixels.shape[:2])
    return np.ascontiguousarray(pixels[::rows, ::columns])


def _picture(pixels: png.Picture, x: float, y: float, width: float, height: float) -> str:
    data = base64.b64encode(png.encode(pixels)).decode()
    style = "image-rendering: pixelated"
    return f"<image x='{x:.1f}' y='{y:.1f}' width='{width:.1f}' height='{height:.1f}' preserveAspectRatio='none' style='{style}' href='data:image/png;base64,{data}'/>"


def _framed(title: str, parts: Sequence[str]) -> str:
    """White behind it: text and lines must be seen on dark pages too."""
    head = f"<text x='{LEFT}' y='17' font-weight='bold'>{escape(title)}</text>"
    size = f"width='{WIDTH}' height='{HEIGHT}' viewBox='0 0 {WIDTH} {HEIGHT}'"
    return f"<svg xmlns='http://www.w3.org/2000/svg' {size} font-family='sans-serif' font-size='12' fill='#333'><rect width='{WIDTH}' height='{HEIGHT}' fill='white'/>{head}{''.join(parts)}</svg>"

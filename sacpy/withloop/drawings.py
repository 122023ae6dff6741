"""Mappings drawn as SVG: the index space, and the thread space behind each combinator, cells coloured by the block that does their work, idle threads hatched.

In: a mapping of a small space. Out: SVG text. Spaces of rank 3 and more are drawn plane by plane, each under its outer index. `ValueError` for a space of more than `MOST_CELLS` cells.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from sacpy.withloop.arithmetic import PLAIN
from sacpy.withloop.chains import Mapping
from sacpy.withloop.spaces import IndexSpace, Vector

MOST_CELLS = 4096
COLOURS = ("#7fb3e0", "#f2b179", "#8fd0a0", "#e59ab5", "#b9a7e6", "#d9c86a", "#86cfcf", "#d3a38c")
PAGE = 960  # pixels; panels that do not fit go below the others
WIDEST = 420  # of a plane
LARGEST, SMALLEST, LEGIBLE = 22.0, 3.0, 18.0  # widths of a cell; of one that its index fits into
LOWEST = 12.0  # height of a cell
GAP, TITLE, LABEL = 36, 22, 15


@dataclass(frozen=True, slots=True)
class _Cell:
    """What a position stands for: the number of the block that does its work, and whether it has work."""

    block: int
    active: bool


@dataclass(frozen=True, slots=True)
class _Panel:
    """A drawn space with its size in pixels."""

    width: float
    height: float
    parts: tuple[str, ...]


def svg(mapping: Mapping) -> str:
    """The picture of a mapping."""
    spaces = mapping.chain.spaces(mapping.space)
    if max((math.prod(_box(s)) for s in spaces), default=0) > MOST_CELLS or mapping.threads > MOST_CELLS:
        raise ValueError(f"a space of more than {MOST_CELLS} cells is too large to draw")
    titles = ["Gen", *(step.name + (f"({step.arguments()})" if step.arguments() else "") for step in mapping.chain.steps)]
    panels = [_panel(title, space, cells) for title, space, cells in zip(titles, spaces, _cells(mapping), strict=True)]
    x = y = row = wide = 0.0
    placed: list[str] = []
    for panel in panels:
        if x and x + panel.width > PAGE:
            x, y, row = 0.0, y + row + GAP, 0.0
        placed.append(f"<g transform='translate({x:.1f} {y:.1f})'>{''.join(panel.parts)}</g>")
        wide, row = max(wide, x + panel.width), max(row, panel.height)
        x += panel.width + GAP
    return _framed(placed, f"{mapping.chain}: grid {mapping.grid}, block {mapping.block}, {mapping.idle} of {mapping.threads} threads idle", wide, y + row)


def _cells(mapping: Mapping) -> list[dict[Vector, _Cell]]:
    """For the space itself and that behind each combinator, what its positions stand for: each thread is followed back to its index."""
    found: list[dict[Vector, _Cell]] = [{} for _ in range(len(mapping.stages) + 1)]
    numbers: dict[Vector, int] = {}
    for block, thread, index in mapping:
        cell = _Cell(numbers.setdefault(block, len(numbers)), index is not None)
        position: Vector = (*block, *thread)
        found[-1][position] = cell
        for k, stage in reversed(list(enumerate(mapping.stages))):
            position, guard = stage.combinator.recover(PLAIN, stage.form, stage.slots, position)
            if guard is not None and not guard:
                break
            found[k][position] = cell
    return found


def _origin(space: IndexSpace) -> Vector:
    return tuple(min(0, low) for low in space.lower)


def _box(space: IndexSpace) -> Vector:
    """The extents of what is drawn: from 0, or the least index, to the upper bounds."""
    return tuple(max(high - low, 0) for low, high in zip(_origin(space), space.upper))


def _panel(title: str, space: IndexSpace, cells: dict[Vector, _Cell]) -> _Panel:
    origin, box = _origin(space), _box(space)
    rows, columns = (1, 1) if not box else (1, box[0]) if len(box) == 1 else box[-2:]
    side = min(LARGEST, max(SMALLEST, WIDEST / max(columns, 1)))
    parts = [f"<text y='12' font-weight='bold'>{escape(title)}</text>"]
    y = float(TITLE)
    for outer in itertools.product(*(range(o, o + e) for o, e in zip(origin[:-2], box[:-2]))):
        if outer:
            parts.append(f"<text y='{y + 11:.1f}'>[{','.join(map(str, outer))},.,.]</text>")
            y += LABEL
        parts += _plane(outer, origin[len(outer) :], (rows, columns), len(box), side, y, cells)
        y += rows * max(side, LOWEST) + 6
    return _Panel(max(columns * side, 7.5 * len(title)), y, tuple(parts))


def _plane(outer: Vector, origin: Vector, size: tuple[int, int], rank: int, side: float, y: float, cells: dict[Vector, _Cell]) -> Iterator[str]:
    high = max(side, LOWEST)
    for i, j in itertools.product(range(size[0]), range(size[1])):
        inner = (i, j)[max(0, 2 - rank) :]
        position = (*outer, *(o + k for o, k in zip(origin, inner)))
        cell = cells.get(position)
        fill = "none" if cell is None else COLOURS[cell.block % len(COLOURS)] if cell.active else "url(#idle)"
        yield f"<rect x='{j * side:.1f}' y='{y + i * high:.1f}' width='{side:.1f}' height='{high:.1f}' fill='{fill}' stroke='#8886' stroke-width='0.5'/>"
        text = ("" if max(position, default=0) < 10 and min(position, default=0) >= 0 else ",").join(map(str, position))
        if side >= LEGIBLE and cell is not None and len(text) <= 5:
            yield f"<text x='{(j + 0.5) * side:.1f}' y='{y + (i + 0.5) * high + 3:.1f}' font-size='{9 if len(text) <= 3 else 7}' text-anchor='middle'>{text}</text>"


def _framed(panels: list[str], caption: str, width: float, height: float) -> str:
    wide, high = math.ceil(max(width, 6.6 * len(caption)) + 24), math.ceil(height + 48)
    hatch = "<pattern id='idle' width='5' height='5' patternUnits='userSpaceOnUse'><rect width='5' height='5' fill='#eee'/><path d='M0 5L5 0' stroke='#999' stroke-width='0.8'/></pattern>"
    head = f"<svg xmlns='http://www.w3.org/2000/svg' width='{wide}' height='{high}' viewBox='0 0 {wide} {high}' font-family='sans-serif' font-size='12' fill='#333'>"
    back = f"<defs>{hatch}</defs><rect width='{wide}' height='{high}' fill='white'/>"
    return f"{head}{back}<g transform='translate(12 12)'>{''.join(panels)}</g><text x='12' y='{high - 12}'>{escape(caption)}</text></svg>"

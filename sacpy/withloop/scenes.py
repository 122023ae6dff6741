"""What a drawing consists of, whatever draws it: boxes, lines and texts at places in pixels.

In: items. Out: SVG text; `rasters` makes pixels of the same scene.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from sacpy.nodes import Node, replace

FONT_ASPECT = 0.6  # width of a character of the typical font as a share of its size
INK, PALE, PAPER, FAINT = "#2b3038", "#8a919c", "#ffffff", "#c9ced6"
LABEL = "#23272e"  # of words that stand on a colour
PAGE_COLOUR = "var(--jp-ui-font-color1, var(--vscode-foreground, currentColor))"  # of the text around it, in a notebook


FONT = "DejaVu Sans Mono, Menlo, Consolas, monospace"


class Box(Node):
    """A rectangle. `fill` "" leaves it empty; `hatched`: with slanted lines; `about`: what a viewer shows when it is
    pointed at."""

    x: float
    y: float
    width: float
    height: float
    fill: str = ""
    edge: str = FAINT
    hatched: bool = False
    about: str = ""


class Text(Node):
    """Words on a base line at `y`. `anchor`: what of them is at `x`: "start", "middle" or "end"."""

    x: float
    y: float
    words: str
    size: float = 12.0
    colour: str = INK
    anchor: str = "start"
    bold: bool = False

    @property
    def width(self) -> float:
        """About how wide it is."""
        return FONT_ASPECT * self.size * len(self.words)


class Line(Node):
    """A straight line. `arrow`: with a head at its end."""

    x1: float
    y1: float
    x2: float
    y2: float
    colour: str = PALE
    width: float = 1.2
    arrow: bool = False


Item = Box | Text | Line


class Scene(Node):
    """A drawing with its size."""

    width: float
    height: float
    items: tuple[Item, ...]

    def moved(self, x: float, y: float) -> tuple[Item, ...]:
        """The items somewhere else."""
        return tuple(_moved(item, x, y) for item in self.items)


def _moved(item: Item, x: float, y: float) -> Item:
    if isinstance(item, Line):
        return replace(item, x1=item.x1 + x, x2=item.x2 + x, y1=item.y1 + y, y2=item.y2 + y)
    return replace(item, x=item.x + x, y=item.y + y)


def stacked(scenes: Sequence[Scene], gap: float = 28, margin: float = 16) -> Scene:
    """Scenes below one another."""
    items: list[Item] = []
    y = margin
    for scene in scenes:
        items += scene.moved(margin, y)
        y += scene.height + gap
    return Scene(max((s.width for s in scenes), default=0) + 2 * margin, y - gap + margin, tuple(items))


def arrow_head(line: Line, length: float = 7.0) -> tuple[tuple[float, float], ...]:
    """The three corners of an arrow's head."""
    angle = math.atan2(line.y2 - line.y1, line.x2 - line.x1)
    sides = [
        (line.x2 - length * math.cos(angle + turn), line.y2 - length * math.sin(angle + turn)) for turn in (0.45, -0.45)
    ]
    return ((line.x2, line.y2), *sides)


# ---------------------------------------------------------------- SVG


def to_svg(scene: Scene, *, inline: bool = False) -> str:
    """The scene as an SVG file on white; `inline`: as a part of a page, on its background, in the colour of its text,
    and as wide as there is room."""
    wide, high = math.ceil(scene.width), math.ceil(scene.height)
    hatch = (
        "<pattern id='idle' width='6' height='6' patternUnits='userSpaceOnUse'><path d='M-1 1L1 -1M0 6L6 0M5 7L7 "
        "5' stroke='#7d8590' stroke-width='0.9'/></pattern>"
    )
    body = "".join(map(_svg, scene.items))
    head = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {wide} {high}' font-family='{FONT}'"
    if inline:
        for colour, opacity in ((INK, ""), (PALE, " fill-opacity='0.65'")):
            body = body.replace(f"fill='{colour}'", f"fill='currentColor'{opacity}")
        style = f"width: 100%; max-width: {wide}px; height: auto; color: {PAGE_COLOUR}"
        return f"{head} style='{style}'><defs>{hatch}</defs>{body}</svg>\n"
    paper = f"<rect width='{wide}' height='{high}' fill='{PAPER}'/>"
    return f"{head} width='{wide}' height='{high}'><defs>{hatch}</defs>{paper}{body}</svg>\n"


def _svg(item: Item) -> str:
    match item:
        case Box():
            place = f"x='{item.x:.1f}' y='{item.y:.1f}' width='{item.width:.1f}' height='{item.height:.1f}'"
            title = f"<title>{escape(item.about)}</title>" if item.about else ""
            text = f"<rect {place} fill='{item.fill or 'none'}' stroke='{item.edge}' stroke-width='0.8'>{title}</rect>"
            return text + (f"<rect {place} fill='url(#idle)'>{title}</rect>" if item.hatched else "")
        case Line():
            tip = (
                f"<polygon points='{' '.join(f'{x:.1f},{y:.1f}' for x, y in arrow_head(item))}' fill='{item.colour}'/>"
                if item.arrow
                else ""
            )
            return (
                f"<path d='M{item.x1:.1f} {item.y1:.1f}L{item.x2:.1f} {item.y2:.1f}' stroke='{item.colour}' "
                f"stroke-width='{item.width}'/>{tip}"
            )
        case Text():
            weight = " font-weight='bold'" if item.bold else ""
            anchor = "" if item.anchor == "start" else f" text-anchor='{item.anchor}'"
            return (
                f"<text x='{item.x:.1f}' y='{item.y:.1f}' font-size='{item.size:g}' "
                f"fill='{item.colour}'{anchor}{weight}>{escape(item.words)}</text>"
            )

"""Where the arrays of functions lie, drawn: `sacpy picture --arrays`.

In: a program, and which of its functions. Out: a picture with a column for each array that has memory of its own, and a
row for each that is made, from top to bottom as in the text: from the row that makes it to the one that uses it last
there is a box in the column of the memory that it lies in. Arrows go from parts that are made elsewhere to the arrays
that they are copied into, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator

from sacpy.embedding.drawing import Drawing
from sacpy.jit.host.memory_plan import Kept, Layout, Made
from sacpy.jit.options import Options
from sacpy.lang.elaborate.program import ElaboratedProgram
from sacpy.nodes import Node
from sacpy.withloop.scenes import FAINT, FONT_ASPECT, INK, LABEL, PALE, Box, Item, Line, Scene, Text, stacked

ROW, WIDE, GAP = 20.0, 26.0, 10.0  # pixels: the height of a row, the width of a column, and what is between two
SIZE = 11.5  # of the text
COLOURS = ("#cfe3f7", "#d8efcf", "#fbe3c4", "#e6d9f2", "#f8d5d9", "#cdeeea", "#f2edc0", "#dfe3e8")
REFUSED = "#c0392b"
BEGINS, LIVES, ENDS = "\u252c", "\u2502", "\u2534"  # of memory, in characters
PLACED = "\u25cf"  # an array that is made there


class Function(Node):
    """What is drawn of a function: its title, and the layouts of it and of those that it calls."""

    title: str
    layouts: tuple[Layout, ...]


class MemoryPicture(Drawing):
    """The memory of functions."""

    functions: tuple[Function, ...]

    def text(self, columns: int) -> str:
        """In characters: the columns, and behind them what `--emit memory` says."""
        lines = []
        for f in self.functions:
            lines.append(f.title)
            for layout in f.layouts:
                lines += [layout.head, *_lines(layout)]
            lines.append("")
        return "".join(f"{line[:columns].rstrip()}\n" for line in lines) or "no array\n"

    def scene(self) -> Scene:
        """Functions below one another."""
        parts = [
            _scene(f.title if k == 0 else "", layout) for f in self.functions for k, layout in enumerate(f.layouts)
        ]
        return stacked(parts or [Scene(120, 20, (Text(0, 14, "no array"),))])


def drawn(program: ElaboratedProgram, which: str, options: Options) -> MemoryPicture:
    """The memory of the functions that `which` says: a name, a line, or "" for all of the user's. Raises `SacError`
    (E0781)."""
    from sacpy.jit.reports.stages import memory

    return MemoryPicture(tuple(Function(title, tuple(found)) for title, found in memory(program, which, options)))


class _Column(Node):
    """The memory of an array, from one row to another; -1 where it is there before the function begins."""

    name: str
    first: int
    last: int


def _columns(layout: Layout) -> list[_Column]:
    """In the order in which they are there. Memory is there until the last of what lies in it is used."""
    first: dict[str, int] = dict.fromkeys(layout.params, -1)
    last: dict[str, int] = dict.fromkeys(layout.params, 0)
    for number, row in enumerate(layout.rows):
        if isinstance(row, Made):
            memory = layout.memory(row.name)
            first.setdefault(memory, number)
            last[memory] = max(last.get(memory, number), number, layout.until.get(row.name, number))
    for name, number in layout.until.items():
        memory = layout.memory(name)
        if memory in first:
            last[memory] = max(last[memory], number)
    return [_Column(name, first[name], last[name]) for name in first]


def _lines(layout: Layout) -> Iterator[str]:
    columns = _columns(layout)
    for number, row in enumerate(layout.rows):
        here = layout.memory(row.name) if isinstance(row, Made) else ""
        signs = " ".join(_sign(c, number, here) for c in columns)
        yield f"{signs} {row.text}"


def _sign(column: _Column, number: int, here: str) -> str:
    if column.name == here:
        return BEGINS if column.first == number else PLACED
    if not column.first <= number <= column.last:
        return " "
    return ENDS if number == column.last else LIVES


def _scene(title: str, layout: Layout) -> Scene:
    columns = _columns(layout)
    at = {c.name: k * (WIDE + GAP) for k, c in enumerate(columns)}
    top = 34.0 if title else 18.0
    head = top + 22.0
    items: list[Item] = [Text(0, 12, title, 13, bold=True)] if title else []
    items.append(Text(0, top - 4, layout.head, SIZE, PALE))
    for k, c in enumerate(columns):
        begin, end = head + ROW * max(c.first, 0) - (ROW / 2 if c.first < 0 else 0), head + ROW * (c.last + 1)
        items.append(Box(at[c.name], begin, WIDE, end - begin, COLOURS[k % len(COLOURS)], FAINT, about=_about(c)))
        items.append(Text(at[c.name] + WIDE / 2, begin - 3, _short(c.name), 8.5, LABEL, "middle"))
    words = (WIDE + GAP) * len(columns) + 8
    width = words
    for number, row in enumerate(layout.rows):
        y = head + ROW * number
        x = words + 2 * SIZE * FONT_ASPECT * row.depth
        if isinstance(row, Made):
            memory = layout.memory(row.name)
            lives = ROW * (layout.until.get(row.name, number) - number + 1)
            about = f"{row.name}: {row.lies.words}"
            items.append(Box(at[memory] + 5, y + 3, WIDE - 10, lives - 6, "", INK, about=about))
            told, colour = f"{row.name} = {row.kind}", INK
            reason = row.lies.words
        else:
            told, colour = f"{row.part} is not made in {row.whole}", REFUSED
            reason = row.reason
            items += _arrow(row, layout, at, y + ROW / 2)
        text = Text(x, y + 14, f"{told}: {reason}", SIZE, colour)
        items.append(text)
        width = max(width, x + text.width)
    width = max(width, *(t.x + t.width for t in items if isinstance(t, Text)))
    return Scene(width, head + ROW * max(len(layout.rows), 1), tuple(items))


def _about(column: _Column) -> str:
    return f"the memory of {column.name}" + (", which is there before" if column.first < 0 else "")


def _short(name: str) -> str:
    return name if len(name) <= 7 else name[:6] + "\u2026"


def _arrow(row: Kept, layout: Layout, at: dict[str, float], y: float) -> list[Item]:
    """From the column of a part to that which it is copied into, where both are drawn."""
    ends = [at.get(layout.memory(name)) for name in (row.part, row.whole)]
    if None in ends or ends[0] == ends[1]:
        return []
    x1, x2 = (float(x or 0) + WIDE / 2 for x in ends)
    return [Line(x1, y, x2, y, REFUSED, arrow=True)]

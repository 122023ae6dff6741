"""Mappings drawn as the figures of Janssen and Scholz are: the index space and the thread space behind each combinator
side by side, cells coloured by the block that does their work, idle threads hatched.

In: a mapping. Out: a `Scene`, and SVG text of it. Planes of spaces of rank 3 stand in a row, those of rank 4 in a
table, further axes one below the other; of long axes the first and last positions are drawn, with how many are left
out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from sacpy.nodes import Node
from sacpy.withloop.arithmetic import PLAIN
from sacpy.withloop.chains import Mapping
from sacpy.withloop.inverse import journey, worker
from sacpy.withloop.placement import AXES
from sacpy.withloop.scenes import FAINT, FONT_ASPECT, INK, LABEL, PALE, Box, Item, Line, Scene, Text, stacked, to_svg
from sacpy.withloop.spaces import IndexSpace, Vector

COLOURS = (
    "#9ccbf0", "#f7c78e", "#a9dcb3", "#f1aebb", "#cbbcf0", "#eadf8c", "#9fdcdc", "#dfb9a4", "#e052e0",
    "#52e052", "#7474e7", "#e06052", "#e05299", "#b6e052", "#52e099", "#ed97ed", "#6396e3", "#cc667a",
    "#e08b52", "#b67caa", "#9ad175", "#52e0c4", "#f6f2cb", "#e9d8e6", "#ad66cc", "#e0d252", "#d18875",
    "#7c8eb6", "#b197ed", "#b6b07c", "#b67c88", "#e363ca",
)  # fmt: skip
"""Of blocks, in their order: words can be read on each, and each is as far from those before it as could be, as the eye
sees it. Of more blocks the next begins with the first again."""
PAGE = 1120.0  # panels that do not fit go below the others
ROWS = {2: 14, 3: 10, 4: 8}  # positions of the second last axis that are drawn, by rank; of higher ranks as of 4
WIDEST = {1: 940.0, 2: 460.0, 3: 330.0, 4: 240.0}  # of a plane, in pixels, by rank
PLANES = 5  # that stand in a row, where they are not too wide
DOWN, DEEP = 4, 2  # positions drawn of the fourth last axis, and of those before it
CELL, TALL = 26.0, 22.0
GAP = 64.0  # between panels, with the arrow
HEAD = 52.0  # above the cells of a panel


class _Cell(Node):
    """What a position stands for. `block`: the launched block that does its work, None where it is no index of the
    space; `active`: its thread has an index."""

    block: Vector | None
    active: bool
    about: str = ""


_Positions = tuple[int | None, ...]  # those of an axis that are drawn; None stands for those left out


class _Panel(Node):
    """A space of the mapping: behind `stage` combinators. `axes`: what its axes are called."""

    title: str
    space: IndexSpace
    stage: int
    axes: tuple[str, ...]
    subtitle: str


def svg(mapping: Mapping, step: int | None = None, *, inline: bool = False) -> str:
    """The picture of a mapping as an SVG file. `step`: of the combinator with this number only, counted from the
    innermost, 1; `inline`: as a part of a page."""
    return to_svg(stacked([scene(mapping, step)]), inline=inline)


def scene(mapping: Mapping, step: int | None = None, title: str = "") -> Scene:
    """The picture of a mapping. `ValueError` for a step that it does not have."""
    panels = _panels(mapping)
    if step is not None:
        if not 1 <= step < len(panels):
            raise ValueError(
                f"the mapping has no step {step}; its steps are "
                f"{', '.join(f'{k} {p.title}' for k, p in enumerate(panels) if k)}"
                if len(panels) > 1
                else "the mapping has no steps"
            )
        panels = panels[step - 1 : step + 1]
    items: list[Item] = []
    y = 0.0
    for text, size, colour, bold in ((title, 13.0, INK, True), (str(mapping.chain), 11.5, INK, not title)):
        if text:
            y += size + 6
            items.append(Text(0, y, text, size, colour, bold=bold))
    y += 14
    drawn = [_drawn(mapping, panel) for panel in panels]
    x = row = wide = 0.0
    for k, part in enumerate(drawn):
        if x and x + GAP + part.width > PAGE:
            x, y, row = 0.0, y + row + 26, 0.0
        if k:
            middle = y + HEAD + TALL / 2
            items.append(
                Line(x + 14, middle, x + GAP - 14, middle, arrow=True)
                if x
                else Line(8, middle, GAP - 22, middle, arrow=True)
            )
            x += GAP if x else GAP - 12
        items += part.moved(x, y)
        x += part.width
        row, wide = max(row, part.height), max(wide, x)
    y += row + 14
    legend, legend_width = _legend(mapping, y)
    items += legend
    wide = max(wide, legend_width, *(i.x + i.width for i in items if isinstance(i, Text) and i.anchor == "start"))
    return Scene(wide, y + 22, tuple(items))


def _legend(mapping: Mapping, y: float) -> tuple[list[Item], float]:
    """What the colours mean, and the numbers of the launch."""
    placement = mapping.placement
    each = math.prod(placement.each)
    threads, cells = mapping.threads // each, f" with {each} cells each" if each > 1 else ""
    numbers = (
        f"grid {_product(placement.launched)}, block {_product(placement.threads)}: {threads} "
        f"thread{'s' * (threads != 1)}{cells}, {mapping.idle}{' cells' if each > 1 else ''} idle"
    )
    if any(placement.strided):
        numbers += (
            "; a block works for "
            f"{_product(tuple(-(-g // n) for g, n in zip(placement.grid, placement.launched)))} of the grid "
            f"{_product(placement.grid)}"
        )
    items: list[Item] = [*(Box(k * 11.0, y, 11, 11, c) for k, c in enumerate(COLOURS[:4]))]
    x = 50.0
    items.append(Text(x, y + 9.5, "one colour per block", 10, PALE))
    x += 140
    if mapping.idle:
        items += [Box(x, y, 18, 11, "#f3f4f6", hatched=True), Text(x + 24, y + 9.5, "idle thread", 10, PALE)]
        x += 110
    items.append(Text(x, y + 9.5, numbers, 10, INK))
    return items, x + FONT_ASPECT * 10 * len(numbers)


def _product(extents: Sequence[int]) -> str:
    return " x ".join(map(str, extents)) or "1"


# ---------------------------------------------------------------- panels


def _panels(mapping: Mapping) -> list[_Panel]:
    """The index space, the space behind each combinator; the last one with its axes named as the launch's."""
    grid, block = mapping.placement.grid, mapping.placement.block
    launch = (*(f"grid {n}" for n in _names(len(grid))), *(f"block {n}" for n in _names(len(block))))
    found = []
    for k, space in enumerate([mapping.space.normalised(), *(stage.after for stage in mapping.stages)]):
        step = mapping.stages[k - 1].combinator if k else None
        title = "Gen" if step is None else step.name + (f"({step.arguments()})" if step.arguments() else "")
        last = k == len(mapping.stages)
        axes = launch if last else tuple(f"axis {n}" for n in range(space.rank))
        if last:
            title += f", GridBlock({len(block)})"
        about = _vectors(space)
        if space.rank > 2:
            about += f", a table for each index of {' and '.join(axes[:-2])}"
        found.append(_Panel(title, space, k, axes, about))
    return found


def _names(count: int) -> Sequence[str]:
    return AXES[3 - count :] if count <= 3 else [str(k) for k in range(count)]


def _vectors(space: IndexSpace) -> str:
    """The space as the paper writes it, vectors that say nothing left out."""
    text = "" if space.zero_based else f"L={_listed(space.lower)} "
    text += f"U={_listed(space.upper)}"
    if space.growth:
        return f"{text} {space.growth:+d} each row"
    return text if space.dense else f"{text} T={_listed(space.step)} W={_listed(space.width)}"


def _listed(vector: Vector) -> str:
    return f"[{','.join(map(str, vector))}]"


def _drawn(mapping: Mapping, panel: _Panel) -> Scene:
    """A panel at the origin: title, axes, cells."""
    space = panel.space
    origin = tuple(min(0, low) for low in space.lower)
    items: list[Item] = [Text(0, 13, panel.title, 12, bold=True), Text(0, 28, panel.subtitle, 10, PALE)]
    if space.empty:
        items.append(Text(0, HEAD + 12, "empty: nothing is launched", 11, PALE))
        return Scene(_width(items), HEAD + 18, tuple(items))
    names = panel.axes
    cell = _cell_width(space)
    side = _side(names, space.rank)
    shown = [_shown(o, high, n) for o, high, n in zip(origin, space.corner, _most(space, cell, side))]
    rows, columns = shown[-2:] if space.rank > 1 else ((0,), *shown) if space.rank else ((0,), (0,))
    outer = shown[:-2]
    plane = (_extent(columns, cell), _extent(rows, TALL))
    across = outer[-1] if outer else (None,)
    y = HEAD
    right = 0.0
    skipped = False
    for above in itertools.product(*outer[:-1]):
        if any(a is None for a in above):
            if not skipped:
                items.append(Text(side + 4, y + 8, "...", 12, PALE))
                y += 20
            skipped = True
            continue
        skipped = False
        x = side
        for last in across if outer else (0,):
            fixed: Vector = (*(a for a in above if a is not None), *([last] if outer and last is not None else []))
            if outer and last is None:
                left_out = _left_out(origin[len(outer) - 1], space.corner[len(outer) - 1], across)
                items.append(Text(x - 2, y + 24 + plane[1] / 2, f".. {left_out} ..", 10, PALE))
                x += FONT_ASPECT * 10 * (len(str(left_out)) + 7) + 8
                continue
            top = y
            if fixed:
                items.append(Text(x, y + 10, f"[{','.join(map(str, fixed))},.,.]", 10, INK))
                top += 16
            items += _plane(
                mapping, panel, fixed, (rows, columns), (x, top), cell, names if x == side and y == HEAD else ()
            )
            x += plane[0] + 18
        right = max(right, x - 18)
        y += plane[1] + (16 if outer else 0) + 14
    return Scene(max(_width(items), right), y - 8, tuple(items))


def _width(items: Sequence[Item]) -> float:
    return max(i.x + i.width for i in items if isinstance(i, Text))


def _most(space: IndexSpace, cell: float, side: float) -> Vector:
    """How many positions of each axis are drawn, gaps included."""
    rank = space.rank
    if not rank:
        return ()
    columns = max(5, int(WIDEST[min(rank, 4)] / cell))
    if rank == 1:
        return (columns,)
    width = _extent(_shown(0, space.corner[-1] - min(0, space.lower[-1]), columns), cell)
    planes = max(2, min(PLANES, int((PAGE - side) / (width + 18))))
    return (*(DEEP,) * (rank - 4), *(DOWN,) * (rank > 3), *(planes,) * (rank > 2), ROWS[min(rank, 4)], columns)


def _shown(low: int, high: int, most: int) -> _Positions:
    """The positions of an axis that are drawn: all, or the first ones and the last."""
    if high - low <= most:
        return tuple(range(low, high))
    tail = 2 if most > 5 else 1
    # the gap takes the room of a position
    return (*range(low, low + max(1, most - tail - 1)), None, *range(high - tail, high))


def _left_out(low: int, high: int, shown: _Positions) -> int:
    return high - low - sum(p is not None for p in shown)


def _extent(shown: _Positions, size: float) -> float:
    return sum(size if p is not None else 1.6 * size for p in shown)


def _side(names: Sequence[str], rank: int) -> float:
    """Room to the left of the cells, for the name of the rows' axis."""
    return 12 + FONT_ASPECT * 9.5 * len(names[-2]) if rank > 1 else 0


def _cell_width(space: IndexSpace) -> float:
    """Room for the longest index."""
    longest = max(len(_label(space, ends)) for ends in (tuple(high - 1 for high in space.corner), space.lower))
    return max(CELL, FONT_ASPECT * 9.5 * longest + 7)


def _label(space: IndexSpace, position: Vector) -> str:
    """A position in its cell: its last two components. The others stand over the plane."""
    single = all(low >= 0 and high <= 10 for low, high in zip(space.lower[-2:], space.corner[-2:]))
    return ("" if single else ",").join(map(str, position[-2:]))


# ---------------------------------------------------------------- cells


def _plane(
    mapping: Mapping,
    panel: _Panel,
    fixed: Vector,
    shown: tuple[_Positions, _Positions],
    at: tuple[float, float],
    cell: float,
    names: Sequence[str],
) -> list[Item]:
    """The cells of the last two axes, with the axes' names where they are given."""
    space, (rows, columns), (left, top) = panel.space, shown, at
    items: list[Item] = []
    y = top
    for i in rows:
        x = left
        height = TALL if i is not None else 1.6 * TALL
        for j in columns:
            width = cell if j is not None else 1.6 * cell
            if i is None or j is None:
                items.append(_ellipsis(space, fixed, shown, (i, j), (x, y, width, height)))
            else:
                position = (*fixed, i, j)[max(0, 2 - space.rank) :] if space.rank < 2 else (*fixed, i, j)
                found = _cell(mapping, panel, position)
                number = _number(found.block or (), mapping.placement.launched)
                items += _drawn_cell(found, number, _label(space, position), (x, y, width, height))
            x += width
        y += height
    if names and space.rank:
        above = top - 6 if not fixed else top - 20
        name = Text(left, above, names[-1], 9.5, PALE)
        items += [name, _arrow(left + name.width + 5, above - 3.5, 16, 0)]
        if space.rank > 1:
            items += [Text(left - 6, top + 14, names[-2], 9.5, PALE, "end"), _arrow(left - 11, top + 20, 0, 16)]
    return items


def _arrow(x: float, y: float, right: float, down: float) -> Line:
    return Line(x, y, x + right, y + down, width=1.0, arrow=True)


def _number(block: Vector, launched: Vector) -> int:
    """Which of the launched blocks one is, counted along the last axis first."""
    number = 0
    for place, extent in zip(block, launched):
        number = number * extent + place
    return number


def _drawn_cell(cell: _Cell, number: int, label: str, box: tuple[float, float, float, float]) -> list[Item]:
    x, y, width, height = box
    middle = (x + width / 2, y + height / 2 + 3.4)
    if cell.block is None:
        return [Box(*box, about=cell.about), Text(*middle, "..", 9.5, FAINT, "middle")]
    if not cell.active:
        return [Box(*box, "#f3f4f6", hatched=True, about=cell.about)]
    colour = COLOURS[number % len(COLOURS)]
    return [Box(*box, colour, "#ffffff", about=cell.about), Text(*middle, label, 9.5, LABEL, "middle")]


def _ellipsis(
    space: IndexSpace,
    fixed: Vector,
    shown: tuple[_Positions, _Positions],
    at: tuple[int | None, int | None],
    box: tuple[float, float, float, float],
) -> Text:
    """What stands for positions left out: how many, in the middle of the row or column."""
    x, y, width, height = box
    axis = space.rank - 1 if at[0] is not None else space.rank - 2
    positions = shown[1] if at[0] is not None else shown[0]
    counted = (at[0] is not None and at[0] == next(p for p in shown[0] if p is not None)) or (
        at[0] is None and at[1] == next(p for p in shown[1] if p is not None)
    )
    words = f"+{_left_out(min(0, space.lower[axis]), space.corner[axis], positions)}" if counted else ".."
    return Text(x + width / 2, y + height / 2 + 3.4, words, 9.0, PALE, "middle")


def _cell(mapping: Mapping, panel: _Panel, position: Vector) -> _Cell:
    """What a position of the panel's space stands for: it is followed back to its index, which is followed on to its
    thread."""
    if position not in panel.space:
        return _Cell(None, False)
    index, active = position, True
    for stage in reversed(mapping.stages[: panel.stage]):
        index, guard = stage.combinator.recover(PLAIN, stage.form, stage.slots, index)
        active = active and (guard is None or bool(guard))
    if active and index in mapping.space:
        thread = journey(mapping, index)[-1]
        at = len(mapping.placement.grid)
        block = worker(mapping, thread[:at])
        return _Cell(block, True, f"index {_listed(index)}: block {_listed(block)}, thread {_listed(thread[at:])}")
    return _Cell((), False, "an idle thread")

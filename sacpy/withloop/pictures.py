"""Index spaces and mappings drawn in characters, as the figures of Janssen and Scholz are.

In: a small space, or a chain and a small space. Out: text. Every cell shows its index; dots are gaps, and threads that
do nothing. Spaces of rank 3 and more are drawn plane by plane.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

from sacpy.withloop.arithmetic import PLAIN
from sacpy.withloop.chains import Chain, Stage
from sacpy.withloop.combinators import Combinator
from sacpy.withloop.spaces import IndexSpace, Vector

MOST_CELLS = 512
_ARROW = " ---> "


def picture(space: IndexSpace) -> str:
    """The space on the positions from 0, or its least lower bound, to its upper bounds."""
    space = space.normalised()
    return _draw(space, lambda index: index in space)


def steps(chain: Chain, space: IndexSpace, columns: int = 120, step: int | None = None) -> str:
    """The space and the thread space behind each combinator, from left to right, each under the step that made it;
    below one another where they are wider than `columns`. `step`: before and behind the combinator with this number
    only, counted from the innermost, 1. `MappingError` where the chain does not fit the space."""
    stages = list(chain.stages(space))
    drawn = [("Gen", picture(space))]
    drawn += [
        (_title(stage.combinator), _draw(stage.after, _active(stages[: k + 1]))) for k, stage in enumerate(stages)
    ]
    if step is not None:
        drawn = drawn[step - 1 : step + 1]
    panels = [[title, "", *text.split("\n")] for title, text in drawn]
    widths = [max(map(len, panel)) for panel in panels]
    if sum(widths) + len(_ARROW) * (len(panels) - 1) > columns:
        return "\n\n".join("\n".join(panel) for panel in panels)
    height = max(map(len, panels))
    middle = 2 + (height - 2) // 2
    lines = []
    for row in range(height):
        cells = [(panel[row] if row < len(panel) else "").ljust(width) for panel, width in zip(panels, widths)]
        lines.append((_ARROW if row == middle else " " * len(_ARROW)).join(cells).rstrip())
    return "\n".join(lines)


def _title(step: Combinator) -> str:
    return step.name + (f"({step.arguments()})" if step.arguments() else "")


def _active(stages: list[Stage]) -> Callable[[Vector], bool]:
    """Whether a position behind the stages stands for an index of the first space."""

    def active(position: Vector) -> bool:
        if position not in stages[-1].after:
            return False
        index, works = position, True
        for stage in reversed(stages):
            index, guard = stage.combinator.recover(PLAIN, stage.form, stage.slots, index)
            works = works and (guard is None or bool(guard))
        return works and index in stages[0].before

    return active


def _draw(space: IndexSpace, there: Callable[[Vector], bool]) -> str:
    """The cells of the box around the space, one line for each row, planes with a blank line and their outer index
    between."""
    origin = tuple(min(0, low) for low in space.lower)
    axes = [range(low, high) for low, high in zip(origin, space.corner)]
    cells = 1
    for axis in axes:
        cells *= len(axis)
    if cells > MOST_CELLS:
        return f"{' x '.join(str(len(axis)) for axis in axes)} cells, too many to draw"
    if not cells:
        return "(empty)"
    if not axes:
        return "()" if there(()) else ".."
    digits = all(axis.start >= 0 and axis.stop <= 10 for axis in axes)
    names = {index: ("" if digits else ",").join(map(str, index)) for index in itertools.product(*axes)}
    width = max(map(len, names.values()))
    blank = ".." if len(axes) > 1 else "."
    planes = []
    for outer in itertools.product(*axes[:-2]):
        rows = [outer] if len(axes) == 1 else [(*outer, i) for i in axes[-2]]
        lines = [
            " ".join((names[index] if there(index) else blank).rjust(width) for index in ((*row, j) for j in axes[-1]))
            for row in rows
        ]
        planes.append("\n".join([f"[{', '.join(map(str, outer))}, *, *]", *lines] if outer else lines))
    return "\n\n".join(planes)

"""How an array lies in a dense one that it is a part of, axis by axis: of arguments and of results.

In: what the border of Python finds of an argument (`host/strides`). Out: a `Layout`, which the code for such arguments
is made for (`passes/strided_arguments`). A result is a `Part` of what code has made where that need not be copied
(`passes/view_results`). What a call asks for of both is a `Border`.
"""

from __future__ import annotations

from sacpy.nodes import Node


class Layout(Node):
    """Where an array lies in a dense one: by the axes of that, which axis of the array runs along it (`order`), whether
    from its end on (`turned`), and in which steps; 0 where there is one index. `gap`: the extent of one more axis,
    along which it is at 0; 1: there is none, 0: it is only known when code runs."""

    order: tuple[int, ...]
    turned: tuple[bool, ...]
    steps: tuple[int, ...]
    gap: int = 1

    @property
    def is_dense_inside(self) -> bool:
        """Whether neighbours along the last axis are neighbours in memory."""
        return self.order[-1] == len(self.order) - 1 and self.steps[-1] == 1 and self.gap == 1


Extent = int | tuple[None, int]  # a number, or the position of the root's result that holds it


# Which elements of a larger array a result has: the extents of that, and for each axis of it the first index, the axis
# of the result that runs along it (None: there is one index) and in which steps.
Part = tuple[tuple[Extent, ...], tuple[tuple[Extent, int | None, int], ...]]


class Border(Node):
    """How arrays cross the border to Python. `layouts`: of arguments that are not dense, by their numbers; `views`:
    results may be parts of arrays that are nobody else's."""

    layouts: tuple[tuple[int, Layout], ...] = ()
    views: bool = False

"""How an array lies in a dense one that it is a part of, axis by axis.

In: what the border of Python finds of an argument (`host/strides`). Out: a `Layout`, which the code for such arguments
is made for (`passes/strided_arguments`).
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

"""One use of a primitive, as the shape rules see it."""

from __future__ import annotations

from collections.abc import Callable

from sacpy.lang.lattice import outer, show
from sacpy.lang.primitives import PRIMITIVES
from sacpy.lang.types import Shape
from sacpy.nodes import Node


class Operation(Node):
    """One use of a primitive."""

    op: str
    bases: tuple[str, ...]
    shapes: tuple[Shape, ...]
    form: str = ""
    cell: int = 0
    attrs: tuple[object, ...] = ()

    def show(self, arg: int) -> str:
        """The type of an operand in words."""
        return show(self.bases[arg], outer(self.shapes[arg], self.cell if carries_cell(self.op, arg) else 0))


Rule = Callable[[Operation], Shape]


def carries_cell(op: str, arg: int) -> bool:
    """Whether an operand of a structural primitive carries the element's own axes."""
    primitive = PRIMITIVES.get(op)
    return primitive is not None and primitive.structural and primitive.args[min(arg, len(primitive.args) - 1)] == "T"

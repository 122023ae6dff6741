"""The operations of graphs: the types of their results, and which of them are dear.

In: the name of an operation, and its operands. Out: the base type of its result, by the row that it has in the
language's table of primitives.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.ir.graph import Atom, Const, Op
from sacpy.lang import reals
from sacpy.lang.primitives import PRIMITIVES

# routines of the C library, each as dear as many other operations
ROUTINES = frozenset([*reals.TRANSCENDENTAL, "atan2", "pow", "hypot", "fmod"])


# The row and the place in it of an element of rows that grow (`lang.primitives`), the growth a constant.
PLACES = frozenset(["row", "column"])


# Of kernels alone: a float rounded to the nearest one with 10 bits behind the point, of two the one further from 0.
ROUNDED = {"totf32": "float"}


class GraphError(Exception):
    """A graph breaks a law: a defect of the pass that made it."""


def known_place(op: Op) -> Const | None:
    """The result of one of `PLACES`, where all its operands are constants."""
    known = [int(a.value) for a in op.args if isinstance(a, Const)]
    if len(known) < len(op.args):
        return None
    from sacpy.withloop.arithmetic import place_in_rows

    row, column = place_in_rows(*known)
    return Const("int", row if op.code == "row" else column)


def op_base(code: str, args: Sequence[Atom]) -> str:
    """The base type of an operation's result. Raises `GraphError`."""
    if code == "select":
        return args[1].base
    if code in PLACES:
        return "int"
    if code in ROUNDED:
        return ROUNDED[code]
    row = PRIMITIVES.get(code)
    if row is None or row.structural:
        raise GraphError(f"there is no operation {code}")
    return args[row.args.index("T")].base if row.result == "T" else row.result

"""How the arguments and results of a unit come apart into parameters and results of its root.

In: nothing. Out: `Input` and `Output`, one for each.
"""

from __future__ import annotations

from sacpy.nodes import Node


class Input(Node):
    """What the root's parameter is, of which argument: "scalar"; "element" number `at` (flat) of a small array;
    "extent" of axis `at`; "array"."""

    kind: str
    argument: int
    at: int = 0


class Output(Node):
    """How a result of the core function is put together from the root's results: "scalar" and "array" at
    `positions[0]`, "small" from scalars at `positions` (row-major). `base` and `extents`: of the value; an extent is a
    number, or a variable-free reference (None, position) to the root's result that holds it."""

    kind: str
    base: str
    positions: tuple[int, ...]
    extents: tuple[int | tuple[None, int], ...] = ()

"""What a caller must know of compiled code: what crosses the border, in which order.

In: a unit, as the writer gets it. Out: a `Signature`, which is kept with the code. Making code takes no more of the
interpreter's values than this: a process that only compiles does not load NumPy.
"""

from __future__ import annotations

from sacpy.jit.ir.graph import Input, Output, Unit
from sacpy.nodes import Node


class Signature(Node):
    """What a caller must know of a unit: its parameters and results, and the base types of the root's. `takes`: the
    parameters that may be given away with a call (`takeover`)."""

    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    params: tuple[str, ...]
    results: tuple[str, ...]
    recursive: bool = False
    takes: tuple[int, ...] = ()

    @staticmethod
    def of(unit: Unit) -> Signature:
        """The signature of a unit."""
        from sacpy.jit.host.lowering import recursive
        from sacpy.jit.host.takeover import takes

        root = unit.root
        bases = tuple(a.base for a in root.body.results)
        recurses = bool(recursive(unit))
        return Signature(
            unit.inputs, unit.outputs, tuple(p.base for p in root.params), bases, recurses, takes(unit, recurses)
        )

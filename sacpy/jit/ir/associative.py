"""The function of a scan, as graphs keep it.

It uses nothing from around it, and its variables have names that no others have: passes leave it as it is, and hand it
on. A pass that takes away some of what a loop carries takes it away, too.
"""

from __future__ import annotations

from sacpy.jit.ir import graph as g
from sacpy.nodes import Node


class Combine(Node):
    """An associative function of two elements, `left` and `right`, which gives an element: scalars side by side.
    `neutrals`: those that change nothing, where they are known."""

    left: tuple[g.Var, ...]
    right: tuple[g.Var, ...]
    block: g.Block
    neutrals: tuple[g.Const, ...] = ()

"""What the lowering knows of a function's numbers before it writes it: which ints serve as indices, and what they were
computed from.

In: a function of a unit. Out: `Facts`, which the lowering asks while it writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from sacpy.jit.analysis.ints import Ints, Sums
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import inner_binders
from sacpy.lang.types import REAL
from sacpy.nodes import Node


class Facts(Node):
    """`indices`: names of int variables that are used as indices, bounds or extents, or that such are computed from
    without wrapping. They exist in 64 bits as well. `ints`: what is known of ints. `products`: variables that are set
    to products of reals; `views`: those that are set to parts of arrays."""

    indices: frozenset[str]
    ints: Ints
    products: frozenset[str]
    views: Mapping[str, g.View]

    @property
    def made(self) -> Sums:
        """By variable, the operation without wrapping that it was set to."""
        return self.ints.sums

    @staticmethod
    def of(function: g.Function) -> Facts:
        """The facts of a function."""
        found: set[str] = set()
        waiting = [a.name for a in _indices(function) if isinstance(a, g.Var)]
        ints = Ints(function)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                rhs = ints.sums.get(name)
                if rhs is not None:
                    waiting += [a.name for a in rhs.args if isinstance(a, g.Var) and a.base == "int"]
        products = frozenset(
            s.targets[0].name
            for s in g.statements(function.body)
            if isinstance(s, g.Let) and isinstance(s.rhs, g.Op) and s.rhs.code == "mul" and s.targets[0].base in REAL
        )
        views = {
            s.targets[0].name: s.rhs
            for s in g.statements(function.body)
            if isinstance(s, g.Let) and isinstance(s.rhs, g.View)
        }
        return Facts(frozenset(found), ints, products, views)

    def is_difference_of_products(self, op: g.Op) -> bool:
        """x y - z w, which is exactly 0 where both are the same: a cross product tells by it what lies on a line, so
        one of the two must not be more exact than the other."""
        return op.code == "sub" and all(isinstance(a, g.Var) and a.name in self.products for a in op.args)


def _indices(function: g.Function) -> Iterator[g.Atom]:
    yield from _extents(function.params)
    for s in g.statements(function.body):
        if isinstance(s, g.Let):
            yield from _extents(s.targets)
            yield from _extents(inner_binders(s.rhs))
            yield from _index_operands(s.rhs)


def _extents(variables: Iterable[g.Var]) -> Iterator[g.Atom]:
    for v in variables:
        if isinstance(v.type, g.ArrayType):
            yield from v.type.extents


def _index_operands(rhs: g.Rhs) -> Iterator[g.Atom]:
    match rhs:
        case g.Load() | g.View() | g.Update():
            yield from rhs.index
        case g.Reshape():
            yield from rhs.extents
        case g.For():
            yield from (rhs.lower, rhs.upper, rhs.index)
        case g.WithLoop():
            yield from rhs.frame or ()
            for p in rhs.partitions:
                yield from (*p.lower, *p.upper, *(p.step or ()), *(p.width or ()), *p.index)

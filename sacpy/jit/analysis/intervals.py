"""Between which numbers ints lie that follow from others: bounds of a loop that depend on an index.

In: some ints, and the statements that lead to them. Out: a `Slice`, the operations alone; given intervals of what they
start from, intervals of the ints. Where an operation may wrap, or divides by what may be 0, that is all that its type
has.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.operations import PLACES
from sacpy.jit.ir.rewrite import needed_for
from sacpy.nodes import Node
from sacpy.withloop.arithmetic import place_in_rows

Interval = tuple[int, int]  # both ends belong to it
_RANGES = {"int": (-(1 << 31), (1 << 31) - 1), "long": (-(1 << 63), (1 << 63) - 1)}
_CODES = frozenset(("add", "sub", "mul", "div", "neg", "abs", "min", "max", "tol", "toi", *PLACES))


class Slice(Node):
    """The operations that `ends` come of, with the names that they set, in order."""

    ops: tuple[tuple[str, g.Op], ...]
    ends: tuple[g.Atom, ...]

    @property
    def given(self) -> set[str]:
        """The names that have to be known."""
        atoms = [*self.ends, *(a for _, op in self.ops for a in op.args)]
        return {a.name for a in atoms if isinstance(a, g.Var)} - {name for name, _ in self.ops}

    def between(self, known: Mapping[str, Interval]) -> list[Interval]:
        """The intervals of `ends`. `known`: those of what is given."""
        found = dict(known)

        def interval(a: g.Atom) -> Interval:
            return (int(a.value), int(a.value)) if isinstance(a, g.Const) else found[a.name]

        for name, op in self.ops:
            low, high = _of(op, [interval(a) for a in op.args])
            least, most = _RANGES["int" if op.code in PLACES or op.code == "toi" else _base(op)]
            found[name] = (low, high) if least <= low and high <= most else (least, most)
        return [interval(a) for a in self.ends]


def _base(op: g.Op) -> str:
    return "long" if op.code == "tol" else op.args[0].base


def slice_of(ends: Sequence[g.Atom], block: g.Block, given: Container[str]) -> Slice | None:
    """The operations of a block that some ints come of; None where there is anything else among them. `given`: what is
    known otherwise."""
    ops: list[tuple[str, g.Op]] = []
    for s in needed_for(ends, block, given):
        if not isinstance(s, g.Let) or not isinstance(s.rhs, g.Op) or s.rhs.code not in _CODES:
            return None
        if any(a.base not in _RANGES for a in s.rhs.args):
            return None
        ops.append((s.targets[0].name, s.rhs))
    found = Slice(tuple(ops), tuple(ends))
    return found if all(name in given for name in found.given) else None


def _of(op: g.Op, args: Sequence[Interval]) -> Interval:
    (a, b), (c, d) = args[0], args[-1]
    match op.code:
        case "add":
            return a + c, b + d
        case "sub":
            return a - d, b - c
        case "mul":
            corners = [x * y for x in (a, b) for y in (c, d)]
            return min(corners), max(corners)
        case "div":
            if c <= 0 <= d:
                return _RANGES[op.args[0].base]
            corners = [abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) for x in (a, b) for y in (c, d)]
            return min(corners), max(corners)
        case "neg":
            return -b, -a
        case "abs":
            return (0 if a <= 0 <= b else min(abs(a), abs(b))), max(abs(a), abs(b))
        case "min":
            return min(a, c), min(b, d)
        case "max":
            return max(a, c), max(b, d)
        case "row" | "column":
            return _place(op, args)
    return a, b  # another width


def _place(op: g.Op, args: Sequence[Interval]) -> Interval:
    """The row or the column of an element of rows that grow."""
    (a, b), (_, least), (growth, _), (_, rows) = args
    if a == b and args[1][0] == least and args[3][0] == rows:
        found = place_in_rows(a, least, growth, rows)[op.code == "column"]
        return found, found
    longest = rows if op.code == "row" else least + abs(growth) * max(0, rows - 1)
    return 0, max(0, longest - 1)


__all__ = ["Interval", "Slice", "slice_of"]

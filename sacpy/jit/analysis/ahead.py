"""What has to be computed before its turn, so that memory for an array is there before the array is made.

In: a block. Out: `Ahead`: the numbers of the statements that compute some scalars, and of the checks on what these are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sacpy.jit.ir import graph as g


class Ahead:
    """`set_by`: the numbers of the statements that set names."""

    def __init__(self, block: g.Block) -> None:
        self.statements = block.statements
        self.set_by = {
            t.name: number for number, s in enumerate(block.statements) if isinstance(s, g.Let) for t in s.targets
        }

    def of(self, needed: Sequence[g.Atom], first: int, point: int) -> tuple[int, ...] | None:
        """The statements from a certain one on that compute some scalars, and the checks that come until the point:
        what is written early has to lie where they see to it that it does. In their order; None where a scalar, or such
        a check, needs more than operations on others."""
        found: set[int] = set()
        told = self.behind([a.name for a in needed if isinstance(a, g.Var)], first, found)
        if told is None:
            return None
        for number in range(first, point):
            s = self.statements[number]
            if isinstance(s, g.Check) and isinstance(s.condition, g.Var):
                more: set[int] = set()
                names = self.behind([s.condition.name], first, more)
                if names is not None:
                    found |= more | {number}
                elif not told.isdisjoint(self.mentioned(s.condition.name)):
                    return None
        return tuple(sorted(found))

    def behind(self, names: Sequence[str], first: int, found: set[int]) -> set[str] | None:
        """All that scalars are computed of in the block; `found` gets those statements from a certain one on that do
        so. None if one of these is more than an operation."""
        told, waiting = set[str](), list(names)
        while waiting:
            name = waiting.pop()
            number = self.set_by.get(name, -1)
            if name in told:
                continue
            told.add(name)
            s = self.statements[number] if number >= 0 else None
            op = s.rhs if isinstance(s, g.Let) and isinstance(s.rhs, g.Op) else None
            if number >= first:
                if op is None:
                    return None
                found.add(number)
            if op is not None:
                waiting += [a.name for a in op.args if isinstance(a, g.Var)]
        return told

    def mentioned(self, name: str) -> set[str]:
        """All that a scalar is computed of, as far as that is done by operations."""
        told, waiting = set[str](), [name]
        while waiting:
            name = waiting.pop()
            if name not in told:
                told.add(name)
                s = self.statements[self.set_by[name]] if name in self.set_by else None
                if isinstance(s, g.Let) and isinstance(s.rhs, g.Op):
                    waiting += [a.name for a in s.rhs.args if isinstance(a, g.Var)]
        return told

    def equal(self, extent: g.Atom, is_other: Callable[[g.Atom], bool], first: int) -> tuple[int, ...] | None:
        """The statements from a certain one on that see to it that an extent is what another is: none where a check
        comes before. None if there is no such check, or what it needs is more than operations on what is there."""
        for number, s in enumerate(self.statements):
            if isinstance(s, g.Check) and isinstance(s.condition, g.Var):
                by = self.set_by.get(s.condition.name, -1)
                told = self.statements[by] if by >= 0 else None
                op = told.rhs if isinstance(told, g.Let) else None
                if isinstance(op, g.Op) and op.code == "eq":
                    a, b = op.args
                    if (a == extent and is_other(b)) or (b == extent and is_other(a)):
                        if number < first:
                            return ()
                        found: set[int] = set()
                        if self.behind([s.condition.name], first, found) is not None:
                            return tuple(sorted(found | {number}))
        return None

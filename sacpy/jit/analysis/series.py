"""Elements that are the same function of their number: what has been written out becomes a loop's body again
(`passes/roll`).

In: elements, and the statements that set them. Out: the statements that compute one of them from its number, or None.

    t0 = load a[i,0]; u0 = load b[0,j]; x0 = mul t0, u0            t = load a[i,k]
    t1 = load a[i,1]; u1 = load b[1,j]; x1 = mul t1, u1     ->     u = load b[k,j]
    ..                                                             x = mul t, u

Two by two, what stands at the same place of all of them is the same variable or constant, or the number itself (plus a
constant), or the same operation or load of such.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.names import Names
from sacpy.nodes import replace

MOST = 32  # statements that compute one of them


def series(elements: Sequence[g.Atom], lets: Mapping[str, g.Let], number: g.Var, names: Names) -> g.Block | None:
    """What computes element `number` of some, if all are computed alike."""
    found = _Series(len(elements), lets, number, names)
    result = found.of(tuple(elements))
    return None if result is None or len(found.statements) > MOST else g.Block(tuple(found.statements), (result,))


class _Series:
    def __init__(self, count: int, lets: Mapping[str, g.Let], number: g.Var, names: Names) -> None:
        self.count, self.lets, self.number, self.names = count, lets, number, names
        self.statements: list[g.Let] = []
        self.known: dict[tuple[g.Atom, ...], g.Atom | None] = {}

    def of(self, atoms: tuple[g.Atom, ...]) -> g.Atom | None:
        """One atom for those that stand at the same place."""
        first = atoms[0]
        if all(a == first for a in atoms):
            return first
        if atoms not in self.known:
            self.known[atoms] = self.numbers(atoms) if isinstance(first, g.Const) else self.computed(atoms)
        return self.known[atoms]

    def numbers(self, atoms: tuple[g.Atom, ...]) -> g.Atom | None:
        """Constants that count up with the number."""
        start = atoms[0]
        if start.base != "int" or not all(isinstance(a, g.Const) for a in atoms):
            return None
        assert isinstance(start, g.Const)
        if any(a != g.integer(int(start.value) + k) for k, a in enumerate(atoms)):
            return None
        return self.number if start.value == 0 else self.set(g.Op("add", (self.number, start), exact=True), start)

    def computed(self, atoms: tuple[g.Atom, ...]) -> g.Atom | None:
        """Variables that are set by operations of one kind, or loads of one array."""
        made = [self.lets.get(a.name) if isinstance(a, g.Var) else None for a in atoms]
        rhs = [s.rhs for s in made if s is not None]
        first = rhs[0] if rhs else None
        if len(rhs) != self.count or not isinstance(first, g.Op | g.Load):
            return None
        if isinstance(first, g.Op):
            if any(not isinstance(r, g.Op) or replace(r, args=first.args) != first for r in rhs):
                return None
        elif any(not isinstance(r, g.Load) or r.array != first.array for r in rhs):
            return None
        operands = [r.args if isinstance(r, g.Op) else r.index for r in rhs if isinstance(r, g.Op | g.Load)]
        if any(len(o) != len(operands[0]) for o in operands):
            return None
        found = [self.of(tuple(column)) for column in zip(*operands)]
        whole = tuple(a for a in found if a is not None)
        if len(whole) != len(found):
            return None
        new = replace(first, args=whole) if isinstance(first, g.Op) else replace(first, index=whole)
        return self.set(new, atoms[0])

    def set(self, rhs: g.Op | g.Load, like: g.Atom) -> g.Var:
        """Sets a new variable of the type of an atom."""
        v = self.names.var("t", like.type)
        self.statements.append(g.Let((v,), rhs))
        return v

"""Cells whose elements are computed alike, so that lanes can be elements of one cell.

In: the body of a with-loop. Out: whether that is so for all cells that it makes, and what the elements have in common.

    x = load u[i,j,0]                 x and y differ in constants only, and where these say what is loaded, the elements
    y = load u[i,j,1]                 lie side by side: one load, one product, one store of two lanes
    z = mul x, 2.0
    w = mul y, 3.0
    cell = array [2] of z, w
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from sacpy.jit.analysis.costs import weight
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.operations import ROUTINES

Made = dict[str, g.Rhs]


def made_cells(body: g.Block) -> list[g.Cons]:
    """The results of a body if all of them are cells made of scalars; else nothing."""
    made = _made(body)
    found = [made.get(a.name) if isinstance(a, g.Var) else None for a in body.results]
    cells = [c for c in found if isinstance(c, g.Cons)]
    return cells if len(cells) == len(found) else []


def alike(body: g.Block) -> bool:
    """Whether the elements of each result, all of which are cells, are computed by the same operations on the same
    scalars and on elements that lie side by side."""
    forms, cells = _Forms(_made(body)), made_cells(body)
    return bool(cells) and all(len({forms.of(e) for e in c.elements}) == 1 and forms.side_by_side for c in cells)


def in_common(body: g.Block, cells: Iterable[g.Cons]) -> float:
    """The work of the operations that several elements of a cell need the result of."""
    made, owners = _made(body), dict[str, int]()
    for cell in cells:
        for number, element in enumerate(cell.elements):
            left = [element]
            while left:
                a = left.pop()
                r = made.get(a.name) if isinstance(a, g.Var) else None
                if not isinstance(r, g.Op) or not isinstance(a, g.Var):
                    continue
                owner = owners.get(a.name)
                if owner not in (number, _SEVERAL):
                    owners[a.name] = number if owner is None else _SEVERAL
                    left += r.args
    shared = (made[name] for name, owner in owners.items() if owner == _SEVERAL)
    return sum(weight(r) for r in shared if isinstance(r, g.Op))


_SEVERAL = -1  # elements


def _made(body: g.Block) -> Made:
    return {t.name: s.rhs for s in body.statements if isinstance(s, g.Let) for t in s.targets}


class _Forms:
    """What the scalars of a body are computed by, constants left out: equal numbers for equal forms."""

    def __init__(self, made: Made) -> None:
        self.side_by_side = False  # something was found that is loaded from a cell
        self._of: dict[str, int] = {}
        self._numbers: dict[Hashable, int] = {}
        for name, r in made.items():
            self._of[name] = self._number(self._form(name, r))

    def of(self, a: g.Atom) -> int:
        """The form of a scalar, all that stands before which has one."""
        if isinstance(a, g.Const):
            return self._number(("constant", a.base))
        found = self._of.get(a.name)
        return self._number(("value", a.name)) if found is None else found

    def _form(self, name: str, r: g.Rhs) -> Hashable:
        match r:
            case g.Op(code=code, args=args) if code not in ROUTINES:  # which have vectors in loops only
                return code, *map(self.of, args)
            case g.Load(array=array, index=index) if isinstance(index[-1], g.Const):
                self.side_by_side = True
                outer = list(index)
                while outer and isinstance(outer[-1], g.Const):
                    outer.pop()
                return "load", array.name, *(i.key if isinstance(i, g.Const) else i.name for i in outer)
            case _:
                return "value", name

    def _number(self, form: Hashable) -> int:
        return self._numbers.setdefault(form, len(self._numbers))


__all__ = ["alike", "in_common", "made_cells"]

"""The laws of a plan of circuits, which are checked where the compiler checks its own steps.

In: a block and its plan. Out: nothing, or a `PlanError` that says which law does not hold:

- What is written ahead of its place is an operation or a check, and all that it needs is there.
- What a part's place is computed of is there when the part begins: it comes before, or is written ahead.
- The arrays of a part are made behind its beginning and before its point, each in one place only.
- An array that there is comes before everything that is made in it, and is used last at the point.
"""

from __future__ import annotations

from sacpy.jit.analysis.circuits import Circuit, Opening, Plan
from sacpy.jit.analysis.makers import arrays_of
from sacpy.jit.analysis.projections import Shift
from sacpy.jit.ir import graph as g


class PlanError(Exception):
    """A plan that breaks a law."""


def verify_plan(block: g.Block, plan: Plan) -> None:
    """Raises `PlanError` if a plan breaks a law."""
    set_by = {t.name: n for n, s in enumerate(block.statements) if isinstance(s, g.Let) for t in s.targets}
    seen: set[str] = set()
    for point, o in plan.openings.items():
        _ahead(block, set_by, o)
        for c in o.circuits:
            _places(set_by, o, c)
            for name in c.names:
                law(name not in seen, f"{name} has two places")
                law(o.begins <= set_by[name] < point, f"{name} is not made between its beginning and its point")
                seen.add(name)
            if c.onto is not None:
                law(set_by.get(c.onto.name, -1) < o.first, f"{c.onto.name} is not there before what is made in it")
                last = max(n for n, s in enumerate(block.statements) if c.onto.name in arrays_of(s))
                law(last == point, f"{c.onto.name} is needed behind the point where it changes")


def _ahead(block: g.Block, set_by: dict[str, int], o: Opening) -> None:
    there = set(o.ahead)
    for n in o.ahead:
        s = block.statements[n]
        law(isinstance(s, g.Check) or isinstance(s.rhs, g.Op), "what is written ahead is more than an operation")
        for name in _scalars(s):
            number = set_by.get(name, -1)
            law(number < o.begins or number in there, f"{name} is not there where it is needed ahead")


def _places(set_by: dict[str, int], o: Opening, c: Circuit) -> None:
    needed = [*(a.start if isinstance(a, Shift) else a for a in c.at), *g.extents_of(c.part)]
    for a in needed:
        number = set_by.get(a.name, -1) if isinstance(a, g.Var) else -1
        law(number < o.begins or number in o.ahead, f"where {c.part.name} goes is not known before it is made")


def _scalars(s: g.Stmt) -> list[str]:
    atoms = [s.condition] if isinstance(s, g.Check) else list(s.rhs.args) if isinstance(s.rhs, g.Op) else []
    return [a.name for a in atoms if isinstance(a, g.Var)]


def law(holds: bool, broken: str) -> None:
    if not holds:
        raise PlanError(broken)

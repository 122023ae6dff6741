"""What moves along with a component of the index: the component itself, and it plus something.

In: the statements of a body, in order. Out: which names depend on the component at all, and which are it plus something
that is the same for all of its values: elements at these lie side by side where the component's neighbours do.
"""

from __future__ import annotations

from sacpy.jit.ir.graph import Let, Load, Op, Var, operands


class Along:
    """`dependent`: names of what depends on the component; `names`: of those that are it plus something."""

    def __init__(self, component: Var) -> None:
        self.dependent = {component.name}
        self.names = {component.name}

    def see(self, s: Let) -> bool:
        """Follows an operation or a load. Whether it depends on the component."""
        assert isinstance(s.rhs, Op | Load)
        if not self.dependent & {a.name for a in operands(s.rhs) if isinstance(a, Var)}:
            return False
        if isinstance(s.rhs, Op) and self._shifts(s.rhs):
            self.names |= {t.name for t in s.targets}
        self.dependent |= {t.name for t in s.targets}
        return True

    def _shifts(self, op: Op) -> bool:
        """Whether an operation adds something to what moves along, without wrapping."""
        if not op.exact or op.code not in ("add", "sub") or op.args[0].base != "int":
            return False
        moving = [isinstance(a, Var) and a.name in self.names for a in op.args]
        still = [not (isinstance(a, Var) and a.name in self.dependent) for a in op.args]
        return (moving[0] and still[1]) or (op.code == "add" and still[0] and moving[1])

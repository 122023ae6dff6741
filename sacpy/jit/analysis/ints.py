"""What the ints of a function are set to.

In: a function. Out: `Ints`: the operations without overflow behind its variables, an int as a variable plus a number,
and, where somebody asks for more, linear forms and bounds (`forms`, which is loaded then).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from sacpy.jit.ir import graph as g

if TYPE_CHECKING:
    from sacpy.jit.analysis.forms import Forms

Sums = Mapping[str, g.Op]

DEPTH = 8  # operations that are looked behind, one after the other


class Ints:
    """What is known of the ints of a function. `sums`: the operations without overflow that variables are set to;
    selections, remainders and the least of ints are such."""

    def __init__(self, function: g.Function, sums: dict[str, g.Op] | None = None) -> None:
        self._function = function
        self._forms: Forms | None = None
        self.sums: dict[str, g.Op] = sums or {
            s.targets[0].name: s.rhs
            for s in g.statements(function.body)
            if isinstance(s, g.Let) and isinstance(s.rhs, g.Op) and (s.rhs.exact or _is_choice(s.rhs))
        }

    def with_more(self, sums: Sums) -> Ints:
        """The same, with variables that are not in the function."""
        return Ints(self._function, {**self.sums, **sums}) if sums else self

    def learn(self, name: str, op: g.Op) -> None:
        """Notes what a variable is set to, which a pass has made, or made certain not to overflow."""
        self.sums[name] = op
        if self._forms is not None:
            self._forms.forget()

    @property
    def forms(self) -> Forms:
        """The same as linear forms, with what bounds of loops say of them."""
        if self._forms is None:
            from sacpy.jit.analysis.forms import Forms

            self._forms = Forms(self._function, self.sums)
        return self._forms


def _is_choice(op: g.Op) -> bool:
    return op.code in ("select", "aplmod", "min") and op.args[-1].base == "int"


def linear(a: g.Atom, sums: Sums, opaque: str = "") -> tuple[g.Atom | None, int]:
    """An int as a variable and a number, without overflow. `opaque`: a variable that is not looked behind."""
    offset = 0
    while isinstance(a, g.Var):
        op = sums.get(a.name)
        if op is None or op.code not in ("add", "sub") or a.name == opaque:
            return a, offset
        x, y = op.args
        if op.code == "add" and isinstance(x, g.Const):
            x, y = y, x
        if not isinstance(y, g.Const):
            return a, offset
        a, offset = x, offset + (int(y.value) if op.code == "add" else -int(y.value))
    return None, offset + int(a.value)


def distance(a: g.Atom, b: g.Atom, sums: Sums) -> int | None:
    """b - a, where it is known."""
    (x, i), (y, j) = linear(a, sums), linear(b, sums)
    return j - i if x == y else None


def residue(a: g.Atom, turn: int, sums: Sums, depth: int = DEPTH) -> Counter[str]:
    """Variables by how often they are in a sum that leaves the same rest as an int if both are divided by `turn`; its
    constant is that of "" itself."""
    if isinstance(a, g.Const):
        return Counter({"": int(a.value)})
    op = sums.get(a.name) if depth else None
    if op is not None and op.code in ("add", "sub", "neg"):
        found = Counter[str]()
        for k, b in enumerate(op.args):
            minus = op.code == "neg" or (op.code == "sub" and k)
            (found.subtract if minus else found.update)(residue(b, turn, sums, depth - 1))
        return found
    if (
        op is not None
        and op.code == "aplmod"
        and isinstance(op.args[1], g.Const)
        and op.args[1].value > 0
        and op.args[1].value % turn == 0
    ):
        return residue(op.args[0], turn, sums, depth - 1)
    return Counter({a.name: 1})

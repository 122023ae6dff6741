"""Names for variables that are made.

In: a stem. Out: a name that no other variable of the function has.
"""

from __future__ import annotations

from sacpy.jit.ir.graph import Type, Var
from sacpy.nodes import Record, field


class Names(Record):
    """Makes names that are unique in a function."""

    taken: dict[str, int] = field(default_factory=dict)

    def fresh(self, stem: str) -> str:
        """`stem` itself, or `stem.1`, `stem.2`, ... once it is taken."""
        stem = stem.partition(".")[0] or "t"
        count = self.taken.get(stem, 0)
        self.taken[stem] = count + 1
        return f"{stem}.{count}" if count else stem

    def var(self, stem: str, type_: Type) -> Var:
        """A new variable."""
        return Var(self.fresh(stem), type_)

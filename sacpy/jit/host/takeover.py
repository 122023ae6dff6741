"""Which arrays a unit may take over from its caller, to write its results into them.

In: a unit, as it is written. Out: the positions of those parameters of its root that may be given away with a call,
where nobody uses them after it: the unit then owns them, updates them in place or frees them, and need not copy.

A call that ends early is run again, interpreted, with the same arguments; so they must be as they were. An undo log
would make every write dearer, and checks cannot in general come first. But a reference is only given up at an array's
last use: where that stands behind the last check, whatever fails finds the array untouched. So it is where an index is
checked and an element replaced, the case in which copying hurts; a loop that checks and writes in every round copies
once, and has rounds to pay for it. What else may end a call (memory, Ctrl-C, a limit) ends the program. Units that
recurse take nothing: where their stack ends, the call is made again on another one.
"""

from __future__ import annotations

from sacpy.jit.host.memory import Uses
from sacpy.jit.ir import graph as g

MOST = 62  # parameters that a word has bits for


def takes(unit: g.Unit, recursive: bool) -> tuple[int, ...]:
    """The parameters of the root that a caller may give away, by their positions. `recursive`: whether a function of
    the unit may call itself."""
    arrays = [k for k, p in enumerate(unit.root.params[:MOST]) if isinstance(p.type, g.ArrayType)]
    if recursive or not arrays:
        return ()
    failing = _Failing({f.name: f for f in unit.functions})
    body, uses = unit.root.body, Uses()
    last = max((n for n, s in enumerate(body.statements) if failing.statement(s)), default=-1)
    late = {a.name for a in body.results if isinstance(a, g.Var)}.union(*map(uses.of, body.statements[last + 1 :]))
    return tuple(k for k in arrays if unit.root.params[k].name in late)


class _Failing:
    """Whether code contains a check."""

    def __init__(self, functions: dict[str, g.Function]) -> None:
        self._functions = functions
        self._known: dict[str, bool] = {}

    def statement(self, s: g.Stmt) -> bool:
        """Whether a statement may fail."""
        if isinstance(s, g.Check):
            return True
        if isinstance(s.rhs, g.Call):
            return self._function(s.rhs.function)
        return (
            isinstance(s, g.Let)
            and g.is_nested(s.rhs)
            and any(self.statement(inner) for b in g.blocks(s.rhs) for inner in b.statements)
        )

    def _function(self, name: str) -> bool:
        if name not in self._known:
            self._known[name] = any(map(self.statement, self._functions[name].body.statements))
        return self._known[name]

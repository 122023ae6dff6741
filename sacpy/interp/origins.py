"""Where an element of a value came from: the statement, or the cell of a with-loop, that made it.

In: a run of traced code, and the index of an element of its result. Out: an `Origin`. While the run goes on, what each
statement gave is kept, and of with-loops the cell of that index. Behind it one goes back: an array was made where it
first appeared; an update of another index hands the question on to the array that it changed.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np

from sacpy.interp.errors import Exit
from sacpy.interp.tracing import SITE, FrameView, Site, is_users
from sacpy.interp.values import Value, shape_of
from sacpy.lang.core import Call, Const, Fold, Function, Let, Modarray, Prim, Var, WithLoop
from sacpy.nodes import Node

if TYPE_CHECKING:
    from sacpy.interp.evaluator import Evaluator

Shown = tuple[tuple[str, str, Value], ...]


class Origin(Node):
    """`site`: the statement or cell, None for a value that was given from outside, `given`; `kind`: "cell", "default"
    (no cell of the with-loop is there), "update" or "statement"; `variables`: names, base types and values there;
    `calls`: the functions that were being executed, outermost first."""

    site: Site | None
    kind: str = ""
    given: Value = None
    variables: Shown = ()
    calls: tuple[str, ...] = ()


class Event(Node):
    """A statement gave values."""

    site: Site
    values: tuple[Value, ...]
    operands: tuple[Value, ...]
    cell: Origin | None
    variables: Shown
    calls: tuple[str, ...]


class Recorder:
    """The tracer that keeps what is needed. `index`: of the element, () for a scalar; `until`: how many statements and
    cells the run may come to before it is ended, and `reached` is set."""

    keeps, records = True, True

    def __init__(self, index: tuple[int, ...], until: int | None = None) -> None:
        self.sites: list[Site] = []
        self.index = index
        self.reached = False
        self._left = until
        self.events: list[Event] = []
        self._calls: list[str] = []
        self._cells: list[Origin | None] = []

    def wants(self, function: Function) -> bool:
        return is_users(function)

    def enter(self, site: int) -> None:
        self._calls.append(self.sites[site].function)
        self._cells.append(None)

    def leave(self) -> None:
        self._calls.pop()
        self._cells.pop()

    def at(self, site: int) -> None:
        if self._left is not None:
            self._left -= 1
            if self._left == 0:
                self.reached = True
                raise Exit(0)
        here = self.sites[site]
        if here.kind != "cell":
            return
        frame = sys._getframe(1)
        at = eval(here.operands[0], frame.f_globals, frame.f_locals)
        if tuple(int(i) for i in np.atleast_1d(at)) == self.index[: np.size(at)]:
            variables = tuple(FrameView(here, here.span, frame).variables())
            self._cells[-1] = Origin(here, "cell", None, variables, tuple(self._calls))

    def made(self, site: int, values: tuple[Value, ...], operands: tuple[Value, ...]) -> None:
        here = self.sites[site]
        cell = self._cells[-1]
        assert isinstance(here.statement, Let)
        if not isinstance(here.statement.rhs, WithLoop):
            cell = None
        elif cell is not None and cell.site is not None and cell.site.level == here.level + 1:
            self._cells[-1] = None
        frame = sys._getframe(1)
        assert frame.f_locals[SITE] is not None
        variables = tuple(FrameView(here, here.span, frame).variables())
        self.events.append(Event(here, values, operands, cell, variables, tuple(self._calls)))

    def origin(self, value: Value, evaluator: Evaluator, depth: int = 1) -> Origin:
        """What made the element of a result, or of a value that a function has which is `depth` calls deep where the
        run has ended."""
        limit = len(self.events)
        while depth > 0:
            at = self._last(value, limit, depth)
            if at is None:  # it was an argument: made before the call, by the caller
                depth -= 1
                continue
            limit, event = at, self.events[at]
            assert isinstance(event.site.statement, Let)
            match event.site.statement.rhs:
                case Var() | Const():
                    pass  # another name of the same value
                case Call(candidates=keys) if any(self._is_users(key, evaluator) for key in keys):
                    depth += 1
                case Prim(op="modarray"):
                    array, where, _ = event.operands
                    index = tuple(int(i) for i in np.atleast_1d(where))
                    if index == self.index[: len(index)] or array is None:
                        return Origin(event.site, "update", None, event.variables, event.calls)
                    value = array
                case WithLoop(operators=operators) if shape_of(value) and not isinstance(operators[0], Fold):
                    if event.cell is not None:
                        return event.cell
                    if not isinstance(operators[0], Modarray) or len(operators) > 1 or event.operands[0] is None:
                        return Origin(event.site, "default", None, event.variables, event.calls)
                    value = event.operands[0]
                case _:
                    return Origin(event.site, "statement", None, event.variables, event.calls)
        return Origin(None, given=value)

    def _last(self, value: Value, limit: int, depth: int) -> int | None:
        """The last statement before that number, of a function so deep, that gave the value."""
        for at in range(limit - 1, -1, -1):
            event = self.events[at]
            if len(event.calls) == depth and any(same(v, value) for v in event.values):
                return at
        return None

    def _is_users(self, key: str, evaluator: Evaluator) -> bool:
        signature = evaluator.program.signature(key)
        return signature.native is None and self.wants(evaluator.program.function(key))


def same(a: Value, b: Value) -> bool:
    """Whether two values are one, or a copy of it."""
    if a is b:
        return True
    if shape_of(a) != shape_of(b) or type(a) is not type(b):
        return False
    if not isinstance(a, np.ndarray):
        return bool(a == b or (a != a and b != b))
    return bool(a.dtype == b.dtype) and a.tobytes() == b.tobytes()


__all__ = ["Origin", "Recorder", "same"]

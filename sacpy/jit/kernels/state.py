"""What a loop of a thread hands from round to round.

In: the parameters of a loop and their first values. Out: scalars for the kernel's loop to carry; arrays have memory of
their own, which each round writes anew, or updates: that of their first value, if it dies. Where the loop has checks,
the last carried scalar says whether all of them held so far; once one did not, rounds do nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from sacpy.jit.ir import kernel as k
from sacpy.jit.ir.graph import TRUE, Atom, Const, Var, extents_of
from sacpy.jit.kernels.launches import Refused
from sacpy.jit.kernels.values import Memory, Value, is_array

if TYPE_CHECKING:
    from sacpy.jit.kernels.thread import Thread

Body = Callable[[], tuple[list[Value], "Atom | None"]]


class State:
    """Values carried under the names of `params`. `scalars`: the first values to carry; `dying`: those of the first
    values that nobody uses after."""

    def __init__(
        self,
        thread: Thread,
        params: Sequence[Var],
        initial: Sequence[Value],
        checks: bool,
        dying: Collection[Memory] = (),
    ) -> None:
        self.t = thread
        self.params = tuple(params)
        self.checks = checks
        self.memory: list[Memory | None] = []
        self.scalars: list[Atom] = []
        own = {p.name for p in params}
        for p, v in zip(params, initial, strict=True):
            if not is_array(v):
                assert isinstance(v, Var | Const)
                self.memory.append(None)
                self.scalars.append(v)
                continue
            if any(isinstance(e, Var) and e.name in own for e in extents_of(p)):
                raise Refused("a loop in its body carries an array that changes its size")
            assert not isinstance(v, Var | Const)
            self.memory.append(v if isinstance(v, Memory) and v in dying else thread.arrays.copy(v))
        if checks:
            self.scalars.append(TRUE)

    def values(self, carried: Sequence[Atom]) -> list[Value]:
        """The values that carried scalars and memory stand for."""
        scalars = iter(carried)
        return [next(scalars) if m is None else Memory(m.var) for m in self.memory]

    def ok(self, carried: Sequence[Atom]) -> Atom | None:
        """Whether all checks held."""
        return carried[-1] if self.checks else None

    def round(self, carried: list[Atom], body: Body) -> list[Atom]:
        """Code of one round, which gives the next values."""
        if not self.checks:
            return self._run(carried, body)
        b = self.t.b
        b.open()
        updates = self._run(carried, body)
        targets = [b.names.var("c", a.type) for a in carried]
        b.add(k.If(carried[-1], b.close(), (), tuple(map(k.Merge, targets, updates, carried))))
        return list(targets)

    def _run(self, carried: list[Atom], body: Body) -> list[Atom]:
        self.t.bind(self.params, self.values(carried))
        values, ok = body()
        assert ok is None or self.checks
        self.t.b.when(ok, lambda: self._keep(values))
        updates: list[Atom] = [v for v in values if isinstance(v, Var | Const)]
        return [*updates, ok or TRUE] if self.checks else updates

    def _keep(self, values: Sequence[Value]) -> None:
        """Writes the arrays of a round to where the next one finds them; one that lies in another's place is moved out
        of the way first."""
        places = {m.var for m in self.memory if m is not None}
        moved: list[tuple[Memory, Value]] = []
        for m, v in zip(self.memory, values, strict=True):
            if m is None or isinstance(v, Var | Const):
                continue
            of = v if isinstance(v, Memory) else None if not hasattr(v, "of") else v.of
            elsewhere = not isinstance(of, Memory) or of.var not in places
            if not elsewhere and not (isinstance(v, Memory) and v.var == m.var and not v.prefix):
                v = self.t.arrays.copy(v)
            moved.append((m, v))
        for m, v in moved:
            self.t.arrays.assign(m, v)

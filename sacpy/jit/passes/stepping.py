"""With-loops that hand values from index to index, as counting loops: what is known of those (that they are scans, or
add to elements wherever the data say) holds for them too.

    double[n] s, double t = with [n]                        double[n] z = with [n] genarray double default 0.0
        genarray double default 0.0                         s, t = for i from 0 to n with w := z, a := 0.0
        propagate a := 0.0                                    x = load v[i]
        part [0] <= [i] < [n]                      ->         b = add a, x
          x = load v[i]                                       u = update w[i] with b
          b = add a, x                                        next u, b
          yield b, b

That is done with one dense partition along one axis, and at most one array of scalars beside what is handed on. It
comes late, so that arrays which such a with-loop reads have been fused into it.
"""

from __future__ import annotations

from sacpy.jit.ir.graph import (
    ArrayType,
    Atom,
    Block,
    For,
    Function,
    Genarray,
    Let,
    Propagate,
    Stmt,
    Unit,
    Update,
    Var,
    WithLoop,
    statements,
)
from sacpy.jit.passes.units import per_function
from sacpy.jit.passes.walker import Walker


class _Stepper(Walker):
    def let(self, s: Let) -> None:
        super().let(s)
        last = self.out[-1]
        assert isinstance(last, Let)
        if isinstance(last.rhs, WithLoop) and _steps(last.rhs):
            self.out.pop()
            self.loop(last, last.rhs)

    def loop(self, s: Let, w: WithLoop) -> None:
        """Emits the array as it is without any index, and the loop over them."""
        assert w.frame is not None or not any(isinstance(o, Genarray) for o in w.operators)
        (p,) = w.partitions
        given = iter(p.body.results)
        params: list[Var] = []
        initial: list[Atom] = []
        updates: list[Stmt] = []
        results: list[Atom] = []
        for o in w.operators:
            if isinstance(o, Propagate):
                params += o.params
                initial += o.initial
                results += [next(given) for _ in o.params]
            elif isinstance(o, Genarray):
                type_ = ArrayType(o.base, w.frame or ())
                start, held, new = (self.supply.var(stem, type_) for stem in ("start", "held", "new"))
                self.define((start,), WithLoop(w.frame, (), (o,), disjoint=True), s.span)
                params.append(held)
                initial.append(start)
                updates.append(Let((new,), Update(held, p.index, next(given)), s.span))
                results.append(new)
        body = Block((*p.body.statements, *updates), tuple(results))
        loop = For(p.index[0], p.lower[0], p.upper[0], 1, tuple(params), tuple(initial), body)
        self.define(s.targets, loop, s.span)


def _steps(w: WithLoop) -> bool:
    """Whether a with-loop hands values on, and is along one axis."""
    arrays = [o for o in w.operators if isinstance(o, Genarray)]
    handed = [o for o in w.operators if isinstance(o, Propagate)]
    if not handed or len(arrays) > 1 or len(arrays) + len(handed) < len(w.operators) or any(o.cell for o in arrays):
        return False
    return len(w.partitions) == 1 and w.partitions[0].rank == 1 and w.partitions[0].step is None


def stepping(function: Function) -> Function:
    """A function with such with-loops as counting loops; itself if it has none."""
    if not any(isinstance(s, Let) and isinstance(s.rhs, WithLoop) and _steps(s.rhs) for s in statements(function.body)):
        return function
    return _Stepper(function).function(function)


def run(unit: Unit) -> Unit:
    """A unit with such with-loops as counting loops."""
    return per_function(unit, stepping)

"""Counting loops with independent rounds (`analysis/depends`), dealt to threads in chunks (`chunks`). They change
the arrays that they carry in place.

In: a loop and the arrays that it carries. Out: its code.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.analysis.straight import is_straight
from sacpy.jit.host.chunks import Chunked
from sacpy.jit.host.loops import count_loop
from sacpy.jit.host.memory import BORROWED, Array
from sacpy.jit.host.work import Cost
from sacpy.jit.host.writer import Writer
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import free_in_order, inner_binders
from sacpy.jit.schedule.loops import Rounds as Schedule


def spread_rounds(lowering: Writer, r: Schedule, arrays: Sequence[Array]) -> None:
    """Writes such a loop. `arrays`: the carried ones, which nobody else holds; they are changed in place."""
    Rounds(lowering, r, arrays).run()


class Rounds(Chunked):
    """The rounds of a loop being spread."""

    def __init__(self, outer: Writer, schedule: Schedule, arrays: Sequence[Array]) -> None:
        super().__init__(outer)
        self.loop, self.multiple, self.initial = schedule.loop, schedule.size, arrays

    def run(self) -> None:
        """Writes the chunk's function, then the call."""
        code, outer, r = self.outer.code, self.outer, self.loop
        lower, upper = outer.wide(r.lower), outer.wide(r.upper)
        cost = Cost(outer)
        count = code.difference(upper, lower)
        work = cost.times(cost.body(r.body), cost.count(count))
        chunk = self.grain(work, count, str(self.multiple), cost.guessed)
        self.write()
        self.call(lower, upper, chunk)

    def write(self) -> None:
        inner, r = self.inner, self.loop
        inside = {v.name for v in inner_binders(r)}
        self.capture(
            [
                *(name for name in free_in_order(r.body) if name not in inside),
                *(a.name for p in r.params for a in g.extents_of(p) if isinstance(a, g.Var)),
            ]
        )

        data = [self.captured("ptr", array.data) for array in self.initial]

        def body(i: str) -> None:
            if not is_straight(r.body):
                inner.poll()
            for p, address in zip(r.params, data):
                inner.bind_array(p, address, BORROWED, unique=True)
            inner.bind_scalar(r.index, inner.code.op(f"trunc i64 {i} to i32"), i)
            for value in inner.block(r.body, [p.name for p in r.params]):
                assert isinstance(value, Array) and value.unique, "changed in place"

        count_loop(inner, "%lower", "%upper", "1", body)
        self.finish()

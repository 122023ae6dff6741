"""What the blocks of a fold leave, and what is made of it in the end.

In: a reduction whose block has put together what its threads have. Out: statements that hand this on in arrays with an
element for each block, that put together what all blocks have, and that give the results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sacpy.jit.ir import graph as g
from sacpy.jit.ir import kernel as k
from sacpy.jit.kernels.reduction import Reduction, Shared
from sacpy.jit.kernels.source import Source
from sacpy.jit.kernels.thread import Thread
from sacpy.nodes import Node


class Ends(Node):
    """Of one with-loop. `threads`: of the block that puts together what blocks have."""

    source: Source
    threads: int

    def leave(
        self,
        thread: Thread,
        reduction: Reduction,
        shared: Shared,
        number: int,
        block: Callable[[], g.Atom],
        blocks: g.Var,
    ) -> k.BlockStmt:
        """One thread hands on what its block has. `block` writes the code for its number."""
        b = thread.b
        b.open()
        place = block()
        for (name, base), array in zip(self.partials(reduction, number), shared.arrays):
            b.store(b.result(name, base, (blocks,)), (place,), b.load(array, g.integer(0)))
        return k.ForAll((b.names.var("thread", g.INT),), (g.integer(1),), b.close())

    def results(
        self, thread: Thread, reduction: Reduction, shared: Shared, number: int, total: g.Var | None
    ) -> k.BlockStmt:
        """One thread gives the results. `total`: how many indices there were, where there may have been none."""
        b = thread.b
        arrays = [b.result(t.name, t.base, (g.integer(1),)) for t in self.source.targets]
        b.open()
        found = [b.load(a, g.integer(0)) for a in shared.arrays]
        some = None if total is None else b.op("lt", b.word_const(0), total)
        before: Callable[[], list[g.Atom]] | None = (
            None if number == 0 else lambda: [b.load(a, g.integer(0)) for a in arrays]
        )
        for array, v in zip(arrays, reduction.finish(found, some, before)):
            b.store(array, (g.integer(0),), v)
        return k.ForAll((b.names.var("thread", g.INT),), (g.integer(1),), b.close())

    def partials(self, reduction: Reduction, number: int) -> list[tuple[str, str]]:
        """Names and base types of the arrays that hold what blocks have."""
        stem = self.source.targets[0].name
        return [(f"{stem}.part{number}_{n}", base) for n, base in enumerate(reduction.kept)]

    def rest(
        self,
        thread: Thread,
        reduction: Reduction,
        shared: Shared,
        number: int,
        parts: Sequence[g.Var],
        count: g.Var,
        run: g.Var,
    ) -> list[k.BlockStmt]:
        """One block puts together what `count` blocks have, each thread a run of them, and gives the results."""
        b, threads = thread.b, self.threads
        t = b.names.var("thread", run.type)
        b.open()
        start = b.op("mul", t, run, exact=True)
        stop = b.op("min", b.op("add", start, run, exact=True), count)

        def one(i: g.Var, carried: list[g.Atom]) -> list[g.Atom]:
            return reduction.joined(carried, [b.load(a, i) for a in parts])

        found = b.seq_for(start, stop, reduction.initial[: len(reduction.kept)], one)
        reduction.leave(shared, t, found)
        gather = k.ForAll((t,), (g.Const(t.base, threads),), b.close())
        return [gather, *reduction.tree(shared, threads), self.results(thread, reduction, shared, number, None)]

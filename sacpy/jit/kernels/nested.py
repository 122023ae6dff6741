"""Folds of values that are folds themselves, such as the largest sum of the rows of a matrix.

In: a partition of a with-loop whose operators are folds. Out: two steps in its place, where each value comes of a fold
that several threads had better share: launches that compute the values as the cells of an array (`rows`), and a
partition that folds these. One thread for each value would do all of its fold alone: of 64 rows, 64 threads.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from sacpy.jit.ir import graph as g
from sacpy.jit.kernels import rows, segments
from sacpy.jit.kernels.builder import Builder
from sacpy.jit.kernels.launches import Buffer, KernelOptions, Launch
from sacpy.jit.kernels.numbers import Numbers, chain_of, fold_of
from sacpy.jit.kernels.row_shares import Row
from sacpy.jit.kernels.source import Built, Source, number_of
from sacpy.lang.constants import zero
from sacpy.nodes import Node
from sacpy.withloop.pragmas import Pragma
from sacpy.withloop.spaces import IndexSpace


class Nested(Node):
    """`source`: the with-loop that computes the values, its targets the arrays of them; `cell`: its partition;
    `partition`: the fold's, of those."""

    source: Source
    cell: Row | segments.Segment
    partition: g.Partition

    @property
    def inputs(self) -> set[str]:
        """The ints that say how long folds are."""
        return self.cell.inputs if isinstance(self.cell, Row) else set()

    def launches(
        self, number: int, space: IndexSpace, numbers: Numbers, options: KernelOptions, kernels: dict[Hashable, Built]
    ) -> tuple[list[Buffer], list[Launch]] | None:
        """Temporaries and launches for the values; None where one thread for each does better."""
        if isinstance(self.cell, Row):
            found = rows.launches(self.source, number, self.cell, space, True, numbers, options, kernels)
        else:
            own = segments.launches(self.source, number, self.cell, space, numbers, options, kernels)
            found = ([], own) if own else None
        if found is None:
            return None
        more, made = found
        cells = [
            Buffer(t.name, t.base, tuple(number_of(e, numbers) for e in g.extents_of(t))) for t in self.source.targets
        ]
        return [*cells, *more], made

    def declare(self, b: Builder) -> None:
        """Makes the arrays of values parameters of a kernel."""
        for t in self.source.targets:
            for e in g.extents_of(t):
                if isinstance(e, g.Var):
                    b.parameter(e.name)
            b.arrays[t.name] = t


def nested(source: Source, number: int, pragmas: Sequence[Pragma], options: KernelOptions) -> Nested | None:
    """A partition as such, by its number; None where its values are no such folds, or a pragma or strategy says how the
    fold is laid out."""
    p = source.with_loop.partitions[number]
    if options.strategy != "auto" or chain_of(pragmas) is not None or fold_of(pragmas) is not None:
        return None
    if p.step is not None or any(a != g.integer(0) for a in p.lower) or not p.index:
        return None
    stem = source.targets[0].name
    targets = [g.Var(f"{stem}.values{number}_{n}", g.ArrayType(r.base, p.upper)) for n, r in enumerate(p.body.results)]
    operators = tuple(g.Genarray(t.base, (), g.Const(t.base, zero(t.base))) for t in targets)
    cells = g.WithLoop(p.upper, (p,), operators, disjoint=True, complete=True)
    inner = Source(source.name, cells, targets, source.functions)
    cell = rows.tried(inner, p) or segments.tried(inner, p)
    if cell is None:
        return None
    values = [g.Var(f"{t.name}.value", g.ScalarType(t.base)) for t in targets]
    loads = tuple(g.Let((v,), g.Load(t, p.index)) for v, t in zip(values, targets))
    body = g.Block(loads, tuple(values))
    return Nested(inner, cell, g.Partition(p.lower, p.upper, None, None, p.index, body, p.pragmas, p.span))

"""Cells that come from one fold: matrix products, and all that look like them.

In: a partition. Out: its body as what stands before the fold, the fold, what stands after it, with what it reads; or
None. And the folds' functions as code of one thread.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.analysis.affine import Footprint, footprints_of
from sacpy.jit.ir.graph import Atom, Block, Const, Fold, Let, Partition, Stmt, Var, WithLoop, extents_of
from sacpy.jit.kernels.numbers import Numbers
from sacpy.jit.kernels.source import Source, number_of
from sacpy.jit.kernels.thread import Thread
from sacpy.jit.kernels.values import Value
from sacpy.nodes import Node


class Contraction(Node):
    """A body that is `before`, a fold over one dense axis, `after`. `prints`: what it reads, the folded axis counted
    behind those of the partition."""

    partition: Partition
    before: tuple[Stmt, ...]
    fold: WithLoop
    targets: tuple[Var, ...]
    after: Block
    prints: tuple[Footprint, ...]

    @property
    def inner(self) -> Partition:
        """What is folded."""
        return self.fold.partitions[0]

    @property
    def later(self) -> tuple[Block, ...]:
        """What comes after `before`."""
        return self.inner.body, self.after

    @property
    def folds(self) -> tuple[Fold, ...]:
        return tuple(o for o in self.fold.operators if isinstance(o, Fold))

    def length(self, numbers: Numbers) -> int:
        """How many indices a cell folds."""
        return number_of(self.inner.upper[0], numbers) - number_of(self.inner.lower[0], numbers)


def contraction(source: Source, p: Partition) -> Contraction | None:
    """The body of a partition as such, if it is one whose fold's bounds are known before the launch, and that cannot
    fail."""
    if not p.index or any(extents_of(r) for r in p.body.results):
        return None
    for at, s in enumerate(p.body.statements):
        if not isinstance(s, Let):
            return None
        if not isinstance(s.rhs, WithLoop):
            continue
        w = s.rhs
        if len(w.partitions) != 1 or not all(
            isinstance(o, Fold) and o.stop is None and not any(extents_of(n) for n in o.neutrals) for o in w.operators
        ):
            return None
        q = w.partitions[0]
        known = (
            q.rank == 1
            and q.step is None
            and all(isinstance(a, Const) or a.name in source.free for a in (*q.lower, *q.upper))
        )
        before = p.body.statements[:at]
        if not known or source.thread("trial", 32).checked(
            Block(before), q.body, *(o.combine for o in w.operators if isinstance(o, Fold))
        ):
            return None
        found = footprints_of((*p.index, q.index[0]), (Block(before), q.body), source.free)
        prints = tuple(f for f in found if any(e.axis == p.rank for e in f.entries))
        return (
            Contraction(p, before, w, s.targets, Block(p.body.statements[at + 1 :], p.body.results), prints)
            if prints
            else None
        )
    return None


def combined(thread: Thread, c: Contraction, carried: Sequence[Atom], values: Sequence[Value]) -> list[Atom]:
    """The folds' functions: what is carried, with what one more index gives."""
    found: list[Atom] = []
    at = 0
    for o in c.folds:
        size = len(o.accumulators)
        thread.bind(o.accumulators, list(carried[at : at + size]))
        thread.bind(o.values, values[at : at + size])
        at += size
        results, _ = thread.block(o.combine)
        found += [r for r in results if isinstance(r, Var | Const)]
    return found

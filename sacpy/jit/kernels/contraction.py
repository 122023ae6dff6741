"""Cells that come from one fold: matrix products, and all that look like them.

In: a partition. Out: its body as what stands before the fold, the fold, what stands after it, with what it reads; or
None. And the folds' functions as code of one thread.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.analysis.affine import Footprint, footprints_of
from sacpy.jit.analysis.combine import Cell, cell_of
from sacpy.jit.ir import graph as g
from sacpy.jit.kernels.numbers import Numbers
from sacpy.jit.kernels.source import Source, number_of
from sacpy.jit.kernels.thread import Thread
from sacpy.jit.kernels.values import Value


class Contraction(Cell):
    """A cell whose fold has one dense axis. `prints`: what it reads, the folded axis counted behind those of the
    partition. `run`: the first axis of the partition says which part of the fold is meant, each of so many indices
    (None: all of it)."""

    prints: tuple[Footprint, ...]
    run: g.Var | None = None

    def length(self, numbers: Numbers) -> int:
        """How many indices a cell folds."""
        return number_of(self.inner.upper[0], numbers) - number_of(self.inner.lower[0], numbers)


def contraction(source: Source, p: g.Partition) -> Contraction | None:
    """The body of a partition as such, if it is one whose fold's bounds are known before the launch, and that cannot
    fail."""
    cell = folded_cell(source, p)
    if cell is None or cell.inner.rank != 1 or cell.inner.step is not None:
        return None
    q, before = cell.inner, g.Block(cell.before)
    if source.thread("trial", 32).checked(before, q.body, *(f.combine for f in cell.folds)):
        return None
    found = footprints_of((*p.index, q.index[0]), (before, q.body), source.free)
    prints = tuple(f for f in found if any(e.axis == p.rank for e in f.entries))
    return Contraction(p, cell.before, cell.fold, cell.targets, cell.after, prints) if prints else None


def folded_cell(source: Source, p: g.Partition) -> Cell | None:
    """The body of a partition as a cell of scalars with one fold, if the fold's bounds are known before the launch, and
    nothing is checked in front of it."""
    cell = cell_of(p)
    if cell is None or not p.index or any(g.extents_of(r) for r in p.body.results):
        return None
    q = cell.inner
    bounds = (*q.lower, *q.upper, *(q.step or ()), *(q.width or ()))
    if not all(isinstance(s, g.Let) for s in cell.before):
        return None
    return cell if all(isinstance(a, g.Const) or a.name in source.free for a in bounds) else None


def suits(c: Contraction) -> bool:
    """Whether a contraction's fold does nothing but arithmetic on elements of arrays, and nothing before it reads any:
    then its code may run for cells that are not there."""
    before = is_arithmetic(c.before)
    body = all(
        isinstance(s, g.Let) and isinstance(s.rhs, g.Op | g.Load | g.Var | g.Const) for s in c.inner.body.statements
    )
    return before and body and all(is_arithmetic(o.combine.statements) for o in c.folds)


def is_arithmetic(statements: Sequence[g.Stmt]) -> bool:
    """Whether code is nothing but arithmetic."""
    return all(isinstance(s, g.Let) and isinstance(s.rhs, g.Op | g.Var | g.Const) for s in statements)


def combined(thread: Thread, c: Contraction, carried: Sequence[g.Atom], values: Sequence[Value]) -> list[g.Atom]:
    """The folds' functions: what is carried, with what one more index gives."""
    found: list[g.Atom] = []
    at = 0
    for o in c.folds:
        size = len(o.accumulators)
        thread.bind(o.accumulators, list(carried[at : at + size]))
        thread.bind(o.values, values[at : at + size])
        at += size
        results, _ = thread.block(o.combine)
        found += [r for r in results if isinstance(r, g.Var | g.Const)]
    return found

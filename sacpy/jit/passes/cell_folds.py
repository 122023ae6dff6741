"""Folds that cells have in common: computed in front of a with-loop, by loops in order that make arrays of them, and
loaded by its cells.

In: a `Way`, which says what cells fold and how a row of that is computed (`running_folds`, `class_folds`). Out: the
walk that does so, an axis of the arrays for each that the folds depend on. Where a partition has no index, nobody may
look at what there is for each, and nothing is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import copied, free, needed_for
from sacpy.jit.passes.walker import Walker
from sacpy.lang.constants import zero
from sacpy.nodes import Node, replace


class Stepping(Node):
    """Folds of a cell, in one loop: the statement, and along which axis cells have them in common; the other axes that
    they depend on."""

    statement: g.Let
    axis: int
    others: tuple[int, ...]

    @property
    def folds(self) -> list[g.Fold]:
        assert isinstance(self.statement.rhs, g.WithLoop)
        return [o for o in self.statement.rhs.operators if isinstance(o, g.Fold)]


def plain_folds(p: g.Partition) -> Iterator[g.Let]:
    """The statements of cells that fold scalars along one axis. What follows a check may depend on it."""
    if p.step is not None or p.pragmas:
        return
    for s in p.body.statements:
        if isinstance(s, g.Check):
            return
        if isinstance(s.rhs, g.WithLoop) and _is_plain(s.rhs):
            yield s


def _is_plain(w: g.WithLoop) -> bool:
    if w.frame is not None or w.pragmas or len(w.partitions) != 1:
        return False
    (q,) = w.partitions
    return q.step is None and q.rank == 1 and not q.pragmas and all(map(_is_of_scalars, w.operators))


def _is_of_scalars(o: g.Operator) -> bool:
    """Whether a fold is of scalars, and goes through all of them."""
    return isinstance(o, g.Fold) and o.stop is None and all(isinstance(v.type, g.ScalarType) for v in o.accumulators)


def ahead_of(s: g.Let, body: g.Block) -> tuple[g.Let, ...]:
    """What of a body a statement needs."""
    return needed_for((g.Var(name, g.INT) for name in free(g.Block((s,)))), body)


def are_apart(w: g.WithLoop) -> bool:
    """Whether cells do not wait for each other."""
    return all(isinstance(o, g.Genarray | g.Modarray) for o in w.operators)


class Way:
    """What cells fold, and how a row of that is computed, which has `more` elements than there are cells."""

    more = 0

    def found_in(self, p: g.Partition) -> Iterator[Stepping]:
        """What a partition's cells fold."""
        raise NotImplementedError

    def around(self, p: g.Partition, found: Any) -> tuple[g.Let, ...]:
        """What a cell computes first for the fold."""
        raise NotImplementedError

    def row(self, walk: Stepper, length: g.Atom, p: g.Partition, found: Any) -> tuple[g.Var, ...]:
        """Emits the loop that computes a row."""
        raise NotImplementedError

    def arrays(self, walk: Stepper, frame: tuple[g.Atom, ...], p: g.Partition, found: Stepping) -> tuple[g.Var, ...]:
        """Arrays of what cells fold, with an axis for each of the others that they depend on, and then this one."""
        length = walk.plus(frame[found.axis], self.more)
        return walk.in_rows(length, tuple(frame[k] for k in found.others), p, found)


class Stepper(Walker):
    """Computes in front of with-loops, in loops in order, what their cells fold, and has them load it."""

    def __init__(self, function: g.Function, way: Way) -> None:
        super().__init__(function)
        self.way = way
        self.depth = 0  # of with-loops around

    def rhs(self, r: g.Rhs) -> g.Rhs:
        self.depth += isinstance(r, g.WithLoop)
        try:
            new = super().rhs(r)
        finally:
            self.depth -= isinstance(r, g.WithLoop)
        if not isinstance(new, g.WithLoop) or self.depth or new.frame is None or not are_apart(new):
            return new
        partitions = tuple(self.stepping(new.frame, p) for p in new.partitions)
        return _loaded(new.frame, partitions, new) or replace(new, partitions=partitions)

    def stepping(self, frame: tuple[g.Atom, ...], p: g.Partition) -> g.Partition:
        """A partition that loads what its cells folded, which is computed here."""
        loads: dict[int, tuple[g.Let, ...]] = {}
        for found in self.way.found_in(p):
            index = tuple(p.index[k] for k in (*found.others, found.axis))
            targets = found.statement.targets
            loads[id(found.statement)] = tuple(
                g.Let((t,), g.Load(array, index)) for t, array in zip(targets, self.way.arrays(self, frame, p, found))
            )
        if not loads:
            return p
        statements = tuple(t for s in p.body.statements for t in loads.get(id(s), (s,)))
        return replace(p, body=g.Block(statements, p.body.results))

    def in_rows(self, length: g.Atom, others: tuple[g.Atom, ...], p: g.Partition, found: Stepping) -> tuple[g.Var, ...]:
        """Arrays of what cells fold, with a row for each index of the other axes."""
        around = self.way.around(p, found)
        rows, code = self.emitted(lambda: self.way.row(self, length, p, found))
        missing = [(p.lower[k], p.upper[k]) for k in range(p.rank) if k not in (*found.others, found.axis)]
        if missing or around or sum(isinstance(s, g.Let) and g.is_nested(s.rhs) for s in code) > 1 + len(rows):
            # where there is no index, nobody may look at what there is for each
            bounds = [*missing, (p.lower[found.axis], p.upper[found.axis])]
            rows, code = self.emitted(lambda: self.unless_empty(bounds, length, found, g.Block((*around, *code), rows)))
        index = tuple(self.supply.var(p.index[k].name, g.INT) for k in found.others)
        row = copied(g.Block(code, rows), dict(zip((p.index[k].name for k in found.others), index)), self.supply)
        if not index:
            self.out += row.statements
            return tuple(v for v in row.results if isinstance(v, g.Var))
        arrays = tuple(self.supply.var("run", g.ArrayType(v.base, (*others, length))) for v in rows)
        inside = g.Partition(
            tuple(p.lower[k] for k in found.others),
            tuple(p.upper[k] for k in found.others),
            None,
            None,
            index,
            row,
            (),
            p.span,
        )
        operators = tuple(g.Genarray(v.base, (length,), g.Const(v.base, zero(v.base))) for v in rows)
        self.out.append(g.Let(arrays, g.WithLoop(others, (inside,), operators, disjoint=True), p.span))
        return arrays

    def emitted(self, work: Callable[[], tuple[g.Var, ...]]) -> tuple[tuple[g.Var, ...], tuple[g.Stmt, ...]]:
        """What work gives, and the statements for it."""
        outer, self.out = self.out, []
        found, code = work(), tuple(self.out)
        self.out = outer
        return found, code

    def unless_empty(
        self, bounds: Sequence[tuple[g.Atom, g.Atom]], length: g.Atom, found: Stepping, row: g.Block
    ) -> tuple[g.Var, ...]:
        """Emits a row, if there is an index within bounds at all."""
        some = self.are_some(bounds)
        none, code = self.emitted(lambda: self.all_filled(length, found))
        arrays = tuple(self.supply.var("run", v.type) for v in none)
        self.out.append(g.Let(arrays, g.If(some, row, g.Block(code, none))))
        return arrays

    def all_filled(self, length: g.Atom, found: Stepping) -> tuple[g.Var, ...]:
        return tuple(self.filled(length, n) for o in found.folds for n in o.neutrals)

    def filled(self, length: g.Atom, value: g.Atom) -> g.Var:
        """An array of one value."""
        v = self.supply.var("run", g.ArrayType(value.base, (length,)))
        w = g.WithLoop((length,), (), (g.Genarray(value.base, (), value),), disjoint=True)
        self.out.append(g.Let((v,), w))
        return v

    def plus(self, a: g.Atom, by: int) -> g.Atom:
        """An index, and a number, which do not wrap."""
        if isinstance(a, g.Const):
            return g.integer(int(a.value) + by)
        return self.op("at", "add", a, g.integer(by), exact=True) if by else a

    def of_both(self, code: str, a: g.Atom, b: g.Atom) -> g.Atom:
        """The lesser of two ints, or the greater."""
        if isinstance(a, g.Const) and isinstance(b, g.Const):
            return g.integer((min if code == "min" else max)(int(a.value), int(b.value)))
        return a if a == b else self.op("end", code, a, b)


def _loaded(frame: tuple[g.Atom, ...], partitions: tuple[g.Partition, ...], w: g.WithLoop) -> g.Var | None:
    """The array of which a with-loop is a copy."""
    if len(partitions) != 1 or len(w.operators) != 1 or not w.complete or not isinstance(w.operators[0], g.Genarray):
        return None
    (p,) = partitions
    (result,) = p.body.results
    for s in p.body.statements:
        if isinstance(s, g.Let) and s.targets == (result,) and isinstance(s.rhs, g.Load):
            array = s.rhs.array
            return array if s.rhs.index == p.index and g.extents_of(array) == frame else None
    return None

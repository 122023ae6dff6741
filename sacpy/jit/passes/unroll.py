"""Unrolling: folds over a few known indices, and counting loops of a few rounds (a few more where they change a small
array), become straight code, in the same order. Folds over some more indices do so where they are not the sums of a
matrix product: in tiles, each element that is loaded serves many of those.

    s = with fold from 0.0 by (acc), (val)        x = load a[i,0]
          r = add acc, val; give r                s1 = add 0.0, x
      part [0] <= [j] < [2]               ->      y = load a[i,1]
        x = load a[i,j]                           s = add s1, y
        yield x
"""

from __future__ import annotations

from itertools import product
from math import prod

from sacpy.jit.analysis.contractions import contraction
from sacpy.jit.analysis.costs import size
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import copied, needed_for
from sacpy.jit.passes.loops_to_withloops import nest_of
from sacpy.jit.passes.mappings import shares_folds
from sacpy.jit.passes.simplify import Simplifier
from sacpy.jit.passes.units import per_function
from sacpy.nodes import replace

FEW = 16  # indices of a fold, whatever it stands in
POINTS = 64  # of one that is no part of a matrix product
ROUNDS = 8  # of a counting loop
ELEMENTS = 16  # of a small array, and rounds of a loop that changes one: its elements become scalars
CODE = 400  # statements afterwards
WRITTEN_OUT = 24  # of a cell that may be a matrix product's with some 8 terms


class _Unroller:
    def __init__(self, function: g.Function, points: int) -> None:
        self.walk = Simplifier(function)
        self.walk.take_over(let=self.let)
        self.points = points
        self.shared = 0  # with-loops around, whose folds threads are to share
        self.tiled: set[str] = set()  # the sums of matrix products

    def let(self, s: g.Let) -> None:
        rhs = s.rhs
        if not g.is_nested(rhs):
            Simplifier.let(self.walk, s)
            return
        if isinstance(rhs, g.WithLoop) and self.points > FEW:
            products = (contraction(_unchecked(p)) for p in rhs.partitions)
            self.tiled |= {t.name for c in products if c is not None and c.packed for t in c.targets}
        if (
            isinstance(rhs, g.WithLoop)
            and not self.walk.laid_out(rhs)
            and not self.shared
            and all(isinstance(o, g.Fold) and o.stop is None for o in rhs.operators)
        ):
            points = [_points(p) for p in rhs.partitions]
            known = [p for p in points if p is not None]
            most = FEW if any(t.name in self.tiled for t in s.targets) else self.points
            if len(known) == len(points) and sum(map(len, known)) <= most and self.code(rhs, known) <= CODE:
                self.folds(s.targets, rhs, known)
                return
        elif (
            isinstance(rhs, g.For)
            and (rounds := _rounds(rhs)) is not None
            and len(rounds) <= (ELEMENTS if _changes_small_array(rhs) else ROUNDS)
            and size(rhs.body) * len(rounds) <= CODE // 4
        ):
            values = self.walk.atoms(rhs.initial)
            for i in rounds:
                values = self.inserted(rhs.body, (rhs.index, *rhs.params), (g.integer(i), *values))
            self.walk.aliases(s.targets, values)
            return
        shares = isinstance(rhs, g.WithLoop) and shares_folds(rhs)
        self.shared += shares
        Simplifier.let(self.walk, s)
        self.shared -= shares

    def code(self, w: g.WithLoop, points: list[list[tuple[int, ...]]]) -> int:
        """How many statements folds become, with those that compute the elements they load, which move there."""
        combine = sum(size(o.combine) for o in w.operators if isinstance(o, g.Fold))
        return sum(len(iv) * (size(p.body) + combine + self.moving(p.body)) for p, iv in zip(w.partitions, points))

    def moving(self, b: g.Block) -> int:
        """How many statements compute the elements that a block loads of arrays that with-loops make."""
        made = (
            self.walk.definition(s.rhs.array)
            for s in b.statements
            if isinstance(s, g.Let) and isinstance(s.rhs, g.Load)
        )
        return sum(size(p.body) for w in made if isinstance(w, g.WithLoop) for p in w.partitions)

    def inserted(self, b: g.Block, binders: tuple[g.Var, ...], atoms: tuple[g.Atom, ...]) -> tuple[g.Atom, ...]:
        """Puts a copy of a block here; its results."""
        new = copied(b, dict(zip((v.name for v in binders), self.walk.atoms(atoms))), self.walk.supply)
        for s in new.statements:
            self.walk.step(s)
        return self.walk.atoms(new.results)

    def folds(self, targets: tuple[g.Var, ...], w: g.WithLoop, points: list[list[tuple[int, ...]]]) -> None:
        """Puts folds here, index by index."""
        folds = [o for o in w.operators if isinstance(o, g.Fold)]
        total: list[tuple[g.Atom, ...]] = []
        for p, indices in zip(w.partitions, points):
            state = [self.walk.atoms(o.neutrals) for o in folds]
            for iv in indices:
                values = self.inserted(p.body, p.index, tuple(map(g.integer, iv)))
                at = 0
                for k, o in enumerate(folds):
                    mine = values[at : at + len(o.neutrals)]
                    at += len(o.neutrals)
                    state[k] = self.inserted(o.combine, (*o.accumulators, *o.values), (*state[k], *mine))
            if total:
                state = [
                    self.inserted(o.combine, (*o.accumulators, *o.values), (*new, *old))
                    for o, new, old in zip(folds, state, total)
                ]
            total = state
        self.walk.aliases(
            targets, tuple(a for values in total or [self.walk.atoms(o.neutrals) for o in folds] for a in values)
        )


def _unchecked(p: g.Partition) -> g.Partition:
    """A partition without the checks in its body and in the folds there, and what only these need: later, all of that
    is lifted out of loops."""
    statements = (
        replace(s, rhs=replace(s.rhs, partitions=tuple(map(_unchecked, s.rhs.partitions))))
        if isinstance(s, g.Let) and isinstance(s.rhs, g.WithLoop)
        else s
        for s in needed_for(p.body.results, p.body)
    )
    return replace(p, body=g.Block(tuple(statements), p.body.results))


def _points(p: g.Partition) -> list[tuple[int, ...]] | None:
    """The indices of a partition in order, if they are known and few."""
    axes = []
    for k in range(p.rank):
        bounds = (
            p.lower[k],
            p.upper[k],
            p.step[k] if p.step is not None else g.integer(1),
            p.width[k] if p.width is not None else g.integer(1),
        )
        if not all(isinstance(b, g.Const) for b in bounds):
            return None
        lower, upper, step, width = (int(b.value) for b in bounds if isinstance(b, g.Const))
        if not 0 < width <= step or upper - lower > step * POINTS:
            return None
        axes.append([i for i in range(lower, upper) if (i - lower) % step < width])
    return list(product(*axes)) if prod(map(len, axes)) <= POINTS else None


def _rounds(r: g.For) -> range | None:
    return (
        range(int(r.lower.value), int(r.upper.value), r.step)
        if isinstance(r.lower, g.Const) and isinstance(r.upper, g.Const)
        else None
    )


def _changes_small_array(r: g.For) -> bool:
    """Whether a loop carries an array of few elements, and is not a with-loop in disguise."""
    few = (
        all(isinstance(e, g.Const) for e in g.extents_of(p))
        and prod(int(e.value) for e in g.extents_of(p) if isinstance(e, g.Const)) <= ELEMENTS
        for p in r.params
        if isinstance(p.type, g.ArrayType)
    )
    return any(few) and nest_of(r) is None


def unroll(function: g.Function) -> g.Function:
    """A function with its shortest loops unrolled."""
    return _Unroller(function, FEW).walk.function(function)


def unroll_longer(function: g.Function) -> g.Function:
    """A function with longer folds unrolled, too, where they are computed in no better way."""
    return _Unroller(function, POINTS).walk.function(function)


def run(unit: g.Unit) -> g.Unit:
    """A unit with its shortest loops unrolled."""
    return per_function(unit, unroll)


def run_longer(unit: g.Unit) -> g.Unit:
    """A unit with its short loops unrolled, where what they sum up is known."""
    return per_function(unit, unroll_longer)


def run_back(unit: g.Unit) -> g.Unit:
    """A unit with sums of products as such again (`roll`), if a cell has as many statements as these take."""
    loops = (s.rhs for f in unit.functions for s in g.statements(f.body) if isinstance(s, g.Let))
    cells = (p for w in loops if isinstance(w, g.WithLoop) for p in w.partitions if p.rank > 1)
    if not any(len(p.body.statements) >= WRITTEN_OUT for p in cells):
        return unit
    from sacpy.jit.passes import roll

    return roll.run(unit)

"""The loops of one partition: row-major, the last axis innermost, in tiles where that pays.

In: a partition, where its values go, and where it stands. Out: a `LoopNest`. A check that fails in an innermost loop
without inner loops is noted and leaves after the loop, so that LLVM can vectorise it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sacpy.jit.analysis.folds import Reduction
from sacpy.jit.analysis.straight import is_straight, is_straight_cell
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.operations import PLACES
from sacpy.jit.schedule.hoisting import hoisted
from sacpy.jit.schedule.loops import Context, Goal, IntoArray, IntoFold, Loop, LoopNest, Through, has_checks

if TYPE_CHECKING:
    from sacpy.jit.analysis.grown import Rows as GrownRows
    from sacpy.jit.schedule.residues import Residues
    from sacpy.jit.schedule.row_folds import RowFolds
    from sacpy.jit.schedule.row_products import RowProduct

SMALL = 12  # statements of a body that may stand there twice, for short rows and for long ones
STRETCH = 1 << 18  # rounds between two looks at the stop flag: of the dearest functions some hundredths of a second
# lanes of a vector of accumulators of a fold on reals
LANES = {"double": 8, "float": 16}
# such vectors of all folds that run in one loop, while there are no more folds than that: so many sums are under way
# while the next one is computed. Where registers have half the width these take half of them.
VECTORS_AT_ONCE = 4
# elements at least of a cell of which LLVM makes vectors: those of fewer are taken apart by two shuffles; and where
# elements have something in common, which is computed once, and not in lanes
WIDE, WIDER = 5, 16
REST = 8  # lanes of one vector for the last rounds, too few for these

VECTORS = "neither loops nor calls inside, so LLVM makes vectors of it"
LOOPS = "there are loops or calls inside"
OUTER = "row-major: another axis runs inside"
LONG = "there may be more indices than a look at the stop flag may wait for"
WIDTH = "a partition with steps and a width has blocks of indices"
BLENDED = "vectors of elements that lie apart take longer than some that are computed in vain"
TOGETHER = "the index is divided, and nothing is left to divide where its remainder is known"
REGROUPED = "a fold on reals that may be regrouped, in lanes that depend on the program alone"
ORDERED = "a fold that LLVM would fail to make vectors of, or make in vain"
CELLS = "the elements of a cell are computed alike and lie side by side, so LLVM makes vectors of each cell"
GROWING = "the row of the next element follows from that of this one"
SIDE_BY_SIDE = "sums along rows with something in common, which is loaded once for some of them"
STRIPS = "rows that are products with a matrix are computed a strip at a time, in tiles"


def lanes(reduction: Reduction) -> int:
    """The lanes of a vector of accumulators."""
    return LANES["float" if "float" in reduction.bases and "double" not in reduction.bases else "double"]


def accumulators(goals: Sequence[Goal]) -> int:
    """How many vectors of accumulators each of the folds has that run in one loop: a power of two."""
    folds = sum(len(x.reduction.bases) for x in goals if isinstance(x, IntoFold) and x.reduction is not None)
    return 1 << (VECTORS_AT_ONCE // folds).bit_length() - 1 if folds <= VECTORS_AT_ONCE else 1


def nest_of(
    p: g.Partition, goals: tuple[Goal, ...], context: Context, earlier: tuple[g.Partition, ...] = (), first: int = 0
) -> LoopNest:
    """The loops of a partition. `earlier`: partitions whose indices are left out; `first`: how many of its axes have
    their loops elsewhere: tiles of columns need the last axis only."""
    carried = [v for x in goals if isinstance(x, Through) for v in x.operator.params]
    found = hoisted(p, carried)
    if not earlier and _has_loops(p.body):
        from sacpy.jit.schedule.tiles import tile_loops, tiled

        tiles = tiled(p, goals, first)
        if tiles is not None:
            left = found.partition
            return LoopNest(left, goals, tile_loops(tiles, first), left.body, found.before, tiles=tiles)
    return _Nesting(found.partition, goals, context, earlier, found.before).nest(first)


def tiles_on(p: g.Partition, goals: Sequence[Goal], axis: int) -> bool:
    """Whether a partition is computed in tiles of several rows along an axis."""
    if axis != p.rank - 2 or not _has_loops(p.body):
        return False
    from sacpy.jit.schedule.tiles import tiled

    tiles = tiled(p, goals)
    return tiles is not None and (tiles.contraction.packed or bool(tiles.sliding))


class _Nesting:
    """The loops of a partition that are being chosen."""

    def __init__(
        self,
        p: g.Partition,
        goals: tuple[Goal, ...],
        context: Context,
        earlier: tuple[g.Partition, ...],
        before: tuple[tuple[g.Stmt, ...], ...],
    ) -> None:
        self.p, self.goals, self.context, self.earlier, self.before = p, goals, context, earlier, before
        in_place = all(isinstance(x, IntoArray) and not x.earlier for x in goals)
        self.products: tuple[RowProduct, ...] = ()
        self.left = p
        if in_place and not earlier and _has_loops(p.body):
            from sacpy.jit.schedule.row_products import row_products, without

            self.products = row_products(p)
            self.left = without(p, self.products)
        self.body = self.left.body
        self.checks = has_checks(self.body)
        # whether LLVM can vectorise the innermost loop: cells made of scalars are built where they are to be
        self.straight = is_straight_cell(self.body, in_place)
        stops = [isinstance(x, IntoFold) and x.operator.stop is not None for x in goals]
        self.leaves = bool(stops) and all(stops)
        self.residues: Residues | None = None
        self.grown: GrownRows | None = None
        self.folds: RowFolds | None = None

    def nest(self, first: int) -> LoopNest:
        p, few = self.p, []
        for r in self.products:
            (inner,), (genarray,) = r.w.partitions, r.w.operators
            assert isinstance(genarray, g.Genarray)
            few.append(_Nesting.of(inner, (IntoArray(genarray.base, False),), self.context).nest(0))
        noted = (
            p.rank > 0
            and not self.products
            and self.checks
            and self.straight
            and all(isinstance(x, IntoArray) or is_plain(x) for x in self.goals)
        )
        return LoopNest(
            p,
            self.goals,
            tuple(loop for k in range(first, p.rank) for loop in self.axis(k)),
            self.body,
            self.before,
            self.earlier,
            self.products,
            tuple(few),
            self.residues,
            grown=self.grown,
            folds=self.folds,
            noted=noted,
            leaves=self.leaves,
        )

    @staticmethod
    def of(p: g.Partition, goals: tuple[Goal, ...], context: Context) -> _Nesting:
        """The loops of a partition without tiles."""
        found = hoisted(p)
        return _Nesting(found.partition, goals, context, (), found.before)

    def axis(self, k: int) -> Iterator[Loop]:
        """The loops over one axis."""
        p, innermost = self.p, k == self.p.rank - 1
        inside = k > 0 or self.context.inside  # of loops that look themselves
        polls = k == 0 and not (p.rank == 1 and self.straight)
        if innermost and self.may_be_long() and not (inside and self.runs_along()):
            short = inside and self.straight and len(self.body.statements) <= SMALL
            yield Loop(k, "long" if short else "stretch", STRETCH, LONG)
        if innermost and self.products:
            from sacpy.jit.schedule.row_products import ROWS

            yield Loop(k, "strip", ROWS, STRIPS)
            yield Loop(k, "serial", 1, polls=polls)
        elif innermost and self.blends():
            from sacpy.jit.schedule.dense_blend import STRIP

            yield Loop(k, "strip", STRIP, BLENDED)
            yield Loop(k, "blend", 1, BLENDED, polls=polls)
        elif innermost and self.divides():
            assert self.residues is not None
            yield Loop(k, "residues", self.residues.divisor, TOGETHER, polls=polls)
        elif p.width is None or p.width[k] == g.integer(1):
            if innermost and self.grows():
                yield Loop(k, "rows", 0, GROWING)
            if innermost and self.sums_rows():
                from sacpy.jit.schedule.row_folds import ROWS

                yield Loop(k, "together", ROWS, SIDE_BY_SIDE)
            yield self.plain(k, innermost, polls)
        else:
            if p.step is None or p.width[k] != p.step[k]:
                yield Loop(k, "starts", 0, WIDTH)
            yield Loop(k, "serial", 1, VECTORS if innermost and self.straight else OUTER, polls=polls)

    def plain(self, k: int, innermost: bool, polls: bool) -> Loop:
        """The loop from index to index, a step at a time (size 0), or one by one."""
        size = 1 if self.p.step is None else 0
        if not innermost:
            return Loop(k, "serial", size, OUTER, polls=polls)
        reduction = self.regrouped()
        if reduction is None and self.has_wide_cells():
            return Loop(k, "cells", size, CELLS, polls=polls)
        if reduction is None:
            return Loop(k, "serial", size, VECTORS if self.straight else LOOPS, polls=polls)
        if self.one_by_one(reduction):
            return Loop(k, "single", size, ORDERED, polls=polls)
        vectors = accumulators(self.goals)
        return Loop(k, "lanes", lanes(reduction), REGROUPED, vectors, rest=self.p.step is None, polls=polls)

    def has_wide_cells(self) -> bool:
        """Whether cells are vectors by themselves, that LLVM would take apart to have elements of several in one."""
        if not self.straight or not any(isinstance(a.type, g.ArrayType) for a in self.body.results):
            return False
        from sacpy.jit.analysis.alike import alike, in_common, made_cells

        cells = made_cells(self.body)
        if not cells or min(len(c.elements) for c in cells) < WIDE:
            return False
        least = WIDE if in_common(self.body, cells) == 0 else WIDER
        return min(len(c.elements) for c in cells) >= least and alike(self.body)

    def blends(self) -> bool:
        """Whether the last axis is run through without gaps."""
        if self.p.step is None or self.earlier:
            return False
        from sacpy.jit.schedule.dense_blend import can_blend

        return can_blend(self.left, self.goals)

    def divides(self) -> bool:
        """Whether indices are taken together by their remainders."""
        if self.earlier or not any(map(_is_division, self.body.statements)):
            return False
        from sacpy.jit.schedule.residues import residues

        self.residues = residues(self.left, self.goals, self.context.facts.made)
        return self.residues is not None

    def grows(self) -> bool:
        """Whether indices are elements of rows that grow, and their rows are asked for."""
        if self.earlier or self.p.rank != 1 or not all(isinstance(x, IntoArray) for x in self.goals):
            return False
        if not any(map(_asks_for_a_row, g.statements(self.body))):
            return False
        from sacpy.jit.analysis.grown import rows_of

        self.grown = rows_of(self.left)
        return self.grown is not None

    def sums_rows(self) -> bool:
        """Whether some rows are summed together."""
        if self.earlier or self.products or self.straight or self.grown is not None or not _has_loops(self.body):
            return False
        from sacpy.jit.schedule.row_folds import row_folds

        self.folds = row_folds(self.left, self.goals, self.context)
        return self.folds is not None

    def may_be_long(self) -> bool:
        """Whether a row may go on for long where nobody looks at the stop flag: one that makes no array has as many
        points as an int can say."""
        if any(isinstance(x, IntoArray) for x in self.goals):
            return False
        lower, upper = self.p.lower[-1], self.p.upper[-1]
        return not (isinstance(lower, g.Const) and isinstance(upper, g.Const) and upper.value - lower.value <= STRETCH)

    def runs_along(self) -> bool:
        """Whether a row is that of an array, all of whose elements are loaded: it has room in memory, so it is no
        longer than some tenths of a second, and mostly short."""
        p = self.p
        whole = p.lower[-1] == g.integer(0) and p.step is None
        loads = (s.rhs for s in self.body.statements if isinstance(s, g.Let) and isinstance(s.rhs, g.Load))
        return whole and any(
            r.index[-1] == p.index[-1] and g.extents_of(r.array)[-1] == p.upper[-1] for r in loads if r.index
        )

    def regrouped(self) -> Reduction | None:
        """The fold on reals that the innermost loop computes in another order, if LLVM can be told which: where it
        cannot obey, it would say so on standard error, or take it as leave to regroup them all."""
        if self.earlier or self.leaves or not self.straight or self.checks:
            return None
        if not all(
            isinstance(x, IntoArray) or (isinstance(x, IntoFold) and is_plain(x) and x.reduction is not None)
            for x in self.goals
        ):
            return None
        if self.p.step is not None and not isinstance(self.p.step[-1], g.Const):
            return None
        # for others any lanes do
        found = (x.reduction for x in self.goals if isinstance(x, IntoFold) and x.reduction is not None)
        return next((r for r in found if not r.exact), None)

    def one_by_one(self, reduction: Reduction) -> bool:
        """Whether LLVM would fail to make vectors of such a fold, or make them in vain."""
        if self.adds_nothing() or self.is_short(lanes(reduction)):
            return True
        # LLVM makes conditions of extremes with infinity, which it then cannot vectorise
        folds = [x.reduction for x in self.goals if isinstance(x, IntoFold) and x.reduction is not None]
        return any(r.extremes for r in folds) and self.names_infinity()

    def is_short(self, width: int) -> bool:
        """Whether rows are known to fill half of the lanes at most: then adding these up takes longer than it saves."""
        lower, upper = self.p.lower[-1], self.p.upper[-1]
        return isinstance(lower, g.Const) and isinstance(upper, g.Const) and upper.value - lower.value <= width // 2

    def adds_nothing(self) -> bool:
        """Whether a fold has only values that change nothing, or are NaN, so that LLVM finds no sum to vectorise."""
        at = 0
        for x in self.goals:
            values = self.body.results[at : at + x.count]
            at += x.count
            if isinstance(x, IntoFold) and x.reduction is not None and x.reduction.real:
                for k, value in enumerate(values):
                    if isinstance(value, g.Const) and (
                        value.value != value.value or _is_neutral(x.reduction, k, value)
                    ):
                        return True
        return False

    def names_infinity(self) -> bool:
        """Whether an infinite constant occurs in the body."""
        operations = [s.rhs for s in g.statements(self.body) if isinstance(s, g.Let) and isinstance(s.rhs, g.Op)]
        return any(
            isinstance(a, g.Const) and isinstance(a.value, float) and math.isinf(a.value)
            for a in (*self.body.results, *(a for op in operations for a in op.args))
        )


def _has_loops(b: g.Block) -> bool:
    """Whether a statement of a block is a with-loop."""
    return any(isinstance(s, g.Let) and isinstance(s.rhs, g.WithLoop) for s in b.statements)


def _is_division(s: g.Stmt) -> bool:
    """Whether a statement divides an int."""
    return (
        isinstance(s, g.Let)
        and isinstance(s.rhs, g.Op)
        and s.rhs.code in ("div", "mod", "aplmod")
        and s.rhs.args[0].base == "int"
    )


def _asks_for_a_row(s: g.Stmt) -> bool:
    return isinstance(s, g.Let) and isinstance(s.rhs, g.Op) and s.rhs.code in PLACES


def _is_neutral(r: Reduction, k: int, value: g.Const) -> bool:
    """Whether a value is the neutral one of accumulator k, zero of the same sign."""
    neutral = r.neutral(k)
    return value.value == neutral and math.copysign(1, value.value) == math.copysign(1, neutral)


def is_plain(x: Goal) -> bool:
    """Whether a fold only combines scalars, without loops."""
    return (
        isinstance(x, IntoFold)
        and x.operator.stop is None
        and is_straight(x.operator.combine)
        and not any(isinstance(v.type, g.ArrayType) for v in x.operator.values)
    )

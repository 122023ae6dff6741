"""Schedules: how a with-loop or a counting loop runs on the CPU.

In: what `withloops`, `nests`, `rows`, `threads` and `counting` have chosen. Out: nodes that `host` writes as they
stand, `schedule_printer` prints and `schedule_verify` checks.

A nest has its loops from the outside in. Each runs over one axis; several over the same axis cut it: the inner ones run
over what a round of the outer one leaves them. Their tags:

    threads     chunks of the axis are dealt out
    serial      one index after the other; LLVM makes vectors of an innermost loop where it can
    starts      from block to block of a partition with steps and a width; the loop inside runs over the width
    stretch     so many indices, then a look at the stop flag, for which there is no room among vectors
    long        the same where the row is longer than that, else a loop of its own, which LLVM knows to be short
    strip       so many indices at a time, for which something is kept in a buffer
    blend       all indices from the first to the last; those between two steps keep what they have
    rows        from row to row of elements whose rows grow; the loop inside runs over a row
    residues    so many indices in a round, each of which leaves a remainder of its own
    lanes       a fixed number of accumulators, `vectors` of `size` lanes; `rest`: what is left has fewer
    single      one index after the other, and no vectors
    cells       the same; LLVM makes vectors of the elements of a cell
    tile        so many cells in registers
    together    so many rows at a time, whose sums run side by side; the loop inside is for those that are left
    mesh        one index of each of so many partitions in a round
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from sacpy.jit.ir import graph as g
from sacpy.nodes import Node

if TYPE_CHECKING:
    from sacpy.jit.analysis.contractions import Contraction
    from sacpy.jit.analysis.folds import Reduction
    from sacpy.jit.analysis.grown import Rows as GrownRows
    from sacpy.jit.analysis.indices import Facts
    from sacpy.jit.analysis.scans import Chain, Scan
    from sacpy.jit.schedule.checks_ahead import CheckedAhead
    from sacpy.jit.schedule.residues import Residues
    from sacpy.jit.schedule.row_folds import RowFolds
    from sacpy.jit.schedule.row_products import RowProduct


class Context(Node):
    """Where a loop stands. `facts`: of its function; `strict`: reals are computed as programmed; `parallel`: threads
    may be used here; `inside`: there are loops around it in its function; `in_order`: extremes of reals are computed
    from left to right here."""

    facts: Facts
    strict: bool
    parallel: bool = True
    inside: bool = False
    in_order: bool = False


# ---------------------------------------------------------------- where values go


class IntoArray(Node):
    """The values of a genarray or modarray. `cells`: they are arrays; `earlier`: partitions whose cells stay."""

    base: str
    cells: bool
    earlier: tuple[g.Partition, ...] = ()
    count: int = 1


class IntoFold(Node):
    """Those of a fold. `reduction`: what it is, if it may be regrouped; `ordered`: it may not, though it is known."""

    operator: g.Fold
    reduction: Reduction | None
    ordered: bool

    @property
    def count(self) -> int:
        return len(self.operator.neutrals)


class Through(Node):
    """Those of a propagate, which go from index to index."""

    operator: g.Propagate

    @property
    def count(self) -> int:
        return len(self.operator.params)


Goal: TypeAlias = "IntoArray | IntoFold | Through"

# ---------------------------------------------------------------- loops


class Loop(Node):
    """One loop over an axis of a partition, or, in tiles, of the fold of each cell, whose axes have the numbers from
    the rank on. `why`: the reason for its tag; `polls`: each round looks at the stop flag."""

    axis: int
    tag: str
    size: int = 0
    why: str = ""
    vectors: int = 1
    rest: bool = False
    polls: bool = False


class Tiles(Node):
    """A contraction whose cells are computed `rows` times `vectors` times `lanes` at a time, in registers. `sliding`:
    elements that rows of columns share (`analysis/sliding`)."""

    contraction: Contraction
    rows: int
    vectors: int
    lanes: int
    sliding: frozenset[str] = frozenset()


class LoopNest(Node):
    """The loops of one partition. `partition`: with what is left of its body behind `before`, which has the statements
    in front of the loops of each axis (none: nothing is hoisted); `body`: what an index runs then, behind `products`,
    rows that are computed a strip at a time, or by the nests `few` where there are too few for tiles. `earlier`:
    partitions whose indices are left out; `noted`: a check that fails is noted, and leaves behind the loop; `leaves`:
    the loops end where all folds have what they stop at; `grown`: the rows that the index lies in; `folds`: the sums
    along rows that run side by side."""

    partition: g.Partition
    goals: tuple[Goal, ...]
    loops: tuple[Loop, ...]
    body: g.Block
    before: tuple[tuple[g.Stmt, ...], ...] = ()
    earlier: tuple[g.Partition, ...] = ()
    products: tuple[RowProduct, ...] = ()
    few: tuple[LoopNest, ...] = ()
    residues: Residues | None = None
    tiles: Tiles | None = None
    grown: GrownRows | None = None
    folds: RowFolds | None = None
    noted: bool = False
    leaves: bool = False

    def over(self, axis: int) -> tuple[Loop, ...]:
        """The loops over an axis."""
        return tuple(loop for loop in self.loops if loop.axis == axis)


class Rows(Node):
    """One loop over an axis that several partitions share, with the loops of each inside. `turns`: the rows of each
    lie between those of the others: where the first ones are. Along the last axis the loop is a `mesh`."""

    loop: Loop
    partitions: tuple[g.Partition, ...]
    parts: tuple[Part, ...]
    turns: tuple[int, ...] = ()


Part: TypeAlias = "LoopNest | Rows"


class Threads(Node):
    """How the outermost axis is dealt out. Chunks follow from the work that there is, in multiples of `multiple`, or of
    the step; `least`: the indices that one has at least; `most`: there are so many at most. `cut`: the rows are few
    and long: what is dealt out is blocks of them. `even`: their lengths change with the index, and chunks have equal
    work instead of as many rows, in multiples of `multiple`."""

    why: str
    multiple: int = 1
    least: int = 0
    most: int = 0
    cut: bool = False
    even: bool = False


class Group(Node):
    """Partitions that run together. `threads`: how they are dealt out, if they may be; `short`: the nest where there is
    not enough to deal out, if that stands in place; `again`: the nest in order, if an extreme of reals may need one."""

    partitions: tuple[g.Partition, ...]
    goals: tuple[Goal, ...]
    part: Part
    threads: Threads | None = None
    short: LoopNest | None = None
    again: LoopNest | None = None


class Schedule(Node):
    """How a with-loop runs: groups one after the other. `why`: what their order follows from."""

    w: g.WithLoop
    groups: tuple[Group, ...]
    why: str


class Rounds(Node):
    """How a counting loop runs: as a `scan`; its rounds dealt out to `threads`, in multiples of `size`; in a `stretch`
    of `size` at a time, with the checks `ahead` of each made before it; or `serial`, one by one, with a look at the
    stop flag (`polls`). `lanes`: the ints that one round waits for the other for, in a lane of a vector register."""

    loop: g.For
    tag: str
    why: str
    size: int = 1
    scan: Scan | Chain | None = None
    ahead: CheckedAhead | None = None
    polls: bool = False
    lanes: frozenset[str] = frozenset()


# the schedules of a unit, by the name of their function and that of what their loop sets first
Written: TypeAlias = "dict[tuple[str, str], list[Schedule | Rounds]]"


def nests(part: Part) -> Iterator[LoopNest]:
    """The nests of a group."""
    if isinstance(part, LoopNest):
        yield part
    else:
        for inner in part.parts:
            yield from nests(inner)


def has_checks(b: g.Block) -> bool:
    """Whether something is checked in a block, or inside."""
    return any(isinstance(s, g.Check) for s in g.statements(b))


def loops_before(before: Sequence[Sequence[g.Stmt]], axis: int) -> bool:
    """Whether there are loops among what stands in front of those of an axis."""
    return axis < len(before) and any(isinstance(s, g.Let) and g.blocks(s.rhs) for s in before[axis])


def name_of(nest: LoopNest, loop: Loop) -> str:
    """The name of the index that a loop runs over."""
    rank = nest.partition.rank
    if loop.axis < rank:
        return nest.partition.index[loop.axis].name
    assert nest.tiles is not None
    return nest.tiles.contraction.inner.index[loop.axis - rank].name


def size_of(loop: Loop) -> str:
    """How large a loop's piece is, as text; "" where it has none."""
    if loop.tag == "lanes":
        return f"{loop.vectors} x {loop.size}"
    return str(loop.size) if loop.tag not in ("serial", "single", "cells", "blend", "starts") else ""

"""Which partitions have their outermost axis dealt out to threads, and in which chunks.

In: partitions that run together, their loops, where their values go. Out: `Threads`, or None.

How large a chunk is follows from the program and the extents only. Rows that are few and long are cut into blocks, so
that there is something to deal to every thread: where there are rows enough there is one block in each.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.analysis.ints import Sums, distance
from sacpy.jit.analysis.straight import cells, is_straight
from sacpy.jit.ir.graph import ArrayType, Const, Let, Partition, integer, is_nested
from sacpy.jit.schedule.hoisting import hoisted
from sacpy.jit.schedule.loops import Context, Goal, IntoArray, IntoFold, LoopNest, Part, Threads, loops_before
from sacpy.jit.schedule.nests import SMALL
from sacpy.nodes import replace

WORTH = 40000.0  # work (see `host/work`) from which a loop is cut into chunks: five to ten microseconds
PER_CHUNK = 5000.0  # small beside what threads take to come together, so that their shares can be even
TILED_CHUNKS = 12  # tiles load a whole matrix per chunk: rather a few large ones
TILED_ROWS = 48
ROWS_OF_TILES = 8
ALIGNED = 64  # chunks of what writes single elements are a multiple of so many: whole cache lines
LINE = 8  # rows of which chunks of equal work have multiples: whole cache lines of what is written
MANY_ROWS = 64  # of which there need be no blocks
SHORT = 256  # indices that need not be cut, unless there is much work for each

CUT = "the rows may be few and long: blocks of them"
LINES = "one axis: a chunk has whole cache lines"
PANELS = "each chunk packs a whole matrix, so there are few"
STRIPS = "a chunk has whole strips of rows that are products"
EVEN = "rows differ in length: chunks of equal work"
SLIDING = "a chunk has whole tiles of rows that share what they load"
GROUPS = "a chunk has whole groups of rows whose sums run side by side"
PLAIN = "indices in any order, as many as are worth it"


def may_spread(group: Sequence[Partition], goals: Sequence[Goal], context: Context) -> bool:
    """Whether the indices of partitions may run in any order, in several threads at once: only arrays, and folds of
    scalars that may be regrouped. Where there is little to do, it is not worth it."""
    return (
        context.parallel
        and all(isinstance(x, IntoArray) or (isinstance(x, IntoFold) and _may_regroup(x, context)) for x in goals)
        and any(p.rank > 0 and not _is_tiny(p, context.facts.made) for p in group)
    )


def threads_of(part: Part, goals: Sequence[Goal]) -> Threads:
    """How loops that may be spread are."""
    if not isinstance(part, LoopNest):
        return Threads(PLAIN)
    p, tiles = part.partition, part.tiles
    if tiles is None and is_cut(p, loops_before(part.before, 1)):
        return Threads(CUT, cut=True)
    if tiles is not None and tiles.contraction.packed:
        return Threads(PANELS, ROWS_OF_TILES, TILED_ROWS, TILED_CHUNKS)
    if tiles is not None and tiles.sliding and p.rank == 2:
        return Threads(SLIDING, tiles.rows)
    if part.products and p.rank == 1:
        from sacpy.jit.schedule.row_products import ROWS

        return Threads(STRIPS, ROWS_OF_TILES, ROWS)
    if p.step is None and tiles is None and all(map(_may_be_empty, goals)) and is_uneven(part):
        return Threads(EVEN, LINE, even=True)
    if part.folds is not None and p.rank == 1:
        from sacpy.jit.schedule.row_folds import ROWS

        return Threads(GROUPS, ROWS)
    plain = p.step is None or p.step[0] == integer(1)
    if p.rank == 1 and plain and (tiles is not None or is_straight(p.body, cells(p.body))):
        return Threads(LINES, ALIGNED)
    return Threads(PLAIN)


def short_of(part: Part) -> LoopNest | None:
    """The nest of a short row in a loop, which stands in place: to ask how it is dealt out, and to call a function for
    it, takes longer than some elements. None where the code is too long to be there twice, or has loops inside."""
    if not isinstance(part, LoopNest) or part.partition.rank != 1 or part.tiles is not None or part.products:
        return None
    if len(part.body.statements) > SMALL or not is_straight(part.body):
        return None
    return replace(part, loops=tuple(loop for loop in part.loops if loop.tag not in ("stretch", "long")))


def _may_be_empty(x: Goal) -> bool:
    """Whether a chunk may be without any index: a fold then needs a value that changes nothing."""
    return not isinstance(x, IntoFold) or x.reduction is not None


def is_uneven(nest: LoopNest) -> bool:
    """Whether rows differ in length, in a way that is known in front of the loop."""
    p = nest.partition
    inside = [s.rhs for s in p.body.statements if isinstance(s, Let) and is_nested(s.rhs)]
    if not inside or nest.products:
        return False
    from sacpy.jit.analysis.uneven import lengths

    return lengths(p) is not None


def is_cut(p: Partition, has_loops: bool | None = None) -> bool:
    """Whether rows may be cut: where they are not known to be many, nor short, and no loops run once for each of
    them. `has_loops`: whether these are known to."""
    if p.rank < 2 or p.step is not None:
        return False
    rows, columns = (
        int(b.value) - int(a.value) if isinstance(a, Const) and isinstance(b, Const) else None
        for a, b in zip(p.lower[:2], p.upper[:2])
    )
    short = columns is not None and columns < SHORT and is_straight(p.body, cells(p.body))
    if short or (rows is not None and rows >= MANY_ROWS):
        return False
    return not (loops_before(hoisted(p).before, 1) if has_loops is None else has_loops)


def _is_tiny(p: Partition, sums: Sums) -> bool:
    """Whether it is known that there is little to do."""
    if not is_straight(p.body, cells(p.body)):
        return False
    count = 1
    for lower, upper in zip(p.lower, p.upper):
        rounds = distance(lower, upper, sums)
        if rounds is None:
            return False
        count *= max(0, rounds)
    return count * (len(p.body.statements) + 1) < WORTH / 16


def _may_regroup(x: IntoFold, context: Context) -> bool:
    if x.operator.stop is not None or x.ordered or any(isinstance(v.type, ArrayType) for v in x.operator.accumulators):
        return False
    return x.reduction is not None or not context.strict

"""All functions of shapes in the abstract, for random programs: what SaC programmers write, with symbolic extents.

In: a random generator and a name. Out: a `Template`, any one.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.fuzz.template import Template
from tests.fuzz.template_folds import (
    accumulated,
    accumulation,
    bodies,
    chain,
    chosen,
    columns,
    conditional,
    contractions,
    extreme,
    histogram,
    pairwise,
    product,
    reference,
    scan,
    scanned,
    selected,
    sums,
    swept,
    until,
)
from tests.fuzz.template_formulas import cut_folds, grouped, in_common, merging, running
from tests.fuzz.template_grids import (
    apart,
    bordered,
    coloured,
    halves,
    moving,
    placed,
    refined,
    relaxation,
    tables,
    unpacked,
)
from tests.fuzz.template_loops import (
    assigned,
    assignments,
    by_index,
    by_rank,
    chosen_rows,
    distributed,
    drafted,
    elimination,
    exchanged,
    gathered,
    growing,
    handed_on,
    nested,
    pointers,
    scatter,
    sliced,
    solver,
    stepped,
    threaded,
)


def template(r: random.Random, name: str) -> Template:
    """Any one."""
    return r.choice(TEMPLATES)(r, name)


TEMPLATES: tuple[Callable[[random.Random, str], Template], ...] = (
    product, sums, relaxation, solver, scan, elimination, histogram, extreme, chain, until, scanned, by_index, by_rank,
    halves, selected, conditional, reference, bodies, columns, growing, accumulation, threaded, nested, scatter,
    exchanged, assignments,
    contractions, assigned, gathered, histogram, scatter, scatter, exchanged, assignments,
    contractions, contractions, scatter, assigned, gathered, nested, columns, drafted, accumulation, product, stepped,
    stepped,
    accumulated, accumulated, accumulated, accumulated, accumulated, accumulated, accumulated, accumulated, chosen,
    chosen, swept, swept, swept, swept, extreme, columns, columns, columns, contractions, drafted, drafted, drafted,
    drafted, drafted, drafted, drafted, drafted, drafted,
    # again, since the passes that look for them seldom find one elsewhere
    coloured, coloured, coloured, coloured, refined, refined, drafted, drafted, drafted, drafted, drafted, drafted,
    drafted, drafted, moving, moving, moving, moving, pairwise, pairwise, unpacked, unpacked, unpacked, unpacked,
    unpacked, unpacked, chain, accumulated, scatter, scatter, pairwise, pairwise, placed, placed, placed, placed,
    placed, placed, placed, placed, distributed, distributed, apart, apart, apart, apart,
    pointers, pointers, pointers, tables, tables, tables, tables, handed_on, handed_on, handed_on, handed_on,
    bordered, bordered, bordered, bordered, sliced, sliced, sliced, sliced, chosen_rows, chosen_rows, chosen_rows,
    in_common, in_common, in_common, cut_folds, cut_folds, cut_folds,
    running, running, running, running, merging, merging, grouped, grouped, grouped,
)  # fmt: skip

"""Index spaces and chains for property tests, and what spaces mean by brute force."""

import itertools

from hypothesis import strategies as st

from sacpy.withloop.chains import Chain
from sacpy.withloop.combinators import (
    CompressGrid,
    FoldLast2,
    FoldTriangle,
    PadLast,
    Parameter,
    Permute,
    PruneGrid,
    ShiftLB,
    SplitLast,
)
from sacpy.withloop.placement import GridBlock
from sacpy.withloop.spaces import IndexSpace


def members(space):
    """The indices of a space by its definition, in row-major order, from all positions near it."""
    if space.growth:
        *outer, first = space.upper
        return [(*at, j) for at in itertools.product(*map(range, outer)) for j in range(first + space.growth * at[-1])]
    vectors = zip(space.lower, space.upper, space.step, space.width)
    return list(
        itertools.product(
            *(
                [i for i in range(min(lo, u) - 2, max(lo, u) + 2) if lo <= i < u and (i - lo) % t < w]
                for lo, u, t, w in vectors
            )
        )
    )


@st.composite
def spaces(draw, rank=None, extent=5, low=-3, dense=False):
    """A space of small extents: empty axes, extent 1, steps and widths (also over the step) among them. Extents shrink
    as the rank grows."""
    n = draw(st.integers(0, 8)) if rank is None else rank
    most = {0: extent, 1: extent * 4, 2: extent * 2, 3: extent, 4: 4}.get(n, 3 if n < 7 else 2)

    def vector(numbers):
        return st.lists(numbers, min_size=n, max_size=n).map(tuple)

    lower = draw(vector(st.integers(low, 3)))
    extents = draw(vector(st.integers(-1 if draw(st.integers(0, 9)) == 0 else 1, most)))
    step = (1,) * n if dense else draw(vector(st.sampled_from((1, 1, 2, 3, 4, 7))))
    width = (1,) * n if dense else draw(vector(st.integers(1, 4)))
    return IndexSpace(lower, tuple(lo + e for lo, e in zip(lower, extents)), step, width)


@st.composite
def triangles(draw, most=9, outer=2):
    """A space of rows that grow or shrink: none, one, empty ones, the shortest of any length, axes before it."""
    rows, least = draw(st.integers(0, most)), draw(st.integers(0, 4))
    growth = draw(st.sampled_from((1, -1, 1, -1, 2, -3)))
    first = least if growth > 0 else least - growth * max(0, rows - 1)
    return IndexSpace.rows((*draw(st.lists(st.integers(0, 3), max_size=outer)), rows, first), growth)


@st.composite
def chains(draw, space, most=6):
    """A random chain that is legal for the space: ShiftLB where it is needed, gaps compressed or pruned, then any
    steps; GridBlock's number within the rank."""
    steps = []

    def add(step):
        nonlocal space
        space = step.forward(space)
        steps.append(step)

    space = space.normalised()
    if space.growth:
        if draw(st.booleans()):
            add(ShiftLB())
        add(draw(st.sampled_from((FoldTriangle, FoldLast2)))())
    if draw(st.booleans()) and space.rank:
        add(PadLast(draw(st.integers(1, 5))))
    if not space.zero_based or draw(st.booleans()):
        add(ShiftLB())
    if not space.dense or draw(st.booleans()):
        if draw(st.booleans()):
            add(CompressGrid(tuple(draw(st.integers(0, 1)) for _ in range(space.rank))))
        if not space.dense:
            add(PruneGrid())
    for _ in range(draw(st.integers(0, most))):
        kind = draw(st.sampled_from((Permute, FoldLast2, SplitLast, PadLast, ShiftLB, PruneGrid, CompressGrid)))
        if kind is Permute:
            add(Permute(tuple(draw(st.permutations(range(space.rank))))))
        elif kind is CompressGrid:
            add(CompressGrid(tuple(draw(st.integers(0, 1)) for _ in range(space.rank))))
        elif kind is SplitLast or kind is PadLast:
            if space.rank and space.size < 3000:
                n = draw(st.integers(1, 6))
                add(kind(Parameter("B", (n, 7)) if draw(st.booleans()) else n))
        elif kind is not FoldLast2 or space.rank >= 2:
            add(kind())
    return Chain(tuple(steps), GridBlock(draw(st.integers(0, space.rank))))

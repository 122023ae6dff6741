"""Index spaces for property tests, and what they mean by brute force."""

import itertools

from hypothesis import strategies as st

from sacpy.withloop.spaces import IndexSpace


def members(space):
    """The indices of a space by its definition, in row-major order, from all positions near it."""
    vectors = zip(space.lower, space.upper, space.step, space.width)
    return list(itertools.product(*([i for i in range(min(lo, u) - 2, max(lo, u) + 2) if lo <= i < u and (i - lo) % t < w] for lo, u, t, w in vectors)))


@st.composite
def spaces(draw, rank=None, extent=5, low=-3, dense=False):
    """A space of small extents: empty axes, extent 1, steps and widths (also over the step) among them. Extents shrink as the rank grows."""
    n = draw(st.integers(0, 8)) if rank is None else rank
    most = {0: extent, 1: extent * 4, 2: extent * 2, 3: extent, 4: 4}.get(n, 3 if n < 7 else 2)
    def vector(numbers):
        return st.lists(numbers, min_size=n, max_size=n).map(tuple)
    lower = draw(vector(st.integers(low, 3)))
    extents = draw(vector(st.integers(-1 if draw(st.integers(0, 9)) == 0 else 1, most)))
    step = (1,) * n if dense else draw(vector(st.sampled_from((1, 1, 2, 3, 4, 7))))
    width = (1,) * n if dense else draw(vector(st.integers(1, 4)))
    return IndexSpace(lower, tuple(lo + e for lo, e in zip(lower, extents)), step, width)

"""The word size that a mapping asks for suffices in every thread, at the far ends of large spaces too."""

import itertools

from hypothesis import event, given, settings
from hypothesis import strategies as st

from sacpy.withloop.arithmetic import PLAIN, Words
from sacpy.withloop.devices import DEVICES
from sacpy.withloop.errors import MappingError
from sacpy.withloop.pragmas import parse
from sacpy.withloop.spaces import IndexSpace
from sacpy.withloop.strategies import STRATEGIES, choose

H100 = DEVICES["sm_90"]
sizes = st.one_of(
    st.integers(1, 40), st.integers(2**9, 2**12), st.integers(2**15 - 2, 2**16 + 2), st.integers(2**31 - 40, 2**31 + 2)
)


def ends(extents):
    """First, second and last position along each axis."""
    return itertools.product(*(sorted({0, min(1, e - 1), e - 1}) for e in extents))


def check(mapping, space):
    try:
        bits = mapping.bits()
    except MappingError:
        return
    event(f"{bits} bits")
    words = Words(bits)
    for block in ends(mapping.placement.grid):
        for thread in ends(mapping.placement.block):
            index, guard = mapping.recover(words, block, thread)
            assert (index, guard) == mapping.recover(PLAIN, block, thread)
            assert (index in space) == (guard is None or guard)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(sizes, min_size=1, max_size=4),
    st.lists(st.integers(-5, 5), min_size=4, max_size=4),
    st.lists(st.integers(1, 5), min_size=4, max_size=4),
    st.sampled_from(sorted(STRATEGIES)),
)
def test_strategies_on_large_spaces(extents, lower, step, name):
    n = len(extents)
    space = IndexSpace.of(
        lower[:n], [low + e for low, e in zip(lower, extents)], step[:n], [1 + s // 2 for s in step[:n]]
    )
    check(choose(name, space, H100).chain.map(space, H100), space)


@settings(max_examples=60, deadline=None)
@given(sizes, sizes, st.sampled_from([1, 3, 64, 1000]))
def test_folds_splits_and_pads(first, second, n):
    space = IndexSpace.box([first, second])
    for text in (
        f"SplitLast({n}, FoldLast2(Gen))",
        f"PadLast({n}, Gen)",
        f"FoldLast2(PadLast({n}, Gen))",
        f"SplitLast({n}, PadLast(7, FoldLast2(Permute([1, 0], Gen))))",
    ):
        check(parse(f"gpukernel GridBlock(1, {text})").chain.map(space), space)


def test_a_space_at_the_edge_of_32_bits():
    split = parse("gpukernel GridBlock(1, SplitLast(64, ShiftLB(Gen)))").chain
    assert [split.map(IndexSpace.box([n])).bits() for n in (2**31 - 65, 2**31 - 64, 2**31 - 1, 2**31, 2**31 + 64)] == [
        32,
        32,
        32,
        32,
        64,
    ]
    shifted = IndexSpace.of([100], [2**31])
    assert split.map(shifted).bits() == 64  # the idle threads of the last block, shifted back, pass the edge

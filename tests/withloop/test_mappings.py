"""Every chain enumerates exactly the index set, each index exactly once, in every arithmetic."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sacpy.withloop.arithmetic import PLAIN, Words
from sacpy.withloop.chains import Chain
from sacpy.withloop.combinators import (
    CompressGrid,
    FoldLast2,
    PadLast,
    Parameter,
    Permute,
    PruneGrid,
    ShiftLB,
    SplitLast,
)
from sacpy.withloop.devices import DEVICES
from sacpy.withloop.errors import MappingError
from sacpy.withloop.order import in_order
from sacpy.withloop.placement import GridBlock
from sacpy.withloop.pragmas import parse
from sacpy.withloop.spaces import IndexSpace
from tests.withloop.spaces_strategy import chains, members, spaces, triangles

relaxed = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
cases = st.one_of(spaces(), spaces(), triangles()).flatmap(lambda space: st.tuples(st.just(space), chains(space)))


def positions(mapping):
    """All positions of the thread space as NumPy arrays, one for each axis."""
    extents = (*mapping.placement.grid, *mapping.placement.block)
    axes = [axis.ravel() for axis in np.indices(extents, dtype=np.int64)] if extents else []
    at = len(mapping.placement.grid)
    return math.prod(extents), axes[:at], axes[at:]


def recovered(mapping):
    """The indices of all threads that have one, computed with arrays."""
    count, block, thread = positions(mapping)
    index, guard = mapping.recover(PLAIN, block, thread)
    active = np.ones(count, dtype=bool) if guard is None else np.broadcast_to(guard, (count,))
    rows = (
        np.stack([np.broadcast_to(i, (count,))[active] for i in index], axis=1)
        if index
        else np.zeros((int(active.sum()), 0), dtype=np.int64)
    )
    return [tuple(map(int, row)) for row in rows]


@relaxed
@given(cases)
def test_each_index_has_exactly_one_thread(case):
    space, chain = case
    mapping = chain.map(space)
    assert sorted(recovered(mapping)) == members(space)
    assert mapping.idle == mapping.threads - len(members(space))


@settings(relaxed, max_examples=500)
@given(cases)
def test_threads_are_known_to_come_in_the_order_of_their_indices(case):
    space, chain = case
    mapping = chain.map(space)
    found = recovered(mapping)
    if in_order(mapping):
        assert found == sorted(found)


@pytest.mark.parametrize(
    ("chain", "ordered"),
    [
        ("GridBlock(1, SplitLast(4, FoldLast2(ShiftLB(Gen))))", True),
        ("GridBlock(0, Gen)", True),
        ("GridBlock(1, Permute([1,0], Gen))", False),
        ("GridBlock(1, Permute([1,0], Permute([1,0], Gen)))", True),
        ("GridBlock(2, Permute([0,2,1,3], SplitLast(2, Permute([1,2,0], SplitLast(2, Gen)))))", False),
        ("GridBlock(1, FoldLast2(Permute([1,0], Gen)))", False),
        ("GridBlock(1, SplitLast(100, FoldLast2(Gen)))", True),
        ("GridBlock(2, Permute([1,0], SplitLast(100, FoldLast2(Gen))))", True),
    ],
)
def test_order_of_threads(chain, ordered):
    assert in_order(parse(f"gpukernel {chain}").chain.map(IndexSpace.box([5, 6]))) is ordered


@settings(relaxed, max_examples=60)
@given(cases)
def test_integers_arrays_and_words_agree(case):
    space, chain = case
    mapping = chain.map(space)
    if mapping.threads > 4000:
        return
    by_integers = [index for _, _, index in mapping if index is not None]
    assert by_integers == recovered(mapping)
    for bits in {mapping.bits(), 64}:
        words = Words(bits)
        pairs = [(mapping.recover(words, b, t), index) for b, t, index in mapping]
        assert all((index if guard is None or guard else None) == expected for (index, guard), expected in pairs)


@relaxed
@given(cases)
def test_every_stage_forgets_no_index_and_equal_keys_share_the_code(case):
    space, chain = case
    mapping = chain.map(space)
    stages = [members(stage.before) for stage in mapping.stages if math.prod(stage.before.extents) < 3000]
    sizes = [len(stage) for stage in stages]
    assert all(size >= mapping.space.size for size in sizes)
    assert mapping.key == chain.map(space).key
    assert len(mapping.words(64)) == sum(3 if slot.divisor else 1 for slot in mapping.slots)
    assert [slot.position for slot in mapping.slots] == list(
        itertools.accumulate((3 if s.divisor else 1 for s in mapping.slots[:-1]), initial=0)
    )[: len(mapping.slots)]


@relaxed
@given(cases, st.integers(1, 5))
def test_strided_launches_do_each_block_once(case, most):
    space, chain = case
    mapping = Chain(chain.steps, GridBlock(chain.grid_block.axes, stride=True, most_blocks=most)).map(space)
    launched = list(itertools.product(*map(range, mapping.placement.launched)))
    done = [b for block in launched for b in mapping.work(block)]
    assert sorted(done) == sorted(itertools.product(*map(range, mapping.placement.grid)))
    assert len(launched) <= max(most, 1)


@pytest.mark.parametrize(
    "name", ["ShiftLB", "CompressGrid", "PruneGrid", "Permute", "FoldLast2", "SplitLast", "PadLast"]
)
def test_the_property_notices_a_broken_step(name, monkeypatch):
    """A step whose way back is dropped is found: the property can fail."""
    import sacpy.withloop.combinators as combinators

    space = IndexSpace.of([1, 2, 3], [6, 9, 10], [2, 1, 3], [1, 1, 2])
    steps = (PadLast(4), ShiftLB(), CompressGrid((1, 0, 0)), PruneGrid(), Permute((2, 0, 1)), FoldLast2(), SplitLast(4))
    chain = Chain(steps, GridBlock(1))
    assert sorted(recovered(chain.map(space))) == members(space)

    def nothing(self, a, form, slots, index):
        return (
            index
            if name not in ("SplitLast", "FoldLast2")
            else index[:-1]
            if name == "SplitLast"
            else (*index, index[-1])
        ), None

    monkeypatch.setattr(getattr(combinators, name), "recover", nothing)
    assert sorted(recovered(chain.map(space))) != members(space)


def test_rank_0_is_one_thread():
    mapping = Chain((), GridBlock(0)).map(IndexSpace.of([], []), DEVICES["sm_90"])
    assert mapping.grid == mapping.block == (1, 1, 1)
    assert list(mapping) == [((), (), ())]
    assert mapping.threads == 1 and not mapping.guarded


def test_empty_spaces_launch_nothing():
    mapping = Chain((ShiftLB(), FoldLast2(), SplitLast(32)), GridBlock(1)).map(
        IndexSpace.of([2, 2], [7, 2]), DEVICES["sm_90"]
    )
    assert mapping.threads == 0 and list(mapping) == [] and mapping.bits() == 32


def test_the_guard_of_split_is_dropped_where_it_divides():
    chain = Chain((ShiftLB(), SplitLast(32)), GridBlock(1))
    assert not chain.map(IndexSpace.box([64])).guarded
    assert chain.map(IndexSpace.box([65])).guarded


def test_an_open_parameter_keeps_its_guard_and_shares_its_kernel():
    chain = Chain((ShiftLB(), SplitLast(Parameter("B", (32, 64)))), GridBlock(1))
    space = IndexSpace.box([128])
    small, large = chain.map(space), chain.bind(B=64).map(space)
    assert small.block == (1, 1, 32) and large.block == (1, 1, 64)
    assert small.guarded and large.guarded
    assert small.key == large.key == chain.map(IndexSpace.of([3], [99])).key
    assert small.words(32) == (0, 32, 128) and large.words(32) == (0, 64, 128)


def test_a_known_split_is_no_parameter():
    chain = Chain((SplitLast(32),), GridBlock(1))
    assert chain.map(IndexSpace.box([65])).words(32) == (65,)
    assert chain.map(IndexSpace.box([65])).key != Chain((SplitLast(64),), GridBlock(1)).map(IndexSpace.box([65])).key


def test_divisors_travel_with_their_magic_numbers():
    mapping = Chain((FoldLast2(), SplitLast(32)), GridBlock(1)).map(IndexSpace.box([5, 7]))
    assert [(s.name, s.position) for s in mapping.slots] == [("extent", 0), ("extent", 3)]
    assert mapping.words(32) == (7, 0x92492493, 3, 35)


def test_word_size():
    chain = Chain((ShiftLB(), FoldLast2(), SplitLast(32)), GridBlock(1))
    assert chain.map(IndexSpace.box([2**15, 2**15])).bits() == 32
    assert chain.map(IndexSpace.box([2**15, 2**15])).bits([2**31]) == 64
    assert chain.map(IndexSpace.box([2**16, 2**15])).bits() == 32
    assert chain.map(IndexSpace.box([2**16, 2**15 + 1])).bits() == 64
    assert chain.map(IndexSpace.of([-(2**31)] * 2, [-(2**31) + 3] * 2)).bits() == 32
    assert chain.map(IndexSpace.of([-(2**31) - 1] * 2, [-(2**31) + 3] * 2)).bits() == 64
    with pytest.raises(MappingError, match="64 bits"):
        chain.map(IndexSpace.box([2**32, 2**32])).bits()


def test_words_that_do_not_suffice_are_noticed():
    mapping = Chain((SplitLast(32),), GridBlock(1)).map(IndexSpace.box([2**31]))
    with pytest.raises(OverflowError):
        mapping.recover(Words(32), (2**26,), (0,))


def test_binding():
    chain = Chain((SplitLast(Parameter("B", (32, 64))),), GridBlock(1))
    assert [p.name for p in chain.parameters] == ["B"]
    with pytest.raises(MappingError, match="E0814: 48 is not among the values of the parameter B"):
        chain.bind(B=48)
    with pytest.raises(MappingError, match="E0813: the mapping has no parameter C"):
        chain.bind(C=1)


def test_text_of_a_chain():
    chain = Chain((ShiftLB(), CompressGrid((1, 0)), SplitLast(Parameter("B", (32,))), Permute((0, 1, 2))), GridBlock(2))
    assert str(chain) == "GridBlock(2, Permute([0, 1, 2], SplitLast(B, CompressGrid([1, 0], ShiftLB(Gen)))))"


class FromBlock(Words):
    """Words that read every number from a parameter block, as a kernel does."""

    def __init__(self, bits, words):
        super().__init__(bits)
        self.words = words

    def bound(self, slot):
        return slot.value if slot.known else self.words[slot.position]

    def divide(self, a, by):
        divisor, multiplier, shift = self.words[by.position : by.position + 3]
        quotient = ((2 * a) % 2**self.bits * multiplier >> self.bits) >> shift
        return quotient, a - quotient * divisor


@relaxed
@given(cases, st.integers(0, 1), st.integers(0, 3))
def test_one_kernel_serves_every_space_of_its_key(case, shift, grow):
    space, chain = case
    if space.growth:  # more rows; where they shrink, the first is longer, so that none has a negative length
        *outer, rows, first = space.upper
        first += grow * max(0, -space.growth)
        other = IndexSpace.rows((*outer, rows + grow, first + shift), space.growth)
    else:
        lower = tuple(low + shift for low in space.lower)
        other = IndexSpace(lower, tuple(u + shift + grow for u in space.upper), space.step, space.width)
    kernel = chain.map(space)
    try:
        launch = chain.map(other)
    except MappingError:
        return  # the chain relied on bounds of 0
    if kernel.key != launch.key or launch.threads > 2000:
        return
    reading = FromBlock(32, launch.words(32))
    found = []
    for b, t, _ in launch:
        index, guard = kernel.recover(reading, b, t)
        found += [index] if guard is None or guard else []
    assert sorted(found) == members(other)

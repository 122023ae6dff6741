"""The examples of Janssen and Scholz, with the numbers as corrected: figures of section 4, listings 4 to 10."""

from sacpy.withloop.chains import Chain
from sacpy.withloop.combinators import CompressGrid, FoldLast2, PadLast, Permute, PruneGrid, ShiftLB, SplitLast
from sacpy.withloop.devices import DEVICES
from sacpy.withloop.placement import GridBlock
from sacpy.withloop.pragmas import parse
from sacpy.withloop.spaces import IndexSpace

GTX_1060 = DEVICES["sm_75"]


def vectors(space):
    return [list(v) for v in (space.lower, space.upper, space.step, space.width)]


def back(step, space):
    """The index that each position of the space after the step stands for."""
    chain = Chain((step,), GridBlock(0))
    return [chain_index(chain, space, position) for position in step.forward(space)]


def chain_index(chain, space, position):
    from sacpy.withloop.arithmetic import PLAIN

    (step,) = chain.steps
    index, guard = step.recover(PLAIN, step.form(space), step.slots(space), position)
    return index if guard is None or guard else None


def test_4_1_shift():
    space = IndexSpace.of([1, 1], [6, 6], [1, 2], [1, 1])
    after = ShiftLB().forward(space)
    assert vectors(after) == [[0, 0], [5, 5], [1, 2], [1, 1]]
    assert list(after)[:4] == [(0, 0), (0, 2), (0, 4), (1, 0)]
    assert back(ShiftLB(), space) == list(space)


def test_4_2_compress_one_axis_and_both():
    space = IndexSpace.of([0, 0], [5, 5], [2, 2], [1, 1])
    one, both = CompressGrid((1, 0)), CompressGrid((1, 1))
    assert vectors(one.forward(space)) == [[0, 0], [3, 5], [1, 2], [1, 1]]
    assert vectors(both.forward(space)) == [[0, 0], [3, 3], [1, 1], [1, 1]]
    assert back(one, space) == back(both, space) == list(space)


def test_4_2_compress_a_width():
    space = IndexSpace((0, 0), (5, 5), (3, 1), (2, 1))
    step = CompressGrid((1, 0))
    assert vectors(step.forward(space)) == [[0, 0], [4, 5], [1, 1], [1, 1]]
    assert back(step, space)[10:12] == [(3, 0), (3, 1)]
    assert back(step, space) == list(space)


def test_4_3_fold_has_ten_cells():
    space = IndexSpace.box([2, 5])
    after = FoldLast2().forward(space)
    assert vectors(after) == [[0], [10], [1], [1]] and after.size == 10
    assert back(FoldLast2(), space) == list(space)


def test_4_4_split_disables_the_last_two():
    space = IndexSpace.box([10])
    assert vectors(SplitLast(4).forward(space)) == [[0, 0], [3, 4], [1, 1], [1, 1]]
    assert back(SplitLast(4), space) == [*((i,) for i in range(10)), None, None]


def test_4_5_pad_disables_the_last_column():
    space = IndexSpace.box([5, 7])
    after = PadLast(4).forward(space)
    assert vectors(after) == [[0, 0], [5, 8], [1, 1], [1, 1]]
    assert [position for position, index in zip(after, back(PadLast(4), space)) if index is None] == [
        (i, 7) for i in range(5)
    ]


def test_4_6_permute():
    space = IndexSpace.box([5, 7])
    after = Permute((1, 0)).forward(space)
    assert vectors(after) == [[0, 0], [7, 5], [1, 1], [1, 1]]
    assert dict(zip(after, back(Permute((1, 0)), space)))[6, 2] == (2, 6)


def test_listings_6_to_8_the_three_partitions():
    for space, blocks in (
        (IndexSpace.of([0], [1000], [2]), 32),
        (IndexSpace.of([1], [1000], [2]), 32),
        (IndexSpace.of([1000], [1500]), 16),
    ):
        chain = Chain((ShiftLB(), *([] if space.dense else [PruneGrid()]), SplitLast(32)), GridBlock(1))
        mapping = chain.map(space, GTX_1060)
        assert mapping.grid == (1, 1, blocks) and mapping.block == (1, 1, 32)
        assert sorted(index for _, _, index in mapping if index is not None) == list(space)


def test_listings_9_and_10_with_the_ceiling_and_extents_of_1():
    chain = parse("gpukernel\n    GridBlock (1,\n    SplitLast (32,\n    ShiftLB (\n    Gen)))").chain
    mapping = chain.map(IndexSpace.of([0, 0], [10, 100]), GTX_1060)
    assert mapping.grid == (1, 10, 4) and mapping.block == (1, 1, 32)
    assert sorted(index for _, _, index in mapping if index is not None) == list(IndexSpace.box([10, 100]))
    assert [(s.name, s.value) for s in mapping.slots] == [("lower0", 0), ("lower1", 0), ("extent", 100)]


def test_section_6_3_keeps_the_bound_before_padding():
    chain = parse("gpukernel GridBlock(1, PadLast(64, ShiftLB(Gen)))").chain
    mapping = chain.map(IndexSpace.of([3, 3], [8, 103]))
    assert mapping.placement.grid == (5,) and mapping.placement.block == (128,)
    assert [(s.name, s.value) for s in mapping.slots] == [("lower0", 3), ("lower1", 3), ("extent", 100)]
    assert [str(space) for space in chain.spaces(IndexSpace.of([3, 3], [8, 103]))] == [
        "[3, 3] <= iv < [8, 103]",
        "[0, 0] <= iv < [5, 100]",
        "[0, 0] <= iv < [5, 128]",
    ]

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sacpy.withloop.auto import auto
from sacpy.withloop.chains import Chain
from sacpy.withloop.choice import Choice
from sacpy.withloop.devices import DEVICES
from sacpy.withloop.pragmas import GpuKernel, parse
from sacpy.withloop.spaces import IndexSpace
from sacpy.withloop.strategies import STRATEGIES, Refusal, choose, foldall, jing, jing_ext, jing_printed
from tests.withloop.spaces_strategy import members, spaces
from tests.withloop.test_mappings import recovered

H100 = DEVICES["sm_90"]


def chain_text(found):
    assert isinstance(found, Choice), found
    return str(found.chain)


@pytest.mark.parametrize(("strategy", "last"), [(jing, "[2, 0, 3, 1]"), (jing_printed, "[0, 2, 1, 3]")])
def test_jing_as_table_1_has_it_and_as_section_7_1_prints_it(strategy, last):
    assert chain_text(strategy(IndexSpace.box([100]), H100)) == "GridBlock(1, SplitLast(32, ShiftLB(Gen)))"
    assert (
        chain_text(strategy(IndexSpace.box([100, 70]), H100))
        == f"GridBlock(2, Permute({last}, SplitLast(32, Permute([1, 2, 0], SplitLast(32, ShiftLB(Gen))))))"
    )
    for rank in (3, 4, 5):
        assert chain_text(strategy(IndexSpace.box([5] * rank), H100)) == "GridBlock(2, ShiftLB(Gen))"
    assert chain_text(strategy(IndexSpace.box([]), H100)) == "GridBlock(0, Gen)"


@pytest.mark.parametrize(
    ("extents", "grid", "block"),
    [
        ([64], (1, 1, 2), (1, 1, 32)),  # table 1 would waste a third block
        ([65], (1, 1, 3), (1, 1, 32)),
        ([70, 40], (1, 3, 2), (1, 32, 32)),
        ([7, 8, 9], (1, 1, 7), (1, 8, 9)),
        ([6, 7, 8, 9], (1, 6, 7), (1, 8, 9)),
        ([5, 6, 7, 8, 9], (5, 6, 7), (1, 8, 9)),
    ],
)
def test_table_1(extents, grid, block):
    mapping = choose("jing", IndexSpace.box(extents), H100).chain.map(IndexSpace.box(extents), H100)
    assert (mapping.grid, mapping.block) == (grid, block)


@pytest.mark.parametrize(("name", "step"), [("jing", (0, 1)), ("jing_printed", (1, 0))])
def test_rank_2_coalesces_under_table_1_and_not_as_printed(name, step):
    space = IndexSpace.box([70, 40])
    mapping = choose(name, space, H100).chain.map(space, H100)
    assert neighbours(mapping) == step
    assert (mapping.grid[1:] == (3, 2)) == (name == "jing")


def test_jing_prunes_where_there_are_gaps():
    space = IndexSpace.of([1], [100], [2])
    assert chain_text(jing(space, H100)) == "GridBlock(1, SplitLast(32, PruneGrid(ShiftLB(Gen))))"


def test_jing_refuses_with_its_reason():
    assert jing(IndexSpace.box([3] * 6), H100) == Refusal("jing maps ranks up to 5, and this space has rank 6")
    assert jing(IndexSpace.box([3, 50, 50]), H100) == Refusal(
        "jing does not fit: the block 50 x 50 has 2500 threads, and sm_90 allows 1024"
    )
    assert jing(IndexSpace.box([70000, 2, 2, 3, 3]), H100) == Refusal(
        "jing does not fit: axis z of the grid has extent 70000, and sm_90 allows 65535"
    )
    fallen_back = choose("jing", IndexSpace.box([3, 50, 50]), H100)
    assert (
        fallen_back.reasons[0]
        == "jing does not fit: the block 50 x 50 has 2500 threads, and sm_90 allows 1024, so auto chose"
    )
    assert fallen_back.chain == auto(IndexSpace.box([3, 50, 50]), H100).chain


@pytest.mark.parametrize(("rank", "left"), [(6, 3), (7, 4), (8, 4), (9, 5), (10, 5), (11, 3)])
def test_jing_ext_folds_neighbours_in_order(rank, left):
    extents = [2, 3, 1, 2, 3, 2, 1, 2, 2, 1, 3][:rank]
    space = IndexSpace.box(extents)
    found = jing_ext(space, H100)
    mapping = found.chain.map(space, H100)
    folded = extents
    while len(folded) > 5:
        odd = folded[len(folded) - len(folded) % 2 :]
        folded = [a * b for a, b in zip(folded[::2], folded[1::2])] + odd
    assert len(folded) == left
    assert list(mapping.placement.grid + mapping.placement.block) == folded
    assert sorted(recovered(mapping)) == members(space)
    assert [index for _, _, index in mapping] == members(space)  # the order is kept: x runs along the innermost axis


def test_jing_ext_is_jing_up_to_rank_5():
    for rank in range(6):
        space = IndexSpace.box([4] * rank)
        assert jing_ext(space, H100) == jing(space, H100)


def test_jing_ext_on_rank_6_and_7_in_full():
    six = (
        "Permute([2, 0, 1], FoldLast2(Permute([3, 0, 1, 2], FoldLast2(Permute([4, 0, 1, 2, 3], "
        "FoldLast2(ShiftLB(Gen)))))))"
    )
    assert chain_text(jing_ext(IndexSpace.box([2] * 6), H100)) == f"GridBlock(2, {six})"
    found = jing_ext(IndexSpace.box([2] * 7), H100)
    assert found.reasons == (
        "rank 7: pairs of neighbouring axes folded, 4 are left",
        "rank 4: the last two axes are the block, the others the grid",
    )


def folded(rank, threads):
    return f"GridBlock(1, SplitLast({threads}, {'FoldLast2(' * (rank - 1)}ShiftLB(Gen){')' * (rank + 1)}"


@pytest.mark.parametrize("rank", [1, 2, 3, 7])
def test_foldall_depends_on_the_size_and_not_on_the_rank(rank):
    ones = [1] * (rank - 1)
    for size, threads in ((1 << 20, 1024), (132 * 1024, 1024), (132 * 1024 - 1, 512), (132 * 32, 32), (1, 32), (0, 32)):
        assert chain_text(foldall(IndexSpace.box([*ones, size]), H100)) == folded(rank, threads), size
    assert chain_text(foldall(IndexSpace.box([]), H100)) == "GridBlock(0, Gen)"


def test_foldall_depends_on_the_device():
    space = IndexSpace.box([1000, 1000])
    found = {name: foldall(space, DEVICES[name]) for name in ("sm_75", "sm_86", "sm_90")}
    assert {name: chain_text(c) for name, c in found.items()} == {
        "sm_75": folded(2, 1024),
        "sm_86": folded(2, 512),
        "sm_90": folded(2, 1024),
    }
    assert found["sm_86"].reasons == (
        "the 2 axes folded into one",
        "split into blocks of 512, as sm_86 has 1536 threads on a multiprocessor",
    )
    assert (
        foldall(IndexSpace.box([100]), H100).reasons[-1]
        == "split into blocks of 32, as 100 positions fill 132 multiprocessors with no more"
    )


@pytest.mark.parametrize(
    ("extents", "grid"),
    [([1 << 20], (1, 1, 1024)), ([1 << 30, 1 << 11], (1, 1, 1 << 31)), ([1 << 30, 1 << 13], (1, 5, 1717986919))],
)
def test_foldall_has_no_more_blocks_than_work(extents, grid):
    found = foldall(IndexSpace.box(extents), H100)
    if grid[2] == 1 << 31:  # one more than an axis of the grid has
        grid = (1, 2, 1 << 30)
        assert "2 rows" in found.reasons[-1]
    mapping = found.chain.map(IndexSpace.box(extents), H100)
    assert (mapping.grid, mapping.block) == (grid, (1, 1, 1024))


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(spaces(), st.sampled_from(sorted(STRATEGIES)), st.sampled_from(sorted(DEVICES)))
def test_every_choice_covers_the_space_and_fits(space, name, device):
    choice = choose(name, space, DEVICES[device])
    mapping = choice.chain.map(space, DEVICES[device])
    if mapping.threads < 300_000:
        assert sorted(recovered(mapping)) == members(space)
    assert choice.reasons and all(choice.reasons)
    fits(mapping, DEVICES[device])


def fits(mapping, device):
    assert all(e <= limit for e, limit in zip(mapping.grid, device.grid))
    assert all(e <= limit for e, limit in zip(mapping.block, device.block))
    assert math.prod(mapping.block) <= device.threads_per_block


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.one_of(st.integers(0, 3), st.integers(0, 2**20), st.just(2**33)), max_size=8),
    st.integers(0, 7),
    st.lists(st.integers(1, 9), min_size=8, max_size=8),
)
def test_auto_fits_whatever_the_extents(extents, unit, steps):
    n = len(extents)
    space = IndexSpace.of([5] * n, [5 + e for e in extents], steps[:n], [1 + s // 2 for s in steps[:n]])
    mapping = auto(space, H100, unit if unit < n else None).chain.map(space, H100)
    fits(mapping, H100)
    assert mapping.block[2] % 32 == 0 or not n
    if space.size >= 256 * 132:
        assert 128 <= math.prod(mapping.block) <= 256


def neighbours(mapping):
    """How far apart the first two threads' indices are, per axis."""
    thread = (0,) * len(mapping.placement.block)
    zero = (0,) * len(mapping.placement.grid)
    from sacpy.withloop.arithmetic import PLAIN

    a, _ = mapping.recover(PLAIN, zero, thread)
    b, _ = mapping.recover(PLAIN, zero, (*thread[:-1], 1))
    return tuple(y - x for x, y in zip(a, b))


@pytest.mark.parametrize(
    "extents", [[1 << 20], [1000, 1000], [100, 1000, 3], [1000, 33], [8, 8, 64, 64], [3, 5, 7, 11, 13, 200]]
)
def test_auto_coalesces(extents):
    space = IndexSpace.box(extents)
    rank = len(extents)
    assert neighbours(auto(space, H100).chain.map(space, H100)) == (*[0] * (rank - 1), 1)
    for unit in range(rank):
        if extents[unit] > 1:
            assert neighbours(auto(space, H100, unit).chain.map(space, H100)) == tuple(
                int(k == unit) for k in range(rank)
            )


def test_auto_in_words():
    assert choose("auto", IndexSpace.box([1000, 1024]), H100).reasons == ("rows of 1024 in blocks of 256 threads",)
    assert (
        choose("auto", IndexSpace.box([1000, 1000, 3]), H100).reasons[0]
        == "all 3 axes folded into one, in blocks of 256 threads, as rows of 3 would leave too many idle"
    )
    small = choose("auto", IndexSpace.box([100]), H100)
    assert small.reasons[0] == "32 threads a block, as 100 indices fill 132 multiprocessors with no more"
    large = choose("auto", IndexSpace.box([1 << 28]), H100)
    assert large.reasons == ("rows of 268435456 in blocks of 256 threads", "8448 blocks, each thread up to 125 indices")
    gaps = choose("auto", IndexSpace.of([0, 0], [2048, 4096], [4, 3], [1, 2]), H100)
    assert gaps.reasons[:2] == (
        "axis 0 is compressed, as 25% of it belongs to the space",
        "axis 1 is not compressed, as 67% of it belongs to the space",
    )
    assert "PruneGrid(CompressGrid([1, 0], ShiftLB(Gen)))" in str(gaps.chain)


def test_a_strategys_chain_is_a_legal_pragma():
    for name in STRATEGIES:
        for rank in range(9):
            space = IndexSpace.of([1] * rank, [9] * rank, [2] * rank)
            chain = choose(name, space, H100).chain
            parsed = parse(f"gpukernel {chain}")
            assert isinstance(parsed, GpuKernel) and isinstance(parsed.chain, Chain)
            assert str(parsed.chain) == str(chain)


def test_an_unknown_strategy():
    with pytest.raises(KeyError):
        choose("best", IndexSpace.box([3]), H100)

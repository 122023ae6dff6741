import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sacpy.withloop.axes import TooManyPieces
from sacpy.withloop.spaces import IndexSpace
from sacpy.withloop.splitting import MOST_PIECES, Piece, intersect, split
from tests.withloop.spaces_strategy import members, spaces


def owners(frame, partitions):
    """By brute force: which partition has each index of the frame first."""
    sets = [set(members(p)) for p in partitions]
    return {iv: next((k for k, s in enumerate(sets) if iv in s), None) for iv in itertools.product(*map(range, frame))}


def split_cases(rank, most):
    return st.tuples(st.tuples(*[st.integers(0, most)] * rank), st.lists(spaces(rank=rank, extent=4), max_size=4))


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 4).flatmap(lambda n: split_cases(n, (0, 14, 9, 6, 4)[n])))
def test_pieces_are_disjoint_complete_and_the_earlier_partition_wins(case):
    frame, partitions = case
    result = split(frame, partitions)
    expected = owners(frame, partitions)
    assert len(result.pieces) <= MOST_PIECES
    if result.first_match:
        assert result.pieces == (Piece(IndexSpace.box(frame), None),)
        assert {iv: result.owner(iv) for iv in expected} == expected
        return
    found = [(iv, piece.partition) for piece in result.pieces for iv in piece.space]
    assert len(found) == len(expected)
    assert dict(found) == expected
    assert all(not piece.space.empty and piece.space == piece.space.normalised() for piece in result.pieces)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 3).flatmap(lambda n: st.tuples(spaces(rank=n), spaces(rank=n))))
def test_intersection_is_the_set_intersection(pair):
    a, b = pair
    found = [iv for space in intersect(a, b) for iv in space]
    assert len(set(found)) == len(found)
    assert set(found) == set(members(a)) & set(members(b))


def test_the_seven_partitions_of_the_papers_figure():
    """Section 2.2: one partition with step and width on 7 x 7, four slabs around it, two spaces between."""
    grid = IndexSpace.of([1, 1], [6, 6], [2, 3], [1, 2])
    result = split([7, 7], [grid])
    assert [(str(p.space), p.partition) for p in result.pieces] == [
        ("[1, 1] <= iv < [6, 6] step [2, 3] width [1, 2]", 0),
        ("[0, 0] <= iv < [1, 7]", None),
        ("[6, 0] <= iv < [7, 7]", None),
        ("[1, 0] <= iv < [6, 1]", None),
        ("[1, 6] <= iv < [6, 7]", None),
        ("[2, 1] <= iv < [6, 6] step [2, 1] width [1, 1]", None),
        ("[1, 3] <= iv < [6, 4] step [2, 1] width [1, 1]", None),
    ]


def test_the_generated_partition_of_the_papers_listing_5():
    result = split([1500], [IndexSpace.of([0], [1000], [2]), IndexSpace.of([1000], [1500])])
    assert [(str(p.space), p.partition) for p in result.pieces] == [
        ("[0] <= iv < [1000] step [2] width [1]", 0),
        ("[1000] <= iv < [1500]", 1),
        ("[1] <= iv < [1000] step [2] width [1]", None),
    ]


def test_listing_3_as_the_definition_says():
    """The paper's text lost this output; step and width count from the lower bound, the earlier partition has
    priority."""
    first, second = IndexSpace.of([0, 1], [9, 8], [2, 3], [1, 2]), IndexSpace.of([1, 0], [8, 9], [3, 2], [2, 1])
    result = split([9, 9], [first, second])
    assert not result.first_match
    value = {(iv): (3, 7, 0)[2 if p.partition is None else p.partition] for p in result.pieces for iv in p.space}
    rows = ["".join(str(value[i, j]) for j in range(9)) for i in range(9)]
    assert rows == [
        "033033030",
        "707070707",
        "733033737",
        "000000000",
        "733033737",
        "707070707",
        "033033030",
        "707070707",
        "033033030",
    ]


def test_one_full_partition_is_one_piece():
    box = IndexSpace.box([3, 4])
    assert split([3, 4], [box]).pieces == (Piece(box, 0),)
    assert split([3, 4], [box, IndexSpace.of([1, 1], [2, 2])]).pieces == (Piece(box, 0),)


def test_without_partitions_all_is_default():
    assert split([3], []).pieces == (Piece(IndexSpace.box([3]), None),)


def test_rank_0():
    assert split([], [IndexSpace.of([], [])]).pieces == (Piece(IndexSpace.of([], []), 0),)
    assert split([], []).pieces == (Piece(IndexSpace.of([], []), None),)


def test_an_empty_frame_has_no_pieces():
    assert split([4, 0], [IndexSpace.of([0, 0], [4, 0])]).pieces == ()


def test_the_interior_of_a_stencil_leaves_a_frame_of_four():
    result = split([100, 100], [IndexSpace.of([1, 1], [99, 99])])
    assert len(result.pieces) == 5 and not result.first_match


def test_a_partition_swallowed_by_an_earlier_one_vanishes():
    result = split([10], [IndexSpace.of([2], [8]), IndexSpace.of([3], [6], [2])])
    assert {p.partition for p in result.pieces} == {0, None}


def test_periods_that_go_together_badly_are_tested_by_first_match():
    partitions = [IndexSpace.of([0], [10**6], [997], [499]), IndexSpace.of([0], [10**6], [991], [496])]
    result = split([10**6], partitions)
    assert result.first_match and result.pieces == (Piece(IndexSpace.box([10**6]), None),)
    assert result.owner([500]) == (1 if (500 % 991) < 496 else None)
    with pytest.raises(TooManyPieces):
        intersect(*partitions)


def test_many_single_cells_are_tested_by_first_match():
    cells = [IndexSpace.of([i, i], [i + 1, i + 1]) for i in range(0, 60, 2)]
    result = split([60, 60], cells)
    assert result.first_match
    assert result.owner([4, 4]) == 2 and result.owner([5, 5]) is None


def test_what_lies_outside_of_the_frame_is_left_out_with_its_phase_kept():
    result = split([10], [IndexSpace.of([-2], [20], [5], [4])])
    assert sorted(iv[0] for p in result.pieces if p.partition == 0 for iv in p.space) == [0, 1, 3, 4, 5, 6, 8, 9]


def test_bounds_seen_before_are_remembered():
    partitions = [IndexSpace.of([1, 1], [5, 5], [2, 2])]
    assert split([6, 6], partitions) is split((6, 6), list(partitions))


def test_a_partition_of_another_rank_is_refused():
    with pytest.raises(ValueError, match="2 axes"):
        split([3, 3], [IndexSpace.box([3])])

import pytest
from hypothesis import given, settings

from sacpy.withloop.spaces import IndexSpace
from tests.withloop.spaces_strategy import members, spaces


@settings(max_examples=60, deadline=None)
@given(spaces())
def test_enumeration_size_and_membership_agree_with_the_definition(space):
    expected = members(space)
    assert list(space) == expected
    assert space.size == len(space) == len(expected)
    assert all(iv in space for iv in expected)
    assert space.empty == (not expected)
    assert bool(space) == bool(expected)


@settings(max_examples=60, deadline=None)
@given(spaces(rank=2))
def test_an_index_off_the_space_is_not_in_it(space):
    inside = set(members(space))
    near = [
        (i, j)
        for i in range(space.lower[0] - 1, space.upper[0] + 2)
        for j in range(space.lower[1] - 1, space.upper[1] + 2)
    ]
    assert {iv for iv in near if iv in space} == inside


@settings(max_examples=60, deadline=None)
@given(spaces())
def test_normalising_keeps_the_set(space):
    normal = space.normalised()
    assert list(normal) == members(space)
    assert all(w <= t for t, w in zip(normal.step, normal.width))
    assert all(u >= lo for lo, u in zip(normal.lower, normal.upper))
    assert normal.dense == all(t == 1 for t in normal.step)
    assert normal.normalised() == normal


def test_rank_0_has_one_index():
    space = IndexSpace.of((), ())
    assert list(space) == [()]
    assert space.size == 1 and space.dense and space.zero_based and not space.empty and space.density == 1
    assert () in space and (0,) not in space


def test_width_over_step_is_dense():
    assert IndexSpace.of([0], [7], [3], [5]) == IndexSpace.box([7])
    assert IndexSpace((0,), (7,), (3,), (5,)).counts == (7,)


def test_negative_extents_are_empty():
    space = IndexSpace.of([2, 5], [4, -3])
    assert space.empty and space.size == 0 and space.extents == (2, 0) and list(space) == []
    assert space.upper == (4, 5)


def test_density():
    assert IndexSpace.of([1, 1], [5, 9], [2, 4], [1, 2]).density == 0.25
    assert IndexSpace.of([1], [1], [2]).density == 1


def test_huge_spaces_are_exact():
    assert IndexSpace.of([0] * 4, [2**40] * 4, [2] * 4).size == 2**156


@pytest.mark.parametrize(("step", "width"), [([0], [1]), ([-1], [1]), ([1], [0])])
def test_steps_and_widths_below_1_are_refused(step, width):
    with pytest.raises(ValueError, match="at least 1"):
        IndexSpace.of([0], [5], step, width)


def test_vectors_of_different_length_are_refused():
    with pytest.raises(ValueError, match="differ in length"):
        IndexSpace.of([0, 0], [5])


def test_text():
    assert str(IndexSpace.of([0, 1], [9, 8])) == "[0, 1] <= iv < [9, 8]"
    assert str(IndexSpace.of([0, 1], [9, 8], [2, 3], [1, 2])) == "[0, 1] <= iv < [9, 8] step [2, 3] width [1, 2]"

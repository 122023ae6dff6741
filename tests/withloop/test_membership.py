import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sacpy.withloop import membership
from sacpy.withloop.arithmetic import PLAIN, Words
from sacpy.withloop.spaces import IndexSpace
from tests.withloop.spaces_strategy import members, spaces


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 3).flatmap(lambda n: spaces(rank=n)))
def test_all_arithmetics_agree_with_the_definition(space):
    inside = set(members(space))
    form, slots = membership.form(space), membership.slots(space)
    frame = list(itertools.product(*(range(max(0, u) + 3) for u in space.upper)))
    for iv in frame:
        for arithmetic in (PLAIN, Words(32), Words(64)):
            guard = membership.member(arithmetic, form, slots, iv)
            assert (guard is None or guard) == (iv in inside)
    if space.rank:
        guard = membership.member(PLAIN, form, slots, list(np.array(frame).T))
        assert {iv for iv, there in zip(frame, guard) if there} == {iv for iv in inside if min(iv) >= 0}


def test_rank_0_always_belongs():
    space = IndexSpace.of([], [])
    assert membership.member(PLAIN, membership.form(space), membership.slots(space), ()) is None

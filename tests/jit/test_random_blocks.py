"""Random programs with `++`, views, blocks and recursion give the same, bit for bit, with array short-circuiting and
without; `python -m tests.fuzz.blocks` tries many."""

import pytest

from tests.fuzz.blocks import outcomes


@pytest.mark.parametrize("seeds", [range(4), pytest.param(range(4, 300), marks=pytest.mark.long)])
def test_blocks_are_what_they_are_without_circuits(seeds: range) -> None:
    assert {seed: found.wrong for seed, _, found in outcomes(seeds) if found.wrong is not None} == {}


def test_rounds_share_memory_with_one_another_and_not_with_what_they_call() -> None:
    ((_, _, found),) = outcomes(range(10227, 10228), "simulated")  # a recursion with its own loops, called in a loop
    assert found.wrong is None


def test_an_error_whose_value_nobody_uses_may_vanish() -> None:
    """As it does from the code without short-circuiting here, which is no difference; where all code is kept it is
    there."""
    seed = 1_014_096
    (_, _, found), *_ = outcomes(range(seed, seed + 1))
    assert found.fails and found.circuits and found.wrong is None

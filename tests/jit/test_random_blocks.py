"""Random programs with `++`, views, blocks and recursion give the same, bit for bit, with array short-circuiting and
without; `python -m tests.fuzz.blocks` tries many."""

import pytest

from tests.fuzz.blocks import difference


@pytest.mark.parametrize("seeds", [range(3), pytest.param(range(3, 150), marks=pytest.mark.long)])
def test_blocks_are_what_they_are_without_circuits(seeds: range) -> None:
    assert {seed: told for seed in seeds if (told := difference(seed)) is not None} == {}

"""Random programs with `++`, views, blocks and recursion give the same, bit for bit, with array short-circuiting and
without; `python -m tests.fuzz.blocks` tries many."""

import pytest

from tests.fuzz.blocks import outcomes


@pytest.mark.parametrize("seeds", [range(4), pytest.param(range(4, 300), marks=pytest.mark.long)])
def test_blocks_are_what_they_are_without_circuits(seeds: range) -> None:
    assert {seed: found.wrong for seed, _, found in outcomes(seeds) if found.wrong is not None} == {}

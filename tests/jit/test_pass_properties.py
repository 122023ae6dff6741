"""Every pass, and the pipeline, keeps the meaning of random units, bit for bit, and the laws of graphs."""

from __future__ import annotations

import pytest

from sacpy.jit.options import Options
from sacpy.jit.passes import (
    counting,
    dead_code,
    disjoint,
    flatten,
    fold_withloops,
    fuse,
    invariant,
    optimise,
    ranges,
    simplify,
    split,
    unroll,
)
from tests.jit.pass_tools import assert_keeps_meaning

PASSES = {
    module.__name__.rpartition(".")[2]: module.run
    for module in (simplify, dead_code, fold_withloops, ranges, counting, split, unroll, disjoint, flatten, fuse)
}


@pytest.mark.parametrize("name", PASSES)
def test_a_pass_keeps_the_meaning(name: str) -> None:
    assert assert_keeps_meaning(PASSES[name], range(40)) > 20


def test_the_pipeline_keeps_the_meaning() -> None:
    assert (
        assert_keeps_meaning(lambda unit: optimise(unit, Options(verify=True)), range(1000, 1040), raises_checks=True)
        > 20
    )


def test_invariant_motion_keeps_the_meaning_but_may_check_more() -> None:
    assert assert_keeps_meaning(invariant.run, range(40), raises_checks=True) > 20

"""What the analysis of dependence says, judged by integer sets: where it says yes there is no dependence, for any
values of the symbols; and in a long run it is counted how often it misses one."""

from __future__ import annotations

from random import Random

import pytest

from sacpy.jit.analysis.depends import ALWAYS, independent, may_share
from sacpy.jit.analysis.ints import Ints
from sacpy.jit.ir.graph import For, WithLoop
from tests.jit.dependence_judge import counting, with_loop

SEEDS = 10  # of a long run
COUNTED = 400  # questions of each of which it is asked too whether there could be a yes
YES = 0.12  # of all questions, at least


def questions(default: int, long: int) -> pytest.MarkDecorator:
    """How many, and where chance begins."""
    more = (pytest.param(long, seed, marks=pytest.mark.long) for seed in range(SEEDS))
    return pytest.mark.parametrize(("many", "seed"), [(default, SEEDS), *more])


@questions(900, 7000)
def test_what_may_be_overwritten_is_read_by_nobody_else(many: int, seed: int) -> None:
    isl = pytest.importorskip("islpy")
    random, certain, conditional, possible, missed, open_ = Random(seed), 0, 0, 0, 0, 0
    for number in range(many):
        asked = with_loop(random, isl)
        assert isinstance(asked.loop, WithLoop)
        answer = may_share(asked.loop, asked.array, Ints(asked.function))
        found = False if answer is None else asked.depends(isl, answer)
        assert not found, asked
        open_ += found is None
        certain += answer == ALWAYS
        conditional += bool(answer)
        if seed < SEEDS and number < COUNTED and asked.depends(isl) is False:
            possible += 1
            missed += answer != ALWAYS
    if possible:
        print(f"\nof {possible} with-loops that may overwrite what they read {missed} were missed")
    assert certain >= YES * many and conditional and open_ <= many // 100


@questions(1100, 3000)
def test_rounds_that_may_run_at_once_depend_on_no_other(many: int, seed: int) -> None:
    isl = pytest.importorskip("islpy")
    random, certain, possible, missed, open_ = Random(seed), 0, 0, 0, 0
    for number in range(many):
        asked = counting(random)
        assert isinstance(asked.loop, For)
        answer = independent(asked.loop, Ints(asked.function))
        found = asked.depends(isl) if answer else False
        assert not found, asked
        open_ += found is None
        certain += answer
        if seed < SEEDS and number < COUNTED and asked.depends(isl) is False:
            possible += 1
            missed += not answer
    if possible:
        print(f"\nof {possible} loops whose rounds may run at once {missed} were missed")
    assert certain >= YES * many and open_ <= many // 100

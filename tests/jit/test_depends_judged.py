"""What the analysis of dependence says, judged by integer sets: where it says yes there is no dependence, for any
values of the symbols; and in a long run it is counted how often it misses one."""

from __future__ import annotations

from random import Random

import pytest

from sacpy.jit.analysis.depends import ALWAYS, independent, may_share
from sacpy.jit.analysis.ints import Ints
from sacpy.jit.ir.graph import For, WithLoop
from tests.jit.dependence_judge import counting, with_loop

COUNTED = 4000  # questions of a long run of which it is asked too whether there could be a yes


@pytest.mark.parametrize(("questions", "least"), [(1200, 180), pytest.param(70_000, 10_000, marks=pytest.mark.long)])
def test_what_may_be_overwritten_is_read_by_nobody_else(questions: int, least: int) -> None:
    isl = pytest.importorskip("islpy")
    random, certain, conditional, possible, found = Random(11), 0, 0, 0, 0
    for number in range(questions):
        asked = with_loop(random, isl)
        assert isinstance(asked.loop, WithLoop)
        answer = may_share(asked.loop, asked.array, Ints(asked.function))
        assert answer is None or not asked.depends(isl, answer), asked
        certain += answer == ALWAYS
        conditional += bool(answer)
        if questions > COUNTED > number and not asked.depends(isl):
            possible += 1
            found += answer == ALWAYS
    if possible:
        print(f"\nof {possible} with-loops that may overwrite what they read {possible - found} were missed")
    assert certain >= least and conditional


@pytest.mark.parametrize(("questions", "least"), [(800, 100), pytest.param(30_000, 4000, marks=pytest.mark.long)])
def test_rounds_that_may_run_at_once_depend_on_no_other(questions: int, least: int) -> None:
    isl = pytest.importorskip("islpy")
    random, certain, possible = Random(12), 0, 0
    for number in range(questions):
        asked = counting(random)
        assert isinstance(asked.loop, For)
        answer = independent(asked.loop, Ints(asked.function))
        assert not answer or not asked.depends(isl), asked
        certain += answer
        possible += questions > COUNTED > number and not answer and not asked.depends(isl)
    if possible:
        print(f"\nof {COUNTED} loops {possible} have independent rounds, and this was missed")
    assert certain >= least

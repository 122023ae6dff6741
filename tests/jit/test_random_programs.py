"""A sample of the random programs that `make fuzz` runs at length, and what they cover."""

from __future__ import annotations

import numpy as np
import pytest

from tests.fuzz import __main__ as fuzz
from tests.fuzz.differential import compare, same
from tests.fuzz.operations import PER_CASE, elementwise, operations
from tests.fuzz.programs import Case, case
from tests.fuzz.work import Findings, work


@pytest.fixture(scope="module")
def sample() -> Findings:
    """What came of the first few seeds."""
    return work(range(28))


def test_compiled_programs_give_what_interpreted_ones_give(sample: Findings) -> None:
    assert sample.failures == []


def test_nine_tenths_of_the_functions_are_compiled(sample: Findings) -> None:
    assert sample.coverage.compiled >= 0.9


def test_few_programs_are_wrong_before_they_run(sample: Findings) -> None:
    assert sample.refused <= 3
    assert sample.programs == 28


def test_a_sample_goes_everywhere(sample: Findings) -> None:
    """Statements, passes and ways, but for what is rare; the operations are too many for a sample."""
    seldom = {"Propagate", "Fold stop", "Fold in order", "Loop body first", "Call", "View", "Reshape", "fuse", "flatten", "reductions", "scatter", "detach", "refused", "run again"}
    missing = [line.rpartition(":")[0] for line in sample.coverage.missing(1) if not line.startswith("operation")]
    assert {m.partition(" ")[2] for m in missing} <= seldom


def test_all_operations_come_by_in_turn() -> None:
    seen = set()
    pairs = elementwise()
    for k in range(-(-len(pairs) // PER_CASE)):
        text, calls = operations(k)
        assert len(calls) == PER_CASE
        seen.update((k * PER_CASE + n) * 7919 % len(pairs) for n in range(PER_CASE))
        assert all(f" {name}(" in text for name, _ in calls)
    assert len(seen) == len(pairs)


def test_the_same_seed_gives_the_same_program() -> None:
    assert case(17).source == case(17).source
    assert case(17).source != case(18).source


def test_differences_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    from sacpy.jit.host import scalars

    monkeypatch.setitem(scalars.ROWS, "bitand", scalars.ROWS["bitor"])
    findings = Findings()
    text = "use Array: all; int[n] run(int[n] a) { return { [i] -> a[i] & 3 | [i] < [n] }; }"
    findings.add(7, compare(Case(7, text, (("run", (np.arange(9, dtype=np.int32),)),))))
    assert [line.partition(" gives ")[0] for line in findings.failures] == ["seed 7: strict: run", "seed 7: default: run"]
    assert "2 differ" in fuzz.report(findings, 1.0)


def test_errors_differ_by_code_and_place() -> None:
    text = "E0601 index [3] is out of range at 17"
    assert same(text, text, strict=True)
    assert not same(text, "E0601 index [3] is out of range at 18", strict=False)
    assert not same((1,), text, strict=False)


def test_reals_are_compared_to_the_last_bit_where_that_is_asked() -> None:
    assert not same((0.0,), (-0.0,), strict=True)
    assert same((float("nan"),), (float("nan"),), strict=True)
    assert not same((1.0,), (1.0 + 2**-52,), strict=True)
    assert same((1.0,), (1.0 + 2**-52,), strict=False)
    assert not same((1.0,), (1.0001,), strict=False)


@pytest.mark.long
@pytest.mark.parametrize("first", range(100_000, 101_000, 100))
def test_more_programs(first: int) -> None:
    assert work(range(first, first + 100)).failures == []

"""A sample of the random programs that `make fuzz` runs at length, and what they cover."""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.fuzz import __main__ as fuzz
from tests.fuzz.differential import EQUAL, VANISHED, compare, nearly, same
from tests.fuzz.operations import PER_CASE, elementwise, operations, pairs_of
from tests.fuzz.processes import findings
from tests.fuzz.programs import Case
from tests.fuzz.seeds import case
from tests.fuzz.work import Findings, work

SAMPLE = 46


@pytest.fixture(scope="module")
def sample() -> Findings:
    """What came of the first few seeds."""
    return work(range(SAMPLE))


def test_compiled_programs_give_what_interpreted_ones_give(sample: Findings) -> None:
    assert sample.failures == []


def test_nine_tenths_of_the_functions_are_compiled(sample: Findings) -> None:
    assert sample.coverage.compiled >= 0.9


def test_few_programs_are_wrong_before_they_run(sample: Findings) -> None:
    assert sample.refused <= 3
    assert sample.programs == SAMPLE


def test_a_sample_goes_everywhere(sample: Findings) -> None:
    """Statements, passes and ways, but for what is rare; the operations are too many for a sample."""
    seldom = {
        "Propagate",
        "Fold stop",
        "Fold in order",
        "Loop body first",
        "Call",
        "call_results",
        "View",
        "Reshape",
        "fuse",
        "flatten",
        "loops_to_withloops",
        "array_folds",
        "distribute",
        "assigning",
        "private",
        "axis_invariant",
        "fold_bounds",
        "class_folds",
        "carried_loads",
        "running_folds",
        "running_folds_in_order",
        "branch_checks",
        "slices",
        "speculation",
        "carried",
        "parity_partitions",
        "peel",
        "scalar_replacement",
        "argmin_strips",
        "accumulating",
        "short_circuit",
        "reductions",
        "scatter",
        "split",
        "ranges",
        "detach",
        "sharing",
        "jam",
        "structure_of_arrays",
        "columns",
        "refused",
        "run again",
    }
    missing = [line.rpartition(":")[0] for line in sample.coverage.missing(1) if not line.startswith("operation")]
    assert {m.partition(" ")[2] for m in missing} <= seldom


def test_all_operations_come_by_in_turn() -> None:
    text, calls = operations(3)
    assert all(f" {name}(" in text for name, _ in calls)
    seeds = range(-(-len(elementwise()) // PER_CASE))
    assert {pair for seed in seeds for pair in pairs_of(seed)} == set(elementwise())


def test_the_same_seed_gives_the_same_program() -> None:
    assert case(17).source == case(17).source
    assert case(17).source != case(18).source


def test_differences_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    from sacpy.jit.llvm import scalars

    monkeypatch.setitem(scalars.ROWS, "bitand", scalars.ROWS["bitor"])
    findings = Findings()
    text = "use Array: all; int[n] run(int[n] a) { return { [i] -> a[i] & 3 | [i] < [n] }; }"
    findings.add(7, compare(Case(7, text, (("run", (np.arange(9, dtype=np.int32),)),))))
    assert [line.partition(" gives ")[0] for line in findings.failures] == [
        "seed 7: strict: run",
        "seed 7: default: run",
    ]
    assert "2 differ" in fuzz.report(findings, 1.0)


def test_findings_that_are_saved_are_added_to(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        fuzz,
        "findings",
        lambda seeds, jobs, until: (Findings(programs=1, failures=[f"seed {seed}: differs"]) for seed in seeds),
    )
    saved = ["--save", str(tmp_path / "found")]
    assert fuzz.main(["--seeds", "2", *saved]) == 1
    assert fuzz.main(["--first", "2", "--seeds", "3", *saved]) == 1
    assert "\n5 programs" in capsys.readouterr().out


def test_what_ends_its_process_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The seeds behind it are examined all the same; so it is with what is written to standard error."""
    (tmp_path / "sitecustomize.py").write_text(BREAKS)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    lines = sorted(line for found in findings(range(4), 1, math.inf) for line in found.failures)
    assert lines == ["seed 1: writes 'loop not vectorized'", "seed 2: ends the process (-11)"]


BREAKS = """
import os, signal, tests.fuzz.work as work

def case(seed):
    if seed == 1: os.write(2, b"loop not vectorized")
    if seed == 2: os.kill(os.getpid(), signal.SIGSEGV)
    return known(0)

known, work.case = work.case, case
"""


def test_errors_that_vanish_with_what_nobody_uses_are_counted() -> None:
    for body, verdict in (
        ("b = 0; for (i = 0; i < k; i++) { b = b + a[k]; }", EQUAL),
        ("b = { [i] -> a[i] | [i] < [k] };", VANISHED),
    ):
        text = f"use Array: all; int run(int[n] a, int k) {{ {body} return a[0]; }}"
        outcome = compare(Case(7, text, (("run", (np.arange(9, dtype=np.int32), 11)),)))
        assert outcome.verdicts == {verdict: 2}
        assert not outcome.different


def test_errors_differ_by_code_and_place() -> None:
    text = "E0601 index [3] is out of range at 17"
    assert same(text, text)
    assert not same(text, "E0601 index [3] is out of range at 18")
    assert not nearly(text, "E0601 index [3] is out of range at 18")
    assert not same((1,), text)


def test_reals_are_compared_to_the_last_bit() -> None:
    assert not same((0.0,), (-0.0,))
    assert same((float("nan"),), (float("nan"),))
    assert not same((1.0,), (1.0 + 2**-52,))
    assert nearly((1.0,), (1.0 + 2**-52,))
    assert not nearly((1.0,), (1.0001,))


@pytest.mark.long
@pytest.mark.parametrize("first", range(100_000, 101_000, 100))
def test_more_programs(first: int) -> None:
    assert work(range(first, first + 100)).failures == []

"""Short-circuiting on and off: the same results, and a table of what it gains."""

from __future__ import annotations

import pytest

from benchmarks.circuits import THESIS, measured, show
from benchmarks.suite import benchmarks


def test_both_ways_are_measured(capsys: pytest.CaptureFixture[str]) -> None:
    report, over = show(["hotspot"], 1, True)
    assert not over and list(report["seconds"]) == ["hotspot small"]
    assert {"with", "without"} <= set(report["seconds"]["hotspot small"])
    out = capsys.readouterr().out
    assert "1.78 to 2.05" in out and "same code" in out  # folding leaves nothing to copy there


def test_code_with_circuits_is_told_from_code_without() -> None:
    assert measured("needleman_wunsch", "small", 1)[1] is False


def test_ways_that_differ_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.circuits.np.array_equal", lambda one, other: False)
    with pytest.raises(AssertionError, match="hotspot differs with and without"):
        measured("hotspot", "small", 1)


def test_there_are_only_these_programs() -> None:
    assert set(THESIS) <= {b.name for b in benchmarks()}
    with pytest.raises(ValueError, match="there is no program odd here; there are needleman_wunsch"):
        show(["odd"], 1, True)

"""What is expected of compiling and of calls stands beside what they took."""

from __future__ import annotations

import pytest

from benchmarks.estimates.command import show


def test_both_are_told_of_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    report, _ = show(["small/leibniz_main"], 60.0)
    (unit,) = report["compiling"]
    assert unit[1].startswith("_MAIN::main/0@") and unit[2] > 3 and 0.0 < unit[3] < 10.0 and 0.0 < unit[4] < 10.0
    whole = max(report["calls"], key=lambda row: row[4])
    assert whole[1].startswith("_MAIN::main/0") and 0.1 < whole[3] / whole[4] < 10.0
    assert "farthest above" in capsys.readouterr().out


def test_a_name_that_no_program_has_is_refused() -> None:
    with pytest.raises(ValueError, match="no program small/nothing"):
        show(["small/nothing"], 60.0)

"""Timings taken in turns, ratios with a verdict, tables and the JSON report."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks.compare import Comparison, as_json, geometric_mean, warm_table
from benchmarks.measure import Timing, duration, in_turns, ratio, seconds_text, table


def test_actions_take_turns() -> None:
    order: list[str] = []
    taken = in_turns({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, 3)
    assert order[-6:] == ["a", "b"] * 3
    assert [len(t.seconds) for t in taken.values()] == [3, 3]


def test_a_short_action_is_repeated() -> None:
    done: list[int] = []
    in_turns({"short": lambda: done.append(1)}, 1, at_least=0.001)
    assert len(done) > 10


def test_the_ratio_is_taken_repetition_by_repetition() -> None:
    row = ratio("r", Timing((2.0, 30.0, 4.0)), Timing((1.0, 10.0, 1.0)), limit=3.0)
    assert (row.value, row.low, row.high, row.verdict) == (3.0, 2.0, 4.0, "ok")
    assert ratio("r", Timing((2.0,)), Timing((1.0,)), limit=1.9).verdict == "OVER"


def test_a_table_shows_limit_and_verdict() -> None:
    text = table("title", [duration("start", (0.1, 0.3, 0.2), "ms", limit=100.0, note="a note")])
    assert text.splitlines()[0] == "title"
    assert text.splitlines()[2].split() == ["start", "200", "ms", "100", "300", "100", "ms", "OVER", "a", "note"]


@pytest.mark.parametrize(
    ("seconds", "text"), [(1.234, "1.23 s"), (0.0456, "45.6 ms"), (7.8e-6, "7.8 us"), (5e-10, "0.5 ns"), (0.0, "0 ns")]
)
def test_times_have_the_unit_that_suits_them(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text


def test_a_missing_peer_is_left_out() -> None:
    one = Comparison("one", 1, {"sac": Timing((4.0,)), "numpy": Timing((1.0,))}, {}, {"c": "no compiler"})
    two = Comparison("two", 1, {"sac": Timing((9.0,)), "numpy": Timing((1.0,)), "c": Timing((3.0,))}, {}, {})
    assert geometric_mean([one, two], "numpy") == pytest.approx(6.0)
    assert geometric_mean([one, two], "c") == pytest.approx(3.0)
    assert geometric_mean([one, two], "numba") is None
    assert as_json(one)["ratio"] == {"numpy": 4.0}
    assert "4 (4..4)" in warm_table("", [one, two])


def test_the_report_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks", "startup"])
    monkeypatch.setitem(command.LIMITED, "startup", lambda options: [duration("slow", (9.0,), "s", limit=1.0)])
    monkeypatch.setenv("OUT", str(tmp_path))
    assert command.main() == 1
    assert "OVER" in capsys.readouterr().out
    assert json.loads((tmp_path / "benchmarks.json").read_text())["startup"][0]["verdict"] == "OVER"

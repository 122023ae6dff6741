"""First results: the programs print what they should, and the benchmark says so when one does not, takes too long or
is over a limit."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks.first import report, rules
from benchmarks.first.cases import GROUPS, START, Case, cases
from benchmarks.first.command import choose
from benchmarks.first.measuring import STATES, Measurements, measure
from benchmarks.first.processes import Run, run_case, run_peer

CASES = cases()


def written(folder: Path, text: str, expected: str = "", **more: object) -> Case:
    path = folder / "case.sac"
    path.write_text(text, encoding="utf-8")
    return Case("small/case", path, expected.encode(), **more)  # type: ignore[arg-type]


def found(seconds: dict[tuple[str, str], float], case: str = "small/case") -> Measurements:
    """Measurements of one run by target and state."""
    return Measurements({(case, who, state): [Run(s, s, 1)] for (who, state), s in seconds.items()})


def test_there_are_cases_of_every_group() -> None:
    counts = {group: sum(c.group == group for c in CASES.values()) for group in GROUPS}
    assert counts["small"] + counts["embedding"] >= 40
    assert counts["programs"] >= 38 and counts["suite"] >= 26
    assert {rule.case for rule in rules.RULES} <= CASES.keys()
    assert {rule.beside for rule in rules.RULES if rule.beside} <= CASES.keys()


def test_every_script_of_python_has_its_program_and_every_peer_its_case() -> None:
    here = {path for case in CASES.values() for path in (case.source, *case.peers.values())}
    folder = Path(rules.__file__).parent
    beside = [p for g in GROUPS[2:] for p in (folder / g).iterdir() if p.suffix in (".py", ".c")]
    assert [p for p in beside if p not in here] == []


@pytest.mark.parametrize("name", ["small/hofstadter", "small/roman", "small/life_apl", "small/rotations"])
def test_a_program_prints_what_it_should(name: str, tmp_path: Path) -> None:
    run = run_case(CASES[name], "auto", tmp_path, 60.0)
    assert run.wrong == "" and not run.late
    assert run.memory > 2**20 and run.processor > 0.0


@pytest.mark.long
@pytest.mark.parametrize("target", ["auto", "cpu"])
@pytest.mark.parametrize("name", [n for n, c in CASES.items() if c.group in GROUPS[2:]])
def test_all_programs_print_what_they_should(name: str, target: str, tmp_path: Path) -> None:
    assert run_case(CASES[name], target, tmp_path, 120.0).wrong == ""


@pytest.mark.parametrize("name", ["small/hofstadter", "small/life_apl", "embedding/fib_call"])
def test_a_peer_prints_the_same(name: str, tmp_path: Path) -> None:
    (kind,) = CASES[name].peers
    assert run_peer(CASES[name], kind, tmp_path, 60.0).good


def test_a_script_tells_times_of_its_own(tmp_path: Path) -> None:
    run = run_case(CASES["embedding/fib_call"], "interp", tmp_path, 60.0)
    assert run.good
    assert 0.0 < run.measures["first"] < run.seconds


def test_another_output_is_wrong(tmp_path: Path) -> None:
    text = 'use StdIO: all; int main() { printf("1\\n2\\n"); return 0; }'
    assert run_case(written(tmp_path, text, "1\n2\n"), "interp", tmp_path, 60.0).good
    other, short = (run_case(written(tmp_path, text, t), "interp", tmp_path, 60.0) for t in ("1\n3\n", "1\n"))
    assert (other.wrong, short.wrong) == ("another output, from line 2 on", "output of another length")


def test_a_diagnostic_is_wanted_where_there_is_to_be_one(tmp_path: Path) -> None:
    text = "use Array: all; int main() { return [1,2,3][shape(iota(7))[0]]; }"
    assert run_case(written(tmp_path, text, code="E0506", status=1), "interp", tmp_path, 60.0).good
    another = run_case(written(tmp_path, text, code="E0503", status=1), "interp", tmp_path, 60.0)
    assert another.wrong.startswith("no E0503: error[E0506]")
    assert run_case(written(tmp_path, text), "interp", tmp_path, 60.0).wrong.startswith("ended with 1, not 0")


def test_what_takes_too_long_is_stopped_and_reported(tmp_path: Path) -> None:
    case = written(tmp_path, "use Array: all; int main() { i = 0; while (i >= 0) { i = (i + 1) % 9; } return i; }")
    seen = measure([case], 1, 1.0, lambda *_: None)
    assert all(run.late for runs in seen.runs.values() for run in runs)
    told = [re.match(r"late  small/case, auto, cold: stopped after ([\d.]+)", p) for p in report.problems(seen)]
    assert any(found is not None and float(found[1]) >= 1.0 for found in told)
    assert re.search(r"> [\d.]+ s", report.line(case, seen))


def test_auto_is_held_against_the_better_target() -> None:
    times = {("cpu", "cold"): 1.0, ("interp", "cold"): 5.0, ("auto", "cold"): 1.45}
    assert rules.over(found(times), "small/case", "cold")
    assert not rules.over(found(times | {("auto", "cold"): 1.35}), "small/case", "cold")
    assert not rules.over(found(times | {("interp", "cold"): 0.1, ("auto", "cold"): 0.2}), "small/case", "cold")


def test_auto_that_does_not_get_through_is_over() -> None:
    times = {("cpu", "cold"): 1.0, ("interp", "cold"): 5.0, ("auto", "cold"): 60.0}
    seen = found(times)
    seen.runs["small/case", "auto", "cold"] = [Run(60.0, 60.0, 1, late=True)]
    assert rules.over(seen, "small/case", "cold")


def test_the_mean_is_geometric(tmp_path: Path) -> None:
    seen = found({("cpu", "cold"): 1.0, ("auto", "cold"): 4.0})
    seen.runs |= found({("cpu", "cold"): 1.0, ("auto", "cold"): 1.0}, "small/other").runs
    chosen = [Case(name, tmp_path, b"") for name in ("small/case", "small/other")]
    row = rules.mean(seen, chosen, "cold")
    assert row is not None and math.isclose(row.value, 2.0) and row.verdict == "OVER"


def test_a_rule_takes_away_what_nothing_costs() -> None:
    seen = found({("auto", "cold"): 1.0, ("python", "cold"): 0.5}, "table/fib28")
    seen.runs |= found({("auto", "cold"): 0.7, ("python", "cold"): 0.1}, START).runs
    (row, *_) = rules.rows(seen, [CASES["table/fib28"]])
    assert math.isclose(row.value, 0.3) and math.isclose(row.limit or 0.0, 0.4) and row.verdict == "ok"


def test_a_case_comes_with_what_it_is_compared_with() -> None:
    assert [c.name for c in choose(["once_any"])] == ["table/once_any", "table/once_fixed", START]
    assert {c.group for c in choose(["suite"])} == {"suite"}
    with pytest.raises(ValueError, match="there is no case nothing"):
        choose(["nothing"])


def test_the_command_prints_and_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "first.json"
    monkeypatch.setattr("sys.argv", ["benchmarks", "first", "--quick", "--only", "table/start", "--json", str(path)])
    command.main()
    shown = capsys.readouterr().out
    assert "first results, cold" in shown and "table/start" in shown
    (case,) = json.loads(path.read_text())["first"]["cases"]
    assert case["name"] == START and set(case["over"]) == set(STATES)
    assert len(case["runs"]["auto, warm"]) == 1

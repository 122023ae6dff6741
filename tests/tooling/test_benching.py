"""`sacpy bench`: what it measures, what it keeps, and when it says that something has become slower."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from sacpy import cli
from sacpy.benching import measuring
from sacpy.benching.comparing import Pair, bounds, compared

PROGRAM = """use Array: all;
int work(int n) { s = 0; for (i = 0; i < n; i++) { s += i * i % 7; } return s; }
int bench_work() { return work(1000); }
int bench_sized(int n) { return sum(iota(n)); }
"""


def pairs(random: Random, ratio: float, count: int, noise: float = 0.05, outliers: float = 0.2) -> list[Pair]:
    """Pairs of times on a machine with other things to do: some take several times as long."""

    def time(base: float) -> float:
        burden = random.uniform(1, 8) if random.random() < outliers else 1.0
        return base * burden * random.gauss(1, noise)

    found = []
    for _ in range(count):
        drift = random.uniform(0.7, 1.5)  # falls on both
        found.append((time(drift), time(drift * ratio)))
    return found


def test_five_percent_are_found_and_nothing_is_found_where_nothing_is() -> None:
    random = Random(1)
    same = [compared([pairs(random, 1.0, 100) for _ in range(3)], 0.02).word for _ in range(30)]
    assert set(same) <= {"same", "unclear"}
    slower = [compared([pairs(random, 1.05, 200) for _ in range(3)], 0.02).word for _ in range(12)]
    assert slower.count("slower") >= 11
    faster = compared([pairs(random, 0.9, 200) for _ in range(3)], 0.02)
    assert faster.word == "faster" and faster.low < 0.9 < faster.high


def test_what_only_some_preparations_show_does_not_count() -> None:
    random = Random(2)
    groups = [pairs(random, ratio, 200, 0.01, 0.0) for ratio in (1.06, 1.06, 1.0)]
    assert compared(groups, 0.02).word == "same" or compared(groups, 0.02).word == "unclear"


def test_few_pairs_tell_nothing() -> None:
    assert compared([[(1.0, 2.0)] * 4], 0.02).word == "unclear"


def test_bounds_hold_the_median_and_grow_narrower() -> None:
    random = Random(3)
    held, widths = 0, []
    for _ in range(200):
        low, high = bounds(sorted(random.gauss(0, 1) for _ in range(60)))
        held += low <= 0 <= high
        widths.append(high - low)
    assert held >= 199
    low, high = bounds(sorted(random.gauss(0, 1) for _ in range(1000)))
    assert high - low < min(widths)


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests run beside these: nobody waits for a quiet moment."""
    monkeypatch.setattr(measuring, "PATIENCE", 1)


def bench(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = cli.main(["bench", "--time", "0.01", *words])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_rows_baselines_and_comparisons(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, base = tmp_path / "p.sac", tmp_path / "base.json"
    (tmp_path / "M.sac").write_text("module M; use Array: all; export all; int more() { return 10; }")
    file.write_text(f"use M: all;\n{PROGRAM}")
    status, out, _ = bench(
        capsys,
        str(file),
        "work(100)",
        "work(more())",
        "--target",
        "interp,cpu",
        "--threads",
        "1",
        "--save",
        str(base),
    )
    lines = out.splitlines()
    assert status == 0
    assert lines[0].split() == ["first", "least", "median", "between"]
    ways = ["interp", "cpu, 1 thread"]
    assert [line.strip() for line in lines[1:2] + lines[4:5]] == ["work(100)", "work(more())"]
    assert [line[2:16].strip() for line in lines[2:4]] == ways
    data = json.loads(base.read_text())
    assert sorted(data["texts"]) == ["0/M.sac", "0/p.sac"]
    assert [(b["target"], b["threads"]) for b in data["benchmarks"][:2]] == [("interp", 0), ("cpu", 1)]
    (tmp_path / "M.sac").write_text("module M; use Array: all; export all; int more() { return 2000; }")
    status, out, _ = bench(capsys, str(file), "work(more())", "--target", "interp", "--against", str(base), "--json")
    verdict = json.loads(out)["against"][0]
    assert (status, verdict["verdict"]) == (1, "slower")
    assert verdict["low"] > 2


def test_functions_with_sizes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "p.sac"
    file.write_text(PROGRAM)
    status, out, _ = bench(capsys, str(file), "--sizes", "10,20", "--target", "interp")
    assert status == 0
    assert [line for line in out.splitlines() if not line.startswith(" ")] == [
        "bench_work()", "bench_sized(10)", "bench_sized(20)",
    ]  # fmt: skip


MESSAGES = [
    (
        "int bench_f(double x) { return 1; }",
        [],
        "error[E0776]: bench_f takes something else than a size\n --> p.sac:1:5\n  |\n"
        "1 | int bench_f(double x) { return 1; }\n  |     ^^^^^^^\n  |\n"
        "  = help: let it have no parameters or one int, or call it in an expression: "
        "sacpy bench FILE.sac 'bench_f(..)'\n",
    ),
    (
        "int f() { return 1; }",
        [],
        "error[E0777]: there is nothing to measure in p.sac\n  = help: name a call, sacpy bench p.sac 'f(iota(1000))', "
        "or define functions called bench_*\n",
    ),
    (
        "int f() { return 1; }",
        ["f()", "--against", "p.sac"],
        "error[E0778]: p.sac cannot be compared with: it is not what sacpy bench --save writes\n"
        "  = help: write it with sacpy bench --save p.sac .. while the program is as it was\n",
    ),
]


@pytest.mark.parametrize(("text", "words", "said"), MESSAGES)
def test_messages(
    text: str,
    words: list[str],
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.sac").write_text(text)
    assert bench(capsys, "p.sac", *words) == (1, "", said)


@pytest.mark.parametrize("words", [["--target", "gpu"], ["--time", "0"], ["--sizes", "-3"]])
def test_wrong_use(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        bench(capsys, "p.sac", *words)
    assert stop.value.code == 2


@pytest.mark.long
def test_a_planted_slowdown_is_found_and_none_where_there_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a machine with two idle cores; on a busy one the first part may come to no result."""
    file, base = tmp_path / "p.sac", tmp_path / "base.json"
    file.write_text(PROGRAM.replace("work(1000)", "work(100000)"))
    words = [str(file), "bench_work()", "--target", "interp,cpu", "--time", "1"]
    assert cli.main(["bench", *words, "--save", str(base)]) == 0
    assert [cli.main(["bench", *words, "--against", str(base)]) for _ in range(10)] == [0] * 10
    file.write_text(PROGRAM.replace("work(1000)", "work(105000)"))
    assert cli.main(["bench", *words, "--against", str(base)]) == 1

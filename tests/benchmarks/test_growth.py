"""How compiling grows: the functions that are generated compile, and growth and memory are held against limits."""

from __future__ import annotations

import json
import math
import sys

import pytest

from benchmarks import __main__ as command
from benchmarks.growth import probe
from benchmarks.growth.command import STAGES, Compiled, exponents, limits, show
from benchmarks.growth.generated import FAMILIES, Family

SCALARS = next(f for f in FAMILIES if f.name == "scalars")
SUMS = next(f for f in FAMILIES if f.name == "sums, extents")


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.name)
def test_what_is_generated_compiles(
    family: Family, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["probe", family.name, str(family.sizes[0])])
    probe.main()
    told = json.loads(capsys.readouterr().out)
    assert told["refused"] == ""
    assert set(STAGES) <= told["stages"].keys()
    assert min(told["peak"], told["before"]) > 2**20  # the system counts pages in batches, so either may be ahead


def compiled(size: int, milliseconds: float, peak: float = 100.0) -> Compiled:
    return Compiled(size, dict.fromkeys(STAGES, milliseconds), peak=peak)


def test_the_exponent_is_that_of_the_time_over_the_size() -> None:
    powers = exponents(compiled(100, 50.0), compiled(1000, 5000.0))
    assert math.isclose(powers["total"], 2.0) and math.isclose(powers["compile"], 2.0)
    assert exponents(compiled(100, 1.0), compiled(1000, 10.0)) == {"total": pytest.approx(1.0)}


def test_quadratic_growth_is_over_and_linear_growth_is_not() -> None:
    verdicts = {row.verdict for row in limits(SCALARS, [compiled(100, 50.0), compiled(1000, 600.0)])}
    assert verdicts == {"ok"}
    over = [row.name for row in limits(SCALARS, [compiled(100, 50.0), compiled(1000, 5000.0)]) if row.verdict == "OVER"]
    assert "scalars: exponent of total, 100 to 1000" in over


def test_an_index_space_may_not_take_longer_for_being_large() -> None:
    same, longer = compiled(10**3, 40.0), compiled(10**10, 90.0)
    assert {row.verdict for row in limits(SUMS, [same, compiled(10**10, 60.0)])} == {"ok"}
    assert sum(row.verdict == "OVER" for row in limits(SUMS, [same, longer])) == len(STAGES)
    assert [r.name for r in limits(SUMS, [same, compiled(10**10, 40.0, 170.0)]) if r.verdict == "OVER"] == [
        "sums, extents: memory, growth"
    ]


def test_memory_and_what_is_not_compiled_are_over() -> None:
    assert any(row.verdict == "OVER" for row in limits(SCALARS, [compiled(10, 1.0, peak=400.0)]))
    stopped = Compiled(100, trouble="stopped after 60 s")
    assert [row.verdict for row in limits(SCALARS, [stopped])] == ["OVER"]


def test_what_takes_too_long_is_stopped(capsys: pytest.CaptureFixture[str]) -> None:
    report, failed = show(["sums"], 1, 0.05)
    assert failed and [c["trouble"] for c in report["families"]["sums, extents"]] == ["stopped after 0.05 s"]
    assert "stopped after 0.05 s" in capsys.readouterr().out


def test_the_command_prints_a_table(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks", "compile", "--only", "unrolled", "--quick", "--seconds", "30"])
    monkeypatch.setattr("benchmarks.growth.command.FAMILIES", [Family("unrolled", SCALARS.text, SCALARS.kind, (2, 4))])
    monkeypatch.setattr("benchmarks.growth.command._compile", lambda family, found, _: found.stages.update(lower=60.0))
    command.main()
    shown = capsys.readouterr().out
    assert "unrolled: milliseconds" in shown and "exponent" in shown


def test_there_is_no_such_family() -> None:
    with pytest.raises(ValueError, match="there is no family nothing"):
        show(["nothing"], 1, 1.0)

"""`make gpu`: what goes wrong in one step is in the way of none; time is bounded; there is always a report."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.gpu import __main__ as command
from benchmarks.gpu import programs, runner, sanitizer
from benchmarks.gpu.cases import CASES, MAP
from benchmarks.gpu.measure import seconds
from benchmarks.gpu.steps import Settings, Steps, names
from tests.tools import ROOT


class Process:
    """A stand-in for a process."""

    killed = 0

    def kill(self) -> None:
        Process.killed += 1

    def join(self) -> None:
        pass


def starting(script: Callable[[str], Any], opening: Any = None) -> tuple[runner.Start, list[list[str]]]:
    """What starts processes that answer each step with what the script says; None: nothing more. And the steps with
    which they were started."""
    begun: list[list[str]] = []

    def start(steps: Sequence[str]) -> tuple[Connection, Any]:
        ours, theirs = Pipe(duplex=False)
        begun.append(list(steps))
        theirs.send((runner.OPENING, {"device": "a stand-in"} if opening is None else opening))
        for name in steps:
            said = script(name)
            if said is None:
                theirs.close()
                break
            theirs.send((name, said))
        return ours, Process()

    return start, begun


def run(start: runner.Start, steps: Sequence[str], **times: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    runner.run(steps, start, found.__setitem__, **({"each": 0.2, "whole": 60.0} | times))
    return found


def test_steps_are_told_in_their_order() -> None:
    start, begun = starting(lambda name: {"of": name})
    assert list(run(start, ["a", "b"]).items()) == [
        ("device", {"device": "a stand-in"}),
        ("a", {"of": "a"}),
        ("b", {"of": "b"}),
    ]
    assert begun == [["a", "b"]]


def test_a_step_that_ends_its_process_costs_that_step() -> None:
    start, begun = starting(lambda name: None if name == "b" else {"of": name})
    found = run(start, ["a", "b", "c"])
    assert "ended the process" in found["b"]["error"]
    assert found["c"] == {"of": "c"}
    assert begun == [["a", "b", "c"], ["c"]]


def test_a_step_that_takes_too_long_is_killed() -> None:
    ours, theirs = Pipe(duplex=False)
    theirs.send((runner.OPENING, {"device": "slow"}))
    before = Process.killed
    found = run(lambda _: (ours, Process()), ["a"])
    assert "took longer than 0 s" in found["a"]["error"]
    assert Process.killed == before + 1
    theirs.close()


def test_when_the_time_is_over_the_rest_is_left_out() -> None:
    now = iter(range(100))
    start, _ = starting(lambda name: {"of": name})
    found = run(start, ["a", "b", "c", "d"], whole=5.0, clock=lambda: float(next(now)))
    assert found["a"] == {"of": "a"}
    assert found["d"] == {"left out": "5 s were over"}


def test_without_a_device_nothing_else_is_told() -> None:
    start, _ = starting(lambda name: {}, {"error": "no GPU"})
    assert run(start, ["a"]) == {"device": {"error": "no GPU"}}


def test_a_device_that_is_lost_costs_one_step_a_process() -> None:
    openings = iter([{"device": "a"}, {"error": "gone"}, {"device": "a"}])

    def start(steps: Sequence[str]) -> tuple[Connection, Any]:
        begin, _ = starting(lambda name: None if name == "a" else {"of": name}, next(openings))
        return begin(steps)

    found = run(start, ["a", "b", "c"])
    assert "not be used any more" in found["b"]["error"]
    assert found["c"] == {"of": "c"}


class Lost(Steps):
    """Steps that go wrong."""

    usable = True

    def about(self) -> dict[str, Any]:
        return {"device": "a stand-in"}

    def run(self, name: str) -> dict[str, Any]:
        if name == "bad":
            raise ValueError("of this kind")
        return {"of": name}

    def wait(self, _: Any = None) -> None:
        if not self.usable:
            raise RuntimeError("an illegal address was encountered")


@pytest.mark.parametrize("usable", [True, False])
def test_the_process_goes_on_after_an_error_if_the_device_does(usable: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "Steps", Lost)
    monkeypatch.setattr(Lost, "usable", usable)
    said: list[Any] = []
    runner.work(type("Connection", (), {"send": lambda _, what: said.append(what)})(), ["bad", "good"], Settings())  # type: ignore[arg-type]
    assert said[1][0] == "bad" and said[1][1]["error"] == "ValueError: of this kind"
    assert [name for name, _ in said] == ["device", "bad", *(["good"] if usable else [])]


# ---------------------------------------------------------------- the real thing, on the emulator


@pytest.mark.parametrize("chosen", [["copy", "launch", "case map"], pytest.param([], marks=pytest.mark.long)])
def test_everything_is_measured_on_the_emulator(tmp_path: Path, chosen: list[str]) -> None:
    """In a process of its own, in which what `make gpu` must do without is not to be had."""
    wanted = [n for n in names(Settings(emulator=True, peers=())) if not chosen or any(c in n for c in chosen)]
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nfor name in ('platformdirs', 'prompt_toolkit', 'pygments', 'pygls', 'ipykernel', 'IPython', "
        "'pytest', 'hypothesis'): sys.modules[name] = None\n"
    )
    environment = {k: v for k, v in os.environ.items() if k != "SACPY_CACHE_DIR"} | {
        "OUT": str(tmp_path),
        "PYTHONPATH": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.gpu", "--emulator", *(f"--only={c}" for c in chosen)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((tmp_path / "gpu.json").read_text())
    assert list(report["steps"]) == wanted and len(wanted) > 2
    assert not [name for name, step in report["steps"].items() if "error" in step]
    assert all(report["steps"][name]["sacpy"] > 0 for name in wanted if name.startswith("case"))
    assert report["steps"]["launch"]["launch"] > 0
    assert report["wrong"] == [] and report["device"] == "the emulated sm_90"


@pytest.mark.long
def test_everything_is_measured_on_the_stand_in_for_a_gpu(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.gpu", "--rehearse"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | {"OUT": str(tmp_path)},
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((tmp_path / "gpu.json").read_text())
    assert list(report["steps"]) == names(Settings(rehearsal=True, peers=()))
    assert not [name for name, step in report["steps"].items() if "error" in step]
    assert report["wrong"] == [] and report["device"] == "Fake H100"


def test_without_a_gpu_the_report_says_so(tmp_path: Path) -> None:
    environment = os.environ | {"OUT": str(tmp_path), "SACPY_GPU": "none"}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.gpu"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("nothing to measure: SACPY_GPU is the number of a GPU")
    assert json.loads((tmp_path / "gpu.json").read_text())["error"].startswith("SACPY_GPU is")


def test_the_steps_have_what_is_to_be_shown() -> None:
    steps = names(Settings())
    assert steps[:3] == ["checks", "copy", "launch"]
    assert {"programs, 0", "programs, 3", "corpus, 3"} <= set(steps)
    assert {f"case {case.name}, {case.sizes[-1]}" for case in CASES} <= set(steps)
    assert {"mappings, 65536", "mappings, 268435456", "peer cuda c++", "peer triton"} <= set(steps)
    sizes = [int(name.rpartition(", ")[2]) for name in steps if name.startswith(("case", "mappings"))]
    assert sizes == sorted(sizes)


# ---------------------------------------------------------------- peers


class FakePeer:
    """CuPy in the words of NumPy."""

    def __init__(self, right: bool) -> None:
        self.right = right

    def fuse(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function if self.right else lambda x, y: x


@pytest.mark.parametrize(("right", "told"), [(True, float), (False, str)])
def test_a_peer_is_compared_and_measured(right: bool, told: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.gpu.measure.peer", lambda name, hardware: FakePeer(right))
    monkeypatch.setattr("benchmarks.gpu.measure.placed", lambda name, module, values: values)
    monkeypatch.setattr("benchmarks.gpu.measure.waiter", lambda name, module: lambda last: None)
    monkeypatch.setattr("benchmarks.gpu.measure.fetched", lambda name, value: value)
    found = Steps(Settings(emulator=True, peers=("cupy",))).case(MAP, 1000)
    assert isinstance(found["cupy"], told)
    assert right or found["cupy"].startswith("another result: ")


def test_a_peer_that_is_not_there_is_left_out_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str, hardware: Any) -> Any:
        raise ImportError(f"no {name}")

    monkeypatch.setattr("benchmarks.gpu.measure.peer", none)
    steps = Steps(Settings(emulator=True, peers=("cupy", "jax")))
    with pytest.raises(ImportError):
        steps.run("peer cupy")
    found = steps.case(MAP, 1000)
    assert found["cupy"] == "left out: RuntimeError: ImportError: no cupy"
    assert found["sacpy"] > 0


@pytest.mark.parametrize(
    ("found", "wrong"),
    [
        ("a 1.00 b\n", ""),
        ("a 1.000001 b\n", ""),
        ("a 1.1 b\n", "1 numbers differ, the first: 1.1 instead of 1.00"),
        ("a 1.00 c\n", "another text, from line 1 on"),
        ("a 1.00 b\n\n", "another number of lines"),
        ("a nan b\n", "1 numbers differ, the first: nan instead of 1.00"),
    ],
)
def test_outputs_are_compared_number_by_number(found: str, wrong: str) -> None:
    assert programs.differs(found, "a 1.00 b\n") == wrong


def test_a_program_that_prints_something_else_is_told(tmp_path: Path) -> None:
    for name, text in {"right": "1\n", "other": "2\n"}.items():
        (tmp_path / f"{name}.sac").write_text('use StdIO: all; int main() { printf("%d\\n", 1); return 0; }')
        (tmp_path / f"{name}.out").write_text(text)
    (tmp_path / "broken.sac").write_text("int main( {}")
    (tmp_path / "broken.out").write_text("")
    found = dict(programs.wrong(sorted(tmp_path.glob("*.sac")), "emulator", lambda: None))
    assert (
        found["right"] == ""
        and found["other"] == "1 numbers differ, the first: 1 instead of 2"
        and found["broken"].startswith("error[")
    )


def test_problems_are_sacpys_own() -> None:
    report = {
        "steps": {
            "peer jax": {"error": "not there"},
            "checks": {"empty": "", "bytes": "3 differ"},
            "case map, 9": {"error": "lost"},
            "sanitizer memcheck": {"found": "2 errors"},
            "sanitizer racecheck": {"found": 0},
        }
    }
    assert command.problems(report) == ["checks: bytes: 3 differ", "case map, 9: lost", "sanitizer memcheck: 2 errors"]


# ---------------------------------------------------------------- the sanitizer, the clock


@pytest.mark.parametrize(
    ("says", "status", "found"),
    [
        ("========= ERROR SUMMARY: 0 errors", 0, 0),
        ("========= ERROR SUMMARY: 2 errors", 86, "SUMMARY: 2 errors"),
        ("========= RACECHECK SUMMARY: 0 hazards displayed", 0, 0),
        ("========= ERROR SUMMARY: 0 errors", 1, "the program failed"),
    ],
)
def test_what_the_sanitizer_says(
    says: str, status: int, found: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "compute-sanitizer"
    tool.write_text(f"#!/bin/sh\necho '{says}'\nexit {status}\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert sanitizer.watched("memcheck", 10.0)["found"] == found


def test_without_the_sanitizer_that_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.gpu.sanitizer.shutil.which", lambda _: None)
    monkeypatch.setattr("benchmarks.gpu.sanitizer.Path.exists", lambda _: False)
    assert sanitizer.watched("memcheck", 10.0) == {"left out": "compute-sanitizer is not installed"}


def test_the_watched_program_runs(tmp_path: Path) -> None:
    program = tmp_path / "watched.sac"
    program.write_text(sanitizer.PROGRAM)
    outputs = [
        subprocess.run(
            [sys.executable, "-m", "sacpy", "run", "--target", target, str(program)],
            capture_output=True,
            text=True,
            cwd=ROOT,
            timeout=100,
            check=True,
        ).stdout
        for target in ("interp", "emulator")
    ]
    assert outputs[0] == outputs[1] != ""


def test_the_clock_waits_for_the_last_result() -> None:
    waited: list[Any] = []
    made = iter(np.arange(10**6))
    assert seconds(lambda: next(made), waited.append) > 0
    assert len(waited) > 4 and waited == sorted(waited)


def test_kernels_and_with_loops_are_rehearsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.gpu.steps.GROUPS", 20)
    steps = Steps(Settings(emulator=True))
    row = steps.kernel("map, float")
    assert row["sacpy"] > 0 and row["launches alone"] > 0 and row["unit"] == "B"
    assert row["by hand"] == "left out: RuntimeError: nothing is compiled by hand here"
    told = command.line("kernel map, float", row, {})
    assert "its launches" in told and told.endswith(row["by hand"])
    found = steps.agreement("with-loops", 1)
    assert len(found) > 5 and set(found.values()) == {""}


def test_a_step_that_the_end_cuts_off_is_left_out() -> None:
    now = [0.0]

    def clock() -> float:
        now[0] += 1.0
        return now[0]

    start, _ = starting(lambda name: {"of": name} if name == "a" else None)
    found = run(start, ["a", "b"], each=60.0, whole=6.0, clock=clock)
    assert found["b"] == {"left out": "6 s were over"}

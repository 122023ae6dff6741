"""`sacpy doctor`: what it finds, and that looking costs nothing."""

import subprocess
import sys
from pathlib import Path

import pytest

from sacpy import cli
from sacpy.commands import doctor


def levels(findings: list[doctor.Finding]) -> dict[str, str]:
    return {f.topic: f.level for f in findings}


def test_this_installation_has_no_problem(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SACPY_CACHE_DIR", str(tmp_path))
    assert cli.main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "everything needed to run SaC programs is there" in out
    assert f"cache: {tmp_path}, empty" in out


def test_what_is_missing_comes_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_version", lambda package: None)
    monkeypatch.setattr(doctor.util, "find_spec", lambda name: None)
    found = {f.topic: f for f in doctor.diagnose()}
    assert found["numpy"].level == "problem"
    assert "pip install numpy" in found["numpy"].remedy
    assert found["llvmlite"].level == "note"
    assert "1 problem" not in doctor.report(list(found.values()))
    assert "2 problems to mend" in doctor.report(list(found.values()))


def test_a_problem_sets_the_exit_status(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(doctor, "diagnose", lambda: [doctor.Finding("problem", "numpy", "not installed", "install it")])
    assert cli.main(["doctor"]) == 1
    assert capsys.readouterr().out == "! numpy: not installed\n    install it\n1 problem to mend, marked with '!'\n"


def test_cache_that_is_off_or_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SACPY_CACHE_DIR", "")
    assert levels(doctor.diagnose())["cache"] == "note"
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    monkeypatch.setenv("SACPY_CACHE_DIR", str(blocked / "cache"))
    assert levels(doctor.diagnose())["cache"] == "problem"


def test_cards_are_named_as_the_driver_names_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gpus/0000:01:00.0").mkdir(parents=True)
    (tmp_path / "gpus/0000:01:00.0/information").write_text("Model: \t\t NVIDIA H200\nIRQ: 5\n")
    (tmp_path / "version").write_text("NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86.15  Thu\n")
    monkeypatch.setattr(doctor, "DRIVER", tmp_path)
    (gpu,) = [f for f in doctor.diagnose() if f.topic == "GPU"]
    assert gpu.text.startswith("NVIDIA H200 (driver 570.86.15)")


def test_looking_imports_nothing_heavy() -> None:
    code = (
        "import sys; from sacpy.commands import doctor; doctor.diagnose(); print([m for m in ('numpy', 'llvmlite', "
        "'prompt_toolkit', 'cuda') if m in sys.modules])"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )

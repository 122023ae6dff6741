"""`sacpy new`: what it makes runs, and its tests pass."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sacpy import cli
from tests.tools import ROOT


def ran(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    status = cli.main(list(words))
    captured = capsys.readouterr()
    return status, captured.out + captured.err


@pytest.mark.long  # the ten minutes of docs/ten-minutes.md do most of it
def test_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    status, out = ran(capsys, "new", "program", "heat")
    assert (status, out.splitlines()[-1]) == (0, "next: sacpy test heat")
    status, out = ran(capsys, "test", "heat")
    assert status == 0 and "3 passed" in out
    assert ran(capsys, "fmt", "--check", "heat") == (0, "")
    assert ran(capsys, "bench", "--time", "0.01", "heat/heat.sac", "--sizes", "10", "--target", "interp")[0] == 0


def test_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert ran(capsys, "new", "module", "vectors")[0] == 0
    status, out = ran(capsys, "test", "vectors")
    assert status == 0 and "3 passed" in out
    assert ran(capsys, "fmt", "--check", "vectors") == (0, "")
    assert "differences" in ran(capsys, "doc", "-L", "vectors", "Vectors")[1]


@pytest.mark.long
def test_a_python_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert ran(capsys, "new", "python", "smoothing")[0] == 0
    status, out = ran(capsys, "test", "smoothing/src")
    assert status == 0 and "1 passed" in out
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], cwd=tmp_path / "smoothing", env=environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("program", "there"),
            "error[E0722]: there is there already\n  = help: choose another name, or remove what is there\n",
        ),
        (
            ("module", "3d-shapes"),
            "error[E0723]: 3d-shapes can be no name\n  = help: choose a letter, then letters, digits and underscores\n",
        ),
        (
            ("program", "while"),
            "error[E0723]: while can be no name\n  = help: choose a letter, then letters, digits and underscores\n",
        ),
    ],
)
def test_messages(
    words: tuple[str, str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").touch()
    assert ran(capsys, "new", *words) == (1, said)
    assert list(tmp_path.iterdir()) == [tmp_path / "there"]

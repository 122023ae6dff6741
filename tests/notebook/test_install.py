"""`sacpy kernel install` and `uninstall`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from sacpy.cli import main


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's home, with no Jupyter anywhere else."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "prefix/share/jupyter"))
    return tmp_path


def test_the_kernel_is_installed_for_the_user(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kernel", "install", "--user"]) == 0
    folder = home / "data/kernels/sac"
    assert str(folder) in capsys.readouterr().out
    found = json.loads((folder / "kernel.json").read_text())
    assert found["argv"] == [sys.executable, "-m", "sacpy.notebook", "-f", "{connection_file}"]
    assert found["display_name"] == "SaC" and found["language"] == "sac"
    assert (folder / "logo-svg.svg").read_text().startswith("<svg")


def test_a_second_installation_takes_the_place_of_the_first(home: Path) -> None:
    assert main(["kernel", "install", "--user"]) == main(["kernel", "install", "--user"]) == 0


def test_a_prefix_and_a_name_are_the_user_s_choice(home: Path) -> None:
    assert main(["kernel", "install", "--prefix", str(home / "prefix"), "--name", "other"]) == 0
    assert (home / "prefix/share/jupyter/kernels/other/kernel.json").is_file()


def test_notebooks_run_with_the_prompt_s_options(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kernel", "install", "--user", "--options=--seconds 60 -D N=3"]) == 0
    found = json.loads((home / "data/kernels/sac/kernel.json").read_text())
    assert found["env"] == {"SACPY_KERNEL_OPTIONS": "--seconds 60 -D N=3"}
    with pytest.raises(SystemExit):
        main(["kernel", "install", "--user", "--options=--secnds 60"])
    assert "there is no option --secnds" in capsys.readouterr().err


def test_what_was_installed_goes_again(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["kernel", "install", "--prefix", str(home / "prefix")])
    assert main(["kernel", "uninstall"]) == 0
    assert str(home / "prefix/share/jupyter/kernels/sac") in capsys.readouterr().out
    assert not (home / "prefix/share/jupyter/kernels/sac").exists()


def test_nothing_to_uninstall_is_said(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kernel", "uninstall", "--name", "nothing-of-that-name"]) == 1
    assert "error[E0760]: no kernel nothing-of-that-name is installed" in capsys.readouterr().err


def test_another_s_kernel_is_left_alone(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = home / "data/kernels/theirs"
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text(json.dumps({"argv": ["theirs"], "display_name": "Theirs", "language": "other"}))
    assert main(["kernel", "uninstall", "--name", "theirs"]) == 1
    assert "is none of sacpy's" in capsys.readouterr().err
    assert folder.exists()


def test_a_folder_that_cannot_be_written_is_said(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "file").write_text("")
    assert main(["kernel", "install", "--prefix", str(home / "file")]) == 1
    shown = capsys.readouterr().err
    assert "error[E0760]: the kernel cannot be installed" in shown and "--prefix DIR" in shown


def test_a_name_that_is_no_folder_s_is_said(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kernel", "install", "--user", "--name", "a b/c"]) == 1
    assert "error[E0760]" in capsys.readouterr().err


def test_two_places_are_one_too_many(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["kernel", "install", "--user", "--prefix", "x"])
    assert stop.value.code == 2
    assert "give one" in capsys.readouterr().err


def test_without_ipykernel_it_is_said_what_to_install(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ipykernel", None)
    assert main(["kernel", "install", "--user"]) == 1
    shown = capsys.readouterr().err
    assert "notebooks need ipykernel" in shown and "pip install 'sac-lang[notebook]'" in shown

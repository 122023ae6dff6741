"""`sacpy fmt` as it is called."""

import io
import os
import sys
from pathlib import Path

import pytest

from sacpy.cli import main

UGLY = "int main(){return 0;}\n"
NICE = "int main() { return 0; }\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "p.sac"
    path.write_text(UGLY)
    return path


def test_it_writes_the_file_and_keeps_its_permissions(file: Path) -> None:
    file.chmod(0o750)
    assert main(["fmt", str(file)]) == 0
    assert (file.read_text(), file.stat().st_mode & 0o777) == (NICE, 0o750)
    assert os.listdir(file.parent) == ["p.sac"]


def test_it_writes_where_a_link_leads(file: Path) -> None:
    link = file.parent / "link.sac"
    link.symlink_to(file)
    assert main(["fmt", str(link)]) == 0
    assert link.is_symlink() and file.read_text() == NICE


def test_a_folder_means_its_programs(file: Path) -> None:
    assert main(["fmt", str(file.parent)]) == 0
    assert file.read_text() == NICE


def test_check_names_the_files_and_changes_nothing(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fmt", "--check", str(file)]) == 1
    assert (file.read_text(), capsys.readouterr().err) == (UGLY, f"would change {file}\n")
    file.write_text(NICE)
    assert main(["fmt", "--check", str(file)]) == 0


def test_diff_shows_what_would_change(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fmt", "--diff", str(file)]) == 0
    assert file.read_text() == UGLY
    assert capsys.readouterr().out.endswith(f"@@ -1 +1 @@\n-{UGLY}+{NICE}")


def test_standard_input_goes_to_standard_output(
    monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(UGLY.encode())))
    assert main(["fmt", "-"]) == 0
    assert capsysbinary.readouterr().out == NICE.encode()


def test_what_does_not_parse_is_left_alone_and_the_others_are_formatted(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = file.parent / "broken.sac"
    broken.write_text("int main( {")
    assert main(["fmt", str(broken), str(file), str(file.parent / "none.sac")]) == 1
    assert (broken.read_text(), file.read_text()) == ("int main( {", NICE)
    err = capsys.readouterr().err
    assert "error[E02" in err and "error[E0303]: cannot read" in err


def test_a_folder_that_cannot_be_written_is_a_message(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert main(["fmt", str(file)]) == 1
    assert "error[E0720]" in capsys.readouterr().err
    assert (file.read_text(), os.listdir(file.parent)) == (UGLY, ["p.sac"])

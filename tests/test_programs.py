"""The programs in `programs/` print what their `.expected` files say, and exit with 0."""

from pathlib import Path

import pytest

from tests.tools import ROOT, run_file

PROGRAMS = sorted((ROOT / "programs").glob("*.sac"))


def test_every_program_has_its_expected_output_and_a_line_in_the_readme() -> None:
    readme = (ROOT / "programs" / "README.md").read_text(encoding="utf-8")
    assert len(PROGRAMS) >= 8
    for program in PROGRAMS:
        assert program.with_suffix(".expected").exists(), program.name
        assert f"`{program.name}`" in readme


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_program_prints_what_it_should(program: Path, tmp_path: Path) -> None:
    result = run_file(program, cwd=tmp_path)
    assert (result.status, result.stderr) == (0, "")
    assert result.stdout.decode() == program.with_suffix(".expected").read_text(encoding="utf-8")


def test_mandelbrot_writes_its_picture_where_told(tmp_path: Path) -> None:
    result = run_file(ROOT / "programs" / "mandelbrot.sac", args=["picture.pgm"], cwd=tmp_path)
    assert result.status == 0
    expected = (ROOT / "programs" / "mandelbrot.pgm.expected").read_text(encoding="utf-8")
    assert (tmp_path / "picture.pgm").read_text(encoding="utf-8") == expected

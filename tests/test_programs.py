"""The programs in `programs/` print what their `.expected` files say, and exit with 0."""

from pathlib import Path

import pytest

from tests.tools import ROOT, run_file

FOLDER = ROOT / "programs"

PROGRAMS = sorted([*FOLDER.glob("*.sac"), *FOLDER.glob("*/main.sac")])
"""A program of several files is a folder with a `main.sac`."""


def name_of(program: Path) -> str:
    """What the program's expected output and its standard input are called."""
    return program.parent.name if program.stem == "main" else program.stem


def beside(program: Path, suffix: str) -> Path:
    """The program's file of another kind."""
    return FOLDER / (name_of(program) + suffix)


def test_every_program_has_its_expected_output_and_a_line_in_the_readme() -> None:
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert len(PROGRAMS) >= 20
    for program in PROGRAMS:
        assert beside(program, ".expected").exists(), program
        assert f"| `{program.relative_to(FOLDER)}` |" in readme


@pytest.mark.parametrize("program", PROGRAMS, ids=name_of)
def test_program_prints_what_it_should(program: Path, tmp_path: Path) -> None:
    given = beside(program, ".stdin")
    result = run_file(program, stdin=given.read_bytes() if given.exists() else b"", cwd=tmp_path)
    assert (result.status, result.stderr) == (0, "")
    assert result.stdout.decode() == beside(program, ".expected").read_text(encoding="utf-8")


@pytest.mark.parametrize("text", [b"", b"\n", b"no end of line"])
def test_text_statistics_of_odd_texts(text: bytes, tmp_path: Path) -> None:
    result = run_file(FOLDER / "text_statistics.sac", stdin=text, cwd=tmp_path)
    words = len(text.split())
    assert (result.status, result.stderr) == (0, "")
    assert result.stdout.decode().startswith(f"{min(len(text), 1)} lines, {words} words, {len(text)} characters")


def test_equalize_writes_its_picture_and_reads_its_own_output(tmp_path: Path) -> None:
    expected = (FOLDER / "equalize.pgm.expected").read_text(encoding="utf-8")
    assert run_file(FOLDER / "equalize.sac", cwd=tmp_path).status == 0
    assert (tmp_path / "equalized.pgm").read_text(encoding="utf-8") == expected
    again = run_file(FOLDER / "equalize.sac", args=["equalized.pgm", "again.pgm"], cwd=tmp_path)
    assert again.status == 0
    assert (tmp_path / "again.pgm").read_text(encoding="utf-8") == expected


def test_mandelbrot_writes_its_picture_where_told(tmp_path: Path) -> None:
    result = run_file(ROOT / "programs" / "mandelbrot.sac", args=["picture.pgm"], cwd=tmp_path)
    assert result.status == 0
    expected = (ROOT / "programs" / "mandelbrot.pgm.expected").read_text(encoding="utf-8")
    assert (tmp_path / "picture.pgm").read_text(encoding="utf-8") == expected

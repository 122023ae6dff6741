"""Every program in `programs/` prints natively what it prints interpreted; the error programs say natively what they
say interpreted."""

from pathlib import Path

import pytest

from tests.jit.corpus import run_natively
from tests.test_programs import PROGRAMS, beside, name_of
from tests.tools import ROOT, run_file

LONG = {
    "banded",
    "big_numbers",
    "borders",
    "components",
    "convnet",
    "frontiers",
    "neighbours",
    "occurrence_sort",
    "radix_join",
    "redblack",
    "run_lengths",
    "search",
    "standings",
}
"""Programs that compile the library's sorts, or many functions, which takes seconds."""
ERRORS = sorted((ROOT / "tests" / "errors").glob("*-run-*.sac"))


@pytest.mark.parametrize(
    "program",
    [pytest.param(p, marks=[pytest.mark.long] * (name_of(p) in LONG), id=name_of(p)) for p in PROGRAMS],
)
def test_program_prints_what_it_should(program: Path, tmp_path: Path) -> None:
    given = beside(program, ".stdin")
    status, out, err, _ = run_natively(program, stdin=given.read_bytes() if given.exists() else b"", cwd=tmp_path)
    assert (status, err) == (0, "")
    assert out.decode() == beside(program, ".expected").read_text(encoding="utf-8")


@pytest.mark.parametrize("program", ERRORS, ids=lambda path: path.stem)
def test_errors_are_the_interpreters(program: Path, tmp_path: Path) -> None:
    wanted = run_file(program, cwd=tmp_path, flags=["--target", "interp"])
    status, out, err, _ = run_natively(program, cwd=tmp_path)
    assert (status, out, err) == (wanted.status, wanted.stdout, wanted.stderr)

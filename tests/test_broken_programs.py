"""Each program of `tests/errors/` has exactly one mistake; sacpy finds that one, points at it, and says what to do.

Directives at the end of each file, so that they shift no line:

- `expect: LINE:COLUMN words` where the diagnostic points, and words that must occur in its text (case aside); several
  alternatives are separated by ` / `;
- `stage: run` for mistakes that only a run can show; all others must be found by `sacpy check`;
- `fixed: TEXT` where the diagnostic must suggest an edit: what the edited line then is. The edited program must pass
  the check.
"""

import re
import shutil
from pathlib import Path

import pytest

from tests.tools import ROOT, Place, check_file, first_directive, read_directives, run_file

PROGRAMS = sorted((ROOT / "tests" / "errors").glob("*.sac"))
FIXABLE = [path for path in PROGRAMS if first_directive(read_directives(path), "fixed")]


def _stage(path: Path) -> str:
    return first_directive(read_directives(path), "stage", "check")


def _expected(path: Path) -> tuple[int, int, list[str]]:
    match = re.fullmatch(r"(\d+):(\d+)\s+(.+)", first_directive(read_directives(path), "expect"))
    assert match, f"{path.name} lacks its expect directive"
    return int(match[1]), int(match[2]), match[3].lower().split(" / ")


def _only(places: tuple[Place, ...], stderr: str) -> Place:
    assert len(places) == 1, f"one diagnostic expected, got {[(p.code, p.line, p.column) for p in places]}\n{stderr}"
    return places[0]


def test_there_are_at_least_forty() -> None:
    assert len(PROGRAMS) >= 40


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_mistake_is_found_where_it_is(program: Path) -> None:
    line, column, words = _expected(program)
    result = check_file(program) if _stage(program) == "check" else run_file(program)
    assert result.status == 1, result.stderr
    place = _only(result.diagnostics, result.stderr)
    assert (place.line, place.column) == (line, column), place.text
    assert any(word in place.text.lower() for word in words), place.text


@pytest.mark.parametrize("program", [path for path in PROGRAMS if _stage(path) == "run"], ids=lambda path: path.stem)
def test_run_time_mistakes_pass_the_check(program: Path) -> None:
    assert check_file(program).status == 0


@pytest.mark.parametrize("program", FIXABLE, ids=lambda path: path.stem)
def test_suggested_edit_mends_the_program(program: Path, tmp_path: Path) -> None:
    place = _only(check_file(program).diagnostics, "")
    assert place.edit is not None, place.text
    mended = place.edit.applied(program.read_text(encoding="utf-8"))
    assert first_directive(read_directives(program), "fixed") in [line.strip() for line in mended.splitlines()]
    (tmp_path / program.name).write_text(mended, encoding="utf-8")
    result = check_file(tmp_path / program.name)
    assert result.status == 0, result.stderr


@pytest.mark.parametrize("program", [path for path in PROGRAMS if _stage(path) == "check"], ids=lambda path: path.stem)
def test_whatever_edit_is_suggested_mends_the_program(program: Path, tmp_path: Path) -> None:
    place = _only(check_file(program).diagnostics, "")
    if place.edit is None:
        assert "help" in check_file(program).stderr, "no remedy"
        return
    folder = tmp_path / "mended"
    shutil.copytree(program.parent, folder)
    mended = folder / program.name
    mended.write_text(place.edit.applied(program.read_text(encoding="utf-8")), encoding="utf-8")
    result = check_file(mended)
    assert result.status == 0, result.stderr

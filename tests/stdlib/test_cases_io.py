"""The programs in `cases_io/` print what they should, and exit as they should."""

from __future__ import annotations

from pathlib import Path

import pytest

from sacpy.interp.world import World
from sacpy.lang.diagnostics import SacError
from sacpy.workspace import Workspace

CASES = sorted((Path(__file__).parent / "cases_io").glob("*.sac"))


def beside(path: Path, suffix: str, default: bytes = b"") -> bytes:
    """The file of that suffix beside a program."""
    other = path.with_suffix(suffix)
    return other.read_bytes() if other.exists() else default


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_programs_print_what_they_should(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    session, world = Workspace(), World.captured(beside(path, ".in"))
    program, _ = session.load(path)
    try:
        status = session.run(program, world)
    except SacError as error:
        status = 1
        print(error)
    assert world.out() == path.with_suffix(".out").read_bytes()
    assert status == int(beside(path, ".status", b"0"))
    assert not list(tmp_path.iterdir())

"""The programs in `cases/` check library functions against values worked out by hand: once with the NumPy twins, once
with the definitions in SaC alone."""

from __future__ import annotations

from pathlib import Path

import pytest

import sacpy.interp.twins
from sacpy.interp.world import World
from sacpy.workspace import Workspace

CASES = sorted((Path(__file__).parent / "cases").glob("*.sac"))


def test_there_are_cases() -> None:
    assert len(CASES) >= 7


@pytest.mark.parametrize("twins", [True, False], ids=["twins", "sac"])
@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_library_gives_what_it_should(path: Path, twins: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not twins:
        monkeypatch.setattr(sacpy.interp.twins, "find", lambda signature, strict=False: None)
    session, world = Workspace(include_path=(path.parent,)), World.captured()
    program, _ = session.load(path)
    status = session.run(program, world)
    assert (status, world.out().decode()) == (0, "0 checks failed\n")

"""Every example of `docs/errors/shapes.md` gives the code of its section, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sacpy.lang.diagnostics import SacError
from sacpy.workspace import Workspace

TEXT = (Path(__file__).parents[2] / "docs" / "errors" / "shapes.md").read_text(encoding="utf-8")
SECTIONS = re.findall(r"## (\w+):.*?```sac\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize(("code", "program"), SECTIONS, ids=[code for code, _ in SECTIONS])
def test_example(code: str, program: str, tmp_path: Path) -> None:
    path = tmp_path / "example.sac"
    path.write_text(program, encoding="utf-8")
    try:
        _, found = Workspace().check(path)
    except SacError as error:
        found = list(error.diagnostics)
    assert [d.code for d in found if d.severity != "note"] == [code]


def test_every_code_has_a_section() -> None:
    folder = Path(__file__).parents[2] / "sacpy" / "lang"
    used = {code for path in folder.glob("infer*.py") for code in re.findall(r'"([EW]05\d\d)"', path.read_text(encoding="utf-8"))}
    assert used == {code for code, _ in SECTIONS}

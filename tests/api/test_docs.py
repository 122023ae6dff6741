"""The examples of the embedding guide, run as they stand."""

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

import sacpy

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "embedding.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"```python\n(.*?)```\n(?:```text\n(.*?)```)?", re.DOTALL)
ERRORS = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def namespace() -> dict[str, Any]:
    """The examples share their names, in order."""
    return {"__name__": "guide"}


@pytest.mark.parametrize(("code", "expected"), BLOCK.findall(GUIDE), ids=re.findall(r"```python\n(?:import \w+.*\n|\n)*(.{1,30})", GUIDE))
def test_example(namespace: dict[str, Any], code: str, expected: str) -> None:
    if "flask" in code:
        pytest.importorskip("flask")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, namespace)
    assert printed.getvalue() == expected


def test_the_first_example_needs_nothing_else(tmp_path: Path) -> None:
    code, expected = BLOCK.findall(GUIDE)[0]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {})
    assert printed.getvalue() == expected


def test_every_code_has_a_section() -> None:
    sources = [*(ROOT / "sacpy" / "embedding").glob("*.py"), ROOT / "sacpy" / "session.py", ROOT / "sacpy" / "interp" / "foreign.py"]
    used = {code for path in sources for code in re.findall(r'"(E07\d\d)"', path.read_text(encoding="utf-8"))}
    assert used - set(re.findall(r"^## (E\d{4}):", ERRORS, re.MULTILINE)) == set()


@pytest.mark.parametrize(("expected", "code"), re.findall(r"^## (E\d{4}):(?:(?!^## ).)*?```python\n(.*?)```", ERRORS, re.DOTALL | re.MULTILINE))
def test_every_section_has_an_example_that_gives_the_code(expected: str, code: str) -> None:
    with pytest.raises(sacpy.SacError) as caught:
        exec(code, {"sacpy": sacpy, "session": sacpy.Session()})
    assert caught.value.diagnostics[0].code == expected

"""The examples of the embedding guide, run as they stand."""

import contextlib
import io
import linecache
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import sacpy

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "embedding.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"```python\n(.*?)```\n(?:```text\n(.*?)```)?", re.DOTALL)
EXAMPLES = BLOCK.findall(GUIDE)
ERRORS = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")


class Reader:
    """Who goes through the guide: its examples share their names, in order. One that is run without those before it
    runs them first."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"__name__": "guide"}
        self.printed: list[str] = []

    def come_to(self, number: int) -> str:
        """What an example prints."""
        for code, _ in EXAMPLES[len(self.printed) : number + 1]:
            printed = io.StringIO()
            if "flask" not in code or find_spec("flask"):
                with contextlib.redirect_stdout(printed):
                    exec(code, self.names)
            self.printed.append(printed.getvalue())
        return self.printed[number]


@pytest.fixture(scope="module")
def reader() -> Reader:
    return Reader()


@pytest.mark.parametrize(
    "number", range(len(EXAMPLES)), ids=re.findall(r"```python\n(?:import \w+.*\n|\n)*(.{1,30})", GUIDE)
)
def test_example(reader: Reader, number: int) -> None:
    code, expected = EXAMPLES[number]
    if "flask" in code:
        pytest.importorskip("flask")
    assert reader.come_to(number) == expected


def test_the_first_example_needs_nothing_else(tmp_path: Path) -> None:
    code, expected = BLOCK.findall(GUIDE)[0]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {})
    assert printed.getvalue() == expected


def test_every_code_has_a_section() -> None:
    sources = [
        *(ROOT / "sacpy" / "embedding").glob("*.py"),
        ROOT / "sacpy" / "session.py",
        ROOT / "sacpy" / "interp" / "foreign.py",
    ]
    used = {code for path in sources for code in re.findall(r'"(E07\d\d)"', path.read_text(encoding="utf-8"))}
    assert used - set(re.findall(r"^## (E\d{4}):", ERRORS, re.MULTILINE)) == set()


@pytest.mark.parametrize(
    ("expected", "code"),
    re.findall(r"^## (E\d{4}):(?:(?!^## ).)*?```python\n(.*?)```", ERRORS, re.DOTALL | re.MULTILINE),
)
def test_every_section_has_an_example_that_gives_the_code(expected: str, code: str) -> None:
    name = f"<example of {expected}>"
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)  # where functions have their text
    with pytest.raises(sacpy.SacError) as caught:
        exec(compile(code, name, "exec"), {"sacpy": sacpy, "session": sacpy.Session()})
    assert caught.value.diagnostics[0].code == expected

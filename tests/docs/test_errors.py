"""`docs/errors.md` has a section for every code, in order, and each example gives the code of its section."""

import re

import pytest

from tests.docs.error_examples import DOCUMENT, examples, gives, sections
from tests.tools import ROOT

TEXT = DOCUMENT.read_text(encoding="utf-8")
SECTIONS = sections(TEXT)
EXAMPLES = [
    (code, label, example) for code, label, example in examples(TEXT) if label in ("sac", "gpu", "emulator", "sacpy")
]
CODE = re.compile(r"(?<![\w.])([EWN]0\d{3})(?!\w)")


def used() -> set[str]:
    """The codes that sacpy's own text mentions, those that merely explain what a code is left out."""
    return {code for path in (ROOT / "sacpy").rglob("*.py") for code in CODE.findall(path.read_text(encoding="utf-8"))}


def test_every_code_has_a_section() -> None:
    assert sorted(used() - SECTIONS.keys()) == []


def test_every_section_has_a_code() -> None:
    assert sorted(SECTIONS.keys() - used()) == []


def test_sections_are_in_order() -> None:
    headings = re.findall(r"^## (\w+)", TEXT, re.MULTILINE)
    assert headings == sorted(set(headings), key=lambda code: (code[1:], code[0]))


def test_every_section_says_something() -> None:
    assert [code for code, (title, body) in SECTIONS.items() if not title or len(body.strip()) < 20] == []


@pytest.mark.parametrize(("code", "label", "example"), EXAMPLES, ids=[code for code, _, _ in EXAMPLES])
def test_example(code: str, label: str, example: str) -> None:
    assert gives(label, example, code)


def test_most_examples_are_run() -> None:
    run = {code for code, label, _ in examples(TEXT) if label in ("sac", "gpu", "emulator", "sacpy", "python")}
    assert len(run) > 0.85 * len(SECTIONS)

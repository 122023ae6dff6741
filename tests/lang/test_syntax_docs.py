"""Every example of `docs/errors/syntax.md` gives the code of its section, and every code the parser reports has a section."""

import re

import pytest

from sacpy.lang.parser import parse_module
from sacpy.lang.source import Source
from tests.tools import ROOT

SECTIONS = re.findall(r"^## (E02\d\d): .*?\n(.*?)(?=^## |\Z)", (ROOT / "docs/errors/syntax.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
EXAMPLES = [(code, example[1]) for code, text in SECTIONS if (example := re.search(r"```\n(.*?)```", text, re.DOTALL))]


@pytest.mark.parametrize(("code", "example"), EXAMPLES, ids=[code for code, _ in EXAMPLES])
def test_example(code: str, example: str) -> None:
    assert [d.code for d in parse_module(Source("example", example)).diagnostics] == [code]


def test_every_code_has_a_section() -> None:
    reported = {code for path in (ROOT / "sacpy/lang").glob("parse*.py") for code in re.findall(r'"(E02\d\d)"', path.read_text(encoding="utf-8"))}
    assert reported == {code for code, _ in SECTIONS}

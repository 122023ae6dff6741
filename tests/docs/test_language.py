"""The page about the words of the language: every word has a section, and every example is right."""

import re

import pytest

from sacpy.documents.pages import sections
from sacpy.lang.vocabulary import BASE_TYPES, RESERVED
from sacpy.workspace import Workspace
from tests.docs.blocks import updated
from tests.tools import ROOT

TEXT = (ROOT / "docs/language.md").read_text(encoding="utf-8")
NAMES = [name for section in sections("language") for name in section.names]
OTHERS = {
    "genarray",
    "modarray",
    "fold",
    "foldfix",
    "scan",
    "exscan",
    "into",
    "propagate",
    "step",
    "width",
    "all",
    "except",
    "deprecated",
}
UNSIGNED = {name for name in BASE_TYPES if name[0] == "u"}
PROGRAMS = re.findall(r"^```sac\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def test_examples() -> None:
    assert updated(TEXT) == TEXT, "if the new outputs are right: python -m tests.docs.blocks docs/language.md"


def test_every_word_has_a_section() -> None:
    assert (RESERVED | OTHERS) - UNSIGNED - set(NAMES) == set()
    assert all(f"`{name}`" in TEXT for name in UNSIGNED)


def test_no_word_has_two() -> None:
    assert len(NAMES) == len(set(NAMES))


@pytest.mark.parametrize("program", PROGRAMS, ids=range(len(PROGRAMS)))
def test_programs_pass_the_check(program: str) -> None:
    assert Workspace().check_text(program)[1] == []


def test_links_lead_somewhere() -> None:
    anchors = {re.sub(r"[^a-z0-9 -]", "", section.title.lower()).replace(" ", "-") for section in sections("language")}
    assert set(re.findall(r"\]\(#([a-z-]+)\)", TEXT)) <= anchors

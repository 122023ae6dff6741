"""Every example of the tour shows what the tour says."""

import re

import pytest

from sacpy.interp.world import World
from sacpy.repl.engine import Engine
from sacpy.workspace import Workspace
from tests.docs.blocks import updated
from tests.tools import ROOT

TEXT = (ROOT / "docs/tour.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `[^|]*\| (.*?) \|$", TEXT, re.MULTILINE)
PHRASES = [phrase for row in ROWS for phrase in re.findall(r"`([^`]+)`", row)]


def test_examples() -> None:
    assert updated(TEXT) == TEXT, "if the new outputs are right: python -m tests.docs.blocks docs/tour.md"


@pytest.fixture(scope="module")
def engine() -> Engine:
    made = Engine(Workspace(), World.captured())
    assert not made.enter(
        "a = tod(reshape([3, 3], iota(9))); b = a + 1.0; n = 3; m = 3; k = 2; x = 1.5; shp = [3]; c = a > 2.0; mask = "
        "c;"
    ).failed
    return made


@pytest.mark.parametrize("phrase", PHRASES)
def test_phrases_of_the_table(engine: Engine, phrase: str) -> None:
    outcome = engine.enter(phrase)
    assert not outcome.failed, outcome.diagnostics


def test_the_table_was_read() -> None:
    assert len(PHRASES) > 15

"""The page about the debugger: every example shows what it says."""

from tests.docs.blocks import updated
from tests.tools import ROOT

PAGE = ROOT / "docs" / "debugging.md"


def test_examples_show_what_they_say() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert updated(text) == text, "python -m tests.docs.blocks docs/debugging.md"

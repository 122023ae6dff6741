"""The examples of `docs/differences.md` do what it says."""

from tests.docs.blocks import updated
from tests.tools import ROOT


def test_examples() -> None:
    text = (ROOT / "docs/differences.md").read_text(encoding="utf-8")
    assert updated(text) == text, "if the new outputs are right: python -m tests.docs.blocks docs/differences.md"

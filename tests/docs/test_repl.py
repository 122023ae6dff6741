"""`docs/repl.md` shows what the prompt shows, and names all there is."""

from sacpy.repl.commands import COMMANDS
from sacpy.repl.settings import SETTINGS
from sacpy.repl.stages import STAGES
from tests.docs.blocks import updated
from tests.tools import ROOT

TEXT = (ROOT / "docs/repl.md").read_text(encoding="utf-8")


def test_examples() -> None:
    assert updated(TEXT) == TEXT, "if the new outputs are right: python -m tests.docs.blocks docs/repl.md"


def test_everything_is_named() -> None:
    missing = [f":{c.name}" for c in COMMANDS.values() if f":{c.name}" not in TEXT]
    assert missing + [s for s in STAGES if f"`{s}`" not in TEXT] == []
    assert [s for s in SETTINGS if f":set {s}" not in TEXT and f"`{s}`" not in TEXT] == []
